#!/usr/bin/env python3
"""Counts the neighbour ranks of an adaptive blast under each decomposition.

    tests/parallel/neighbours.py [--ranks 8 12 16]

A blast between open boundaries (32^3 base cells, two levels) is run for some steps, restarted on
each number of ranks with each decomposition, and written; who touches whom is counted from the
blocks' owners in that snapshot. Prints the mean and largest number of neighbours and the largest
share of blocks against the mean. Takes some five minutes on two cores.
"""

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inputs import WITH_OPEN_ENDS
from running import ROOT, run_well

STEPS = 120


def owners_by_level(path: Path) -> list[dict[tuple[int, ...], int]]:
    """Read who owns the block at each place of each level."""
    levels = []
    with h5py.File(path) as file:
        lower, block_size = file["header"].attrs["lower"], file["header"].attrs["block_size"]
        for name in sorted(file["mesh"]):
            level = file["mesh"][name]
            edge = level.attrs["cell_size"] * block_size
            places = np.rint((level["origin"][:] - lower) / edge).astype(int)
            levels.append(dict(zip(map(tuple, places.tolist()), level["owner"][:], strict=True)))
    return levels


def touching_ranks(levels: list[dict[tuple[int, ...], int]]) -> set[tuple[int, int]]:
    """Find the pairs of ranks whose blocks touch, on one level or across a level jump."""
    pairs = set()
    for level, blocks in enumerate(levels):
        for place, owner in blocks.items():
            for step in product((-1, 0, 1), repeat=3):
                beside = tuple(np.add(place, step).tolist())
                neighbour = blocks.get(beside)
                if neighbour is None and level > 0:
                    neighbour = levels[level - 1].get(tuple(n // 2 for n in beside))
                if neighbour is not None and neighbour != owner:
                    pairs |= {(owner, neighbour), (neighbour, owner)}
    return pairs


def main() -> int:
    """Run and count; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 12, 16, 24, 32, 48, 64])
    options = parser.parse_args()
    blast = (ROOT / "examples/sedov.toml").read_text()
    overrides = [*WITH_OPEN_ENDS, "output.pictures=[]", "output.snapshot_interval=0"]
    print("ranks decomposition  neighbours: mean  most   blocks: most/mean")
    with tempfile.TemporaryDirectory() as scratch:
        steps = f"time.max_steps={STEPS}"
        often = ("output.checkpoint_interval=1e-9", "output.final_checkpoint=false")
        first = run_well(
            Path(scratch) / "first",
            blast,
            *overrides,
            *often,
            steps,
            timeout=600,
        )
        checkpoint = sorted(first.directory.glob("checkpoint_*.h5"))[-1]
        for ranks, decomposition in product(options.ranks, ("ksection", "hilbert", "morton")):
            outcome = run_well(
                Path(scratch) / f"{decomposition}_{ranks}",
                blast,
                *overrides,
                steps,
                f"balance.decomposition={decomposition}",
                ranks=ranks,
                restart=checkpoint,
                timeout=600,
            )
            levels = owners_by_level(outcome.last_snapshot)
            pairs = touching_ranks(levels)
            most = max(sum(a == rank for a, _ in pairs) for rank in range(ranks))
            owned = np.bincount([o for blocks in levels for o in blocks.values()], minlength=ranks)
            print(
                f"{ranks:5} {decomposition:13} {len(pairs) / ranks:17.1f} {most:5}"
                f" {owned.max() / owned.mean():19.2f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
