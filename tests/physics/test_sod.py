"""The shock tube of Sod (1978) against the exact solution."""

from pathlib import Path

import numpy as np
from octools.exact import Riemann

from running import leaf_cells, run_well

# Accepted L1 error of the density with 256 cells: the goal of the project. A second-order scheme
# leaves half a cell at the shock and two to three at the contact.
LARGEST_ERROR = 0.008

SOD = """
[problem]
name = "sod"
axis = "{axis}"

[mesh]
base_cells = {cells}
upper = {upper}
block_size = 4
boundary_{axis} = ["outflow", "outflow"]

[hydro]
riemann = "hllc"

[time]
end = 0.2
"""


def density_error(directory: Path, *overrides: str, axis: str = "x") -> float:
    """Mean of |density - exact mean over the cell| in a tube of 256 cells."""
    cells, upper = [4, 4, 4], [1 / 64, 1 / 64, 1 / 64]
    cells["xyz".index(axis)], upper["xyz".index(axis)] = 256, 1.0
    tube = SOD.format(axis=axis, cells=cells, upper=upper)
    outcome = run_well(directory, tube, *overrides)
    found = leaf_cells(outcome.last_snapshot)
    parts = (np.arange(32) + 0.5) / 32 - 0.5
    x = found.position[:, "xyz".index(axis), None] + found.size[:, None] * parts
    exact = Riemann((1.0, 0.0, 1.0), (0.125, 0.0, 0.1), gamma=1.4, position=0.5)
    density = exact.at(x, found.time)[0].mean(axis=1)
    return float(np.mean(np.abs(found["density"] - density)))


def test_matches_the_exact_solution_and_ppm_is_better_than_plm(tmp_path: Path) -> None:
    plm = density_error(tmp_path / "plm", "hydro.reconstruction=plm")
    ppm = density_error(tmp_path / "ppm", "hydro.reconstruction=ppm")
    assert plm <= LARGEST_ERROR
    assert ppm < plm


def test_axes_are_equal(tmp_path: Path) -> None:
    errors = [density_error(tmp_path / axis, axis=axis) for axis in "xyz"]
    # The same arithmetic in another direction, summed in another order.
    assert np.ptp(errors) <= 1e-12 * errors[0]
