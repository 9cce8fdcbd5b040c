"""What [output] selects of the state: fields, precision, slices and coarsened snapshots."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from octools.errors import OctoolsError
from octools.fields import find_field
from octools.flow import FlowSnapshot
from octools.flow_figures import FlowSlice, slice_values
from octools.raster import block_outlines, make_image, make_view
from octools.run import snapshots
from octools.snapshot import Snapshot

from flows import SMALL_CAVITY, SMALL_CHANNEL
from inputs import CLUMPY_BOX, DRIFTING_BLAST, TINY_BLAST
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    differing,
    octant,
    run,
    run_well,
    same_run_differences,
)

AXES = ("x", "y", "z")
STEPS = "time.max_steps=6"
SLICES = {"x": 0.0, "y": 0.44, "z": 0.62}
CUTOUTS = ('output.slices=["x = 0", "y=0.44", "z = 0.62"]', "output.coarse_level=1", STEPS)
NAMES = ("slice_x0", "slice_y0.44", "slice_z0.62", "coarse")


@pytest.fixture(scope="module")
def blast(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run a blast on one rank, with everything that can be cut out of it."""
    return run_well(tmp_path_factory.mktemp("blast") / "run", DRIFTING_BLAST, *CUTOUTS)


# --- selection ------------------------------------------------------------------------------------


def test_only_the_fields_that_are_named_are_written(tmp_path: Path) -> None:
    fields = 'output.fields=["density", "potential"]'
    outcome = run_well(tmp_path / "run", CLUMPY_BOX, fields, "time.max_steps=1")
    with h5py.File(outcome.last_snapshot) as file:
        assert list(file["hydro/level_0"]) == ["density"]
        assert list(file["gravity/level_0"]) == ["potential"]
        assert "position" in file["particles/dark"]
    with h5py.File(outcome.directory / "checkpoint_00000.h5") as file:
        assert len(file["hydro/level_0"]) == 6
        assert len(file["gravity/level_0"]) == 5


def test_a_flow_without_its_pressure(tmp_path: Path) -> None:
    fields = ('output.fields=["w", "u"]', "output.precision=single", "time.max_steps=1")
    outcome = run_well(tmp_path / "run", SMALL_CHANNEL, *fields)
    with h5py.File(outcome.last_snapshot) as file:
        assert list(file["fields"]) == ["u", "w"]
        assert file["fields/u"].dtype == np.float32
    description = outcome.last_snapshot.with_suffix(".xdmf").read_text()
    assert description.count("<Grid Name=") == 3
    assert description.count('Precision="4"') == 2


def test_single_precision_rounds_fields_and_keeps_positions(tmp_path: Path, ranks: int) -> None:
    steps = "time.max_steps=2"
    double = run_well(tmp_path / "double", CLUMPY_BOX, steps)
    single = run_well(
        tmp_path / "single", CLUMPY_BOX, steps, "output.precision=single", ranks=ranks
    )
    with h5py.File(double.last_snapshot) as whole, h5py.File(single.last_snapshot) as rounded:
        for name in ("hydro/level_0/density", "gravity/level_0/acceleration_x"):
            assert rounded[name].dtype == np.float32
            assert np.array_equal(rounded[name][...], whole[name][...].astype(np.float32))
        for name in ("velocity", "mass"):
            column = whole["particles/dark"][name][...]
            assert np.array_equal(rounded["particles/dark"][name][...], column.astype(np.float32))
        for name in ("particles/dark/position", "particles/dark/id", "mesh/level_0/origin"):
            assert rounded[name].dtype == whole[name].dtype
            assert np.array_equal(rounded[name][...], whole[name][...])
    checkpoints = [o.directory / "checkpoint_00000.h5" for o in (single, double)]
    assert differing(*checkpoints) == []


def test_compressed_files_are_smaller_and_hold_the_same(tmp_path: Path, ranks: int) -> None:
    steps = ("time.max_steps=2", "mesh.base_cells=[24, 24, 24]", 'output.slices=["z = 0.5"]')
    deflate = "output.compression=deflate"
    plain = run_well(tmp_path / "plain", CLUMPY_BOX, *steps)
    packed = run_well(tmp_path / "packed", CLUMPY_BOX, *steps, deflate, ranks=ranks)
    names = [p.name for p in snapshots(plain.directory).values()]
    assert len(names) == 2
    for name in [*names, "slice_z0.5_00001.h5"]:
        ours, theirs = packed.directory / name, plain.directory / name
        sizes = [path.stat().st_size for path in (ours, theirs)]
        assert sizes[0] < sizes[1] or "slice" in name  # which is small
        assert differing(ours, theirs) == []
        assert octant("info", "--verify", ours, ranks=ranks).code == 0
    with h5py.File(packed.last_snapshot) as file:
        density = file["hydro/level_0/density"]
        assert (density.compression, density.shuffle, density.fletcher32) == ("gzip", True, True)
    assert not list(packed.directory.glob("*.part"))
    checkpoints = [o.directory / "checkpoint_00000.h5" for o in (packed, plain)]
    assert differing(*checkpoints) == []


@pytest.mark.parametrize(
    ("setting", "fragments"),
    [
        (
            'output.fields=["densty"]',
            ["output.fields", '"densty"; did you mean density;', "scalar_0"],
        ),
        ('output.fields=["potential"]', ["output.fields", "no field", "velocity_x"]),
        ("output.precision=half", ["output.precision", '"double" or "single"']),
        ("output.compression=zip", ["output.compression", '"none" or "deflate"']),
        ('output.formats=["silo"]', ["output.formats", '"octant"']),
        ("output.formats=[]", ["output.formats", "empty"]),
        ('output.slices=["z > 0.5"]', ["output.slices", "z > 0.5", "z = 0.5"]),
        ('output.slices=["w = 0.5"]', ["output.slices", "w = 0.5"]),
        ('output.slices=["z = 1.5"]', ["output.slices", "z = 1.5", "outside", "from 0 to 1"]),
        ('output.slices=["z = 0.5", "z = 0.50"]', ["output.slices", '"z0.5"']),
        ("output.coarse_level=-2", ["output.coarse_level"]),
        ("output.cutout_interval=-1", ["output.cutout_interval"]),
    ],
)
def test_what_does_not_exist_is_refused(tmp_path: Path, setting: str, fragments: list[str]) -> None:
    assert_refused(run(tmp_path / "run", DRIFTING_BLAST, setting, ranks=2), *fragments)


def test_a_flow_has_its_own_fields_and_no_levels(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", SMALL_CHANNEL, 'output.fields=["density"]')
    assert_refused(outcome, "output.fields", "expected u, v, w, p")
    outcome = run(tmp_path / "other", SMALL_CHANNEL, "output.coarse_level=0")
    assert_refused(outcome, "output.coarse_level")


# --- cut-outs -------------------------------------------------------------------------------------


def test_slices_hold_the_layer_of_cells_that_the_plane_passes(blast: Outcome) -> None:
    with h5py.File(blast.last_snapshot) as whole:
        assert len(whole["mesh"]) == 3
        for axis, (name, position) in enumerate(SLICES.items()):
            path = blast.directory / f"slice_{name}{position:g}_00001.h5"
            with h5py.File(path) as file:
                assert file["header"].attrs["kind"] == "slice"
                assert file["header"].attrs["slice_axis"] == name
                assert file["header"].attrs["slice_position"] == position
                assert "particles" not in file
                for level in whole["mesh"]:
                    assert_is_layer(whole, file, level, axis, position)


def assert_is_layer(
    whole: h5py.File, file: h5py.File, level: str, axis: int, position: float
) -> None:
    mesh = whole["mesh"][level]
    cell = mesh.attrs["cell_size"]
    size = whole["header"].attrs["block_size"]
    below = (position - mesh["origin"][:, axis]) / cell
    cut = (below >= 0) & (below < size)
    assert np.array_equal(file["mesh"][level]["key"][...], mesh["key"][...][cut])
    assert np.array_equal(file["mesh"][level]["refined"][...], mesh["refined"][...][cut])
    layer = int(position / cell)
    assert file["mesh"][level].attrs["slice_cell"] == layer
    assert set(file["hydro"][level]) == set(whole["hydro"][level])
    for name, values in whole["hydro"][level].items():
        expected = np.take(values[...][cut], [layer % size], axis=3 - axis)
        assert file["hydro"][level][name].shape == expected.shape
        assert np.array_equal(file["hydro"][level][name][...], expected)


def test_a_coarse_cutout_ends_with_leaves_at_its_level(blast: Outcome) -> None:
    with (
        h5py.File(blast.last_snapshot) as whole,
        h5py.File(blast.directory / "coarse_00001.h5") as file,
    ):
        assert list(file["mesh"]) == ["level_0", "level_1"]
        assert file["header"].attrs["finest_level"] == 1
        assert whole["mesh/level_1/refined"][...].any()
        assert not file["mesh/level_1/refined"][...].any()
        for name in ("mesh/level_0/refined", "hydro/level_0/density", "hydro/level_1/pressure"):
            assert np.array_equal(file[name][...], whole[name][...])


def data_of(path: Path) -> dict[str, bytes]:
    """Read all datasets as bytes, but for the owners."""
    found: dict[str, bytes] = {}

    def note(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset) and not name.endswith("owner"):
            found[name] = item[...].tobytes()

    with h5py.File(path) as file:
        file.visititems(note)
    return found


def test_other_ranks_write_the_same_bits(tmp_path: Path, blast: Outcome) -> None:
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *CUTOUTS, ranks=3)
    for name in NAMES:
        path = outcome.directory / f"{name}_00001.h5"
        assert data_of(path) == data_of(blast.directory / path.name)
        assert octant("info", path, "--verify").code == 0


def test_cutouts_have_an_interval_and_change_nothing(tmp_path: Path) -> None:
    """They come after the first step beyond each multiple, and go on after a restart."""
    plain = run_well(tmp_path / "plain", DRIFTING_BLAST)
    interval = 2.5 * plain.history()["dt"][5]
    settings = (*CUTOUTS[:2], f"output.cutout_interval={interval}", *CHECKPOINT_EVERY_STEP)
    outcome = run_well(tmp_path / "cut", DRIFTING_BLAST, *settings)
    assert same_run_differences(outcome, plain) == []
    times = plain.history()["time"]
    due = [0.0, *times[1:][np.diff(np.floor(times / interval)) > 0]]
    assert 3 <= len(due) < len(times) - 1
    for name in NAMES:
        paths = sorted(outcome.directory.glob(f"{name}_?????.h5"))
        assert [float(h5py.File(p)["header"].attrs["time"]) for p in paths] == due
    before = {p.name: data_of(p) for p in outcome.directory.glob("slice*.h5")}
    for late in range(7, 12):
        (outcome.directory / f"checkpoint_{late:05}.h5").unlink()
    again = run_well(tmp_path / "cut", DRIFTING_BLAST, *settings, ranks=2, restart="latest")
    assert {p.name: data_of(p) for p in again.directory.glob("slice*.h5")} == before
    assert list(again.directory.glob("snapshots.superseded-1/coarse_*.h5"))


@pytest.mark.parametrize("case", [SMALL_CAVITY, SMALL_CHANNEL], ids=["cavity", "channel"])
def test_slices_of_a_flow(tmp_path: Path, case: str, ranks: int) -> None:
    planes = 'output.slices=["x = 0.31", "y = 0.44", "z = 0.62"]'
    outcome = run_well(tmp_path / "run", case, planes, "time.max_steps=2", ranks=ranks)
    with h5py.File(outcome.last_snapshot) as whole:
        for axis, position in enumerate((0.31, 0.44, 0.62)):
            name = AXES[axis]
            faces = whole[f"grid/{name}_face"][...]
            cell = int(np.searchsorted(faces, position, side="right"))
            with h5py.File(outcome.directory / f"slice_{name}{position}_00001.h5") as file:
                assert file[f"grid/{name}_face"][...] == [faces[cell]]
                for field, values in whole["fields"].items():
                    expected = np.take(values[...], [cell], axis=2 - axis)
                    assert np.array_equal(file["fields"][field][...], expected)


def test_restarting_from_a_cutout_is_refused(tmp_path: Path) -> None:
    settings = ('output.slices=["z = 0.5"]', "output.coarse_level=0")
    outcome = run_well(tmp_path / "run", TINY_BLAST, *settings)
    for name, kind in (("slice_z0.5", "slice"), ("coarse", "coarse")):
        path = outcome.directory / f"{name}_00001.h5"
        assert_refused(
            run(tmp_path / "on", TINY_BLAST, restart=path), f"cannot restart from a {kind}"
        )
        assert kind in octant("info", path).text


# --- pictures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
def test_octools_draws_of_a_slice_what_it_draws_of_the_snapshot(blast: Outcome, axis: str) -> None:
    position = SLICES[axis]
    images, outlines = [], []
    for path in (
        blast.last_snapshot,
        blast.directory / f"slice_{axis}{position:g}_00001.h5",
    ):
        with Snapshot(path, may_be_slice=True) as snapshot:
            view = make_view(snapshot, "slice", axis, position)
            images.append(make_image(snapshot, find_field(snapshot, "mach"), view))
            outlines.append(block_outlines(snapshot, view))
    whole, cut = images
    assert whole.view == cut.view
    assert whole.values.shape == (48, 48)
    finer = 48 // len(cut.values)  # pixels are as fine as the finest cell in the file
    assert (finer > 1) == (axis == "x")
    assert np.array_equal(whole.values, cut.values.repeat(finer, axis=0).repeat(finer, axis=1))
    for ours, theirs in zip(*outlines, strict=False):
        assert np.array_equal(ours.lower, theirs.lower)


def test_octools_says_what_a_slice_does_not_have(blast: Outcome) -> None:
    path = blast.directory / "slice_z0.62_00001.h5"
    with pytest.raises(OctoolsError, match="is a slice"):
        Snapshot(path)
    with (
        Snapshot(path, may_be_slice=True) as snapshot,
        pytest.raises(OctoolsError, match="cannot be projected"),
    ):
        make_view(snapshot, "projection", "z", None)


def test_a_film_of_slices_has_its_series(blast: Outcome) -> None:
    found = snapshots(blast.directory, "slice_z0.62")
    assert [path.name for path in found.values()] == [
        f"slice_z0.62_{number:05}.h5" for number in (0, 1)
    ]
    with pytest.raises(OctoolsError, match=r"no series of files 'slice_z0.6'.*slice_z0.62"):
        snapshots(blast.directory, "slice_z0.6")


def test_octools_draws_a_slice_of_a_flow(tmp_path: Path) -> None:
    planes = 'output.slices=["x = 0.31", "z = 0.62"]'
    outcome = run_well(tmp_path / "run", SMALL_CAVITY, planes, "time.max_steps=2")
    whole = FlowSnapshot.read(outcome.last_snapshot)
    for axis, position in (("x", 0.31), ("z", 0.62)):
        path = outcome.directory / f"slice_{axis}{position}_00001.h5"
        part = FlowSnapshot.read(path, may_be_slice=True)
        what = FlowSlice("v", "y").in_plane(part.plane)
        values, place = slice_values(part, what)
        expected, _ = slice_values(whole, replace(what, position=place))
        assert what.axis == axis
        assert np.array_equal(values, expected)
    with pytest.raises(OctoolsError, match="is a slice"):
        FlowSnapshot.read(path)
