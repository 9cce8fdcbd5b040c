"""Runge-Kutta stages do not carry on what refluxing takes back: coarse cells keep their mass."""

from pathlib import Path

import numpy as np
import pytest

from running import assert_same_run, leaf_cells, run_well

# A dense clump in thin gas, all at one velocity and pressure, so that the density is advected. The
# clump is one coarse cell wide, but fills only the half of that cell that lies away from the
# coarse-fine boundary at {0} = 0.5. A coarse stage spreads its gas over the cell and carries it
# across the boundary; the fine cells do not. The gas moves mostly along the boundary.
CLUMP = """
model = "amr"
[problem]
name = "expression"
density = "1 + 1e4*inside"
velocity = [{velocity}]
pressure = "0.1"
[problem.terms]
across = "{0} > 0.4375 && {0} < 0.46875"
inside = "across && {1} > 0.4375 && {1} < 0.5 && {2} > 0.4375 && {2} < 0.5"
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 1
[refine]
region_lower = [0.25, 0.25, 0.25]
region_upper = [{upper}]
region_level = 1
buffer = 0
[hydro]
scheme = "rk2"
limiter = "minmod"
[time]
end = 1.0
max_steps = 3
"""


def clump(order: str = "xyz") -> str:
    """Write the case with these axes in the place of x, y and z."""
    velocity = dict(zip(order, ("0.2", "1", "1"), strict=True))
    upper = dict(zip(order, ("0.5", "0.75", "0.75"), strict=True))
    return CLUMP.format(
        *order,
        velocity=", ".join(f'"{velocity[axis]}"' for axis in "xyz"),
        upper=", ".join(upper[axis] for axis in "xyz"),
    )


def cell_by_cell(snapshot: Path, *names: str) -> np.ndarray:
    """Give positions and fields of the leaf cells in an order that no block size changes."""
    cells = leaf_cells(snapshot)
    order = np.lexsort(cells.position.T)
    return np.stack([*cells.position.T, *(cells[name] for name in names)])[:, order]


@pytest.mark.parametrize(
    ("order", "options"),
    [
        ("xyz", ("hydro.limiter=minmod",)),
        ("yzx", ("hydro.limiter=mc", "mesh.block_size=8")),
        ("zxy", ("hydro.scheme=rk3", "hydro.limiter=minmod")),
        ("xyz", ("hydro.scheme=rk3", "hydro.reconstruction=ppm")),
    ],
)
def test_a_dense_clump_beside_a_level_jump_empties_no_thin_cell(
    tmp_path: Path, order: str, options: tuple[str, ...]
) -> None:
    outcome = run_well(tmp_path / "run", clump(order), *options)
    history = outcome.history()
    # Nothing is restored at the coarse-fine boundary, which would add mass.
    assert history["floored_cells"][-1] == 0
    assert np.abs(history["mass"] / history["mass"][0] - 1.0).max() < 1e-13
    last = leaf_cells(outcome.last_snapshot)
    assert len(set(last.size)) == 2
    assert last["density"].min() > 0.98
    # The density is advected, and nothing else happens.
    for axis, speed in zip(order, (0.2, 1.0, 1.0), strict=True):
        assert np.abs(last[f"velocity_{axis}"] - speed).max() < 1e-12


def test_the_same_on_three_ranks_in_batches_and_with_other_blocks(tmp_path: Path) -> None:
    reference = run_well(tmp_path / "one", clump(), "hydro.scheme=rk3")
    others = run_well(
        tmp_path / "three", clump(), "hydro.scheme=rk3", "execution.schedule=device", ranks=3
    )
    assert_same_run(others, reference)
    large = run_well(tmp_path / "large", clump(), "hydro.scheme=rk3", "mesh.block_size=8")
    names = ("density", "velocity_x", "pressure")
    expected = cell_by_cell(reference.last_snapshot, *names)
    assert (cell_by_cell(large.last_snapshot, *names) == expected).all()
