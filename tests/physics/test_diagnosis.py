"""Faults that are ordered in a real run are found by octools where they are, and no others."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from octools.telemetry.critical import critical_windows
from octools.telemetry.database import Telemetry
from octools.telemetry.diagnose import diagnose
from octools.telemetry.finding import Finding
from octools.telemetry.report import report
from octools.telemetry.trace import save_trace
from octools.telemetry.views import VIEWS

from inputs import STEADY_BLAST
from running import run_well


def run_blast(directory: Path, *overrides: str, ranks: int) -> Path:
    """Run the blast, which records itself."""
    run = run_well(directory, STEADY_BLAST, *overrides, ranks=ranks).directory
    assert (run / "telemetry").is_dir()
    return run


def findings(run: Path) -> list[Finding]:
    """Diagnose a run; every finding's query must answer."""
    with Telemetry(run) as telemetry:
        found = diagnose(telemetry).findings
        for finding in found:
            assert telemetry.rows(finding.query)[1]
    return found


def the_one(run: Path, kind: str) -> Finding:
    """Give the most expensive finding of a kind; the machine's other users may cause more."""
    found = findings(run)
    of_kind = [finding for finding in found if finding.kind == kind]
    assert of_kind, f"no {kind} was found, but {found}"
    return of_kind[0]


def test_nothing_is_found_in_clean_runs(tmp_path: Path) -> None:
    """In most of them: where other programs slow one rank, saying so is no false alarm.

    That they take processor time from all is none either.
    """
    runs = [run_blast(tmp_path / f"run_{number}", ranks=2) for number in range(5)]
    of_machine = ("starved", "crowded")
    found = [[each for each in findings(run) if each.kind not in of_machine] for run in runs]
    assert sum(not each for each in found) >= 3, found


@contextmanager
def shared_processor(others: int) -> Iterator[None]:
    """Leave this process and its children one processor, on which other programs are busy."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        for process in busy:
            process.kill()
            process.wait()


def test_run_that_shares_its_processor_with_eight_programs_is_found(tmp_path: Path) -> None:
    # A ninth is its share, but the system lets a young process go before others.
    with shared_processor(others=8):
        finding = the_one(run_blast(tmp_path / "run", ranks=1), "starved")
    assert list(finding.ranks) == [0]
    assert finding.evidence["processor_share"] < 0.7


def test_rank_slowed_three_times_is_found(tmp_path: Path) -> None:
    run = run_blast(tmp_path / "run", "debug.slow_ranks=[2]", "debug.slow_factor=3.0", ranks=4)
    finding = the_one(run, "slow_rank")
    assert (list(finding.ranks), finding.phase) == ([2], "compute")
    assert finding.evidence["slowdown"] == pytest.approx(3.0, rel=0.5)


def test_slow_node_of_four_ranks_is_found(tmp_path: Path) -> None:
    fault = ("debug.ranks_per_node=4", "debug.slow_node=1", "debug.slow_factor=3.0")
    finding = the_one(run_blast(tmp_path / "run", *fault, ranks=8), "slow_node")
    assert list(finding.nodes) == [1]
    assert list(finding.ranks) == [4, 5, 6, 7]
    assert finding.phase == "compute"


def test_rank_whose_sends_are_late_is_found(tmp_path: Path) -> None:
    fault = ("debug.late_rank=1", "debug.late_seconds=0.02", "time.max_steps=12")
    finding = the_one(run_blast(tmp_path / "run", *fault, ranks=3), "late_sends")
    assert (list(finding.ranks), finding.phase) == ([1], "send")


def test_all_tools_read_what_a_run_wrote(tmp_path: Path) -> None:
    """With full detail: views, paths through events, the report, and a trace."""
    run = run_blast(tmp_path / "run", 'telemetry.detail="full"', "time.max_steps=6", ranks=3)
    with Telemetry(run) as telemetry:
        for name, view in VIEWS.items():
            columns, _ = telemetry.rows(f"select * from {name}")
            assert columns == [(column, kind) for column, (kind, _) in view.columns.items()]
        durations = "select sum(duration_ns) from ranks union all select sum(self_ns) from phases"
        (whole,), (parts,) = telemetry.rows(durations)[1]
        assert parts == whole
        for window in critical_windows(telemetry, 3):
            assert all(piece.end > piece.start for piece in window.pieces)
        assert re.search(r"rank [012] \(node 0\)", report(telemetry, "blast"))
        assert save_trace(telemetry, None, None, tmp_path / "trace.json") > 100
