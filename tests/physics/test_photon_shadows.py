"""Ionising photons cast shadows behind opaque gas, along axes of the mesh and oblique to them."""

from pathlib import Path

import numpy as np
import pytest
from ionization_setups import region
from ionized_sphere import KPC, LIGHT_SPEED, MYR

from running import Outcome, run_well, uniform_grid

RATIO = 0.01
SPEED = RATIO * LIGHT_SPEED * MYR / KPC
BALL, RADIUS = np.array([0.3, 0.5, 0.5]), 0.2
PHOTONS = 1e60  # per kpc^3, too few to ionise the ball

DIRECTIONS = {
    "axis": ((1.0, 0.0, 0.0), (0.3, 0.5, 0.5)),
    "oblique": ((2.0, 1.0, 0.0), (0.3, 0.35, 0.5)),
    "diagonal_of_a_face": ((1.0, 1.0, 0.0), (0.35, 0.35, 0.5)),
    "diagonal": ((1.0, 1.0, 1.0), (0.35, 0.35, 0.35)),
}


def transparent(cells: int, ball: tuple[float, ...], radius: float, **more: object) -> str:
    """Return a cube of transparent gas with an opaque ball."""
    offset = [f"({axis} - {at})^2" for axis, at in zip("xyz", ball, strict=True)]
    density = f"{' + '.join(offset)} < {radius**2} ? 1000 : 1e-9"
    return region(
        cells, 1.0, 1.7 / SPEED, density=density, speed_ratio=RATIO, substeps=1000, block=8, **more
    )


def flux_along(outcome: Outcome, direction: np.ndarray) -> np.ndarray:
    grids = [uniform_grid(outcome.last_snapshot, f"photon_flux_0_{axis}") for axis in "xyz"]
    return sum(grid * part for grid, part in zip(grids, direction, strict=True))


def at(grid: np.ndarray, place: np.ndarray) -> float:
    """Return the mean of the eight cells around a place in a cube from 0 to 1."""
    n = grid.shape[0]
    low = np.floor(place * n - 0.5 + 1e-9).astype(int)
    high = np.minimum(low + 1, n - 1)
    x, y, z = ((a, b) for a, b in zip(low, high, strict=True))
    return float(np.mean([grid[k, j, i] for i in x for j in y for k in z]))


def beam(directory: Path, cells: int, name: str) -> tuple[Outcome, np.ndarray]:
    """Send a plane beam into the cube; the domain is lit along the beam from its lower sides."""
    direction, ball = DIRECTIONS[name]
    unit = np.array(direction) / np.linalg.norm(direction)
    # A beam just slower than light, so that rounding errors do not exceed it.
    fields = {"photon_density_0": PHOTONS}
    fields |= {
        f"photon_flux_0_{axis}": PHOTONS * SPEED * (1.0 - 1e-12) * part
        for axis, part in zip("xyz", unit, strict=True)
    }
    text = ", ".join(f"{key} = '{float(value)!r}'" for key, value in fields.items())
    overrides = [
        f"problem.fields={{{text}}}",
        "hydro.moves=false",
        "ionization.source_rates=[0]",
        "ionization.radiation_pressure=false",
    ]
    for axis, part in zip("xyz", direction, strict=True):
        sides = ("inflow", "outflow") if part > 0.0 else ("reflecting", "reflecting")
        overrides.append(f"mesh.boundary_{axis}={list(sides)!r}".replace("'", '"'))
    return run_well(directory, transparent(cells, ball, RADIUS), *overrides), unit


@pytest.mark.parametrize("name", DIRECTIONS)
def test_an_opaque_ball_casts_a_shadow_in_a_beam(tmp_path: Path, name: str) -> None:
    outcome, unit = beam(tmp_path / "run", 32, name)
    flux = flux_along(outcome, unit) / (PHOTONS * SPEED)
    ball = np.array(DIRECTIONS[name][1])
    behind = [at(flux, ball + (RADIUS + far) * unit) for far in (0.1, 0.2, 0.3, 0.4)]
    print(name, behind)
    # Beams along the diagonal of a cube spread most.
    assert max(behind) <= (0.07 if name == "diagonal" else 0.05)
    # Before the ball the beam is almost complete.
    assert at(flux, ball - (RADIUS + 0.05) * unit) == pytest.approx(1.0, abs=0.05)


def test_an_opaque_ball_casts_a_shadow_in_the_light_of_a_source(tmp_path: Path) -> None:
    """The ball is 13 cells from the source, and its shadow has an opening angle of 40 degrees."""
    ball = (0.4, 0.08, 0.08)
    text = transparent(32, ball, 0.15, source=(0.0, 0.0, 0.0), rate=1e46)
    outcome = run_well(
        tmp_path / "run", text, "hydro.moves=false", "ionization.radiation_pressure=false"
    )
    unit = np.array(ball) / np.linalg.norm(ball)
    flux = flux_along(outcome, unit)
    lit = flux_along(outcome, unit[[1, 0, 2]])
    ratios = []
    for distance in (0.6, 0.7, 0.8, 0.9):
        place = distance * unit
        ratios.append(at(flux, place) / at(lit, place[[1, 0, 2]]))
    print(ratios)
    assert max(ratios) <= 0.1
