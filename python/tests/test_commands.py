"""The list of commands, and that it and their help come quickly."""

import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest
from conftest import Call
from typer.main import get_command

from octools.cli import app, commands

# What takes long to import: a help text needs none of it.
HEAVY = ("numpy", "matplotlib", "h5py", "duckdb", "pyarrow", "pydantic")


def test_help_lists_every_command(octools: Call) -> None:
    for arguments in (["-h"], ["--help"], []):
        result = octools(*arguments)
        assert result.returncode == 0
        listed = [line.split()[0] for line in result.stdout.splitlines() if line[:2] == "  "]
        assert listed == list(commands())


@pytest.mark.parametrize("name", commands())
def test_every_command_tells_what_it_takes(octools: Call, name: str) -> None:
    short, long = octools(name, "-h"), octools(name, "--help")
    assert (short.returncode, short.stdout) == (0, long.stdout)
    function = commands()[name].function()
    assert " ".join((function.__doc__ or "").split("\n\n")[0].split()[:3]) in short.stdout
    assert commands()[name].meaning[0].islower()


@pytest.mark.parametrize("name", commands())
def test_numbers_of_options_are_finite(octools: Call, name: str) -> None:
    """The types of options that octools is built on accept nan, whatever the bounds."""
    hints = get_type_hints(commands()[name].function())
    for parameter in get_command(app).get_command(None, name).params:
        if "float" not in str(hints.get(parameter.name)):
            continue
        for value in ("nan", "inf", "-inf"):
            result = octools(name, parameter.opts[0], *[value] * parameter.nargs)
            assert result.returncode == 2
            message = f"'{parameter.opts[0]}': {value} is not "
            assert message in " ".join(result.stderr.split()), result.stderr


def test_help_imports_nothing_that_takes_long() -> None:
    """A start of less than half a second depends on it."""
    program = (
        "import contextlib, io, sys; from octools.cli import app, commands\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    for name in commands(): app([name, '-h'], standalone_mode=False)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_a_job_script_that_is_there_is_kept(tmp_path: Path, octools: Call) -> None:
    (tmp_path / "blast.toml").write_text('[output]\ndirectory = "run"\n')
    (tmp_path / "job.sh").write_text("tuned by hand")
    words = ("--for", "slurm", "--time", "1:00", "--output", tmp_path / "job.sh")
    result = octools("job", tmp_path / "blast.toml", *words)
    assert result.returncode == 2
    assert "already exists" in result.stderr
    assert (tmp_path / "job.sh").read_text() == "tuned by hand"
