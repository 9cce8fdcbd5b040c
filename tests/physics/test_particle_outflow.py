"""Particles that leave the domain through open boundaries are booked as outflow."""

from pathlib import Path

import numpy as np
import pytest
from octools.history import History, read_history
from octools.initial import write_initial
from octools.ledger import books

from running import CHECKPOINT_EVERY_STEP, Array, assert_goes_on, assert_same_run, run_well

# Gravity that is weak beside the speed of the particles, so that all of them leave.
SWARM = """
[problem]
name = "file"
path = "{path}"
particles = ["dark", "stars"]
[hydro]
enabled = false
[gravity]
enabled = true
constant = 1e-2
[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 0
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]
[refine]
region_level = 0
region_lower = [0.25, 0.25, 0.25]
region_upper = [0.75, 0.75, 0.75]
[time]
end = 0.2
"""
KINDS = ("dark", "stars")


def swarm(folder: Path, count: int = 120) -> str:
    """Write particles of both kinds that fly outwards at speeds of 5 to 15."""
    noise = np.random.default_rng(1)
    particles = {}
    for kind in KINDS:
        position = 0.5 + 0.2 * (noise.random((count, 3)) - 0.5)
        way = position - 0.5
        speed = 5.0 + 10.0 * noise.random((count, 1))
        particles[kind] = {
            "position": position,
            "velocity": speed * way / np.linalg.norm(way, axis=1)[:, None],
            "mass": 1e-2 * (1.0 + noise.random(count)),
        }
    path = folder / "particles.h5"
    write_initial(path, None, particles=particles)
    return SWARM.format(path=path)


def column(history: History, name: str) -> Array:
    """Add the columns of all kinds of particles."""
    return np.sum([history[f"{kind}_{name}"] for kind in KINDS], axis=0)


@pytest.mark.parametrize(("solver", "levels"), [("multigrid", 0), ("fmm", 1)])
def test_what_particles_take_with_them_is_booked(tmp_path: Path, solver: str, levels: int) -> None:
    options = (
        f'gravity.solver="{solver}"',
        f"mesh.max_level={levels}",
        f"refine.region_level={levels}",
    )
    outcome = run_well(tmp_path / "run", swarm(tmp_path), *options)
    history = read_history(outcome.directory)
    assert history["time"][-1] == pytest.approx(0.2)
    assert column(history, "particles")[-1] == 0
    assert column(history, "outflow_count")[-1] == 2 * 120
    for book in books(history):
        largest = 2e-3 if book.name == "total_energy" else 1e-12
        if book.name.startswith("momentum"):
            largest = 2e-3  # of forces beside open boundaries
        assert np.abs(book.rest).max() < largest, book.name
    # They leave one after the other, not all at once.
    left = column(history, "outflow_mass")
    assert len(np.unique(left)) > 10
    mass = column(history, "mass") + left
    assert np.abs(mass / mass[0] - 1).max() < 1e-13


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("side", [0, 1])
def test_every_open_side_counts(tmp_path: Path, axis: str, side: int) -> None:
    """The other five sides reflect."""
    sign = 2 * side - 1
    d = "xyz".index(axis)
    velocity = np.zeros((2, 3))
    velocity[:, d] = [4.0 * sign, -4.0 * sign]  # the second one comes back from the wall
    path = tmp_path / "particles.h5"
    particles = {"position": [[0.5] * 3] * 2, "velocity": velocity, "mass": [2.0, 3.0]}
    write_initial(path, None, particles={"dark": particles})
    sides = {a: ["reflecting", "reflecting"] for a in "xyz"}
    sides[axis][side] = "outflow"
    text = SWARM.format(path=path).replace('"dark", "stars"', '"dark"')
    text = text.replace("enabled = true", "enabled = false").replace("end = 0.2", "end = 0.5")
    options = [f"mesh.boundary_{a}={ends}".replace("'", '"') for a, ends in sides.items()]
    history = read_history(run_well(tmp_path / "run", text, *options).directory)
    assert history["dark_outflow_count"].max() == 2
    assert history["dark_outflow_mass"][-1] == 5.0
    assert history[f"dark_outflow_momentum_{axis}"][-1] == pytest.approx(20.0 * sign)
    assert history["dark_outflow_kinetic"][-1] == pytest.approx(40.0)
    assert set(history["dark_outflow_count"]) == {0, 1, 2}


@pytest.mark.parametrize("ranks", [2, 3])
def test_any_ranks_and_restarts_book_the_same(tmp_path: Path, ranks: int) -> None:
    text = swarm(tmp_path, 40)
    reference = run_well(tmp_path / "one", text, *CHECKPOINT_EVERY_STEP)
    assert_same_run(run_well(tmp_path / "more", text, ranks=ranks), reference)
    assert_goes_on(tmp_path / "restarted", reference, 12, ranks=ranks)
