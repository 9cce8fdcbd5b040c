#!/usr/bin/env python3
"""Check all sources of a configured build with its compiler, without generating code.

    .ci/check_syntax.py BUILD JOBS

Prints the messages of the compiler; the exit code is 1 if a source has an error.
"""

import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def check(entry: dict[str, str]) -> str:
    """Check a source of a compilation database; return its name if it has an error."""
    words = shlex.split(entry["command"])
    output = words.index("-o")
    del words[output : output + 2]
    done = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], check=False)
    return entry["file"] if done.returncode else ""


def main() -> int:
    """Check all sources."""
    build, jobs = Path(sys.argv[1]), int(sys.argv[2])
    entries = json.loads((build / "compile_commands.json").read_text())
    with ThreadPoolExecutor(jobs) as pool:
        failed = [name for name in pool.map(check, entries) if name]
    print(f"{len(entries)} sources, {len(failed)} with errors", *failed, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
