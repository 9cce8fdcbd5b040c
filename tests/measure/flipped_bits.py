#!/usr/bin/env python3
"""Flips single bits of checkpoints and snapshots, and counts how many of them are told.

    tests/measure/flipped_bits.py [--flips 200] [--ranks 3]

Half of the bits lie in rows of datasets, the others anywhere in the file. Each flipped file is
verified, and a run goes on from each flipped checkpoint. The exit code is 1 if a bit is not told by
`octant info --verify`, or if a restart is not refused with exit code 2. Takes some minutes.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from damage import flip_bit
from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX
from running import CHECKPOINT_EVERY_STEP, octant, run, run_well

STEPS = "time.max_steps=2"


def dataset_extents(path: Path) -> list[tuple[int, int]]:
    """Place and size of all datasets of a file, in bytes."""
    extents = []

    def visit(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.size:
            extents.append((item.id.get_offset(), item.nbytes))

    with h5py.File(path) as file:
        file.visititems(visit)
    return extents


def chosen_bits(path: Path, count: int, chance: random.Random) -> list[int]:
    """Choose bits, half of them in datasets: each dataset is as likely as any other."""
    extents = dataset_extents(path)
    bits = []
    for n in range(count):
        place, size = chance.choice(extents) if n % 2 else (0, path.stat().st_size)
        bits.append(8 * place + chance.randrange(8 * size))
    return bits


def count_flips(
    path: Path, parameters: str, flips: int, ranks: int, scratch: Path, chance: random.Random
) -> bool:
    """Flip bits of one file, one at a time; print what became of them."""
    outcomes: Counter[str] = Counter()
    for bit in chosen_bits(path, flips, chance):
        flip_bit(path, bit)
        code = octant("info", "--verify", path, ranks=ranks).code
        outcomes[f"verify ends with {code}"] += 1
        if path.name.startswith("checkpoint"):
            again = run(scratch / "again", parameters, STEPS, restart=path, ranks=ranks)
            outcomes[f"restart ends with {again.code}"] += 1
            shutil.rmtree(scratch / "again", ignore_errors=True)
        flip_bit(path, bit)
    whole = octant("info", "--verify", path, ranks=ranks).code == 0
    print(f"{path.parent.name}/{path.name}: {flips} flips: {dict(outcomes)}", flush=True)
    allowed = {"verify ends with 1", "verify ends with 2", "restart ends with 2"}
    return whole and set(outcomes) <= allowed


def main() -> int:
    """Write files, flip their bits; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    told = True
    with tempfile.TemporaryDirectory() as scratch:
        for name, parameters in {"box": CLUMPY_BOX, "channel": SMALL_CHANNEL}.items():
            written = run_well(Path(scratch) / name, parameters, STEPS, *CHECKPOINT_EVERY_STEP)
            for kind in ("checkpoint", "snap"):
                path = min(written.directory.glob(f"{kind}_*.h5"))
                told &= count_flips(
                    path, parameters, options.flips, options.ranks, Path(scratch), chance
                )
    print("every flipped bit was told" if told else "NOT every flipped bit was told")
    return int(not told)


if __name__ == "__main__":
    sys.exit(main())
