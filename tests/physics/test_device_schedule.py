"""The schedule for GPUs gives the same bits on any machine."""

from pathlib import Path

import pytest

from cases import CLUMPY_BOX, DRIFTING_BLAST
from running import Outcome, assert_same_run, run_well

IN_BATCHES = ("execution.schedule=device", "execution.batch_megabytes=2")
COLD_BLAST = ("hydro.dual_energy=overwrite", "hydro.scalars=3", "time.max_steps=6")


@pytest.fixture(scope="module")
def blast(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run a blast on three levels by the schedule for cores."""
    return run_well(tmp_path_factory.mktemp("cores") / "run", DRIFTING_BLAST)


@pytest.mark.parametrize("ranks", [1, 3])
def test_same_bits(tmp_path: Path, blast: Outcome, ranks: int) -> None:
    batched = run_well(tmp_path / "run", DRIFTING_BLAST, *IN_BATCHES, ranks=ranks)
    assert_same_run(batched, blast)


@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm")])
def test_same_bits_with_dual_energy_and_scalars(tmp_path: Path, scheme: tuple[str, str]) -> None:
    chosen = (*COLD_BLAST, f"hydro.scheme={scheme[0]}", f"hydro.reconstruction={scheme[1]}")
    cores = run_well(tmp_path / "cores", DRIFTING_BLAST, *chosen)
    batched = run_well(tmp_path / "batches", DRIFTING_BLAST, *chosen, *IN_BATCHES, ranks=3)
    assert_same_run(batched, cores)


def test_same_bits_with_gravity_and_particles(tmp_path: Path) -> None:
    few = "time.max_steps=8"
    cores = run_well(tmp_path / "cores", CLUMPY_BOX, few)
    batched = run_well(tmp_path / "batches", CLUMPY_BOX, few, *IN_BATCHES, ranks=3)
    assert_same_run(batched, cores)
