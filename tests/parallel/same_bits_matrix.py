#!/usr/bin/env python3
"""Runs one adaptive case on 1, 2, 3, 4, 6 and 8 ranks with every decomposition and exchange.

    tests/parallel/same_bits_matrix.py [--ranks 1 2 3] [--threads 1 2]

Every final snapshot and history must have the bits of the run on one rank and one thread. Prints
one line per run; the exit code is 1 if any differs. Takes some ten minutes on two cores.
"""

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cases import DRIFTING_BLAST
from running import differing, run_well

DECOMPOSITIONS = ("ksection", "hilbert", "morton")
EXCHANGES = ("p2p", "alltoall", "ksection")


def main() -> int:
    """Run the matrix; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4, 6, 8])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        reference = run_well(Path(scratch) / "reference", DRIFTING_BLAST)
        failures = 0
        runs = list(product(options.ranks, options.threads, DECOMPOSITIONS, EXCHANGES))
        for number, (ranks, threads, decomposition, exchange) in enumerate(runs):
            outcome = run_well(
                Path(scratch) / f"run_{number}",
                DRIFTING_BLAST,
                f"balance.decomposition={decomposition}",
                f"comm.exchange={exchange}",
                ranks=ranks,
                threads=threads,
                timeout=600,
            )
            wrong = differing(outcome.last_snapshot, reference.last_snapshot)
            histories = [(o.directory / "history.csv").read_bytes() for o in (outcome, reference)]
            if histories[0] != histories[1]:
                wrong.append("history.csv")
            failures += bool(wrong)
            print(
                f"{ranks} ranks, {threads} threads, {decomposition:8} {exchange:8}",
                "DIFFERS in " + ", ".join(wrong) if wrong else "same bits",
                flush=True,
            )
    print(f"{len(runs) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
