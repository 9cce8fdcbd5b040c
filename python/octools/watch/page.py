"""Page that monitors runs, for a browser on the same machine.

Only the loopback address is listened to, every address begins with a secret that is told on the
terminal alone, and the page takes nothing from elsewhere.
"""

from __future__ import annotations

import json
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError
from octools.run import resolve
from octools.text import printable
from octools.watch.state import Watched, control, in_words

MOST_BYTES = 1024  # of an order
STEPS = 50  # that phases are told of
IDLE_SECONDS = 5  # after which a silent connection is closed
CONNECTIONS = 400
PATIENCE = 5.0  # seconds for which what was read of telemetry counts
FILES = {
    "": ("watch.html", "text/html; charset=utf-8"),
    "watch.js": ("watch.js", "text/javascript; charset=utf-8"),
    "watch.css": ("watch.css", "text/css; charset=utf-8"),
}
HEADERS = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
]
REASONS = {
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    409: "Conflict", 500: "Internal Server Error",
}  # fmt: skip

Answer = tuple[int, str, bytes]
Start = Callable[[str, list[tuple[str, str]]], object]


def refusal(status: int, text: str = "") -> Answer:
    """Answer with a status and a line of text."""
    return status, "text/plain; charset=utf-8", (text or REASONS[status]).encode()


class WatchPage:
    """The page as a WSGI application.

    Attributes
    ----------
    token
        The first part of every address.
    hosts
        Names by which the browser may call this server; any other one is another site's.
    """

    def __init__(self, runs: list[Path]) -> None:
        self.token = secrets.token_urlsafe(24)
        self.hosts: set[str] = set()
        self._runs = [Watched(run) for run in runs]
        self._folder = tempfile.TemporaryDirectory(prefix="octools-watch")
        self._lock = threading.Lock()
        self._drawn: dict[Path, float] = {}
        self._phases: dict[Path, tuple[float, dict[str, Any]]] = {}

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """Answer a request."""
        status, kind, body = self._answer(environ)
        length = ("Content-Length", str(len(body)))
        start(f"{status} {REASONS[status]}", [("Content-Type", kind), length, *HEADERS])
        return [body]

    def close(self) -> None:
        """Remove the pictures."""
        self._folder.cleanup()

    def _answer(self, environ: dict[str, Any]) -> Answer:
        if environ.get("HTTP_HOST") not in self.hosts:
            return refusal(403)
        token, slash, what = str(environ.get("PATH_INFO", "")).removeprefix("/").partition("/")
        if not slash or not secrets.compare_digest(token.encode(), self.token.encode()):
            return refusal(404)
        method = environ["REQUEST_METHOD"]
        if method not in ("GET", "POST"):
            return refusal(405)
        try:
            return self._get(what) if method == "GET" else self._post(what, environ)
        except OctoolsError as error:
            return refusal(409, printable(str(error)))
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
            # Files of a run may hold anything; the next look may find them whole.
            return refusal(500, f"{type(error).__name__}: {printable(str(error))}")

    def _get(self, what: str) -> Answer:
        if what in FILES:
            name, kind = FILES[what]
            return 200, kind, Path(__file__).with_name(name).read_bytes()
        if what == "state.json":
            with self._lock:
                states = [self._state(run) for run in self._runs]
            return 200, "application/json", json.dumps(states, allow_nan=False).encode()
        number, _, picture = what.partition("/")
        run = self._run(number)
        if run is None or picture not in ("slice.png", "projection.png", "history.png"):
            return refusal(404)
        with self._lock:
            path = self._draw(run, picture)
        return 200, "image/png", path.read_bytes()

    def _post(self, what: str, environ: dict[str, Any]) -> Answer:
        number, _, order = what.partition("/")
        run = self._run(number)
        if run is None or order != "control":
            return refusal(405)
        if environ.get("CONTENT_TYPE") != "application/json":  # which no form of another site sends
            return refusal(400, "the request is not valid JSON")
        length = str(environ.get("CONTENT_LENGTH") or "")
        if not length.isdigit() or not 0 < int(length) <= MOST_BYTES:
            return refusal(400, f"the request has more than {MOST_BYTES} bytes")
        try:
            orders = json.loads(environ["wsgi.input"].read(int(length)))
        except (RecursionError, ValueError):
            return refusal(400, "the request is not valid JSON")
        if not isinstance(orders, dict) or not orders:
            return refusal(400, "the request is not a JSON object")
        control(run.path, orders)
        return 200, "application/json", b"{}"

    def _run(self, number: str) -> Watched | None:
        return self._runs[int(number)] if number in map(str, range(len(self._runs))) else None

    def _state(self, run: Watched) -> dict[str, Any]:
        state = run.look()
        words = {"pace": in_words(state.step_seconds), "left_words": in_words(state.left)}
        return {
            **asdict(state),
            **words,
            "quiet_words": in_words(state.quiet),
            "telemetry": self._telemetry(run.path),
            "pictures": self._pictures(run.path),
        }

    def _pictures(self, run: Path) -> dict[str, float]:
        """Return the versions of pictures that there are: when what they show was written."""
        found = {}
        try:
            snapshot = resolve(run).stat().st_mtime
            found = {"slice.png": snapshot, "projection.png": snapshot}
        except (OctoolsError, OSError):
            pass  # there is none yet
        if (run / "history.csv").is_file():
            found["history.png"] = float(int((run / "history.csv").stat().st_mtime) // 10)
        return found

    def _draw(self, run: Watched, picture: str) -> Path:
        """Redraw a picture if there is new data to show."""
        path = Path(self._folder.name) / f"{self._runs.index(run)}_{picture}"
        version = self._pictures(run.path).get(picture)
        if version is None:
            raise OctoolsError(f"{run.path} has no plots yet")
        if self._drawn.get(path) != version:
            draw(run.path, picture, path)
            self._drawn[path] = version
        return path

    def _telemetry(self, run: Path) -> dict[str, Any]:
        """Tell of the last steps in telemetry where time went, and how even work was."""
        read, known = self._phases.get(run, (0.0, {}))
        if time.monotonic() - read < PATIENCE and known:
            return known
        try:
            known = recent(run)
        except OctoolsError:
            known = {}
        self._phases[run] = (time.monotonic(), known)
        return known


def recent(run: Path) -> dict[str, Any]:
    """Return shares of phases and the imbalance over the last steps of a run's telemetry."""
    from octools.telemetry.database import Telemetry

    with Telemetry(run) as telemetry:
        last = telemetry.value("select max(step) from steps")
        since = 0 if last is None else last - STEPS
        shares = telemetry.rows(
            "select phase, sum(self_ns) / sum(sum(self_ns)) over () as share from phases "
            f"where step > {since} group by phase order by share desc"
        )[1]
        imbalance = telemetry.value(
            f"select median(compute_imbalance) from balance where step > {since}"
        )
    known = {name: share for name, share in shares if share is not None and isfinite(share)}
    is_known = imbalance is not None and isfinite(imbalance)
    return {"phases": known, "imbalance": imbalance if is_known else None}


def draw(run: Path, picture: str, path: Path) -> None:
    """Draw the newest slice or projection, or the history, as the commands of that name do."""
    from octools.figure import Picture, picture_field, save_plot
    from octools.flow import FlowSnapshot, is_flow
    from octools.flow_figures import FlowSlice, save_flow_history, save_slice
    from octools.history import read_history, save_history
    from octools.snapshot import Snapshot

    if picture == "history.png":
        history = read_history(run)
        if "wall_shear_lower" in history.columns:
            save_flow_history(run, path)
        else:
            save_history(history, run.resolve().name, path)
        return
    snapshot = resolve(run)
    if is_flow(snapshot):
        axis = "z" if picture == "slice.png" else "y"  # nobody projects a flow
        save_slice(FlowSnapshot.read(snapshot), FlowSlice(axis=axis), path)
        return
    with Snapshot(snapshot) as data:
        kind = picture.removesuffix(".png")
        what = Picture(kind=kind, log=kind == "projection").of(data.header)
        save_plot(data, what, picture_field(data, what), path)


def server_of(page: WatchPage, port: int) -> Any:
    """Listen on the loopback address.

    Connections without a request are closed after a while, before they take all places.
    """
    from waitress import create_server

    server = create_server(
        page,
        host="127.0.0.1",
        port=port,
        threads=4,
        ident=None,
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=1,
        connection_limit=CONNECTIONS,
        asyncore_use_poll=True,
    )
    port = server.effective_port
    page.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    return server


def serve(runs: list[Path], port: int, tell: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted; `tell` gets its address."""
    page = WatchPage(runs)
    try:
        server = server_of(page, port)
        tell(f"http://127.0.0.1:{server.effective_port}/{page.token}/")
        try:
            server.run()
        finally:
            server.close()
    finally:
        page.close()
