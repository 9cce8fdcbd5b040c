#!/usr/bin/env python3
"""Compares how evenly ranks share work and memory under different costs of blocks.

    tests/measure/block_costs.py [--ranks 2 4 8] [--steps 24] [--cells 32]

Runs a small universe with cooling, star formation and feedback once for each cost. Prints, for the
second half of the steps, the maximum of the ranks' measured costs over the mean (summed over
levels, on which ranks meet), the ratio of the largest to the smallest number of bytes of fields and
particles on a rank in the last step, and the wall-clock time of these steps.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inputs import GALAXIES_IN_A_BOX
from running import Outcome, run_well
from telemetry_tables import ask_one

COSTS = {
    "memory": ("balance.cost=memory",),
    "memory, exact": ("balance.cost=memory", "balance.policy=exact"),
    "time": ("balance.cost=time",),
    "time, alpha 0.5": ("balance.cost=time", "balance.time_alpha=0.5"),
    "measured": ("balance.cost=measured",),
    "measured, cplx": ("balance.cost=measured", "balance.policy=cplx", "balance.cplx_x=50"),
}
WORK = """
    select sum(most) / sum(mean) from
      (select step, level, max(cost) as most, sum(cost) / {ranks} as mean from
         (select step, level, rank, sum(cost_ns) as cost from blocks group by all)
       where step >= {first} group by step, level)"""
MEMORY = "select max(data_bytes) / min(data_bytes) from ranks where step = {first}"
SECONDS = "select sum(end_ns - start_ns) / 1e9 from steps where step >= {first}"


def row(outcome: Outcome, ranks: int, first: int) -> str:
    """Give the numbers of a run."""
    work = ask_one(outcome, WORK.format(ranks=ranks, first=first))
    try:
        memory = f"{ask_one(outcome, MEMORY.format(first=first)):>8.3f}"
    except Exception:  # a program that does not record it
        memory = f"{'-':>8}"
    return f"{work:>8.3f}{memory}{ask_one(outcome, SECONDS.format(first=first)):>10.2f}"


def main() -> int:
    """Run and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--cells", type=int, default=32)
    parser.add_argument("--costs", nargs="+", default=list(COSTS), choices=list(COSTS))
    options = parser.parse_args()
    settings = (
        f"mesh.base_cells=[{options.cells}, {options.cells}, {options.cells}]",
        f"time.max_steps={options.steps}",
        "cosmology.box=12.0",
        'cosmology.start="z = 60"',
        "balance.interval=2",
    )
    print(f"{'ranks':<6}{'cost':<20}{'work':>8}{'memory':>8}{'seconds':>10}")
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in options.ranks:
            for name in options.costs:
                outcome = run_well(
                    Path(scratch) / f"{ranks}_{name.replace(', ', '_').replace(' ', '_')}",
                    GALAXIES_IN_A_BOX,
                    *settings,
                    *COSTS[name],
                    ranks=ranks,
                    timeout=1200,
                )
                print(f"{ranks:<6}{name:<20}{row(outcome, ranks, options.steps // 2)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
