#!/usr/bin/env python3
"""Build wheels of octant-simulation that contain the program and its libraries.

    packaging/wheel/build.py [--python PYTHON]... [--output DIRECTORY]

compiles Octant once, without MPI, in build/wheel, and the Python module for each given Python
(default: the one that runs this script). A wheel contains

    octant/             the Python package with the compiled module
    octools/            the analysis tools
    octant_program/     the program, its launcher, the library of octools and the examples

and is repaired by auditwheel: other libraries are copied into it, and its platform tag states the
oldest C library that it runs with. The module of Python 3.12 fits all later ones; that of Python
3.11 fits this version only. Wheels are written to build/wheel/dist.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build/wheel"
PACKAGES = ("octant", "octools", "octant_program")
PROGRAMS = ("octant", "liboctant_friends.so")
# Packages of Debian whose code a wheel contains, with their licences in /usr/share/doc.
DEBIAN_PACKAGES = (
    "libaec-dev",
    "libcli11-dev",
    "libfmt-dev",
    "libgomp1",
    "libhdf5-dev",
    "libmuparser-dev",
    "libspdlog-dev",
    "libtomlplusplus-dev",
)
ENTRY_POINTS = """\
[console_scripts]
octant = octant_program.launcher:main
octools = octools.cli:main

[yt.frontends]
octant = octools.exports.yt_frontend
"""


@dataclass(frozen=True)
class Tools:
    """A virtual environment of one Python, with the tools that build its wheel."""

    folder: Path

    @property
    def python(self) -> Path:
        """Return its Python."""
        return self.folder / "bin/python"

    @property
    def version(self) -> tuple[int, int]:
        """Return the version of Python."""
        code = "import sys; print(sys.version_info.major, sys.version_info.minor)"
        major, minor = self.read("python", "-c", code).split()
        return int(major), int(minor)

    @property
    def tag(self) -> str:
        """Return the tags of Python and of its binary interface."""
        number = "".join(str(part) for part in self.version)
        return f"cp{number}-abi3" if self.version >= (3, 12) else f"cp{number}-cp{number}"

    def run(self, *command: object) -> None:
        """Run one of the tools at the root of the repository."""
        subprocess.run(self._words(*command), cwd=ROOT, env=self._environment, check=True)

    def read(self, *command: object) -> str:
        """Return the output of a tool."""
        return subprocess.check_output(self._words(*command), env=self._environment, text=True)

    @property
    def _environment(self) -> dict[str, str]:
        return os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def _words(self, name: str, *arguments: object) -> list[str]:
        return [str(self.folder / "bin" / name), *map(str, arguments)]


def install_packages() -> None:
    """Install missing packages of Debian, as ./octant does."""
    script = "source cmake/launcher.sh; install_packages"
    environment = os.environ | {"root": str(ROOT), "preset": "wheel", "jobs": "1"}
    subprocess.run(["bash", "-euc", script], cwd=ROOT, env=environment, check=True)


def install_tools(python: str) -> Tools:
    """Create the virtual environment of a Python."""
    code = "import sys; print('python%d.%d' % sys.version_info[:2])"
    name = subprocess.check_output([python, "-c", code], text=True).strip()
    tools = Tools(BUILD / "tools" / name)
    subprocess.run([python, "-m", "venv", tools.folder], check=True)
    tools.run("pip", "install", "--quiet", "--requirement", HERE / "requirements.txt")
    return tools


def compile_all(tools: Tools) -> None:
    """Compile the program and the module; what another Python has compiled remains valid."""
    for name in BUILD.glob("_octant*.so"):
        name.unlink()
    forget = ("-U", "Python_*", "-U", "_Python_*", "-U", "nanobind_*", "-U", "NB_*")
    tools.run("cmake", "--preset", "wheel", *forget, f"-DPython_EXECUTABLE={tools.python}")
    jobs = os.environ.get("OCTANT_JOBS", str(os.cpu_count()))
    targets = ("octant", "octant_friends", "_octant")
    tools.run("cmake", "--build", BUILD, "--parallel", jobs, "--target", *targets)


def read_project(folder: Path) -> dict[str, object]:
    """Read the description of a distribution."""
    project: dict[str, object] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return project


def write_metadata(folder: Path, tag: str) -> None:
    """Write the description of the wheel, with what the package and the tools require."""
    about, tools = read_project(ROOT), read_project(ROOT / "python")
    needs = sorted({*about["dependencies"], *tools["dependencies"]})
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {about['name']}",
        f"Version: {about['version']}",
        f"Summary: {about['description']}",
        f"Requires-Python: {about['requires-python']}",
        "License: BSD-3-Clause",
        *(f"Requires-Dist: {need}" for need in needs),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "README.md").read_text(),
    ]
    folder.mkdir()
    (folder / "METADATA").write_text("\n".join(lines))
    wheel = f"Wheel-Version: 1.0\nGenerator: octant\nRoot-Is-Purelib: false\nTag: {tag}\n"
    (folder / "WHEEL").write_text(wheel)
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    copy_licences(folder / "licenses")


def copy_licences(folder: Path) -> None:
    """Collect the licences of Octant and of all that a wheel contains."""
    shutil.copytree(HERE / "licences", folder)
    shutil.copy(ROOT / "LICENSE", folder)
    for package in DEBIAN_PACKAGES:
        shutil.copy(Path("/usr/share/doc") / package / "copyright", folder / f"{package}.txt")


def assemble(tools: Tools, folder: Path) -> Path:
    """Collect the files of a wheel, and pack them with a tag for this machine alone."""
    project = read_project(ROOT)
    shutil.rmtree(folder, ignore_errors=True)
    for package in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "python" / package, folder / package, ignore=ignore)
    (module,) = BUILD.glob("_octant*.so")
    for source, place in (
        (module, folder / "octant"),
        *((BUILD / name, folder / "octant_program") for name in PROGRAMS),
    ):
        shutil.copy(source, place)
        subprocess.run(["strip", "--strip-unneeded", place / source.name], check=True)
    examples = folder / "octant_program/examples"
    examples.mkdir()
    for path in (ROOT / "examples").glob("*.toml"):
        shutil.copy(path, examples)
    name = f"{str(project['name']).replace('-', '_')}-{project['version']}.dist-info"
    write_metadata(folder / name, f"{tools.tag}-linux_x86_64")
    packed = BUILD / "packed"
    shutil.rmtree(packed, ignore_errors=True)
    packed.mkdir()
    tools.run("wheel", "pack", folder, "--dest-dir", packed)
    (wheel,) = packed.glob("*.whl")
    return wheel


def main() -> None:
    """Build a wheel for each Python."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--python", action="append", metavar="PYTHON", help="default: this one")
    parser.add_argument("--output", type=Path, default=BUILD / "dist", metavar="DIRECTORY")
    arguments = parser.parse_args()
    install_packages()
    BUILD.mkdir(parents=True, exist_ok=True)
    for python in arguments.python or [sys.executable]:
        tools = install_tools(python)
        compile_all(tools)
        wheel = assemble(tools, BUILD / "content")
        tools.run("auditwheel", "repair", wheel, "--wheel-dir", arguments.output)
    for wheel in sorted(arguments.output.glob("*.whl")):
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
