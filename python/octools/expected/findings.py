"""Results of the functions for examples: numbers and charts; and access to a run."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from octools.chart import Chart
from octools.flow import FlowSnapshot
from octools.loading import CellData
from octools.run import snapshots
from octools.snapshot import Array


@dataclass(frozen=True)
class Number:
    """Number from a run, and the expected number.

    Attributes
    ----------
    what
        What it is.
    found, expected
        The two.
    tolerance
        How far apart they may be.
    """

    what: str
    found: float
    expected: float
    tolerance: float

    @property
    def passes(self) -> bool:
        """True if the number agrees with the expected one within the tolerance."""
        return bool(abs(self.found - self.expected) <= self.tolerance)

    def __str__(self) -> str:
        """Return the result as one line of text."""
        word = "PASS" if self.passes else "DEVIATES"
        return (
            f"{word:<9} {self.what}: {self.found:.5g}, expected {self.expected:.5g} "
            f"within {self.tolerance:.2g}"
        )


Findings = list[Number | Chart]


def last_cells(run: Path) -> CellData:
    """Read the leaf cells of a run's newest snapshot."""
    found = snapshots(run)
    return CellData(found[max(found)])


def on_line(cells: CellData, axis: str, field: str, where: Array) -> tuple[Array, Array]:
    """Return positions along an axis and a field there, of chosen cells, in ascending order.

    Cells at the same place, as across a slab, count as one.
    """
    place, first = np.unique(np.round(cells[axis][where], 12), return_index=True)
    return place, cells[field][where][first]


def crossing(place: Array, values: Array, level: float) -> float:
    """Find the last place where values pass a level, between cells by a straight line."""
    above = np.flatnonzero((values[:-1] > level) != (values[1:] > level))
    if len(above) == 0:
        return float("nan")
    n = above[-1]
    share = (level - values[n]) / (values[n + 1] - values[n])
    return float(place[n] + share * (place[n + 1] - place[n]))


def middle_profile(run: Path, name: str) -> tuple[FlowSnapshot, Array, Array]:
    """Return heights of the last snapshot of a flow, and a field's means over y, shape (z, x)."""
    found = snapshots(run)
    flow = FlowSnapshot.read(found[max(found)])
    return flow, flow.centres[2], flow.at_centres(name).mean(axis=1)
