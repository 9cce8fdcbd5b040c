"""The wheel of packaging/wheel: its launcher, and its contents and results if it has been built."""

import functools
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from projections import tolerance
from reference_bits import (
    departures,
    differences,
    digest,
    examples,
    fingerprint,
    load,
    run_first_steps,
)
from running import ROOT, Outcome, heed_signals

LAUNCH = "import sys; from octant_program.launcher import main; sys.argv[0] = 'octant'; main()"
DIST = Path(os.environ.get("OCTANT_WHEELS", ROOT / "build/wheel/dist"))
REPEAT = "while :; do sleep 0.05; done"


@dataclass(frozen=True)
class Installed:
    """A folder like site-packages, with the packages of a wheel."""

    folder: Path

    def command(self, *words: str) -> list[str]:
        """Return the words of a command line."""
        return [sys.executable, "-c", LAUNCH, *words]

    @property
    def environment(self) -> dict[str, str]:
        """Return an environment in which these packages come first."""
        unset = ("OCTANT_BUILD", "OMP_NUM_THREADS")
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        return kept | {"PYTHONPATH": str(self.folder)}

    def run(self, *words: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def script(self, text: str) -> None:
        """Write a shell script in place of the program."""
        path = self.folder / "octant_program/octant"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    @contextmanager
    def running(self, script: str) -> Iterator[subprocess.Popen[str]]:
        """Start `octant run` with a script that says "ready" when it has set its traps."""
        self.script(script)
        process = subprocess.Popen(
            self.command("run", "a.toml"),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=heed_signals,
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.fixture
def fake(tmp_path: Path) -> Installed:
    """Install the launcher with scripts in place of the program and of octools."""
    shutil.copytree(ROOT / "python/octant_program", tmp_path / "octant_program")
    (tmp_path / "octant_program/examples").mkdir()
    (tmp_path / "octant_program/examples/sod.toml").touch()
    (tmp_path / "octools").mkdir()
    shutil.copy(ROOT / "python/octools/commands.txt", tmp_path / "octools")
    (tmp_path / "octools/__init__.py").touch()
    say = "import sys\ndef main():\n    print('octools', *sys.argv[1:])\n"
    (tmp_path / "octools/cli.py").write_text(say)
    (tmp_path / "octools/__main__.py").write_text("from octools.cli import main\nmain()\n")
    installed = Installed(tmp_path)
    installed.script('echo "$@" with $OMP_NUM_THREADS threads')
    return installed


def test_run_is_followed_by_the_plots_that_the_program_announces(fake: Installed) -> None:
    fake.script('echo "$@"; echo output/blast > "$OCTANT_DONE_FILE"')
    outcome = fake.run("run", "blast.toml", "--overwrite")
    assert outcome.stdout == "run blast.toml --overwrite\noctools pictures output/blast\n"
    fake.script("exit 0")
    assert fake.run("run", "blast.toml").stdout == ""


@pytest.mark.parametrize("code", [1, 2, 3])
def test_the_exit_code_is_that_of_the_program(fake: Installed, code: int) -> None:
    fake.script(f"exit {code}")
    assert fake.run("run", "a.toml").returncode == code
    assert fake.run("check", "a.toml").returncode == code


def test_the_number_of_threads_is_set(fake: Installed) -> None:
    cores = len(os.sched_getaffinity(0))
    assert fake.run("run", "a.toml").stdout == f"run a.toml with {cores} threads\n"
    assert fake.run("-n", "1", "-t", "3", "info", "b.h5").stdout == "info b.h5 with 3 threads\n"


def test_other_commands_are_those_of_octools(fake: Installed) -> None:
    assert fake.run("plot", "output/blast", "--log").stdout == "octools plot output/blast --log\n"
    text = fake.run("-h").stdout
    for line in (ROOT / "python/octools/commands.txt").read_text().splitlines():
        assert f"  {line.split()[0]} " in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["-n", "2", "run", "a.toml"],
            "no MPI and runs on one rank; use octant -t 2 for 2 threads",
        ),
        (["-n", "two", "run", "a.toml"], "-n two: expected a positive number"),
        (["-t"], "-t : expected a positive number"),
        (["bench", "gas"], "bench requires the source repository of Octant, as ./octant bench"),
        (["restart"], "octant run FILE.toml --restart latest"),
        (["paint"], "unknown command paint (octant -h lists the commands)"),
        (["rnu", "a.toml"], "unknown command rnu; did you mean run (octant -h"),
        (
            ["run", "examples/sod.toml"],
            "there is no file examples/sod.toml; to copy this example to the current directory: "
            "octant examples sod",
        ),
    ],
)
def test_refusals_say_what_to_do(fake: Installed, words: list[str], message: str) -> None:
    outcome = fake.run(*words)
    assert outcome.returncode == 2
    assert message in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize("flags", ["flags : fma avx bmi2", "processor : 0", ""])
def test_an_old_processor_is_refused(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "python")
    from octant_program.launcher import _require_processor

    (tmp_path / "cpuinfo").write_text(f"{flags}\n")
    with pytest.raises(SystemExit):
        _require_processor(tmp_path / "cpuinfo")
    assert "requires a processor with AVX2 (x86-64-v3), and this one" in capsys.readouterr().err
    (tmp_path / "cpuinfo").write_text("flags\t: fma avx avx2 bmi2\n")
    _require_processor(tmp_path / "cpuinfo")


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "USR1"])
def test_the_program_gets_each_signal_once(fake: Installed, name: str) -> None:
    script = f"n=0\ntrap 'n=$((n + 1))' {name}\necho ready\n"
    script += "for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; echo $n; exit 3"
    with fake.running(script) as process:
        process.send_signal(getattr(signal, f"SIG{name}"))
        assert process.communicate(timeout=30)[0] == "1\n"
        assert process.returncode == 3


def state_of(process: int | str) -> str:
    """Return the state of a process, such as T if it is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]


def test_the_program_is_suspended_and_continued_with_the_launcher(fake: Installed) -> None:
    """A shell continues the launcher only after it has stopped, which is after the program has."""
    with fake.running(f"trap 'exit 0' TERM; echo ready; {REPEAT}") as process:
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for number, states in ((signal.SIGTSTP, "T"), (signal.SIGCONT, "SR")):
            process.send_signal(number)
            deadline = time.monotonic() + 20
            while state_of(child) not in states or state_of(process.pid) not in states:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_the_exit_code_tells_of_a_killed_program(fake: Installed) -> None:
    fake.script("kill -KILL $$")
    assert fake.run("run", "a.toml").returncode == 128 + signal.SIGKILL


# --- The built wheel ---


@pytest.fixture(scope="module")
def wheel() -> Path:
    """Find the wheel for this Python; newer Pythons share that of Python 3.12."""
    tag = "cp311-cp311" if sys.version_info < (3, 12) else "cp312-abi3"
    found = sorted(DIST.glob(f"octant_simulation-*-{tag}-*.whl"))
    if not found:
        pytest.skip(f"no wheel in {DIST}; packaging/wheel/build.py builds it")
    return found[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Unpack the wheel, as pip does."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    (folder / "octant_program/octant").chmod(0o755)
    return Installed(folder)


def test_the_wheel_is_portable_and_complete(wheel: Path) -> None:
    assert "-manylinux_2_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for package in ("octools", "octant", "octant_program"):
        for path in (ROOT / "python" / package).rglob("*.*"):
            if "__pycache__" not in path.parts and path.is_file():
                assert str(path.relative_to(ROOT / "python")) in names
    assert {f"octant_program/examples/{name}.toml" for name in examples()} <= names
    libraries = [Path(name).name for name in names if ".libs/" in name]
    unwanted = ("mpi", "curl", "crypto", "hdf5", "stdc++")
    assert not [name for name in libraries for word in unwanted if word in name]


def test_the_wheel_runs_an_example_to_its_plot(installed: Installed) -> None:
    assert installed.run("examples", "sod").returncode == 0
    outcome = installed.run("run", "sod.toml", timeout=300)
    assert outcome.returncode == 0, outcome.stderr
    assert (installed.folder / "output/sod/snap_00004_profile_x.png").is_file()
    assert "snap_00004" in installed.run("info", "output/sod/snap_00004.h5").stdout
    assert "any x86-64 processor with AVX2" in installed.run("--version").stdout


def test_the_package_octant_runs_beside_h5py(installed: Installed) -> None:
    """Both contain HDF5, of different versions."""
    script = """
import h5py, octant, octools
sim = octant.Simulation("octant_program/examples/sod.toml", {"time.max_steps": 3}, output="py")
sim.run()
print(octant.__file__, octools.load(sim.directory)["density"].max(), sim.ranks)
"""
    outcome = subprocess.run(
        [sys.executable, "-c", script],
        cwd=installed.folder,
        env=installed.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.splitlines()[-1] == f"{installed.folder}/octant/__init__.py 1.0 1"


def other_build(program: Path) -> Path | None:
    """Find another build on this machine that must have the bits of the wheel."""
    builds = [ROOT / "build/portable/octant"]
    if "avx512f" not in Path("/proc/cpuinfo").read_text().split():
        builds.append(ROOT / "build/release/octant")
    kept = ("compiler", "transforms")
    for build in builds:
        if build.is_file() and all(made_with(build)[k] == made_with(program)[k] for k in kept):
            return build
    return None


@functools.cache
def made_with(program: Path) -> dict[str, str]:
    """Say what may change the last bits of the results of a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCTANT_PROGRAM", str(program))
        return fingerprint()


def run_first_steps_with(program: Path, example: str, scratch: Path) -> Outcome:
    """Run the first steps of an example with a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCTANT_PROGRAM", str(program))
        return run_first_steps(example, 1, scratch)


@pytest.mark.parametrize("example", examples())
def test_the_wheel_has_the_bits_of_other_builds(
    example: str, installed: Installed, tmp_path: Path
) -> None:
    """Compare with a build on this machine, or with the references: their bits, or to round-off.

    With AVX-512, the kernels of gravity.solver = "fmm" have other bits than a portable build.
    """
    program = installed.folder / "octant_program/octant"
    reference = load()["examples"][example]
    outcome = run_first_steps_with(program, example, tmp_path / "wheel")
    if other := other_build(program):
        expected = digest(run_first_steps_with(other, example, tmp_path / "other"))
        assert differences(digest(outcome), expected) == []
    has_fast_multipoles = 'solver = "fmm"' in (ROOT / f"examples/{example}.toml").read_text()
    if made_with(program) == load()["made_with"] and not has_fast_multipoles:
        assert differences(digest(outcome), reference) == []
    else:
        assert departures(outcome, reference, tolerance(example)) == []
