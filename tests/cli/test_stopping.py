"""Runs that end early: on request with a checkpoint, or because the gas is broken."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from cases import TINY_BLAST
from refusals import assert_refused
from running import Outcome, octant_command, octant_environment, run, run_well

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


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_stops_a_run(tmp_path: Path, wish: signal.Signals) -> None:
    file = tmp_path / "blast.toml"
    file.write_text(TINY_BLAST)
    output = tmp_path / "run"
    options: list[object] = ["run", file, "--output", output]
    for override in ENDLESS:
        options += ["--set", override]
    process = subprocess.Popen(
        octant_command(*options),
        env=octant_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for_steps(output / "history.csv", 3)
        process.send_signal(wish)
        text, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert_stopped_with_checkpoint(Outcome(process.returncode, text, output))


def wait_for_steps(history: Path, steps: int) -> None:
    """Wait until a run has done some steps."""
    for _ in range(600):
        if history.exists() and history.read_text().count("\n") > steps:
            return
        time.sleep(0.1)
    raise AssertionError(f"{history} did not reach {steps} steps")


def test_a_broken_state_ends_the_run_with_place_and_values(tmp_path: Path, ranks: int) -> None:
    # An acceleration that no number can hold after a step.
    push = ("hydro.acceleration=[1e200, 0, 0]", *ENDLESS)
    outcome = run(tmp_path / "run", TINY_BLAST, *push, ranks=ranks)
    assert_refused(outcome, "level 0", "density", "total_energy", code=1)
