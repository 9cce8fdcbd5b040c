"""Machines of the performance model: network, node and GPU."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from octools.errors import OctoolsError, unknown_name

NAMED = Path(__file__).with_name("machines.toml")


@dataclass(frozen=True)
class Machine:
    """Machine of the model. All rates are those of one direction.

    Attributes
    ----------
    name, source
        Name, and where its numbers are from.
    latency_seconds
        Time of a short message between two nodes.
    message_seconds
        Additional time of each further message that a rank sends at once.
    node_bytes_per_second
        Bandwidth of the network adapters of a node.
    reduction_seconds
        Time of a reduction of one number for each doubling of the number of ranks.
    taper
        Relative loss of bandwidth in all-to-all exchanges with each doubling of the number of
        nodes.
    ranks_per_node
        Ranks on a node.
    memory_bytes_per_second
        Memory bandwidth of a rank; messages within a node are copied twice.
    rank_speed
        Speed of a rank relative to a rank of the recorded runs: threads, clock rate.
    launch_seconds, transfer_bytes_per_second, kernel_speed
        GPU of a rank: time of a kernel launch, bandwidth between host and device (B), and speed of
        kernels relative to the host part of a rank; 0 without a GPU.
    """

    name: str
    source: str
    latency_seconds: float
    message_seconds: float
    node_bytes_per_second: float
    reduction_seconds: float
    taper: float = 0.0
    ranks_per_node: int = 1
    memory_bytes_per_second: float = 1e10
    rank_speed: float = 1.0
    launch_seconds: float = 0.0
    transfer_bytes_per_second: float = 0.0
    kernel_speed: float = 0.0

    @property
    def has_gpu(self) -> bool:
        """True if ranks have a GPU."""
        return self.kernel_speed > 0

    def nodes(self, ranks: int) -> int:
        """Return the number of nodes of a number of ranks."""
        return math.ceil(ranks / self.ranks_per_node)

    def reduction(self, ranks: int) -> float:
        """Return the seconds of a reduction over all ranks."""
        return self.reduction_seconds * math.ceil(math.log2(ranks))

    def all_to_all_bytes_per_second(self, ranks: int) -> float:
        """Return the bandwidth of a node in an exchange in which all ranks send to all ranks."""
        doublings = math.log2(self.nodes(ranks))
        return float(self.node_bytes_per_second * (1 - self.taper) ** doublings)


def find_machine(name: str) -> Machine:
    """Return a named machine, or read a TOML file or output of `octant bench --json`."""
    path = Path(name)
    if path.suffix == ".json":
        return fit_network(_rows(path))
    if path.suffix == ".toml":
        return _machine(path.stem, _tables(path).get("machine", {}), str(path))
    tables = _tables(NAMED)
    if name not in tables:
        raise unknown_name("machine", name, tables, "the performance model")
    return _machine(name, tables[name], str(NAMED))


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError) as cause:
        raise OctoolsError(f"cannot read the machine {path}: {cause}") from cause


def _machine(name: str, table: Mapping[str, Any], where: str) -> Machine:
    known = {field.name for field in fields(Machine)} - {"name"}
    for key in table:
        if key not in known:
            raise unknown_name("key", key, known, where)
    try:
        machine = Machine(name=name, **table)
    except TypeError as cause:
        raise OctoolsError(f"{where}: machine {name}: {cause}") from cause
    for field in fields(Machine):
        value = getattr(machine, field.name)
        if field.name not in ("name", "source") and not (
            isinstance(value, (int, float)) and math.isfinite(value) and value >= 0
        ):
            raise OctoolsError(f"{where}: {field.name} = {value!r}; expected a number >= 0")
    for positive in ("node_bytes_per_second", "memory_bytes_per_second", "rank_speed"):
        if getattr(machine, positive) <= 0:
            raise OctoolsError(f"{where}: expected {positive} > 0")
    if machine.has_gpu and machine.transfer_bytes_per_second <= 0:
        raise OctoolsError(f"{where}: a GPU requires transfer_bytes_per_second > 0")
    if machine.ranks_per_node < 1 or machine.taper >= 1:
        raise OctoolsError(f"{where}: expected ranks_per_node >= 1 and taper < 1")
    return machine


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        return list(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as cause:
        raise OctoolsError(f"cannot read the benchmark output {path}: {cause}") from cause


def fit_network(rows: Sequence[Mapping[str, Any]]) -> Machine:
    """Fit a network to rows of `octant bench collectives --json` and `octant bench mpi --json`.

    Latency and bandwidth are those of the ring, whose messages go to the next rank; the time of a
    reduction is that of one double; the time of each further message is that of the largest burst.
    """
    ring = [row for row in rows if row.get("call") == "ring"]
    reductions = [
        row for row in rows if row.get("call") == "all_reduce" and row["doubles"] == 1
    ]  # fmt: skip
    if len(ring) < 2 or not reductions:
        raise OctoolsError(
            "expected the output of `octant -n N bench collectives --json`: two sizes of `ring`, "
            "and `all_reduce`"
        )
    seconds = np.array([row["least_seconds"] for row in ring])
    bytes_sent = 8.0 * np.array([row["doubles"] for row in ring])
    matrix = np.stack([1 / seconds, bytes_sent / seconds], axis=1)  # relative deviations
    latency, per_byte = np.linalg.lstsq(matrix, np.ones(len(ring)), rcond=None)[0]
    doublings = [math.log2(row["ranks"]) for row in reductions]
    steps = [
        row["least_seconds"] / n for row, n in zip(reductions, doublings, strict=True) if n > 0
    ]
    bursts = [row for row in rows if row.get("probe") == "burst"]
    each = max(bursts, key=lambda row: row["messages"])["seconds_each"] if bursts else latency
    if not steps or per_byte <= 0 or latency <= 0:
        raise OctoolsError("the benchmark output has no positive latency and bandwidth on >1 ranks")
    return Machine(
        name="fitted",
        source="octant bench collectives",
        latency_seconds=float(latency),
        message_seconds=float(each),
        node_bytes_per_second=float(1 / per_byte),
        reduction_seconds=float(np.mean(steps)),
    )
