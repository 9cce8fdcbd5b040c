"""K2: sources that act alike on all levels."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from running import leaf_cells, run_well


def test_k2_stays_uniform(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("K2") / "input.toml").read_text()
    outcome = run_well(tmp_path / "run", text, "time.end=0.5")
    cells = leaf_cells(outcome.last_snapshot)
    for name in ("density", "pressure", "velocity_x", "velocity_z"):
        assert np.ptp(cells[name]) < 2e-5 * np.abs(cells[name]).max(), name
