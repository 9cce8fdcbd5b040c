"""Roofline analysis: performance of kernels relative to the limits of the machine.

A kernel says how many items it works on, and what one costs: bytes that it must read and write,
each value once, and operations of real numbers. Over its time these are rates, which the machine's
limits bound. Williams, Waterman & Patterson (2009), Commun. ACM 52, 65.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from octools.errors import OctoolsError
from octools.telemetry.database import Telemetry

QUERY = """
select name, sum(calls) as calls, sum(duration_ns) / 1e9 as seconds, sum(items) as items,
  sum(bytes) as bytes, sum(operations) as operations
from kernels group by name order by seconds desc"""

COLUMNS = (
    "calls", "seconds", "% of kernels", "ns/item", "B/item", "op/item", "GB/s", "Gop/s",
    "% of memory", "% of arithmetic", "kernel",
)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """Peak performance of one rank of a machine.

    Attributes
    ----------
    bytes_per_second
        Of its memory.
    operations_per_second
        Multiplications and additions of real numbers.
    """

    bytes_per_second: float
    operations_per_second: float

    @classmethod
    def read(cls, path: Path) -> "Machine":
        """Read what ``octant bench health --json FILE`` has measured."""
        try:
            rows = json.loads(path.read_text())
            measured = rows[0] if isinstance(rows, list) else rows
            return cls(
                float(measured["bytes_per_second_median"]),
                float(measured["flops_per_second_median"]),
            )
        except (OSError, ValueError, KeyError, IndexError, TypeError) as cause:
            raise OctoolsError(
                f"{path} is not an output file of `octant bench health --json {path}`: {cause!r}"
            ) from cause


@dataclass(frozen=True)
class Kernel:
    """Kernel, summed over all ranks and steps; its work is 0 if it was not recorded."""

    name: str
    calls: int
    seconds: float
    share: float
    items: int
    bytes: int
    operations: int

    def row(self, machine: Machine | None) -> list[str]:
        """Write the numbers of COLUMNS, empty where they are not known."""
        memory = self.bytes / self.seconds if self.seconds else 0.0
        arithmetic = self.operations / self.seconds if self.seconds else 0.0
        per_item = 1 / self.items if self.items else 0.0
        numbers = [
            self.seconds * 1e9 * per_item,
            self.bytes * per_item,
            self.operations * per_item,
            memory / 1e9,
            arithmetic / 1e9,
            100 * memory / machine.bytes_per_second if machine else 0.0,
            100 * arithmetic / machine.operations_per_second if machine else 0.0,
        ]
        shown = [f"{number:.3g}" if number else "" for number in numbers]
        first = [f"{self.calls}", f"{self.seconds:.4g}", f"{100 * self.share:.1f}"]
        return [*first, *shown, self.name]


def kernels(telemetry: Telemetry) -> list[Kernel]:
    """List the kernels of a run, the one that took longest first."""
    rows = telemetry.rows(QUERY)[1]
    total = sum(row[2] for row in rows) or 1.0
    return [
        Kernel(name, int(calls), seconds, seconds / total, int(items), int(size), int(operations))
        for name, calls, seconds, items, size, operations in rows
    ]


def share_that_counts(found: Sequence[Kernel]) -> float:
    """Return the share of all kernels' time that belongs to those which say what they cost."""
    return sum(kernel.share for kernel in found if kernel.bytes or kernel.operations)


def roofline(telemetry: Telemetry, machine: Machine | None) -> str:
    """Write a table of all kernels, and for how much of their time it holds rates."""
    found = kernels(telemetry)
    if not found:
        raise OctoolsError(
            f"{telemetry.files.directory} has no table of kernels: the run used a Kokkos tool, or "
            "was made with an older version of Octant"
        )
    rows = [COLUMNS, *(kernel.row(machine) for kernel in found)]
    table = _aligned(rows if machine else [without_limits(row) for row in rows])
    text = f"{table}\n{100 * share_that_counts(found):.1f} % of the kernel time has known rates"
    return text if machine else f"{text}\n{NO_LIMITS}"


NO_LIMITS = (
    "for fractions of the machine limits, run ./octant bench health --json FILE on the machine "
    "of the run, then use --machine FILE"
)


def without_limits(cells: Sequence[str]) -> list[str]:
    """Leave out the shares of a machine's limits, which are not known without ``--machine``."""
    return [*cells[:-3], cells[-1]]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for *numbers, name in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(numbers, widths, strict=False)]
        lines.append("  ".join([*cells, name]))
    return "\n".join(lines)
