#!/usr/bin/env python3
"""Counts the instructions of a run with and without the recorder.

    OCTANT_PRESET=portable ./octant build
    OCTANT_PROGRAM=build/portable/octant tests/measure/recorder_instructions.py [--steps 5]

Valgrind counts, and knows no AVX-512: the program must be one that the preset `portable` has built.
Prints both counts and their difference; the exit code is 1 if that is more than 1 %. Takes a few
minutes. The two runs write the same snapshots.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, octant_command, octant_environment

MOST = 0.01


def instructions(directory: Path, parameters: Path, steps: int, *, recorded: bool) -> int:
    """Run on one rank and thread under callgrind; give the number of instructions."""
    counts = directory / f"counts_{recorded}"
    settings = [f"time.max_steps={steps}", f"telemetry.enabled={str(recorded).lower()}"]
    command = octant_command("run", parameters, "--output", directory / f"run_{recorded}")
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", *command],
        env=octant_environment(),
        capture_output=True,
        text=True,
    )
    totals = re.search(r"^totals: (\d+)", counts.read_text(), re.MULTILINE)
    if done.returncode or totals is None:
        sys.exit(f"the run failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return int(totals[1])


def main() -> int:
    """Count and compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parameters", type=Path, default=ROOT / "examples/sedov.toml")
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        plain, recorded = (
            instructions(Path(scratch), options.parameters, options.steps, recorded=on)
            for on in (False, True)
        )
    share = (recorded - plain) / plain
    print(f"{plain / 1e6:.1f} million instructions without the recorder")
    print(f"{recorded / 1e6:.1f} million with it: {100 * share:.2f} % more")
    return int(share > MOST)


if __name__ == "__main__":
    sys.exit(main())
