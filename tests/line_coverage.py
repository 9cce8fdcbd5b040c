"""Report which lines of src/ the tests executed, by module: a table, and a page for each file.

Called by `OCTANT_PRESET=coverage ./octant test`, after the tests. The folder of a build with the
preset `coverage` holds a counter file for each object file. A process adds its counts when it ends
through exit() or by returning from main(); a killed process, and one that ends through _exit() or
MPI_Abort(), adds none.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ("line_total", "line_covered", "branch_total", "branch_covered")
GCOVR = [
    "--exclude-throw-branches",
    "--merge-mode-functions=separate",  # an inline function is a function of many sources,
    "--merge-lines",  # and a template one of many functions: its lines count once
    "--gcov-suspicious-hits-threshold=0",  # kernels run more than 2^32 times
]


def remove_outdated(build: Path) -> None:
    """Remove what gcov refuses.

    Those are notes of a compiler that was interrupted, and the counts of objects that are missing
    or that have been compiled again since.
    """
    for notes in build.rglob("*.gcno"):
        if not notes.with_suffix(".o").exists():
            notes.unlink()
    for counts in build.rglob("*.gcda"):
        notes = counts.with_suffix(".gcno")
        if not notes.exists() or notes.stat().st_mtime > counts.stat().st_mtime:
            counts.unlink()


def run_gcovr(build: Path, pages: Path) -> dict:
    """Write the pages, and return the counts of each file."""
    pages.mkdir(exist_ok=True)
    summary = pages / "summary.json"
    command = [sys.executable, "-m", "gcovr", "--root", ROOT, "--filter", f"{ROOT}/src/", *GCOVR]
    command += ["--json-summary", summary, "--html-nested", pages / "index.html", build]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return json.loads(summary.read_text())


def by_module(files: list[dict]) -> dict[str, list[int]]:
    """Add up the counts of the files of each folder of src/."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * len(COUNTS))
    for file in files:
        module = file["filename"].split("/")[1]
        for name in (module, "all"):
            sums[name] = [a + file[count] for a, count in zip(sums[name], COUNTS, strict=True)]
    return {name: sums[name] for name in sorted(sums, key=lambda name: (name == "all", name))}


def table(modules: dict[str, list[int]]) -> str:
    """Format the counts as a Markdown table."""
    lines = ["| module | lines | executed | branches taken |", "|---|---|---|---|"]
    for name, (total, covered, branches, taken) in modules.items():
        share = f"{100 * taken / branches:.1f} %" if branches else "none"
        lines.append(f"| {name} | {total} | {100 * covered / total:.1f} % | {share} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    build = Path(sys.argv[1]).resolve()
    pages = build / "coverage"
    remove_outdated(build)
    print(table(by_module(run_gcovr(build, pages)["files"])))
    print(f"lines of each file: {pages / 'index.html'}")


if __name__ == "__main__":
    main()
