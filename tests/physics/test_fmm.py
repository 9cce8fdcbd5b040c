"""Gravity by the fast multipole method: in runs, against multigrid, and what it conserves."""

from pathlib import Path

import numpy as np
import pytest

from inputs import collapsing_ball
from running import Outcome, assert_goes_on, assert_same_run, run_well

REST_OF_COLLAPSE = """
[gravity]
enabled = true
solver = "fmm"

[refine]
jeans = 8.0

[balance]
interval = 2

[time]
subcycle = false
end = 0.2
"""
COLLAPSE = collapsing_ball((0.13, -0.21, 0.3), 8, 2, REST_OF_COLLAPSE)
CHECKPOINTS = ("output.checkpoint_interval=1e-9", "output.checkpoint_keep=100")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the collapse on one rank."""
    return run_well(tmp_path_factory.mktemp("one_rank") / "run", COLLAPSE, *CHECKPOINTS)


def test_gravity_conserves_momentum_across_levels(tmp_path: Path) -> None:
    thin = ("problem.ambient_density=1e-13", "hydro.density_floor=1e-19", "time.max_steps=6")
    history = run_well(tmp_path / "run", COLLAPSE, *thin).history()
    assert history["leaf_cells_2"][-1] > 0
    for axis in "xyz":
        # In the first steps cells of rarefied gas are restored.
        momentum = history[f"momentum_{axis}"][3:]
        assert np.abs(momentum - momentum[0]).max() < 1e-13 * history["absolute_momentum"][-1]


def test_energies_are_those_of_multigrid(tmp_path: Path, reference: Outcome) -> None:
    outcome = run_well(tmp_path / "run", COLLAPSE, "gravity.solver=multigrid")
    ours, theirs = reference.history(), outcome.history()
    for name in ("kinetic", "internal", "potential"):
        # Multigrid's discrete Laplacian on 16 cells across the ball is what differs.
        assert ours[name][-1] == pytest.approx(theirs[name][-1], rel=0.02), name


def test_same_bits_on_several_ranks_across_a_restart_and_with_sub_cycling(
    tmp_path: Path, reference: Outcome
) -> None:
    assert_goes_on(tmp_path / "restart", reference, 3, ranks=2)
    assert_same_run(run_well(tmp_path / "three", COLLAPSE, ranks=3), reference)
    assert_same_run(run_well(tmp_path / "threads", COLLAPSE, threads=2), reference)
    cycled = [
        run_well(tmp_path / f"cycled_{ranks}", COLLAPSE, "time.subcycle=true", ranks=ranks)
        for ranks in (1, 2)
    ]
    assert_same_run(*cycled)
