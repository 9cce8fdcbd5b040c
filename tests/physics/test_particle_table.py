"""Dark matter of a text file beside gas that expressions define (problem.particle_table)."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from refusals import assert_refused
from running import Array, assert_same_run, run, run_well

BOX = """
[problem]
name = "expression"
density = "1 + 0.5 * exp(-20 * r^2)"
particle_origin = [0.5, 0.5, 0.5]
centre = [0.5, 0.5, 0.5]

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1

[refine]
mass = [1.0]
mass_unit = 0.002

[gravity]
enabled = true

[time]
max_steps = 3
"""
FOUR = "0.1 0.2 0.3 1 2 3 1e-3\n-0.4, 0.2, 0.49, 0, 0, 0, 2e-3\n"


@pytest.fixture
def table(tmp_path: Path) -> Array:
    """Write 200 particles around the origin, with a comment and an empty line between them."""
    rng = np.random.default_rng(5)
    rows = np.hstack(
        [rng.uniform(-0.5, 0.5, (200, 3)), 0.1 * rng.normal(size=(200, 3)), np.full((200, 1), 1e-4)]
    )
    lines = [" ".join(map(repr, row.tolist())) for row in rows]
    text = "\n".join(["# x y z vx vy vz m", *lines[:50], "", *lines[50:]])
    (tmp_path / "particles.txt").write_text(text)
    return rows


def setting(path: Path) -> str:
    return f"problem.particle_table={path}"


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_table_is_read_to_the_bit(tmp_path: Path, table: Array, ranks: int) -> None:
    outcome = run_well(
        tmp_path / "run",
        BOX,
        setting(tmp_path / "particles.txt"),
        "time.max_steps=0",
        ranks=ranks,
    )
    with h5py.File(outcome.last_snapshot) as file:
        dark = {name: data[...] for name, data in file["particles/dark"].items()}
    order = np.argsort(dark["id"])
    assert (dark["id"][order] == np.arange(200)).all()
    assert (dark["position"][order] == 0.5 + table[:, :3]).all()
    assert (dark["velocity"][order] == table[:, 3:6]).all()
    assert (dark["mass"][order] == table[:, 6]).all()


def test_particles_move_in_the_same_way_on_any_ranks(tmp_path: Path, table: Array) -> None:
    path = setting(tmp_path / "particles.txt")
    one = run_well(tmp_path / "one", BOX, path)
    assert_same_run(run_well(tmp_path / "three", BOX, path, ranks=3), one)
    first, last = one.history()["dark_mass"][[0, -1]]
    assert first == last == pytest.approx(table[:, 6].sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FOUR + "0.1 0.2 0.3 0 0 0\n", ("particles.txt:3", "expected 7 numbers", "found 6")),
        (FOUR + "0 0 0 0 0 0 1e-3 9\n", ("particles.txt:3", "found 8")),
        (FOUR + "0 0 0 0 0 fast 1e-3\n", ("particles.txt:3", '"fast"')),
        (FOUR + "0.7 0 0 0 0 0 1e-3\n", ("outside", "domain")),
        (FOUR + "0 0 0 0 0 0 0\n", ("mass",)),
        (None, ("particles.txt", "problem.particle_table")),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str | None, words: tuple[str, ...]) -> None:
    if text is not None:
        (tmp_path / "particles.txt").write_text(text)
    outcome = run(tmp_path / "run", BOX, setting(tmp_path / "particles.txt"), ranks=2)
    assert_refused(outcome, *words)
