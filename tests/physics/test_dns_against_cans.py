"""Runs must agree with the fields that CaNS computed from the same parameter files.

Both solve the same discrete equations, so that only round-off may tell them apart: at most 2e-13
after 50 steps, where 5e-14 is seen.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from running import ROOT, run_well

EXPLICIT = ("tgv32_exp_1step", "ldc32_exp_1step", "tgv32_exp", "ldc32_exp", "ldc32_gr2_exp")
EXPLICIT += ("chan32_exp",)
IMPLICIT = ("chan32_imp1d", "ldc32_gr2_imp3d")
LONG = ("tgv32_exp", *IMPLICIT)


def octools(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "octools", *map(str, arguments)]
    places = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def cans() -> Path:
    folder = Path(os.environ.get("OCTANT_DATA", "/nonexistent")) / "cans"
    if not folder.is_dir():
        pytest.skip("OCTANT_DATA names no folder with the fields of CaNS")
    return folder


def compare(
    cans: Path, case: str, directory: Path, *overrides: str, ranks: int = 1
) -> subprocess.CompletedProcess[str]:
    options = ["--initial", cans / "chan32_exp"] if case.startswith("chan") else []
    file = directory / f"{case}.toml"
    converted = octools("convert", cans / case / "input.nml", "--output", file, *options)
    assert converted.returncode == 0, converted.stderr
    run_well(directory / "run", file.read_text(), *overrides, ranks=ranks)
    return octools("compare", directory / "run", cans / case, "--tolerance", 2e-13)


@pytest.mark.parametrize("case", EXPLICIT + IMPLICIT)
def test_one_rank_agrees_with_cans(cans: Path, case: str, tmp_path: Path) -> None:
    result = compare(cans, case, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("case", ["chan32_exp", "chan32_imp1d", "ldc32_exp"])
def test_histories_agree_with_cans(cans: Path, case: str, tmp_path: Path) -> None:
    """Every step of them, the forces that keep the mean velocity among them."""
    assert compare(cans, case, tmp_path).returncode == 0
    ours, theirs = (
        np.genfromtxt(path / "history.csv", delimiter=",", names=True)
        for path in (tmp_path / "run", cans / case)
    )
    assert (ours["step"] == theirs["step"]).all()
    assert ours["time"] == pytest.approx(theirs["time"], rel=1e-13)
    for name in ("ke_u", "ke_v", "ke_w", "mean_u", "max_abs_u", "max_abs_v", "max_abs_w"):
        own = name.replace("ke", "kinetic").replace("max_abs", "max")
        assert ours[own] == pytest.approx(theirs[name], abs=2e-13), name
    assert ours["force"] == pytest.approx(-theirs["dpdx_forcing"], abs=2e-11)


@pytest.mark.parametrize(("poisson", "processes"), [("ftm", "2x2"), ("ptdma", "1x3")])
@pytest.mark.parametrize("case", LONG)
def test_any_process_grid_agrees_with_cans(
    cans: Path, case: str, poisson: str, processes: str, tmp_path: Path
) -> None:
    y, z = map(int, processes.split("x"))
    overrides = [f"dns.poisson={poisson}", f"grid.process_grid={processes}"]
    result = compare(cans, case, tmp_path, *overrides, ranks=y * z)
    assert result.returncode == 0, result.stdout + result.stderr


def test_another_viscosity_is_noticed(cans: Path, tmp_path: Path) -> None:
    result = compare(cans, "tgv32_exp", tmp_path, "dns.viscosity=0.0100001")
    assert result.returncode == 1
    assert "above the tolerance" in result.stdout
