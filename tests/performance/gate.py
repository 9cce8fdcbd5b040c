#!/usr/bin/env python3
"""Counts instructions of hot kernels, and compares them with the record of this compiler.

    ./octant test performance                            # build the preset portable, then compare
    tests/performance/gate.py [KERNEL...]                # compare with what is built
    tests/performance/gate.py --renew --reason "..." [KERNEL...]
    tests/performance/gate.py --repeat 10 [KERNEL...]    # the spread of several runs

The record, tests/performance/record.json, has one part per compiler and instruction set. `--renew`
writes the part of this compiler, for all kernels or for those that are named, and keeps the reason.
The exit code is 1 if a count differs from the record by more than 2 %.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import benches
import counting

RECORD = Path(__file__).with_name("record.json")
BOUND = 0.02
Counts = dict[str, int]


def load() -> dict[str, Any]:
    """Read the record: for each compiler `libraries`, `reasons` and `kernels`."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def save(record: dict[str, Any]) -> None:
    """Write the record, one kernel per line."""

    def lines(items: list[str], indent: str) -> str:
        return ",\n".join(indent + item for item in items)

    parts = []
    for name, part in sorted(record.items()):
        kernels = [f"{json.dumps(k)}: {json.dumps(c)}" for k, c in sorted(part["kernels"].items())]
        reasons = [json.dumps(reason) for reason in part["reasons"]]
        parts.append(
            f'{json.dumps(name)}: {{\n  "libraries": {json.dumps(part["libraries"])},\n'
            f'  "reasons": [\n{lines(reasons, "   ")}\n  ],\n'
            f'  "kernels": {{\n{lines(kernels, "   ")}\n  }}\n }}'
        )
    RECORD.write_text(f"{{\n{lines(parts, ' ')}\n}}\n")


@cache
def recorded() -> dict[str, Counts]:
    """Give the recorded counts of this compiler; empty where there are none."""
    return load().get(benches.made_with().compiler, {}).get("kernels", {})


@cache
def count_run(run: str) -> dict[str, Counts]:
    """Count all kernels of a run."""
    with tempfile.TemporaryDirectory() as scratch:
        return benches.count_run(run, Path(scratch))


def count(kernel: str) -> Counts:
    """Count a kernel."""
    return count_run(benches.run_of(kernel))[kernel]


def no_record() -> str:
    """Say that nothing is compared."""
    return (
        f"no counts are recorded for {benches.made_with().compiler}: nothing is compared; add them "
        'with tests/performance/gate.py --renew --reason "first record of this compiler"'
    )


def judge(kernel: str, found: Counts, expected: dict[str, Counts]) -> str:
    """Say what is wrong with the counts of a kernel; empty if nothing is."""
    if kernel not in expected:
        return f'{kernel}: has no record yet; add it with --renew --reason "WHY" "{kernel}"'
    return difference(kernel, found, expected[kernel])


def difference(kernel: str, found: Counts, expected: Counts) -> str:
    """Say which counts changed by more than the bound, and what to do; empty where none did."""
    wrong = [
        f"{name.replace('_', ' ')} {expected[name]:,} before, {found[name]:,} now "
        f"({100 * (found[name] / expected[name] - 1):+.2f} %)"
        for name in expected
        if name not in benches.FOR_INFORMATION
        and abs(found[name] - expected[name]) > BOUND * expected[name]
    ]
    if not wrong:
        return ""
    information = ", ".join(
        f"{name.replace('_', ' ')} {expected[name]:,} before, {found[name]:,} now"
        for name in benches.FOR_INFORMATION
        if name in expected
    )
    return (
        f"{kernel}: {', '.join(wrong)}: more than {100 * BOUND:g} %"
        f"{f' ({information})' if information else ''}.\n"
        "If this is not meant, look for the cause in the commits since the record was renewed.\n"
        "If it is meant, renew the record and commit it together with the change:\n"
        f"  .octant/venv/bin/python tests/performance/gate.py --renew "
        f'--reason "WHY" "{kernel}"'
    )


def renew(kernels: Sequence[str], reason: str) -> None:
    """Write the record of this compiler."""
    record = load()
    made_with = benches.made_with()
    part = record.setdefault(made_with.compiler, {"reasons": [], "kernels": {}})
    part["libraries"] = made_with.libraries
    is_all = len(kernels) == len(benches.names())
    part["reasons"].append(f"{'all' if is_all else ', '.join(kernels)}: {reason}")
    before = part["kernels"]
    part["kernels"] = {name: before[name] for name in benches.names() if name in before}
    for name in kernels:
        part["kernels"][name] = count(name)
        print(f"{name}: {before.get(name, 'no record')} -> {part['kernels'][name]}", flush=True)
        save(record)


def compare(kernels: Sequence[str]) -> int:
    """Compare with the record; return the exit code."""
    expected = recorded()
    if not expected:
        print(no_record())
        return 0
    failed = False
    for name in kernels:
        found = count(name)
        wrong = judge(name, found, expected)
        print(wrong or f"{name}: {found}", flush=True)
        failed = failed or bool(wrong)
    return int(failed)


def spread(kernels: Sequence[str], repeats: int) -> None:
    """Print by how much the counts of several runs differ."""
    found: dict[str, list[Counts]] = {name: [] for name in kernels}
    for _ in range(repeats):
        count_run.cache_clear()
        for name in kernels:
            found[name].append(count(name))
    for name, runs in found.items():
        for what in runs[0]:
            least, most = min(run[what] for run in runs), max(run[what] for run in runs)
            print(f"{name}: {what} {least:,} to {most:,}, {100 * (most / max(least, 1) - 1):.3f} %")


def main() -> int:
    """Count; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="all unless some are given")
    parser.add_argument("--renew", action="store_true", help="write the record; needs --reason")
    parser.add_argument("--reason", help="why the counts change")
    parser.add_argument("--repeat", type=int, metavar="N", help="print the spread of N runs")
    arguments = parser.parse_args()
    kernels = arguments.kernels or benches.names()
    if unknown := [name for name in kernels if name not in benches.names()]:
        parser.error(f"unknown: {unknown}; known are {benches.names()}")
    if arguments.renew and not arguments.reason:
        parser.error("--renew needs --reason")
    if counting.valgrind() is None:
        print("valgrind is not installed: nothing is counted")
        return 0
    if arguments.renew:
        renew(kernels, arguments.reason)
    elif arguments.repeat:
        spread(kernels, arguments.repeat)
    else:
        return compare(kernels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
