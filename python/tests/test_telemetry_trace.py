"""Traces: valid trace-event JSON whose slices nest, add up, and are joined by arrows."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from conftest import Call
from made_up_run import MadeUpRun

from octools.telemetry.database import Telemetry

Event = dict[str, Any]

# Keys that the trace-event format requires of each kind of event.
REQUIRED = {
    "M": {"name", "pid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur"},
    "s": {"name", "cat", "pid", "tid", "ts", "id"},
    "f": {"name", "cat", "pid", "tid", "ts", "id", "bp"},
    "C": {"name", "pid", "ts", "args"},
}
ROUNDING = 1e-4  # of microseconds, which slices that end together may differ by


def written(path: Path) -> list[Event]:
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}
    return trace["traceEvents"]


def check_format(events: list[Event]) -> None:
    """Every event has what its kind needs; slices of a thread nest; arrows have two ends."""
    for event in events:
        assert REQUIRED[event["ph"]] <= set(event), event
        assert isinstance(event["pid"], int)
        assert all(isinstance(event.get(key, 0.0), float) or key not in event for key in ("ts",))
        if event["ph"] == "X":
            assert event["dur"] >= 0
    check_nesting(events)
    check_arrows(events)


def check_nesting(events: list[Event]) -> None:
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
    for slices in threads.values():
        open_until: list[float] = []
        for start, negative in sorted(slices):
            while open_until and open_until[-1] <= start + ROUNDING:
                open_until.pop()
            assert not open_until or start - negative <= open_until[-1] + ROUNDING
            open_until.append(start - negative)


def check_arrows(events: list[Event]) -> None:
    ends = {kind: {e["id"]: e for e in events if e["ph"] == kind} for kind in "sf"}
    assert ends["s"].keys() == ends["f"].keys()
    for number, begin in ends["s"].items():
        assert begin["ts"] <= ends["f"][number]["ts"]
        assert begin["name"] == ends["f"][number]["name"]


@pytest.mark.parametrize("ranks", [1, 2, 6])
@pytest.mark.parametrize("detail", [range(0), range(2, 4), range(8)])
def test_trace_is_valid_and_adds_up(
    octools: Call, tmp_path: Path, ranks: int, detail: range
) -> None:
    run = MadeUpRun(ranks=ranks, steps=8, ranks_per_node=4, detail=detail, preempted=True)
    result = octools("trace", run.write(tmp_path))
    assert result.returncode == 0, result.stderr
    events = written(tmp_path / "trace.json.gz")
    assert f"{len(events)} events" in result.stdout
    check_format(events)
    slices = [event for event in events if event["ph"] == "X"]
    steps = sum(event["dur"] for event in slices if event["cat"] == "step")
    parts = sum(event["dur"] for event in slices if event["cat"] not in ("step", "kernel"))
    assert parts == pytest.approx(steps, rel=1e-9)
    names = {
        event["args"]["name"] for event in events if event["ph"] == "M" and "name" in event["args"]
    }
    assert {f"rank {rank}" for rank in range(ranks)} <= names
    assert {f"kernels of rank {rank}" for rank in range(ranks)} <= names
    assert ("node 1" in names) == (ranks > 4)


def test_arrows_lead_from_sender_to_receiver(octools: Call, tmp_path: Path) -> None:
    """Each message of a detailed step is one arrow: 3 rounds, 6 ranks, 2 neighbours."""
    run = MadeUpRun(ranks=6, steps=2, ranks_per_node=3, detail=range(2))
    octools("trace", run.write(tmp_path), "--output", tmp_path / "t.json")
    arrows = [event for event in written(tmp_path / "t.json") if event["ph"] == "s"]
    assert len(arrows) == 2 * 3 * 6 * 2
    sums = tmp_path / "sums"
    octools("trace", MadeUpRun(ranks=6, steps=2).write(sums))
    arrows = [event for event in written(sums / "trace.json.gz") if event["ph"] == "s"]
    assert len(arrows) == 2 * 6 * 2


def test_slices_last_as_long_as_the_phases(octools: Call, tmp_path: Path) -> None:
    octools("trace", MadeUpRun(ranks=2, steps=3).write(tmp_path), "--output", tmp_path / "t.json")
    slices = [event for event in written(tmp_path / "t.json") if event["ph"] == "X"]
    with Telemetry(tmp_path) as telemetry:
        own = telemetry.value("select sum(self_ns) from phases where rank = 1 and name = 'sweep'")
    sweeps = [e["dur"] for e in slices if e["tid"] == 1 and e["name"] == "sweep"]
    assert sum(sweeps) * 1e3 == pytest.approx(own)


@pytest.mark.parametrize("detail", [range(0), range(3)])
def test_kernels_have_a_track_of_their_own(octools: Call, tmp_path: Path, detail: range) -> None:
    """Launch by launch where they were recorded, else one after the other."""
    run = MadeUpRun(ranks=2, steps=3, detail=detail).write(tmp_path)
    octools("trace", run, "--output", tmp_path / "t.json")
    events = written(tmp_path / "t.json")
    tracks = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    track = tracks["kernels of rank 1"]
    slices = [e for e in events if e["ph"] == "X" and e["tid"] == track]
    assert {e["name"] for e in slices} == {"hydro::sweep", "hydro::fluxes"}
    assert {e["args"]["part"] for e in slices} == {"sweep", "fluxes"}
    assert len(slices) == 3 * (6 if detail else 4)
    with Telemetry(tmp_path) as telemetry:
        ran = telemetry.value("select sum(duration_ns) from kernels where rank = 1")
    assert sum(e["dur"] for e in slices) * 1e3 == pytest.approx(ran)


def test_steps_and_ranks_can_be_chosen(octools: Call, tmp_path: Path) -> None:
    run = MadeUpRun(ranks=6, steps=8, detail=range(4)).write(tmp_path)
    octools("trace", run, "--steps", "3:5", "--ranks", "2", "--output", tmp_path / "t.json")
    slices = [event for event in written(tmp_path / "t.json") if event["ph"] == "X"]
    assert {event["tid"] for event in slices if event["cat"] != "kernel"} == {2}
    assert len({event["tid"] for event in slices}) == 2
    assert {e["name"] for e in slices if e["cat"] == "step"} == {"step 3", "step 4", "step 5"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "a"], "expected FIRST:LAST"),
        (["--steps", "100:200"], "no rows for these steps"),
        (["--output", "/proc/no/trace.json"], "cannot write"),
    ],
)
def test_trace_that_cannot_be_made_ends_with_2(
    octools: Call, tmp_path: Path, options: list[str], message: str
) -> None:
    result = octools("trace", MadeUpRun(steps=2).write(tmp_path), *options)
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.parametrize("gpu", ["", "a GPU"])
def test_counters_are_use_of_processors_memory_and_device(
    octools: Call, tmp_path: Path, gpu: str
) -> None:
    size = 7 * 10**9 if gpu else 0
    made_up = MadeUpRun(ranks=2, steps=3, device_bytes=size, circumstances={"gpu": gpu})
    octools("trace", made_up.write(tmp_path), "--output", tmp_path / "t.json")
    values = defaultdict(list)
    for event in written(tmp_path / "t.json"):
        if event["ph"] == "C":
            values[event["name"]] += event["args"].values()
    names = ["processors of rank {}", "memory of rank {} [MB]"]
    names += ["kernel time of rank {} [%]", "device memory of rank {} [MB]"] if gpu else []
    assert set(values) == {name.format(rank) for name in names for rank in (0, 1)}
    assert all(len(found) == 3 for found in values.values())
    with Telemetry(tmp_path) as telemetry:
        query = "select cpu_ns / duration_ns from ranks where rank = 1 order by step"
        assert values["processors of rank 1"] == [row[0] for row in telemetry.rows(query)[1]]
    if gpu:
        assert values["device memory of rank 0 [MB]"] == [7000.0] * 3
        assert all(10 < percent <= 100 for percent in values["kernel time of rank 1 [%]"])
