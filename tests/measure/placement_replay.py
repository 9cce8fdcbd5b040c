#!/usr/bin/env python3
"""Replays the main experiment of the CPLX paper (table I, figs. 6 and 7) from runs of Octant.

    tests/measure/placement_replay.py

Runs the Sedov blast in boxes of 512, 1024, 2048 and 4096 blocks for a few steps each, and replays
the recorded costs of blocks on as many ranks as there were initial blocks (`octant bench placement
--replay`). Runs galaxies with cooling, stars and black holes in a box of 512 base blocks of 4^3
cells to z = 2, continues the run for 24 steps, and replays these on 512, 1024 and 2048 ranks, and
with 64 blocks for each of them on 32,768, 65,536 and 131,072 ranks. Fits latency and
bandwidth to `octant bench comm`; on a machine with other programs, use `--network` instead.
Writes cplx_replay.csv with a row per case and policy, and cplx_replay.png with figures like 6a-6c
and 7a-7c. The blocks of the paper have 16^3 cells: `--block-size 16`.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, octant_command, octant_environment

Row = dict[str, Any]

SEDOV = {512: (8, 8, 8), 1024: (8, 8, 16), 2048: (8, 16, 16), 4096: (16, 16, 16)}  # blocks
PARTS = ("compute", "communication", "synchronisation", "rebalancing")
COLOURS = ("#1f5a94", "#c8553d", "#9aa7b8", "#b8860b")
PERCENTS = "0,25,50,75,100"
DISTRIBUTIONS = ("exponential", "gauss60_5", "powerlaw")
GALAXY_STEPS, FURTHER_STEPS = 68, 24  # to z = 2, and recorded from there
GALAXY_RANKS = {512: 0, 1024: 0, 2048: 0, 32768: 2, 65536: 2, 131072: 2}  # and subdivisions
SHORT = 4096  # most ranks of replays with X = 0 ... 100 in the figures
SCALES = (512, 2048, 8192, 32768, 131072)  # ranks of fig. 7c


def ask(*words: object, ranks: int = 1) -> list[Row]:
    """Run the program; return the JSON that it prints."""
    command = octant_command(*words, ranks=ranks)
    done = subprocess.run(
        command, env=octant_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    found = json.loads(done.stdout) if "--json" in words else []
    return found if isinstance(found, list) else [found]


def record(
    case: str, settings: list[str], steps: int, folder: Path, begin: Path | None = None
) -> Path:
    """Run an example to a step with the recorder, unless the folder contains the run."""
    if folder.is_dir():
        return folder
    words: list[object] = ["run", ROOT / f"examples/{case}.toml", "--output", folder]
    if begin:
        words += ["--restart", begin]
    always = [f"time.max_steps={steps}", "telemetry.enabled=true", "output.pictures=[]"]
    for setting in [*always, "output.snapshot_interval=0", *settings]:
        words += ["--set", setting]
    ask(*words)
    return folder


def sedov(blocks: int, options: argparse.Namespace, folder: Path) -> Path:
    """Run the blast in a box of a number of blocks; cells are as large in all boxes."""
    shape = SEDOV[blocks]
    size = options.block_size
    settings = [
        f"mesh.base_cells={[size * n for n in shape]}",
        f"mesh.block_size={size}",
        "mesh.max_level=1",
        f"mesh.upper={[n / 8 for n in shape]}",
        f"problem.centre={[n / 16 for n in shape]}",
    ]
    return record("sedov", settings, options.steps, folder / f"sedov_{blocks}")


def galaxies(folder: Path) -> Path:
    """Run galaxies to z = 2, and record the steps after it."""
    begin = record("cosmo256_small", [], GALAXY_STEPS, folder / "galaxies")
    end = ['cosmology.end="z = 0"']
    steps = GALAXY_STEPS + FURTHER_STEPS
    checkpoint = max(begin.glob("checkpoint_*.h5"))
    return record("cosmo256_small", end, steps, folder / "galaxies_on", checkpoint)


def replay_all(
    options: argparse.Namespace, folder: Path, network: tuple[float, float]
) -> dict[str, list[Row]]:
    """Run and replay all cases."""
    latency, bandwidth = network
    cases: dict[str, list[Row]] = {}

    def replay(run: Path, ranks: int, size: int, *more: object) -> list[Row]:
        words = ["bench", "placement", "--replay", run, "--node-size", 16, "--ranks", ranks]
        words += ["--latency", latency, "--bandwidth", bandwidth, "--block-bytes", 8 * 5 * size**3]
        return ask(*words, *more, "--json")

    for blocks in options.blocks:
        run = sedov(blocks, options, folder)
        cases[f"sedov {blocks}"] = replay(run, blocks, options.block_size)
    run = galaxies(folder)
    for ranks, times in GALAXY_RANKS.items():
        case = cases[f"galaxies {ranks}"] = replay(run, ranks, 4, "--subdivide", times)
        if times:  # planners of zones, as in a run on so many ranks
            for policy in ("zonal", "cdp_chunked"):
                case += replay(run, ranks, 4, "--subdivide", times, "--policy", policy)
    return cases


def fit_network() -> tuple[float, float]:
    """Fit seconds = constant + latency x messages + bytes / bandwidth of a rank, on two ranks."""
    rows = []
    for blocks_per_rank in (4, 16, 64):
        words = ["bench", "comm", "--policy", "cplx", "--x", "0,100", "--meshes", 3]
        words += ["--rounds", 50, "--blocks-per-rank", blocks_per_rank, "--json"]
        rows += ask(*words, ranks=2) + ask(*words, "--per-contact", ranks=2)
    rows = [row for row in rows if row["median_seconds"]]
    matrix = [[1.0, row["messages"] / 2, row["off_rank_bytes"] / 2] for row in rows]
    times = np.array([row["median_seconds"] for row in rows])
    # Relative deviations count, so that rounds with few messages determine the latency.
    scaled = np.array(matrix) / times[:, None]
    _, latency, per_byte = np.linalg.lstsq(scaled, np.ones(len(rows)), rcond=None)[0]
    return max(latency, 1e-9), 1 / max(per_byte, 1e-12)


def name_of(row: Row) -> str:
    """Label a policy in plots."""
    return f"X = {row['x']:g}" if row["policy"] == "cplx" else row["policy"]


def shown(cases: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Cases of the figures: those on the ranks of the paper."""
    return {case: rows for case, rows in cases.items() if rows[0]["ranks"] <= SHORT}


def write_table(cases: dict[str, list[Row]], path: Path) -> None:
    """Write all rows of all cases."""
    columns = ["case", *next(iter(cases.values()))[0]]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for case, rows in cases.items():
            for row in rows:
                short = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}
                writer.writerow({"case": case, **short})


def report(cases: dict[str, list[Row]]) -> None:
    """Print the numbers that the documentation cites."""
    for case, rows in cases.items():
        first = rows[0]
        print(
            f"{case}: {first['steps']} steps, {first['rebalancings']} placements, "
            f"{first['initial_blocks']} to {first['final_blocks']} blocks"
        )
        for row in rows:
            gain = 100 * (1 - row["total_seconds"] / first["total_seconds"])
            shares = [100 * row[f"{part}_seconds"] / row["total_seconds"] for part in PARTS]
            relative = [row[f"{part}_seconds"] / first[f"{part}_seconds"] for part in PARTS[1:3]]
            messages = row["messages_in_node"] + row["messages_off_node"]
            print(
                f"  {name_of(row):9} gain {gain:5.1f} %, parts "
                + " ".join(f"{share:.0f}" for share in shares)
                + f" %, communication {relative[0]:.2f}, synchronization {relative[1]:.2f}, "
                f"remote {100 * row['messages_off_node'] / messages:.0f} %, "
                f"max/mean {row['makespan_over_mean']:.3f}, "
                f"plan {1e3 * row['planning_seconds'] / row['rebalancings']:.2f} ms"
            )


def draw_times(axes: plt.Axes, cases: dict[str, list[Row]]) -> None:
    """Fig. 6a: time by part and policy, relative to the baseline of each case."""
    place, ticks, labels = 0.0, [], []
    for case, rows in cases.items():
        for row in rows:
            bottom = 0.0
            for part, colour in zip(PARTS, COLOURS, strict=True):
                height = row[f"{part}_seconds"] / rows[0]["total_seconds"]
                axes.bar(place, height, 0.8, bottom, color=colour, label=part if not place else "")
                bottom += height
            place += 1
        ticks.append(place - len(rows) / 2 - 0.5)
        labels.append(case)
        place += 1
    axes.set_xticks(ticks, [label.replace(" ", "\n") for label in labels], fontsize=8)
    axes.set_ylabel("time / baseline")
    axes.set_title("6a: baseline, X = 0 ... 100, node", loc="left")
    axes.legend(fontsize=7, ncols=2, loc="upper left")


def draw_tradeoff(axes: plt.Axes, cases: dict[str, list[Row]]) -> None:
    """Fig. 6b: communication against synchronization."""
    for (case, rows), colour in zip(cases.items(), mpl.colormaps["tab10"].colors, strict=False):
        curve = [row for row in rows if row["policy"] == "cplx"]
        x = [row["x"] for row in curve]
        for part, style in zip(PARTS[1:3], ("o-", "s--"), strict=True):
            y = [row[f"{part}_seconds"] / rows[0][f"{part}_seconds"] for row in curve]
            axes.plot(x, y, style, color=colour, ms=4, label=case if style == "o-" else "")
    axes.set_xlabel("X")
    axes.set_ylabel("time / baseline")
    axes.set_title("6b: communication (solid), synchronization (dashed)", loc="left")
    axes.legend(fontsize=6)


def draw_messages(axes: plt.Axes, cases: dict[str, list[Row]]) -> None:
    """Fig. 6c: messages inside and between nodes, of the smallest and the largest blast."""
    place, ticks, labels = 0, [], []
    blasts = [case for case in cases if case.startswith("sedov")]
    for case in (blasts[0], blasts[-1]):
        rows = cases[case]
        whole = rows[0]["messages_in_node"] + rows[0]["messages_off_node"]
        for row in rows[:-1]:
            remote, local = row["messages_off_node"] / whole, row["messages_in_node"] / whole
            axes.bar(place, remote, color=COLOURS[1], label="" if place else "between nodes")
            axes.bar(
                place, local, 0.8, remote, color=COLOURS[0], label="" if place else "in a node"
            )
            ticks.append(place)
            labels.append("base" if row["policy"] == "baseline" else f"{row['x']:g}")
            place += 1
        place += 1
    axes.set_xticks(ticks, labels, fontsize=7)
    axes.set_ylabel("messages / baseline")
    axes.set_title(f"6c: {blasts[0]} and {blasts[-1]}", loc="left")
    axes.legend(fontsize=7, loc="lower right")


def draw_rounds(axes: plt.Axes, ranks: int) -> None:
    """Fig. 7a: time of a round of messages by X."""
    words = ["bench", "comm", "--per-contact", "--policy", "cplx", "--x", PERCENTS, "--json"]
    rows = ask(*words, ranks=ranks)
    axes.plot([r["x"] for r in rows], [1e3 * (r["mean_seconds"] or np.nan) for r in rows], "o-")
    axes.set_xlabel("X")
    axes.set_ylabel("time of a round [ms]")
    axes.set_title(f"7a: commbench on {ranks} ranks", loc="left")
    for row in rows:
        print(
            f"commbench X = {row['x']:g}: {row['mean_seconds']} s, "
            f"{row['rounds_dropped']} of {row['rounds_dropped'] + row['rounds']} rounds dropped"
        )


def draw_balance(axes: plt.Axes) -> None:
    """Fig. 7b: largest over mean load by X for three distributions of costs."""
    for distribution, colour in zip(DISTRIBUTIONS, COLOURS, strict=False):
        words = ["bench", "placement", "--distribution", distribution, "--repeats", 1, "--json"]
        found = [
            ask(*words, "--policy", "cplx", "--x", x)[0]["makespan_over_mean"]
            for x in PERCENTS.split(",")
        ]
        axes.plot([int(x) for x in PERCENTS.split(",")], found, "o-", color=colour, ms=4,
                  label=distribution)  # fmt: skip
        print(f"scalebench {distribution}: {[round(value, 3) for value in found]}")
    axes.set_xlabel("X")
    axes.set_ylabel("maximum / mean load")
    axes.set_title("7b: 8968 blocks on 4096 ranks", loc="left")
    axes.legend(fontsize=7)


def draw_costs(axes: plt.Axes) -> None:
    """Fig. 7c: time of a placement by the number of ranks."""
    policies = ("cplx", "exact", "node", "zonal", "cdp_chunked")
    for policy, colour in zip(policies, (*COLOURS, "#3f7d58"), strict=True):
        times = []
        for ranks in SCALES:
            words = ["bench", "placement", "--policy", policy, "--blocks", 2 * ranks]
            times += ask(*words, "--ranks", ranks, "--repeats", 3, "--json")
        slowest = [1e3 * row["slowest_zone_seconds"] for row in times]
        axes.loglog(SCALES, slowest, "o-", color=colour, ms=4, label=policy)
        print(f"placement {policy}: {[round(value, 2) for value in slowest]} ms on {SCALES} ranks")
    axes.axhline(50, color="#22262b", ls=":", lw=1, label="budget")
    axes.set_xlabel("ranks")
    axes.set_ylabel("time of a placement [ms]")
    axes.set_title("7c: slowest zone", loc="left")
    axes.legend(fontsize=7)


def main() -> None:
    """Run, replay and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--block-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--blocks", type=int, nargs="+", default=list(SEDOV))
    parser.add_argument("--network", type=float, nargs=2, metavar=("LATENCY", "BANDWIDTH"),
                        help="in s and B/s, instead of those of this machine")  # fmt: skip
    parser.add_argument(
        "--runs", type=Path, help="folder of the runs; those in it are not repeated"
    )
    parser.add_argument("--comm-ranks", type=int, default=2, help="ranks of fig. 7a")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/papers")
    options = parser.parse_args()
    network = options.network or fit_network()
    print(f"latency {1e6 * network[0]:.3g} us, bandwidth {1e-9 * network[1]:.3g} GB/s")
    with tempfile.TemporaryDirectory() as scratch:
        cases = replay_all(options, options.runs or Path(scratch), network)
    report(cases)
    write_table(cases, options.output / "cplx_replay.csv")
    cases = shown(cases)
    figure, panels = plt.subplots(2, 3, figsize=(14, 7.5), layout="constrained")
    draw_times(panels[0, 0], cases)
    draw_tradeoff(panels[0, 1], cases)
    draw_messages(panels[0, 2], cases)
    draw_rounds(panels[1, 0], options.comm_ranks)
    draw_balance(panels[1, 1])
    draw_costs(panels[1, 2])
    figure.savefig(options.output / "cplx_replay.png", dpi=110)
    print(f"wrote {options.output}/cplx_replay.csv and .png")


if __name__ == "__main__":
    main()
