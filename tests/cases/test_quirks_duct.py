"""Trouble case R16: a strong shock that moves along the mesh through slightly uneven gas."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from running import leaf_cells, run_well


def test_quirks_shock_stays_plane(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("R16") / "input.toml").read_text()
    cells = leaf_cells(run_well(tmp_path / "run", text, timeout=600).last_snapshot)
    assert np.abs(cells["velocity_y"]).max() < 1e-2 * 6
