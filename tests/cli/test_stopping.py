"""Runs that end early: on request with a checkpoint, or because the gas is broken."""

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inputs import TINY_BLAST
from refusals import assert_refused
from running import (
    Outcome,
    children_of,
    heed_signals,
    octant_command,
    octant_environment,
    run,
    run_well,
)

ENDLESS = ("time.max_steps=1000000", "time.end=1000")


def assert_stopped_with_checkpoint(outcome: Outcome) -> None:
    assert outcome.code == 3, outcome.text
    assert list(outcome.directory.glob("checkpoint_*.h5"))
    assert not list(outcome.directory.glob("*.part"))


def test_the_control_file_stops_a_run(tmp_path: Path, ranks: int) -> None:
    (tmp_path / "run").mkdir()
    control = tmp_path / "run/control.toml"
    control.write_text("stop = true\n")
    assert_stopped_with_checkpoint(run(tmp_path / "run", TINY_BLAST, ranks=ranks))
    assert not control.exists()
    # And the run can be finished.
    outcome = run_well(tmp_path / "run", TINY_BLAST, restart="latest", ranks=ranks)
    assert list(outcome.history()["step"]) == [0, 1, 2]


def test_a_mistake_in_the_control_file_does_not_end_a_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/control.toml").write_text("stpo = true\n")
    assert "stpo" in run_well(tmp_path / "run", TINY_BLAST).text


def test_the_walltime_stops_a_run(tmp_path: Path, ranks: int) -> None:
    limits = ("run.walltime=2", "run.walltime_margin=1")
    outcome = run(tmp_path / "run", TINY_BLAST, *ENDLESS, *limits, ranks=ranks)
    assert_stopped_with_checkpoint(outcome)


@contextmanager
def going(
    place: Path, *overrides: str, ranks: int = 1, before: Callable[[], None] = heed_signals
) -> Iterator[subprocess.Popen[str]]:
    """Start an endless run, wait for its first steps, and kill it if it does not end.

    Parameters
    ----------
    place
        The output directory.
    overrides
        Further parameters.
    ranks
        MPI ranks.
    before
        What the process does before it becomes the program.
    """
    file = place.with_suffix(".toml")
    file.write_text(TINY_BLAST)
    options: list[object] = ["run", file, "--output", place]
    for override in (*ENDLESS, *overrides):
        options += ["--set", override]
    process = subprocess.Popen(
        octant_command(*options, ranks=ranks),
        env=octant_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )
    try:
        wait_for_steps(place / "history.csv", 1)
        yield process
    finally:
        process.kill()


def wait_for_steps(history: Path, steps: int) -> None:
    """Wait until a run has done some steps."""
    for _ in range(600):
        if history.exists() and history.read_text().count("\n") > steps:
            return
        time.sleep(0.1)
    raise AssertionError(f"{history} did not reach {steps} steps")


def step_under_way(place: Path) -> int:
    """Tell which step of a new run is computed: each has its row before it begins."""
    return (place / "history.csv").read_text().count("\n") - 1


REQUESTS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1]


@pytest.mark.parametrize("sent", REQUESTS)
def test_a_signal_to_any_rank_stops_a_run(tmp_path: Path, sent: signal.Signals, ranks: int) -> None:
    with going(tmp_path / "run", ranks=ranks) as process:
        os.kill(process.pid if ranks == 1 else children_of(process.pid)[-1], sent)
        text, _ = process.communicate(timeout=60)
    assert f"signal {int(sent)}" in text
    assert_stopped_with_checkpoint(Outcome(process.returncode, text, tmp_path / "run"))


def test_a_signal_waits_for_the_end_of_a_long_step(tmp_path: Path, ranks: int) -> None:
    """Of that step and no other; also where it comes several times at once, as schedulers do."""
    with going(tmp_path / "run", "debug.step_seconds=2.5", ranks=ranks) as process:
        root = process.pid if ranks == 1 else children_of(process.pid)[0]
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(root, sent)
        steps = step_under_way(tmp_path / "run")
        text, _ = process.communicate(timeout=60)
    assert "stop with a checkpoint after this step" in text
    assert f"stopping at step {steps}: signal" in text
    assert_stopped_with_checkpoint(Outcome(process.returncode, text, tmp_path / "run"))


def test_mpirun_hands_a_signal_on_in_a_long_step(tmp_path: Path) -> None:
    with going(tmp_path / "run", "debug.step_seconds=2.5", ranks=2) as process:
        process.send_signal(signal.SIGUSR1)
        steps = step_under_way(tmp_path / "run")
        text, _ = process.communicate(timeout=60)
    assert f"stopping at step {steps}: signal" in text
    assert_stopped_with_checkpoint(Outcome(process.returncode, text, tmp_path / "run"))


def test_a_second_signal_ends_a_run_at_once(tmp_path: Path) -> None:
    with going(tmp_path / "run", "debug.step_seconds=60") as process:
        process.send_signal(signal.SIGINT)
        time.sleep(1.2)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == -signal.SIGTERM


def test_a_run_under_nohup_outlives_its_connection(tmp_path: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with going(tmp_path / "run", before=ignore) as process:
        process.send_signal(signal.SIGHUP)
        rows = (tmp_path / "run/history.csv").read_text().count("\n")
        wait_for_steps(tmp_path / "run/history.csv", rows + 2)
        assert process.poll() is None


def test_a_reader_that_goes_away_does_not_end_a_run(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with going(place, "output.snapshot_interval=1e-9", "debug.step_seconds=0.1") as process:
        process.stdout.close()
        wait_for_steps(place / "history.csv", 8)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
    log = (place / "log.txt").read_text()
    assert "stopping at step" in log and "peak memory" in log
    assert_stopped_with_checkpoint(Outcome(code, log, place))


def test_a_limit_of_file_lengths_ends_a_run_with_a_message(tmp_path: Path, ranks: int) -> None:
    slowly = ("output.snapshot_interval=0.002", "debug.step_seconds=0.2")
    with going(tmp_path / "run", *slowly, ranks=ranks) as process:
        for pid in [process.pid] if ranks == 1 else children_of(process.pid):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))
        text, _ = process.communicate(timeout=60)
    outcome = Outcome(process.returncode, text, tmp_path / "run")
    assert_refused(outcome, "snap_", "File too large", code=1)


def test_an_end_that_no_step_comes_near_is_named(tmp_path: Path, ranks: int) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, "time.end=1e30", ranks=ranks)
    assert_refused(outcome, "step 0", "the time step 0.", "time.end = 1e+30", "too small", code=1)


def test_a_broken_state_ends_the_run_with_place_and_values(tmp_path: Path, ranks: int) -> None:
    # After a step, in which gas falls across half a cell, no number holds the flow of energy.
    push = ("hydro.acceleration=[1e300, 0, 0]", "time.max_steps=1000", "time.end=1e-140")
    outcome = run(tmp_path / "run", TINY_BLAST, *push, ranks=ranks)
    assert_refused(outcome, "level 0", "density", "total_energy", code=1)
