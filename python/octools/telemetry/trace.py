"""A run's telemetry as a trace that Perfetto and Chrome show (trace-event format, JSON).

A node is a process and a rank a thread of it, beside which its kernels have a track of their own:
on a GPU they run behind the thread that launches them. Where events were recorded, each scope is a
slice at its place in time, and each message an arrow from its posting to its arrival. Elsewhere a
step's phases are laid out one after the other, each as long as its own time: how long is exact,
when within the step is not.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TextIO

from octools.errors import OctoolsError
from octools.files import whole_file
from octools.telemetry.database import Telemetry

TraceEvent = dict[str, Any]

MICROSECONDS = 1e-3  # of a nanosecond
KERNELS_OF = 10_000_000  # and a rank: the thread that stands for its kernels


def save_trace(
    telemetry: Telemetry, steps: tuple[int, int] | None, ranks: tuple[int, int] | None, path: Path
) -> int:
    """Write a trace and return the number of its events.

    Parameters
    ----------
    steps, ranks
        First and last one to show; None for all.
    path
        ``.json``, or ``.json.gz`` for a compressed file, which Perfetto reads as well.
    """
    events = trace_events(telemetry, steps, ranks)
    count = 0
    try:
        with whole_file(path) as beside, _open(beside, path.suffix == ".gz") as file:
            about = {f"octant.{key}": value for key, value in telemetry.files.metadata.items()}
            file.write(f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(about)},\n')
            file.write('"traceEvents": [\n')
            for event in events:
                file.write((",\n" if count else "") + json.dumps(event))
                count += 1
            file.write("\n]}\n")
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    return count


def trace_events(
    telemetry: Telemetry, steps: tuple[int, int] | None, ranks: tuple[int, int] | None
) -> Iterator[TraceEvent]:
    """Return the events of a trace in the trace-event format, as an iterator.

    Parameters
    ----------
    steps, ranks
        First and last one to show; None for all.

    Raises
    ------
    OctoolsError
        If there are no rows for them.
    """
    telemetry.require_steps()
    chosen = _condition("step", steps) + _condition("rank", ranks)
    if not telemetry.value(f"select count(*) from raw.ranks where true{chosen}"):
        raise OctoolsError(f"{telemetry.files.directory} has no rows for these steps and ranks")
    return _events(telemetry, chosen)


def _open(beside: Path, is_compressed: bool) -> AbstractContextManager[TextIO]:
    if is_compressed:
        return gzip.open(beside, "wt", compresslevel=5)  # type: ignore[return-value]
    return beside.open("w")


def _condition(column: str, span: tuple[int, int] | None) -> str:
    return "" if span is None else f" and {column} between {span[0]} and {span[1]}"


def _events(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    yield from _names(telemetry, chosen)
    yield from _steps(telemetry, chosen)
    yield from _scopes(telemetry, chosen)
    yield from _messages(telemetry, chosen)
    yield from _phases(telemetry, chosen)
    yield from _exchanges(telemetry, chosen)
    yield from _launches(telemetry, chosen)
    yield from _kernels(telemetry, chosen)
    yield from _counters(telemetry, chosen)


def _names(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    query = f"select distinct node, rank from ranks where true{chosen} order by node, rank"
    named = set()
    for node, rank in telemetry.stream(query):
        if node not in named:
            named.add(node)
            yield _meta("process_name", node, 0, {"name": f"node {node}"})
            yield _meta("process_sort_index", node, 0, {"sort_index": node})
        yield _meta("thread_name", node, rank, {"name": f"rank {rank}"})
        yield _meta("thread_sort_index", node, rank, {"sort_index": 2 * rank})
        yield _meta("thread_name", node, KERNELS_OF + rank, {"name": f"kernels of rank {rank}"})
        yield _meta("thread_sort_index", node, KERNELS_OF + rank, {"sort_index": 2 * rank + 1})


def _meta(name: str, node: int, rank: int, values: TraceEvent) -> TraceEvent:
    return {"ph": "M", "name": name, "pid": node, "tid": rank, "args": values}


def _slice(
    node: int, rank: int, name: str, phase: str, start: float, duration: float, values: TraceEvent
) -> TraceEvent:
    return {
        "ph": "X",
        "name": name,
        "cat": phase,
        "pid": node,
        "tid": rank,
        "ts": start * MICROSECONDS,
        "dur": duration * MICROSECONDS,
        "args": values,
    }


def _steps(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    query = f"""
    select node, rank, step, start_ns, duration_ns, updates, work from ranks where true{chosen}"""
    for node, rank, step, start, duration, updates, work in telemetry.stream(query):
        values = {"updates": updates, "work": work}
        yield _slice(node, rank, f"step {step}", "step", start, duration, values)


def _scopes(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    query = f"""
    select node, rank, level, phase, name, start_ns, duration_ns from events
    where peer < 0{chosen} order by node, rank, start_ns, duration_ns desc"""
    for node, rank, level, phase, name, start, duration in telemetry.stream(query):
        values = {"level": level} if level >= 0 else {}
        yield _slice(node, rank, _title(phase, name), phase, start, duration, values)


def _title(phase: str, name: str) -> str:
    return name if phase == "compute" and name else f"{phase} {name}".rstrip()


def _messages(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    """Draw an arrow for each message whose both ends were recorded."""
    both = chosen.replace(" rank ", " s.rank ").replace(" step ", " s.step ")
    query = f"""
    select s.node, s.rank, s.start_ns, r.node, r.rank, r.start_ns + r.duration_ns, s.name, s.bytes
    from events s join events r on s.phase = 'send' and r.phase = 'wait' and r.rank = s.peer
      and r.peer = s.rank and r.name = s.name and r.level = s.level and r.sequence = s.sequence
      and r.segment = s.segment
    where s.sequence >= 0 and r.start_ns + r.duration_ns >= s.start_ns{both}
    order by s.start_ns"""
    yield from _arrows("message", telemetry.stream(query))


def _arrows(kind: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[TraceEvent]:
    for number, (node, rank, sent, peer_node, peer, arrived, name, size) in enumerate(rows):
        same = {"cat": "message", "name": name, "id": f"{kind} {number}"}
        here = {"pid": node, "tid": rank, "ts": sent * MICROSECONDS}
        there = {"pid": peer_node, "tid": peer, "ts": arrived * MICROSECONDS}
        yield {"ph": "s", **same, **here, "args": {"bytes": size}}
        yield {"ph": "f", "bp": "e", **same, **there}


# The place of each phase of a step without events: one after the other, by their first calls.
_LAID_OUT = """
  select node, step, rank, level, phase, name, calls, self_ns, cells, bytes,
    sum(self_ns) over (partition by step, rank order by start_ns, level, phase, name, task
      rows between unbounded preceding and current row) - self_ns as offset_ns
  from phases where step not in (select step from raw.events)"""


def _phases(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    query = f"""
    with laid_out as ({_LAID_OUT}{chosen})
    select l.node, rank, level, phase, name, r.start_ns + offset_ns, self_ns, calls, cells, l.bytes
    from laid_out l join raw.ranks r using (step, rank)"""
    for node, rank, level, phase, name, start, own, calls, cells, size in telemetry.stream(query):
        numbers = {"calls": calls, "cells": cells, "bytes": size}
        values = {key: value for key, value in numbers.items() if value}
        values |= {"level": level} if level >= 0 else {}
        yield _slice(node, rank, _title(phase, name), phase, int(start), own, values)


def _exchanges(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    """Draw an arrow for all messages of a component and pair of ranks in a step without events."""
    query = f"""
    with laid_out as ({_LAID_OUT}),
    placed as (
      select l.node, l.step, l.rank, l.phase, l.name, min(r.start_ns + offset_ns) as start_ns,
        max(r.start_ns + offset_ns + self_ns) as end_ns
      from laid_out l join raw.ranks r using (step, rank) where phase in ('send', 'wait')
      group by l.node, l.step, l.rank, l.phase, l.name)
    select s.node, s.rank, s.start_ns::bigint, w.node, w.rank,
      greatest(w.end_ns, s.start_ns)::bigint, m.component, m.bytes
    from (from messages where direction = 'send' and peer >= 0{chosen}) m
    join placed s on s.step = m.step and s.rank = m.rank and s.name = m.component
      and s.phase = 'send'
    join placed w on w.step = m.step and w.rank = m.peer and w.name = m.component
      and w.phase = 'wait'"""
    yield from _arrows("exchange", telemetry.stream(query))


def _launches(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    query = f"""
    select node, rank, level, name, part, start_ns, duration_ns, 0, 1 from launches
    where true{chosen} order by node, rank, start_ns, duration_ns desc"""
    yield from _kernel_slices(telemetry, query)


def _kernels(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    """Lay out the kernels of a step without launches from the moment when its first one began."""
    query = f"""
    select node, rank, level, name, part,
      (min(start_ns) over (partition by step, rank) + sum(duration_ns) over (partition by step, rank
        order by start_ns, level, name, part rows between unbounded preceding and current row)
        - duration_ns)::bigint, duration_ns, items, calls
    from kernels where step not in (select step from raw.launches){chosen}"""
    yield from _kernel_slices(telemetry, query)


def _kernel_slices(telemetry: Telemetry, query: str) -> Iterator[TraceEvent]:
    for node, rank, level, name, part, start, duration, items, calls in telemetry.stream(query):
        values: TraceEvent = {"part": part}
        numbers = {"items": items, "calls": calls if calls > 1 else 0}
        values |= {key: value for key, value in numbers.items() if value}
        values |= {"level": level} if level >= 0 else {}
        yield _slice(node, KERNELS_OF + rank, name, "kernel", start, duration, values)


def _counters(telemetry: Telemetry, chosen: str) -> Iterator[TraceEvent]:
    """Give the use of processors and the device over a step at its start, and memory at its end."""
    query = f"""
    with busy as (select step, rank, sum(duration_ns) as kernel_ns from raw.kernels group by all)
    select node, rank, start_ns, end_ns, cpu_ns / nullif(duration_ns, 0),
      100 * coalesce(kernel_ns, 0) / nullif(duration_ns, 0), memory_bytes / 1e6, device_bytes / 1e6
    from ranks left join busy using (step, rank) where true{chosen} order by end_ns"""
    has_device = bool(telemetry.files.metadata.get("gpu"))
    for node, rank, start, end, processors, kernels, memory, device in telemetry.stream(query):
        rows = [
            ("processors", "processors", start, processors),
            ("memory", "MB", end, memory),
            ("kernel time", "%", start, kernels if has_device else None),
            ("device memory", "MB", end, device if has_device or device else None),
        ]
        for name, unit, time, value in rows:
            if value is None:
                continue
            label = f"{name} of rank {rank}" + (f" [{unit}]" if unit != name else "")
            where = {"pid": node, "tid": rank, "ts": time * MICROSECONDS}
            yield {"ph": "C", "name": label, **where, "args": {unit: value}}
