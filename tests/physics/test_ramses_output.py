"""Outputs of RAMSES that Octant writes: whole to RAMSES, to other readers, and to Octant."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from inputs import CLUMPY_BOX, DRIFTING_BLAST
from ramses_files import (
    KINDS,
    OTHERS,
    Records,
    assert_links_are_whole,
    domain_levels,
    read_info,
    read_ramses,
    read_tree,
)
from refusals import assert_refused
from running import LeafCells, Outcome, bits, contents, leaf_cells, octant, run, run_well

BOTH = ('output.formats=["octant", "ramses"]',)
# Three levels, and walls at two sides: a power of two of cells.
BLAST = ("mesh.base_cells=[16, 16, 16]", "time.max_steps=3", "mesh.lower=[-0.25, 0.0, 0.0]")
SHIFTED = ("mesh.upper=[0.75, 1.0, 1.0]", "problem.centre=[0.06, 0.44, 0.62]")
WALLS = ('mesh.boundary_y=["reflecting", "outflow"]',)
SIX_WALLS = (
    'mesh.boundary_x=["outflow", "outflow"]',
    'mesh.boundary_z=["reflecting", "reflecting"]',
)
REFLECTING = {(1, False), (2, False), (2, True)}  # axis, and whether it is the upper side


@pytest.fixture(scope="module")
def blast(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Three levels of gas with a scalar, in three domains of two ranks."""
    return run_well(
        tmp_path_factory.mktemp("blast") / "run",
        DRIFTING_BLAST,
        *BOTH,
        *BLAST,
        *SHIFTED,
        "ramses.domains=3",
        ranks=2,
    )


@pytest.fixture(scope="module")
def universe(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Gas and dark matter that expand, in four domains of three ranks, with unused levels."""
    return run_well(
        tmp_path_factory.mktemp("universe") / "run",
        CLUMPY_BOX,
        *BOTH,
        "mesh.max_level=3",
        "time.max_steps=16",
        "ramses.domains=4",
        ranks=3,
    )


@pytest.fixture(params=["blast", "universe"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return request.getfixturevalue(request.param)


def output_of(outcome: Outcome) -> Path:
    return sorted(outcome.directory.glob("output_*"))[-1]


def centres_of(folder: Path) -> tuple[NDArray, NDArray]:
    """Centres and sizes of the leaf cells of an output, counted from the box's corner."""
    state = read_ramses(folder)
    size = state.info["boxlen"] * 0.5**state.level
    return (state.place + 0.5) * size[:, None], size


def in_one_order(position: NDArray) -> NDArray:
    return np.lexsort(np.round(position * 2**24).astype(np.int64).T)


def cells_from_corner(outcome: Outcome) -> tuple[LeafCells, NDArray]:
    with h5py.File(outcome.last_snapshot) as file:
        lower = file["header"].attrs["lower"]
    cells = leaf_cells(outcome.last_snapshot)
    return cells, cells.position - lower


def test_the_case_has_several_levels(universe: Outcome, blast: Outcome) -> None:
    for outcome in (universe, blast):
        assert len(set(leaf_cells(outcome.last_snapshot).size)) == 3
    assert output_of(blast).name == "output_00001"
    assert blast.last_snapshot.name == "snap_00001.h5"
    assert "snap_00001.h5, " in blast.text


def test_links_are_whole(outcome: Outcome) -> None:
    folder = output_of(outcome)
    trees = [read_tree(folder, n) for n in range(1, int(read_info(folder)["ncpu"]) + 1)]
    for tree in trees:
        assert_links_are_whole(tree)
        assert (np.diff(tree.bounds) > 0).all()
        own = [tree.counts[:, tree.domain - 1] for tree in trees]
        assert (tree.total == np.sum(own, axis=0)).all()


@pytest.mark.parametrize("folder", [*KINDS, *OTHERS], ids=lambda folder: folder.parent.name)
def test_links_of_ramses_itself_are_as_is_asked_of_ours(folder: Path) -> None:
    for number in range(1, int(read_info(folder)["ncpu"]) + 1):
        assert_links_are_whole(read_tree(folder, number))


def test_an_independent_reader_finds_what_the_snapshot_shows(outcome: Outcome) -> None:
    folder = output_of(outcome)
    state = read_ramses(folder)
    cells, position = cells_from_corner(outcome)
    centres, size = centres_of(folder)
    ours, theirs = in_one_order(position), in_one_order(centres)
    assert np.abs(position[ours] - centres[theirs]).max() < 1e-12
    assert (cells.size[ours] == size[theirs]).all()
    assert state.info["time"] == cells.time
    for name, values in state.fields.items():
        assert (values[theirs] == cells[name][ours]).all(), name
    for kind, particles in state.particles.items():
        with h5py.File(outcome.last_snapshot) as file:
            for name in ("position", "velocity", "mass", "id"):
                assert (file[f"particles/{kind}/{name}"][...] == particles[name]).all()


def test_other_ranks_write_the_same_bytes(tmp_path: Path, blast: Outcome) -> None:
    alone = run_well(tmp_path / "run", DRIFTING_BLAST, *BOTH, *BLAST, *SHIFTED, "ramses.domains=3")
    assert contents(output_of(alone)) == contents(output_of(blast))
    assert not list(alone.directory.glob("output_*.part"))


def test_coarse_cells_hold_means(blast: Outcome) -> None:
    """Also on levels above the base grid, which Octant does not have."""
    folder = output_of(blast)
    mass: dict[int, float] = {}
    for number in (1, 2, 3):
        for level, _, _, values, _, _ in domain_levels(folder, number, 3):
            mass[level] = mass.get(level, 0.0) + values[:, 0].sum() * 0.125**level
    assert set(mass) == {1, 2, 3, 4, 5, 6}
    for level in (1, 2, 3, 4):
        assert abs(mass[level] - 1.0) < 1e-12


@pytest.mark.parametrize("ranks", [1, 3])
def test_octant_goes_on_with_the_same_bits(tmp_path: Path, outcome: Outcome, ranks: int) -> None:
    text = outcome.parameters
    sets = {"universe": ("mesh.max_level=3",), "blast": (*BLAST, *SHIFTED)}
    name = "universe" if "universe" in str(outcome.directory) else "blast"
    again = run_well(
        tmp_path / "run",
        text,
        *sets[name],
        "time.max_steps=0",
        restart=output_of(outcome),
        ranks=ranks,
    )
    one, other = leaf_cells(outcome.last_snapshot), leaf_cells(again.last_snapshot)
    assert (one.position == other.position).all()
    for field in ("density", "velocity_x", "velocity_y", "velocity_z", "scalar_0"):
        if field in one.values:
            assert (one[field] == other[field]).all(), field
    # Not of every pressure of cold gas is there an energy that gives it.
    assert np.count_nonzero(one["pressure"] != other["pressure"]) <= 1e-3 * one.size.size
    speed2 = sum(one[f"velocity_{axis}"] ** 2 for axis in "xyz")
    energy = 1.5 * one["pressure"] + 0.5 * one["density"] * speed2
    assert (np.abs(one["pressure"] - other["pressure"]) <= 2e-16 * energy).all()
    first, second = bits(outcome.last_snapshot), bits(again.last_snapshot)
    kept = [key for key in first if key.startswith(("mesh", "particles"))]
    assert [key for key in kept if first[key] != second.get(key)] == []
    assert again.history()["time"][-1] == outcome.history()["time"][-1]


def beside_walls(place: Path, *sets: str) -> Outcome:
    """Run a blast beside reflecting and open walls, in three domains."""
    return run_well(
        place / "run",
        DRIFTING_BLAST,
        *BOTH,
        "mesh.base_cells=[16, 16, 16]",
        *sets,
        "time.max_steps=2",
        "ramses.domains=3",
        ranks=2,
    )


@pytest.fixture(scope="module")
def two_walls(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return beside_walls(tmp_path_factory.mktemp("two_walls"), *WALLS)


@pytest.fixture(scope="module")
def six_walls(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return beside_walls(tmp_path_factory.mktemp("six_walls"), *WALLS, *SIX_WALLS)


@pytest.fixture(params=["two_walls", "six_walls"])
def walled(request: pytest.FixtureRequest) -> Outcome:
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["blast", "universe", "two_walls", "six_walls"])
def any_outcome(request: pytest.FixtureRequest) -> Outcome:
    return request.getfixturevalue(request.param)


def test_octs_beyond_walls_are_whole(walled: Outcome) -> None:
    """They are images of those before them, and a reflecting wall turns the flow round."""
    folder = output_of(walled)
    walls = read_tree(folder, 1).coarse
    for number in (1, 2, 3):
        tree = read_tree(folder, number)
        assert_links_are_whole(tree)
        gas = Records(folder / f"hydro_00001.out{number:05d}")
        gas.skip(4)
        regions = int(gas.next("<i4")[0])
        gas.skip(1)
        assert regions == 2 * walls.count(3)
        lists = 3 + regions
        cells: dict[tuple[int, ...], NDArray] = {}  # by level and place, in quarters of cells
        beyond: dict[tuple[int, ...], NDArray] = {}
        while gas.at < len(gas.bytes):
            for which in range(1, lists + 1):
                level, count = int(gas.next("<i4")[0]), int(gas.next("<i4")[0])
                if count == 0:
                    continue
                values = np.array([[gas.next("<f8") for _ in range(6)] for _ in range(8)])
                centre = tree.lists[level, which]["centre"]
                for cell in range(8):
                    corner = np.array([cell & 1, cell >> 1 & 1, cell >> 2]) - 0.5
                    places = np.rint((centre + corner * 0.5**level) * 2 ** (level + 1)).astype(int)
                    found = beyond if which > 3 else cells
                    for n, place in enumerate(places.tolist()):
                        found[level, *place] = values[cell, :, n]
        assert len(beyond) >= 8 * (6 if regions == 2 else 26)
        for (level, *place), values in beyond.items():
            side = 2 ** (level + 1)
            image, expected = list(place), values.copy()
            for axis, extent in enumerate(walls):
                if extent == 1 or side < place[axis] < 2 * side:
                    continue
                is_above = place[axis] > side
                image[axis] = (4 if is_above else 2) * side - place[axis]
                if (axis, is_above) in REFLECTING:
                    expected[1 + axis] *= -1.0
            assert (cells[level, *image] == expected).all()


def test_walls_are_read_back(tmp_path: Path, walled: Outcome) -> None:
    """The rest of what the file lists is not in the way."""
    text = walled.parameters
    walls = SIX_WALLS if read_tree(output_of(walled), 1).coarse == (3, 3, 3) else ()
    sets = ("mesh.base_cells=[16, 16, 16]", *WALLS, *walls, "time.max_steps=0")
    again = run_well(tmp_path / "again", text, *sets, restart=output_of(walled))
    one, other = leaf_cells(walled.last_snapshot), leaf_cells(again.last_snapshot)
    assert (one.position == other.position).all()
    assert (one["density"] == other["density"]).all()


def test_yt_finds_cells_and_particles(any_outcome: Outcome) -> None:
    outcome = any_outcome
    yt = pytest.importorskip("yt", reason="no yt; ./octant test python gets it")
    if "universe" in str(outcome.directory):
        pytest.importorskip("scipy", reason="no scipy, which yt reads ages of universes with")
    yt.set_log_level(50)
    data = yt.load(output_of(outcome))
    cells, position = cells_from_corner(outcome)
    everything = data.all_data()
    density = np.asarray(everything["ramses", "Density"])
    assert len(density) == len(cells.size)
    volume = np.asarray(everything["index", "cell_volume"].to("code_length**3"))
    mass = (cells["density"] * cells.volume).sum()
    assert abs((density * volume).sum() / mass - 1.0) < 1e-12
    centres = np.stack(
        [np.asarray(everything["index", axis].to("code_length")) for axis in "xyz"], 1
    )
    ours, theirs = in_one_order(position), in_one_order(centres)
    assert np.abs(position[ours] - centres[theirs]).max() < 1e-12
    assert (cells["density"][ours] == density[theirs]).all()
    # It chooses files by their keys.
    lower, upper = np.array([0.55, 0.1, 0.3]), np.array([0.8, 0.6, 0.45])
    box = data.box(lower, upper)
    inside = ((position > lower) & (position < upper)).all(axis=1)
    expected = np.sort(cells["density"][inside])
    assert (np.sort(np.asarray(box["ramses", "Density"])) == expected).all()
    with h5py.File(outcome.last_snapshot) as file:
        if "dark" not in file.get("particles", {}):
            return
        dark = file["particles/dark"]
        order = np.argsort(np.asarray(everything["io", "particle_identity"]))
        for n, axis in enumerate("xyz"):
            x = np.asarray(everything["io", f"particle_position_{axis}"].to("code_length"))
            assert (x[order] == dark["position"][:, n]).all()
        assert len(order) == len(dark["id"])


def test_osyris_finds_cells_and_particles(any_outcome: Outcome) -> None:
    outcome = any_outcome
    osyris = pytest.importorskip("osyris", reason="no osyris; ./octant test python gets it")
    folder = output_of(outcome)
    data = osyris.RamsesDataset(int(folder.name[-5:]), path=str(folder.parent)).load()
    cells, position = cells_from_corner(outcome)
    info = read_info(folder)
    mesh = data["mesh"]
    centres = np.stack(
        [
            np.asarray(part.values)
            for part in (mesh["position"].x, mesh["position"].y, mesh["position"].z)
        ],
        1,
    )
    centres = centres / info["unit_l"]
    density = np.asarray(mesh["density"].values) / info["unit_d"]
    assert len(density) == len(cells.size)
    ours, theirs = in_one_order(position), in_one_order(centres)
    assert np.abs(position[ours] - centres[theirs]).max() < 1e-12
    np.testing.assert_allclose(density[theirs], cells["density"][ours], rtol=1e-14)
    with h5py.File(outcome.last_snapshot) as file:
        if "dark" not in file.get("particles", {}):
            return
        particles, dark = data["part"], file["particles/dark"]
        assert len(particles["mass"].values) == len(dark["id"])
        order = np.argsort(np.asarray(particles["identity"].values))
        for n, axis in enumerate("xyz"):
            x = np.asarray(getattr(particles["position"], axis).values)[order] / info["unit_l"]
            np.testing.assert_allclose(x, dark["position"][:, n], rtol=1e-14)


@pytest.mark.parametrize(
    ("override", "word"),
    [
        ("mesh.base_cells=[12, 12, 12]", "mesh.base_cells"),
        ('output.fields=["density"]', "output.fields"),
    ],
)
def test_what_has_no_place_in_it_is_refused(tmp_path: Path, override: str, word: str) -> None:
    outcome = run(tmp_path / "run", DRIFTING_BLAST, *BOTH, "mesh.base_cells=[16, 16, 16]", override)
    assert_refused(outcome, word)


def test_snapshots_are_converted(tmp_path: Path, outcome: Outcome) -> None:
    """Afterwards, on other ranks, and into the same bytes."""
    folder = output_of(outcome)
    domains = f"ramses.domains={int(read_info(folder)['ncpu'])}"
    snapshot = outcome.last_snapshot
    converted = octant(
        "convert",
        snapshot,
        "--to",
        "ramses",
        "--set",
        domains,
        "--output",
        tmp_path / "new",
        ranks=3,
    )
    assert converted.code == 0, converted.text
    assert contents(tmp_path / "new" / folder.name) == contents(folder)


def test_checkpoints_are_converted(tmp_path: Path, outcome: Outcome) -> None:
    """Into the files that the snapshot of the same state gives."""
    [*_, checkpoint] = sorted(outcome.directory.glob("checkpoint_*.h5"))
    folder = output_of(outcome)
    words = ("--set", f"ramses.domains={int(read_info(folder)['ncpu'])}", "--output", tmp_path)
    converted = octant("convert", checkpoint, "--to", "ramses", *words, ranks=2)
    assert converted.code == 0, converted.text
    [written] = (tmp_path / checkpoint.stem).glob("output_*")
    with h5py.File(checkpoint) as one, h5py.File(outcome.last_snapshot) as other:
        assert one["header"].attrs["time"] == other["header"].attrs["time"]
    number, other_number = written.name[-5:], folder.name[-5:]
    ours = {
        name.replace(f"_{number}.", f"_{other_number}."): data
        for name, data in contents(written).items()
    }
    theirs = contents(folder)
    assert set(ours) == set(theirs)
    named = [name for name in ours if name.startswith("amr_")]  # they hold their number
    for name in set(ours) - set(named):
        assert ours[name] == theirs[name], name


def test_other_files_are_not_converted(tmp_path: Path, blast: Outcome) -> None:
    output = ("--output", tmp_path)
    assert_refused(octant("convert", blast.last_snapshot, "--to", "silo", *output), "ramses")
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = 1.0
    assert_refused(octant("convert", other, "--to", "ramses", *output), "other.h5", "snapshots")


@pytest.mark.parametrize("name", ["output_{}", "output_{}.old", "output_{}.part"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_folder_of_somebody_else_is_left_alone(
    tmp_path: Path, blast: Outcome, name: str, ranks: int
) -> None:
    theirs = tmp_path / name.format(output_of(blast).name.removeprefix("output_"))
    theirs.mkdir()
    (theirs / "info.txt").write_text("weeks of work")
    output = ("--output", tmp_path)
    refused = octant("convert", blast.last_snapshot, "--to", "ramses", *output, ranks=ranks)
    assert_refused(refused, theirs.name, "was not written by Octant")
    assert [path.name for path in tmp_path.iterdir()] == [theirs.name]
    assert (theirs / "info.txt").read_text() == "weeks of work"


def test_an_own_folder_is_written_anew(tmp_path: Path, blast: Outcome) -> None:
    words = ("convert", blast.last_snapshot, "--to", "ramses", "--output", tmp_path)
    for _ in range(2):
        assert octant(*words).code == 0
    assert [path.name for path in tmp_path.iterdir()] == [output_of(blast).name]
