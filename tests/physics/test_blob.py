"""A dense ball in pressure equilibrium drifts across level jumps as if nothing were there."""

from pathlib import Path

import numpy as np

from running import leaf_cells, run_well

BLOB = """
[problem]
name = "blob"
velocity = [1.0, 0.5, 0.25]

[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 1

[hydro]
scalars = 2

[refine]
gradient_fields = ["density"]
gradient = [0.1]

[time]
end = 0.1
"""


def test_pressure_and_velocity_stay_uniform(tmp_path: Path) -> None:
    cells = leaf_cells(run_well(tmp_path / "run", BLOB).last_snapshot)
    assert len(set(cells.size)) == 2
    # Every step between conserved and primitive variables keeps a uniform pressure, but for the
    # round-off of energies near 10.
    assert np.abs(cells["pressure"] - 1.0).max() < 1e-11
    for axis, speed in zip("xyz", (1.0, 0.5, 0.25), strict=True):
        assert np.abs(cells[f"velocity_{axis}"] - speed).max() < 1e-11


def test_scalars_move_with_the_gas(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", BLOB)
    before, after = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    for name in ("scalar_0", "scalar_1"):
        masses = [np.sum(c["density"] * c[name] * c.volume) for c in (before, after)]
        assert abs(masses[1] / masses[0] - 1.0) < 1e-13
    marked = after["scalar_0"] * after["density"] * after.volume
    centre = (marked[:, None] * after.position).sum(axis=0) / marked.sum()
    # The centre of mass of a passive scalar moves with the flow, to a small part of a cell.
    assert np.abs(centre - (0.5 + 0.1 * np.array([1.0, 0.5, 0.25]))).max() < 0.1 / 32


def test_scalars_stay_in_bounds(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", BLOB)
    before, after = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    for name in ("scalar_0", "scalar_1"):
        assert after[name].min() > -1e-12
        assert after[name].max() < before[name].max() + 1e-12
