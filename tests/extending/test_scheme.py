"""The hydrodynamics scheme of docs/extending.md: one file and one word in the list."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from octools.exact import Riemann

from extended import with_program
from inputs import DRIFTING_BLAST
from running import assert_same_run, leaf_cells, octant, run, run_well

extended_program = with_program("octant_with_a_scheme")

Array = npt.NDArray[np.float64]

DONOR_CELL = "hydro.reconstruction=donor_cell"
GAMMA = 1.4
LEFT, RIGHT = (1.0, 0.0, 1.0), (0.125, 0.0, 0.1)
TUBE = """
problem.name = "sod"
mesh.base_cells = [CELLS, 8, 8]
mesh.upper = [1.0, WIDTH, WIDTH]
mesh.boundary_x = ["outflow", "outflow"]
hydro.gamma = 1.4
time.end = 0.2
"""


def tube(directory: Path, cells: int, *how: str) -> tuple[Array, Array, Array]:
    """Give places and densities at the end, in the order of x, and the steps that were taken."""
    parameters = TUBE.replace("CELLS", str(cells)).replace("WIDTH", str(8 / cells))
    outcome = run_well(directory, parameters, *how)
    found = leaf_cells(outcome.last_snapshot)
    x = found.position[:, 0]
    order = np.argsort(x, kind="stable")
    return x[order], found["density"][order], np.array(outcome.history()["dt"])


def error(directory: Path, cells: int, *how: str) -> float:
    """Give the mean error of the density."""
    x, density, _ = tube(directory, cells, *how)
    exact = Riemann(LEFT, RIGHT, GAMMA, 0.5).at(x, 0.2)[0]
    return float(np.abs(density - exact).mean())


def rusanov_tube(cells: int, steps: Array) -> Array:
    """Give the densities that first-order steps by Rusanov's flux lead to, along one axis."""
    dx = 1.0 / cells
    inside = (np.arange(cells) + 0.5) * dx < 0.5
    rho, v, p = (np.where(inside, a, b) for a, b in zip(LEFT, RIGHT, strict=True))
    u = np.array([rho, rho * v, p / (GAMMA - 1) + 0.5 * rho * v**2])
    for dt in steps:
        w = np.concatenate([u[:, :1], u, u[:, -1:]], axis=1)
        rho, v = w[0], w[1] / w[0]
        p = (GAMMA - 1) * (w[2] - 0.5 * rho * v**2)
        flux = np.array([w[1], w[1] * v + p, (w[2] + p) * v])
        speed = np.abs(v) + np.sqrt(GAMMA * p / rho)
        fastest = np.maximum(speed[:-1], speed[1:])
        through = 0.5 * (flux[:, :-1] + flux[:, 1:] - fastest * (w[:, 1:] - w[:, :-1]))
        u = u + dt / dx * (through[:, :-1] - through[:, 1:])
    return np.asarray(u[0])


def test_a_shock_tube_is_that_of_a_few_lines_of_python(tmp_path: Path) -> None:
    _, density, steps = tube(tmp_path / "run", 64, DONOR_CELL)
    expected = np.repeat(rusanov_tube(64, steps[steps > 0]), 64)
    np.testing.assert_allclose(density, expected, rtol=1e-12)


def test_a_shock_tube_tends_to_the_exact_one_more_slowly_than_by_plm(tmp_path: Path) -> None:
    coarse, fine = (error(tmp_path / f"{n}", n, DONOR_CELL) for n in (64, 256))
    linear = error(tmp_path / "plm", 64)
    assert 0.3 * coarse < fine < 0.5 * coarse
    assert linear < 0.5 * coarse


@pytest.mark.parametrize("integrator", ["muscl_hancock", "rk2"])
def test_the_same_bits_on_three_ranks(tmp_path: Path, integrator: str) -> None:
    how = (DONOR_CELL, f"hydro.scheme={integrator}", "hydro.dual_energy=overwrite")
    reference = run_well(tmp_path / "one", DRIFTING_BLAST, *how)
    assert_same_run(run_well(tmp_path / "three", DRIFTING_BLAST, *how, ranks=3), reference)


def test_it_is_among_the_names_that_are_expected(tmp_path: Path) -> None:
    assert '"ppm26" or "ppm26_published" or "donor_cell"' in octant("params", "hydro").text
    outcome = run(tmp_path / "run", DRIFTING_BLAST, "hydro.reconstruction=donor_cel")
    assert outcome.code == 2
    assert "(nearest: donor_cell)" in outcome.text
