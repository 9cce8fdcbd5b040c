"""Broken cells are repaired by first-order fluxes: conserving, and the same on all ranks."""

import json
from pathlib import Path

import numpy as np
import pytest

from running import Outcome, differing, run_well

# A blast in gas that is almost without pressure, off the lattice's symmetry, at the largest Courant
# number: sharp profiles and Hancock's predictor make some densities or pressures negative.
HARSH_BLAST = """
model = "amr"
[problem]
name = "sedov"
ambient_pressure = 1e-14
[mesh]
block_size = 8
[hydro]
reconstruction = "ppm"
[time]
end = 1.0
max_steps = 15
cfl = 1.0
"""

REFINED_WHERE_STEEP = {
    "problem.radius_cells": 1.0,
    "problem.centre": [0.53, 0.47, 0.51],
    "mesh.base_cells": [32, 32, 32],
    "mesh.max_level": 2,
    "refine.gradient_fields": ["density", "pressure"],
    "refine.gradient": [0.1, 0.1],
    "refine.buffer": 2,
}
# On the plane where a refined half of the box ends: the cells that break have finer neighbours, or
# coarser ones.
AT_A_LEVEL_JUMP = {
    "problem.radius_cells": 2.0,
    "problem.centre": [0.5, 0.53, 0.47],
    "mesh.base_cells": [16, 16, 16],
    "mesh.max_level": 1,
    "refine.region_level": 1,
    "refine.region_lower": [0.5, 0.0, 0.0],
    "refine.region_upper": [1.0, 1.0, 1.0],
    "refine.buffer": 0,
}
CASES = {"refined_where_steep": REFINED_WHERE_STEEP, "at_a_level_jump": AT_A_LEVEL_JUMP}


def run_blast(directory: Path, case: str, ranks: int = 1) -> Outcome:
    changes = [f"{name}={json.dumps(value)}" for name, value in CASES[case].items()]
    return run_well(directory, HARSH_BLAST, *changes, ranks=ranks)


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Run the cases on one rank."""
    return {case: run_blast(tmp_path_factory.mktemp(case) / "run", case) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_repairs_conserve_without_floors(references: dict[str, Outcome], case: str) -> None:
    log = (references[case].directory / "log.txt").read_text()
    assert "repair" in log, "no cell broke: the case tests nothing"
    history = references[case].history()
    assert history["floored_cells"][-1] == 0
    for name in ("mass", "total_energy"):
        drift = np.abs(history[name] / history[name][0] - 1.0).max()
        assert drift <= 1e-12, f"{name} drifts by {drift}"  # round-off, as without repairs


@pytest.mark.parametrize(
    ("case", "ranks"),
    [("refined_where_steep", 2), ("refined_where_steep", 3), ("at_a_level_jump", 3)],
)
def test_repairs_are_the_same_on_any_number_of_ranks(
    tmp_path: Path, references: dict[str, Outcome], case: str, ranks: int
) -> None:
    outcome = run_blast(tmp_path / "run", case, ranks=ranks)
    assert differing(outcome.last_snapshot, references[case].last_snapshot) == []
