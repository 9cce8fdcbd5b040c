"""A small parallel program that never ran: its clocks are simulated, its telemetry is written.

Ranks on a ring exchange ghost data in rounds (post sends, compute, wait, unpack) and meet in a
collective call at the end of each step, so that who waits for whom, and how long, is consistent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from octools.telemetry.schema import TABLES, VERSION

Times = NDArray[np.int64]
Rows = dict[str, list[dict[str, Any]]]

ARROW = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
}
LATENCY_NS = 2_000
NS_PER_BYTE = 0.1


@dataclass
class MadeUpRun:
    """A run to be.

    Attributes
    ----------
    slow
        How many times longer the kernels of a rank take.
    slow_steps
        The steps in which they do.
    late_ns
        How long a rank hesitates before it posts its sends.
    blocked_ns
        How long a rank's sends block it in every tenth step, without any peer being late.
    preempted
        Whether ranks lose their processors now and then, and share them unevenly.
    processor_share
        How much of a processor every rank has.
    work
        Relative work of each rank; 1 where left out.
    dear
        How many times longer a rank's cells take, as its work units say.
    volume
        Relative bytes that each rank sends; as its work where left out.
    stuck_ns
        How long a rank stands still in each step although its messages are there.
    rounds
        The level of each round of a step: one coarse step and two finer ones.
    parts
        Nanoseconds of further parts of the program, by name and level, on every rank in each step.
    detail
        Steps with rows in the table of events.
    sampling
        How many executions there are per sample; 0 for no samples.
    device_bytes
        Arrays in device memory.
    circumstances
        What the files say of the machine, by key.
    """

    ranks: int = 2
    steps: int = 40
    ranks_per_node: int = 4
    seed: int = 1
    cells: int = 40_000
    slow: Mapping[int, float] = field(default_factory=dict)
    slow_steps: range = range(10**9)
    late_ns: Mapping[int, int] = field(default_factory=dict)
    blocked_ns: Mapping[int, int] = field(default_factory=dict)
    preempted: bool = False
    processor_share: float = 1.0
    work: Mapping[int, float] = field(default_factory=dict)
    dear: Mapping[int, float] = field(default_factory=dict)
    volume: Mapping[int, float] = field(default_factory=dict)
    stuck_ns: Mapping[int, int] = field(default_factory=dict)
    rounds: tuple[int, ...] = (0, 1, 1)
    parts: Mapping[tuple[str, int], int] = field(default_factory=dict)
    detail: range = range(0)
    sampling: int = 100
    device_bytes: int = 0
    window: int = 16
    run_id: str = "0123456789abcdef"
    schema: int = VERSION
    circumstances: Mapping[str, object] = field(default_factory=dict)

    def write(self, directory: Path, first: int = 0, segment: int = 0) -> Path:
        """Write the files of steps `first` and on into DIR/telemetry."""
        folder = directory / "telemetry"
        folder.mkdir(parents=True, exist_ok=True)
        self._start(segment)
        for begin in range(first, self.steps, self.window):
            end = min(begin + self.window, self.steps)
            self._rows: Rows = defaultdict(list)
            for step in range(begin, end):
                self._step(step)
            self._write_window(folder, begin, end - 1)
        return directory

    def _start(self, segment: int) -> None:
        self._segment = segment
        self._random = np.random.default_rng(self.seed + 1000 * segment)
        self._now = np.zeros(self.ranks, np.int64)
        self._sequence: dict[tuple[str, int, int, int], int] = defaultdict(int)
        self._executions = 0
        self._speed = np.ones(self.ranks)
        if self.preempted:
            self._speed += self._random.uniform(0, 0.5, self.ranks)

    # --- What a step does ---

    def _step(self, step: int) -> None:
        self._number = step
        self._begin = self._now.copy()
        self._phases: dict[tuple[int, int, str, str], dict[str, Any]] = {}
        self._kernels: dict[tuple[int, int, str], dict[str, Any]] = {}
        self._messages: dict[tuple[int, int, str], dict[str, Any]] = {}
        self._cpu = np.zeros(self.ranks, np.int64)
        for level in self.rounds:
            self._round(level)
        for (name, level), duration in self.parts.items():
            for rank in range(self.ranks):
                self._spend(rank, level, "compute", name, duration)
        self._collective("time_step")
        self._finish_step()

    def _round(self, level: int) -> None:
        begin, posted = self._now.copy(), self._post_sends(level)
        self._compute("sweep", level, ns_per_cell=60)
        self._receive(level, begin, posted)
        self._compute("fluxes", level, ns_per_cell=20)

    def _peers(self, rank: int) -> list[int]:
        return sorted({(rank - 1) % self.ranks, (rank + 1) % self.ranks} - {rank})

    def _post_sends(self, level: int) -> dict[tuple[int, int], int]:
        """Post what every rank sends; return when each message is on its way."""
        posted = {}
        for rank in range(self.ranks):
            begin = int(self._now[rank])
            self._spend(rank, level, "pack", "ghosts", 20_000, bytes_=self._bytes(rank))
            blocked = self.blocked_ns.get(rank, 0) if self._number % 10 == 9 and level == 0 else 0
            hesitation = self.late_ns.get(rank, 0)
            for peer in self._peers(rank):
                pair = (rank, peer)
                time = 3_000 + hesitation
                self._spend(rank, level, "send", "ghosts", time, cpu=3_000)
                self._message_event(rank, level, "send", int(self._now[rank]), LATENCY_NS, pair)
                hesitation = 0
                posted[rank, peer] = int(self._now[rank])
                row = self._message(rank, peer, "send", self._bytes(rank))
                row["post_ns"] += posted[rank, peer] - begin
                if blocked:
                    self._spend(rank, level, "wait", "ghosts", blocked)
                    row["wait_ns"] += blocked
                    blocked = 0
        return posted

    def _receive(self, level: int, begin: Times, posted: dict[tuple[int, int], int]) -> None:
        for rank in range(self.ranks):
            size = {peer: self._bytes(peer) for peer in self._peers(rank)}
            arrival = {
                peer: posted[peer, rank] + LATENCY_NS + int(NS_PER_BYTE * size[peer])
                for peer in size
            }
            stuck = self.stuck_ns.get(rank, 0) if level == 0 else 0
            for peer in sorted(arrival, key=arrival.__getitem__):
                start = int(self._now[rank])
                waited = max(0, arrival[peer] - start) + stuck
                stuck = 0
                row = self._message(rank, peer, "receive", size[peer])
                row["wait_ns"] += waited
                pair = (peer, rank)
                self._spend(rank, level, "wait", "ghosts", waited + 500)
                self._message_event(rank, level, "wait", start, waited, pair)
            self._spend(rank, level, "unpack", "ghosts", 15_000, bytes_=sum(size.values()))

    def _compute(self, name: str, level: int, ns_per_cell: int) -> None:
        for rank in range(self.ranks):
            factor = self.slow.get(rank, 1.0) if self._number in self.slow_steps else 1.0
            cells = int(self.cells * self.work.get(rank, 1.0))
            noise = self._random.lognormal(0, 0.03)
            cpu = int(cells * ns_per_cell * factor * self.dear.get(rank, 1.0) * noise)
            lost = int((self._speed[rank] / self.processor_share - 1) * cpu)
            if self.preempted and self._random.random() < 0.05:
                lost += int(self._random.exponential(8e6))
            self._spend(rank, level, "compute", name, cpu + lost, cells=cells, cpu=cpu)

    def _collective(self, name: str) -> None:
        end = int(self._now.max()) + 20_000
        for rank in range(self.ranks):
            self._spend(rank, -1, "collective", name, end - int(self._now[rank]))

    # --- What is written down ---

    def _bytes(self, rank: int) -> int:
        return int(80_000 * self.volume.get(rank, self.work.get(rank, 1.0)))

    def _spend(
        self,
        rank: int,
        level: int,
        phase: str,
        name: str,
        duration: int,
        cells: int = 0,
        bytes_: int = 0,
        cpu: int | None = None,
    ) -> None:
        step = self._task(rank, -1, "other", "step", -1)
        around = step
        if name == "ghosts":
            around = self._task(rank, level, "other", "exchange", step["task"])
        row = self._task(rank, level, phase, name, around["task"])
        for outer in (step, around)[: 1 + (around is not step)]:
            outer["total_ns"] += duration
        added = duration if cpu is None else cpu
        more = {"calls": 1, "total_ns": duration, "self_ns": duration, "cpu_ns": added}
        for key, value in (more | {"cells": cells, "bytes": bytes_}).items():
            row[key] += value
        self._event(rank, level, phase, name, int(self._now[rank]), duration)
        self._sample(rank, row, duration, "task")
        if cells:
            self._kernel(rank, level, name, duration, cells)
        self._now[rank] += duration
        self._cpu[rank] += added

    def _task(self, rank: int, level: int, phase: str, name: str, parent: int) -> dict[str, Any]:
        """Find the row of a task, or begin one."""
        key = (rank, level, phase, name)
        if key not in self._phases:
            self._phases[key] = {
                **self._first(),
                "rank": rank,
                "level": level,
                "phase": phase,
                "name": name,
                "task": sum(other[0] == rank for other in self._phases),
                "parent": parent,
                "calls": int(phase == "other"),
                "start_ns": int(self._now[rank]),
                "total_ns": 0,
                "self_ns": 0,
                "cpu_ns": 0,
                "cells": 0,
                "bytes": 0,
            }
        return self._phases[key]

    def _kernel(self, rank: int, level: int, name: str, duration: int, cells: int) -> None:
        """Note a kernel that runs while its part of the program lasts."""
        launch = {
            **self._first(),
            "rank": rank,
            "level": level,
            "name": f"hydro::{name}",
            "part": name,
            "task": self._phases[rank, level, "compute", name]["task"],
            "start_ns": int(self._now[rank]),
            "duration_ns": duration,
        }
        if self._number in self.detail:
            self._rows["launches"].append(launch)
        self._sample(rank, launch, duration, "kernel")
        work = {"bytes": 80 * cells, "operations": 600 * cells}
        row = self._kernels.setdefault(
            (rank, level, name),
            launch | {"calls": 0, "duration_ns": 0, "items": 0, "bytes": 0, "operations": 0},
        )
        more = {"calls": 1, "duration_ns": duration, "items": cells, **work}
        for key, value in more.items():
            row[key] += value

    def _sample(self, rank: int, execution: dict[str, Any], duration: int, kind: str) -> None:
        """Note one execution in `sampling`."""
        self._executions += 1
        if self.sampling and self._executions % self.sampling == 0:
            names = ("segment", "step", "rank", "level", "name", "task")
            row = {name: execution[name] for name in names}
            times = {"start_ns": int(self._now[rank]), "duration_ns": duration}
            self._rows["samples"].append(row | {"kind": kind} | times)

    def _message_event(
        self, rank: int, level: int, phase: str, start: int, duration: int, pair: tuple[int, int]
    ) -> None:
        """Note a message at one of its ends; `pair` is its sender and its receiver."""
        peer = pair[1] if rank == pair[0] else pair[0]
        sequence = self._sequence[phase, level, *pair]
        self._sequence[phase, level, *pair] += 1
        self._event(rank, level, phase, "ghosts", start, duration, peer, sequence)

    def _event(
        self,
        rank: int,
        level: int,
        phase: str,
        name: str,
        start: int,
        duration: int,
        peer: int = -1,
        sequence: int = -1,
    ) -> None:
        if self._number not in self.detail:
            return
        self._rows["events"].append(
            {
                **self._first(),
                "rank": rank,
                "level": level,
                "phase": phase,
                "name": name,
                "start_ns": start,
                "duration_ns": duration,
                "peer": peer,
                "sequence": sequence,
                "bytes": self._bytes(rank) if peer >= 0 else 0,
            }
        )

    def _message(self, rank: int, peer: int, direction: str, size: int) -> dict[str, Any]:
        row = self._messages.setdefault(
            (rank, peer, direction),
            {
                **self._first(),
                "rank": rank,
                "peer": peer,
                "component": "ghosts",
                "direction": direction,
                "messages": 0,
                "bytes": 0,
                "wait_ns": 0,
                "post_ns": 0,
            },
        )
        row["messages"] += 1
        row["bytes"] += size
        return row

    def _first(self) -> dict[str, int]:
        return {"segment": self._segment, "step": self._number}

    def _finish_step(self) -> None:
        updates = [
            int(len(self.rounds) * self.cells * self.work.get(r, 1.0)) for r in range(self.ranks)
        ]
        mesh = {"blocks": 8 * self.ranks, "leaf_cells": self.cells * self.ranks}
        span = {"start_ns": int(self._begin[0]), "end_ns": int(self._now[0])}
        self._rows["steps"].append(
            {
                **self._first(),
                "time": 0.01 * (self._number + 1),
                "dt": 0.01,
                **span,
                **mesh,
                "updates": sum(updates),
                "finest_level": 1,
                "regridded": self._number % 4 == 0,
                "rebalanced": self._number % 8 == 0,
            }
        )
        for rank in range(self.ranks):
            self._rows["ranks"].append(
                {
                    **self._first(),
                    "rank": rank,
                    "node": rank // self.ranks_per_node,
                    **span,
                    "cpu_ns": int(self._cpu[rank]),
                    "memory_bytes": 200_000_000 + 1_000_000 * rank + 50_000 * self._number,
                    "memory_peak_bytes": 300_000_000,
                    "data_bytes": 100_000_000,
                    "device_bytes": self.device_bytes,
                    "blocks": 8,
                    "leaf_cells": self.cells,
                    "updates": updates[rank],
                    "work": updates[rank] * self.dear.get(rank, 1.0),
                }
            )
            self._rows["blocks"] += self._blocks_of(rank)
        self._rows["phases"] += self._phases.values()
        self._rows["kernels"] += self._kernels.values()
        self._rows["messages"] += self._messages.values()
        if self._number % 8 == 0:
            self._rows["placement"] += [self._placement(level) for level in (0, 1)]

    def _blocks_of(self, rank: int) -> list[dict[str, Any]]:
        blocks = [(0, 0), (0, 1), *((1, n) for n in range(6))]
        return [
            {
                **self._first(),
                "rank": rank,
                "level": level,
                "key": 8 * rank + n,
                "updates": 1 + level,
                "cost_ns": 1e6 * self.work.get(rank, 1.0),
                "work": self.cells / 8 * (1 + level),
                "gravity_ns": 0.0,
                "cells_ns": 0.0,
                "particles_ns": 0.0,
                "interactions_ns": 0.0,
            }
            for level, n in blocks
        ]

    def _placement(self, level: int) -> dict[str, Any]:
        return {
            **self._first(),
            "level": level,
            "policy": "cplx",
            "cplx_x": 25.0,
            "makespan_before": 1.3 + 0.01 * level,
            "makespan_after": 1.05,
            "blocks_moved": 3,
            "bytes_moved": 3 * 40_960,
            "off_rank_share": 0.4,
            "off_node_share": 0.2,
            "duration_ns": 150_000,
        }

    def _write_window(self, folder: Path, first: int, last: int) -> None:
        for table, columns in TABLES.items():
            rows = self._rows[table]
            nodes = {self._node_of(table, row) for row in rows}
            for node in sorted(nodes):
                own = [row for row in rows if self._node_of(table, row) == node]
                path = folder / f"{table}-{first:08d}-{last:08d}-n{node:04d}.parquet"
                schema = pa.schema([(name, ARROW[kind]) for name, (kind, _) in columns.items()])
                data = pa.Table.from_pylist(own, schema=schema.with_metadata(self._metadata()))
                pq.write_table(data, path, compression="zstd")

    def _node_of(self, table: str, row: dict[str, Any]) -> int:
        return 0 if table in ("steps", "placement") else row["rank"] // self.ranks_per_node

    def _metadata(self) -> dict[str, str]:
        return {
            "octant.schema": str(self.schema),
            "octant.run": self.run_id,
            "octant.segment": str(self._segment),
            "octant.ranks": str(self.ranks),
            "octant.ranks_per_node": str(self.ranks_per_node),
            "octant.model": "amr",
            "octant.block_size": "8",
            "octant.detail": "full" if len(self.detail) else "phases",
            "octant.start_unix_ns": "1700000000000000000",
            "octant.clock_error_ns": "800",
            **{f"octant.{key}": str(value) for key, value in self.circumstances.items()},
        }
