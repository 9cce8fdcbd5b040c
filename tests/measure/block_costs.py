#!/usr/bin/env python3
"""Compares how evenly ranks share work and memory under different costs of blocks.

    tests/measure/block_costs.py [--ranks 2 4 8] [--steps 24] [--cells 32]
    tests/measure/block_costs.py --run output/cosmo256_small --steps 12 --costs sweeps measured
    tests/measure/block_costs.py --run output/cosmo256_small --ranks 2 --steps 12 --turns 4

Runs a small universe with cooling, star formation and feedback once for each cost. With --run, the
runs continue from the last checkpoint of an earlier run instead. Prints, for the second half of the
steps, the maximum of the ranks' measured costs over the mean (summed over levels, on which ranks
meet), the ratio of the largest to the smallest number of bytes of fields and particles on a rank in
the middle step, at whose begin blocks are redistributed, and three times of these steps: the
counted costs of the slowest rank of each level, the processor time of the slowest rank of each step
without MPI, and the wall-clock time. With --turns, all runs are repeated in turns, and medians
follow.
"""

import argparse
import itertools
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inputs import GALAXIES_IN_A_BOX
from running import Outcome, run_well
from telemetry_tables import ask, ask_one

COSTS = {
    # Equal costs of all blocks of a level: the sweeps alone, without particles and processes.
    "sweeps": ("balance.cost=time", "balance.weight_part=1e-3", "balance.weight_sink=1e-3"),
    "memory": ("balance.cost=memory",),
    "memory, exact": ("balance.cost=memory", "balance.policy=exact"),
    "time": ("balance.cost=time",),
    "time, alpha 0.5": ("balance.cost=time", "balance.time_alpha=0.5"),
    "measured": ("balance.cost=measured",),
    "measured, cplx": ("balance.cost=measured", "balance.policy=cplx", "balance.cplx_x=50"),
}
WORK = """
    select sum(most) / sum(mean), sum(most) / 1e9 from
      (select step, level, max(cost) as most, sum(cost) / {ranks} as mean from
         (select step, level, rank, sum(cost_ns) as cost from blocks group by all)
       where step >= {first} group by step, level)"""
MEMORY = """
    select min(data_bytes) / 1e6, max(data_bytes) / 1e6, max(data_bytes) / min(data_bytes)
      from ranks where step = {first}"""
# Processor time of the main threads in computing phases: the slowest rank of each step.
SLOWEST = """
    select sum(most) / 1e9 from
      (select step, max(cpu) as most from
         (select step, rank, sum(cpu_ns) as cpu from phases
          where step >= {first} and phase = 'compute' group by all)
       group by step)"""
SECONDS = "select sum(end_ns - start_ns) / 1e9 from steps where step >= {first}"


def numbers(outcome: Outcome, ranks: int, first: int) -> list[float]:
    """Give the numbers of a run."""
    return [
        *ask(outcome, WORK.format(ranks=ranks, first=first))[0],
        *ask(outcome, MEMORY.format(first=first))[0],
        ask_one(outcome, SLOWEST.format(first=first)),
        ask_one(outcome, SECONDS.format(first=first)),
    ]


def row(found: list[float]) -> str:
    """Format the numbers of a run."""
    work, counted, least, most, ratio, slowest, seconds = found
    memory = f"{least:>9.2f}{most:>9.2f}{ratio:>8.3f}"
    return f"{work:>8.3f}{memory}{counted:>10.3f}{slowest:>10.3f}{seconds:>10.2f}"


@dataclass(frozen=True)
class Start:
    """State and parameters from which the compared runs start."""

    parameters: str
    settings: tuple[str, ...]
    checkpoint: Path | None = None
    step: int = 0


def small_universe(cells: int) -> Start:
    """Give a universe that collapses and forms stars within a few steps."""
    box = ("cosmology.box=12.0", 'cosmology.start="z = 60"')
    return Start(GALAXIES_IN_A_BOX, (f"mesh.base_cells=[{cells}, {cells}, {cells}]", *box))


def earlier_run(directory: Path) -> Start:
    """Give the last checkpoint of a run, after the end of which its expansion continues."""
    checkpoint = max(directory.glob("checkpoint_*.h5"))
    with h5py.File(checkpoint) as file:
        step = int(file["header"].attrs["step"])
    settings = ('cosmology.end="z = 0"', "output.snapshot_interval=0", "telemetry.enabled=true")
    return Start((directory / "run.toml").read_text(), settings, checkpoint, step)


def main() -> int:
    """Run and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--cells", type=int, default=32)
    parser.add_argument("--turns", type=int, default=1, help="repetitions of all runs")
    parser.add_argument("--run", type=Path, help="directory of a run to continue")
    parser.add_argument("--costs", nargs="+", default=list(COSTS), choices=list(COSTS))
    options = parser.parse_args()
    start = earlier_run(options.run) if options.run else small_universe(options.cells)
    settings = (
        *start.settings,
        f"time.max_steps={start.step + options.steps}",
        "balance.interval=2",
    )
    first = start.step + options.steps // 2
    first += first % 2  # blocks are redistributed before even steps
    heads = f"{'min MB':>9}{'max MB':>9}{'ratio':>8}"
    heads += f"{'counted s':>10}{'slowest s':>10}{'seconds':>10}"
    print(f"{'ranks':<6}{'cost':<20}{'work':>8}{heads}")
    found = defaultdict(list)
    turns = itertools.product(range(options.turns), options.ranks, options.costs)
    for turn, ranks, name in turns:
        with tempfile.TemporaryDirectory() as scratch:
            outcome = run_well(
                Path(scratch) / f"{ranks}_{name.replace(', ', '_').replace(' ', '_')}",
                start.parameters,
                *settings,
                *COSTS[name],
                ranks=ranks,
                restart=start.checkpoint,
                timeout=1200,
            )
            found[ranks, name].append(numbers(outcome, ranks, first))
        print(f"{ranks:<6}{name:<20}{row(found[ranks, name][turn])}", flush=True)
    if options.turns > 1:
        print("medians")
        for (ranks, name), rows in found.items():
            print(f"{ranks:<6}{name:<20}{row(np.median(rows, axis=0).tolist())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
