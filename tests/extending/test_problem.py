"""The problem of docs/extending.md: one file, and its name in two lists."""

from pathlib import Path

import numpy as np
import pytest

from extended import with_program
from running import leaf_cells, octant, run, run_well

extended_program = with_program("octant_with_a_problem")

WAVE = """
problem.name = "density_wave"
problem.amplitude = 0.2
problem.speed = 2.0
mesh.base_cells = [32, 8, 8]
mesh.upper = [1.0, 0.25, 0.25]
time.end = 0.5
"""


def mean_error(directory: Path, ranks: int, *overrides: str) -> float:
    """Run the wave once through the box; how far densities are then from the initial ones."""
    cells = leaf_cells(run_well(directory, WAVE, *overrides, ranks=ranks).last_snapshot)
    exact = 1.0 + 0.2 * np.sin(2.0 * np.pi * cells.position[:, 0])
    return float(np.abs(cells["density"] - exact).mean())


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_wave_comes_back(tmp_path: Path, ranks: int) -> None:
    coarse = mean_error(tmp_path / "coarse", ranks)
    fine = mean_error(
        tmp_path / "fine", ranks, "mesh.base_cells=[64,8,8]", "mesh.upper=[1.0,0.125,0.125]"
    )
    assert coarse < 0.005
    assert fine < coarse / 3.0  # second order, but at the crests


def test_its_parameters_are_in_the_manual() -> None:
    manual = octant("params", "problem").text
    assert 'problem.name = "density_wave"' in manual
    assert "Relative density amplitude" in manual


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", WAVE, "problem.amplitude=1.5")
    assert outcome.code == 2
    assert "problem.amplitude = 1.5: the density would be negative" in outcome.text
