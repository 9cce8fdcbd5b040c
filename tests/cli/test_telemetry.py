"""Every run records itself, truthfully, cheaply and without changing what it computes."""

import os
import signal
import subprocess
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from flows import SMALL_CHANNEL
from inputs import DRIFTING_BLAST, TINY_BLAST
from refusals import assert_refused, small_disk
from running import (
    Outcome,
    await_end_of_ranks,
    differing,
    octant_command,
    octant_environment,
    run,
    run_well,
)
from telemetry_tables import ask, ask_one


@pytest.fixture(scope="module")
def blast(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Record a blast on two ranks, each a node of its own."""
    directory = tmp_path_factory.mktemp("blast") / "run"
    return run_well(
        directory, DRIFTING_BLAST, "debug.ranks_per_node=1", "telemetry.window=5", ranks=2
    )


def test_there_is_a_row_for_every_step_rank_and_block(blast: Outcome) -> None:
    assert ask(blast, "select step from steps order by step") == [(n,) for n in range(12)]
    assert ask_one(blast, "select count(*) from ranks") == 24
    rows = ask_one(blast, "select count(*) from blocks")
    assert rows == ask_one(blast, "select sum(blocks) from steps")
    assert rows == ask_one(blast, "select sum(blocks) from ranks")
    updates = "select sum(updates * 64) - sum(work) from blocks"
    assert ask_one(blast, updates) == 0.0
    history = blast.history()
    assert ask_one(blast, "select max(time) from steps") == history["time"][-2]


def test_other_programs_read_the_documented_types_and_the_same_values(blast: Outcome) -> None:
    (file, *_) = (blast.directory / "telemetry").glob("phases-*.parquet")
    table = parquet.read_table(file)
    number, text = pa.int64(), pa.string()
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == {
        **{"segment": pa.int16(), "step": number, "rank": pa.int32(), "level": pa.int8()},
        **{"phase": text, "name": text, "task": pa.int32(), "parent": pa.int32()},
        **{"calls": pa.int32(), "start_ns": number},
        **{"total_ns": number, "self_ns": number, "cpu_ns": number},
        **{"cells": number, "bytes": number},
    }
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == duckdb.sql(f"select * from '{file}'").fetchall()
    assert table.schema.metadata[b"octant.model"] == b"amr"


def test_the_times_of_a_step_add_up(blast: Outcome) -> None:
    differences = ask(
        blast,
        """select max(abs(duration - parts)) from
           (select step, rank, end_ns - start_ns as duration from ranks) join
           (select step, rank, sum(self_ns) as parts from phases group by all)
           using (step, rank)""",
    )
    assert differences == [(0,)]


def test_tasks_of_a_step_are_a_tree_whose_times_nest(blast: Outcome) -> None:
    """A task lasts as long as its own time and its children, and so does the step of a rank."""
    missing = """select count(*) from phases c left join phases p on p.step = c.step
        and p.rank = c.rank and p.task = c.parent where c.parent >= 0 and p.task is null"""
    assert ask_one(blast, missing) == 0
    roots = "select distinct name, parent, level from phases where task = 0"
    assert ask(blast, roots) == [("step", -1, -1)]
    differences = """select max(abs(p.total_ns - p.self_ns - coalesce(c.total_ns, 0))) from phases p
        left join (select step, rank, parent as task, sum(total_ns) as total_ns from phases
          group by all) c using (step, rank, task)"""
    assert ask_one(blast, differences) == 0
    within = """select count(*) from kernels k join phases p using (step, rank, task)
        where k.part = p.name"""
    assert ask_one(blast, within) == ask_one(blast, "select count(*) from kernels")


def test_all_kinds_of_phases_are_seen(blast: Outcome) -> None:
    phases = {phase for (phase,) in ask(blast, "select distinct phase from phases")}
    assert phases == {
        *("compute", "pack", "send", "wait", "unpack", "collective"),
        *("regrid", "rebalance", "io", "other"),
    }
    levels = ask(blast, "select distinct level from phases where name = 'sweep' order by level")
    assert levels == [(0,), (1,), (2,)]


def test_kernels_ran_within_the_parts_that_launched_them(blast: Outcome) -> None:
    """On cores: a sweep's kernel for all but a little of the sweep, through the same cells."""
    swept = ask(
        blast,
        """select calls, items, cells, bytes / items, operations > 0, duration_ns <= self_ns from
           (select * from kernels where name = 'hydro::sweep') join
           (select step, rank, level, cells, self_ns from phases where name = 'sweep')
           using (step, rank, level)""",
    )
    assert swept
    for calls, items, cells, size, counted, shorter in swept:
        assert calls > 0
        assert (items, size, counted, shorter) == (cells, 2 * 6 * 8, True, True)  # six variables
    parts = ask(blast, "select distinct part from kernels where name = 'hydro::sweep'")
    assert parts == [("sweep",)]
    outside = """select count(*) from kernels k join ranks r using (step, rank)
        where k.start_ns < r.start_ns or k.start_ns > r.end_ns"""
    assert ask_one(blast, outside) == 0


def counted_kernels(outcome: Outcome) -> set[str]:
    """Name the kernels that say what they work through."""
    counted = """select name from kernels group by name
                 having sum(items) > 0 and sum(bytes) >= 8 * sum(items)"""
    return {name for (name,) in ask(outcome, counted)}


def test_kernels_through_cells_say_what_they_work_through(blast: Outcome) -> None:
    gas = {"hydro::sweep", "interpolate", "restrict", "correct fluxes", "measure blocks"}
    assert gas | {"restore unphysical cells"} <= counted_kernels(blast)


def test_kernels_of_batches_of_a_flow_say_what_they_work_through(tmp_path: Path) -> None:
    by_planes = ("dns.poisson=ptdma", "grid.process_grid=1x2")
    how = ("dns.schedule=batches", "time.max_steps=2", *by_planes)
    lines = {f"pencil: {name}" for name in ("eliminate planes", "substitute planes")}
    transforms = {"pencil: transform", "pencil: transform back"}
    flow = run_well(tmp_path / "run", SMALL_CHANNEL, *how, ranks=2)
    assert {"dns: ghosts", *lines, *transforms} <= counted_kernels(flow)
    # The ranks share 13 planes of 24 x 15 coefficients.
    solved = "select distinct items / calls from kernels where name = 'pencil: eliminate planes'"
    assert sorted(ask(flow, solved)) == [(24 * 15 * 6,), (24 * 15 * 7,)]


def test_both_ends_of_a_message_are_seen(blast: Outcome) -> None:
    both = """select sum(messages), sum(bytes) from messages
              where peer >= 0 and direction = '{}' and component <> 'route'"""
    assert ask(blast, both.format("send")) == ask(blast, both.format("receive"))
    assert ask_one(blast, "select count(*) from messages where peer = rank") == 0


def test_every_node_writes_files_of_its_own(blast: Outcome) -> None:
    files = {path.name for path in (blast.directory / "telemetry").iterdir()}
    for node in ("n0000", "n0001"):
        assert f"phases-00000000-00000011-{node}.parquet" in files
    assert not [name for name in files if name.startswith(".")]
    assert ask(blast, "select distinct rank, node from ranks order by rank") == [(0, 0), (1, 1)]


def test_records_are_small(blast: Outcome) -> None:
    folder = blast.directory / "telemetry"
    blocks = sum(path.stat().st_size for path in folder.glob("blocks-*"))
    others = sum(path.stat().st_size for path in folder.iterdir()) - blocks
    assert blocks <= 64 * ask_one(blast, "select count(*) from blocks")
    assert others <= 4096 * ask_one(blast, "select count(*) from ranks")


@pytest.mark.parametrize("ranks", [1, 2])
def test_records_do_not_change_what_is_computed(tmp_path: Path, ranks: int) -> None:
    loud = run_well(tmp_path / "loud", DRIFTING_BLAST, "telemetry.detail=full", ranks=ranks)
    quiet = run_well(tmp_path / "quiet", DRIFTING_BLAST, "telemetry.enabled=false", ranks=ranks)
    assert differing(loud.last_snapshot, quiet.last_snapshot) == []
    assert not (quiet.directory / "telemetry").exists()
    assert ask_one(loud, "select count(*) from events") > 0


def test_a_flow_records_its_phases(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", SMALL_CHANNEL, "grid.transpose=p2p", ranks=2)
    assert ask_one(outcome, "select count(*) from steps") == 12
    names = {name for (name,) in ask(outcome, "select name from phases where phase = 'compute'")}
    assert {"momentum", "poisson", "correction"} <= names
    assert ask_one(outcome, "select sum(messages) from messages") > 0


def test_a_killed_run_leaves_whole_files_up_to_its_last_window(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    parameters = directory.with_suffix(".toml")
    parameters.write_text(DRIFTING_BLAST)
    command = octant_command("run", parameters, "--output", directory, ranks=2)
    command += ["--set", "time.max_steps=100000", "--set", "telemetry.window=2"]
    process = subprocess.Popen(
        command, env=octant_environment(), stdout=subprocess.DEVNULL, start_new_session=True
    )
    folder = directory / "telemetry"
    deadline = time.monotonic() + 60
    while len(list(folder.glob("ranks-*.parquet"))) < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    await_end_of_ranks(directory)
    windows = len(list(folder.glob("ranks-*.parquet")))
    steps = ask(directory, "select distinct step from ranks order by step")
    assert steps == [(n,) for n in range(2 * windows)]
    assert ask_one(directory, "select count(*) from phases") > 0


@pytest.mark.parametrize("model", [DRIFTING_BLAST, SMALL_CHANNEL], ids=["amr", "dns"])
def test_a_restart_goes_on_as_the_next_segment(model: str, tmp_path: Path) -> None:
    run_well(tmp_path / "run", model, "time.max_steps=6")
    outcome = run_well(tmp_path / "run", model, restart="latest")
    segments = ask(outcome, "select segment, min(step), max(step) from steps group by all")
    assert sorted(segments) == [(0, 0, 5), (1, 6, 11)]


def test_a_slow_block_is_known_by_its_cost(tmp_path: Path) -> None:
    load = 'debug.synthetic_load=["0:0:10"]'
    still = "refine.gradient=[1e9]"
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, load, still)
    # The least of all steps: what a busy machine adds to a step is not in it. What is left of it
    # doubles no cost, and a block that is not known for slow would cost what the others do.
    ratio = """with least as (select key, min(cost_ns) as cost from blocks
                             where level = 0 group by key)
               select median(case when key = 0 then cost end) /
                      median(case when key <> 0 then cost end) from least"""
    assert 5.0 < ask_one(outcome, ratio) < 20.0
    assert ask_one(outcome, "select sum(work) from blocks where key = 0 and step = 0") == 640.0


def test_a_slow_rank_computes_longer_for_the_same_work(tmp_path: Path) -> None:
    slow = ("debug.slow_ranks=[1]", "debug.slow_factor=4", "balance.interval=0")
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *slow, ranks=2)
    per_cell = """select sum(cpu_ns) / sum(cells) from phases
                  where name = 'sweep' group by rank order by rank"""
    (normal,), (inflated,) = ask(outcome, per_cell)
    assert inflated > 2.5 * normal


def test_late_sends_are_seen_where_they_are_posted(tmp_path: Path) -> None:
    late = ("debug.late_rank=1", "debug.late_seconds=0.003", "time.max_steps=4")
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *late, ranks=2)
    # The least of all: what a busy machine adds is not in it.
    delays = """select min(post_ns / messages) from messages
                where direction = 'send' and component = 'ghosts' group by rank order by rank"""
    (prompt,), (delayed,) = ask(outcome, delays)
    assert prompt < 3e6 <= delayed


def test_a_full_disk_ends_telemetry_with_one_message(tmp_path: Path, ranks: int) -> None:
    with small_disk(tmp_path / "disk", "size=1m") as disk:
        (tmp_path / "run").mkdir()
        (tmp_path / "run/telemetry").symlink_to(disk)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(1 << 20))
        ballast.write_bytes(bytes((1 << 20) - 8192))
        outcome = run_well(
            tmp_path / "run", DRIFTING_BLAST, "telemetry.window=1", ranks=ranks, timeout=60
        )
    assert outcome.text.count("No space left") == 1
    assert "the run continues without telemetry" in outcome.text


def test_a_damaged_file_does_not_keep_a_run_from_going_on(tmp_path: Path, ranks: int) -> None:
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, "time.max_steps=2", ranks=ranks)
    damaged = next((outcome.directory / "telemetry").glob("ranks-*.parquet"))
    damaged.write_bytes(b"damaged")
    outcome = run_well(
        tmp_path / "run", DRIFTING_BLAST, "time.max_steps=4", restart="latest", ranks=ranks
    )
    assert outcome.text.count(damaged.name) == 1
    assert damaged.read_bytes() == b"damaged"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, ranks: int) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/telemetry").write_text("a file in its place")
    outcome = run(tmp_path / "run", TINY_BLAST, ranks=ranks)
    assert_refused(outcome, "telemetry", "telemetry.enabled = false")


@pytest.mark.parametrize(
    ("override", "fragment"),
    [
        ("telemetry.trigger=wait > often", "telemetry.trigger"),
        ('debug.synthetic_load=["0:1"]', "debug.synthetic_load"),
        ('debug.synthetic_load=["random:0.5:0.5"]', "at least 1"),
    ],
)
def test_what_cannot_be_understood_is_refused(tmp_path: Path, override: str, fragment: str) -> None:
    assert_refused(run(tmp_path / "run", TINY_BLAST, override), fragment)
