#!/usr/bin/env python3
"""Runs many steps, and prints the memory, descriptors, threads and time per step meanwhile.

    tests/measure/soak.py [--steps 10000] [--ranks 2] [--samples 10]

Driven, cooled turbulence on two levels, with regridding, migration of blocks between ranks,
checkpoints, snapshots and telemetry. The flow is statistically steady, so that all columns of the
table must be constant after the first rows: resident memory, shared memory, descriptors and threads
of the rank that uses most, milliseconds per step, files in the directory, and MiB of these files
without snapshots. Exits with 1 if resident memory grows by more than 3 % between the second and the
last row, or descriptors or threads grow at all.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import children_of, octant_command, octant_environment

PARAMETERS = """
[problem]
name = "expression"
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 1
[hydro]
gamma = 1.6666666666666667
riemann = "hllc_hybrid"
[turbulence]
acceleration = 12.0
from = 1.0
to = 2.0
correlation_time = 0.2
[heating]
relaxation_time = 0.01
relaxation_energy = 1.5
[refine]
density = [3.0]
[time]
end = 1e6
cfl = 0.6
[output]
checkpoint_interval = 3.0
checkpoint_keep = 2
snapshot_interval = 10.0
slices = ["z = 0.5"]
history_interval = 10
"""
HISTORY_INTERVAL = 10
LARGEST_GROWTH = 1.03


@dataclass(frozen=True)
class Use:
    """What the processes of a run use; of each, the largest value of all ranks."""

    steps: int
    seconds: float
    resident_mib: float
    shared_mib: float
    descriptors: int
    threads: int
    files: int
    file_mib: float


def status_of(process: int) -> dict[str, str]:
    """Read the lines of /proc/PROCESS/status."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def mebibytes(entry: str) -> float:
    """Convert a size such as "1024 kB"."""
    return int(entry.split()[0]) / 1024


def use_of(ranks: list[int], directory: Path, start: float) -> Use:
    """Measure a run."""
    status = [status_of(rank) for rank in ranks]
    files = [path for path in directory.rglob("*") if path.is_file()]
    kept = [path for path in files if not path.name.startswith(("snap_", "slice_"))]
    rows = (directory / "history.csv").read_text().count("\n") - 1
    return Use(
        steps=HISTORY_INTERVAL * rows,
        seconds=time.monotonic() - start,
        resident_mib=max(mebibytes(entries["VmRSS"]) for entries in status),
        shared_mib=max(mebibytes(entries["RssShmem"]) for entries in status),
        descriptors=max(len(list(Path(f"/proc/{rank}/fd").iterdir())) for rank in ranks),
        threads=max(int(entries["Threads"]) for entries in status),
        files=len(files),
        file_mib=sum(path.stat().st_size for path in kept) / 2**20,
    )


def measure(scratch: Path, steps: int, ranks: int, samples: int) -> list[Use]:
    """Run the flow, and measure it after equal numbers of steps."""
    file, directory = scratch / "soak.toml", scratch / "soak"
    file.write_text(PARAMETERS)
    command = octant_command(
        "run", file, "--output", directory, "--set", f"time.max_steps={steps}", ranks=ranks
    )
    start = time.monotonic()
    uses: list[Use] = []
    with (scratch / "log").open("w") as log:
        process = subprocess.Popen(command, env=octant_environment(), stdout=log, stderr=log)
        history = directory / "history.csv"
        while process.poll() is None:
            time.sleep(0.2)
            done = history.read_text().count("\n") - 1 if history.exists() else 0
            if done * HISTORY_INTERVAL < (len(uses) + 1) * steps / samples - HISTORY_INTERVAL:
                continue
            processes = [process.pid] if ranks == 1 else children_of(process.pid)
            uses.append(use_of(processes, directory, start))
    if process.returncode != 0:
        sys.exit((scratch / "log").read_text()[-3000:])
    return uses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--samples", type=int, default=10, help="number of rows of the table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        uses = measure(Path(scratch), options.steps, options.ranks, options.samples)

    print(" steps  ms/step  resident MiB  shared MiB  descriptors  threads  files  MiB of files")
    steps, seconds = 0, 0.0
    for use in uses:
        pace = 1e3 * (use.seconds - seconds) / max(1, use.steps - steps)
        steps, seconds = use.steps, use.seconds
        print(
            f"{use.steps:6} {pace:8.2f} {use.resident_mib:13.1f} {use.shared_mib:11.1f}"
            f" {use.descriptors:12} {use.threads:8} {use.files:6} {use.file_mib:13.2f}"
        )
    early, late = uses[min(1, len(uses) - 1)], uses[-1]
    if late.resident_mib > LARGEST_GROWTH * early.resident_mib:
        sys.exit("resident memory grows")
    if late.descriptors > early.descriptors or late.threads > early.threads:
        sys.exit("descriptors or threads grow")


if __name__ == "__main__":
    main()
