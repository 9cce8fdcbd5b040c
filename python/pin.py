#!/usr/bin/env python3
"""Pin what the Python tools need: exact versions, and the hashes of their files.

Writes requirements.txt (the tools and their tests), requirements-readers.txt (other readers of what
Octant writes, for some tests) and requirements-manual.txt (the manual's site) beside this file,
with the newest versions that pyproject.toml allows, for CPython 3.11 to 3.14 on Linux on x86_64 and
aarch64; requirements-coverage.txt, the newest gcovr, for reports of code coverage; and
requirements-oldest.txt, the oldest VTK that there is for each of these Pythons. Run it with a
Python that has uv:

    pip install uv && python python/pin.py
"""

import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = {
    "requirements.txt": ["test"],
    "requirements-readers.txt": ["test", "readers"],
    "requirements-manual.txt": ["test", "manual"],
}
OLDEST = "vtk>=9.2.4"  # the first that reads VTKHDF's meshes
COVERAGE = """\
[project]
name = "coverage"
version = "0"
requires-python = ">=3.11"
dependencies = ["gcovr>=8"]
"""
BUILDS = ["setuptools>=61"]  # that octools itself is installed with
PYTHONS = r"(?:cp31[1-4]-cp31[1-4]|cp3\d+-abi3|(?:py2\.)?py3-none)"
MACHINES = r"(?:any|\S*manylinux\S*_(?:x86_64|aarch64))"
USABLE = re.compile(rf".*-{PYTHONS}-{MACHINES}\.whl")
HEADING = """\
# Exact versions and hashes for CPython 3.11 to 3.14 on Linux, x86_64 and aarch64. Written by
# python/pin.py, which states how to renew it; ./octant installs from here.
"""


def uv(*arguments: str, folder: str) -> str:
    """Run uv in a folder, and give what it prints."""
    command = ["uv", "--quiet", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def usable_hashes(lock: Path) -> set[str]:
    """Collect the hashes of the wheels that fit these Pythons and machines."""
    return {
        wheel["hash"]
        for package in tomllib.loads(lock.read_text())["package"]
        for wheel in package.get("wheels", [])
        if USABLE.fullmatch(wheel["url"].rpartition("/")[2])
    }


def pinned(requirements: str, usable: set[str]) -> str:
    """Leave out the hashes, and then the packages, that no supported machine can use."""
    lines = []
    for entry in re.split(r"\n(?=\S)", requirements.strip()):
        name, *rest = (line.strip(" \\") for line in entry.splitlines())
        hashes = [word for word in rest if word.removeprefix("--hash=") in usable]
        if name.startswith("#") or "win32" in name:
            continue
        if not hashes:
            raise SystemExit(f"{name}: no wheel of it fits")
        lines.append(" \\\n    ".join([name, *hashes]))
    return HEADING + "\n".join(lines) + "\n"


def oldest(minor: int, folder: str) -> str:
    """Pin the oldest VTK for Python 3.minor."""
    (Path(folder) / "oldest.in").write_text(OLDEST)
    words = "pip compile --no-deps --no-header --no-annotate --generate-hashes --resolution lowest"
    words += f" --only-binary :all: --python-version 3.{minor} oldest.in"
    name, rest = uv(*words.split(), folder=folder).split(" ", 1)
    return f"{name} ; python_version == '3.{minor}' {rest}"


def write_pins(project: str, files: dict[str, list[str]]) -> None:
    """Resolve a project, and write for each file what its extras need."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pyproject.toml").write_text(project)
        uv("lock", folder=folder)
        usable = usable_hashes(Path(folder) / "uv.lock")
        for name, extras in files.items():
            words = [word for extra in extras for word in ("--extra", extra)]
            found = uv("export", "--no-emit-project", "--no-annotate", *words, folder=folder)
            (HERE / name).write_text(pinned(found, usable))


def main() -> None:
    """Resolve, and write the files."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [oldest(minor, folder) for minor in range(11, 15)]
        (HERE / "requirements-oldest.txt").write_text(HEADING + "".join(lines))
    project = (HERE / "pyproject.toml").read_text()
    needs = "".join(f'  "{need}",\n' for need in BUILDS)
    write_pins(project.replace("dependencies = [\n", "dependencies = [\n" + needs, 1), FILES)
    write_pins(COVERAGE, {"requirements-coverage.txt": []})


if __name__ == "__main__":
    main()
