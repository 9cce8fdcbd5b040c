"""The Riemann solver of docs/extending.md: one file and one word in the list."""

from pathlib import Path

import numpy as np
import pytest

from extended import with_program
from inputs import DRIFTING_BLAST
from running import assert_same_run, leaf_cells, octant, run, run_well

extended_program = with_program("octant_with_a_riemann_solver")

TUBE = """
problem.name = "sod"
mesh.base_cells = [128, 8, 8]
mesh.upper = [1.0, 0.0625, 0.0625]
mesh.boundary_x = ["outflow", "outflow"]
time.end = 0.2
"""
APART = """
problem.name = "sod"
problem.left = [1.0, -3.0, 0.1]
problem.right = [1.0, 3.0, 0.1]
mesh.base_cells = [64, 8, 8]
mesh.upper = [1.0, 0.125, 0.125]
mesh.boundary_x = ["outflow", "outflow"]
time.end = 0.1
"""


def density(directory: Path, parameters: str, riemann: str) -> np.ndarray:
    """Give the densities at the end, in the order of x."""
    outcome = run_well(directory, parameters, f"hydro.riemann={riemann}")
    cells = leaf_cells(outcome.last_snapshot)
    return cells["density"][np.argsort(cells.position[:, 0], kind="stable")]


def test_a_shock_tube_lies_between_those_of_its_relatives(tmp_path: Path) -> None:
    exact, *others = (
        density(tmp_path / riemann, TUBE, riemann) for riemann in ("exact", "hlle", "llf")
    )
    narrow, wide = (np.abs(other - exact).mean() for other in others)
    assert 0.0 < narrow < wide < 0.01


def test_gas_that_is_torn_apart_keeps_its_density(tmp_path: Path) -> None:
    least = density(tmp_path / "run", APART, "hlle").min()
    assert 0.0 < least < 0.1


@pytest.mark.parametrize("reconstruction", ["plm", "ppm"])
def test_the_same_bits_on_three_ranks(tmp_path: Path, reconstruction: str) -> None:
    how = ("hydro.riemann=hlle", f"hydro.reconstruction={reconstruction}")
    reference = run_well(tmp_path / "one", DRIFTING_BLAST, *how)
    assert_same_run(run_well(tmp_path / "three", DRIFTING_BLAST, *how, ranks=3), reference)


def test_it_is_among_the_names_that_are_expected(tmp_path: Path) -> None:
    assert '"hllc" or "hlle" or "exact"' in octant("params", "hydro").text
    outcome = run(tmp_path / "run", DRIFTING_BLAST, "hydro.riemann=hle")
    assert outcome.code == 2
    assert 'unknown choice "hle"' in outcome.text
    assert "(nearest: hlle)" in outcome.text or "(nearest: hll)" in outcome.text
