"""Trouble cases R03 and R29: particles that leave an open box, and particles beside level jumps."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from octools.history import read_history
from octools.ledger import books

from running import octant

Case = Callable[[str], Path]


def make(folder: Path, *arguments: object) -> None:
    """Run the case's make.py."""
    command = [sys.executable, folder / "make.py", *arguments]
    subprocess.run([str(part) for part in command], check=True, cwd=folder)


def run_case(folder: Path, file: str, *overrides: str, path: str | None = None) -> None:
    """Run one input of a case, whose initial state is the file at `path` in the same folder."""
    options: list[object] = ["run", folder / file, "--output", folder / "run"]
    for override in [*overrides, *([f'problem.path="{folder / path}"'] if path else [])]:
        options += ["--set", override]
    outcome = octant(*options)
    assert outcome.code == 0, outcome.text


def test_particles_that_leave_are_in_the_ledger(case: Case) -> None:
    folder = case("R03")
    (folder / "particles.h5").unlink(missing_ok=True)
    make(folder, folder / "particles.h5")
    run_case(folder, "input.toml", path="particles.h5")
    history = read_history(folder / "run")
    assert history["dark_outflow_count"][-1] == 1000
    for book in books(history):
        assert np.abs(book.rest).max() < 1e-6, book.name


@pytest.mark.parametrize("distance", [-6, -3.2, -2, -0.5])
def test_a_lone_particle_at_a_level_jump_stays_at_rest(case: Case, distance: float) -> None:
    folder = case("R29")
    make(folder, "lone.h5", distance)
    run_case(folder, "input.toml", path="lone.h5")
    with h5py.File(sorted((folder / "run").glob("snap_*.h5"))[-1]) as file:
        velocity = file["particles/dark/velocity"][0] / file["header"].attrs["time"]
    assert np.linalg.norm(velocity) / 32**2 < 0.02  # G m / dx^2


def test_two_bodies_on_a_refined_mesh_keep_their_orbit(case: Case) -> None:
    folder = case("R29")
    period = 2 * np.pi * np.sqrt(0.3**3 / 2)
    run_case(folder, "two_body.toml", f"time.end={0.3 * period}")
    with h5py.File(sorted((folder / "run").glob("snap_*.h5"))[-1]) as file:
        position = file["particles/dark/position"][...]
    apart = position[1] - position[0]
    assert np.linalg.norm(apart) == pytest.approx(0.3, rel=0.01)
    assert np.degrees(np.arctan2(apart[1], apart[0])) == pytest.approx(108, abs=1.0)
    assert np.linalg.norm(position.mean(axis=0) - 0.5) < 0.003
