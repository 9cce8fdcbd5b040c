"""The program says what it was built from, with and for."""

import re
import tomllib

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
    newest = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == version()
