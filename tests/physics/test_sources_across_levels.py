"""Sources and heat keep uniform gas uniform where levels of a mesh meet."""

from pathlib import Path

import numpy as np
import pytest

from running import leaf_cells, run_well

JUMPS = """
[problem]
name = "expression"
[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 2
[refine]
region_lower = [0.25, 0.25, 0.25]
region_upper = [0.6, 0.6, 0.6]
region_level = 2
[hydro]
gamma = 1.4
scalars = 1
[time]
end = 0.3
"""
SOURCES = (
    "sources.acceleration=['cos(t)', '-velocity_y', '1']",
    "sources.heating='0.3*cos(t)'",
    "sources.scalars=['2*t']",
)


def unevenness(snapshot: Path, *names: str) -> float:
    """Give the largest relative spread of fields that should be uniform."""
    cells = leaf_cells(snapshot)
    return max(float(np.ptp(cells[n]) / np.abs(cells[n]).max()) for n in names)


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2"])
def test_sources_keep_uniform_gas_uniform_across_level_jumps(tmp_path: Path, scheme: str) -> None:
    names = ("density", "pressure", "velocity_x", "velocity_z")
    outcome = run_well(tmp_path / "run", JUMPS, *SOURCES, f"hydro.scheme={scheme}")
    assert unevenness(outcome.last_snapshot, *names, "scalar_0") < 2e-5


def test_heating_keeps_uniform_gas_uniform_across_level_jumps(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", JUMPS, "heating.rate=0.5", "time.end=0.2")
    assert unevenness(outcome.last_snapshot, "density", "pressure") < 2e-5
