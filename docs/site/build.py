#!/usr/bin/env python3
"""Make a site of the manual: `./octant manual` calls this.

Collects the pages of docs/ and of the repository's root, writes those that follow from the program
itself (parameters, commands, gallery), and hands all to Sphinx. What does not fit together, such as
a link to nothing, ends it.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gallery

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "CITATION.cff",
    "examples",
    "docs",
)
# Sources that pages link to: readers may fetch them from the site.
SOURCES = ("tests/extending",)


def parameters(program: Path) -> str:
    """Describe all parameters, as the program declares them."""
    said = subprocess.run(
        [program, "params"], check=True, capture_output=True, text=True
    ).stdout
    tables = re.sub(r"^# ", "## ", said, flags=re.MULTILINE)
    about = "All that a parameter file may hold, as `./octant params` prints it."
    return f"# Parameters\n\n{about}\n\n{tables}"


def helps(program: Path) -> list[tuple[str, list[str]]]:
    """List all commands with the words that make them explain themselves."""
    octools = Path(sys.executable).with_name("octools")
    of_program = [
        (name, [str(program), name]) for name in ("run", "check", "params", "info")
    ]
    names = (ROOT / "python/octools/commands.txt").read_text().splitlines()
    of_tools = [
        (name, [str(octools), name]) for name in (line.split()[0] for line in names)
    ]
    return of_program + of_tools


def commands(program: Path) -> str:
    """Collect what every command says of itself."""
    pages = ["# Commands\n\nWhat `./octant COMMAND -h` says.\n"]
    for name, words in helps(program):
        said = subprocess.run(
            [*words, "-h"],
            check=True,
            capture_output=True,
            text=True,
            env={
                "NO_COLOR": "1",
                "TERM": "dumb",
                "COLUMNS": "100",
                "PATH": "/usr/bin:/bin",
            },
        ).stdout
        pages.append(f"## {name}\n\n```text\n{said.strip()}\n```\n")
    return "\n".join(pages)


def collect(program: Path, sources: Path) -> None:
    """Put together all pages in one folder, laid out as the repository is: links stay right."""
    for name in PAGES + SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name)
        else:
            shutil.copy(ROOT / name, sources / name)
    front = (ROOT / "README.md").read_text() + "\n" + (HERE / "contents.md").read_text()
    (sources / "index.md").write_text(front)
    (sources / "docs/parameters.md").write_text(parameters(program))
    (sources / "docs/commands.md").write_text(commands(program))
    (sources / "docs/gallery.md").write_text(gallery.page(ROOT))


def main() -> int:
    """Build the site from scratch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "build", type=Path, help="the build folder: the site goes to manual/ in it"
    )
    build = parser.parse_args().build
    sources, site = build / "manual/sources", build / "manual/html"
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir(parents=True)
    collect(build / "octant", sources)
    sphinx = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "-c",
        HERE,
    ]
    status = subprocess.run([*sphinx, sources, site], check=False).returncode
    if status == 0:
        print(f"wrote {site / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
