"""R15: gas between walls. R24: gas that falls together in an open box."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from running import run_well


def test_r15_keeps_its_mass(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("R15") / "input.toml").read_text()
    history = run_well(tmp_path / "run", text, "time.end=8.5").history()
    assert np.abs(history["mass"] / history["mass"][0] - 1.0).max() < 1e-13
    assert np.all(history["outflow_mass"] == 0.0)


def test_r15_keeps_its_mass_under_its_own_gravity(
    case: Callable[[str], Path], tmp_path: Path
) -> None:
    text = (case("R15") / "selfgrav.toml").read_text()
    history = run_well(tmp_path / "run", text, "time.max_steps=10").history()
    assert np.abs(history["mass"] / history["mass"][0] - 1.0).max() < 1e-13


def test_r24_draws_no_gas_in(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("R24") / "input.toml").read_text()
    history = run_well(tmp_path / "run", text, "time.end=4.1").history()
    assert np.all(np.diff(history["outflow_mass"]) >= 0.0)
    assert history["mass"].max() <= history["mass"][0] * (1.0 + 1e-13)
