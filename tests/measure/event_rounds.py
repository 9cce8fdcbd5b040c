#!/usr/bin/env python3
"""Counts the messages of supernovae and of black holes in a step, against neighbours.

    tests/measure/event_rounds.py [--ranks 8 16 32 64]

A swarm of stars, and one of holes, in a box of two levels takes two steps with its events and two
without. What a rank sends more of by routing is the events'. Some minutes on two cores.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "physics"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "parallel"))

import test_galaxy_black_holes as holes
import test_galaxy_supernovae as supernovae
from neighbours import owners_by_level, touching_ranks

from running import run_well

# Of each kind: parameters, what its events need, and what leaves them out.
KINDS = {
    "supernovae": (
        supernovae.SWARM,
        [
            *supernovae.ONGOING,
            "problem.stars=400",
            "refine.region_upper=[1280.0, 2560.0, 2560.0]",
        ],
        ["supernovae.mode=none"],
    ),
    "black holes": (
        holes.SWARM,
        holes.ONGOING,
        [
            "black_holes.accretion=false",
            "black_holes.drag=false",
            "black_holes.merge_length=0.0",
            "black_holes.seed_mass=0.0",
            "agn.enabled=false",
        ],
    ),
}


def routed(directory: Path) -> tuple[int, int]:
    """Read to how many ranks one routes in the last step, and how many messages go to each."""
    files = [str(path) for path in directory.rglob("messages*.parquet")]
    ((partners, messages),) = duckdb.sql(
        f"""SELECT count(DISTINCT peer), max(messages) FROM read_parquet({files})
        WHERE direction = 'send' AND component = 'route' AND rank = 0
        AND step = (SELECT max(step) FROM read_parquet({files}))"""
    ).fetchall()
    return partners, messages


def main() -> int:
    """Run and count; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 16, 32, 64])
    options = parser.parse_args()
    print("ranks kind         neighbours  partners  rounds  messages")
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in options.ranks:
            for kind, (text, needed, without) in KINDS.items():
                text = text.replace("[telemetry]\nenabled = false", "")
                rounds = 0
                for sign, more in ((1, []), (-1, without)):
                    outcome = run_well(
                        Path(scratch) / f"{kind}_{ranks}_{sign}",
                        text,
                        *needed,
                        *more,
                        "time.max_steps=2",
                        ranks=ranks,
                        timeout=900,
                    )
                    partners, messages = routed(outcome.directory)
                    rounds += sign * messages
                pairs = touching_ranks(owners_by_level(outcome.last_snapshot))
                print(
                    f"{ranks:5} {kind:12} {len(pairs) / ranks:10.1f} {partners:9} {rounds:7}"
                    f" {partners * rounds:9}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
