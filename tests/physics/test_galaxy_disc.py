"""A disc of gas in the gravity of a galaxy: what holds it, and that it keeps turning."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from galaxies import (
    GRAVITY,
    KILOPARSEC,
    MEGAYEAR,
    SNAPSHOTS_ALONE,
    SUN,
    head,
    rows,
)
from inputs import OPEN_ENDS
from reference_data import reference_path
from refusals import assert_refused
from running import Outcome, leaf_cells, run, run_well

Array = NDArray[np.float64]
SPEED = KILOPARSEC / MEGAYEAR / 1e5  # of the code, in km/s
G = GRAVITY * SUN / KILOPARSEC**3 * MEGAYEAR**2

# Units: kpc, Myr, solar masses.
DISC = f"""
[problem]
name = "disc_galaxy"
particles = 40000

[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 3
lower = [-40.0, -40.0, -40.0]
upper = [40.0, 40.0, 40.0]
{OPEN_ENDS}

[refine]
region_lower = [-13.0, -13.0, -1.0]
region_upper = [13.0, 13.0, 1.0]
region_level = 3

[units]
length = {KILOPARSEC!r}
density = {SUN / KILOPARSEC**3!r}
time = {MEGAYEAR!r}

[gravity]
enabled = true
constant = {G!r}

[hydro]
gamma = 1.6666666666666667
limiter = "minmod"
dual_energy = "on"

[time]
end = 10.0
{SNAPSHOTS_ALONE}"""


def of_the_profile() -> tuple[list[str], dict[str, Array]]:
    """Read the galaxy of disc_profile.csv: overrides, and its columns."""
    path = reference_path("galaxy/disc_profile.csv")
    text = head(path)
    patterns = {
        "halo_mass": r"M200=([\d.e+]+)",
        "halo_radius": r"R200=([\d.]+)",
        "halo_concentration": r"c=([\d.]+);",
        "bulge_mass": r"bulge ([\d.e+]+)",
        "bulge_scale": r"bulge [\d.e+]+ Msun, scale ([\d.]+)",
        "disc_mass": r"stars ([\d.e+]+)",
        "disc_length": r", a=([\d.]+)",
        "disc_height": r"b=([\d.]+)",
        "gas_mass": r"gas: ([\d.e+]+)",
        "gas_length": r"exp\(-R/([\d.]+)",
        "gas_height": r"exp\(-\|z\|/([\d.]+)",
        "temperature": r"T=([\d.]+) K",
    }
    given = []
    for name, pattern in patterns.items():
        found = re.search(pattern, text)
        assert found, name
        given.append(f"problem.{name}={float(found[1])!r}")
    return given, rows(path)


@pytest.fixture(scope="module")
def disc(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the disc for some million years, without cooling and stars."""
    given, _ = of_the_profile()
    return run_well(tmp_path_factory.mktemp("disc") / "run", DISC, *given)


def rotation(snapshot: Path, field: str) -> tuple[Array, Array]:
    """Find radii, and the mean of speeds around the centre or of those that gravity holds."""
    cells = leaf_cells(snapshot)
    x, y, z = cells.position.T
    radius = np.hypot(x, y)
    inside = (np.abs(z) < 0.7) & (radius < 12.5) & (cells.size < 1.0)
    edges = np.arange(1.5, 13.0, 1.0)
    if field == "speed":
        value = (x * cells["velocity_y"] - y * cells["velocity_x"]) / radius
    else:
        force = leaf_cells(snapshot, "gravity")
        value = -(x * force["acceleration_x"] + y * force["acceleration_y"])
    weight = cells["density"] * cells.volume * inside
    total, _ = np.histogram(radius, edges, weights=weight)
    mean = np.histogram(radius, edges, weights=weight * value)[0] / total
    middle = np.histogram(radius, edges, weights=weight * radius)[0] / total
    return middle, SPEED * (mean if field == "speed" else np.sqrt(mean))


def spin(snapshot: Path) -> float:
    """Sum the angular momentum of all gas around the axis, in code units."""
    cells = leaf_cells(snapshot)
    x, y, _ = cells.position.T
    turning = x * cells["velocity_y"] - y * cells["velocity_x"]
    return float((turning * cells["density"] * cells.volume).sum())


def test_gas_begins_with_the_speeds_of_the_profile(disc: Outcome) -> None:
    _, profile = of_the_profile()
    radius, speed = rotation(disc.snapshots[0], "speed")
    without_gas = np.interp(radius, profile["R_kpc"], profile["v_phi_km_s"])
    # The profile leaves out the gas's own gravity.
    assert (speed > without_gas).all()
    assert speed == pytest.approx(without_gas, rel=0.06)


def test_what_rests_holds_the_gas(disc: Outcome) -> None:
    _, held = rotation(disc.snapshots[0], "force")
    _, speed = rotation(disc.snapshots[0], "speed")
    assert held[1:] == pytest.approx(speed[1:], rel=0.04)
    with h5py.File(disc.snapshots[0]) as first, h5py.File(disc.last_snapshot) as last:
        one, other = (file["particles/resting/position"][...] for file in (first, last))
        assert (one == other).all()


def test_a_part_without_mass_brings_no_particles(tmp_path: Path) -> None:
    how = ["problem.halo_mass=0.0", "problem.bulge_mass=0.0", "problem.particles=2000"]
    small = ["mesh.max_level=0", "refine.region_level=0", "time.max_steps=0"]
    history = run_well(tmp_path / "run", DISC, *how, *small, ranks=2).history()
    assert history["resting_particles"][0] == 900
    assert history["resting_mass"][0] > 0.0


def test_the_disc_keeps_turning(disc: Outcome) -> None:
    _, begun = rotation(disc.snapshots[0], "speed")
    _, ended = rotation(disc.last_snapshot, "speed")
    assert ended[1:] == pytest.approx(begun[1:], rel=0.03)
    assert spin(disc.last_snapshot) == pytest.approx(spin(disc.snapshots[0]), rel=0.01)


def test_gas_that_stays_cold_keeps_its_speeds_for_200_million_years(tmp_path: Path) -> None:
    given, _ = of_the_profile()
    cold = ("hydro.gamma=1.01", "hydro.dual_energy=off", "time.end=200.0")
    outcome = run_well(tmp_path / "run", DISC, *given, *cold, timeout=500)
    first, last = outcome.snapshots[0], outcome.last_snapshot
    radius, begun = rotation(first, "speed")
    _, ended = rotation(last, "speed")
    beyond = radius > 1.9
    # In cells of 625 pc; the error of the sweeps' angular momentum falls with their size.
    assert ended[beyond] == pytest.approx(begun[beyond], rel=0.04)
    assert spin(last) == pytest.approx(spin(first), rel=0.035)
    history = outcome.history()
    assert abs(history["outflow_angular_momentum_z"][-1]) < 1e-4 * spin(first)


@pytest.mark.parametrize(
    ("scheme", "limiter", "gas_mass", "gas_length"),
    [
        ("muscl_hancock", "mc", 1.0, 1.0),
        ("rk2", "mc", 2.0, 1.0),
        ("rk2", "minmod", 2.0, 1.0),
        ("rk2", "minmod", 1.96, 1.4),
    ],
)
def test_the_disc_does_not_blow_the_gas_above_it_away(
    tmp_path: Path, scheme: str, limiter: str, gas_mass: float, gas_length: float
) -> None:
    given, _ = of_the_profile()
    profile = dict(text.split("=") for text in given)
    heavy = f"problem.gas_mass={gas_mass * float(profile['problem.gas_mass'])!r}"
    wide = f"problem.gas_length={gas_length * float(profile['problem.gas_length'])!r}"
    # Profiles, sharper ones than those of minmod too, end at the edge of the disc, a million times
    # as dense as the gas above it.
    chosen = (f"hydro.limiter={limiter}", f"hydro.scheme={scheme}", "time.end=60.0")
    outcome = run_well(tmp_path / "run", DISC, *given, heavy, wide, *chosen)
    history = outcome.history()
    first, last = outcome.snapshots[0], outcome.last_snapshot
    assert len(history["time"]) < 30  # where cells are emptied, steps become short
    # Nor is mass added to emptied cells.
    assert abs(history["floored_mass"][-1]) < 1e-9 * history["mass"][0]
    assert spin(last) == pytest.approx(spin(first), rel=0.01)


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("gravity.constant=1.0", ["gravity.constant", "Newton"]),
        ("gravity.enabled=false", ["gravity.enabled"]),
        ("problem.gas_length=0.0", ["problem.gas_length"]),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, override: str, complaint: list[str]) -> None:
    assert_refused(run(tmp_path / "run", DISC, override), *complaint)
