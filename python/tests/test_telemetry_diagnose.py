"""Diagnosis: the fault that was made is found where it is, and nothing else is."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import Call
from made_up_run import MadeUpRun

from octools.telemetry.critical import blame, critical_windows
from octools.telemetry.database import Telemetry
from octools.telemetry.diagnose import diagnose
from octools.telemetry.finding import Finding
from octools.telemetry.scatter import communication

MS = 1_000_000


def findings(run: Path) -> list[Finding]:
    """Diagnose a run; the query of each finding must run and show its rank or node first."""
    with Telemetry(run) as telemetry:
        found = diagnose(telemetry).findings
        for finding in found:
            columns, rows = telemetry.rows(finding.query)
            first = dict(zip((name for name, _ in columns), rows[0], strict=True))
            if "rank" in first:
                assert first["rank"] in finding.ranks
            elif "node" in first:
                assert first["node"] in finding.nodes
    return found


def own_findings(run: Path) -> list[Finding]:
    """Leave out that other programs ran on the run's processors."""
    return [finding for finding in findings(run) if finding.kind != "starved"]


def the_only(run: Path) -> Finding:
    [finding] = own_findings(run)
    assert 0 < finding.cost <= 1
    return finding


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_found_in_clean_runs_on_busy_machines(tmp_path: Path, seed: int) -> None:
    """Two ranks that lose their processors now and then and share them unevenly."""
    run = MadeUpRun(
        ranks=2, steps=10 + 4 * seed, seed=seed, preempted=True, cells=2000 * (seed + 1)
    )
    assert own_findings(run.write(tmp_path)) == []


@pytest.mark.parametrize("share", [0.12, 0.28, 0.6])
@pytest.mark.parametrize("ranks", [1, 3])
def test_run_that_had_a_part_of_a_processor_is_found(
    tmp_path: Path, ranks: int, share: float
) -> None:
    starved = MadeUpRun(ranks=ranks, processor_share=share).write(tmp_path)
    [finding] = findings(starved)
    assert (finding.kind, list(finding.ranks)) == ("starved", list(range(ranks)))
    assert finding.evidence["processor_share"] == pytest.approx(share, rel=0.01)
    assert finding.cost == pytest.approx(1 - share, abs=0.1)
    assert f"{100 * share:.0f} % of a processor" in finding.what


@pytest.mark.parametrize(
    ("threads", "processors", "own", "crowd"),
    [(1, 4, 4, 0), (2, 4, 4, 2), (1, 8, 2, 0), (2, 8, 1, 2), (1, 1, 1, 4)],
)
def test_more_threads_than_processors_are_found(
    tmp_path: Path, threads: int, processors: int, own: int, crowd: float
) -> None:
    told = {
        "threads_per_rank": threads,
        "processors_per_node": processors,
        "processors_per_rank": own,
    }
    found = findings(MadeUpRun(ranks=4, processor_share=0.5, circumstances=told).write(tmp_path))
    crowded = [finding for finding in found if finding.kind == "crowded"]
    assert [finding.evidence["threads_per_processor"] for finding in crowded] == [crowd] * bool(
        crowd
    )
    assert all(finding.cost == pytest.approx(0.5, abs=0.1) for finding in crowded)


def test_ranks_that_wait_for_a_device_are_not_starved(tmp_path: Path) -> None:
    assert findings(MadeUpRun(processor_share=0.03).write(tmp_path)) == []


@pytest.mark.parametrize("ranks", [1, 3, 8, 32])
def test_nothing_is_found_in_clean_runs(tmp_path: Path, ranks: int) -> None:
    assert findings(MadeUpRun(ranks=ranks, steps=20).write(tmp_path)) == []


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("preempted", [False, True])
def test_rank_slowed_three_times_is_found(tmp_path: Path, ranks: int, preempted: bool) -> None:
    run = MadeUpRun(ranks=ranks, slow={1: 3.0}, preempted=preempted)
    finding = the_only(run.write(tmp_path))
    assert (finding.kind, list(finding.ranks), finding.phase) == ("slow_rank", [1], "compute")
    assert finding.evidence["slowdown"] == pytest.approx(3.0, rel=0.1)
    assert finding.steps == (0, 39)


def test_rank_that_throttles_for_a_while_is_found_with_its_steps(tmp_path: Path) -> None:
    run = MadeUpRun(ranks=4, steps=128, slow={2: 4.0}, slow_steps=range(64, 96))
    finding = the_only(run.write(tmp_path))
    assert list(finding.ranks) == [2]
    assert finding.steps == (64, 95)


@pytest.mark.parametrize("ranks", [8, 32])
def test_slow_node_of_four_ranks_is_found(tmp_path: Path, ranks: int) -> None:
    """Of 8 ranks, half are slow: the faster half tells what is usual."""
    run = MadeUpRun(ranks=ranks, ranks_per_node=4, slow=dict.fromkeys(range(4, 8), 2.5))
    finding = the_only(run.write(tmp_path))
    assert (finding.kind, list(finding.nodes)) == ("slow_node", [1])
    assert list(finding.ranks) == [4, 5, 6, 7]


@pytest.mark.parametrize("ranks", [2, 8])
def test_rank_whose_sends_are_late_is_found(tmp_path: Path, ranks: int) -> None:
    finding = the_only(MadeUpRun(ranks=ranks, late_ns={1: 3 * MS}).write(tmp_path))
    assert (finding.kind, list(finding.ranks)) == ("late_sends", [1])
    assert (finding.phase, finding.name) == ("send", "ghosts")
    assert finding.evidence["delay_us"] == pytest.approx(3000, rel=0.05)


def test_blocked_sender_is_found_and_its_receivers_are_not(tmp_path: Path) -> None:
    """As where a driver waits for acknowledgements (Fig. 1b of the paper)."""
    finding = the_only(MadeUpRun(ranks=8, blocked_ns={2: 60 * MS}).write(tmp_path))
    assert (finding.kind, list(finding.ranks)) == ("wait_spikes", [2])
    assert finding.evidence["spike_ms"] == pytest.approx(60, rel=0.01)
    assert finding.steps == (9, 39)


def test_uneven_work_is_imbalance_and_no_slow_rank(tmp_path: Path) -> None:
    finding = the_only(MadeUpRun(ranks=4, work={3: 2.0}).write(tmp_path))
    assert (finding.kind, list(finding.ranks)) == ("imbalance", [3])
    assert finding.evidence["work_imbalance"] == pytest.approx(2 / 1.25)


def test_dear_blocks_are_imbalance_and_no_slow_rank(tmp_path: Path) -> None:
    """Their cells take three times as long, and count three work units."""
    finding = the_only(MadeUpRun(ranks=4, dear={3: 3.0}).write(tmp_path))
    assert (finding.kind, list(finding.ranks)) == ("imbalance", [3])
    assert finding.evidence["work_imbalance"] == pytest.approx(2.0)


def test_waits_that_follow_no_volume_are_found(tmp_path: Path) -> None:
    """Ranks with few bytes stand still longest, in every step and not only now and then."""
    volume = {rank: 1 + rank / 7 for rank in range(8)}
    stuck = {rank: 8 * MS - rank * MS for rank in range(8)}
    run = MadeUpRun(ranks=8, volume=volume, stuck_ns=stuck)
    finding = the_only(run.write(tmp_path))
    assert finding.kind == "uncorrelated"
    assert finding.evidence["correlation"] < 0


def test_critical_path_of_one_round_has_two_ranks(tmp_path: Path) -> None:
    """Rank 2 sends late to rank 1, which has more to do afterwards: §IV-D of the paper."""
    run = MadeUpRun(
        ranks=6, steps=4, late_ns={2: 13 * MS}, work={1: 5.0}, detail=range(4), rounds=(0,)
    )
    with Telemetry(run.write(tmp_path)) as telemetry:
        for step in range(4):
            [window] = critical_windows(telemetry, step)
            assert window.ranks == [2, 1]
            assert [piece.event.phase for piece in window.pieces][:2] == ["pack", "send"]


@pytest.mark.parametrize("rounds", [(0,), (0, 1, 1)])
def test_pieces_of_a_critical_path_cover_its_window(tmp_path: Path, rounds: tuple) -> None:
    run = MadeUpRun(ranks=6, steps=3, preempted=True, detail=range(3), rounds=rounds)
    with Telemetry(run.write(tmp_path)) as telemetry:
        begin = telemetry.value("select start_ns from steps where step = 1")
        [window] = critical_windows(telemetry, 1)
        calls = "select max(start_ns) from events where step = 1 and phase = 'collective'"
        end = telemetry.value(calls)
    edges = [(piece.start, piece.end) for piece in window.pieces]
    assert (edges[0][0], edges[-1][1]) == (begin, end)
    assert all(a[1] == b[0] for a, b in pairwise(edges))


def test_blame_is_the_same_from_events_and_from_sums(tmp_path: Path) -> None:
    """The slow rank has nearly all of it either way."""
    for detail in (range(0), range(40)):
        run = MadeUpRun(ranks=8, slow={3: 3.0}, detail=detail).write(tmp_path / str(len(detail)))
        with Telemetry(run) as telemetry:
            found = blame(telemetry)
        assert (found.windows, found.exact) == (40, len(detail))
        share = sum(share for (rank, *_), share in found.shares() if rank == 3)
        assert share > 0.95


def test_diagnosis_is_printed_for_people_and_programs(octools: Call, tmp_path: Path) -> None:
    run = MadeUpRun(ranks=8, slow={3: 3.0}).write(tmp_path)
    text = octools("diagnose", run)
    assert text.returncode == 0
    assert "1. slow rank: rank 3, node 0, compute, steps 0 to 39" in text.stdout
    assert "critical paths of 40 windows" in text.stdout
    result: dict[str, Any] = json.loads(octools("diagnose", run, "--json").stdout)
    assert result["findings"][0]["ranks"] == [3]
    assert result["critical_paths"]["blame"][0]["rank"] == 3
    clean = octools("diagnose", MadeUpRun().write(tmp_path / "clean"))
    assert clean.stdout.startswith("no performance problem found")


def test_plot_shows_how_communication_time_follows_messages(octools: Call, tmp_path: Path) -> None:
    """Rank 3 stands still in each step, and its neighbours wait for it; all have equal messages."""
    run = MadeUpRun(ranks=8, steps=50, stuck_ns={3: 40 * MS}).write(tmp_path)
    with Telemetry(run) as telemetry:
        found = communication(telemetry)
    assert len(found.ranks) == 8 * 50
    assert set(found.messages) == {12}
    assert found.correlation is None
    assert found.medians[3] > 40
    assert max(found.medians[n] for n in (0, 6, 7)) < 4  # no delay reaches them in a step
    picture = tmp_path / "scatter.png"
    done = octools("diagnose", run, "--json", "--plot", picture)
    assert "findings" in json.loads(done.stdout)
    assert "the number of messages or the time is constant" in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_plot_of_a_long_run_has_a_limited_number_of_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octools.telemetry.scatter.POINTS", 100)
    run = MadeUpRun(ranks=8, steps=50).write(tmp_path)
    with Telemetry(run) as telemetry:
        assert len(communication(telemetry).ranks) == 8 * 13  # every fourth step


def test_plot_requires_messages(octools: Call, tmp_path: Path) -> None:
    run = MadeUpRun(ranks=1, steps=4).write(tmp_path)
    done = octools("diagnose", run, "--plot", tmp_path / "scatter.png")
    assert done.returncode == 2
    assert "several ranks" in done.stderr


def test_run_without_steps_yet_is_refused(octools: Call, tmp_path: Path) -> None:
    """The first node may be late with its first window."""
    MadeUpRun(ranks=8, steps=4).write(tmp_path)
    for path in (tmp_path / "telemetry").glob("steps-*"):
        path.unlink()
    result = octools("diagnose", tmp_path)
    assert result.returncode == 2
    assert "has no per-step table yet" in result.stderr
