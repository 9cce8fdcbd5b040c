"""Runs that make no progress are ended by run.watchdog, with a message that names the rank."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from inputs import TINY_BLAST
from running import children_of, contents, octant_command, octant_environment, run, run_well
from telemetry_tables import ask

# Steps of 0.1 s; a rank is stopped in one of them.
SLOW = ("time.max_steps=1000000", "time.end=1000", "debug.step_seconds=0.1")
WATCHDOG = "run.watchdog=4"


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_rank_that_computes_forever_is_named(tmp_path: Path, ranks: int) -> None:
    endless = "debug.synthetic_load=['0:7:1e12']"  # the last block
    outcome = run(tmp_path / "run", TINY_BLAST, WATCHDOG, endless, ranks=ranks, timeout=60)
    assert outcome.code == 1, outcome.text
    assert f"step 0, rank {ranks - 1} (process " in outcome.text
    assert "no progress for 4 s (run.watchdog) in" in outcome.text
    assert "'sweep' (compute, level 0)" in outcome.text
    assert outcome.text.count("octant: step") == 1, outcome.text


@pytest.mark.parametrize("victim", [0, 1])
def test_ranks_that_wait_for_a_stopped_one_end(tmp_path: Path, victim: int) -> None:
    place = tmp_path / "run"
    place.with_suffix(".toml").write_text(TINY_BLAST)
    settings = [word for text in (*SLOW, WATCHDOG) for word in ("--set", text)]
    command = octant_command(
        "run", place.with_suffix(".toml"), "--output", place, *settings, ranks=2
    )
    process = subprocess.Popen(
        command,
        env=octant_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        history = place / "history.csv"
        while not history.exists() or history.read_text().count("\n") < 3:
            assert process.poll() is None
            time.sleep(0.1)
        stopped = children_of(process.pid)[victim]
        os.kill(stopped, signal.SIGSTOP)
        try:
            text, _ = process.communicate(timeout=60)
        finally:
            os.kill(stopped, signal.SIGKILL)
    finally:
        process.kill()
    assert process.returncode == 1, text
    assert f"rank {1 - victim} (process " in text
    assert re.search(r"has waited for other ranks for [0-9.]+ s, 3 times run.watchdog, in", text)


def test_a_run_with_progress_is_not_disturbed(tmp_path: Path, ranks: int) -> None:
    """It has the same results, and its telemetry has the same tasks."""
    plain = run_well(tmp_path / "plain", TINY_BLAST, ranks=ranks)
    watched = run_well(tmp_path / "watched", TINY_BLAST, "run.watchdog=60", ranks=ranks)
    results = [contents(outcome.directory) for outcome in (plain, watched)]
    for name in results[0]:
        if name.endswith(".csv"):
            assert results[0][name] == results[1][name], name
    question = "select distinct name, level from phases order by name, level"
    assert ask(plain, question) == ask(watched, question)
