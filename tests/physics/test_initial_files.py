"""Runs that begin with arrays from a file, and flows that begin with those of another grid.

The same bits as a compiled problem and on any ranks, exact means on meshes of other cells, levels
where the file has them, particles, units, and refusals.
"""

import math
from pathlib import Path

import h5py
import numpy as np
import pytest
from octools.errors import OctoolsError
from octools.initial import Grid, write_initial

from flows import fields
from refusals import assert_refused
from running import Array, differing, leaf_cells, run, run_well, uniform_grid

GAMMA = 1.4
SOD = """
[problem]
name = "sod"
[mesh]
base_cells = [64, 8, 8]
upper = [1.0, 0.125, 0.125]
boundary_x = ["outflow", "outflow"]
[time]
end = 1.0
max_steps = 3
"""
STILL = """
[problem]
name = "file"
path = "{}"
[mesh]
base_cells = {}
block_size = 4
max_level = {}
[time]
max_steps = 0
"""


def turbulent_gas(shape: tuple[int, int, int], seed: int = 1) -> dict[str, object]:
    """Gas that differs from cell to cell, by reproducible noise."""
    noise = np.random.default_rng(seed)
    return {
        "density": np.exp(noise.normal(size=shape)),
        "velocity": noise.normal(size=(3, *shape)),
        "pressure": np.exp(noise.normal(size=shape)),
    }


def conserved(gas: dict[str, object]) -> Array:
    """Mass, momentum and energy per volume, shape (5, k, j, i)."""
    density, velocity = np.asarray(gas["density"]), np.asarray(gas["velocity"])
    energy = np.asarray(gas["pressure"]) / (GAMMA - 1) + density * (velocity**2).sum(axis=0) / 2
    return np.stack([density, *(density * velocity), energy])


def conserved_of(path: Path) -> Array:
    """Read the same from an unrefined snapshot."""
    gas = {name: uniform_grid(path, name) for name in ("density", "pressure")}
    velocity = np.stack([uniform_grid(path, f"velocity_{axis}") for axis in "xyz"])
    return conserved(gas | {"velocity": velocity})


def means(values: Array, cells: int) -> Array:
    """Means over boxes of cells: the exact overlap along each axis, shape (.., cells) cubed."""
    for axis in (1, 2, 3):
        n = values.shape[axis]
        edges, own = np.arange(n + 1) / n, np.arange(cells + 1) / cells
        low = np.maximum(edges[:-1], own[:-1, None])
        share = np.clip(np.minimum(edges[1:], own[1:, None]) - low, 0, None) * cells
        values = np.moveaxis(np.tensordot(share, values, axes=(1, axis)), 0, axis)
    return values


def test_a_file_of_the_same_cells_is_the_compiled_problem_bit_for_bit(tmp_path: Path) -> None:
    reference = run_well(tmp_path / "sod", SOD)
    left = (np.arange(64) < 32) * np.ones((8, 8, 1))
    write_initial(
        tmp_path / "sod.h5",
        {"density": np.where(left, 1.0, 0.125), "pressure": np.where(left, 1.0, 0.1)},
        upper=(1.0, 0.125, 0.125),
    )
    parameters = SOD.replace('"sod"', f'"file"\npath = "{tmp_path / "sod.h5"}"')
    for ranks in (1, 3):
        outcome = run_well(tmp_path / f"file{ranks}", parameters, ranks=ranks)
        assert differing(outcome.last_snapshot, reference.last_snapshot) == []


@pytest.mark.parametrize(("of_file", "of_mesh"), [(16, 8), (8, 16), (12, 8), (10, 16)])
def test_cells_get_the_exact_mean_of_what_is_conserved(
    of_file: int, of_mesh: int, tmp_path: Path
) -> None:
    gas = turbulent_gas((of_file,) * 3)
    path = write_initial(tmp_path / "gas.h5", gas)
    outcome = run_well(tmp_path / "run", STILL.format(path, [of_mesh] * 3, 0))
    found = conserved_of(outcome.last_snapshot)
    np.testing.assert_allclose(found, means(conserved(gas), of_mesh), rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write gas on two levels, of which the finer one fills an eighth of the box; and stars."""
    noise = np.random.default_rng(3)
    return write_initial(
        tmp_path_factory.mktemp("levels") / "gas.h5",
        [
            Grid(turbulent_gas((16, 16, 16))),
            Grid(turbulent_gas((16, 16, 16), 2), (0.25,) * 3, (0.75,) * 3),
        ],
        particles={
            "dark": {"position": noise.random((500, 3)), "mass": 0.01},
            "stars": {"position": noise.random((70, 3)), "mass": 0.1, "metallicity": 0.02},
        },
    )


def test_meshes_follow_the_levels_of_the_file(levels: Path, tmp_path: Path) -> None:
    parameters = STILL.format(levels, [16] * 3, 2)
    kinds = 'problem.particles=["dark", "stars"]'
    outcomes = [
        run_well(tmp_path / "1", parameters, kinds),
        run_well(tmp_path / "2", parameters, kinds, ranks=2),
        run_well(tmp_path / "5", parameters, kinds, "balance.decomposition=hilbert", ranks=5),
    ]
    for other in outcomes[1:]:
        assert differing(other.last_snapshot, outcomes[0].last_snapshot) == []
    large = run_well(tmp_path / "large", parameters, kinds, "mesh.block_size=8")

    coarse, fine = (conserved(turbulent_gas((16, 16, 16), seed)) for seed in (1, 2))
    total = coarse.mean(axis=(1, 2, 3)) + fine.mean(axis=(1, 2, 3)) / 8
    total -= coarse[:, 4:12, 4:12, 4:12].mean(axis=(1, 2, 3)) / 8
    for outcome in (outcomes[0], large):
        cells = leaf_cells(outcome.last_snapshot)
        inside = (np.abs(cells.position - 0.5) < 0.25).all(axis=1)
        assert set(cells.size[inside]) == {1 / 32}
        assert cells.size.max() == 1 / 16
        index = np.floor((cells.position[inside] - 0.25) * 32).astype(int).T[::-1]
        assert (
            cells["density"][inside]
            == np.asarray(turbulent_gas((16,) * 3, 2)["density"])[tuple(index)]
        ).all()
        row = outcome.history()
        assert row["mass"][-1] == pytest.approx(total[0], rel=1e-13)
        assert row["total_energy"][-1] == pytest.approx(total[4], rel=1e-13)

    # Where the mesh is coarser than the file: the mean of the finest grid there.
    rough = run_well(tmp_path / "rough", STILL.format(levels, [8] * 3, 0), kinds)
    assert rough.history()["mass"][-1] == pytest.approx(total[0], rel=1e-13)
    with h5py.File(rough.last_snapshot) as file:
        assert file["particles/dark/id"].shape == (500,)
        assert (file["particles/stars/metallicity"][...] == 0.02).all()
        assert (file["particles/stars/birth_scale_factor"][...] == 1.0).all()


def test_a_restart_keeps_the_levels_or_lets_them_go(levels: Path, tmp_path: Path) -> None:
    parameters = STILL.format(levels, [16] * 3, 1)
    kinds = 'problem.particles=["dark", "stars"]'
    steps = ("time.max_steps=2", "output.final_checkpoint=true")
    first = run_well(tmp_path / "first", parameters, kinds, *steps)
    again = run_well(tmp_path / "first", parameters, kinds, "time.max_steps=4", restart="latest")
    straight = run_well(tmp_path / "straight", parameters, kinds, "time.max_steps=4", ranks=2)
    assert differing(again.last_snapshot, straight.last_snapshot) == []
    assert leaf_cells(first.last_snapshot).size.min() == 1 / 32
    free = run_well(tmp_path / "free", parameters, kinds, *steps, "problem.hold_levels=false")
    assert leaf_cells(free.last_snapshot).size.min() == 1 / 16


def test_files_have_units_or_those_of_the_run(tmp_path: Path) -> None:
    cgs = {"length": 3e18, "mass": 2e33, "time": 3e13}
    gas = {"density": np.full((8, 8, 8), 2.0), "velocity": [1.0, 0.0, 0.0], "pressure": 3.0}
    path = write_initial(tmp_path / "gas.h5", gas, units=cgs, upper=(2, 2, 2))
    run_units = "\n[units]\nlength = 6e18\ndensity = 1e-24\ntime = 3e13\n"
    parameters = STILL.format(path, [8] * 3, 0) + run_units
    cells = leaf_cells(run_well(tmp_path / "run", parameters).last_snapshot)
    density = 2e33 / 3e18**3 / 1e-24
    assert cells["density"] == pytest.approx(2 * density)
    assert cells["velocity_x"] == pytest.approx(0.5)
    assert cells["pressure"] == pytest.approx(3 * density / 4)
    refused = run(tmp_path / "no", STILL.format(path, [8] * 3, 0), "mesh.upper=[2.0, 2.0, 2.0]")
    assert_refused(refused, "gas.h5", "set [units]")

    hot = {"density": np.ones((8, 8, 8)), "temperature": 1e4}
    path = write_initial(tmp_path / "hot.h5", hot)
    cells = leaf_cells(
        run_well(tmp_path / "hot", STILL.format(path, [8] * 3, 0) + run_units).last_snapshot
    )
    kelvin = (6e18 / 3e13) ** 2 * 1.67262192369e-24 / 1.380649e-16
    assert cells["pressure"] == pytest.approx(1e4 / kelvin)


def damage(path: Path, what: str) -> None:
    """Make a file wrong that write_initial would not write."""
    with h5py.File(path, "r+") as file:
        gas = file["gas/level_0"]
        if what == "no pressure":
            del gas["pressure"]
        elif what == "shape":
            del gas["velocity_y"]
            gas["velocity_y"] = np.ones((8, 8, 4))
        elif what == "NaN":
            gas["velocity_z"][5, 2, 3] = math.nan
        elif what == "vacuum":
            gas["density"][7, 7, 7] = 0.0
        elif what == "box":
            file["header"].attrs["upper"] = [1.0, 1.0, 2.0]
        elif what == "scalar":
            gas["dye"] = np.ones((8, 8, 8))
        elif what == "scalar of a level":
            finer = file.create_group("gas/level_1")
            finer.attrs["lower"], finer.attrs["upper"] = [0.25] * 3, [0.75] * 3
            for name in (*gas, "dye"):
                finer[name] = np.ones((8, 8, 8))
        elif what == "gap":
            file.copy("gas/level_0", "gas/level_2")
        elif what == "escape":
            gas["dye\x1b[2J"] = np.ones((8, 8, 8))
        elif what in ("column", "escape in a column"):
            name = "metalicity" if what == "column" else "a,\x1b[2J"
            file["particles/stars/position"] = np.full((3, 3), 0.5)
            file["particles/stars/velocity"] = np.zeros((3, 3))
            for column in ("mass", "birth_time", name):
                file[f"particles/stars/{column}"] = np.ones(3)
        elif what == "nesting":
            finer = file.create_group("gas/level_1")
            finer.attrs["lower"], finer.attrs["upper"] = [1 / 16] * 3, [9 / 16] * 3
            for name in gas:
                finer[name] = np.ones((8, 8, 8))
        elif what == "particles":
            file["particles/dark/mass"] = np.ones(3)
        elif what == "other":
            del file["header"]


WRONG = {
    "no pressure": ("/gas/level_0/pressure is missing",),
    "shape": ("/gas/level_0/velocity_y", "[8, 8, 4]; expected [8, 8, 8]"),
    "NaN": ("/gas/level_0/velocity_z", "row 5 is nan"),
    "vacuum": ("/gas/level_0/density", "row 7 is 0", "above 0"),
    "box": ("from 0 to 2 along z", "but the box of the run from 0 to 1"),
    "scalar": ("/gas/level_0/dye", "none (hydro.scalars)"),
    "scalar of a level": ("/gas/level_1/dye does not occur in /gas/level_0",),
    "gap": ("/gas/level_2 is not a level", "without gaps"),
    "escape": ("/gas/level_0/dye\\x1b[2J is not a gas variable",),
    "column": ("unknown dataset /particles/stars/metalicity", "metallicity"),
    "escape in a column": ("unknown dataset /particles/stars/a,\\x1b[2J", "metallicity"),
    "nesting": ("/gas/level_1 must lie within /gas/level_0",),
    "particles": ('type "dark"', "problem.particles"),
    "other": ('does not have kind = "initial"',),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_files_are_refused(what: str, tmp_path: Path) -> None:
    path = write_initial(tmp_path / "gas.h5", turbulent_gas((8, 8, 8)))
    damage(path, what)
    ranks = 2 if what in ("NaN", "nesting", "column", "gap") else 1
    kinds = ['problem.particles=["stars"]'] if "column" in what else []
    outcome = run(tmp_path / "run", STILL.format(path, [8] * 3, 0), *kinds, ranks=ranks)
    assert_refused(outcome, "gas.h5", *WRONG[what])
    assert "\x1b[2J" not in outcome.text


@pytest.mark.parametrize("key", ["problem.particles", "output.formats", "output.fields"])
def test_what_is_given_twice_is_refused(key: str, tmp_path: Path) -> None:
    value = {"particles": "dark", "formats": "octant", "fields": "density"}[key.split(".")[1]]
    stars = {"dark": {"position": np.full((1, 3), 0.5), "mass": 1.0}}
    path = write_initial(tmp_path / "gas.h5", turbulent_gas((8, 8, 8)), particles=stars)
    settings = ['problem.particles=["dark"]', f'{key}=["{value}", "{value}"]']
    outcome = run(tmp_path / "run", STILL.format(path, [8] * 3, 0), *settings)
    assert_refused(outcome, key, f'"{value}" is given twice')


def test_what_a_file_holds_besides_is_named(tmp_path: Path) -> None:
    path = write_initial(tmp_path / "gas.h5", turbulent_gas((8, 8, 8)))
    with h5py.File(path, "r+") as file:
        file["partcles/dark/mass"] = np.ones(3)
    outcome = run_well(tmp_path / "run", STILL.format(path, [8] * 3, 0))
    assert "ignored /partcles" in outcome.text


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    assert_refused(run(tmp_path / "run", STILL.format("", [8] * 3, 0)), "problem.path is missing")


def test_the_writer_refuses_what_is_no_state(tmp_path: Path) -> None:
    gas = turbulent_gas((4, 4, 4))
    path = write_initial(tmp_path / "gas.h5", gas)
    before = path.read_bytes()
    with pytest.raises(OctoolsError, match="exists"):
        write_initial(path, gas)
    assert path.read_bytes() == before
    for wrong, message in (
        ({"density": -1.0 * np.ones((4, 4, 4))}, r"density is -1.0 at \(0, 0, 0\)"),
        ({"pressure": np.ones((4, 4))}, "; expected"),
        ({"temperature": 1.0}, "pressure or temperature"),
        ({"velocity": [0.0, math.inf, 0.0]}, "velocity_y is inf"),
        ({"velocity_z": 1.0}, "velocity and velocity_z are both given"),
        ({"a/b": 1.0}, 'level 0: field: "a/b" is not a name'),
        ({"a\x1b": 1.0}, r"\\x1b"),
        ({"": 1.0}, 'field: "" is not a name'),
        ({7: 1.0}, 'field: "7" is not a name'),
    ):
        with pytest.raises(OctoolsError, match=message):
            write_initial(tmp_path / "other.h5", gas | wrong)
    body = {"position": np.zeros((1, 3)), "mass": 1.0}
    for kind, columns in (("dark/x", body), ("a\nb", body), ("dark", body | {"a,b": [1.0]})):
        with pytest.raises(OctoolsError, match="is not a name"):
            write_initial(tmp_path / "other.h5", gas, particles={kind: columns})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["gas.h5"]


CHANNEL = """
model = "dns"
[problem]
name = "{}"
[grid]
cells = [{}, {}, {}]
size = [3.0, 2.0, 1.0]
stretching = "{}"
[dns]
viscosity = 0.05
boundary_z = ["wall", "wall"]
velocity_z_upper = [1.0, 0.5, 0.0]
[time]
end = 1.0
step = 1e-9
max_steps = 0
"""


def test_a_stored_flow_is_interpolated_from_another_grid(tmp_path: Path) -> None:
    def points(cells: tuple[int, int, int], stretching: str) -> tuple[dict[str, Array], Path]:
        name = f"{cells[0]}_{stretching}"
        text = CHANNEL.format("couette", *cells, stretching)
        grid = run_well(tmp_path / f"grid_{name}", text).last_snapshot
        with h5py.File(grid) as file:
            return {key: data[...] for key, data in file["grid"].items()}, grid

    def smooth(grid: dict[str, Array], on: str, upper: float) -> Array:
        x, y, z = (grid[f"{axis}_face" if axis == on else axis] for axis in "xyz")
        wave = np.sin(2 * np.pi * x / 3) * np.cos(2 * np.pi * y / 2)[:, None]
        z = z[:, None, None]
        return upper * z + np.sin(np.pi * z) * wave

    own, _ = points((24, 20, 16), "uniform")
    errors = []
    for cells in ((16, 12, 12), (32, 24, 24)):
        grid, path = points(cells, "tanh")
        with h5py.File(path, "r+") as file:
            for name, axis, upper in (("u", "x", 1.0), ("v", "y", 0.5), ("w", "z", 0.0)):
                file[f"fields/{name}"][...] = smooth(grid, axis, upper)
        text = CHANNEL.format("stored_flow", 24, 20, 16, "uniform")
        where = f'problem.path="{path}"'
        outcomes = [
            run_well(tmp_path / f"{cells[0]}_{ranks}", text, where, ranks=ranks) for ranks in (1, 3)
        ]
        found, other = (fields(outcome.last_snapshot) for outcome in outcomes)
        worst = 0.0
        for name, axis, upper in (("u", "x", 1.0), ("v", "y", 0.5), ("w", "z", 0.0)):
            assert (found[name] == other[name]).all()
            worst = max(worst, float(np.abs(found[name] - smooth(own, axis, upper)).max()))
        errors.append(worst)
    assert errors[1] < 2e-3
    assert math.log2(errors[0] / errors[1]) > 3.3  # of fourth order


def test_wrong_stored_flows_are_refused(tmp_path: Path) -> None:
    text = CHANNEL.format("couette", 8, 8, 8, "uniform")
    path = run_well(tmp_path / "flow", text).last_snapshot
    where = f'problem.path="{path}"'
    larger = CHANNEL.format("stored_flow", 8, 8, 12, "uniform")
    refused = run(tmp_path / "a", larger, where, "grid.size=[3.0, 2.0, 1.5]")
    assert_refused(refused, "/grid/z_face ends at 1", "grid.size is 1.5")
    with h5py.File(path, "r+") as file:
        del file["grid/z"]
    refused = run(tmp_path / "b", larger, where, ranks=2)
    assert_refused(refused, "8 cells along z", "12", "/grid/z")
    bottom = run(tmp_path / "c", text, "grid.cells=[8,8,12]", restart=path)
    assert bottom.code == 2, bottom.text
