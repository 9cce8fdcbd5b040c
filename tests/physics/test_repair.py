"""Broken cells are repaired by first-order fluxes: conserving, and the same on all ranks."""

import json
from pathlib import Path

import numpy as np
import pytest

from inputs import collapsing_ball
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run_well,
)

# Streams of Mach 30 across each other, at the largest Courant number: Hancock's predictor makes
# some pressures negative.
STREAMS = """
model = "amr"
[problem]
name = "expression"
velocity = ["sin(2*pi*y)", "sin(2*pi*z)", "sin(2*pi*x)"]
pressure = "5e-4"
[mesh]
block_size = 8
[hydro]
reconstruction = "ppm"
[time]
end = 1.0
max_steps = 4
cfl = 1.0
"""

# A blast in gas that is almost without pressure, off the lattice's symmetry.
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
    "mesh.base_cells": [32, 32, 32],
    "mesh.max_level": 2,
    "refine.gradient_fields": ["density", "pressure"],
    "refine.gradient": [0.1, 0.1],
    "refine.buffer": 2,
}
# A refined half of the box: some of the cells that break have finer neighbours, or coarser ones.
AT_A_LEVEL_JUMP = {
    "mesh.base_cells": [16, 16, 16],
    "mesh.max_level": 1,
    "refine.region_level": 1,
    "refine.region_lower": [0.5, 0.0, 0.0],
    "refine.region_upper": [1.0, 1.0, 1.0],
    "refine.buffer": 0,
}
# The same where the refined part ends on the mid-planes of blocks.
AT_A_MID_PLANE = AT_A_LEVEL_JUMP | {"refine.region_lower": [0.25, 0.0, 0.0]}
CASES = {
    "refined_where_steep": REFINED_WHERE_STEEP,
    "at_a_level_jump": AT_A_LEVEL_JUMP,
    "at_a_mid_plane": AT_A_MID_PLANE,
}

# Cold gas, whose pressure is that of its entropy, falls into the first clumps: at level jumps, and
# within the stages of a step, entropy is broken first.
UNIVERSE = """
model = "amr"
[problem]
name = "cosmology"
[cosmology]
enabled = true
omega_m = 0.3111
omega_lambda = 0.6889
omega_b = 0.047
h = 0.6766
box = 25.0
start = "z = 29.5"
end = "z = 2"
[initial]
kind = "generate"
seed = 12345
[gravity]
enabled = true
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 3
[refine]
mass = [4.0, 4.0, 4.0]
[hydro]
gamma = 1.6666666666666667
scheme = "rk3"
reconstruction = "ppm"
dual_energy = "overwrite"
"""


def run_streams(directory: Path, case: str, ranks: int = 1) -> Outcome:
    changes = [f"{name}={json.dumps(value)}" for name, value in CASES[case].items()]
    return run_well(directory, STREAMS, *changes, ranks=ranks)


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Run the cases on one rank."""
    return {case: run_streams(tmp_path_factory.mktemp(case) / "run", case) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_repairs_conserve_without_floors(references: dict[str, Outcome], case: str) -> None:
    log = (references[case].directory / "log.txt").read_text()
    assert "repair" in log, "no cell broke: the case tests nothing"
    history = references[case].history()
    assert history["floored_cells"][-1] == 0
    for name in ("mass", "total_energy"):
        drift = np.abs(history[name] / history[name][0] - 1.0).max()
        assert drift <= 1e-12, f"{name} drifts by {drift}"  # round-off, as without repairs
    for axis in "xyz":
        momentum = history[f"momentum_{axis}"]
        drift = np.abs(momentum - momentum[0]).max() / history["absolute_momentum"][-1]
        assert drift <= 1e-12, f"momentum_{axis} drifts by {drift}"


@pytest.mark.parametrize(
    ("case", "ranks"),
    [("refined_where_steep", 2), ("refined_where_steep", 3), ("at_a_level_jump", 3)],
)
def test_repairs_are_the_same_on_any_number_of_ranks(
    tmp_path: Path, references: dict[str, Outcome], case: str, ranks: int
) -> None:
    outcome = run_streams(tmp_path / "run", case, ranks=ranks)
    assert_same_run(outcome, references[case])


def test_cold_gas_that_clumps_needs_no_floors(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", UNIVERSE)
    history = outcome.history()
    assert history["blocks_2"][-1] > 0, "no clumps: the case tests nothing"
    assert history["floored_cells"][-1] == 0
    assert np.abs(history["mass"] / history["mass"][0] - 1.0).max() <= 1e-12
    assert leaf_cells(outcome.last_snapshot)["pressure"].min() > 0.0


# A blast by 26 points that leaves less behind than the floor of the density allows.
FLOORED = {
    "hydro.reconstruction": "ppm26",
    "hydro.scheme": "rk3",
    "hydro.density_floor": 0.7,
    "time.cfl": 0.4,
    "time.max_steps": 12,
    "problem.centre": [0.53, 0.47, 0.51],
    "mesh.base_cells": [16, 16, 16],
    "mesh.max_level": 1,
    "refine.region_level": 1,
    "refine.region_upper": [0.5, 1.0, 1.0],
}


def test_floors_are_the_same_on_any_number_of_ranks(tmp_path: Path) -> None:
    changes = [f"{name}={json.dumps(value)}" for name, value in FLOORED.items()]
    one, two, five = (
        run_well(tmp_path / str(ranks), HARSH_BLAST, *changes, ranks=ranks) for ranks in (1, 2, 5)
    )
    assert one.history()["floored_cells"][-1] > 0
    assert_same_run(two, one)
    assert_same_run(five, one)


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
def test_floors_say_what_they_add(tmp_path: Path, scheme: str) -> None:
    how = {"hydro.reconstruction": "plm", "hydro.scheme": scheme, "mesh.max_level": 0}
    changes = [f"{name}={json.dumps(value)}" for name, value in (FLOORED | how).items()]
    history = run_well(tmp_path / "run", HARSH_BLAST, *changes, "refine.region_level=0").history()
    assert history["floored_mass"][-1] > 1e-4 * history["mass"][0]
    for name, floored in (("mass", "floored_mass"), ("total_energy", "floored_energy")):
        rest = history[name] - history[floored] - history[name][0]
        assert np.abs(rest).max() <= 1e-12 * history[name][0], name


# Two streams leave a vacuum. It is refined, and floors apply on both levels, also in coarse cells
# that finer ones cover.
VACUUM = """
model = "amr"
[problem]
name = "expression"
velocity = ["x < 0.5 ? -25 : 25", "0", "0"]
pressure = "1.0"
[mesh]
base_cells = [16, 4, 4]
block_size = 4
max_level = 1
upper = [1.0, 0.25, 0.25]
boundary_x = ["outflow", "outflow"]
[refine]
gradient_fields = ["density"]
gradient = [0.2]
[hydro]
gamma = 1.05
reconstruction = "ppm"
dimensions = 1
density_floor = 0.01
pressure_floor = 0.1
[time]
end = 1.0
max_steps = 5
"""


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
def test_floors_count_leaf_cells_only(tmp_path: Path, scheme: str) -> None:
    history = run_well(tmp_path / "run", VACUUM, f'hydro.scheme="{scheme}"').history()
    assert history["blocks_1"][-1] > 0
    for name, in_gas in (("mass", "mass"), ("energy", "total_energy")):
        gas, floored = history[in_gas], history[f"floored_{name}"]
        assert floored[-1] > 1e-4 * gas[0], "the floors add too little: the case tests nothing"
        drift = gas - floored + history[f"outflow_{name}"] - gas[0]
        assert np.abs(drift).max() <= 1e-12 * gas[0], name


# A ball in a floor of the pressure that is far above what is around: cells beside the finer level
# are left with too little in every step.
FLOORED_BALL = (
    collapsing_ball((0.1, 0.2, -0.3), 4, 1, "")
    + """
pressure_floor = 1e-3
[gravity]
enabled = true
[refine]
density = [0.05]
[time]
end = 5.0
max_steps = 2
"""
).replace("[16, 16, 16]", "[8, 8, 8]")


@pytest.mark.parametrize("ranks", [1, 3])
def test_restored_cells_of_the_last_step_are_counted_across_a_restart(
    tmp_path: Path, ranks: int
) -> None:
    whole = run_well(tmp_path / "whole", FLOORED_BALL, *CHECKPOINT_EVERY_STEP)
    assert "unphysical cells at coarse-fine boundaries" in whole.text
    assert_goes_on(tmp_path / "on", whole, 1, ranks=ranks)
