"""Task trees, sampled durations and counters: what they sum, what they draw, what they refuse."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import Call
from made_up_run import MadeUpRun
from PIL import Image

from octools.errors import OctoolsError
from octools.telemetry.database import Telemetry
from octools.telemetry.task_tree import Task, save_task_tree, task_tree
from octools.telemetry.timelines import counters, executions


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MadeUpRun(ranks=3, steps=6, sampling=10).write(tmp_path_factory.mktemp("tasks"))


def named(task: Task) -> dict[str, Task]:
    return {child.name: child for child in task.children}


def test_tree_contains_the_tasks_of_each_task(run: Path) -> None:
    with Telemetry(run) as telemetry:
        step = task_tree(telemetry, least_share=0.0)
        seconds = telemetry.value("select sum(duration_ns) / 3e9 from ranks")
        sweeps = telemetry.value("select sum(total_ns) / 3e9 from phases where name = 'sweep'")
    assert (step.name, step.calls) == ("step", 6 * 3)
    assert step.total == pytest.approx(seconds)
    children = named(step)
    assert set(children) == {"sweep", "fluxes", "exchange", "collective time_step"}
    exchange = named(children["exchange"])
    assert set(exchange) == {"pack ghosts", "send ghosts", "wait ghosts", "unpack ghosts"}
    # Three rounds of a step, on one level and on another, are executions of one task.
    assert children["sweep"].calls == 6 * 3 * 3
    assert children["sweep"].total == pytest.approx(sweeps)
    assert exchange["send ghosts"].calls == 6 * 3 * 3 * 2
    parts = sum(child.total for child in step.children)
    assert parts == pytest.approx(step.total)
    assert sum(child.total for child in exchange.values()) == pytest.approx(
        children["exchange"].total
    )
    assert children["exchange"].own == 0.0
    totals = [child.total for child in step.children]
    assert totals == sorted(totals, reverse=True)


def test_kernels_are_below_the_task_that_launched_them(run: Path) -> None:
    with Telemetry(run) as telemetry:
        step = task_tree(telemetry, least_share=0.0)
    (kernel,) = named(step)["sweep"].children
    assert (kernel.name, kernel.is_kernel) == ("hydro::sweep", True)
    assert kernel.calls == named(step)["sweep"].calls
    assert kernel.total == pytest.approx(named(step)["sweep"].total)


def test_steps_and_ranks_of_a_tree_can_be_chosen(run: Path) -> None:
    with Telemetry(run) as telemetry:
        step = task_tree(telemetry, (2, 3), (1, 1))
        query = "select sum(duration_ns) / 1e9 from ranks where rank = 1 and step in (2, 3)"
        assert step.total == pytest.approx(telemetry.value(query))
        assert step.calls == 2
        with pytest.raises(OctoolsError, match="no rows for these steps"):
            task_tree(telemetry, (50, 60))


def test_short_tasks_are_combined(run: Path) -> None:
    with Telemetry(run) as telemetry:
        whole = task_tree(telemetry, least_share=0.0)
        step = task_tree(telemetry, least_share=0.008)
    short = [
        child for child in named(whole)["exchange"].children if child.total < 0.008 * step.total
    ]
    assert len(short) >= 2
    (combined,) = (
        child for child in named(step)["exchange"].children if "shorter tasks" in child.name
    )
    assert combined.name == f"{len(short)} shorter tasks"
    assert combined.calls == sum(child.calls for child in short)
    assert combined.total == pytest.approx(sum(child.total for child in short))


def test_tree_is_printed_and_drawn(octools: Call, run: Path, tmp_path: Path) -> None:
    result = octools("trace", run, "--tree", "--output", tmp_path / "tree.png")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[1].split()[0] == "step" and "100.0 %" in lines[1]
    assert any(line.startswith("    hydro::sweep (kernel)") for line in lines)
    with Image.open(tmp_path / "tree.png") as picture:
        assert min(picture.size) > 200


def test_longer_own_times_are_redder(tmp_path: Path) -> None:
    """A node without own time is white, and one with all of it is red."""
    tree = Task("step", 1, 1.0, 0.0, children=[Task("sweep", 1, 1.0, 1.0)])
    save_task_tree(tree, "run", tmp_path / "tree.png")
    with Image.open(tmp_path / "tree.png") as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    redness = pixels[..., 0] - pixels[..., 2]
    half = pixels.shape[1] // 2
    assert (redness[:, half:] > 100).sum() > 1000
    assert (redness[:, :half] > 100).sum() == 0


def test_scatter_has_the_samples(octools: Call, run: Path) -> None:
    with Telemetry(run) as telemetry:
        found = executions(telemetry)
        count = telemetry.value("select count(*) from samples")
    assert len(found["name"]) == count > 50
    assert set(found["kind"]) == {"task", "kernel"}
    assert (np.diff(found["start_ns"]) >= 0).all()
    result = octools("trace", run, "--scatter")
    assert result.returncode == 0, result.stderr
    assert (run / "durations.png").stat().st_size > 10_000
    assert not (run / "trace.json.gz").exists()


def test_scatter_has_every_execution_of_detailed_steps(tmp_path: Path) -> None:
    run = MadeUpRun(ranks=2, steps=4, sampling=10, detail=range(1, 2)).write(tmp_path)
    with Telemetry(run) as telemetry:
        found = executions(telemetry)
        events = telemetry.value("select count(*) from events where peer < 0")
        launches = telemetry.value("select count(*) from launches")
        others = telemetry.value("select count(*) from samples where step <> 1")
    assert len(found["name"]) == events + launches + others


def test_scatter_without_samples_says_how_to_get_them(octools: Call, tmp_path: Path) -> None:
    run = MadeUpRun(steps=2, sampling=0).write(tmp_path)
    result = octools("trace", run, "--scatter")
    assert result.returncode == 2
    assert "telemetry.detail = full" in result.stderr


def test_counters_of_the_host_are_processors_and_memory(run: Path) -> None:
    with Telemetry(run) as telemetry:
        time, found = counters(telemetry)
        query = (
            "select avg(cpu_ns / duration_ns), max(memory_bytes) / 1e9 from ranks where step = 5"
        )
        processors, memory = telemetry.rows(query)[1][0]
    assert len(time) == 6
    assert [counter.name.split()[0] for counter in found] == ["processors", "resident"]
    assert found[0].mean[5] == pytest.approx(processors)
    assert found[1].most[5] == pytest.approx(memory)


def test_counters_of_a_device_are_its_memory_and_kernel_time(octools: Call, tmp_path: Path) -> None:
    made_up = MadeUpRun(ranks=2, steps=3, device_bytes=5 * 10**9, circumstances={"gpu": "a GPU"})
    run = made_up.write(tmp_path)
    with Telemetry(run) as telemetry:
        _, found = counters(telemetry)
        query = """select 100 * sum(k.duration_ns) / sum(r.duration_ns) from
          (select sum(duration_ns) as duration_ns from kernels where step = 0 and rank = 0) k,
          (select duration_ns from ranks where step = 0 and rank = 0) r"""
        busy = telemetry.value(query)
    kernels, memory = found[2:]
    assert busy == pytest.approx(kernels.most[0], rel=0.1) and 10 < busy <= 100
    assert (memory.mean == 5.0).all()
    assert octools("trace", run, "--counters").returncode == 0
    with Image.open(run / "counters.png") as picture:
        assert picture.size[1] > 1000


def test_several_plots_do_not_share_a_file(octools: Call, run: Path, tmp_path: Path) -> None:
    both = ("trace", run, "--tree", "--counters")
    result = octools(*both, "--output", tmp_path / "plot.png")
    assert result.returncode == 2 and "--output is for one file" in result.stderr
    result = octools(*both)
    assert result.returncode == 0
    assert {"task_tree.png", "counters.png"} <= {path.name for path in run.iterdir()}


def test_files_of_older_versions_have_no_tree(octools: Call, tmp_path: Path) -> None:
    """Columns that they lack are null, and everything else is read as before."""
    run = MadeUpRun(ranks=2, steps=3).write(tmp_path)
    for path in (run / "telemetry").iterdir():
        table = pq.read_table(path)
        newer = {"task", "parent", "device_bytes"} & set(table.schema.names)
        pq.write_table(table.drop_columns(list(newer)), path)
        if path.name.startswith("samples"):
            path.unlink()
    result = octools("trace", run, "--tree")
    assert result.returncode == 2
    assert "no parents of tasks" in result.stderr
    assert octools("trace", run, "--counters").returncode == 0
    assert octools("trace", run).returncode == 0
    with Telemetry(run) as telemetry:
        assert telemetry.value("select count(*) from phases") > 0
        assert telemetry.value("select count(task) from kernels") == 0
