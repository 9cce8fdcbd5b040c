"""The manual: its site is built without a warning, and what it tells to type works."""

import csv
import functools
import http.server
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
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
OPTION = re.compile(r"(?<!\S)--?[a-z][a-z-]*")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A command line, as far as a comment, the end of a cell of a table, or the end of a quotation.
TYPED = re.compile(r"(?:\./octant|`octant|`octools) ((?:-[nt] \w+ )*)([a-z][a-z-]*)([^`#|\n]*)")
PARAMETER = re.compile(r"(?:`|--set '?)([a-z_]+\.[a-z_0-9]+)(?=[`= ])")
BENCHMARK = re.compile(r"(?:octant (?:-[nt] \w+ )*|`)bench ([a-z][a-z-]*)([^`#|\n]*)")


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
        unknown = set(OPTION.findall(rest)) - options_of(command)
        assert not unknown, f"{page.name}: ./octant {command}{rest}"


@functools.cache
def parameters() -> set[str]:
    """Collect the names of all parameters."""
    code, said = octant("params")
    assert code == 0, said
    return set(re.findall(r"^\| `(\w+\.\w+)`", said, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_parameters_that_exist(page: Path) -> None:
    """Parameters in quotations, options `--set` and parts of parameter files exist.

    Files whose names begin like a parameter end in an extension. The first tutorial shows an error.
    """
    text = page.read_text()
    named = PARAMETER.findall(text)
    for language, block in FENCED.findall(text):
        if language == "toml":
            sections = {k: v for k, v in tomllib.loads(block).items() if isinstance(v, dict)}
            named += [f"{section}.{name}" for section in sections for name in sections[section]]
    known_sections = {name.split(".")[0] for name in parameters()}
    unknown = {name for name in named if name.split(".")[0] in known_sections} - parameters()
    unknown = {name for name in unknown if Path(name).suffix not in (".toml", ".h5", ".lock")}
    assert unknown <= ({"mesh.maxlevel"} if page.stem == "first_blast" else set())


@functools.cache
def benchmark_options(name: str) -> set[str]:
    """Collect the options of a benchmark."""
    bench = program().with_name("octant-bench")
    words = [bench, "bench", name, "-h"]
    done = subprocess.run(
        words, env=octant_environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    return set(re.findall(r"(?<!\w)--?[a-z][a-z-]*", done.stdout))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_benchmarks_and_options_that_exist(page: Path) -> None:
    """Benchmarks of any page exist, with the options that it names."""
    if not program().with_name("octant-bench").is_file():
        pytest.skip("octant-bench is not built")
    for name, rest in BENCHMARK.findall(page.read_text()):
        unknown = set(OPTION.findall(rest)) - benchmark_options(name)
        assert not unknown, f"{page.name}: bench {name}{rest}"


# A page that opens others in frames of two widths, and lists those that are wider than their frame,
# or have a block of code that is cut off at the side.
HARNESS = """<!DOCTYPE html><body><script>
const pages = PAGES, found = [], frame = document.createElement("iframe");
frame.height = 900;
document.body.append(frame);
async function look(page, width) {
  frame.width = width;
  const loaded = new Promise((done) => frame.addEventListener("load", done, {once: true}));
  frame.src = page;
  await loaded;
  const root = frame.contentDocument.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`${page} at ${width}`);
  const blocks = [...frame.contentDocument.querySelectorAll("pre")];
  const cut = blocks.some((block) => block.scrollWidth > block.clientWidth + 1);
  if (cut) found.push(`code of ${page} at ${width}`);
}
(async () => {
  for (const page of pages) for (const width of [1280, 400]) await look(page, width);
  document.body.innerHTML = `<p id="found">${pages.length}:${found.join(";")}</p>`;
})();
</script></body>"""


def pages_that_scroll_sideways(site: Path, pages: list[str]) -> str | None:
    """List pages that a browser shows wider than its window; None without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return None
    harness = site / "harness.html"
    harness.write_text(HARNESS.replace("PAGES", json.dumps(pages)))
    handler = functools.partial(SilentHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000")
        words = [browser, *options, "--virtual-time-budget=600000", "--dump-dom"]
        address = f"http://127.0.0.1:{server.server_port}/harness.html"
        done = subprocess.run(
            [*words, address], capture_output=True, text=True, check=True, timeout=600
        )
        server.shutdown()
    harness.unlink()
    found = re.search(r'<p id="found">(\d+):(.*?)</p>', done.stdout)
    assert found, done.stdout[-500:]
    assert int(found[1]) == len(pages)
    return found[2]


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    """A server of files that does not log requests."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def test_site_is_built_without_a_warning() -> None:
    """No broken link, no page outside of the contents, no formula that cannot be read.

    No page and no line of code is wider than a window of 1280 or 400 pixels.
    """
    if not importlib.util.find_spec("sphinx"):
        pytest.skip("what makes a site of the manual could not be installed")
    build = program().parent
    words = [sys.executable, ROOT / "docs/site/build.py", build]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    site = build / "manual/html"
    for page, text in (
        ("theory", "<math"),
        ("parameters/amr", "mesh.base_cells"),
        ("commands/plot", "--outlines"),
        ("python_api/load", "octools.loading.load"),
        ("cpp/index", "C++ interfaces"),
        ("faq", "The Octant authors"),  # behind "Copyright"
    ):
        assert text in (site / f"docs/{page}.html").read_text(), page
    pages = sorted(path.relative_to(site).as_posix() for path in (site / "docs").rglob("*.html"))
    others = [page for page in pages if not page.startswith("docs/cpp/")]
    headers = [page for page in pages if page.startswith("docs/cpp/")][::10]
    assert pages_that_scroll_sideways(site, [*others, *headers]) in ("", None)
    outside = re.compile(r'<(?:script|link|img)\b[^>]*(?:src|href)="https?:')
    loading = [path for path in site.rglob("*.html") if outside.search(path.read_text())]
    assert not loading, "pages load what lies elsewhere"


@pytest.mark.skipif(not shutil.which("doxygen"), reason="doxygen is not installed")
def test_interfaces_are_listed_with_their_comments(tmp_path: Path) -> None:
    """Declarations, and comments before and behind them, are on the page of their header."""
    source = tmp_path / "src"
    header = """// A box.
#pragma once
namespace octant {
// Box of cells in `n` dimensions, a <= b.
class Box {
 public:
  // Number of cells. Collective.
  int cells(double x = f(1)) const { return x > 0 ? 1 : 2; }  // NOLINT
  int side = 1;  // in cells
  int plain() const;

 private:
  int hidden_;  // private
};
}  // namespace octant
"""
    (source / "mesh").mkdir(parents=True)
    (source / "amr").mkdir()
    (source / "mesh/box.hpp").write_text(header)
    (source / "mesh/inner.hpp").write_text(header.replace("Box", "Inner"))
    (source / "amr/use.cpp").write_text('#include "mesh/box.hpp"\n')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/architecture.md").write_text("| 3 | `src/mesh/` | octree |\n")
    sys.path.insert(0, str(ROOT / "docs/site"))
    import cpp

    cpp.write_pages(tmp_path, tmp_path / "work", tmp_path / "pages")
    page = (tmp_path / "pages/mesh/box.md").read_text()
    for text in (
        "A box.",
        "## class Box\n\nBox of cells in `n` dimensions, a \\<= b.",
        "```cpp\nint cells(double x = f(1)) const;\n```\n\nNumber of cells. Collective.",
        "int side = 1;  // in cells",
        "int plain() const;",
    ):
        assert text in page, page
    assert "hidden_" not in page
    assert not (tmp_path / "pages/mesh/inner.md").exists()
    assert "| [mesh](mesh.md) | octree | 2 of 3 |" in (tmp_path / "pages/index.md").read_text()


def test_gallery_keeps_a_picture_of_every_run_it_tells_of() -> None:
    """Its entries are those of examples that exist, each with its picture."""
    with (ROOT / "docs/gallery/runs.csv").open(newline="") as rows:
        told = {row["example"] for row in csv.DictReader(rows)}
    assert told == {path.stem for path in (ROOT / "docs/gallery").glob("*.png")}
    assert told <= {path.stem for path in (ROOT / "examples").glob("*.toml")}
