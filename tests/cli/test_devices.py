"""A program for GPUs says what it lacks where there is none."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from running import ROOT, octant_environment
from telemetry_tables import ask_one

BUILDS = ("cuda", "cuda-alone")


@pytest.fixture(params=BUILDS)
def device_program(request: pytest.FixtureRequest) -> Path:
    """Give a program for GPUs, if one is built."""
    program = ROOT / "build" / request.param / "octant"
    if not program.is_file():
        pytest.skip(f"the preset {request.param} is not built")
    return program


@pytest.fixture
def apart_program() -> Path:
    """Give the program whose kernels have memory of their own, if it is built."""
    program = ROOT / "build/apart/octant"
    if not program.is_file():
        pytest.skip("the preset apart is not built")
    return program


def small_blast(program: Path, output: Path, setting: str) -> list[str | Path]:
    """Give the command that runs a blast in few cells."""
    settings = ["--set", "mesh.base_cells=[16,16,16]", "--set", setting]
    return [program, "run", ROOT / "examples/sedov.toml", "--output", output, *settings]


def without_a_gpu(program: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a program for GPUs with those hidden that there are."""
    return subprocess.run(
        [program, *words],
        env=octant_environment() | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("example", ["sedov", "taylor_green"])
def test_a_run_says_in_one_line_that_there_is_no_gpu(device_program: Path, example: str) -> None:
    ended = without_a_gpu(device_program, "run", ROOT / f"examples/{example}.toml")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith("no GPU"), ended.stderr
    assert ended.stderr.count("\n") == 1


def test_benchmarks_say_so_too(device_program: Path) -> None:
    if not device_program.with_name("octant-bench").is_file():
        pytest.skip("octant-bench is not built")
    ended = without_a_gpu(device_program, "bench", "hydro")
    assert ended.returncode == 1
    assert ended.stderr.startswith("no GPU"), ended.stderr


@pytest.mark.parametrize("words", [["--version"], ["params", "hydro"], ["run", "--help"]])
def test_what_needs_no_kernels_needs_no_gpu(device_program: Path, words: list[str]) -> None:
    ended = without_a_gpu(device_program, *words)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert ended.stdout


@pytest.mark.parametrize("example", ["sedov", "taylor_green"])
def test_a_check_estimates_without_a_gpu(device_program: Path, example: str) -> None:
    ended = without_a_gpu(device_program, "check", ROOT / f"examples/{example}.toml")
    assert ended.returncode == 0, ended.stderr
    assert "no GPU" in ended.stdout
    assert "MB per rank" in ended.stdout


def test_a_check_finds_errors_without_a_gpu(device_program: Path) -> None:
    file = ROOT / "examples/sedov.toml"
    ended = without_a_gpu(device_program, "check", file, "--set", "hydro.gama=1.4")
    assert ended.returncode == 2
    assert "gama" in ended.stderr


def test_a_gpu_that_fails_ends_the_run_and_leaves_its_checkpoints(
    apart_program: Path, tmp_path: Path
) -> None:
    # Kokkos aborts when a GPU fails; a program for memory apart, which runs on cores, does so here.
    words = small_blast(apart_program, tmp_path / "run", "output.checkpoint_interval=0.1")
    with subprocess.Popen(
        words, env=octant_environment(), stderr=subprocess.PIPE, text=True
    ) as run:
        deadline = time.monotonic() + 60.0
        while not list((tmp_path / "run").glob("checkpoint_*.h5")) and time.monotonic() < deadline:
            time.sleep(0.05)
        run.send_signal(signal.SIGABRT)
        told = run.communicate(timeout=60)[1]
    assert run.returncode == 1
    assert "a GPU failed" in told
    newest = max((tmp_path / "run").glob("checkpoint_*.h5"))
    verified = without_a_gpu(apart_program, "info", newest, "--verify")
    assert verified.returncode == 0, verified.stdout


def test_kernels_and_host_keep_to_their_own_memory(apart_program: Path, tmp_path: Path) -> None:
    words = small_blast(apart_program, tmp_path / "run", "time.max_steps=3")
    ended = subprocess.run(
        words, env=octant_environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "accesses" not in ended.stderr
    # Telemetry records the arrays on the device, at least the gas of 16^3 cells.
    assert ask_one(tmp_path / "run", "select min(device_bytes) from ranks") > 5 * 8 * 16**3
