#!/usr/bin/env python3
"""Compares how long ranks stand still for messages that travel during work, and for others.

    tests/measure/overlap.py [--ranks 2] [--runs 5] [--parameters FILE] [--steps 20]

Runs alternate between comm.overlap = true and false. Prints milliseconds per step and rank, the
median of the runs, by component of the exchanges.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, run_well
from telemetry_tables import ask, ask_one

WAITS = """
    select name, sum(self_ns) / 1e6 from phases where phase = 'wait' and step > 0
    group by name order by name"""


def waits(directory: Path, parameters: str, steps: int, ranks: int, *, overlap: bool) -> dict:
    """Run, and give the milliseconds per step and rank by component."""
    settings = (f"time.max_steps={steps}", f"comm.overlap={str(overlap).lower()}")
    run = run_well(directory, parameters, *settings, ranks=ranks, timeout=600)
    count = ask_one(run, "select count(*) from ranks where step > 0")
    return {name: milliseconds / count for name, milliseconds in ask(run, WAITS)}


def main() -> int:
    """Run and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--parameters", type=Path, default=ROOT / "examples/sedov.toml")
    options = parser.parse_args()
    found: dict[bool, list[dict]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(2 * options.runs):
            overlap = number % 2 == 1
            found[overlap].append(
                waits(
                    Path(scratch) / f"run_{number}",
                    options.parameters.read_text(),
                    options.steps,
                    options.ranks,
                    overlap=overlap,
                )
            )
    print(f"{'component':<12}{'waits at once':>16}{'overlaps':>12}   ms per step and rank")
    for name in sorted({name for run in found[True] + found[False] for name in run}):
        before, after = (median(run.get(name, 0.0) for run in found[on]) for on in (False, True))
        print(f"{name:<12}{before:>16.3f}{after:>12.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
