"""One program on a machine with a GPU, the time that it may take, and what is known of it."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

Result = dict[str, Any]


def failed(result: Result) -> bool:
    """Say whether a result is none."""
    return str(result.get("verdict", "")).startswith("FAILED")


def failure(ended: subprocess.CompletedProcess[str]) -> Result:
    """Tell how a program ended that should not have ended so."""
    message = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
    return {"verdict": f"FAILED with {ended.returncode}: {' '.join(message)}"}


def overrides(*extra: str) -> Iterator[str]:
    """Give the words that override parameters."""
    for override in extra:
        yield from ("--set", override)


class Session:
    """Results are kept in a file as they come; what went well is not done again."""

    def __init__(
        self, program: Path, file: Path, seconds: float, *, host: Path | None, quick: bool
    ) -> None:
        self.program = program.resolve()
        self.host = host.resolve() if host else None
        self.quick = quick
        self.file = file.resolve()
        self.results: Result = json.loads(file.read_text()) if file.exists() else {}
        self._tried: set[tuple[str, str]] = set()
        self._end = self._end_of_part = time.monotonic() + seconds

    def begin_part(self, seconds: float | None) -> None:
        """Let a part take so many seconds, or all that are left."""
        at_most = self._end if seconds is None else time.monotonic() + seconds
        self._end_of_part = min(self._end, at_most)

    def seconds_left(self) -> float:
        """Seconds that are left to the part."""
        return self._end_of_part - time.monotonic()

    def keep(self) -> None:
        """Write what is known, so that the file is whole whenever this is cut off."""
        draft = self.file.with_suffix(".draft")
        draft.write_text(json.dumps(self.results, indent=1) + "\n")
        draft.replace(self.file)

    def once(self, part: str, name: str, work: Callable[[], Result]) -> None:
        """Do something and keep its result: not what went well, nor what failed a moment ago."""
        known = self.results.setdefault(part, {})
        if name in known and not failed(known[name]):
            return
        if (part, name) in self._tried or self.seconds_left() <= 0.0:
            return
        begun = time.monotonic()
        try:
            result = work()
            self._tried.add((part, name))
        except subprocess.TimeoutExpired as stopped:
            result = {"verdict": f"FAILED: stopped after {stopped.timeout:.0f} s, for lack of time"}
        known[name] = result | {"seconds": round(time.monotonic() - begun, 2)}
        self.keep()
        print(f"{part}, {name}: {known[name].get('verdict', 'done')}", flush=True)

    def run(
        self, *words: object, before: tuple[str, ...] = (), program: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the program, or another one, with some words, within the time of the part."""
        chosen = program or self.program
        carried = [str(chosen.parent / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        environment = os.environ | {
            "LD_LIBRARY_PATH": ":".join(filter(None, carried)),  # by pack.sh
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        command = [*before, str(chosen), *(str(word) for word in words)]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            cwd=ROOT,
            check=False,
            timeout=max(1.0, self.seconds_left()),
        )
