"""The program says what it was built from, with and for."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from running import ROOT, octant


def version() -> str:
    return re.search(r"project\(Octant VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def test_version_names_compiler_and_libraries(ranks: int) -> None:
    outcome = octant("--version", ranks=ranks)
    assert outcome.code == 0
    first, tools, processor = outcome.text.splitlines()  # from one rank only
    assert re.fullmatch(rf"Octant {re.escape(version())} \(.+\)", first)
    for name in ("Kokkos", "MPI", "HDF5", "DUCC"):
        assert re.search(rf"\b{name} \d+\.\d", tools), tools
    assert re.match(r"built with \w+ \d+\.\d", tools), tools
    assert processor.startswith("for ")


def test_the_version_is_the_same_everywhere() -> None:
    with (ROOT / "python/pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == version()
    assert f'__version__ = "{version()}"' in (ROOT / "python/octools/__init__.py").read_text()
    assert f"\nversion: {version()}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## \[(\S+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == version()


def git(folder: Path, *arguments: str) -> str:
    """Run git, whoever its user is, and give what it prints."""
    names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    environment = os.environ | dict.fromkeys(names, "someone")
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment
    ).stdout.strip()


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_every_build_reads_the_revision(tmp_path: Path) -> None:
    sources, template, written = tmp_path / "sources", tmp_path / "in", tmp_path / "out"
    template.write_text('revision = "${OCTANT_GIT_REVISION}"\n')
    script = ["cmake", "-D", f"SOURCES={sources}", "-D", f"VERSION_IN={template}"]
    script += ["-D", f"VERSION_OUT={written}", "-P", str(ROOT / "cmake/write_revision.cmake")]

    def revision() -> str:
        subprocess.run(script, check=True)
        return written.read_text().split('"')[1]

    git(tmp_path, "init", "-q", str(sources))
    first = revision()
    (sources / "code").write_text("1")
    git(sources, "add", "code")
    git(sources, "commit", "-q", "-m", "first")
    assert first == "no git"
    assert revision() == git(sources, "rev-parse", "--short", "HEAD")
    written_at = written.stat().st_mtime_ns
    revision()
    assert written.stat().st_mtime_ns == written_at  # nothing is compiled again
    (sources / "code").write_text("2")
    assert revision().endswith("-dirty")
