"""./octant hands over to the program, and to octools for the pictures of a run."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from inputs import TINY_BLAST
from refusals import small_disk
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    children_of,
    heed_signals,
    octant,
    octant_environment,
    program,
)

VERSION = '[ "$1" != --version ] || exit 0'
LAUNCHER = ROOT / "cmake/launcher.sh"
TOOLS = ROOT / "python/octools/commands.txt"
ANNOUNCE = 'echo output/blast > "$OCTANT_DONE_FILE"'


@dataclass(frozen=True)
class Clone:
    """A clone whose compiler, program and octools are scripts of a few words."""

    root: Path

    def command(self, program: str) -> list[str]:
        """Return the words that run a program, given as a shell script, through the launcher."""
        self.script("build/release/octant", program)
        return [str(self.root / "octant"), "run", "blast.toml"]

    def run(self, program: str) -> subprocess.CompletedProcess[str]:
        """Run a program, given as a shell script, to its end."""
        return self.launch(*self.command(program)[1:])

    def launch(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Call the launcher with such words."""
        return subprocess.run(
            [str(self.root / "octant"), *words],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def forget_build(self) -> None:
        """Leave a clone of one source in which nothing was built, on a machine with packages."""
        (self.root / "build/release/build.ninja").unlink()
        for folder in ("src", "bench", "tests"):
            (self.root / folder).mkdir()
            (self.root / folder / "a.cpp").touch()
        self.script("bin/dpkg-query", "echo -n installed")

    @property
    def environment(self) -> dict[str, str]:
        """The environment that finds these scripts first."""
        unset = ("NO_COLOR", "OCTANT_PRESET")
        environment = {k: v for k, v in os.environ.items() if k not in unset}
        path = f"{self.root / 'bin'}:{environment['PATH']}"
        return environment | {"PATH": path, "TMPDIR": str(self.root)}

    def script(self, name: str, text: str) -> None:
        """Write a shell script."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def mark_as_installed(self) -> None:
        """Leave what a complete installation of the Python tools leaves."""
        needs = [self.root / "python" / name for name in ("pyproject.toml", "requirements.txt")]
        text = "".join(path.read_text() for path in needs)
        (self.root / ".octant/venv/installed").write_text(text)

    @property
    def asked_of_octools(self) -> str | None:
        """The arguments that octools got; None if nobody called it."""
        path = self.root / "asked"
        return path.read_text().strip() if path.exists() else None


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path)
    (tmp_path / "cmake").mkdir()
    shutil.copy(ROOT / "octant", tmp_path / "octant")
    for name in ("launcher.sh", "packages.txt", "skipped_tests.awk"):
        shutil.copy(ROOT / "cmake" / name, tmp_path / "cmake" / name)
    made.script("build/release/build.ninja", "")
    made.script("bin/ninja", "")
    made.script(".octant/venv/bin/octools", f'echo "$@" > {tmp_path}/asked')
    (tmp_path / "python/octools").mkdir(parents=True)
    shutil.copy(TOOLS, tmp_path / "python/octools")
    for name in ("python/pyproject.toml", "python/requirements.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    made.mark_as_installed()
    return made


def test_pictures_are_made_when_the_program_announces_results(clone: Clone) -> None:
    outcome = clone.run(f'echo "$@"; {ANNOUNCE}')
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "run blast.toml\n", "")
    assert clone.asked_of_octools == "pictures output/blast"
    assert not list(clone.root.glob("tmp.*")), "a temporary file was left behind"


def test_coverage_is_reported_of_the_tests_of_this_call_alone(clone: Clone) -> None:
    clone.script("build/coverage/build.ninja", "")
    (clone.root / "build/coverage/earlier.gcda").touch()
    log = "Testing/Temporary/LastTest.log"
    clone.script("bin/ctest", f'mkdir -p "$2/{Path(log).parent}" && touch "$2/{log}" "$2/new.gcda"')
    clone.script(".octant/venv/bin/pip", "")
    clone.script(".octant/venv/bin/python", 'echo "$@" && ls "$2"')
    (clone.root / "python/requirements-coverage.txt").write_text("gcovr\n")
    outcome = clone.launch("test", "unit", OCTANT_PRESET="coverage")
    assert outcome.returncode == 0
    assert f"tests/line_coverage.py {clone.root}/build/coverage" in outcome.stdout
    assert "new.gcda" in outcome.stdout
    assert "earlier.gcda" not in outcome.stdout
    assert (clone.root / ".octant/venv/coverage").read_text() == "gcovr\n"


def test_python_is_not_touched_where_no_pictures_are_wanted(clone: Clone) -> None:
    shutil.rmtree(clone.root / "python")
    assert clone.run("exit 0").returncode == 0
    assert clone.asked_of_octools is None


@pytest.mark.parametrize(
    ("setting", "expected"),
    [({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, "")],
)
def test_waiting_threads_give_way_unless_the_user_decided(
    clone: Clone, setting: dict[str, str], expected: str
) -> None:
    words = clone.command('echo "spins=$GOMP_SPINCOUNT"')[1:]
    outcome = clone.launch(*words, **({"GOMP_SPINCOUNT": "", "OMP_WAIT_POLICY": ""} | setting))
    assert outcome.stdout == f"spins={expected}\n"


@pytest.mark.parametrize("code", [1, 2, 3])
def test_exit_code_is_the_programs(clone: Clone, code: int) -> None:
    assert clone.run(f"exit {code}").returncode == code
    assert clone.asked_of_octools is None


def test_picture_that_fails_is_only_a_warning(clone: Clone) -> None:
    clone.script(".octant/venv/bin/octools", "exit 2")
    outcome = clone.run(ANNOUNCE)
    assert outcome.returncode == 0
    assert "./octant pictures output/blast" in outcome.stderr


def test_first_build_says_what_it_does_and_counts_its_steps(clone: Clone) -> None:
    """A log gets a line before it begins, one for each tenth, and what compilers say."""
    clone.forget_build()
    clone.script("bin/cmake", "touch build/release/build.ninja")
    steps = 'for n in $(seq 200); do echo "[$n/200] Building CXX object $n.o"; done'
    clone.script("bin/ninja", f"{steps}; echo a.cpp:1: warning")
    outcome = clone.run("exit 0")
    assert outcome.returncode == 0
    first, *rest = outcome.stderr.splitlines()
    assert re.search(r"compiles 1 source.* about \d+ minutes", first)
    counted = [line for line in rest if line.startswith("Compiling: step")]
    assert counted[0] == "Compiling: step 20 of 200"
    assert len(counted) == 10
    assert "a.cpp:1: warning" in rest
    assert "Building" not in outcome.stdout + "".join(rest)


def test_two_first_builds_at_once_wait_for_each_other(clone: Clone) -> None:
    """The second one neither configures nor installs, and says what it waits for."""
    clone.forget_build()
    (clone.root / ".octant/venv/installed").unlink()
    did = clone.root / "did"
    clone.script("bin/cmake", f"echo cmake >> {did}; sleep 1; touch build/release/build.ninja")
    clone.script(".octant/venv/bin/pip", f"echo pip >> {did}; sleep 0.3")
    clone.script("build/release/octant", "exit 0")
    for words, steps in ((["run", "blast.toml"], 1), (["plot", "output"], 3)):
        did.write_text("")
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda _: clone.launch(*words), range(2)))  # noqa: B023
        assert [outcome.returncode for outcome in outcomes] == [0, 0]
        waited = ["Waiting for another ./octant" in outcome.stderr for outcome in outcomes]
        assert (sum(waited), len(did.read_text().split())) == (1, steps)


@pytest.mark.parametrize("slowness", [1, 3])
def test_first_build_estimates_the_time_left_from_the_measured_speed(
    tmp_path: Path, clone: Clone, slowness: int
) -> None:
    """Long units come early and late; on a slower machine the estimate is as much longer."""
    hydro = "CMakeFiles/octant_hydro.dir/src/hydro"
    units = {f"{hydro}/godunov_states.cpp.o": 85, f"{hydro}/ppm26.cpp.o": 28}
    units |= {f"CMakeFiles/octant_gravity.dir/batches/{n}.cpp.o": 12 for n in range(10)}
    units |= {f"CMakeFiles/octant_io.dir/batches/{n}.cpp.o": 8 for n in range(10)}
    units |= {f"CMakeFiles/octant_program.dir/batches/{n}.cpp.o": 25 for n in range(8)}
    listed = "\n".join(f"c++ -c -o {name} -c {name}" for name in units)
    clone.script("bin/ninja", f"cat << END\n{listed}\nEND")
    moments = [slowness * sum(list(units.values())[:n]) for n in range(len(units) + 1)]
    total = moments[-1]
    (tmp_path / "moments").write_text("".join(f"{moment}\n" for moment in moments))
    clone.script("bin/date", f"cd {tmp_path}; head -n 1 moments; sed -i 1d moments")  # each once
    script = f"root={ROOT} jobs=1; source {LAUNCHER}; show_progress octant"
    lines = (f"[{n}/{len(units)}] Building CXX object {name}" for n, name in enumerate(units, 1))
    shown = subprocess.run(
        ["bash", "-c", script],
        env=clone.environment,
        cwd=tmp_path,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"step (\d+) of \d+, about (\d+) min left", shown.stdout)
    off = [abs(60 * int(left) + moments[int(step)] - total) for step, left in found]
    assert len(off) > 5
    assert max(off) < 0.3 * total


def test_run_builds_the_program_alone_and_bench_what_it_needs(clone: Clone) -> None:
    clone.script("bin/ninja", f'echo "$@" >> {clone.root}/built')
    clone.run("exit 0")
    assert clone.launch("bench", "health").returncode == 0
    targets = [line.split()[2:] for line in (clone.root / "built").read_text().splitlines()]
    assert targets == [["octant"], ["octant", "octant-bench"]]


@contextmanager
def ready(clone: Clone, command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and wait until it says so."""
    with subprocess.Popen(
        command,
        env=clone.environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def waiting_for(name: str) -> str:
    return f"trap 'exit 3' {name}; echo ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_signals_reach_the_program(clone: Clone, name: str) -> None:
    with ready(clone, clone.command(waiting_for(name))) as process:
        process.send_signal(signal.Signals[f"SIG{name}"])
        assert process.wait(timeout=30) == 3


def test_a_signal_that_comes_before_the_launcher_listens_reaches_the_program(clone: Clone) -> None:
    launcher = clone.root / "cmake/launcher.sh"
    slowly = 'trap() { sleep 0.1; builtin trap "$@"; }\n'
    launcher.write_text(launcher.read_text() + slowly)
    with ready(clone, clone.command(waiting_for("USR1"))) as process:
        process.send_signal(signal.SIGUSR1)
        assert process.wait(timeout=30) == 3


def test_a_ctrl_c_reaches_the_program_once(clone: Clone) -> None:
    """The terminal sends it to the launcher and to all that it started."""
    counting = "n=0; trap 'n=$((n + 1))' INT; echo ready; for i in 1 2 3 4 5 6; do sleep 0.1; done"
    with ready(clone, clone.command(f"{counting}; exit $((n + 40))")) as process:
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 41


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_ranks_get_the_signal_that_mpirun_hands_on(clone: Clone, name: str) -> None:
    clone.script("bin/mpirun", f"{VERSION}; {waiting_for('USR1')}")
    octant, *arguments = clone.command("")
    with ready(clone, [octant, "-n", "2", *arguments]) as process:
        process.send_signal(signal.Signals[f"SIG{name}"])
        assert process.wait(timeout=30) == 3


def test_ranks_are_killed_by_a_second_signal(clone: Clone) -> None:
    rank = "sleep 60 & echo ready; while kill -0 $! 2> /dev/null; do wait $!; done; exit 9"
    clone.script("bin/mpirun", f"{VERSION}; trap : USR1; {rank}")
    octant, *arguments = clone.command("")
    with ready(clone, [octant, "-n", "2", *arguments]) as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)  # at once: the same request
        time.sleep(2.2)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 9


@pytest.mark.parametrize("target", ["terminal", "mpirun"])
def test_a_signal_in_a_long_step_on_two_ranks_leaves_a_checkpoint(
    clone: Clone, target: str
) -> None:
    """Open MPI alone would kill the ranks before the step ends."""
    (clone.root / "blast.toml").write_text(TINY_BLAST)
    octant, *arguments = clone.command(f'exec {program()} "$@" --output {clone.root}/run')
    endless = ["time.max_steps=1000", "time.end=1000", "debug.step_seconds=3"]
    words = [word for setting in endless for word in ("--set", setting)]
    history = clone.root / "run/history.csv"
    with subprocess.Popen(
        [octant, "-n", "2", *arguments, *words],
        env=clone.environment,
        cwd=clone.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=heed_signals,
    ) as process:
        while not history.exists() or history.read_text().count("\n") < 2:
            assert process.poll() is None
            time.sleep(0.05)
        if target == "terminal":
            os.killpg(process.pid, signal.SIGINT)
        else:
            os.kill(children_of(process.pid)[0], signal.SIGTERM)
        assert process.wait(timeout=60) == 3
    assert list((clone.root / "run").glob("checkpoint_*.h5"))


# --- signals of writes, and readers that go away -------------------------------------------------

COUNTING = 'for n in 1 2 3 4 5 6 7 8 9 10; do echo "[$n/10] Building"; sleep 0.02; done'


def ignores_signals_of_writes(process: int) -> bool:
    """Tell whether a process has begun to ignore SIGPIPE and SIGXFSZ."""
    status = Path(f"/proc/{process}/status").read_text()
    ignored = int(re.search(r"SigIgn:\s*(\w+)", status)[1], 16)
    return all(ignored >> (number - 1) & 1 for number in (signal.SIGPIPE, signal.SIGXFSZ))


def await_true(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["1", "2"])
def test_signals_of_writes_end_nothing_from_the_build_to_the_pictures(
    clone: Clone, words: list[str]
) -> None:
    """Sent to the launcher and to all that it has started."""

    def lasting(stage: str) -> str:
        return f"touch {clone.root}/{stage}; sleep 0.4; touch {clone.root}/{stage}_ended"

    octant, *arguments = clone.command(f"{lasting('running')}; {ANNOUNCE}; exit 5")
    clone.script("bin/ninja", f"{COUNTING}; {lasting('building')}")
    clone.script("bin/mpirun", f'{VERSION}; while [ "$1" != run ]; do p=$1; shift; done; "$p" "$@"')
    clone.script(".octant/venv/bin/octools", f"{lasting('drawing')}; echo $@ > {clone.root}/asked")
    with subprocess.Popen(
        [octant, *words, *arguments],
        env=clone.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        for stage in ("building", "running", "drawing"):
            await_true((clone.root / stage).exists)
            for name in ("SIGPIPE", "SIGXFSZ"):
                os.killpg(process.pid, signal.Signals[name])
            assert not (clone.root / f"{stage}_ended").exists()  # the signals came in time
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 5
    assert "not all" not in errors and "failed" not in errors
    assert clone.asked_of_octools == "pictures output/blast"


def processes_of_a_run(launcher: int) -> list[int]:
    """List a launcher and all below it; ranks only once they have replaced Open MPI's defaults."""
    found = []
    with suppress(OSError):  # where one has ended
        is_mpirun = Path(f"/proc/{launcher}/comm").read_text() == "mpirun\n"
        found.append(launcher)
        for child in children_of(launcher):
            if not is_mpirun or ignores_signals_of_writes(child):
                found += processes_of_a_run(child)
    return found


def small_run(clone: Clone) -> list[str]:
    """Return the words that run a blast of ten steps, with checkpoints, through the launcher."""
    (clone.root / "blast.toml").write_text(TINY_BLAST)
    command = clone.command(f'exec {program()} "$@" --output {clone.root}/run')
    settings = ("time.max_steps=10", "debug.step_seconds=0.05", *CHECKPOINT_EVERY_STEP)
    return command + [word for setting in settings for word in ("--set", setting)]


def assert_is_whole(folder: Path, steps: int = 10) -> None:
    """Check that a run came to its end, and that its last checkpoint is whole."""
    checkpoints = sorted(folder.glob("checkpoint_*.h5"))
    assert len(checkpoints) == steps
    verified = octant("info", "--verify", checkpoints[-1])
    assert verified.code == 0, verified.text
    assert (folder / "history.csv").read_text().count("\n") == steps + 2  # title, step 0 to 10
    assert f"after {steps} steps" in (folder / "log.txt").read_text()


@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["1", "2"])
@pytest.mark.parametrize("name", ["SIGPIPE", "SIGXFSZ"])
def test_signals_of_writes_reach_nothing_that_they_could_end(
    clone: Clone, name: str, words: list[str]
) -> None:
    """Sent to the launcher and to the program again and again, from the first moment on."""
    octant_path, *arguments = small_run(clone)
    with subprocess.Popen(
        [octant_path, *words, *arguments],
        env=octant_environment() | clone.environment,
        cwd=clone.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        await_true(lambda: ignores_signals_of_writes(process.pid))
        sent = 0
        while process.poll() is None:
            for each in processes_of_a_run(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(each, signal.Signals[name])
                    sent += 1
            time.sleep(0.01)
        text, _ = process.communicate()
    assert process.returncode == 0, text
    assert sent > 50
    assert_is_whole(clone.root / "run")


@pytest.mark.parametrize("words", ["", "-n 2"], ids=["1", "2"])
@pytest.mark.parametrize("pipe", ["|", "|&"])
def test_a_reader_that_goes_away_does_not_end_a_run(clone: Clone, pipe: str, words: str) -> None:
    """Not even during the build."""
    octant_path, *arguments = small_run(clone)
    clone.script("bin/ninja", COUNTING)
    command = f"{octant_path} {words} {shlex.join(arguments)}"
    outcome = subprocess.run(
        ["bash", "-c", f"{command} {pipe} head -n 1; exit ${{PIPESTATUS[0]}}"],
        env=octant_environment() | clone.environment,
        cwd=clone.root,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert outcome.returncode == 0, outcome
    assert outcome.stdout.count("\n") == 1
    assert_is_whole(clone.root / "run")


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_goes_away_does_not_end_the_program(clone: Clone, kind: str) -> None:
    """A connection without a terminal may be a socket."""
    talking = "trap 'exit 9' PIPE; for i in 1 2 3 4; do echo $i || exit 9; sleep 0.1; done; exit 5"
    ours, its = socket.socketpair() if kind == "socket" else map(os.fdopen, os.pipe(), "rw")
    with ours, its:
        process = subprocess.Popen(
            clone.command(talking), env=clone.environment, stdout=its, stderr=subprocess.PIPE
        )
        its.close()
        assert os.read(ours.fileno(), 1) == b"1"
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (5, b"")


def test_another_users_clone_is_run_as_it_is(clone: Clone, tmp_path_factory) -> None:
    command = clone.command("exit 3")
    with read_only(clone.root / "build", tmp_path_factory.mktemp("disk")):
        outcome = clone.launch(*command[1:])
        assert (outcome.returncode, outcome.stderr) == (3, "")
        build = clone.launch("build")
    assert build.returncode == 2
    assert "no permission to write" in build.stderr


@contextmanager
def read_only(folder: Path, scratch: Path) -> Iterator[None]:
    """Forbid writing in a folder; root heeds only a disk that is mounted so."""
    if os.geteuid() != 0:
        folder_mode = 0o555
        for path in [folder, *folder.rglob("*")]:
            path.chmod(folder_mode)
        yield
        return
    with small_disk(scratch / "disk", "size=1m") as disk:
        shutil.copytree(folder, disk / "copy")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        shutil.rmtree(folder)
        folder.symlink_to(disk / "copy")
        yield


def test_python_tools_are_installed_with_hashes_or_not_at_all(clone: Clone) -> None:
    installed = clone.root / ".octant/venv/installed"
    installed.unlink()

    def attempt(pip: str) -> subprocess.CompletedProcess[str]:
        clone.script(".octant/venv/bin/pip", pip)
        return clone.launch("plot", "output")

    failing = attempt("exit 1")
    assert (failing.returncode, installed.exists()) == (2, False)
    assert "not be installed completely" in failing.stderr
    assert clone.asked_of_octools is None
    assert attempt(f'echo "$@" >> {clone.root}/pip').returncode == 0
    assert installed.exists()
    old, first, second = (clone.root / "pip").read_text().splitlines()
    assert old == "uninstall --quiet --yes octools"
    assert "--require-hashes" in first
    assert "--no-deps" in second


def test_tools_are_those_of_octools(clone: Clone) -> None:
    """The launcher lists them in its help, and hands over to each of them and to no other."""
    tools = [line.split()[0] for line in TOOLS.read_text().splitlines()]
    shown = clone.launch("-h").stdout.splitlines()
    listed = [line.split()[0] for line in shown if re.match(r"  [a-z]", line)]
    first = listed.index(tools[0])
    assert listed[first : first + len(tools)] == tools
    own = {"run", "check", "params", "info", "bench", "build", "test", "manual"}
    assert own == set(listed) - set(tools)
    for tool in tools:
        assert clone.launch(tool, "-h").returncode == 0
        assert clone.asked_of_octools == f"{tool} -h"
    for wrong in ("plo", "p.*t"):
        assert clone.launch(wrong).returncode == 2


def test_a_restart_is_an_option_of_run(clone: Clone) -> None:
    clone.script("bin/ninja", f"touch {clone.root}/built")
    refused = clone.launch("restart", "run.toml")
    assert refused.returncode == 2
    assert "./octant run FILE.toml --restart latest" in refused.stderr
    assert not (clone.root / "built").exists()


@pytest.mark.parametrize("command", ["build", "test", "manual", "bench"])
def test_help_builds_nothing(clone: Clone, command: str) -> None:
    """Each command describes itself, not the whole launcher."""
    clone.script("bin/ninja", f"touch {clone.root}/built")
    (clone.root / "bench").mkdir()
    shutil.copy(ROOT / "bench/bench.cpp", clone.root / "bench")
    shown = subprocess.run(
        [str(clone.root / "octant"), command, "-h"],
        env=clone.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    first = shown.stdout.splitlines()[0]
    assert re.match(rf"\./octant (\[.*\] )?{command}\b.*: ", first), first
    assert "kennicutt" not in shown.stdout
    assert not (clone.root / "built").exists()
    if command == "bench":
        table = (ROOT / "bench/bench.cpp").read_text().split("k_benchmarks{")[1].split("};")[0]
        names = re.findall(r'Benchmark\{"([a-z-]+)"', table)
        listed = re.findall(r"^  ([a-z-]+) +\w", shown.stdout, re.MULTILINE)
        assert listed == names
        assert len(names) > 15
    if command == "test":
        parts = set(re.findall(r"^test_(\w+)\(\)", LAUNCHER.read_text(), re.MULTILINE))
        assert parts - {"log"} == set(re.findall(r"^  ([a-z]+) +\w", shown.stdout, re.MULTILINE))


def test_output_into_a_pipe_has_no_colours(clone: Clone) -> None:
    assert clone.run('echo "NO_COLOR=$NO_COLOR"').stdout == "NO_COLOR=1\n"
