"""The kind of particles of docs/extending.md: data that a problem gives of it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from damage import edit_by_hand
from extended import with_program
from running import CHECKPOINT_EVERY_STEP, Outcome, assert_same_run, octant, run, run_well

extended_program = with_program("octant_with_a_kind")

SPEED, END, GRAINS = 2.0, 0.3, 1000
WAVE = f"""
problem.name = "dyed_wave"
problem.speed = {SPEED}
problem.grains = {GRAINS}
mesh.base_cells = [32, 8, 8]
mesh.upper = [1.0, 0.25, 0.25]
mesh.block_size = 4
mesh.max_level = 1
refine.density = [1.1]
time.end = {END}
"""
RESTARTED = 7  # the step after which the restarted runs begin


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on two ranks."""
    directory = tmp_path_factory.mktemp("two_ranks") / "run"
    return run_well(directory, WAVE, *CHECKPOINT_EVERY_STEP, ranks=2)


def test_dye_moves_with_the_gas_and_keeps_its_columns(reference: Outcome) -> None:
    with h5py.File(reference.last_snapshot) as file:
        assert file["mesh/level_1/key"].size > 0
        dye = file["particles/dye"]
        assert sorted(dye) == ["colour", "id", "origin", "position", "velocity"]
        begun = (np.arange(GRAINS) + 0.5) / GRAINS
        assert dye["id"][...].tolist() == list(range(GRAINS))
        assert np.abs(dye["origin"][...] - begun).max() < 1e-15
        assert dye["colour"].dtype == np.int64
        assert dye["colour"][...].tolist() == [1] * (GRAINS // 2) + [2] * (GRAINS // 2)
        assert dye["origin"].attrs["units"] == "length"
        assert dye["origin"].attrs["description"] == "x at which the grain began"
        way = dye["position"][..., 0] - begun - SPEED * END
        # The gas keeps its velocity to rounding alone.
        assert np.abs(way - np.rint(way)).max() < 1e-9
    history = reference.history()
    assert history["dye_particles"].tolist() == [GRAINS] * len(history["step"])
    assert "dye_mass" not in history


@pytest.mark.parametrize("ranks", [1, 3])
def test_columns_survive_a_restart_on_other_ranks(
    tmp_path: Path, reference: Outcome, ranks: int
) -> None:
    checkpoint = reference.directory / f"checkpoint_{RESTARTED - 1:05}.h5"
    outcome = run_well(tmp_path / "run", WAVE, ranks=ranks, restart=checkpoint)
    assert_same_run(outcome, reference, first_step=RESTARTED + 1)


def without_column(file: h5py.File) -> None:
    del file["particles/dye/colour"]


def with_other_kind(file: h5py.File) -> None:
    file.copy("particles/dye", "particles/stars")


def without_dye(file: h5py.File) -> None:
    del file["particles/dye"]


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (without_column, 'the dye particles in the checkpoint lack the column "colour"'),
        (with_other_kind, 'the checkpoint has particles of type "stars"'),
        (without_dye, 'no particles of type "dye" (grains of dye)'),
    ],
)
def test_a_checkpoint_with_other_particles_is_refused(
    tmp_path: Path, reference: Outcome, edit: Callable[[h5py.File], None], complaint: str
) -> None:
    edited = tmp_path / "checkpoint_00000.h5"
    shutil.copy(reference.directory / "checkpoint_00003.h5", edited)
    edit_by_hand(edited, edit)
    outcome = run(tmp_path / "run", WAVE, restart=edited)
    assert outcome.code == 2, outcome.text
    assert complaint in outcome.text


def test_a_file_is_described_with_its_kinds(reference: Outcome) -> None:
    assert f"grains of dye: {GRAINS} particles" in octant("info", reference.last_snapshot).text


def test_dye_needs_gas(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", WAVE, "hydro.enabled=false")
    assert outcome.code == 2, outcome.text
    assert "dye particles are advected by the gas" in outcome.text
