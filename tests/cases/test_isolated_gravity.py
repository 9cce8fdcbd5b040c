"""Trouble cases of gravity in open domains: K7, R02, R13, R29b."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from running import leaf_cells, octant

Case = Callable[[str], Path]


def run_case(folder: Path, file: str, *overrides: str) -> tuple[int, str, Path]:
    """Run an input of a case in its folder."""
    output = folder / "_".join(["output", file, *overrides]).replace("/", "_")
    words = [word for override in overrides for word in ("--set", override)]
    outcome = octant("run", folder / file, "--output", output, *words)
    return outcome.code, outcome.text, output


def force(output: Path) -> np.ndarray:
    cells = leaf_cells(sorted(output.glob("snap_*.h5"))[-1], "gravity")
    return np.stack([cells[f"acceleration_{axis}"] for axis in "xyz"], axis=-1)


@pytest.mark.parametrize("file", ["input.toml", "pair.toml"])
def test_force_without_transforms_is_that_with_transforms(case: Case, file: str) -> None:
    folder = case("K7")
    found = {}
    for base in ("fft", "multigrid"):
        code, text, output = run_case(folder, file, f"gravity.base={base}")
        assert code == 0, text
        found[base] = force(output)
    error = np.linalg.norm(found["multigrid"] - found["fft"], axis=1)
    error /= np.linalg.norm(found["fft"], axis=1)
    assert np.median(error) < 0.01


@pytest.mark.parametrize(
    ("file", "solver"), [("thin_region.toml", "multigrid"), ("input.toml", "multigrid")]
)
def test_thin_refined_regions_do_not_end_a_run(case: Case, file: str, solver: str) -> None:
    code, text, _ = run_case(case("R13"), file, f"gravity.solver={solver}", "output.pictures=[]")
    assert code == 0, text


def test_refined_region_without_mass_does_not_end_a_run(case: Case) -> None:
    folder = case("R29b")
    make = case("R29") / "make.py"
    subprocess.run([sys.executable, make, folder / "lone.h5", "16"], check=True)
    code, text, _ = run_case(folder, "input.toml", f"problem.path={folder / 'lone.h5'}")
    assert code == 0, text


@pytest.mark.parametrize(
    "solver", [("gravity.base=fft",), ("gravity.base=multigrid",), ("gravity.solver=fmm",)]
)
def test_symmetry_planes_are_refused(case: Case, solver: tuple[str, ...]) -> None:
    code, text, _ = run_case(case("R02"), "input.toml", *solver)
    assert code == 2
    assert "mesh.boundary_" in text and "gravity.beyond_walls" in text
