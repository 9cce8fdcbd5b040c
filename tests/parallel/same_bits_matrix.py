#!/usr/bin/env python3
"""Runs adaptive cases on many ranks with every decomposition and exchange.

    tests/parallel/same_bits_matrix.py [--cases blast universe] [--ranks 1 2 3] [--threads 1 2]

The cases are a drifting blast, gas and dark matter that collapse in an expanding box, and the same
box with cooling, stars, supernovae and black holes. Every
final snapshot and history must have the bits of the run on one rank and one thread; so must those
of runs that go on from its checkpoints on every number of ranks. Prints one line per run; the exit
code is 1 if any differs. Takes about half an hour on two cores.
"""

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inputs import CLUMPY_BOX, DRIFTING_BLAST, GALAXIES_IN_A_BOX
from running import CHECKPOINT_EVERY_STEP, Outcome, run_well, same_run_differences

CASES = {
    "blast": DRIFTING_BLAST,
    "universe": CLUMPY_BOX,
    "galaxies": GALAXIES_IN_A_BOX,
}
DECOMPOSITIONS = ("ksection", "hilbert", "morton")
EXCHANGES = ("p2p", "alltoall", "ksection")
POLICIES = ("baseline", "exact", "cplx", "lpt", "node")


def settings() -> list[tuple[str, ...]]:
    """List the overrides whose results must not differ."""
    ways = [
        (f"balance.decomposition={decomposition}", f"comm.exchange={exchange}")
        for decomposition, exchange in product(DECOMPOSITIONS, EXCHANGES)
    ]
    return ways + [(f"balance.policy={policy}",) for policy in POLICIES]


class Matrix:
    """The runs of one case, compared with its run on one rank."""

    def __init__(self, scratch: Path, case: str) -> None:
        self.case, self.scratch = case, scratch / case
        self.count = self.failures = 0
        self.reference = self._run(*CHECKPOINT_EVERY_STEP)
        self.steps = int(self.reference.history()["step"][-1])

    def _run(self, *overrides: str, **how: object) -> Outcome:
        self.count += 1
        directory = self.scratch / f"run_{self.count}"
        return run_well(directory, CASES[self.case], *overrides, timeout=1200, **how)

    def compare(self, ranks: int, threads: int, overrides: tuple[str, ...], step: int = 0) -> None:
        """Run, from the checkpoint of a step on where it is not 0, and print what differs."""
        restart = self.reference.directory / f"checkpoint_{step - 1:05d}.h5" if step else None
        outcome = self._run(*overrides, ranks=ranks, threads=threads, restart=restart)
        wrong = same_run_differences(outcome, self.reference, first_step=step)
        self.failures += bool(wrong)
        way = " ".join(override.partition("=")[2] for override in overrides)
        print(
            f"{self.case}: {ranks} ranks, {threads} threads, {way},",
            f"from step {step}:",
            "DIFFERS in " + ", ".join(wrong) if wrong else "same bits",
            flush=True,
        )


def main() -> int:
    """Run the matrix; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4, 6, 8])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--thin", type=int, default=1, help="take every so manieth run only")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in options.cases:
            matrix = Matrix(Path(scratch), case)
            runs = list(product(options.ranks, options.threads, settings()))
            for ranks, threads, overrides in runs[:: options.thin]:
                matrix.compare(ranks, threads, overrides)
            for ranks in options.ranks:
                matrix.compare(ranks, options.threads[0], (), step=matrix.steps // 2)
            failures += matrix.failures
            print(f"{case}: {matrix.count - 1 - matrix.failures} same, {matrix.failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
