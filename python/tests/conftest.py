"""Shared snapshots, and the way to call octools as a user does."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from synthetic import Array, Synthetic, around

from octools.cli import main

# Tests run side by side, one per core: threads of the program would wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


Call = Callable[..., Result]


@pytest.fixture
def program() -> str:
    """Give the path of the program Octant; without one, skip the test."""
    path = os.environ.get("OCTANT_PROGRAM")
    if not path:
        pytest.skip("OCTANT_PROGRAM names no program")
    return path


def wave(x: Array, y: Array, z: Array) -> Array:
    """Vary along every axis, so that swapped axes show."""
    return 2 + np.sin(2 * np.pi * x) + 0.5 * y**2 + 0.25 * z


def partly_refined(**changes: object) -> Synthetic:
    """Refine some octants of some blocks by up to two levels, off the centre."""
    options: dict[str, object] = {
        "refine": around((0.3, 0.4, 0.55), 0.12, levels=2),
        "fields": {"density": wave},
    }
    return Synthetic(**(options | changes))  # type: ignore[arg-type]


@pytest.fixture
def snapshot_path(tmp_path: Path) -> Path:
    return partly_refined().write(tmp_path / "snap_00000.h5")


@pytest.fixture
def octools(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: object) -> Result:
        monkeypatch.setattr("sys.argv", ["octools", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Result(int(end.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def reference() -> Path:
    """Give the folder of reference solutions; tests that need it are skipped without it."""
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("OCTANT_DATA", root / "../shared/data"))
    if not (data / "ref").is_dir():
        pytest.skip(f"no reference data in {data}; set OCTANT_DATA to the folder that holds ref/")
    return data / "ref"
