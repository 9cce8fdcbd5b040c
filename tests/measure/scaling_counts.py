#!/usr/bin/env python3
"""Counts messages and bytes per rank with constant work per rank on oversubscribed ranks.

    tests/measure/scaling_counts.py [--ranks 8 32 128] [--backends p2p ksection] [--output DIR]

Each rank has a cube of 8^3 cells in blocks of 4^3 with a hot sphere in its centre, which is refined
once: the same work on any number of ranks, in a periodic box. Counts are those of the mean and of
the busiest rank in a coarse step after the first one, from telemetry. Times are not measured. The
128 processes share the cores of one machine and need about 6 GB. Runs that DIR contains are not
repeated.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))

from octools.scaling_model.decomposition import parts, tree_messages

from running import run_well
from telemetry_tables import ask

CELLS = 8  # of a rank along an axis
STEPS = 4

# dx, dy, dz: distance from the centre of the unit cube that contains a point.
HOT_SPHERES = """
[problem]
name = "expression"
density = "1"
pressure = "1 + 9*(dx*dx + dy*dy + dz*dz < 0.04)"

[problem.terms]
dx = "x - 0.5 - rint(x - 0.5)"
dy = "y - 0.5 - rint(y - 0.5)"
dz = "z - 0.5 - rint(z - 0.5)"

[mesh]
block_size = 4
max_level = 1

[refine]
gradient_fields = ["pressure"]
gradient = [0.3]

[time]
end = 100.0

[output]
snapshot_interval = 0
final_checkpoint = false
"""

# Sent messages and bytes, and messages by component, of a rank in a step after the first one.
SENT = """
    with later as (select * from messages where direction = 'send' and step > 0),
    per_rank as (select rank, sum(messages) / {steps} as messages, sum(bytes) / {steps} as bytes
      from later group by rank)
    select sum(messages) / {ranks}, max(messages), sum(bytes) / {ranks}, max(bytes) from per_rank"""
WORK = """
    select sum(updates) / {ranks} / {steps}, max(updates), max(memory_peak_bytes) / 1e6
    from ranks where step > 0"""
EXCHANGES = """
    select sum(calls) / {ranks} / {steps} from phases where phase = 'send' and step > 0"""
REDUCTIONS = """
    select sum(calls) / {steps} from phases
    where phase = 'collective' and rank = 0 and step > 0"""
COMPONENTS = """
    select component, sum(messages) / {ranks} / {steps}, sum(bytes) / {ranks} / {steps}
    from messages where direction = 'send' and step > 0 group by component order by 3 desc"""


def count(folder: Path, ranks: int, backend: str) -> None:
    """Run on a number of ranks and print its counts."""
    shape = parts(ranks)
    settings = (
        f"mesh.base_cells={[CELLS * n for n in shape]}",
        f"mesh.upper={[float(n) for n in shape]}",
        f"comm.exchange={backend}",
        f"time.max_steps={STEPS}",
    )
    run = folder / f"{backend}_{ranks}"
    if not (run / "telemetry").is_dir():
        run_well(run, HOT_SPHERES, *settings, ranks=ranks, timeout=3600)
    numbers = {"ranks": f"{ranks}.0", "steps": f"{STEPS - 1}.0"}
    ((messages, most, sent, most_sent),) = ask(run, SENT.format(**numbers))
    ((updates, most_updates, memory),) = ask(run, WORK.format(**numbers))
    ((exchanges,),) = ask(run, EXCHANGES.format(**numbers))
    ((reductions,),) = ask(run, REDUCTIONS.format(**numbers))
    print(
        f"{backend:9} {ranks:5} {updates:9.0f} {most_updates:9.0f} {exchanges:10.1f}"
        f" {messages:9.1f} {most:8.1f} {1e-3 * sent:8.2f} {1e-3 * most_sent:8.2f}"
        f" {reductions:10.1f} {tree_messages(ranks):5} {memory:7.0f}",
        flush=True,
    )
    for component, number, size in ask(run, COMPONENTS.format(**numbers)):
        print(f"    {component:32} {number:9.1f} messages {1e-3 * size:9.3f} kB", flush=True)


def main() -> int:
    """Count on all numbers of ranks; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--backends", nargs="+", default=["p2p", "ksection"])
    parser.add_argument("--output", type=Path, help="keep the runs in this folder")
    options = parser.parse_args()
    print("backend   ranks   updates  at most  exchanges  messages  at most      kB  at most"
          " reductions  tree MB at most")  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for backend in options.backends:
            for ranks in options.ranks:
                count(folder, ranks, backend)
    return 0


if __name__ == "__main__":
    sys.exit(main())
