"""Particles beside the end of a refined level: no force on themselves, and orbits that stay."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from octools.history import read_history
from octools.initial import write_initial

from running import CHECKPOINT_EVERY_STEP, Array, assert_goes_on, assert_same_run, run_well

# The finer level fills the middle half of the domain.
LONE = """
[problem]
name = "file"
path = "{path}"
particles = ["{kind}"]
[hydro]
enabled = false
[gravity]
enabled = true
tolerance = 1e-8
[mesh]
base_cells = [32, 32, 32]
block_size = {block_size}
max_level = {levels}
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]
[refine]
region_level = {levels}
region_lower = [0.25, 0.25, 0.25]
region_upper = [0.75, 0.75, 0.75]
buffer = 0
[time]
end = 1e-6
largest_step = 1e-6
"""
FINE = 1 / 64


def lone_acceleration(
    folder: Path, position: list[float], kind: str = "dark", block_size: int = 8, levels: int = 1
) -> float:
    """Let one particle begin at rest; its acceleration in units of G m / (coarser cell)^2."""
    folder.mkdir()
    path = folder / "lone.h5"
    particle = {"position": [position], "velocity": [[0.0, 0.0, 0.0]], "mass": [1.0]}
    write_initial(path, None, particles={kind: particle})
    text = LONE.format(path=path, kind=kind, block_size=block_size, levels=levels)
    outcome = run_well(folder / "run", text)
    with h5py.File(outcome.last_snapshot) as file:
        velocity, time = file[f"particles/{kind}/velocity"][0], file["header"].attrs["time"]
    return float(np.linalg.norm(velocity / time)) * (2 * FINE) ** 2


# Distances from the end of the level, in fine cells, negative inside.
INSIDE = [-6.0, -4.0, -3.5, -3.01, -2.99, -2.0, -1.0, -0.5]


@pytest.mark.parametrize("distance", INSIDE)
def test_a_lone_particle_inside_a_level_stays_at_rest(tmp_path: Path, distance: float) -> None:
    position = [0.75 + distance * FINE, 0.51, 0.52]
    assert lone_acceleration(tmp_path / "run", position) < 0.02


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("corner", [1, 2, 3])
def test_sides_edges_and_corners_of_a_level_are_alike(
    tmp_path: Path, axis: int, corner: int
) -> None:
    position = np.array([0.51, 0.52, 0.49])
    for d in range(corner):
        position[(axis + d) % 3] = 0.25 + (3.1 - 0.9 * d) * FINE
    assert lone_acceleration(tmp_path / "run", list(position)) < 0.02


@pytest.mark.parametrize(("kind", "block_size"), [("stars", 8), ("dark", 4), ("dark", 16)])
def test_kinds_and_block_sizes_do_not_matter(tmp_path: Path, kind: str, block_size: int) -> None:
    position = [0.51, 0.25 + 1.3 * FINE, 0.49]
    assert lone_acceleration(tmp_path / "run", position, kind, block_size) < 0.02


TWO_BODY = """
[problem]
name = "two_body"
separation = 0.3
[hydro]
enabled = false
[gravity]
enabled = true
[mesh]
base_cells = [32, 32, 32]
block_size = 8
max_level = 2
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]
[refine]
mass = [0.1, 0.1]
mass_unit = 1.0
[time]
end = 0.73
"""
PERIOD = 2 * np.pi * np.sqrt(0.3**3 / 2)


def orbit(outcome_directory: Path) -> tuple[Array, Array]:
    """Separations, and distances of the centre of mass from where it began, of all snapshots."""
    separation, shift = [], []
    for path in sorted(outcome_directory.glob("snap_*.h5")):
        with h5py.File(path) as file:
            position = file["particles/dark/position"][...]
        separation.append(np.linalg.norm(position[1] - position[0]))
        shift.append(np.linalg.norm(position.mean(axis=0) - 0.5))
    return np.array(separation), np.array(shift)


def test_two_bodies_keep_their_orbit_on_a_refined_mesh(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        TWO_BODY,
        f"time.end={3 * PERIOD}",
        f"output.snapshot_interval={PERIOD / 8}",
        timeout=300,
    )
    separation, _ = orbit(outcome.directory)
    assert np.abs(separation / 0.3 - 1).max() < 0.01


@pytest.mark.parametrize("subcycle", ["true", "false"])
def test_neither_steps_nor_residuals_move_the_centre_of_mass(tmp_path: Path, subcycle: str) -> None:
    outcome = run_well(
        tmp_path / "run",
        TWO_BODY,
        f"time.end={PERIOD / 4}",
        f"time.subcycle={subcycle}",
        "gravity.tolerance=1e-6",
    )
    separation, shift = orbit(outcome.directory)
    assert np.abs(separation / 0.3 - 1).max() < 0.006
    assert shift.max() < 1e-5
    momentum = read_history(outcome.directory)["dark_momentum_x"]
    assert np.abs(momentum).max() < 1e-3  # each body has 1.3


def test_an_orbit_at_level_jumps_has_the_same_bits_anywhere(tmp_path: Path) -> None:
    options = ("time.max_steps=4",)
    reference = run_well(tmp_path / "one", TWO_BODY, *options, *CHECKPOINT_EVERY_STEP)
    for ranks in (2, 3):
        assert_same_run(run_well(tmp_path / f"{ranks}", TWO_BODY, *options, ranks=ranks), reference)
    assert_goes_on(tmp_path / "restarted", reference, 3, *options, ranks=2)


BODIES = """
[problem]
name = "file"
path = "{path}"
particles = ["dark"]
[hydro]
enabled = false
[gravity]
enabled = true
[mesh]
base_cells = [48, 48, 48]
block_size = 16
max_level = 1
[refine]
mass = [0.5]
mass_unit = {unit}
[time]
end = 1e-6
largest_step = 1e-6
"""


@pytest.mark.parametrize(
    ("masses", "wide"),
    [
        ([1.0] * 3, 3),
        ([1.0] * 65, 0),  # no longer few
        ([1000.0] + [1.0] * 99, 1),  # light beside the heaviest one
    ],
)
def test_only_bodies_are_refined_widely(tmp_path: Path, masses: list[float], wide: int) -> None:
    """Particles in the middle of octants, whose neighbours two cells away are in the same one."""
    count, octants = len(masses), 6
    flat = np.array([0, 43, 86] if count == 3 else np.arange(count) * 2)
    octant = np.stack([flat % octants, flat // octants % octants, flat // octants**2], axis=-1)
    path = tmp_path / "bodies.h5"
    particles = {
        "position": (octant + 4.5 / 8) / octants,
        "velocity": np.zeros((count, 3)),
        "mass": np.array(masses),
    }
    write_initial(path, None, particles={"dark": particles})
    outcome = run_well(tmp_path / "run", BODIES.format(path=path, unit=min(masses)))
    refined = np.zeros((octants,) * 3, dtype=bool)
    for n, (x, y, z) in enumerate(octant):
        around = (-1, 0, 1) if n < wide else (0,)
        at = np.ix_(*[[(c + d) % octants for d in around] for c in (x, y, z)])
        refined[at] = True
    with h5py.File(outcome.last_snapshot) as file:
        origin = file["mesh/level_1/origin"][...]
    found = np.zeros_like(refined)
    found[tuple(np.rint(origin * octants).astype(int).T)] = True
    assert np.array_equal(found, refined)
