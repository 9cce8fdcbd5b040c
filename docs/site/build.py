#!/usr/bin/env python3
"""Make a site of the manual: `./octant manual` calls this.

Collects the pages of docs/ and of the repository's root, writes those that follow from the program
itself (parameters, commands, C++ and Python interfaces, gallery), and hands all to Sphinx. A broken
link is an error.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import cpp
import gallery
import reference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    "CITATION.cff",
    "examples",
    "docs",
)
# Sources that pages link to: readers may fetch them from the site.
SOURCES = ("tests/extending",)


def collect(program: Path, sources: Path) -> None:
    """Put together all pages in one folder, laid out as the repository is: links stay right."""
    for name in PAGES + SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name)
        else:
            shutil.copy(ROOT / name, sources / name)
    front = (ROOT / "README.md").read_text() + "\n" + (HERE / "contents.md").read_text()
    (sources / "index.md").write_text(front)
    docs = sources / "docs"
    reference.write_parameters(program, docs)
    reference.write_commands(program, ROOT / "python/octools/commands.txt", docs)
    reference.write_python(docs)
    cpp.write_pages(ROOT, program.parent / "manual/doxygen", docs / "cpp")
    (docs / "gallery.md").write_text(gallery.page(ROOT))


def main() -> int:
    """Build the site from scratch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="the build folder: the site goes to manual/ in it")
    build = parser.parse_args().build
    sources, site = build / "manual/sources", build / "manual/html"
    # Sphinx would keep pages whose text has not changed, also if this folder has.
    for folder in (sources, site):
        shutil.rmtree(folder, ignore_errors=True)
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
