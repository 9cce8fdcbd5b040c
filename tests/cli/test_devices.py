"""A program for GPUs says what it lacks where there is none."""

import subprocess
from pathlib import Path

import pytest

from running import ROOT, octant_environment

BUILDS = ("cuda", "cuda-alone")


@pytest.fixture(params=BUILDS)
def device_program(request: pytest.FixtureRequest) -> Path:
    """Give a program for GPUs, if one is built."""
    program = ROOT / "build" / request.param / "octant"
    if not program.is_file():
        pytest.skip(f"the preset {request.param} is not built")
    return program


@pytest.mark.parametrize("command", ["run", "check"])
def test_without_a_gpu_it_says_so_in_one_line(device_program: Path, command: str) -> None:
    ended = subprocess.run(
        [device_program, command, ROOT / "examples/sedov.toml"],
        env=octant_environment() | {"CUDA_VISIBLE_DEVICES": ""},  # hides those that there are
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith("no GPU"), ended.stderr
    assert ended.stderr.count("\n") == 1
