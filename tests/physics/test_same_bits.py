"""The same bits on any number of ranks and threads, with every decomposition and exchange.

This is the reduced matrix; tests/parallel/same_bits_matrix.py runs all of it.
"""

from pathlib import Path

import pytest

from inputs import DRIFTING_BLAST
from running import CHECKPOINT_EVERY_STEP, Outcome, assert_same_run, run_well

STEPS = 12


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    return run_well(
        tmp_path_factory.mktemp("one_rank") / "run", DRIFTING_BLAST, *CHECKPOINT_EVERY_STEP
    )


def test_the_case_has_all_levels_and_changes_them(reference: Outcome) -> None:
    history = reference.history()
    assert history["step"][-1] == STEPS
    assert history["leaf_cells_0"][-1] > 0
    assert history["leaf_cells_2"][-1] > history["leaf_cells_2"][0] > 0


@pytest.mark.parametrize(
    ("ranks", "decomposition", "exchange"),
    [
        (2, "ksection", "p2p"),
        (2, "morton", "ksection"),
        (3, "hilbert", "alltoall"),
        (3, "ksection", "auto"),
        (4, "ksection", "ksection"),
        (4, "hilbert", "p2p"),
    ],
)
def test_on_several_ranks(
    tmp_path: Path, reference: Outcome, ranks: int, decomposition: str, exchange: str
) -> None:
    overrides = (f"balance.decomposition={decomposition}", f"comm.exchange={exchange}")
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *overrides, ranks=ranks)
    assert_same_run(outcome, reference)


def test_on_two_threads(tmp_path: Path, reference: Outcome) -> None:
    assert_same_run(run_well(tmp_path / "run", DRIFTING_BLAST, threads=2), reference)


@pytest.mark.parametrize(("before", "after"), [(1, 3), (4, 2)])
def test_across_a_restart_on_another_number_of_ranks(
    tmp_path: Path, reference: Outcome, before: int, after: int
) -> None:
    step = 5
    written = reference
    if before != 1:
        stop = f"time.max_steps={step + 1}"
        written = run_well(
            tmp_path / "a", DRIFTING_BLAST, *CHECKPOINT_EVERY_STEP, stop, ranks=before
        )
    checkpoint = written.directory / f"checkpoint_{step - 1:05d}.h5"
    outcome = run_well(tmp_path / "b", DRIFTING_BLAST, ranks=after, restart=checkpoint)
    assert_same_run(outcome, reference, first_step=step)


@pytest.mark.parametrize("scheme", [("rk2", "plm"), ("rk3", "ppm"), ("rk3", "ppm26")])
def test_other_integrators(tmp_path: Path, scheme: tuple[str, str]) -> None:
    overrides = (
        f"hydro.scheme={scheme[0]}",
        f"hydro.reconstruction={scheme[1]}",
        "time.max_steps=6",
    )
    one = run_well(tmp_path / "one", DRIFTING_BLAST, *overrides)
    three = run_well(tmp_path / "three", DRIFTING_BLAST, *overrides, ranks=3)
    assert_same_run(three, one)
