"""Reports: one page that needs nothing else, for one rank and thousands, as a browser sees it."""

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from conftest import Call
from made_up_run import MadeUpRun
from matplotlib.image import imread

SECTIONS = (
    "findings", "phases", "slow-steps", "compute", "waiting", "balance", "critical-paths", "speeds",
    "kernels", "memory", "placement",
)  # fmt: skip
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@dataclass
class Page(HTMLParser):
    """What a page consists of."""

    sections: dict[str, list[str]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    still_open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        if tag == "section":
            self.sections[given.get("id") or ""] = []
        self.links += [value or "" for key, value in attrs if key in ("src", "href", "action")]
        if tag not in ("meta", "img", "br"):
            self.still_open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "img", "br"):
            self.still_open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.still_open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.sections and data.strip():
            self.sections[list(self.sections)[-1]].append(data)


def parsed(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text())
    page.close()
    assert page.still_open == []
    return page


@pytest.fixture(scope="module")
def busy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run with something in every section."""
    run = MadeUpRun(
        ranks=8, steps=48, slow={5: 3.0}, slow_steps=range(30, 36), preempted=True, work={3: 2.5}
    )
    return run.write(tmp_path_factory.mktemp("report") / "busy")


def test_report_has_all_sections_and_needs_no_network(octools: Call, busy_run: Path) -> None:
    result = octools("report", busy_run)
    assert (result.returncode, result.stderr) == (0, "")
    page = parsed(busy_run / "report.html")
    assert tuple(page.sections) == SECTIONS
    assert all(link.startswith("data:image/png;base64,") for link in page.links)
    text = re.sub(r"base64,[^\"]*", "", (busy_run / "report.html").read_text())
    assert not re.search(r"https?://|@import|url\(", text)
    assert page.tags.count("svg") == 9
    assert any("rank 3" in text for text in page.sections["findings"])
    assert any("in compute sweep, usually" in text for text in page.sections["slow-steps"])


def test_report_of_one_rank(octools: Call, tmp_path: Path) -> None:
    """There is nobody to compare with: no slow ranks, no path over others."""
    MadeUpRun(ranks=1, steps=1).write(tmp_path)
    assert octools("report", tmp_path, "--output", tmp_path / "a" / "r.html").returncode == 0
    page = parsed(tmp_path / "a" / "r.html")
    assert set(SECTIONS) - set(page.sections) == {"slow-steps", "speeds"}
    assert any("Nothing stands out" in text for text in page.sections["findings"])


def test_report_of_thousands_of_ranks_stays_small(octools: Call, tmp_path: Path) -> None:
    """The map keeps the greatest value of the ranks in a pixel: a single slow one stays visible."""
    run = MadeUpRun(ranks=1536, steps=3, ranks_per_node=64, slow={700: 3.0}, rounds=(0,))
    assert octools("report", run.write(tmp_path)).returncode == 0
    path = tmp_path / "report.html"
    assert path.stat().st_size < 500_000
    page = parsed(path)
    assert any("1536 ranks on 24 nodes" in text for text in path.read_text().splitlines())
    assert any("rank 700 (node 10)" in text for text in page.sections["findings"])
    assert any("the greatest of 10 rank(s)" in text for text in page.sections["compute"])


def test_report_of_many_steps_stays_small(octools: Call, tmp_path: Path) -> None:
    assert octools("report", MadeUpRun(steps=1000, rounds=(0,)).write(tmp_path)).returncode == 0
    assert (tmp_path / "report.html").stat().st_size < 500_000


def test_report_that_cannot_be_written_ends_with_2(octools: Call, busy_run: Path) -> None:
    result = octools("report", busy_run, "--output", "/proc/no/report.html")
    assert result.returncode == 2
    assert "cannot write" in result.stderr


# --- As a browser sees it ---


@pytest.fixture(scope="module")
def browser() -> str:
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    pytest.skip("no browser; install one of the packages chromium-headless-shell or chromium")


def look(browser: str, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page without a network; console messages appear on standard error."""
    fixed = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    offline = "--host-resolver-rules=MAP * ~NOTFOUND"
    command = [browser, "--headless", *fixed, offline, *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.fixture(scope="module")
def page(busy_run: Path) -> Path:
    """Give the report with a visitor who points at every chart."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.report import save_report

    path = busy_run / "visited.html"
    with Telemetry(busy_run) as telemetry:
        save_report(telemetry, "busy", path)
    visit = """<script>
    document.querySelectorAll("figure.chart svg").forEach((svg) => {
      const box = svg.getBoundingClientRect();
      const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
      svg.dispatchEvent(new PointerEvent("pointermove", at));
    });
    const wide = document.documentElement.scrollWidth > window.innerWidth;
    document.body.dataset.fits = wide ? "no" : "yes";
    </script></body>"""
    path.write_text(path.read_text().replace("</body>", visit))
    return path


def test_browser_runs_the_script_and_shows_numbers(browser: str, page: Path) -> None:
    done = look(browser, page, "--dump-dom", "--window-size=1100,900")
    assert 'data-ready="yes"' in done.stdout
    assert 'data-fits="yes"' in done.stdout
    assert "CONSOLE" not in done.stderr, done.stderr
    tips = re.findall(r'<div class="tip"[^>]*>(.*?)</div>', done.stdout)
    assert len(tips) == 9
    assert all("NaN" not in tip and "undefined" not in tip for tip in tips)
    assert "compute <b>" in tips[0]
    assert any("rank <b>3</b>" in tip for tip in tips)


def test_page_fits_a_narrow_screen(browser: str, page: Path) -> None:
    done = look(browser, page, "--dump-dom", "--window-size=520,900")
    assert 'data-fits="yes"' in done.stdout


@pytest.mark.parametrize(("theme", "darkest", "brightest"), [("light", 0.9, 1.0), ("dark", 0, 0.2)])
def test_page_follows_the_theme(
    browser: str, page: Path, tmp_path: Path, theme: str, darkest: float, brightest: float
) -> None:
    """The paper is bright or dark, and charts stand out from it in both."""
    text = page.read_text().replace("prefers-color-scheme: dark", "min-width: 1px")
    shown = tmp_path / "page.html"
    shown.write_text(text if theme == "dark" else page.read_text())
    picture = tmp_path / "page.png"
    look(browser, shown, f"--screenshot={picture}", "--window-size=1100,3000")
    pixels = imread(picture)[..., :3].mean(axis=-1)
    assert darkest <= np.median(pixels) <= brightest
    assert pixels.std() > 0.05
