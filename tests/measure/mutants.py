#!/usr/bin/env python3
"""Plants small errors, and counts those that the unit tests of their modules find.

    tests/measure/mutants.py [MODULE...] [--count 25] [--seed 1] [--folder FOLDER] [--seconds 60]

FOLDER, or a temporary one, gets a copy of the last commit with COUNT errors in each module
(default: hydro, gravity, comm, pencil). All are compiled together; the environment variable
OCTANT_MUTANT selects the one that takes effect. Kinds of errors: the sign of an addend, a negated
condition, a number multiplied by 1.1, a call that is left out, and a loop without its last pass.
Errors that do not compile are replaced. An error is found if a unit test of its module fails, on
one rank or on three, or does not end within SECONDS. Prints the fraction that is found by module
and kind, and the others. The exit code is 1 if less than 80 % are found.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from running import ROOT, launch_options, octant_environment

MODULES = ("hydro", "gravity", "comm", "pencil")
LEAST_FOUND = 0.8
MOST_BUILDS = 6

# Included by each source with an error.
MUTANT_HEADER = "src/core/mutant.hpp"
HEADER = """\
#pragma once
#include <cstdlib>
namespace octant {
inline const int selected_mutant = std::getenv("OCTANT_MUTANT")
                                       ? std::atoi(std::getenv("OCTANT_MUTANT")) : 0;
inline bool is_mutant(int number) { return selected_mutant == number; }
inline int mutant_sign(int number) { return selected_mutant == number ? -1 : 1; }
inline double mutant_factor(int number) { return selected_mutant == number ? 1.1 : 1.0; }
}  // namespace octant
"""
INCLUDE = '#include "core/mutant.hpp"\n'

# Kinds of errors: a pattern within a line of code, and what it is replaced by.
KINDS = {
    "sign": (
        re.compile(r"(?<=[\w)\]] )([+-]) (?=[\w(])"),
        r"\1 octant::mutant_sign({n}) * ",
    ),
    "condition": (
        re.compile(r"\bif \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"),
        r"if (octant::is_mutant({n}) != static_cast<bool>(\1))",
    ),
    "number": (
        re.compile(r"(?<![\w.])((?!0\.0\b)\d+\.\d+(?:e[+-]?\d+)?)\b"),
        r"(\1 * octant::mutant_factor({n}))",
    ),
    "call": (
        re.compile(r"^(\s+)([a-z_][\w.:>\[\]-]*\([^{}]*\);)$"),
        r"\1if (!octant::is_mutant({n})) \2",
    ),
    "loop": (
        re.compile(r"; (\w+) < ([^;]+); \+\+\1\)"),
        r"; \1 < (\2) - octant::is_mutant({n}); ++\1)",
    ),
}
# Lines that are evaluated by the compiler, that are no statements, or that only describe errors.
EXCLUDED = re.compile(
    r"^\s*(//|#|\*)|\b(constexpr|static_assert|template|using|case|throw|noexcept|requires)\b"
    r"|default:|OCTANT_REQUIRE|\"|if \((const|auto) |if \([^)]*;"
)


@dataclass(frozen=True)
class Mutant:
    """A line with an error.

    Attributes
    ----------
    number
        Its value of OCTANT_MUTANT.
    module, kind
        Where it is, and of which kind.
    file, line
        Path below the copy, and the index of the line.
    original, changed
        The line without and with the error.
    """

    number: int
    module: str
    kind: str
    file: str
    line: int
    original: str
    changed: str


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give the lines within functions that an error may change, with their indices."""
    for index, line in enumerate(text.splitlines()):
        if line.startswith("  ") and not EXCLUDED.search(line):
            yield index, line


def candidates(module: str) -> dict[str, list[tuple[str, int]]]:
    """List the lines of a module's sources to which each kind of error applies."""
    found: dict[str, list[tuple[str, int]]] = {kind: [] for kind in KINDS}
    for path in sorted((ROOT / "src" / module).glob("*.?pp")):
        for index, line in code_lines(path.read_text()):
            for kind, (pattern, _) in KINDS.items():
                # Declarations in headers look like calls.
                if pattern.search(line) and (kind != "call" or path.suffix == ".cpp"):
                    found[kind].append((str(path.relative_to(ROOT)), index))
    return found


def choose(module: str, count: int, first: int, chance: random.Random) -> list[Mutant]:
    """Choose errors of a module, the kinds in turn, at most one for each line."""
    lists = {kind: chance.sample(lines, len(lines)) for kind, lines in candidates(module).items()}
    mutants: list[Mutant] = []
    used: set[tuple[str, int]] = set()
    while len(mutants) < count and any(lists.values()):
        for kind, lines in lists.items():
            if not lines or len(mutants) == count:
                continue
            file, index = lines.pop()
            if (file, index) in used:
                continue
            used.add((file, index))
            original = (ROOT / file).read_text().splitlines()[index]
            pattern, replacement = KINDS[kind]
            number = first + len(mutants)
            changed = pattern.sub(replacement.replace("{n}", str(number)), original, count=1)
            mutants.append(Mutant(number, module, kind, file, index, original, changed))
    return mutants


def plant(copy: Path, mutants: list[Mutant]) -> None:
    """Write the errors into a copy; all other lines are those of the original."""
    (copy / MUTANT_HEADER).write_text(HEADER)
    for path in {mutant.file for mutant in mutants}:
        lines = (ROOT / path).read_text().splitlines()
        for mutant in mutants:
            if mutant.file == path:
                lines[mutant.line] = mutant.changed
        first = next(n for n, line in enumerate(lines) if line.startswith("#include"))
        lines[first] = INCLUDE + f"#line {first + 1}\n" + lines[first]
        text = "\n".join(lines) + "\n"
        if (copy / path).read_text() != text:
            (copy / path).write_text(text)


def programs(build: Path, module: str) -> list[Path]:
    """Paths of a module's test programs, that on several ranks last."""
    names = [f"test_{module}", f"test_{module}_mpi"]
    return [build / "tests" / name for name in names if has_tests(module, name)]


def has_tests(module: str, name: str) -> bool:
    parallel = name.endswith("_mpi")
    files = (ROOT / "tests/unit" / module).glob("*.cpp")
    return any(path.name.endswith("_mpi.cpp") == parallel for path in files)


def compile_tests(build: Path, modules: list[str]) -> str:
    """Compile the test programs; return the errors."""
    targets = [str(path.relative_to(build)) for m in modules for path in programs(build, m)]
    done = subprocess.run(
        ["ninja", "-C", str(build), "-k", "0", *targets], capture_output=True, text=True
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def is_blamed(mutant: Mutant, errors: str) -> bool:
    """Tell whether an error of the compiler, or its origin, is in the line of a mutant."""
    return f"{mutant.file}:{mutant.line + 1}:" in errors


def build_all(copy: Path, mutants: list[Mutant], modules: list[str]) -> tuple[Path, list[Mutant]]:
    """Compile all errors together, without those that do not compile."""
    build = copy / "build/release"
    subprocess.run(["cmake", "--preset", "release"], cwd=copy, check=True, capture_output=True)
    for _ in range(MOST_BUILDS):
        plant(copy, mutants)
        errors = compile_tests(build, modules)
        if not errors:
            return build, mutants
        kept = [mutant for mutant in mutants if not is_blamed(mutant, errors)]
        if len(kept) == len(mutants):
            break
        print(f"{len(mutants) - len(kept)} errors do not compile", flush=True)
        for mutant in set(mutants) - set(kept):
            lines = (ROOT / mutant.file).read_text()
            (copy / mutant.file).write_text(lines)
        mutants = kept
    sys.exit("the copy does not compile:\n" + "\n".join(errors.splitlines()[-40:]))


def finds(build: Path, module: str, number: int, seconds: float) -> str:
    """Name the program whose tests fail or hang with an error; an empty string if all pass."""
    environment = octant_environment() | {"OCTANT_MUTANT": str(number), "OMP_PROC_BIND": "false"}
    for program in programs(build, module):
        for ranks in (3, 1) if program.name.endswith("_mpi") else (1,):
            launcher = ["mpirun", *launch_options(), "-n", str(ranks)] if ranks > 1 else []
            command = [*launcher, str(program), "--gtest_fail_fast"]
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=build,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return f"{program.name} on {ranks} (no end)"
            if code != 0:
                return f"{program.name} on {ranks}"
    return ""


def report(mutants: list[Mutant], found: dict[int, str]) -> float:
    """Print a table and the errors that no test finds; return the fraction that is found."""
    for attribute in ("module", "kind"):
        every = Counter(getattr(mutant, attribute) for mutant in mutants)
        seen = Counter(getattr(m, attribute) for m in mutants if found[m.number])
        for name, count in every.items():
            print(f"{attribute} {name:<10} {seen[name]:3} of {count:3}")
    for mutant in mutants:
        if not found[mutant.number]:
            print(f"\n{mutant.number}: {mutant.file}:{mutant.line + 1} ({mutant.kind})")
            print(f"  {mutant.original.strip()}\n  {mutant.changed.strip()}")
    fraction = sum(bool(found[m.number]) for m in mutants) / max(1, len(mutants))
    print(f"\n{100 * fraction:.0f} % of {len(mutants)} errors are found")
    return fraction


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE")
    parser.add_argument("--count", type=int, default=25, help="errors for each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the copy is built")
    parser.add_argument("--seconds", type=float, default=60, help="limit of each test program")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    mutants: list[Mutant] = []
    for module in options.modules:
        mutants += choose(module, options.count, len(mutants) + 1, chance)
    with tempfile.TemporaryDirectory() as scratch:
        copy = options.folder or Path(scratch) / "mutants"
        if copy.exists() and not (copy / MUTANT_HEADER).exists():
            sys.exit(f"{copy} exists and is no copy with errors; choose another folder")
        if not copy.exists():
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(copy)], check=True)
        build, mutants = build_all(copy, mutants, list(options.modules))
        for module in options.modules:
            if wrong := finds(build, module, 0, 10 * options.seconds):
                sys.exit(f"{module}: {wrong} fails without an error")
        found = {}
        for mutant in mutants:
            found[mutant.number] = finds(build, mutant.module, mutant.number, options.seconds)
            finder = found[mutant.number] or "not found"
            print(f"{mutant.number}: {mutant.file}:{mutant.line + 1}: {finder}", flush=True)
    return int(report(mutants, found) < LEAST_FOUND)


if __name__ == "__main__":
    sys.exit(main())
