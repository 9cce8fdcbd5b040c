"""Heating and relaxation of the gas: exact in time, and every erg of it accounted for."""

from pathlib import Path

import numpy as np
import pytest

from inputs import DRIFTING_BLAST
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

# Gas that streams, with an internal energy of 2.5 per mass.
STREAM = """
[problem]
name = "riemann"
left = [2.0, 3.0, 2.0]
right = [2.0, 3.0, 2.0]

[mesh]
base_cells = [8, 8, 8]
block_size = 4
boundary_x = ["periodic", "periodic"]

[time]
end = 0.4
"""

HEATED_BLAST = """
[heating]
rate = 2.0
relaxation_time = 0.3
relaxation_energy = 0.2
"""


@pytest.mark.parametrize(
    ("heating", "expected"),
    [
        ("rate=1.5", 2.5 + 1.5 * 0.4),
        ("relaxation_time=0.25", 2.5 * np.exp(-0.4 / 0.25)),
        ("relaxation_time=0.25 relaxation_energy=4.0", 4.0 - 1.5 * np.exp(-0.4 / 0.25)),
        ("rate=2.0 relaxation_time=0.5", 1.0 + 1.5 * np.exp(-0.4 / 0.5)),
    ],
)
@pytest.mark.parametrize("dual_energy", ["off", "on", "overwrite"])
def test_the_solution_in_time_is_exact(
    tmp_path: Path, heating: str, expected: float, dual_energy: str
) -> None:
    overrides = [f"heating.{each}" for each in heating.split()]
    outcome = run_well(tmp_path / "run", STREAM, f"hydro.dual_energy={dual_energy}", *overrides)
    cells = leaf_cells(outcome.last_snapshot)
    energy = cells["pressure"] / (0.4 * cells["density"])
    assert np.abs(energy / expected - 1.0).max() < 1e-12
    assert np.abs(cells["density"] - 2.0).max() < 1e-13


def test_gas_too_cold_for_its_total_energy_keeps_its_heat(tmp_path: Path) -> None:
    # Ten million times as much kinetic energy as internal: only the entropy remembers the heat.
    cold = ["problem.left=[2.0, 10000.0, 2.0]", "problem.right=[2.0, 10000.0, 2.0]"]
    short = ["time.end=1e-3", "hydro.dual_energy=on", "heating.rate=1000.0"]
    outcome = run_well(tmp_path / "run", STREAM, *cold, *short)
    cells = leaf_cells(outcome.last_snapshot)
    energy = cells["pressure"] / (0.4 * cells["density"])
    assert np.abs(energy / 3.5 - 1.0).max() < 1e-10


def test_steps_change_no_cell_by_more_than_they_may(tmp_path: Path) -> None:
    share = "heating.largest_change=0.02"
    history = run_well(tmp_path / "run", STREAM, "heating.rate=10.0", share).history()
    energy = history["internal"] / history["mass"]
    assert (history["dt"][:-1] <= 0.02 * energy[:-1] / 10.0 * (1.0 + 1e-12)).all()
    assert history["dt"][0] == pytest.approx(0.02 * 2.5 / 10.0, rel=1e-12)


@pytest.fixture(scope="module", params=["off", "on"])
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    directory = tmp_path_factory.mktemp(f"dual_energy_{request.param}") / "run"
    dual_energy = f'[hydro]\ndual_energy = "{request.param}"'
    parameters = DRIFTING_BLAST.replace("[hydro]", dual_energy) + HEATED_BLAST
    return run_well(directory, parameters, *CHECKPOINT_EVERY_STEP)


def test_the_ledger_holds_all_the_energy_that_came(reference: Outcome) -> None:
    history = reference.history()
    assert history["leaf_cells_2"][-1] > 0
    added = history["heating_energy"]
    assert (np.diff(added) > 0.0).all()
    assert added[-1] > 0.01 * history["total_energy"][0]
    left = history["total_energy"] - added
    assert np.abs(left / left[0] - 1.0).max() < 1e-13


def test_the_same_bits_on_three_ranks(tmp_path: Path, reference: Outcome) -> None:
    by_cost = "balance.cost=measured"  # that of heating among it
    outcome = run_well(tmp_path / "run", reference.parameters, by_cost, ranks=3)
    assert_same_run(outcome, reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    assert_goes_on(tmp_path / "run", reference, 5, ranks=ranks)


def test_a_checkpoint_of_other_physics_is_refused(tmp_path: Path) -> None:
    few = "time.max_steps=2"
    run_well(tmp_path / "run", STREAM, few)
    outcome = run(tmp_path / "run", STREAM, few, "heating.rate=1.0", restart="latest")
    assert_refused(outcome, "heating.rate")


def test_heating_needs_gas_that_does_not_expand(tmp_path: Path) -> None:
    no_gas = """
        problem.name = "plummer"
        problem.particles = 100
        problem.radius = 0.05
        mesh.lower = [-1.0, -1.0, -1.0]
        mesh.base_cells = [8, 8, 8]
        gravity.enabled = true
        hydro.enabled = false
        heating.rate = 1.0
    """
    assert_refused(run(tmp_path / "a", no_gas), "[heating]", "hydro.enabled")
    expanding = """
        problem.name = "pancake"
        mesh.base_cells = [8, 8, 8]
        gravity.enabled = true
        hydro.gamma = 1.6666666666666667
        cosmology.enabled = true
        cosmology.box = 10.0
        cosmology.start = "z = 20"
        cosmology.end = "z = 10"
        heating.rate = 1.0
    """
    assert_refused(run(tmp_path / "b", expanding), "[heating]", "cosmology.enabled")
