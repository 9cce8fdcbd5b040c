"""OTF2 archives: what their reader finds is what the trace contains."""

import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from conftest import Call
from made_up_run import MadeUpRun

from octools.telemetry.database import Telemetry


def read(archive: Path) -> dict[str, list[Any]]:
    """Read the events of all locations, by rank and track, in the order of the file."""
    otf2: Any = pytest.importorskip("otf2", reason="no otf2; pip install otf2")
    found = defaultdict(list)
    with otf2.reader.open(str(archive / "traces.otf2")) as trace:
        for place, event in trace.events:
            found[f"{place.group.name} {place.name}"].append(event)
    return found


def kinds(events: list[Any]) -> Counter[str]:
    return Counter(type(event).__name__ for event in events)


def write(octools: Call, run: Path, *options: object) -> Path:
    pytest.importorskip("otf2", reason="no otf2; pip install otf2")
    result = octools("trace", run, "--otf2", *options)
    assert result.returncode == 0, result.stderr
    return run / "otf2"


@pytest.mark.parametrize("detail", [range(0), range(2)])
def test_tasks_nest_and_last_as_long_as_in_telemetry(
    octools: Call, tmp_path: Path, detail: range
) -> None:
    run = MadeUpRun(ranks=3, steps=3, ranks_per_node=2, detail=detail).write(tmp_path)
    found = read(write(octools, run))
    names = {f"rank {rank} {track}" for rank in range(3) for track in ("tasks", "kernels")}
    assert set(found) == names
    for events in found.values():
        times = [event.time for event in events]
        assert times == sorted(times)
        around: list[Any] = []
        for event in events:
            if type(event).__name__ == "Enter":
                around.append(event.region)
            elif type(event).__name__ == "Leave":
                assert around.pop() is event.region
        assert not around
    with Telemetry(run) as telemetry:
        query = "select sum(duration_ns)::bigint from kernels where rank = 1"
        assert total(found["rank 1 kernels"]) == pytest.approx(telemetry.value(query), abs=20)
        query = "select sum(duration_ns)::bigint from ranks where rank = 1"
        steps = [e for e in found["rank 1 tasks"] if is_of(e, "step")]
        assert total(steps) == pytest.approx(telemetry.value(query), abs=20)


def is_of(event: Any, region: str) -> bool:
    return kinds([event]) <= Counter(("Enter", "Leave")) and event.region.name == region


def total(events: list[Any]) -> int:
    """Sum the times between entering and leaving regions that do not nest."""
    signs = {"Enter": -1, "Leave": 1}
    return sum(signs.get(type(event).__name__, 0) * event.time for event in events)


def test_messages_join_two_ranks(octools: Call, tmp_path: Path) -> None:
    """Each message of a detailed step has two ends: 3 rounds, 6 ranks, 2 neighbours."""
    run = MadeUpRun(ranks=6, steps=2, ranks_per_node=3, detail=range(2)).write(tmp_path)
    found = read(write(octools, run))
    ends = Counter(e for track in found.values() for e in kinds(track).elements())
    assert ends["MpiSend"] == ends["MpiRecv"] == 2 * 3 * 6 * 2
    sent, received = Counter(), Counter()
    for rank in range(6):
        for event in found[f"rank {rank} tasks"]:
            if type(event).__name__ == "MpiSend":
                sent[rank, event.receiver, event.msg_tag, event.msg_length] += 1
            elif type(event).__name__ == "MpiRecv":
                received[event.sender, rank, event.msg_tag, event.msg_length] += 1
    assert sent == received


def test_counters_are_metrics(octools: Call, tmp_path: Path) -> None:
    made_up = MadeUpRun(ranks=2, steps=3, device_bytes=7 * 10**9, circumstances={"gpu": "a GPU"})
    found = read(write(octools, made_up.write(tmp_path)))
    values = defaultdict(list)
    for event in found["rank 1 tasks"]:
        if type(event).__name__ == "Metric":
            values[event.member.name, event.member.unit] += event.values
    assert values["device memory", "MB"] == [7000.0] * 3
    assert {name for name, _ in values} == {"processors", "memory", "kernel time", "device memory"}


def test_the_printer_of_otf2_reads_it(octools: Call, tmp_path: Path) -> None:
    if not shutil.which("otf2-print"):
        pytest.skip("no otf2-print; it is part of otf2-tools")
    run = MadeUpRun(ranks=2, steps=3, detail=range(2)).write(tmp_path)
    archive = write(octools, run, "--steps", "1:2", "--ranks", "0")
    printed = subprocess.run(
        ["otf2-print", archive / "traces.otf2"], capture_output=True, text=True, check=True
    )
    assert printed.stderr == ""
    lines = Counter(line.split()[0] for line in printed.stdout.splitlines() if line)
    assert lines["ENTER"] == lines["LEAVE"] > 0
    assert 'Region: "step"' in printed.stdout


def test_an_archive_replaces_an_archive_only(octools: Call, tmp_path: Path) -> None:
    run = MadeUpRun(steps=2).write(tmp_path)
    for _ in range(2):
        write(octools, run)
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    result = octools("trace", run, "--otf2", "--output", other)
    assert result.returncode == 2
    assert "is not an OTF2 archive" in result.stderr
    assert (other / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".*.part"))


def test_files_beside_an_older_archive_are_kept(octools: Call, tmp_path: Path) -> None:
    run = MadeUpRun(steps=2).write(tmp_path)
    archive = write(octools, run)
    notes = archive / "notes.txt"
    notes.write_text("mine")
    result = octools("trace", run, "--otf2")
    assert result.returncode == 2
    assert f"{notes} is not part of the older OTF2 archive" in result.stderr
    assert notes.read_text() == "mine"


def test_missing_bindings_are_named(
    octools: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)  # import raises ImportError
    run = MadeUpRun(steps=2).write(tmp_path)
    result = octools("trace", run, "--otf2")
    assert result.returncode == 2
    assert "pip install otf2" in result.stderr
    assert not (run / "otf2").exists()
