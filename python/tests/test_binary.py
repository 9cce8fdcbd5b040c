"""Binary stars: orbit, masses, angular momentum and mass transfer of stars with known values."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from binaries import SPIN, BinarySnapshot, rotation
from conftest import Call

import octools as package
from octools.binary_star import binary_table, mean_rate, measure_binary
from octools.history import read_history
from octools.leaf_gas import relative_slopes
from octools.snapshot import AXES, Array, Snapshot

TILT = rotation(np.array([1.0, 2.0, 0.5]), 0.8)
ABOUT_Z = rotation(np.array([0.0, 0.0, 1.0]), 0.5 * np.pi)


def measured(star: BinarySnapshot, path: Path, of_run: bool = True) -> dict[str, float]:
    with Snapshot(star.write(path)) as snapshot:
        return measure_binary(snapshot, of_run).columns()


def expected(star: BinarySnapshot) -> dict[str, float]:
    """Return the quantities of two rigid stars on a circular orbit."""
    mass = star.mass
    spin = 2.0 * mass * np.array(star.sigma) ** 2 * star.spin_rates
    orbital = mass.prod() * star.separation**2 * star.orbit_rate
    total = np.cross(star.centre, star.drift) + (orbital + spin.sum()) * star.turn[:, 2]
    own, other = 1.0 - np.array(star.mixed), np.array(star.mixed)
    marked = np.array([[own[0], other[1]], [other[0], own[1]]]) * mass  # of each star, in each lobe
    along = star.separation * (marked / marked.sum(axis=1, keepdims=True)) @ [0.0, 1.0]
    return {
        "separation": star.separation,
        "tracer_separation": along[1] - along[0],
        "tracer_1_mass": marked[0].sum(),
        "angular_velocity": star.orbit_rate,
        "lobe_1_mass": mass[0],
        "lobe_2_mass": mass[1],
        "mass_ratio": star.ratio,
        "mass_from_1_to_2": marked[0, 1],
        "mass_from_2_to_1": marked[1, 0],
        "orbital_angular_momentum": orbital,
        "spin_1": spin[0],
        "spin_2": spin[1],
        "mass": 1.0,
        **{f"angular_momentum_{axis}": total[d] for d, axis in enumerate(AXES)},
        **{f"lobe_{s + 1}_{a}": star.places[s, d] for s in range(2) for d, a in enumerate(AXES)},
    }


CASES = {
    "in the plane of x and y": BinarySnapshot(cells=48),
    "another mass ratio": BinarySnapshot(cells=48, ratio=1.6, separation=1.1, orbit_rate=0.8),
    "tilted": BinarySnapshot(cells=48, turn=TILT),
    "moved": BinarySnapshot(cells=48, centre=(0.21, -0.13, 0.17), drift=(0.3, -0.2, 0.5)),
    "finer cells": BinarySnapshot(cells=64),
    "adaptive mesh": BinarySnapshot(cells=24, levels=2, turn=TILT),
    "spins": BinarySnapshot(cells=48, spin_rates=(-2.0, 5.0), turn=TILT),
    "exchanged gas": BinarySnapshot(cells=48, mixed=(0.0, 0.25)),
    "exchanged both ways": BinarySnapshot(cells=48, mixed=(0.02, 0.15), turn=TILT),
    "rotating mesh": BinarySnapshot(cells=48, frame=1.0, time=0.7, turn=TILT),
    "rotating mesh off the centre": BinarySnapshot(
        cells=48, frame=0.9, time=1.1, frame_centre=(0.1, -0.2), turn=TILT,
        centre=(0.1, 0.05, 0.0), drift=(0.3, 0.2, -0.4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("of_run", [True, False], ids=["run", "points"])
def test_stars_have_their_known_values(name: str, of_run: bool, tmp_path: Path) -> None:
    star = CASES[name]
    found = measured(star, tmp_path / "snap_00000.h5", of_run)
    for key, value in expected(star).items():
        assert found[key] == pytest.approx(value, rel=3e-4, abs=1e-5), key
    assert abs(found["mass_outside"]) < 1e-12
    assert abs(found["angular_momentum_outside"]) < 1e-12


def direct_sums(path: Path, star: int) -> dict[str, Array]:
    """Sum the marked gas of a star cell by cell, by another reader."""
    data = package.load(path)
    mass = data["density"] * data["volume"] * data[f"scalar_{star}"]
    place = np.stack([data[a] for a in AXES], axis=1)
    velocity = np.stack([data[f"velocity_{a}"] for a in AXES], axis=1)
    centre, drift = mass @ place / mass.sum(), mass @ velocity / mass.sum()
    spin = mass @ np.cross(place - centre, velocity - drift)
    return {"mass": mass.sum(), "centre": centre, "velocity": drift, "spin": spin}


@pytest.mark.parametrize("name", ["tilted", "moved", "adaptive mesh", "spins"])
def test_sums_over_cells_are_exact(name: str, tmp_path: Path) -> None:
    path = tmp_path / "snap_00000.h5"
    found = measured(CASES[name], path)
    sums = [direct_sums(path, star) for star in range(2)]
    apart = sums[1]["centre"] - sums[0]["centre"]
    moving = sums[1]["velocity"] - sums[0]["velocity"]
    axis = np.cross(apart, moving) / np.linalg.norm(np.cross(apart, moving))
    masses = np.array([sums[0]["mass"], sums[1]["mass"]])
    reduced = masses.prod() / masses.sum()
    assert found["separation"] == pytest.approx(np.linalg.norm(apart), rel=1e-13)
    orbital = reduced * np.linalg.norm(np.cross(apart, moving))
    assert found["orbital_angular_momentum"] == pytest.approx(orbital, rel=1e-12)
    for star in range(2):
        assert found[f"lobe_{star + 1}_mass"] == pytest.approx(masses[star], rel=1e-13)
        assert found[f"spin_{star + 1}"] == pytest.approx(sums[star]["spin"] @ axis, rel=1e-11)


@pytest.mark.parametrize("of_run", [True, False], ids=["run", "points"])
def test_moving_and_turning_by_whole_cells_changes_nothing(of_run: bool, tmp_path: Path) -> None:
    """Ambient gas in the lobes: their surfaces cut cells, which must be cut in the same way.

    Slopes of the density are one-sided at the edges of blocks, which do not move along.
    """
    cell = 3.0 / 32
    gas = {"cells": 32, "ambient": 0.02}
    plain = measured(BinarySnapshot(**gas), tmp_path / "snap_0.h5", of_run)
    shift = (2 * cell, -cell, cell)
    others = {
        "moved": BinarySnapshot(**gas, centre=shift),
        "streaming": BinarySnapshot(**gas, centre=shift, drift=(0.7, -0.4, 0.2)),
        "turned": BinarySnapshot(**gas, turn=ABOUT_Z),
        "upright": BinarySnapshot(**gas, turn=rotation(np.array([1.0, 1.0, 1.0]), 2 * np.pi / 3)),
        "reversed": BinarySnapshot(**gas, turn=rotation(np.array([1.0, 0.0, 0.0]), np.pi)),
    }
    names = ("separation", "mass_ratio", "lobe_1_mass", "lobe_2_mass", "spin_1", "spin_2",
             "orbital_angular_momentum", "roche_radius_1", "angular_velocity")  # fmt: skip
    assert plain["lobe_1_mass"] > 0.67
    for kind, star in others.items():
        found = measured(star, tmp_path / f"snap_{kind}.h5", of_run)
        for name in names:
            assert found[name] == pytest.approx(plain[name], rel=2e-7), (kind, name)
        # Ambient gas is at rest relative to the stars, and slightly less massive on one side.
        assert abs(found["mass_outside"]) > 0.4
        assert abs(found["angular_momentum_outside"]) < 2e-3, kind


def test_spin_of_cells_is_part_of_the_spin_of_stars(tmp_path: Path) -> None:
    plain, extra = (
        measured(BinarySnapshot(cells=24, has_spin=own), tmp_path / f"snap_{own}.h5")
        for own in (False, True)
    )
    for star in (1, 2):
        own = SPIN * plain[f"lobe_{star}_mass"]
        assert extra[f"spin_{star}"] - plain[f"spin_{star}"] == pytest.approx(own, rel=1e-9)
    total = extra["angular_momentum_z"] - plain["angular_momentum_z"]
    assert total == pytest.approx(SPIN * plain["mass"], rel=1e-9)


def test_slopes_of_the_density_are_limited() -> None:
    x = np.arange(8.0)
    density = np.broadcast_to(10.0 + 0.5 * x, (1, 8, 8, 8)).copy()
    slopes = relative_slopes(density, np.array([0.25, 0.5, 0.5]))
    assert slopes[..., 0] == pytest.approx(2.0 / density, rel=1e-12)
    assert np.abs(slopes[..., 1:]).max() == 0.0
    density[0, 3, 3, 3] = 1e-6  # a minimum has no slope, and all gas has a positive density
    slopes = relative_slopes(density, np.ones(3))
    assert np.abs(slopes[0, 3, 3, 3]).max() == 0.0
    assert np.abs(slopes).sum(axis=-1).max() <= 2.0 + 1e-12
    assert np.isfinite(relative_slopes(np.zeros((1, 4, 4, 4)), np.ones(3))).all()


# --- series of snapshots -----------------------------------------------------------------------


def orbiting(run: Path, count: int = 4, **options: object) -> list[BinarySnapshot]:
    """Write snapshots of stars that lose and exchange mass at constant rates while they orbit."""
    run.mkdir()
    stars = []
    for number in range(count):
        time = 0.4 * number
        star = BinarySnapshot(
            cells=48,
            ratio=0.5 + 0.05 * number,
            mixed=(0.008 * number, 0.02 * number),
            turn=rotation(np.array([0.0, 0.0, 1.0]), time),
            time=time,
            **options,  # type: ignore[arg-type]
        )
        star.write(run / f"snap_{number:05d}.h5")
        stars.append(star)
    return stars


def test_rates_and_orbits_follow_from_the_series(tmp_path: Path) -> None:
    stars = orbiting(tmp_path / "run")
    states = []
    for path in sorted((tmp_path / "run").iterdir()):
        with Snapshot(path) as snapshot:
            states.append(measure_binary(snapshot))
    table = binary_table(states)
    time = np.array([star.time for star in stars])
    assert table["orbits"] == pytest.approx(time / (2.0 * np.pi), rel=1e-3, abs=1e-12)
    for name, values in (
        ("mass_rate_1", [star.mass[0] for star in stars]),
        ("mass_rate_2", [star.mass[1] for star in stars]),
        (
            "transfer_rate",
            [star.mixed[1] * star.mass[1] - star.mixed[0] * star.mass[0] for star in stars],
        ),
    ):
        assert table[name] == pytest.approx(np.gradient(values, time), rel=2e-3), name
    assert (table["mass_rate_1"] < 0.0).all()


def test_rates_are_averaged_over_an_interval() -> None:
    """Averages are exact for parabolas, remove oscillations of their period, and end at gaps."""
    time = np.linspace(0.0, 10.0, 101)
    middle = (time > 1.0) & (time < 9.0)
    wave = np.sin(2.0 * np.pi * time / 2.0)
    found = mean_rate(0.3 * time**2 + wave, time, 2.0)
    assert found[middle] == pytest.approx(0.6 * time[middle], rel=1e-9)
    assert np.abs(np.gradient(0.3 * time**2 + wave, time) - 0.6 * time)[middle].max() > 3.0
    # Intervals at the ends are half as long: the mean is that at their middle.
    assert mean_rate(time**2, time, 2.0)[[0, -1]] == pytest.approx([1.0, 19.0], rel=1e-9)
    assert mean_rate(time**2, time, 0.0) == pytest.approx(np.gradient(time**2, time), rel=1e-12)
    merged = np.where(time > 8.05, np.nan, time**2)
    found = mean_rate(merged, time, 2.0)
    assert np.isnan(found).tolist() == np.isnan(merged).tolist()
    assert found[80] == pytest.approx(15.0, rel=1e-9)
    assert np.isnan(mean_rate(np.array([1.0, np.nan]), np.array([0.0, 1.0]), 1.0)).all()


def test_the_interval_of_rates_can_be_chosen(tmp_path: Path, octools: Call) -> None:
    run = tmp_path / "run"
    stars = orbiting(run)
    result = octools("binary", run, "--average", 1, "--panels", 0)
    assert result.returncode == 0, result.stderr
    rows = np.genfromtxt(run / "binary.csv", delimiter=",", names=True)
    mean = (stars[-1].mass[1] - stars[0].mass[1]) / (stars[-1].time - stars[0].time)
    assert rows["mass_rate_2"] == pytest.approx(np.full(4, mean), rel=2e-3)


def test_the_command_writes_table_plots_and_movie(tmp_path: Path, octools: Call) -> None:
    run = tmp_path / "run"
    orbiting(run)
    result = octools("binary", run, "--movie", "--panels", 3)
    assert result.returncode == 0, result.stderr
    assert "0.191 orbits of 6.283" in result.stdout
    rows = np.genfromtxt(run / "binary.csv", delimiter=",", names=True)
    assert rows["mass_ratio"] == pytest.approx([0.5, 0.55, 0.6, 0.65], rel=1e-3)
    assert rows["separation"] == pytest.approx(np.ones(4), rel=1e-3)
    for name in ("binary.png", "binary_density.png"):
        assert (run / name).stat().st_size > 20_000, name
    assert len(list(run.glob("movie_binary.*"))) == 1
    printed = [line for line in result.stdout.splitlines() if line.strip()[:1] in "0."]
    assert len(printed) >= 4


def test_output_and_potential_can_be_chosen(tmp_path: Path, octools: Call) -> None:
    run = tmp_path / "run"
    orbiting(run, count=1, has_potential=False)
    chosen = ("--potential", "points", "--output", tmp_path / "b" / "x.pdf", "--panels", 0)
    result = octools("binary", run, *chosen)
    assert result.returncode == 0, result.stderr
    assert sorted(p.name for p in (tmp_path / "b").iterdir()) == ["x.csv", "x.pdf"]


def test_merged_stars_have_no_lobes(tmp_path: Path, octools: Call) -> None:
    run = tmp_path / "run"
    orbiting(run, count=2)
    BinarySnapshot(cells=24, separation=0.2, time=1.0).write(run / "snap_00002.h5")
    result = octools("binary", run)
    assert result.returncode == 0, result.stderr
    assert "1 of 3 snapshots have no Roche lobes, the first one at t = 1" in result.stdout
    rows = np.genfromtxt(run / "binary.csv", delimiter=",", names=True)
    assert np.isnan(rows["mass_ratio"]).tolist() == [False, False, True]
    assert rows["tracer_separation"][2] == pytest.approx(0.2, rel=0.05)


# --- refusals ----------------------------------------------------------------------------------


def one_star(path: Path) -> None:
    BinarySnapshot(cells=24).write(path)
    with h5py.File(path, "r+") as file:
        file["hydro/level_0/scalar_1"][...] = 0.0


def periodic(path: Path) -> None:
    BinarySnapshot(cells=24).write(path)
    with h5py.File(path, "r+") as file:
        file["header"].attrs["parameters"] = ""


def without_gravity(path: Path) -> None:
    BinarySnapshot(cells=24, has_potential=False).write(path)
    with h5py.File(path, "r+") as file:
        del file["header"].attrs["gravity_constant"]


REFUSED: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "no snapshots": (lambda path: None, ("contains no snapshots", "snap_NNNNN.h5")),
    "no scalars": (
        BinarySnapshot(cells=24, has_tracers=False).write,
        ("no scalar_0 and no scalar_1", "hydro.scalars = 2"),
    ),
    "one star": (one_star, ("no gas of star 2", "scalar_1", "two stars")),
    "periodic": (periodic, ("the domain is periodic", "mesh.boundary_x")),
    "no gravity": (without_gravity, ("gravity_constant", "gravity.enabled = true")),
    "no orbit": (
        BinarySnapshot(cells=24, orbit_rate=1e-8, spin_rates=(0.0, 0.0)).write,
        ("do not orbit each other", "snap_00000.h5"),
    ),
    "merged": (
        BinarySnapshot(cells=24, separation=0.2).write,
        ("fewer than 4 cells apart", "snap_00000.h5"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_binary_is_refused_in_one_line(name: str, tmp_path: Path, octools: Call) -> None:
    write, fragments = REFUSED[name]
    write(tmp_path / "snap_00000.h5")
    result = octools("binary", tmp_path)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    for fragment in fragments:
        assert fragment in result.stderr
    assert not list(tmp_path.glob("binary*"))


# --- runs of the program -------------------------------------------------------------------------

SMALL = """
[problem]
name = "binary"

[gravity]
enabled = true
solver = "fmm"
beyond_walls = "vacuum"

[mesh]
base_cells = [24, 24, 24]
block_size = 8
max_level = 1
lower = [-1.5, -1.5, -1.5]
upper = [1.5, 1.5, 1.5]
boundary_x = ["WALL", "WALL"]
boundary_y = ["WALL", "WALL"]
boundary_z = ["WALL", "WALL"]

[refine]
density = [1e-3]

[hydro]
gamma = 1.6666666666666667
scalars = 2

[time]
subcycle = false
cfl = 0.4
max_steps = 6

[output]
directory = "run"
snapshot_interval = 0.02
"""


@pytest.mark.parametrize("turn", [0.0, 1.0], ids=["at rest", "rotating mesh"])
def test_a_run_of_the_program_agrees_with_its_model_and_history(
    turn: float, tmp_path: Path, program: str, octools: Call
) -> None:
    text = SMALL.replace("WALL", "inflow" if turn else "reflecting")
    if turn:
        text += f"\n[frame]\nangular_velocity = {turn}\n"
    (tmp_path / "binary.toml").write_text(text)
    subprocess.run([program, "run", "binary.toml"], cwd=tmp_path, check=True, capture_output=True)
    result = octools("binary", tmp_path / "run", "--panels", 2)
    assert result.returncode == 0, result.stderr
    rows = np.genfromtxt(tmp_path / "run" / "binary.csv", delimiter=",", names=True)
    history = read_history(tmp_path / "run")
    assert len(rows) > 2
    at = [int(np.abs(history["time"] - time).argmin()) for time in rows["time"]]
    assert history["time"][at] == pytest.approx(rows["time"], abs=1e-9)
    for ours, theirs in (
        ("tracer_1_mass", "star_1_mass"),
        ("tracer_2_mass", "star_2_mass"),
        ("tracer_separation", "separation"),
        ("angular_momentum_z", "angular_momentum_z"),
        ("mass", "mass"),
    ):  # the table has eleven digits
        assert rows[ours] == pytest.approx(history[theirs][at], rel=2e-10), ours
    # The model: masses of 2/3 and 1/3 in the lobes, and a circular orbit of synchronous stars.
    assert rows["lobe_1_mass"] == pytest.approx(2.0 / 3.0, rel=2e-3)
    assert rows["lobe_2_mass"] == pytest.approx(1.0 / 3.0, rel=5e-3)
    assert rows["separation"] == pytest.approx(np.full(len(rows), 0.9992), abs=3e-4)
    assert rows["angular_velocity"] == pytest.approx(np.full(len(rows), 1.0095), rel=2e-3)
    parts = ("orbital_angular_momentum", "spin_1", "spin_2", "angular_momentum_outside")
    total = np.sum([rows[name] for name in parts], axis=0)
    assert total == pytest.approx(rows["angular_momentum_z"], rel=1e-4)
    angle = np.arctan2(rows["lobe_2_y"] - rows["lobe_1_y"], rows["lobe_2_x"] - rows["lobe_1_x"])
    assert angle == pytest.approx(rows["angular_velocity"][0] * rows["time"], rel=0.02, abs=1e-9)
