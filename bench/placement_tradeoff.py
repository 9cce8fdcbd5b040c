#!/usr/bin/env python3
"""Draws what every placement policy makes of even loads against bytes between nodes.

    bench/placement_tradeoff.py COSTS.csv... --mesh LEAVES.csv --program build/release/octant

Runs `octant bench placement` for every policy and every X of cplx, on 4096 ranks in nodes of 16,
and writes one panel per file of costs: the largest load over the mean one against the share of all
bytes between neighbours that leave a node. Prints the numbers as a table.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

ONE_SHOT = ("baseline", "exact", "cdp", "cdp_chunked", "node")
PERCENTS = (0, 5, 10, 25, 50, 75, 100)
MARKERS = {"baseline": "s", "exact": "D", "cdp": "v", "cdp_chunked": "^", "node": "*"}
# Where a label stands beside its point, in points; the contiguous policies lie close together.
LABELS = {
    "baseline": (9, -3),
    "exact": (-32, -3),
    "cdp": (9, -9),
    "cdp_chunked": (9, 4),
    "node": (11, -4),
}


def place(options: argparse.Namespace, costs: Path, policy: str, percent: float) -> dict[str, Any]:
    """Compute one placement."""
    words = ["--costs", costs, "--mesh", options.mesh, "--ranks", options.ranks, "--json"]
    words += ["--policy", policy, "--x", percent, "--node-size", 16, "--repeats", 3]
    command = [str(options.program), "bench", "placement", *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    result["off_node"] = 100.0 * result["off_node_bytes"] / result["total_bytes"]
    return result


def draw(axes: plt.Axes, options: argparse.Namespace, costs: Path) -> None:
    """Fill the panel of one file of costs."""
    curve = [place(options, costs, "cplx", percent) for percent in PERCENTS]
    x = [result["off_node"] for result in curve]
    y = [result["makespan_over_mean"] for result in curve]
    axes.plot(x, y, "o-", color="#6b7280", markersize=5, linewidth=1.2, zorder=1)
    for percent, result in zip(PERCENTS, curve, strict=True):
        report(costs, f"cplx {percent}", result)
        if percent in (25, 50, 75):
            point = (result["off_node"], result["makespan_over_mean"])
            text = "cplx, X = 25" if percent == 25 else str(percent)
            axes.annotate(text, point, (0, -15), textcoords="offset points", ha="center")
    axes.annotate("lpt (100)", (x[-1], y[-1]), (4, 9), textcoords="offset points", ha="right")
    for policy in ONE_SHOT:
        result = place(options, costs, policy, 25)
        report(costs, policy, result)
        point = (result["off_node"], result["makespan_over_mean"])
        best = policy == "node"
        axes.plot(
            *point,
            MARKERS[policy],
            color="#c2410c" if best else "#1d4ed8",
            markersize=14 if best else 7,
            zorder=2,
        )
        axes.annotate(
            policy,
            point,
            LABELS[policy],
            textcoords="offset points",
            color="#c2410c" if best else "#1d4ed8",
            fontweight="bold" if best else "normal",
        )
    axes.set_title(costs.stem.split("_")[1], fontsize=11)
    axes.set_xlabel("bytes that leave a node (%)")
    axes.set_xlim(30, 103)
    axes.margins(y=0.1)
    axes.grid(color="#e5e7eb", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def report(costs: Path, name: str, result: dict[str, Any]) -> None:
    """Print a row of the table."""
    share, makespan = result["off_node"], result["makespan_over_mean"]
    milliseconds = 1e3 * result["seconds"]
    print(f"{costs.stem:42} {name:12} {makespan:7.4f} {share:6.1f} % {milliseconds:8.2f} ms")


def main() -> int:
    """Measure and draw; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("costs", type=Path, nargs="+")
    parser.add_argument("--mesh", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--output", type=Path, default=Path("docs/placement_tradeoff.png"))
    options = parser.parse_args()
    plt.rcParams["font.size"] = 9
    figure, panels = plt.subplots(1, len(options.costs), figsize=(4.2 * len(options.costs), 4.0))
    for axes, costs in zip(panels, options.costs, strict=True):
        draw(axes, options, costs)
    panels[0].set_ylabel("largest load / mean load")
    figure.tight_layout()
    figure.savefig(options.output, dpi=110)
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
