"""The force of fmm on single cells in vacuum beside a body that is off the domain's middle."""

from pathlib import Path

import numpy as np
import pytest

from running import Array, leaf_cells, run_well

CELL = 1 / 16
BALL = """
[problem]
name = "expression"
density = "1e-10 + ((x-1.1)^2 + (y-1.05)^2 + (z-0.9)^2 < 0.25)"
pressure = "1"
[gravity]
enabled = true
solver = "fmm"
[mesh]
base_cells = [64, 32, 32]
block_size = 8
upper = [4.0, 2.0, 2.0]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]
[time]
max_steps = 0
"""


def sum_over(position: Array, sources: Array) -> Array:
    """Accelerations by point masses of one cell of density 1 each, shape (places, 3)."""
    found = np.empty_like(position)
    for first in range(0, len(position), 500):
        way = sources[None] - position[first : first + 500, None]
        cube = np.sum(way**2, axis=2, keepdims=True) ** 1.5
        found[first : first + 500] = CELL**3 * np.sum(way / cube, axis=1)
    return found


@pytest.mark.parametrize(("theta", "largest"), [(None, 0.05), (0.34, 0.02)])
def test_no_cell_outside_of_a_ball_is_far_off(
    tmp_path: Path, theta: float | None, largest: float
) -> None:
    options = [] if theta is None else [f"gravity.theta={theta}"]
    outcome = run_well(tmp_path / "run", BALL, *options)
    gas, gravity = (leaf_cells(outcome.last_snapshot, section) for section in ("hydro", "gravity"))
    inside = gas["density"] > 0.5
    sources = gas.position[inside]
    # Errors are largest at about two radii.
    distance = np.linalg.norm(gas.position - sources.mean(axis=0), axis=1)
    near = (distance > 1.0) & (distance < 1.2)
    force = np.stack([gravity[f"acceleration_{axis}"][near] for axis in "xyz"], axis=1)
    direct = sum_over(gas.position[near], sources)
    error = np.linalg.norm(force - direct, axis=1) / np.linalg.norm(direct, axis=1)
    assert error.max() < largest
