"""Loss of angular momentum at a given rate."""

from pathlib import Path

import numpy as np
import pytest

from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
)

# A rotating star whose total angular momentum is constant to round-off without braking.
STAR = """
[problem]
name = "rotating_star"

[gravity]
enabled = true
solver = "fmm"

[mesh]
base_cells = [16, 16, 16]
block_size = 8
lower = [-1.5, -1.5, -1.5]
upper = [1.5, 1.5, 1.5]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]

[hydro]
gamma = "5/3"
scheme = "rk3"
reconstruction = "ppm26"
angular_momentum = true

[time]
subcycle = false
cfl = 0.4
max_steps = 8

[braking]
rate = 0.3
"""
# Gas in rigid rotation about a point that is not the origin, with refinement.
SPINNING = """
[problem]
name = "expression"
density = "1 + 0.5*sin(2*pi*x)"
velocity = ["-2*(y - 0.25)", "2*(x - 0.125)", "0.5"]
pressure = "1"

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]

[refine]
density = [1.2]

[braking]
rate = 0.7
centre = [0.125, 0.25, 0.0]

[time]
max_steps = 3
"""


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Brake a star for a few steps."""
    return run_well(tmp_path_factory.mktemp("star") / "run", STAR, *CHECKPOINT_EVERY_STEP)


def test_the_account_closes_the_budget_of_angular_momentum(star: Outcome) -> None:
    history = star.history()
    lost = history["braking_angular_momentum_z"]
    total = history["angular_momentum_z"] + history["outflow_angular_momentum_z"]
    assert np.abs(total - lost - total[0]).max() < 1e-12 * total[0]
    # Angular momentum decays by exp(-rate t) in every cell.
    decay = total[0] * np.expm1(-0.3 * history["time"])
    assert lost == pytest.approx(decay, rel=1e-6)
    assert lost[-1] < -0.01 * total[0]
    assert np.all(np.diff(history["braking_energy"]) < 0.0)


def test_ranks_and_restarts_do_not_change_a_braked_star(tmp_path: Path, star: Outcome) -> None:
    other = run_well(tmp_path / "three", STAR, ranks=3)
    assert_same_run(other, star)
    assert_goes_on(tmp_path / "restart", star, 4, ranks=2)


def test_every_cell_loses_tangential_velocity_alone(tmp_path: Path) -> None:
    """Without motion of the gas through cells: one tiny step of a strong brake."""
    outcome = run_well(
        tmp_path / "run",
        SPINNING,
        "mesh.max_level=0",
        "braking.rate=1e6",
        "time.max_steps=1",
        "time.largest_step=1e-6",
    )
    old, new = (leaf_cells(snapshot) for snapshot in outcome.snapshots)
    for name in ("velocity_x", "velocity_y"):
        assert new[name] == pytest.approx(np.exp(-1.0) * old[name], abs=3e-5), name
    assert new["velocity_z"] == pytest.approx(old["velocity_z"], abs=3e-5)


def test_momentum_and_energy_are_accounted_for_on_refined_meshes(tmp_path: Path) -> None:
    with_braking = run_well(tmp_path / "braked", SPINNING).history()
    assert with_braking["leaf_cells_1"][-1] > 0
    assert with_braking["braking_momentum_x"][-1] != 0.0
    for name, column in (
        ("momentum_x", "braking_momentum_x"),
        ("momentum_y", "braking_momentum_y"),
        ("total_energy", "braking_energy"),
    ):
        rest = with_braking[name] - with_braking[column]
        rest += with_braking["outflow_" + name.removeprefix("total_")]
        scale = max(np.abs(with_braking["total_energy"]).max(), 1.0)
        assert np.abs(rest - rest[0]).max() < 1e-12 * scale, name


def test_braking_ends(tmp_path: Path) -> None:
    """The loss until `braking.end` does not depend on where steps end."""
    long = run_well(tmp_path / "long", STAR, "braking.end=0.05").history()
    after = long["time"] > 0.06
    lost = long["braking_angular_momentum_z"]
    assert after.sum() > 1
    assert np.all(lost[after] == lost[-1])
    expected = long["angular_momentum_z"][0] * np.expm1(-0.3 * 0.05)
    assert lost[-1] == pytest.approx(expected, rel=1e-6)


def test_a_restart_may_end_braking(tmp_path: Path, star: Outcome) -> None:
    """Without further braking, angular momentum and its account stay as they are."""
    checkpoint = star.directory / "checkpoint_00004.h5"
    later = run_well(tmp_path / "run", STAR, "braking.end=1e-9", restart=checkpoint).history()
    for name, bound in (("angular_momentum_z", 1e-6), ("braking_angular_momentum_z", 1e-12)):
        before = star.history()[name][5]  # the checkpoint is that of step 5
        assert later[name][-1] == pytest.approx(before, rel=bound), name
    refused = run(tmp_path / "rate", STAR, "braking.rate=0.1", restart=checkpoint)
    assert_refused(refused, "braking.rate = 0.3, but this run has 0.1")


def test_gas_below_the_density_is_left_alone(tmp_path: Path) -> None:
    none = run_well(tmp_path / "run", STAR, "braking.min_density=100", "time.max_steps=2").history()
    assert np.all(none["braking_angular_momentum_z"] == 0.0)


def test_impossible_braking_is_refused(tmp_path: Path) -> None:
    assert_refused(run(tmp_path / "run", STAR, "braking.rate=-1"), "braking.rate")
