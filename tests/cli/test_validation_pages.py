"""Pages of validation name tests that exist, and the site contains every page of the manual."""

import ast
import re
from pathlib import Path

import pytest

from running import ROOT

PHYSICS = ROOT / "tests/physics"
# Test files to which the letters in the tables of each page refer.
PAGES = {
    "radiation_validation": {
        "T": "test_radiation_transport",
        "E": "test_radiation_exchange",
        "R": "test_radiation_runs",
    },
    "ionization_validation": {
        "S": "test_stromgren",
        "R": "test_ionization_runs",
        "Y": "test_ionizing_stars",
        "B": "test_ionization_refusals",
    },
}
LETTERED = re.compile(r"(?<![\w`])([A-Z])((?: `\w+`,?)+)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+\.png)\)")


def names_of_tests(path: Path) -> set[str]:
    names = {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    return {name for name in names if name.startswith("test_")}


@pytest.mark.parametrize("page", PAGES)
def test_every_result_names_tests_that_exist(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text()
    found = [
        (letter, word)
        for letter, words in LETTERED.findall(text)
        if letter in PAGES[page]
        for word in re.findall(r"`(\w+)`", words)
    ]
    assert len(found) > 10
    tests = {letter: names_of_tests(PHYSICS / f"{file}.py") for letter, file in PAGES[page].items()}
    missing = [
        f"{letter} {word}" for letter, word in found if not any(word in t for t in tests[letter])
    ]
    assert missing == []
    for file in PAGES[page].values():
        assert f"{file}.py" in text


def test_threat_model_names_tests_that_exist() -> None:
    text = (ROOT / "docs/developer/threat_model.md").read_text()
    entries = re.findall(r"`((?:python/)?tests/[\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", text)
    assert len(entries) > 10
    for file, names in entries:
        assert set(re.findall(r"`(\w+)`", names)) <= names_of_tests(ROOT / file), file


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_has_a_script_that_makes_it(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text()
    scripts = re.findall(r"tests/measure/\w+\.py", text)
    assert all((ROOT / script).is_file() for script in scripts)
    for picture in PICTURE.findall(text):
        assert (ROOT / "docs" / picture).is_file()
        assert any(picture in (ROOT / script).read_text() for script in scripts), picture


@pytest.mark.parametrize(
    "example",
    ["shadow", "marshak", "radiation_shock", "radiative_pulse", "stromgren", "cosmological_hii"],
)
def test_examples_of_radiation_are_judged_and_shown(example: str) -> None:
    from octools.expected import EXAMPLES

    assert example in EXAMPLES
    assert f"expect --example {example}" in (ROOT / f"examples/{example}.toml").read_text()
    assert (ROOT / f"docs/gallery/{example}.png").stat().st_size > 1000
    assert f"\n{example}," in (ROOT / "docs/gallery/runs.csv").read_text()


def test_the_site_contains_all_pages_of_the_manual() -> None:
    contents = set(re.findall(r"^(docs/\S+)$", (ROOT / "docs/site/contents.md").read_text(), re.M))
    pages = {str(path.relative_to(ROOT).with_suffix("")) for path in ROOT.glob("docs/**/*.md")}
    assert pages - contents == {"docs/site/contents"}
    generated = {
        "docs/gallery",
        "docs/parameters",
        "docs/commands",
        "docs/python_api",
        "docs/cpp/index",
    }
    assert contents - pages == generated
