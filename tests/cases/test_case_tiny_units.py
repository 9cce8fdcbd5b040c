"""Trouble case R5: Sod's tube in units in which densities and pressures are 2^-80."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from running import leaf_cells, run_well


def test_r05_tiny_units_give_the_same_bits(case: Callable[[str], Path], tmp_path: Path) -> None:
    folder = case("R05")
    plain, tiny = (
        leaf_cells(run_well(tmp_path / name, (folder / f"{name}.toml").read_text()).last_snapshot)
        for name in ("unscaled", "input")
    )
    assert np.array_equal(tiny["density"] * 2.0**80, plain["density"])
    assert np.array_equal(tiny["pressure"] * 2.0**80, plain["pressure"])
    assert np.array_equal(tiny["velocity_x"], plain["velocity_x"])
