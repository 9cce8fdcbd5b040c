"""Numbers that Octant wants to reach on one H100 or H200, as found in results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Result = dict[str, Any]
Row = dict[str, Any]
Rows = list[Row]


@dataclass
class Goal:
    """A number, and how the results have it; None where they do not, yet."""

    wanted: float
    unit: str
    found: Callable[[Result], float | None]


def rows(results: Result, bench: str) -> Rows:
    """Give what a benchmark told."""
    return list(results.get("benches", {}).get(bench, {}).get("rows", []))


def updates(*benches: str, block_size: int) -> Callable[[Result], float | None]:
    """Find the largest rate of cells with blocks of this size."""

    def find(results: Result) -> float | None:
        rates = (
            row["cell_updates_per_second"]
            for bench in benches
            for row in rows(results, bench)
            if row["block_size"] == block_size
        )
        return max(rates, default=None)

    return find


def leaf_updates(results: Result) -> float | None:
    """Find the largest rate of a blast on an adaptive mesh."""
    return max((row["cell_updates_per_second"] for row in rows(results, "amr_sedov")), default=None)


def share_of_memory(results: Result) -> float | None:
    """Find the share of the triad's bandwidth that V-cycles on the largest grid take."""
    cycles = [row for row in rows(results, "multigrid") if row["cycles"] > 0]
    largest = max(cycles, key=lambda row: row["base_cells"], default=None)
    return None if largest is None else largest["share_of_triad"]


def cell_stages(results: Result) -> float | None:
    """Find the rate of a flow's Runge-Kutta stages."""
    rates = (
        3.0 * row["cells_x"] * row["cells_y"] * row["cells_z"] / row["seconds_per_step"]
        for row in rows(results, "dns explicit")
    )
    return max(rates, default=None)


def against_cores(results: Result) -> float | None:
    """Find how many times as fast as its host the GPU advances a piece of the universe."""
    speed = [
        results.get("cosmology", {}).get(name, {}).get("cell_updates_per_second")
        for name in ("device", "host")
    ]
    return speed[0] / speed[1] if speed[0] and speed[1] else None


def agreeing(results: Result) -> float | None:
    """Count the examples whose first steps are those of cores, of those that were run."""
    found = results.get("examples", {}).values()
    good = [not str(result["status"]).startswith("FAILED") for result in found]
    return sum(good) / len(good) if good else None


MUSCL = ("muscl_hancock", "muscl_hancock 256^3")
GOALS: dict[str, Goal] = {
    "examples that agree with cores": Goal(1.0, "of those run", agreeing),
    "muscl_hancock, blocks of 16^3": Goal(1.5e9, "cells/s", updates(*MUSCL, block_size=16)),
    "muscl_hancock, blocks of 8^3": Goal(1.0e9, "cells/s", updates(*MUSCL, block_size=8)),
    "rk2, blocks of 16^3": Goal(0.8e9, "cells/s", updates("rk2", block_size=16)),
    "rk2, blocks of 8^3": Goal(0.5e9, "cells/s", updates("rk2", block_size=8)),
    "rk3 with ppm, blocks of 16^3": Goal(0.3e9, "cells/s", updates("rk3 ppm", block_size=16)),
    "blast on an adaptive mesh": Goal(0.4e9, "leaf cells/s", leaf_updates),
    "V-cycles on 256^3": Goal(0.3, "of memory's bandwidth", share_of_memory),
    "flow of 256 x 192 x 256, explicit": Goal(1.5e9, "cell stages/s", cell_stages),
    "cosmology, 64^3": Goal(15.0, "times as fast as its host's cores", against_cores),
}


def against_goals(results: Result) -> Result:
    """Set what was found beside what was wanted."""
    table: Result = {}
    for name, goal in GOALS.items():
        found = goal.found(results)
        reached = None if found is None else found >= goal.wanted
        table[name] = {"wanted": goal.wanted, "found": found, "unit": goal.unit, "reached": reached}
    return table


def lines_of(table: Result) -> list[str]:
    """Say it in words."""
    return [
        f"{name}: {'not measured' if row['found'] is None else format(row['found'], '.3g')}"
        f" {row['unit']}, wanted {row['wanted']:.3g}"
        for name, row in table.items()
    ]
