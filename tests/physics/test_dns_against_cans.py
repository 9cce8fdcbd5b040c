"""Runs must agree with the fields that CaNS computed from the same parameter files.

Both solve the same discrete equations, so that only round-off may tell them apart: at most 2e-13
after 50 steps, where 5e-14 is seen.
"""

from pathlib import Path

import numpy as np
import pytest
from octools.cli import app
from typer.testing import CliRunner, Result

from reference_data import reference_path
from running import run_well

EXPLICIT = ("tgv32_exp_1step", "ldc32_exp_1step", "tgv32_exp", "ldc32_exp", "ldc32_gr2_exp")
EXPLICIT += ("chan32_exp",)
IMPLICIT = ("chan32_imp1d", "ldc32_gr2_imp3d")
HISTORIES = ("chan32_exp", "chan32_imp1d", "ldc32_exp")
LONG = ("tgv32_exp", *IMPLICIT)


def octools(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def cans() -> Path:
    return reference_path("cans")


def compare(cans: Path, case: str, directory: Path, *overrides: str, ranks: int = 1) -> Result:
    options = ["--initial", cans / "chan32_exp"] if case.startswith("chan") else []
    file = directory / f"{case}.toml"
    converted = octools("convert", cans / case / "input.nml", "--output", file, *options)
    assert converted.exit_code == 0, converted.output
    run_well(directory / "run", file.read_text(), *overrides, ranks=ranks)
    return octools("compare", directory / "run", cans / case, "--tolerance", 2e-13)


@pytest.mark.parametrize("case", EXPLICIT + IMPLICIT)
def test_one_rank_agrees_with_cans(cans: Path, case: str, tmp_path: Path) -> None:
    result = compare(cans, case, tmp_path)
    assert result.exit_code == 0, result.output
    if case in HISTORIES:
        assert_history_agrees(tmp_path / "run/history.csv", cans / case / "history.csv")


def assert_history_agrees(path: Path, reference: Path) -> None:
    """Compare every step, the forces that keep the mean velocity among what is compared."""
    ours, theirs = (np.genfromtxt(table, delimiter=",", names=True) for table in (path, reference))
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
    assert result.exit_code == 0, result.output


def test_another_viscosity_is_noticed(cans: Path, tmp_path: Path) -> None:
    result = compare(cans, "tgv32_exp", tmp_path, "dns.viscosity=0.0100001")
    assert result.exit_code == 1
    assert "exceeds the tolerance" in result.output
