"""Command ``octant`` of a wheel: the counterpart of ``./octant`` in a clone, without compiling.

It runs the program, makes the plots of a run, and passes the other commands to octools.
"""

from __future__ import annotations

import difflib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "octant"
OF_THE_PROGRAM = ("check", "params", "info")
OF_A_CLONE = ("bench", "build", "manual", "test")
OF_OTHER_CODES = ("restart", "resume", "continue")
BAD_INPUT = 2  # exit code of the program for invalid input

USAGE = """\
octant [-t THREADS] COMMAND [...]      (COMMAND -h: its options)

  run       run a simulation, then make the plots listed in output.pictures
  check     check a parameter file; estimate memory, cost and files (--all: also its parameters)
  params    print tables of all parameters
  info      print the contents of a snapshot or checkpoint
"""
NO_MPI = (
    "this installation has no MPI and runs on one rank; use octant -t {ranks} for {ranks} threads, "
    "or build Octant from its source (./octant -n {ranks} in a clone) for several ranks"
)

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)


def main() -> None:
    """Run the command line."""
    sys.exit(launch(sys.argv[1:]))


def launch(words: list[str]) -> int:
    """Run a command; return its exit code."""
    threads, words = _threads(words)
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    os.environ.setdefault("OMP_PROC_BIND", "false")
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # waiting threads give way after 0.3 ms
    if threads:
        os.environ["OMP_NUM_THREADS"] = threads
    command = words[0] if words else "help"
    _require_copied_examples(words)
    if command in ("help", "-h", "--help"):
        print(USAGE + "\n".join(f"  {line}" for line in _tools().values()))
        return 0
    if command == "run":
        _require_processor()
        return run_and_draw(words)
    if command in OF_THE_PROGRAM or command.startswith("-"):
        _require_processor()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execv(PROGRAM, [str(PROGRAM), *words])
    return _use_tool(command, words)


def _use_tool(command: str, words: list[str]) -> int:
    if command in OF_A_CLONE:
        _fail(f"{command} requires the source repository of Octant, as ./octant {command}")
    if command in OF_OTHER_CODES:
        _fail(
            f"there is no command {command}; to continue a run from a checkpoint, use octant run "
            "FILE.toml --restart latest (or the path of a checkpoint)"
        )
    if command not in _tools():
        known = ["run", *OF_THE_PROGRAM, *_tools()]
        similar = difflib.get_close_matches(command, known, n=1)
        guess = f"; did you mean {similar[0]}" if similar else ""
        _fail(f"unknown command {command}{guess} (octant -h lists the commands)")
    from octools.cli import main as octools

    sys.argv = ["octools", *words]
    octools()
    return 0  # not reached: octools exits with a code of its own


def _threads(words: list[str]) -> tuple[str, list[str]]:
    """Read the options before the command: the number of threads, and the remaining words."""
    threads = ""
    while words and words[0] in ("-n", "-t"):
        option, number = words[0], (words[1] if len(words) > 1 else "")
        if not (number.isascii() and number.isdigit() and int(number) > 0):
            _fail(f"{option} {number}: expected a positive number")
        if option == "-n" and int(number) > 1:
            _fail(f"-n {number}: " + NO_MPI.format(ranks=number))
        threads = number if option == "-t" else threads
        words = words[2:]
    return threads, words


def run_and_draw(words: list[str]) -> int:
    """Run the program, then make the plots that it announces; return the program's exit code."""
    with tempfile.NamedTemporaryFile(prefix="octant.") as done:
        code = _run(words, done.name)
        results = Path(done.name).read_text().strip()
    if results and subprocess.call([sys.executable, "-m", "octools", "pictures", results]) != 0:
        print(
            f"octant: not all plots were made; to try again: octant pictures {results}",
            file=sys.stderr,
        )
    return code


def _run(words: list[str], done: str) -> int:
    """Run the program in a session of its own: it gets each signal of this process once."""
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"  # for octools
    environment = os.environ | {"OCTANT_DONE_FILE": done, "PATH": path}
    early: list[int] = []
    for number in (*FORWARDED, signal.SIGTSTP):
        signal.signal(number, lambda number, _: early.append(number))
    program = subprocess.Popen(
        [PROGRAM, *words], env=environment, start_new_session=True, restore_signals=False
    )
    for number in FORWARDED:
        signal.signal(number, lambda number, _: program.send_signal(number))
    signal.signal(signal.SIGTSTP, lambda *_: _suspend(program))
    for number in early:
        if number == signal.SIGTSTP:
            _suspend(program)  # a session without a terminal ignores SIGTSTP itself
        else:
            program.send_signal(number)
    code = program.wait()
    for number in (*FORWARDED, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    return code if code >= 0 else 128 - code


def _suspend(program: subprocess.Popen[bytes]) -> None:
    """Stop with the program until this process is continued (Ctrl-Z, fg)."""
    program.send_signal(signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    program.send_signal(signal.SIGCONT)


def _tools() -> dict[str, str]:
    """Return the commands of octools, each with its line in the list of commands."""
    return dict(_tool_lines((HERE.parent / "octools/commands.txt").read_text()))


def _tool_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, _, meaning = line.split(maxsplit=2)
        yield name, f"{name:<9} {meaning}"


def _require_copied_examples(words: list[str]) -> None:
    """Refuse the path of an example that exists in a clone, but not here."""
    for path in map(Path, words[1:] if words[:1] in (["run"], ["check"]) else []):
        example = HERE / "examples" / path.name
        if path.suffix == ".toml" and not path.exists() and example.is_file():
            _fail(
                f"there is no file {path}; to copy this example to the current directory: "
                f"octant examples {path.stem}"
            )


def _require_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Refuse a processor without the instructions of x86-64-v3: the program would crash."""
    flags = next((line for line in cpuinfo.read_text().splitlines() if line[:5] == "flags"), "")
    missing = [name for name in ("avx2", "bmi2", "fma") if name not in flags.split()]
    if missing:
        _fail(
            f"this wheel requires a processor with AVX2 (x86-64-v3), and this one has no "
            f"{', '.join(missing)}; build Octant from its source for it"
        )


def _fail(message: str) -> NoReturn:
    print(f"octant: {message}", file=sys.stderr)
    sys.exit(BAD_INPUT)
