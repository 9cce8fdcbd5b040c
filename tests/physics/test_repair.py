"""Broken cells are repaired by first-order fluxes: conserving, and the same on all ranks."""

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
radius_cells = 1.0
centre = [0.53, 0.47, 0.51]
[mesh]
base_cells = [32, 32, 32]
block_size = 8
max_level = 2
[refine]
gradient_fields = ["density", "pressure"]
gradient = [0.1, 0.1]
buffer = 2
[hydro]
reconstruction = "ppm"
[time]
end = 1.0
max_steps = 15
cfl = 1.0
"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    return run_well(tmp_path_factory.mktemp("one_rank") / "run", HARSH_BLAST)


def test_repairs_conserve_without_floors(reference: Outcome) -> None:
    log = (reference.directory / "log.txt").read_text()
    assert "repair" in log, "no cell broke: the case tests nothing"
    history = reference.history()
    assert history["floored_cells"][-1] == 0
    for name in ("mass", "total_energy"):
        drift = np.abs(history[name] / history[name][0] - 1.0).max()
        assert drift <= 1e-12, f"{name} drifts by {drift}"  # round-off, as without repairs


@pytest.mark.parametrize("ranks", [2, 3])
def test_repairs_are_the_same_on_any_number_of_ranks(
    tmp_path: Path, reference: Outcome, ranks: int
) -> None:
    outcome = run_well(tmp_path / "run", HARSH_BLAST, ranks=ranks)
    assert differing(outcome.last_snapshot, reference.last_snapshot) == []


# The same blast on the plane where a refined half of the box ends: the cells that break have finer
# neighbours, or coarser ones.
BLAST_AT_LEVEL_JUMP = """
model = "amr"
[problem]
name = "sedov"
ambient_pressure = 1e-14
radius_cells = 2.0
centre = [0.5, 0.53, 0.47]
[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
[refine]
region_level = 1
region_lower = [0.5, 0.0, 0.0]
region_upper = [1.0, 1.0, 1.0]
buffer = 0
[hydro]
reconstruction = "ppm"
[time]
end = 1.0
max_steps = 15
cfl = 1.0
"""


@pytest.fixture(scope="module")
def at_level_jump(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the blast at the jump on one rank."""
    return run_well(tmp_path_factory.mktemp("at_level_jump") / "run", BLAST_AT_LEVEL_JUMP)


def test_repairs_at_a_level_jump_conserve(at_level_jump: Outcome) -> None:
    log = (at_level_jump.directory / "log.txt").read_text()
    assert "repair" in log, "no cell broke: the case tests nothing"
    history = at_level_jump.history()
    assert history["floored_cells"][-1] == 0
    for name in ("mass", "total_energy"):
        drift = np.abs(history[name] / history[name][0] - 1.0).max()
        assert drift <= 1e-12, f"{name} drifts by {drift}"


def test_repairs_at_a_level_jump_are_the_same_on_three_ranks(
    tmp_path: Path, at_level_jump: Outcome
) -> None:
    outcome = run_well(tmp_path / "run", BLAST_AT_LEVEL_JUMP, ranks=3)
    assert differing(outcome.last_snapshot, at_level_jump.last_snapshot) == []
