#!/usr/bin/env python3
"""Runs a blast many times without any fault, and diagnoses each run.

    tests/measure/clean_runs.py [--runs 20] [--ranks 2]

Prints one line per run; the exit code is 1 if something was found in any. On a machine that others
use as well a rank may truly be slow for a while, which is then found: read the evidence.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from octools.telemetry.database import Telemetry
from octools.telemetry.diagnose import diagnose

from inputs import STEADY_BLAST
from running import run_well


def main() -> int:
    """Run and diagnose; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    alarms = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(options.runs):
            outcome = run_well(Path(scratch) / f"run_{number}", STEADY_BLAST, ranks=options.ranks)
            with Telemetry(outcome.directory) as telemetry:
                found = diagnose(telemetry).findings
            alarms += bool(found)
            print(f"run {number + 1}: {[str(finding) for finding in found] or 'nothing'}")
    print(f"{options.runs - alarms} of {options.runs} runs without a finding")
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
