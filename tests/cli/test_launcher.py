"""./octant hands over to the program, and to octools for the pictures that a run asks for."""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from running import ROOT

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
        command = self.command(program)
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )

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
    shutil.copy(ROOT / "cmake/launcher.sh", tmp_path / "cmake/launcher.sh")
    made.script("build/release/build.ninja", "")
    made.script("bin/ninja", "")
    made.script(".octant/venv/bin/octools", f'echo "$@" > {tmp_path}/asked')
    for name in ("python/pyproject.toml", ".octant/venv/installed_pyproject.toml"):
        made.script(name, "")
    return made


def test_pictures_are_made_when_the_program_announces_results(clone: Clone) -> None:
    outcome = clone.run(f'echo "$@"; {ANNOUNCE}')
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "run blast.toml\n", "")
    assert clone.asked_of_octools == "pictures output/blast"
    assert not list(clone.root.glob("tmp.*")), "a temporary file was left behind"


def test_python_is_not_touched_where_no_pictures_are_wanted(clone: Clone) -> None:
    shutil.rmtree(clone.root / "python")
    assert clone.run("exit 0").returncode == 0
    assert clone.asked_of_octools is None


@pytest.mark.parametrize("code", [1, 2, 3])
def test_exit_code_is_the_programs(clone: Clone, code: int) -> None:
    assert clone.run(f"exit {code}").returncode == code
    assert clone.asked_of_octools is None


def test_picture_that_fails_is_only_a_warning(clone: Clone) -> None:
    clone.script(".octant/venv/bin/octools", "exit 2")
    outcome = clone.run(ANNOUNCE)
    assert outcome.returncode == 0
    assert "./octant pictures output/blast" in outcome.stderr


@pytest.mark.parametrize("name", ["TERM", "USR1"])
def test_signals_reach_the_program(clone: Clone, name: str) -> None:
    waiting = f"trap 'exit 3' {name}; echo ready; while :; do sleep 0.05; done"
    command = clone.command(waiting)
    with subprocess.Popen(
        command, env=clone.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.Signals[f"SIG{name}"])
        assert process.wait(timeout=30) == 3


def test_output_into_a_pipe_has_no_colours(clone: Clone) -> None:
    assert clone.run('echo "NO_COLOR=$NO_COLOR"').stdout == "NO_COLOR=1\n"
