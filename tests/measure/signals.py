#!/usr/bin/env python3
"""Sends signals to runs, and prints how they end and what they leave.

    tests/measure/signals.py [--steps 0.05 4]

Each signal goes to a run on one rank, to a rank of two, to ./octant on one rank and on two, to the
mpirun that ./octant started, and to an mpirun without it; once in the middle of a short step, once
in that of a long one. A reader goes away, and files hit a limit of their length. For each the exit
code, how long the end took, whether there is a checkpoint of the last step in history.csv, and
whether the run can go on. Takes about ten minutes.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inputs import TINY_BLAST
from running import (
    ROOT,
    await_end_of_ranks,
    children_of,
    heed_signals,
    octant_command,
    octant_environment,
    run,
)

Process = subprocess.Popen[bytes]
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1")


@dataclass(frozen=True)
class Place:
    """A process that a signal may be sent to.

    Attributes
    ----------
    name
        What the table calls it.
    ranks
        Of the run.
    launched
        Whether ./octant starts the run.
    target
        Gives the process, from the one that was started.
    """

    name: str
    ranks: int
    launched: bool
    target: Callable[[int], int]

    def command(self, *arguments: object) -> list[str]:
        """Words that start the run."""
        if not self.launched:
            return octant_command(*arguments, ranks=self.ranks)
        ranks = [] if self.ranks == 1 else ["-n", str(self.ranks)]
        return [str(ROOT / "octant"), *ranks, *(str(argument) for argument in arguments)]


def mpirun_below(pid: int) -> int:
    """Find the mpirun among what a launcher has started."""
    names = {child: Path(f"/proc/{child}/comm").read_text().strip() for child in children_of(pid)}
    return next(child for child, name in names.items() if name == "mpirun")


PLACES = (
    Place("one rank", 1, False, lambda pid: pid),
    Place("a rank of two", 2, False, lambda pid: children_of(pid)[-1]),
    Place("./octant, one rank", 1, True, lambda pid: pid),
    Place("./octant, two ranks", 2, True, lambda pid: pid),
    Place("mpirun under ./octant", 2, True, mpirun_below),
    Place("mpirun alone", 2, False, lambda pid: pid),
)


@contextmanager
def going(place: Place, folder: Path, step: float) -> Iterator[Process]:
    """Start an endless run and wait until it is within its second step."""
    file = folder.with_suffix(".toml")
    file.write_text(TINY_BLAST)
    words: list[object] = ["run", file, "--output", folder]
    settings = (f"debug.step_seconds={step}", "output.snapshot_interval=1e-9")
    for setting in ("time.max_steps=1000000", "time.end=1000", *settings):
        words += ["--set", setting]
    process = subprocess.Popen(
        place.command(*words),
        env=octant_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=heed_signals,
    )
    try:
        while rows(folder) < 2:
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


def rows(folder: Path) -> int:
    """Count the rows of a history."""
    path = folder / "history.csv"
    return path.read_text().count("\n") - 1 if path.exists() else 0


def left(folder: Path) -> str:
    """Tell what is there afterwards, and whether a run continues from it."""
    steps = []
    for path in sorted(folder.glob("checkpoint_*.h5")):
        with h5py.File(path) as file:
            steps.append(int(file["header"].attrs["step"]))
    last = rows(folder) - 1
    what = (
        f"checkpoint of step {steps[-1]} of {last}" if steps else f"no checkpoint of {last} steps"
    )
    if list(folder.glob("*.part")):
        what += ", parts of files"
    if steps:
        again = run(folder, TINY_BLAST, f"time.max_steps={steps[-1] + 1}", restart="latest")
        what += f", goes on with {again.code}"
    return what


def finish(process: Process, folder: Path, asked: float) -> str:
    """Wait for the end; give the exit code, the time it took and what is left."""
    try:
        process.wait(timeout=30)
        code = str(process.returncode)
    except subprocess.TimeoutExpired:
        code = "goes on"
        for pid in ranks_below(process.pid):
            os.kill(pid, signal.SIGKILL)
    took = time.monotonic() - asked
    await_end_of_ranks(folder)
    return f"{code:>8} {took:6.1f} s  {left(folder)}"


def send(name: str, times: int, place: Place, step: float, folder: Path) -> str:
    """Send a signal to a run, in the middle of a step, perhaps again after two seconds."""
    with going(place, folder, step) as process:
        time.sleep(min(0.5 * step, 0.5))
        target, asked = place.target(process.pid), time.monotonic()
        for again in range(times):
            time.sleep(2.2 if again else 0.0)
            os.kill(target, signal.Signals[name])
        return finish(process, folder, asked)


def take_reader(place: Place, step: float, folder: Path) -> str:
    """Close the pipe that a run writes to, and end it a few steps later."""
    with going(place, folder, step) as process:
        assert process.stdout is not None
        process.stdout.close()
        before, deadline = rows(folder), time.monotonic() + 4 * step + 5
        while rows(folder) < before + 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        survived = rows(folder) >= before + 2
        asked = time.monotonic()
        if process.poll() is None:
            os.kill(process.pid, signal.SIGUSR1)
        ends = finish(process, folder, asked)
    return f"{'goes on; then USR1: ' if survived else ''}{ends}"


def shorten_files(place: Place, step: float, folder: Path) -> str:
    """Let no file of the ranks be longer than 16 KiB."""
    with going(place, folder, step) as process:
        limits = (1 << 14, 1 << 14)
        for pid in ranks_below(process.pid):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        return finish(process, folder, time.monotonic())


def ranks_below(pid: int) -> list[int]:
    """List a process and all that it has started, however deep."""
    return [pid, *(rank for child in children_of(pid) for rank in ranks_below(child))]


def attempts(step: float) -> dict[str, Callable[[Place, Path], str]]:
    """Give what to try with steps of so many seconds, by name."""

    def sending(name: str, times: int, seconds: float) -> Callable[[Place, Path], str]:
        return lambda place, folder: send(name, times, place, seconds, folder)

    tries = {name: sending(name, 1, step) for name in SIGNALS}
    if step > 1:
        tries["SIGINT twice"] = sending("SIGINT", 2, 5 * step)
    tries["no reader"] = lambda place, folder: take_reader(place, step, folder)
    tries["SIGXFSZ"] = lambda place, folder: shorten_files(place, step, folder)
    return tries


def main() -> int:
    """Try everything; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=float, nargs="+", default=[0.05, 4.0])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for step in options.steps:
            for what, attempt in attempts(step).items():
                for number, place in enumerate(PLACES):
                    ends = attempt(place, Path(scratch) / f"{what}_{step}_{number}")
                    print(f"{what:<13} step {step:<5g} {place.name:<22} {ends}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
