"""Trouble cases R17, R18 and R19: bounds, sums and floors of advected fractions."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from running import leaf_cells, run_well

SPECIES = [f"scalar_{n}" for n in range(3)]


def test_r17_a_dye_stays_between_zero_and_one(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("R17") / "input.toml").read_text()
    outcome = run_well(tmp_path / "run", text, "time.end=0.06", "output.snapshot_interval=0.02")
    for snapshot in outcome.snapshots:
        cells = leaf_cells(snapshot)
        assert cells["scalar_0"].min() >= -1e-14
        assert cells["scalar_0"].max() <= 1.0 + 1e-14


def test_r18_three_species_have_the_sum_one(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("R18") / "input.toml").read_text()
    cells = leaf_cells(run_well(tmp_path / "run", text).last_snapshot)
    assert np.abs(sum(cells[name] for name in SPECIES) - 1.0).max() < 1e-12
    for name in SPECIES:
        assert cells[name].min() >= 0.0
        assert cells[name].max() <= 1.0


def test_r19_a_concentration_stays_uniform(case: Callable[[str], Path], tmp_path: Path) -> None:
    text = (case("R19") / "input.toml").read_text()
    cells = leaf_cells(run_well(tmp_path / "run", text).last_snapshot)
    assert np.abs(cells["scalar_0"] - 0.25).max() < 1e-12
