"""Asking telemetry in SQL: which rows count, what the views say, and what is refused."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Call
from made_up_run import MadeUpRun

from octools.telemetry.database import Telemetry
from octools.telemetry.views import VIEWS


@pytest.fixture(scope="module")
def slow_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run of 8 ranks whose rank 3 becomes slow in steps 24 to 27."""
    made_up = MadeUpRun(ranks=8, slow={3: 4.0}, slow_steps=range(24, 28), detail=range(25, 26))
    return made_up.write(tmp_path_factory.mktemp("slow"))


def one(run: Path, query: str) -> object:
    with Telemetry(run) as telemetry:
        return telemetry.value(query)


def test_views_have_the_columns_that_they_promise(slow_run: Path) -> None:
    with Telemetry(slow_run) as telemetry:
        for name, view in VIEWS.items():
            columns, _ = telemetry.rows(f"select * from {name}")
            assert columns == [(column, kind) for column, (kind, _) in view.columns.items()], name


def test_views_of_one_rank_are_all_there(tmp_path: Path) -> None:
    """A single rank sends nothing, and leaves no file of messages or events."""
    with Telemetry(MadeUpRun(ranks=1, steps=3).write(tmp_path)) as telemetry:
        assert telemetry.value("select count(*) from messages") == 0
        assert telemetry.value("select count(*) from events") == 0
        for name in VIEWS:
            telemetry.rows(f"select * from {name}")


def test_own_times_of_a_rank_add_up_to_its_step(slow_run: Path) -> None:
    query = "select sum(self_ns) from phases union all select sum(duration_ns) from ranks"
    with Telemetry(slow_run) as telemetry:
        (phases,), (ranks,) = telemetry.rows(query)[1]
    assert phases == ranks > 0


def test_merged_windows_count_once(tmp_path: Path) -> None:
    """A merge that was interrupted leaves the windows beside the merged file."""
    MadeUpRun(steps=32, window=32).write(tmp_path)
    whole = one(tmp_path, "select sum(self_ns) from phases")
    MadeUpRun(steps=32, window=8).write(tmp_path)
    assert len(list((tmp_path / "telemetry").glob("phases-*"))) == 5
    assert one(tmp_path, "select sum(self_ns) from phases") == whole
    assert one(tmp_path, "select count(*) from steps") == 32


def test_steps_that_a_restart_repeated_count_once(tmp_path: Path) -> None:
    """A restart at step 10 of a run that had come to step 19, and goes on to step 14 only."""
    MadeUpRun(steps=20, window=20).write(tmp_path)
    MadeUpRun(steps=15, window=20).write(tmp_path, first=10, segment=1)
    with Telemetry(tmp_path) as telemetry:
        for table in ("steps", "ranks", "phases", "blocks"):
            query = f"select distinct step, segment from {table} order by step"
            assert telemetry.rows(query)[1] == [(n, int(10 <= n < 15)) for n in range(20)], table
        assert telemetry.value("select count(*) from steps") == 20


def test_placement_of_a_superseded_step_is_left_out(tmp_path: Path) -> None:
    """Segment 1 repeats step 16 without rebalancing, of which segment 0 left a row."""
    MadeUpRun(steps=20, window=20).write(tmp_path)
    MadeUpRun(steps=20, window=20).write(tmp_path, first=10, segment=1)
    for path in (tmp_path / "telemetry").glob("placement-00000010-*"):
        path.unlink()
    assert one(tmp_path, "select max(step) from placement") == 8


def test_waits_name_the_peer_that_is_late(slow_run: Path) -> None:
    query = "select peer from waits where step = 25 and peer >= 0 order by wait_ns desc limit 2"
    with Telemetry(slow_run) as telemetry:
        assert telemetry.rows(query)[1] == [(3,), (3,)]


def test_why_was_step_25_slow(slow_run: Path) -> None:
    """One line of SQL names the step's slowness, the rank and the kernel, then who waited."""
    with Telemetry(slow_run) as telemetry:
        rows = telemetry.rows("select answer from why where step = 25")[1]
        answers = [answer for (answer,) in rows]
        assert "the step took" in answers[0]
        assert float(answers[0].split(" ms, ")[1].split(" times")[0]) > 3
        assert answers[1].startswith("rank 3 (node 0) spent")
        assert "in compute sweep, usually" in answers[1]
        assert any(text.startswith("so rank") and "for rank 3" in text for text in answers)
        assert len(telemetry.rows("select answer from why where step = 12")[1]) == 1


def test_balance_tells_slow_ranks_from_uneven_work(tmp_path: Path) -> None:
    uneven = MadeUpRun(ranks=4, steps=4, work={2: 3.0}).write(tmp_path / "uneven")
    slow = MadeUpRun(ranks=4, steps=4, slow={2: 3.0}).write(tmp_path / "slow")
    columns = "avg(compute_imbalance), avg(work_imbalance), mode(slowest_rank)"
    for run, work in ((uneven, 2.0), (slow, 1.0)):
        with Telemetry(run) as telemetry:
            [(time, of_work, rank)] = telemetry.rows(f"select {columns} from balance")[1]
        assert time == pytest.approx(2.0, rel=0.05)
        assert of_work == pytest.approx(work)
        assert rank == 2


def test_critical_path_adds_up_to_the_step(slow_run: Path) -> None:
    query = """
        select max(abs(blamed - duration_ns)) from (select step, sum(blame_ns) as blamed,
        any_value(duration_ns) as duration_ns from critical_path group by step)"""
    assert one(slow_run, query) < 1e-3


def test_critical_path_leads_to_the_late_rank(tmp_path: Path) -> None:
    """Rank 5 posts late and its neighbours have more work: they end last, held up by rank 5."""
    run = MadeUpRun(ranks=8, late_ns={5: 20_000_000}, work={4: 1.5, 6: 1.5}).write(tmp_path)
    query = "select rank, sum(blame_ns) from critical_path group by rank order by 2 desc limit 1"
    with Telemetry(run) as telemetry:
        assert telemetry.rows(query)[1][0][0] == 5


def test_answers_come_as_table_csv_and_json(octools: Call, slow_run: Path) -> None:
    query = "select step, dt, regridded from steps where step < 2"
    table = octools("sql", slow_run, query)
    assert table.stdout.splitlines()[0].split() == ["step", "dt", "regridded"]
    assert table.stdout.splitlines()[-1] == "(2 rows)"
    rows = list(csv.DictReader(octools("sql", slow_run, query, "--format", "csv").stdout.split()))
    assert [row["step"] for row in rows] == ["0", "1"]
    objects = json.loads(octools("sql", slow_run, query, "--format", "json").stdout)
    assert objects[1] == {"step": 1, "dt": 0.01, "regridded": False}


def test_without_a_query_views_and_columns_are_listed(octools: Call, slow_run: Path) -> None:
    result = octools("sql", slow_run)
    assert result.returncode == 0
    assert "run 0123456789abcdef: 8 rank(s)" in result.stdout
    assert "steps: one row per coarse step; 40 rows" in result.stdout
    for name, view in VIEWS.items():
        assert f"\n{name}: one row per {view.row}" in result.stdout
        assert all(f"  {column} " in result.stdout for column in view.columns)


def test_folder_of_telemetry_stands_for_its_run(slow_run: Path) -> None:
    assert one(slow_run / "telemetry", "select count(*) from steps") == 40


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select * from stpes", "no view 'stpes'; did you mean steps"),
        ("select rnak from ranks", "no column 'rnak'; did you mean rank?"),
        ("select r.rnak from ranks r", "no column 'rnak'; did you mean rank?"),
        ("selec 1", "syntax error"),
        ("select 1; select 2", "expected one query"),
        ("", "expected one query"),
        ("create table a (x int)", "telemetry is read-only"),
        ("copy steps to 'away.parquet'", "telemetry is read-only"),
        ("drop view steps", "telemetry is read-only"),
        ("set enable_external_access = true", "telemetry is read-only"),
        (
            "select * from read_csv('/etc/passwd')",
            "can read only the telemetry of the run, not /etc/passwd",
        ),
        ("select * from '/etc/hosts.parquet'", "can read only the telemetry of the run"),
    ],
)
def test_query_that_cannot_be_met_ends_with_one_line_and_2(
    octools: Call, slow_run: Path, query: str, message: str
) -> None:
    result = octools("sql", slow_run, query)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["it's", "a[1-2]*", "x'); drop view steps; --"])
def test_names_of_runs_are_no_sql(octools: Call, tmp_path: Path, name: str) -> None:
    MadeUpRun(steps=8).write(tmp_path / name)
    MadeUpRun(steps=4, run_id="fedcba9876543210").write(tmp_path / "other")
    query = "select run, count(*) as steps from steps group by run order by run"
    result = octools("sql", tmp_path / name, tmp_path / "other", query, "--format", "csv")
    assert result.returncode == 0, result.stderr
    rows = dict(list(csv.reader(result.stdout.splitlines()))[1:])
    assert rows == {name: "8", "other": "4"}


def write_foreign(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"step": np.arange(3)}), path)


def break_directory(kind: str, run: Path) -> None:
    """Make a run directory into one that must be refused."""
    telemetry = run / "telemetry"
    if kind == "empty":
        telemetry.mkdir(parents=True)
    elif kind == "foreign":
        write_foreign(telemetry / "steps-00000000-00000002-n0000.parquet")
    elif kind == "mixed":
        MadeUpRun(steps=8, window=8).write(run)
        MadeUpRun(steps=8, window=4, run_id="fedcba9876543210").write(run)
    elif kind == "newer":
        MadeUpRun(steps=8, schema=2).write(run)
    elif kind == "cut":
        MadeUpRun(steps=8).write(run)
        path = next(telemetry.glob("ranks-*"))
        path.write_bytes(path.read_bytes()[:500])
    elif kind == "renamed":
        MadeUpRun(steps=8).write(run)
        path = next(telemetry.glob("ranks-*"))
        path.rename(telemetry / "ranking.parquet")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("absent", "the run directory"),
        ("empty", "contains no telemetry"),
        ("foreign", "was not written by Octant"),
        ("mixed", "mixes 2 runs"),
        ("newer", "version 2 of the telemetry schema; octools supports version 1"),
        ("cut", "is not a complete Parquet file"),
        ("renamed", "is not named TABLE-FIRST-LAST-nNODE.parquet"),
    ],
)
@pytest.mark.parametrize("command", ["sql"])
def test_directory_that_is_no_run_ends_with_one_line_and_2(
    octools: Call, tmp_path: Path, command: str, kind: str, message: str
) -> None:
    run = tmp_path / "run"
    break_directory(kind, run)
    result = octools(command, run)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_files_that_are_being_written_are_passed_over(slow_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(slow_run, run)
    (run / "telemetry" / ".steps-00000040-00000055-n0000.parquet").write_bytes(b"PAR1")
    assert one(run, "select count(*) from steps") == 40
