"""Counts the instructions and cache misses of functions with valgrind's callgrind."""

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from running import octant_environment

Events = dict[str, int]

COUNTER = (
    "--tool=callgrind",
    # Caches of fixed sizes, so that misses do not depend on the machine that counts.
    "--cache-sim=yes",
    "--I1=32768,8,64",
    "--D1=32768,8,64",
    "--LL=8388608,16,64",
)
ALLOCATOR = re.compile(r"(malloc|calloc|realloc|aligned_alloc|posix_memalign|memalign)$")
COMPRESSED_NAME = re.compile(r"\((\d+)\)(?: (.*))?")
# callgrind tells the calls of a recursive function apart by a number behind its name.
RECURSION = re.compile(r"'\d+$")


def no_events() -> Events:
    """Events by name, all of them 0."""
    return defaultdict(int)


@dataclass
class Profile:
    """Costs of a run by function.

    Attributes
    ----------
    own
        Events inside each function, without the functions that it calls.
    calls
        For each (caller, callee) the number of calls and the events inside them.
    """

    own: dict[str, Events] = field(default_factory=lambda: defaultdict(no_events))
    calls: dict[tuple[str, str], tuple[int, Events]] = field(default_factory=dict)

    def cost(self, functions: str, *, with_callees: bool = True, without: str = "^$") -> Events:
        """Add up the events inside all functions whose names match a regular expression.

        A call from one of these functions to another one counts once, and a call to a function
        that `without` matches does not count.
        """
        wanted, unwanted = re.compile(functions), re.compile(without)
        total = no_events()
        for name, events in self.own.items():
            if wanted.search(name):
                add(total, events)
        if with_callees:
            for (caller, callee), (_, events) in self.calls.items():
                if not wanted.search(caller) or wanted.search(callee):
                    continue
                if not unwanted.search(callee):
                    add(total, events)
        return total

    def allocations(self) -> int:
        """Count the calls of the C library's allocators."""
        return sum(n for (_, callee), (n, _) in self.calls.items() if ALLOCATOR.match(callee))


def add(total: Events, events: Events) -> None:
    """Add events to others."""
    for name, number in events.items():
        total[name] += number


def valgrind() -> str | None:
    """Path of valgrind, or None where it is not installed."""
    return shutil.which("valgrind")


def profile(command: list[str], scratch: Path) -> Profile:
    """Run a command on one thread under callgrind.

    Raises
    ------
    RuntimeError
        The command failed.
    """
    output = scratch / "callgrind.out"
    words = [str(valgrind()), *COUNTER, f"--callgrind-out-file={output}", *command]
    environment = octant_environment(threads=1)
    environment.pop("OCTANT_DATA", None)  # the same work with and without reference data
    done = subprocess.run(words, cwd=scratch, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    with output.open() as lines:
        return read_profile(lines)


def read_profile(lines: Iterable[str]) -> Profile:
    """Read a file in callgrind's format."""
    found = Profile()
    names: dict[str, str] = {}

    def full_name(text: str) -> str:
        match = COMPRESSED_NAME.fullmatch(text)
        if match is None:
            return text
        if match[2] is not None:
            names[match[1]] = RECURSION.sub("", match[2])
        return names[match[1]]

    events: list[str] = []
    caller = callee = ""
    calls = 0  # the number of calls that the next line is about
    for line in lines:
        key, _, value = line.rstrip("\n").partition("=")
        if line[0].isdigit() or line[0] in "+-*":  # a position, and what happened there
            costs = dict(zip(events, map(int, line.split()[1:]), strict=False))
            if calls:
                number, total = found.calls.get((caller, callee), (0, no_events()))
                add(total, costs)
                found.calls[caller, callee] = (number + calls, total)
                calls = 0
            else:
                add(found.own[caller], costs)
        elif key == "fn":
            caller = full_name(value)
        elif key == "cfn":
            callee = full_name(value)
        elif key == "calls":
            calls = int(value.split()[0])
        elif line.startswith("events:"):
            events = line.split()[1:]
    return found
