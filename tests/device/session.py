"""One program on a machine with a GPU, the time that it may take, and what is known of it."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

Result = dict[str, Any]


def failed(result: Result) -> bool:
    """Say whether a result is none."""
    return str(result.get("status", "")).startswith("FAILED")


def failure(ended: subprocess.CompletedProcess[str]) -> Result:
    """Tell how a program ended that should not have ended so."""
    message = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
    return {"status": f"FAILED with {ended.returncode}: {' '.join(message)}"}


def overrides(*extra: str) -> Iterator[str]:
    """Give the words that override parameters."""
    for override in extra:
        yield from ("--set", override)


def carried(folder: Path) -> dict[str, str]:
    """Give the environment in which a program finds the libraries and MPI of pack.sh beside it."""
    libraries = [str(folder / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = {
        "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    mpi = folder / "openmpi"
    if mpi.is_dir():
        environment |= {
            "OPAL_PREFIX": str(mpi),
            "OPAL_BINDIR": str(mpi / "bin"),
            "OPAL_LIBDIR": str(folder / "lib"),
            "OPAL_PKGLIBDIR": str(mpi / "plugins"),
            "OPAL_PKGDATADIR": str(mpi / "share"),
            "OPAL_SYSCONFDIR": str(mpi / "etc"),
            "PATH": f"{mpi / 'bin'}:{os.environ.get('PATH', '')}",
        }
    return environment


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
        self._lock = threading.Lock()
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
        with self._lock:
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
            result = {"status": f"FAILED: stopped after {stopped.timeout:.0f} s, for lack of time"}
        with self._lock:
            known[name] = result | {"seconds": round(time.monotonic() - begun, 2)}
            self.keep()
            print(f"{part}, {name}: {known[name].get('status', 'done')}", flush=True)

    def once_each(self, part: str, works: Mapping[str, Callable[[], Result]]) -> None:
        """Do several small things that are not timed, side by side on the cores there are."""
        workers = max(1, (os.cpu_count() or 1) // 2)
        with ThreadPoolExecutor(workers) as pool:
            for done in [pool.submit(self.once, part, name, works[name]) for name in works]:
                done.result()

    def built_with(self, library: str) -> bool:
        """Say whether the program names a library among those that it was built with."""
        return library in self.run("--version").stdout

    def run(
        self, *words: object, before: tuple[str, ...] = (), program: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the program, or another one, with some words, within the time of the part."""
        chosen = program or self.program
        command = [*before, str(chosen), *(str(word) for word in words)]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=os.environ | carried(chosen.parent),
            cwd=ROOT,
            check=False,
            timeout=max(1.0, self.seconds_left()),
        )
