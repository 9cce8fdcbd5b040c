"""Histories of a run on a GPU and of the same one on cores."""

from pathlib import Path
from typing import Any

# Largest difference from the reference, as a share of what a column's kind is at most. Transforms
# and powers of a GPU's libraries are not those of a processor.
TOLERANCE = 1e-9
# Columns that are what is left when all has been added up: their scale is another column's.
SCALE_OF = {
    "momentum": "absolute_momentum",
    "angular": "absolute_momentum",  # domains are about one unit of length wide
    "divergence": "max_u",
    "energy": "total_energy",  # outflow_energy
    "mean": "max_u",
}
OF_ABOUT_ONE = ("centre", "scalar")  # where nothing moves the mean from zero


def history_of(directory: Path) -> dict[str, list[float]]:
    """Read history.csv by columns."""
    rows = (directory / "history.csv").read_text().splitlines()
    names = rows[0].split(",")
    values = [[float(value) for value in row.split(",")] for row in rows[1:]]
    return {name: [row[n] for row in values] for n, name in enumerate(names)}


def kind_of(column: str) -> str:
    """Name what a column is of: `momentum` for `momentum_x`, and for `outflow_momentum_x`."""
    return column.removeprefix("outflow_").split("_")[0]


def compare(found: dict[str, list[float]], expected: dict[str, list[float]]) -> dict[str, Any]:
    """Find the largest difference of all columns, as a share of their kind's largest value."""
    largest: dict[str, float] = {}
    for name, values in expected.items():
        size = max(abs(value) for value in values)
        largest[kind_of(name)] = max(largest.get(kind_of(name), 0.0), size)
    worst, column, same = 0.0, "", 0
    for name, values in expected.items():
        if found.get(name) == values:
            same += 1
            continue
        other = expected.get(SCALE_OF.get(kind_of(name), ""), [0.0])
        least = 1.0 if kind_of(name) in OF_ABOUT_ONE else 1e-300
        scale = max(largest[kind_of(name)], max(abs(value) for value in other), least)
        pairs = zip(found.get(name, []), values, strict=False)
        apart = max((abs(a - b) / scale for a, b in pairs), default=float("inf"))
        if len(found.get(name, [])) != len(values):
            apart = float("inf")
        if not apart <= worst:
            worst, column = apart, name
    good = worst <= TOLERANCE
    status = "the same bits" if same == len(expected) else f"{worst:.1e} apart in {column}"
    return {
        "status": status if good else f"FAILED: {status}",
        "difference": worst,
        "columns": len(expected),
        "columns_with_same_bits": same,
    }
