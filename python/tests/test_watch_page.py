"""The page that follows runs: what it tells, whom it answers, and what it can order."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import partly_refined
from made_up_run import MadeUpRun
from test_watching import write_run

from octools import watch
from octools.watch.page import WatchPage, server_of

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Served:
    """A page that is served.

    Attributes
    ----------
    run
        The run that it follows.
    port, token
        Its address.
    """

    run: Path
    port: int
    token: str

    def ask(
        self, what: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Make a request; return its status and body."""
        address = f"http://127.0.0.1:{self.port}/{what}"
        request = urllib.request.Request(address, data=body, method=method)
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def order(self, body: bytes, **headers: str) -> tuple[int, bytes]:
        given = {"Content_Type": "application/json"} | headers
        return self.ask(f"{self.token}/0/control", "POST", body, **given)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    run = tmp_path_factory.mktemp("watched") / "blast <b>"
    write_run(run, 50, 100.0)
    partly_refined().write(run / "snap_00000.h5")
    MadeUpRun(ranks=2, steps=20).write(run)
    page = WatchPage([run])
    server = server_of(page, 0)
    port = server.effective_port
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield Served(run, port, page.token)
    server.close()
    page.close()


def test_page_tells_the_state(served: Served) -> None:
    status, body = served.ask(f"{served.token}/state.json")
    [state] = json.loads(body)
    assert (status, state["step"], state["share"]) == (200, 50, pytest.approx(0.25))
    assert sum(state["telemetry"]["phases"].values()) == pytest.approx(1.0)
    assert state["telemetry"]["imbalance"] >= 1.0
    for name in state["pictures"]:
        status, picture = served.ask(f"{served.token}/0/{name}")
        if name != "history.png":  # of which this run has too few columns
            assert (status, picture[:4]) == (200, b"\x89PNG"), name
    for name in ("", "watch.js", "watch.css"):
        assert served.ask(f"{served.token}/{name}")[0] == 200


@pytest.mark.parametrize(
    "what", ["", "state.json", "TOKENx/", "x/state.json", "../TOKEN/state.json", "TOKEN"]
)
def test_nothing_answers_without_the_secret(served: Served, what: str) -> None:
    assert served.ask(what.replace("TOKEN", served.token))[0] == 404


def test_nothing_answers_to_another_name(served: Served) -> None:
    """A site whose name was made to stand for this machine calls by its own name."""
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", ""):
        assert served.ask(f"{served.token}/", Host=host)[0] in (400, 403)
    assert served.ask(f"{served.token}/", Host=f"localhost:{served.port}")[0] == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"])
def test_no_other_method_is_answered(served: Served, method: str) -> None:
    for what in ("", "state.json", "0/control"):
        assert served.ask(f"{served.token}/{what}", method)[0] == 405


@pytest.mark.parametrize("what", ["1/slice.png", "-1/slice.png", "0/../log.txt", "0/run.toml"])
def test_nothing_else_is_given_away(served: Served, what: str) -> None:
    assert served.ask(f"{served.token}/{what}")[0] == 404


def test_nobody_else_can_connect(served: Served) -> None:
    address = next(
        (info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)),
        "127.0.0.1",
    )
    if str(address).startswith("127.0.0.1"):
        address = "127.0.0.2"  # this machine as well, and not listened to
    with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
        socket.create_connection((address, served.port), timeout=5)


def test_orders_reach_the_run_once(served: Served) -> None:
    file = served.run / "control.toml"
    for body, headers in (
        (b"stop=true", {}),
        (b"[]", {}),
        (b"{}", {}),
        (b"{" + b" " * 2000 + b"}", {}),
        (b'{"stop": true}', {"Content_Type": "text/plain"}),
        (b'{"stop": true}', {"Content_Type": "application/x-www-form-urlencoded"}),
    ):
        assert served.order(body, **headers)[0] == 400
    assert served.order(b'{"rm": true}')[0] == 409
    assert not file.exists()
    assert served.order(b'{"dump": true}')[0] == 200
    assert file.read_text() == "dump = true\n"
    assert served.order(b'{"stop": true}') == (409, served.order(b'{"stop": true}')[1])
    file.unlink()


def test_page_in_a_browser(served: Served, tmp_path: Path) -> None:
    """What the page shows after a few seconds; names are text, whatever they look like."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no browser; install one of the packages chromium-headless-shell or chromium")
    address = f"http://127.0.0.1:{served.port}/{served.token}/"
    fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    told = subprocess.run(
        [browser, *fixed, "--virtual-time-budget=5000", "--dump-dom", address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    dom = told.stdout
    assert "blast &lt;b&gt;" in dom
    for text in ("25 %, step 50, t = 0.5 of 2", "crowded", "compute", "0/slice.png?", "Stop with"):
        assert text in dom, text
    assert "Content Security Policy" not in told.stderr


@pytest.mark.parametrize(("window", "least"), [(1600, 600), (1000, 800)])
def test_pictures_are_wide_enough_to_read(tmp_path: Path, window: int, least: int) -> None:
    """Three in a row were 351 pixels wide, and their letters 5 pixels high."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no browser; install one of the packages chromium-headless-shell or chromium")
    style = (Path(watch.__file__).with_name("watch.css")).read_text()
    images = f"<div class=pictures>{'<a><img></a>' * 3}</div>"
    page = tmp_path / "page.html"
    page.write_text(
        f"<!doctype html><style>{style}</style><section>{images}</section>"
        "<script>addEventListener('load', () => { const image = document.querySelector('img');"
        "document.title = `width ${image.clientWidth}`; });</script>"
    )
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={window},900"]
    words = [browser, *options, "--virtual-time-budget=1000", "--dump-dom", page.as_uri()]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
    assert int(shown.split("<title>width ")[1].split("<")[0]) >= least


def test_silent_connections_do_not_silence_the_page(served: Served) -> None:
    """More of them than the page serves at a time: each half of a request, and no more."""
    silent = []
    try:
        for _ in range(450):
            silent.append(socket.create_connection(("127.0.0.1", served.port), timeout=30))
            silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127")
        begin = time.monotonic()
        assert served.ask(f"{served.token}/watch.js")[0] == 200
        assert time.monotonic() - begin < 20.0
    finally:
        for connection in silent:
            connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_page_and_its_folder(tmp_path: Path, number: int) -> None:
    run, place = tmp_path / "run", tmp_path / "temporary"
    write_run(run, 3, 10.0)
    place.mkdir()
    command = [sys.executable, "-m", "octools", "watch", str(run), "--page"]
    environment = {**os.environ, "TMPDIR": str(place)}
    before = signal.signal(number, signal.SIG_DFL)  # nohup has tests ignore SIGHUP, and the page
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as page:
        signal.signal(number, before)
        try:
            assert page.stdout and page.stdout.readline().startswith("http://127.0.0.1:")
            assert len(list(place.iterdir())) == 1
            page.send_signal(number)
            _, errors = page.communicate(timeout=60)
        finally:
            page.kill()
    assert list(place.iterdir()) == []
    assert "Traceback" not in errors


def test_damaged_files_give_an_answer(tmp_path: Path) -> None:
    (tmp_path / "history.csv").write_text("step,time,dt\n0,0,0\n1,nan,nan\n")
    page = WatchPage([tmp_path])
    try:
        page.hosts = {"here"}
        begin = {"HTTP_HOST": "here", "REQUEST_METHOD": "GET"}
        answers: list[str] = []
        for what in ("state.json", "0/history.png"):
            environ = {**begin, "PATH_INFO": f"/{page.token}/{what}"}
            body = b"".join(page(environ, lambda status, _: answers.append(status)))
            if what == "state.json":
                json.loads(body, parse_constant=pytest.fail)
        assert answers[0].startswith("200")
        assert answers[1].split()[0] in ("200", "409", "500")
    finally:
        page.close()
