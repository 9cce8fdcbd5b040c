"""A run's telemetry as an archive of the Open Trace Format 2, which Vampir and others show.

The archive contains the events of the trace for Perfetto (`trace_events`): nodes are nodes of the
system tree, ranks are processes, and a rank has a location for its tasks and one for its kernels.
Messages are sends and receives in one communicator, whose tag is the number of the component.
Counters are metrics. Times are in nanoseconds.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError
from octools.telemetry.database import Telemetry
from octools.telemetry.trace import KERNELS_OF, TraceEvent, trace_events

ANCHOR = "traces.otf2"  # file of an archive that names its parts
NANOSECONDS = 1e3  # per microsecond

# Time and what happens: ("enter" | "leave" | "send" | "receive" | "metric", name, ...).
Record = tuple[int, tuple[Any, ...]]


@dataclass
class _Track:
    """Events of a location: slices as (start, end, name), and records at single times."""

    slices: list[tuple[int, int, str]] = field(default_factory=list)
    instants: list[Record] = field(default_factory=list)

    def records(self) -> Iterator[Record]:
        """Yield all records in the order of time."""
        self.instants.sort(key=itemgetter(0))
        return merge(self._nested(), self.instants, key=itemgetter(0))

    def _nested(self) -> Iterator[Record]:
        """Yield where slices begin and end; a slice ends no later than the one around it."""
        around: list[tuple[int, str]] = []
        for start, end, name in sorted(self.slices, key=lambda s: (s[0], -s[1])):
            while around and around[-1][0] <= start:
                last, inner = around.pop()
                yield last, ("leave", inner)
            end = min(end, around[-1][0]) if around else end
            yield start, ("enter", name)
            around.append((end, name))
        while around:
            last, inner = around.pop()
            yield last, ("leave", inner)


def save_otf2(
    telemetry: Telemetry, steps: tuple[int, int] | None, ranks: tuple[int, int] | None, path: Path
) -> int:
    """Write an OTF2 archive and return the number of its events.

    All events of the steps and ranks are in memory at once.

    Parameters
    ----------
    steps, ranks
        First and last one to show; None for all.
    path
        Directory of the archive. An older archive is replaced.

    Raises
    ------
    OctoolsError
        If the Python package otf2 is missing, if there are no rows, or if the archive cannot be
        written.
    """
    otf2, low_level = _bindings()
    tracks, nodes = _tracks(trace_events(telemetry, steps, ranks))
    _require_replaceable(path)
    beside = path.with_name(f".{path.name}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.parent.mkdir(parents=True, exist_ok=True)
        has_gpu = bool(telemetry.files.metadata.get("gpu"))
        with otf2.writer.open(str(beside), timer_resolution=10**9) as archive:
            archive.creator = "octools trace"
            count = _write(otf2, archive, tracks, nodes, has_gpu)
        if path.exists():
            shutil.rmtree(path)
        beside.rename(path)
    except (OSError, otf2.error.Error, low_level.Error) as cause:
        shutil.rmtree(beside, ignore_errors=True)
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    return count


def _bindings() -> tuple[Any, Any]:
    """Import the Python bindings of OTF2, and those of the C library below them."""
    try:
        return import_module("otf2"), import_module("_otf2")
    except ImportError as cause:
        raise OctoolsError(
            "--otf2 requires the Python package otf2; run pip install otf2, or install the "
            "package python3-otf2 of Debian or Ubuntu"
        ) from cause


def _require_replaceable(path: Path) -> None:
    """Refuse to replace anything but an older archive without other files."""
    if path.is_symlink() or (path.exists() and not (path / ANCHOR).is_file()):
        raise OctoolsError(
            f"{path} exists and is not an OTF2 archive; remove or rename it, or choose another name"
        )
    parts = (*path.glob("traces.*"), *path.glob("traces/*.evt"), *path.glob("traces/*.def"))
    others = [file for file in path.rglob("*") if file.is_file() and file not in parts]
    if others:
        raise OctoolsError(
            f"{others[0]} is not part of the older OTF2 archive {path}, which would be replaced; "
            "move it elsewhere, or choose another name"
        )


def _tracks(
    events: Iterable[TraceEvent],
) -> tuple[dict[int, _Track], dict[int, int]]:
    """Collect the events of each track, and the node of each; kernels follow their ranks."""
    tracks: dict[int, _Track] = defaultdict(_Track)
    nodes: dict[int, int] = {}
    sent: dict[str, TraceEvent] = {}
    for event in events:
        kind = event["ph"]
        if kind == "M" and event["name"] == "thread_name":
            nodes[event["tid"]] = event["pid"]
        elif kind == "X":
            name = "step" if event["cat"] == "step" else event["name"]
            span = _time(event["ts"]), _time(event["ts"] + event["dur"])
            tracks[event["tid"]].slices.append((*span, name))
        elif kind == "C":
            name = event["name"].split(" of rank ")[0]
            for unit, value in event["args"].items():
                record = (_time(event["ts"]), ("metric", name, unit, value))
                tracks[event["tid"]].instants.append(record)
        elif kind == "s":
            sent[event["id"]] = event
        elif kind == "f":
            start = sent.pop(event["id"])
            if start["tid"] in nodes and event["tid"] in nodes:  # both ranks are shown
                _add_message(tracks, start, event)
    return tracks, nodes


def _time(microseconds: float) -> int:
    """Return a time in nanoseconds. Clocks of other nodes may be behind that of the first."""
    return max(0, round(microseconds * NANOSECONDS))


def _add_message(tracks: dict[int, _Track], start: TraceEvent, end: TraceEvent) -> None:
    """Add both ends of a message to the tracks of its ranks."""
    name, size = start["name"], int(start["args"]["bytes"])
    sender, receiver = start["tid"], end["tid"]
    sending = (_time(start["ts"]), ("send", name, receiver, size))
    tracks[sender].instants.append(sending)
    tracks[receiver].instants.append((_time(end["ts"]), ("receive", name, sender, size)))


def _write(
    otf2: Any, archive: Any, tracks: dict[int, _Track], nodes: dict[int, int], has_gpu: bool
) -> int:
    """Write definitions and events; return the number of events."""
    locations = _locations(otf2, archive.definitions, nodes, has_gpu)
    communicator = _communicator(otf2, archive.definitions, locations)
    names = sorted({record[1][1] for track in tracks.values() for record in track.instants
                    if record[1][0] == "send"})  # fmt: skip
    tags = {name: tag for tag, name in enumerate(names)}
    count = 0
    for number, track in sorted(tracks.items()):
        writer = archive.event_writer_from_location(locations[number])
        for time, (kind, name, *rest) in track.records():
            if kind in ("enter", "leave"):
                region = _region(otf2, archive.definitions, name, number >= KERNELS_OF)
                getattr(writer, kind)(time, region)
            elif kind == "metric":
                unit, value = rest
                writer.metric(time, archive.definitions.metric(name, unit=unit), float(value))
            else:
                peer, size = rest
                message = writer.mpi_send if kind == "send" else writer.mpi_recv
                rank = communicator.rank(locations[peer])
                message(time, rank, communicator, tags[name], size)
            count += 1
    return count


def _locations(otf2: Any, definitions: Any, nodes: dict[int, int], has_gpu: bool) -> dict[int, Any]:
    """Define nodes, ranks and their tracks; return the location of each track."""
    types = otf2.LocationType
    machine = definitions.system_tree_node("machine", class_name="machine")
    locations = {}
    for number, node in sorted(nodes.items(), key=lambda item: (item[0] % KERNELS_OF, item[0])):
        rank, is_kernels = number % KERNELS_OF, number >= KERNELS_OF
        parent = definitions.system_tree_node(f"node {node}", class_name="node", parent=machine)
        group = definitions.location_group(f"rank {rank}", system_tree_parent=parent)
        kind = types.ACCELERATOR_STREAM if is_kernels and has_gpu else types.CPU_THREAD
        name = "kernels" if is_kernels else "tasks"
        locations[number] = definitions.location(name, type=kind, group=group)
    return locations


def _communicator(otf2: Any, definitions: Any, locations: dict[int, Any]) -> Any:
    """Define the communicator of all ranks."""
    members = tuple(place for number, place in sorted(locations.items()) if number < KERNELS_OF)
    kinds, mpi = otf2.GroupType, otf2.Paradigm.MPI
    definitions.group("ranks", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=members)
    world = definitions.group(
        "communicator", group_type=kinds.COMM_GROUP, paradigm=mpi, members=members
    )
    return definitions.comm("communicator", group=world)


def _region(otf2: Any, definitions: Any, name: str, is_kernel: bool) -> Any:
    """Return the region of a task or kernel."""
    role = otf2.RegionRole.KERNEL if is_kernel else otf2.RegionRole.FUNCTION
    return definitions.region(name, region_role=role, paradigm=otf2.Paradigm.USER)
