"""State of a run in progress, from the files that it writes."""

from __future__ import annotations

import math
import re
import time
import tomllib
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError
from octools.files import is_file_name, write_new
from octools.history import read_history
from octools.text import printable

LOG_LINES = 12
TAIL_BYTES = 65536
STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)  (\w+)\s+(.*)")


@dataclass(frozen=True)
class RunState:
    """Description of the state of a run.

    Attributes
    ----------
    name
        Of its directory.
    state
        ``running``, ``done``, ``stopped`` (with a checkpoint), ``failed``, ``silent`` (nothing was
        written for long) or ``waiting`` (no step is done yet).
    step, share
        Steps done; share of the way to the end by time or steps, 0 to 1.
    when
        The time, or the redshift.
    step_seconds, left
        Of a step, mean over those of the last minutes; until the end. None where nothing is known.
    quiet
        Seconds since it wrote last.
    numbers
        By name, of the last row of its history: the time step, blocks per level, energies; None
        where it is no finite number.
    warnings, log
        The newest warnings, and lines of its log.
    """

    name: str
    state: str
    step: int = 0
    share: float = 0.0
    when: str = ""
    step_seconds: float | None = None
    left: float | None = None
    quiet: float = 0.0
    numbers: dict[str, float | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    log: tuple[str, ...] = ()


class Watched:
    """Run directory that is read repeatedly; stores the rate of steps."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise OctoolsError(f"the run directory {path} does not exist")
        self.path = path
        # When so many steps and such a share of the way were seen, for some minutes.
        self._seen: deque[tuple[float, int, float]] = deque(maxlen=200)

    def look(self, now: float | None = None) -> RunState:
        """Read the state; `now` in seconds since 1970, by default the present."""
        now = time.time() if now is None else now
        lines = _log_lines(self.path / "log.txt")
        warnings = tuple(text for _, kind, text in lines if kind in ("warning", "error"))
        log = tuple(text for _, _, text in lines)[-LOG_LINES:]
        name = printable(self.path.resolve().name)
        quiet = now - _last_change(self.path)
        try:
            history = read_history(self.path)
        except OctoolsError:
            return RunState(
                name, _state(lines, quiet, None, "waiting"), quiet=quiet, warnings=warnings, log=log
            )
        parameters = Parameters(self.path / "run.toml")
        step = int(_last(history.columns, "step") or 0)
        share, when = _progress(history.columns, parameters)
        goes_on = any(text.startswith("restarted from") for _, _, text in lines)
        begin = None if goes_on else next((stamp for stamp, _, _ in lines), None)
        pace, rate = self._pace(now - quiet, step, share, begin)
        state = _state(lines, quiet, pace, "running")
        share = 1.0 if state == "done" else share
        left = (1 - share) / rate if rate and state == "running" else None
        return RunState(
            name, state, step, share, when, pace, left, quiet, _numbers(history.columns),
            warnings, log,
        )  # fmt: skip

    def _pace(
        self, changed: float, step: int, share: float, begin: float | None
    ) -> tuple[float | None, float | None]:
        """Return seconds per step and share per second, from what was seen and from the log."""
        if not self._seen and begin is not None and changed > begin:
            self._seen.append((begin, 0, 0.0))
        if self._seen and step < self._seen[-1][1]:
            self._seen.clear()  # the run continues from a checkpoint
        if not self._seen or step > self._seen[-1][1]:
            self._seen.append((changed, step, share))
        first, last = self._seen[0], self._seen[-1]
        seconds, steps = last[0] - first[0], last[1] - first[1]
        if seconds <= 0 or steps <= 0:
            return None, None
        return seconds / steps, (last[2] - first[2]) / seconds


def _log_lines(path: Path) -> list[tuple[float, str, str]]:
    """Read the end of a log: time, kind and text of its lines since the newest start."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        if match := STAMP.match(line):
            try:
                stamp = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S.%f").timestamp()
            except (ValueError, OverflowError):
                continue  # a damaged line
            found.append((stamp, match[2], printable(match[3])))
    return found


def _last_change(path: Path) -> float:
    times = []
    for name in ("history.csv", "log.txt"):
        with suppress(OSError):
            times.append((path / name).stat().st_mtime)
    return max(times, default=0.0)


class Parameters:
    """Parameters of a run; a missing value or one of another type counts as not given."""

    def __init__(self, path: Path) -> None:
        try:
            self._given = tomllib.loads(path.read_text())
        except (OSError, ValueError, RecursionError):
            self._given = {}

    def value(self, section: str, key: str) -> object:
        """Return a value, or None."""
        table = self._given.get(section)
        return table.get(key) if isinstance(table, dict) else None

    def number(self, section: str, key: str) -> float:
        """Return a finite number, or 0."""
        value = self.value(section, key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            return _finite(float(value)) or 0.0 if is_number else 0.0  # type: ignore[arg-type]
        except OverflowError:
            return 0.0

    def text(self, section: str, key: str, default: str) -> str:
        """Return a text."""
        value = self.value(section, key)
        return value if isinstance(value, str) else default


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _last(columns: Mapping[str, Any], name: str) -> float | None:
    """Return the last value of a column; None if there is no such column, or no finite value."""
    return _finite(float(columns[name][-1])) if name in columns else None


def _progress(columns: Mapping[str, Any], parameters: Parameters) -> tuple[float, str]:
    """Return the share of the way, by time (or scale factor) or by steps, and the time in words."""
    most = parameters.number("time", "max_steps")
    by_steps = (_last(columns, "step") or 0.0) / max(1.0, most or 1e18)
    if parameters.value("cosmology", "enabled") is True:
        by_time, when = _cosmic_progress(columns, parameters)
    else:
        time, end = _last(columns, "time"), parameters.number("time", "end")
        by_time = time / end if time is not None and end > 0 else 0.0
        when = "t = " + ("-" if time is None else f"{time:.4g}")
        when += f" of {end:.4g}" if end > 0 else ""
    return min(1.0, max(0.0, by_time, by_steps)), when


def _cosmic_progress(columns: Mapping[str, Any], parameters: Parameters) -> tuple[float, str]:
    a = _last(columns, "a")
    if not a or a <= 0:
        return 0.0, "z = -"
    begin, end = (
        _scale_factor(parameters.text("cosmology", key, "a = 1")) for key in ("start", "end")
    )
    return (a - begin) / max(end - begin, 1e-12), f"z = {max(0.0, 1 / a - 1):.4g}"


def _scale_factor(text: str) -> float:
    """Read ``a = ...`` or ``z = ...``; 1 where it is neither."""
    kind, _, number = (part.strip() for part in text.partition("="))
    try:
        value = float(number)
        factor = value if kind == "a" else 1 / (1 + value)
    except (ValueError, ZeroDivisionError):
        return 1.0
    return _finite(factor) or 1.0


def _numbers(columns: Mapping[str, Any]) -> dict[str, float | None]:
    wanted = ("dt", "mass", "total_energy", "kinetic", "wall_shear_lower", "divergence")
    return {
        name: _last(columns, name)
        for name in columns
        if name in wanted or re.fullmatch(r"blocks_\d+|kinetic_[uvw]", name)
    }


def _state(
    lines: list[tuple[float, str, str]], quiet: float, pace: float | None, otherwise: str
) -> str:
    texts = [text for _, _, text in lines]
    starts = [n for n, text in enumerate(texts) if text.startswith("restarted from")]
    texts = texts[starts[-1] :] if starts else texts
    if any(text.startswith("done:") for text in texts):
        return "done"
    if any(text.startswith("stopping at step") for text in texts):
        return "stopped"
    if lines and lines[-1][1] == "error":
        return "failed"
    return "silent" if quiet > max(60.0, 10 * (pace or 0.0)) else otherwise


def control(run: Path, orders: dict[str, object]) -> Path:
    """Write a job-control file, which the run applies at its next step.

    Parameters
    ----------
    run
        Its directory.
    orders
        ``stop`` or ``dump`` (true), ``snapshot_interval``, ``checkpoint_interval`` (numbers >= 0).

    Raises
    ------
    OctoolsError
        For anything else, and where the last file has not been applied yet.
    """
    lines = []
    for name, value in orders.items():
        if name in ("stop", "dump") and value is True:
            lines.append(f"{name} = true\n")
        elif name in ("snapshot_interval", "checkpoint_interval") and _is_length(value):
            lines.append(f"{name} = {float(value)!r}\n")  # type: ignore[arg-type]
        else:
            raise OctoolsError(f"not supported in a control file: {name} = {value}")
    name = Parameters(run / "run.toml").text("run", "control_file", "control.toml")
    if not is_file_name(name) or not name.endswith(".toml") or name in (".toml", "run.toml"):
        raise OctoolsError(
            f"{run / 'run.toml'}: run.control_file = '{printable(name)}' is not a valid "
            "name of a control file; expected a name such as control.toml"
        )
    path = run / name
    try:
        write_new(path, "".join(lines))
    except FileExistsError:
        raise OctoolsError(
            f"{path} exists: the run has not applied the last request yet; remove the "
            "file if the log says that it is ignored"
        ) from None
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause.strerror}") from cause
    return path


def _is_length(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e300


def in_words(seconds: float | None) -> str:
    """Say a length of time in two units at most; a dash where it is not known."""
    if seconds is None:
        return "-"
    minutes, hours, days = round(seconds) // 60, round(seconds) // 3600, round(seconds) // 86400
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    if minutes:
        return f"{minutes} min {round(seconds) % 60} s"
    return f"{seconds:.3g} s" if seconds < 10 else f"{round(seconds)} s"
