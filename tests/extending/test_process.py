"""The process of docs/extending.md: one file and one word in the list."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from extended import with_program
from inputs import DRIFTING_BLAST
from running import CHECKPOINT_EVERY_STEP, Outcome, assert_goes_on, leaf_cells, run_well

TIME = 0.5
HEATED = DRIFTING_BLAST.replace("scalars = 1", 'scalars = 1\ndual_energy = "on"')
HEATED += f"\n[exponential_heating]\ntime = {TIME}\n"


extended_program = with_program("octant_with_a_process")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    return run_well(tmp_path_factory.mktemp("one_rank") / "run", HEATED, *CHECKPOINT_EVERY_STEP)


def test_internal_energy_grows_exponentially(tmp_path: Path) -> None:
    uniform = """
        problem.name = "riemann"
        problem.left = [2.0, 0.0, 2.0]
        problem.right = [2.0, 0.0, 2.0]
        mesh.base_cells = [8, 8, 8]
        mesh.block_size = 4
        time.end = 0.4
    """
    heating = f"exponential_heating.time={TIME}"
    cells = leaf_cells(run_well(tmp_path / "run", uniform, heating).last_snapshot)
    assert np.abs(cells["pressure"] / (2.0 * np.exp(0.4 / TIME)) - 1.0).max() < 1e-12


def test_ledger_and_scalar_hold_all_the_energy_that_came(reference: Outcome) -> None:
    history = reference.history()
    added = history["exponential_heating_energy"]
    assert added[-1] > 0.01 * history["total_energy"][0]
    left = history["total_energy"] - added
    assert np.abs(left / left[0] - 1.0).max() < 1e-13
    cells = leaf_cells(reference.last_snapshot)
    heat = (cells["heat"] * cells["density"] * cells.volume).sum()
    assert heat == pytest.approx(added[-1], rel=1e-12)


def test_a_snapshot_says_what_its_scalar_is(reference: Outcome) -> None:
    with h5py.File(reference.last_snapshot) as file:
        attributes = file["hydro/level_0/heat"].attrs
        said = [np.asarray(attributes[key]).item() for key in ("units", "description")]
    texts = [text.decode() if isinstance(text, bytes) else text for text in said]
    assert texts == ["energy / mass", "heat that the gas got"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    assert_goes_on(tmp_path / "run", reference, 5, ranks=ranks)
