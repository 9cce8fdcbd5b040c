"""The manual: its site is built without a warning, and what it tells to type works."""

import csv
import functools
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from octools.cli import app, commands
from typer.testing import CliRunner

from pictures import Gallery
from running import ROOT, octant_command, octant_environment, program

TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OF_PROGRAM = ("run", "check", "params", "info")
OF_LAUNCHER = ("build", "test", "bench", "manual", "help")  # their options are others'
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A command line, as far as a comment, the end of a cell of a table, or the end of a quotation.
TYPED = re.compile(r"\./octant ((?:-[nt] \d+ )*)([a-z]+)([^`#|\n]*)")


def octools(*words: str) -> tuple[int, str]:
    """Call a command of octools in this process, which has its libraries already."""
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, f"{result.output}{result.exception or ''}"


def octant(*words: str, ranks: int = 1) -> tuple[int, str]:
    """Call the program."""
    done = subprocess.run(
        octant_command(*words, ranks=ranks),
        env=octant_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def do(line: str) -> tuple[int, str]:
    """Do what a line of a tutorial says, as ./octant would."""
    first, *words = shlex.split(line)
    assert first == "./octant", f"tutorials call nothing else: {line}"
    ranks = 1
    if words[0] == "-n":
        ranks, words = int(words[1]), words[2:]
    return octools(*words) if words[0] in commands() else octant(*words, ranks=ranks)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_work(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tutorial's fenced commands succeed, one after another, with the files that it shows.

    Each picture has range and contrast.
    """
    monkeypatch.chdir(tmp_path)
    gallery = Gallery(monkeypatch)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = 0
    for language, text in FENCED.findall(page.read_text()):
        if language == "toml" and (name := re.match(r"# (\S+\.toml)\n", text)):
            Path(name[1]).write_text(text)
        if language == "sh":
            for line in text.splitlines():
                code, said = do(line)
                assert code == 0, f"{line}\n{said}"
                done += 1
    assert done > 0
    assert gallery.wrong == []
    drawn = {"plot", "profile", "history", "movie", "spectra", "halos"}
    assert gallery.pictures > 0 or not drawn & set(re.findall(r"\./octant (\w+)", page.read_text()))


@functools.cache
def options_of(command: str) -> set[str]:
    """Collect the options that a command knows."""
    ask = octant if command in OF_PROGRAM else octools
    code, said = ask(command, "-h")
    assert code == 0, said
    return set(re.findall(r"(?<!\w)--?[a-z][a-z-]*", said))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_commands_and_options_that_exist(page: Path) -> None:
    """What any page tells to type, is there."""
    for _, command, rest in TYPED.findall(page.read_text()):
        if command in OF_LAUNCHER:
            continue
        assert command in (*OF_PROGRAM, *commands()), f"{page.name}: ./octant {command}"
        unknown = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) - options_of(command)
        assert not unknown, f"{page.name}: ./octant {command}{rest}"


MEASURE = """<script>addEventListener("load", () => {
  const blocks = [...document.querySelectorAll("pre")];
  const cut = blocks.filter((block) => block.scrollWidth > block.clientWidth + 1);
  document.body.setAttribute("data-cut", cut.length);
});</script>"""


def cut_lines_of_code(page: Path) -> str | None:
    """Count blocks of code that a browser shows cut off at the side; None without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return None
    measured = page.with_name(f"measured_{page.name}")
    measured.write_text(page.read_text().replace("</body>", f"{MEASURE}</body>"))
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900")
    words = [browser, *options, "--virtual-time-budget=2000", "--dump-dom", measured.as_uri()]
    shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    measured.unlink()
    found = re.search(r'data-cut="(\d+)"', shown)
    assert found, shown[-500:]
    return found[1]


def test_site_is_built_without_a_warning() -> None:
    """No link to nothing, no page outside of the contents, no formula that cannot be read.

    No line of code is cut off.
    """
    if not importlib.util.find_spec("sphinx"):
        pytest.skip("what makes a site of the manual could not be installed")
    build = program().parent
    words = [sys.executable, ROOT / "docs/site/build.py", build]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    site = build / "manual/html"
    assert "<math" in (site / "docs/theory.html").read_text()
    assert "problem.name" in (site / "docs/parameters.html").read_text()
    for page in ("tutorials/zoom", "tutorials/telemetry_cookbook", "commands"):
        assert cut_lines_of_code(site / f"docs/{page}.html") in ("0", None), page
    outside = re.compile(r'<(?:script|link|img)\b[^>]*(?:src|href)="https?:')
    pages = [path for path in site.rglob("*.html") if outside.search(path.read_text())]
    assert not pages, "pages load what lies elsewhere"


def test_gallery_keeps_a_picture_of_every_run_it_tells_of() -> None:
    """Its entries are those of examples that exist, each with its picture."""
    with (ROOT / "docs/gallery/runs.csv").open(newline="") as rows:
        told = {row["example"] for row in csv.DictReader(rows)}
    assert told == {path.stem for path in (ROOT / "docs/gallery").glob("*.png")}
    assert told <= {path.stem for path in (ROOT / "examples").glob("*.toml")}
