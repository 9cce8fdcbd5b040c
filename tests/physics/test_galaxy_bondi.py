"""Bondi accretion: a black hole maintains the exact solution, which is the initial state."""

import math
from pathlib import Path

import numpy as np
import pytest
from galaxy_setups import BLACK_HOLES

from galaxies import rows
from inputs import OPEN_ENDS
from reference_data import reference_path
from running import leaf_cells, run_well

# Bondi's radius is 16 finest cells; cells grow with the distance from the hole.
BONDI = f"""
[problem]
name = "bondi"
density = 1e-9
radius = 16.0
inner_radius = 0.8

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 2
lower = [-32.0, -32.0, -32.0]
upper = [32.0, 32.0, 32.0]
{OPEN_ENDS}

[refine]
where = "r < 24 * 0.5^level"

[hydro]
gamma = 1.4
{BLACK_HOLES}boost = 0.0
eddington = false
drag = false

[time]
end = 12.0

[output]
snapshot_interval = 4.0
final_checkpoint = false

[telemetry]
enabled = false
"""


def inflow(path: Path, radius: float) -> float:
    """Measure the mass that flows in through a sphere per time, by the cells about it."""
    cells = leaf_cells(path)
    r = np.linalg.norm(cells.position, axis=1)
    near = np.abs(r - radius) < 0.5
    speed = sum(cells[f"velocity_{axis}"] * cells.position[:, n] for n, axis in enumerate("xyz"))
    flux = -cells["density"] * speed / r * 4.0 * math.pi * r**2
    return float(flux[near].mean())


def test_bondis_flow_lasts(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", BONDI, timeout=300)
    table = rows(reference_path("galaxy/bondi_lambda.csv"))
    share = float(table["lambda"][np.isclose(table["gamma"], 1.4)][0])
    expected = share * 4.0 * math.pi * 16.0**2 * 1e-9
    for path in outcome.snapshots[1:]:
        assert inflow(path, 8.0) == pytest.approx(expected, rel=0.03)
    history = outcome.history()
    late = history["time"] > 6.0
    swallowed = np.polyfit(history["time"][late], history["black_holes_accreted"][late], 1)[0]
    assert swallowed == pytest.approx(expected, rel=0.1)


def test_bondis_flow_begins_as_the_exact_solution(tmp_path: Path) -> None:
    table = rows(reference_path("galaxy/bondi_profiles.csv"))
    for gamma in np.unique(table["gamma"]):
        if gamma >= 1.66:
            continue  # its sonic point is the hole itself
        outcome = run_well(
            tmp_path / f"{gamma}",
            BONDI,
            f"hydro.gamma={gamma}",
            "time.end=1e-12",
            "problem.inner_radius=0.1",
        )
        cells = leaf_cells(outcome.snapshots[0])
        of = table["gamma"] == gamma
        x = np.linalg.norm(cells.position, axis=1) / 16.0
        inside = (x > table["x"][of].min()) & (x < table["x"][of].max())
        logarithm = np.interp(
            np.log(x[inside]), np.log(table["x"][of]), np.log(table["density"][of])
        )
        assert np.abs(np.log(cells["density"][inside] / 1e-9) - logarithm).max() < 0.01
        speed = np.sqrt(sum(cells[f"velocity_{axis}"] ** 2 for axis in "xyz"))[inside]
        logarithm = np.interp(np.log(x[inside]), np.log(table["x"][of]), np.log(table["speed"][of]))
        assert np.abs(np.log(speed) - logarithm).max() < 0.01
