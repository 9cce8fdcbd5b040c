"""Collapses and orbits with known solutions: a pancake, a ball, a Plummer sphere, two bodies."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from octools.linear import LinearTheory
from octools.pancake import Line, Pancake

from inputs import OPEN_ENDS
from running import Outcome, leaf_cells, run_well

Array = NDArray[np.float64]

# --- the pancake --------------------------------------------------------------------------------

START, COLLAPSE = "z = 20", "z = 1"
UNIVERSE = """
[cosmology]
enabled = true
omega_m = 1.0
omega_lambda = 0.0
omega_b = 0.1
h = 0.5
box = 64.0
start = "z = 20"

[gravity]
enabled = true
tolerance = 1e-6

[hydro]
gamma = 1.6666666666666667
dual_energy = "overwrite"
"""
PANCAKE = f"""
[problem]
name = "pancake"
collapse = "{COLLAPSE}"
{UNIVERSE}
"""
THEORY = LinearTheory(1.0, 0.0, 0.1, 0.5, 1.0, 1.0)


GAS_ALONE = "problem.dark_matter=false"
# On a lattice as wide as cells, clouds leave stripes in the density where it is spread.
DARK_ALONE = ("hydro.enabled=false", "problem.particles_per_cell=2")
PANCAKE_OF_GAS = Pancake(THEORY, 1 / 21, 0.5, 100.0, 1.0, 64.0)


def run_pancake(directory: Path, cells: int, *overrides: str) -> Outcome:
    """Run it on so many cells along the wave, and eight across."""
    width = 8 / cells
    mesh = (
        f"mesh.base_cells=[{cells}, 8, 8]",
        f"mesh.upper=[1.0, {width}, {width}]",
        "mesh.block_size=8",
    )
    return run_well(directory, PANCAKE, *mesh, *overrides, timeout=300)


def scale_factor(path: Path) -> float:
    """Scale factor of a snapshot."""
    with h5py.File(path) as file:
        return float(file["header"].attrs["scale_factor"])


def dark_matter(path: Path) -> dict[str, Array]:
    """Columns of the dark matter, in the order of numbers."""
    with h5py.File(path) as file:
        return {name: data[...] for name, data in file["particles/dark"].items()}


def gas_errors(outcome: Outcome) -> Array:
    """Mean relative errors of density and temperature, and of velocity over the largest: (3,).

    The solution is averaged over cells, by mass. Limiters clip crest and trough, where density
    converges as the cells' size to the power of 1.5 only: they are left out.
    """
    cells = leaf_cells(outcome.last_snapshot)
    size = cells.size[0]
    a = scale_factor(outcome.last_snapshot)
    fine = PANCAKE_OF_GAS.exact(a, 200_000)
    number = np.floor(fine.place / size).astype(int)
    count = np.bincount(number)
    velocity, heat = (
        np.bincount(number, q) / count for q in (fine.velocity, fine.pressure / fine.density)
    )
    origins = np.linspace(0, 0.5, 200_001)
    edges = size * np.arange(len(count) + 1)
    density = np.diff(np.interp(edges, PANCAKE_OF_GAS.places(origins, a)[0], origins)) / size
    offset = cells.position[:, 0] - 0.5
    where = np.floor(np.abs(offset) / size).astype(int)
    errors = (
        cells["density"] / density[where] - 1,
        (cells["velocity_x"] * np.sign(offset) - velocity[where]) / np.abs(velocity).max(),
        cells["pressure"] / cells["density"] / heat[where] - 1,
    )
    slopes = np.abs(np.abs(offset) - 1 / 4) < 1 / 8
    return np.array([np.mean(np.abs(error[slopes])) for error in errors])


def dark_errors(outcome: Outcome, cells: int) -> Array:
    """Mean errors of displacements and velocities over the largest of each, shape (2,)."""
    dark = dark_matter(outcome.last_snapshot)
    along = 2 * cells
    q = (dark["id"] % along + 0.5) / along - 0.5
    place, velocity = PANCAKE_OF_GAS.places(q, scale_factor(outcome.last_snapshot))
    return np.array(
        [
            np.mean(np.abs(dark["position"][:, 0] - 0.5 - place)) / np.abs(place - q).max(),
            np.mean(np.abs(dark["velocity"][:, 0] - velocity)) / np.abs(velocity).max(),
        ]
    )


def until_z3(directory: Path, cells: int, *overrides: str) -> Outcome:
    """Run until half of the growth is left, with time steps as short as cells are small."""
    growth = f"cosmology.largest_growth={1.28 / cells}"
    return run_pancake(directory / str(cells), cells, 'cosmology.end="z = 3"', growth, *overrides)


def test_before_the_collapse_the_gas_converges_at_second_order(tmp_path: Path) -> None:
    # PLM, whose limiters leave kinks in smooth flows, comes to 1.6 in density and temperature.
    parabolas = ("hydro.reconstruction=ppm", "hydro.scheme=rk3")
    coarse, fine = (
        gas_errors(until_z3(tmp_path, cells, GAS_ALONE, *parabolas)) for cells in (32, 64)
    )
    assert np.log2(coarse / fine).min() > 1.8
    # Cold gas has the temperature that its entropy says: 3.6 K where it falls with 600 km/s.
    assert fine.max() < 1e-3


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
@pytest.mark.parametrize("profile", ["plm", "ppm"])
@pytest.mark.parametrize("temperature", [1.0, 1e4])
def test_before_the_collapse_every_cell_keeps_its_entropy(
    tmp_path: Path, scheme: str, profile: str, temperature: float
) -> None:
    # Crest, trough and the plane where the gas stands still included.
    outcome = run_pancake(
        tmp_path / "run",
        64,
        'cosmology.end="z = 3"',
        GAS_ALONE,
        f"hydro.scheme={scheme}",
        f"hydro.reconstruction={profile}",
        f"problem.temperature={temperature}",
    )
    cells = leaf_cells(outcome.last_snapshot)
    fine = replace(PANCAKE_OF_GAS, temperature=temperature).exact(
        scale_factor(outcome.last_snapshot), 200_000
    )
    number = np.floor(64 * fine.place).astype(int)
    entropy = np.bincount(number, fine.pressure / fine.density ** (5 / 3)) / np.bincount(number)
    where = np.floor(64 * np.abs(cells.position[:, 0] - 0.5)).astype(int)
    found = cells["pressure"] / cells["density"] ** (5 / 3)
    assert np.abs(found / entropy[where] - 1).max() < 0.01


def test_before_the_collapse_dark_matter_converges_at_second_order(tmp_path: Path) -> None:
    errors = np.array(
        [dark_errors(until_z3(tmp_path, cells, *DARK_ALONE), cells) for cells in (16, 32, 64)]
    )
    assert np.log2(errors[:-1] / errors[1:]).min() > 1.7


def test_after_the_collapse_the_gas_is_that_of_a_line(tmp_path: Path) -> None:
    cells = 512
    outcome = run_pancake(tmp_path / "run", cells, 'cosmology.end="z = 0"', GAS_ALONE)
    reference = Line(PANCAKE_OF_GAS, 0.45, cells=200).state(1.0)
    leaves = leaf_cells(outcome.last_snapshot)
    offset = leaves.position[:, 0] - 0.5
    distance = np.abs(offset)
    shock = reference.place[np.argmin(np.diff(reference.velocity))]
    ours = {
        "density": leaves["density"],
        "velocity": leaves["velocity_x"] * np.sign(offset),
        "pressure": leaves["pressure"],
    }

    def error(name: str, inside: float, outside: float) -> float:
        expected = np.interp(distance, reference.place, getattr(reference, name))
        region = (distance > inside) & (distance < outside)
        return float(np.mean(np.abs(ours[name][region] / expected[region] - 1)))

    # What still falls in, up to where it hardly moves, and what the shock has heated; in the very
    # middle is the gas that no shock has met.
    for name in ("density", "velocity"):
        assert error(name, shock + 3 / cells, 0.45) < 0.005, name
    for name in ("density", "pressure"):
        assert error(name, 0.15 * shock, 0.85 * shock) < 0.06, name
    falls = np.unique(distance[ours["velocity"] < -0.15])
    assert falls[0] == pytest.approx(shock, abs=2 / cells)


def test_after_the_collapse_streams_are_those_of_sheets(tmp_path: Path) -> None:
    outcome = run_pancake(tmp_path / "run", 128, 'cosmology.end="z = 0.3"', *DARK_ALONE)
    dark = dark_matter(outcome.last_snapshot)
    # Hardly any gas.
    line = Line(Pancake(THEORY, 1 / 21, 0.5, 100.0, 1e-6, 64.0), 0.45, cells=20, sheets=2000)
    line.state(scale_factor(outcome.last_snapshot))
    edges = np.linspace(0, 0.5, 129)
    within = [
        np.cumsum(np.histogram(place, edges)[0]) / len(place)
        for place in (np.abs(dark["position"][:, 0] - 0.5), line.y)
    ]
    # More than half of the mass is in the streams between the outer caustics.
    assert within[1][12] > 0.55
    difference = np.abs(within[0] - within[1])
    assert difference.max() < 0.04  # at the caustics
    assert difference.mean() < 0.005


# --- the ball -----------------------------------------------------------------------------------

TOP_HAT = f"""
[problem]
name = "top_hat"
overdensity = 0.1
radius = 0.25
{UNIVERSE}

[mesh]
base_cells = [32, 32, 32]
block_size = 8
"""


def ball_radius(a: Array, overdensity: float, radius: float) -> Array:
    """Radius of a ball in the growing mode at scale factors, the first one being the start's.

    In a universe of matter alone, d tau = a^(-3/2) da.
    """
    mass = radius**3 * (1 + overdensity)

    def slope(x: float, y: Array) -> Array:
        pull = -0.5 * x * (mass / y[0] ** 3 - 1) * y[0]
        return np.array([y[1], pull]) * x**-1.5

    growth = overdensity * np.sqrt(a[0])  # d overdensity / d tau
    y = np.array([radius, -radius / 3 * growth / (1 + overdensity)])
    radii = [radius]
    for begin, end in pairwise(a):
        h = (end - begin) / 2000
        for x in begin + h * np.arange(2000):
            k1 = slope(x, y)
            k2 = slope(x + h / 2, y + h / 2 * k1)
            k3 = slope(x + h / 2, y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h, y + h * k3))
        radii.append(y[0])
    return np.array(radii)


def test_a_ball_falls_together_like_a_closed_universe(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        TOP_HAT,
        'cosmology.start="z = 30"',
        'cosmology.snapshots=["z = 5", "z = 2"]',
        'cosmology.end="z = 1"',
        "hydro.enabled=false",
    )
    first = dark_matter(outcome.snapshots[0])["position"]
    ball = np.linalg.norm(first - 0.5, axis=1) < 0.25
    found = []
    for path in outcome.snapshots:
        r = np.linalg.norm(dark_matter(path)["position"][ball] - 0.5, axis=1)
        found.append(np.sqrt(np.mean(r**2)))
    expected = ball_radius(np.array([scale_factor(p) for p in outcome.snapshots]), 0.1, 0.25)
    assert expected[-1] < 0.5 * expected[0]
    assert found / found[0] == pytest.approx(expected / expected[0], rel=0.02)


# --- isolated systems ---------------------------------------------------------------------------

ISOLATED = """
[gravity]
enabled = true
tolerance = 1e-4

[hydro]
enabled = false
"""
PLUMMER = f"""
[problem]
name = "plummer"
radius = 1.0
particles = 10000
{ISOLATED}
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 3
lower = [-8.0, -8.0, -8.0]
upper = [8.0, 8.0, 8.0]
{OPEN_ENDS}

[refine]
mass = [8.0, 8.0, 8.0]
mass_unit = 1e-4

[time]
end = 6.0
"""


def test_a_plummer_sphere_stays_as_it_is(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", PLUMMER, timeout=300)
    history = outcome.history()
    before, after = (
        np.sort(np.linalg.norm(dark_matter(path)["position"], axis=1))
        for path in (outcome.snapshots[0], outcome.last_snapshot)
    )
    # Radii that hold these shares of the mass.
    for share in (0.1, 0.25, 0.5, 0.75):
        n = int(share * len(before))
        assert after[n] == pytest.approx(before[n], rel=0.06), share
    # The energies that Plummer's potential and distribution of velocities have, and their balance:
    # |potential| = 3 pi / 32 for the whole sphere, twice the kinetic energy.
    kinetic, potential = history["dark_kinetic"], history["potential"]
    assert kinetic[0] == pytest.approx(3 * np.pi / 64, rel=0.04)
    assert -potential[0] == pytest.approx(3 * np.pi / 32, rel=0.06)
    assert kinetic[-1] / -potential[-1] == pytest.approx(0.5, abs=0.025)
    energy = history["total_energy"]
    assert np.abs(energy - energy[0]).max() < 0.005 * np.abs(energy[0])
    assert (history["dark_particles"] == 10000).all()


TWO_BODIES = f"""
[problem]
name = "two_body"
mass = 1.0
companion_mass = 0.5
separation = 0.3
eccentricity = 0.3
{ISOLATED}
[mesh]
base_cells = [32, 32, 32]
block_size = 8
{OPEN_ENDS}

[time]
cfl = 0.5
"""


def test_two_bodies_come_back_after_a_period(tmp_path: Path) -> None:
    axis = 0.3 / 1.3
    period = 2 * np.pi * np.sqrt(axis**3 / 1.5)
    outcome = run_well(tmp_path / "run", TWO_BODIES, f"time.end={period}")
    first, last = (dark_matter(path) for path in (outcome.snapshots[0], outcome.last_snapshot))
    # The orbit turns by 1 % of a radian or so where clouds meet cells.
    for n in range(2):
        assert last["position"][n] == pytest.approx(first["position"][n], abs=0.01 * 0.3)
        speed = np.abs(first["velocity"][n, 1])
        assert last["velocity"][n] == pytest.approx(first["velocity"][n], abs=0.05 * speed)
    history = outcome.history()
    assert np.abs(history["dark_momentum_y"]).max() < 1e-3
    assert history["dark_kinetic"].max() > 2.5 * history["dark_kinetic"][0]
