"""What other packaging systems are told is what the launcher installs, and wheels are whole."""

import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from running import ROOT


def packages(system: str, preset: str = "release") -> list[str]:
    """Ask the launcher what a build needs."""
    return shell(f"packages {system}", preset).split()


def shell(command: str, preset: str = "release") -> str:
    script = f"source cmake/launcher.sh; {command}"
    return subprocess.run(
        ["bash", "-euc", script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "root": str(ROOT), "preset": preset},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_every_system_has_every_library() -> None:
    counts = {name: len(packages(name)) for name in ("apt", "dnf", "pacman", "brew")}
    assert counts == {"apt": 19, "dnf": 18, "pacman": 17, "brew": 15}
    assert packages("apt") == packages("apt", "cuda")
    assert "libfmt-dev" in packages("apt", "cuda-alone")
    assert "libopenmpi-dev" not in packages("apt", "cuda-alone")
    wheel = set(packages("apt", "wheel"))
    assert wheel - set(packages("apt")) == {"libhdf5-dev"}
    assert not [name for name in wheel if "mpi" in name]


def test_advice_fits_the_system() -> None:
    command = 'packager() { echo dnf; }; install_packages; echo "$advice"'
    assert "sudo dnf install gcc-c++ cmake" in shell(command)
    assert shell('packager() { :; }; install_packages; echo "$advice"').strip() == ""


def test_versions_are_one() -> None:
    module = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tools = tomllib.loads((ROOT / "python/pyproject.toml").read_text())
    cmake = re.search(r"VERSION ([\d.]+) LANG", (ROOT / "CMakeLists.txt").read_text())
    assert cmake
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert citation
    changes = re.search(r"^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes
    numbers = {module["project"]["version"], tools["project"]["version"], cmake[1]}
    assert numbers == {citation[1]} == {changes[1]}
    for package in module["tool"]["scikit-build"]["wheel"]["packages"]:
        assert (ROOT / package / "__init__.py").is_file()


def test_jobs_of_continuous_integration_are_documented_and_exist() -> None:
    """Each job of the workflow is a row of the page, and their scripts can be executed."""
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    page = (ROOT / "docs/developer/quality.md").read_text()
    table = page.split("| job | command |")[1].split("\n\n")[0]
    jobs = set(re.findall(r"^  (\w+):$", workflow, re.MULTILINE))
    assert jobs == set(re.findall(r"^\| (\w+) \|", table, re.MULTILINE))
    scripts = {path.name for path in (ROOT / ".ci").iterdir() if os.access(path, os.X_OK)}
    scripts -= {"check_syntax.py", "run"}  # part of `compiler`; all tests, twice
    assert set(re.findall(r"- run: \.ci/(\w+)", workflow)) == scripts
    assert set(re.findall(r"`\.ci/(\w+)", table)) == scripts
    presets = set(re.findall(r"OCTANT_PRESET=(\w+)", table))
    assert presets == set(re.findall(r"preset: (\w+)", workflow)) | {"cuda"}


def test_owners_of_code_are_those_of_paths_that_exist() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text().splitlines()
    rules = [line.split() for line in lines if line and not line.startswith("#")]
    assert rules[0][0] == "*"  # every path has an owner
    for pattern, *owners in rules:
        assert owners
        assert all(re.fullmatch(r"@[\w-]+/[\w-]+", owner) for owner in owners)
        assert pattern == "*" or (ROOT / pattern.strip("/")).exists()


# Other projects' on the Python package index: installing them would run foreign code.
FOREIGN = ("octant", "octools")


def test_archives_with_other_contents_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "cmake")
    fetch_source = importlib.import_module("fetch_source")
    readers = dict.fromkeys(fetch_source.READERS, (lambda archive: b"another archive",))
    monkeypatch.setattr(fetch_source, "READERS", readers)
    for library in fetch_source.LIBRARIES.values():
        with pytest.raises(SystemExit, match=r"SHA-256 is \w+, expected"):
            fetch_source.download(library)


def test_no_distribution_has_the_name_of_another_project() -> None:
    for folder in ("", "python"):
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        assert project["name"] not in FOREIGN


def test_nothing_suggests_to_install_another_project() -> None:
    """Neither documents nor messages: only paths of the repository are installed."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    foreign = re.compile(
        r"pip3? install (?:-\S+ +)*[\"'`]?(?:octant|octools)(?![\w./-])|"
        r"requires?-dist: *(?:octant|octools)(?![\w-])",
        re.IGNORECASE,
    )
    texts = {".md", ".py", ".sh", ".cpp", ".hpp", ".toml", ".txt", ".yaml", ".yml", ".cmake", ""}
    for name in listed:
        path = ROOT / name
        if not path.is_file() or path.suffix not in texts or name == "tests/cli/test_packaging.py":
            continue
        found = foreign.search(path.read_text(errors="ignore"))
        assert found is None, f"{name}: {found and found[0]}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build octools as a wheel, from a copy of its sources."""
    folder = tmp_path_factory.mktemp("wheel")
    leave = shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__", "octant")
    shutil.copytree(ROOT / "python", folder / "python", ignore=leave)
    command = "-m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir"
    subprocess.run(
        [sys.executable, *command.split(), folder, folder / "python"], check=True, timeout=120
    )
    return zipfile.ZipFile(next(folder.glob("octant_tools-*-py3-none-any.whl")))


def test_the_wheel_of_octools_holds_all_of_it(wheel: zipfile.ZipFile) -> None:
    sources = {
        str(path.relative_to(ROOT / "python"))
        for path in (ROOT / "python/octools").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources == {name for name in wheel.namelist() if ".dist-info/" not in name}
    about = {Path(name).name: name for name in wheel.namelist() if ".dist-info/" in name}
    assert "octools = octools.cli:main" in wheel.read(about["entry_points.txt"]).decode()
    needs = message_from_string(wheel.read(about["METADATA"]).decode()).get_all("Requires-Dist")
    assert needs is not None
    assert any(need.startswith("h5py") for need in needs)
