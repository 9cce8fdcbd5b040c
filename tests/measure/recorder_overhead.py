#!/usr/bin/env python3
"""Counts what the recorder costs a run: instructions, and bytes of Parquet.

    OCTANT_PRESET=portable ./octant build
    OCTANT_PROGRAM=build/portable/octant tests/measure/recorder_overhead.py [--steps 5]

Valgrind counts the instructions of the same run with and without the recorder; it does not support
AVX-512, so that the program must be one of the preset `portable`. The exit code is 1 if the
recorder takes more than 1 % of the instructions, or more than 5 bytes per block and step and 4 kB
per rank and step. Takes some minutes.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, octant_command, octant_environment
from telemetry_tables import ask_one

MOST_OF_INSTRUCTIONS = 0.01
BYTES_PER_BLOCK = 5
BYTES_PER_RANK = 4096


def instructions(directory: Path, parameters: Path, steps: int, *, recorded: bool) -> int:
    """Run on one rank and thread under valgrind; give the number of instructions."""
    settings = [f"time.max_steps={steps}", f"telemetry.enabled={str(recorded).lower()}"]
    command = octant_command("run", parameters, "--output", directory)
    for setting in settings:
        command += ["--set", setting]
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*counter, *command], env=octant_environment(), capture_output=True, text=True
    )
    count = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or count is None:
        sys.exit(f"the run failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return int(count[1].replace(",", ""))


def report_bytes(run: Path) -> bool:
    """Print the sizes of a run's files; tell whether they are small enough."""
    sizes = {"blocks": 0, "others": 0}
    for file in (run / "telemetry").glob("*.parquet"):
        sizes["blocks" if file.name.startswith("blocks-") else "others"] += file.stat().st_size
    blocks = ask_one(run, "select count(*) from blocks")
    ranks = ask_one(run, "select count(*) from ranks")
    print(
        f"{sizes['blocks']} bytes of Parquet for {blocks} blocks and steps: "
        f"{sizes['blocks'] / blocks:.1f} each; {sizes['others']} for {ranks} ranks and steps: "
        f"{sizes['others'] / ranks:.0f} each"
    )
    return sum(sizes.values()) <= BYTES_PER_BLOCK * blocks + BYTES_PER_RANK * ranks


def main() -> int:
    """Count and compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parameters", type=Path, default=ROOT / "examples/sedov.toml")
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        plain, recorded = (
            instructions(
                Path(scratch) / f"recorded_{on}", options.parameters, options.steps, recorded=on
            )
            for on in (False, True)
        )
        share = (recorded - plain) / plain
        print(f"{plain / 1e6:.1f} million instructions without the recorder")
        print(f"{recorded / 1e6:.1f} million with it: {100 * share:.2f} % more")
        fits = report_bytes(Path(scratch) / "recorded_True")
    return int(share > MOST_OF_INSTRUCTIONS or not fits)


if __name__ == "__main__":
    sys.exit(main())
