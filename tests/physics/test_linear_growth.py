"""Waves of dark matter grow as in linear theory, less what is known of forces on a mesh."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from octools.initial import write_initial

from running import Array, Outcome, run_well

# An Einstein-de Sitter universe, where waves grow like the scale factor.
UNIVERSE = """
[cosmology]
enabled = true
omega_m = 1.0
omega_lambda = 0.0
omega_b = 0.15
h = 0.5
box = 400.0
start = "z = 200"
end = "z = 1"

[gravity]
enabled = true
tolerance = 1e-6

[mesh]
block_size = 8

[hydro]
enabled = false
gamma = 1.6666666666666667
dual_energy = "overwrite"
"""
START, END = 1 / 201, 1 / 2
PANCAKE = f"""
[problem]
name = "pancake"
collapse = "a = 5"
temperature = 0.001
{UNIVERSE}
"""


def plane_wave(directory: Path, cells: int, axis: str, *overrides: str, **how: int) -> Outcome:
    """Run a plane wave on so many cells along one axis, and eight across."""
    across = 8 / cells
    mesh = [
        [cells if a == axis else 8 for a in "xyz"],
        [1.0 if a == axis else across for a in "xyz"],
    ]
    return run_well(
        directory,
        PANCAKE,
        f"problem.axis={axis}",
        f"mesh.base_cells={mesh[0]}",
        f"mesh.upper={mesh[1]}",
        *overrides,
        **how,
    )


def dark_waves(path: Path, lattice: Array, modes: list[tuple[int, int, int]]) -> Array:
    """Amplitudes of the displacements from a lattice, along each mode, shape (modes,)."""
    with h5py.File(path) as file:
        dark = file["particles/dark"]
        position = dark["position"][...][np.argsort(dark["id"][...])]
    moved = position - lattice
    moved -= np.rint(moved)
    found = []
    for mode in modes:
        k = np.array(mode, dtype=float)
        phase = np.exp(-2j * np.pi * lattice @ k)
        found.append(2 * abs(np.mean(moved @ k * phase)) / np.linalg.norm(k))
    return np.array(found)


def dark_growth(outcome: Outcome, axis: str, cells: int, per_cell: int) -> float:
    """Growth of a plane wave of dark matter over that of linear theory."""
    points = [(cells if a == axis else 8) * per_cell for a in "xyz"]
    sides = [1.0 if a == axis else 8 / cells for a in "xyz"]
    z, y, x = np.meshgrid(
        *((np.arange(n) + 0.5) * s / n for n, s in zip(points[::-1], sides[::-1], strict=True)),
        indexing="ij",
    )
    lattice = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    mode = tuple(int(a == axis) for a in "xyz")
    start, end = (
        dark_waves(path, lattice, [mode])[0]
        for path in outcome.snapshots[:: len(outcome.snapshots) - 1]
    )
    return end / start / (END / START)


def mesh_growth(mode: tuple[int, int, int], cells: int) -> float:
    """Growth over that of linear theory of dark matter off the cells' centres (docs/cosmology.md).

    Clouds, interpolation, the 7-point Laplacian and differences of fourth order make forces weaker
    by a factor, with which displacements grow as a^p, or fall as a^q. They begin to grow as a.
    """
    phase = 2 * np.pi * np.array(mode, dtype=float) / cells
    clouds = np.prod(np.cos(phase / 2))
    # Over k: what displacements along k do to the density, and the mean difference along k.
    density = clouds * phase @ (2 * np.tan(phase / 2)) / (phase @ phase)
    difference = clouds * phase @ (8 * np.sin(phase) - np.sin(2 * phase)) / 6 / (phase @ phase)
    weaker = density * difference * (phase @ phase) / np.sum(2 - 2 * np.cos(phase))
    p = (np.sqrt(0.25 + 6 * weaker) - 0.5) / 2
    q = -0.5 - p
    a = END / START
    return ((1 - q) * a**p - (1 - p) * a**q) / (p - q) / a


# Cells per wave: 32 are those of k = 1 on 32^3 cells, 16 those of k^2 = 4.
@pytest.mark.parametrize(("cells", "limit"), [(32, 0.01), (16, 0.04)])
@pytest.mark.parametrize("axis", "xyz")
def test_waves_of_two_particles_per_cell_grow_as_the_mesh_lets_them(
    tmp_path: Path, cells: int, limit: float, axis: str
) -> None:
    how = ("problem.particles_per_cell=2", "cosmology.largest_growth=0.05")
    growth = dark_growth(plane_wave(tmp_path / "run", cells, axis, *how), axis, cells, 2)
    assert growth == pytest.approx(1, abs=limit)
    assert growth == pytest.approx(mesh_growth((1, 0, 0), cells), abs=0.0015)


@pytest.mark.parametrize("base", ["fft", "multigrid"])
def test_steps_of_a_tenth_of_a_lack_a_third_of_a_per_cent(tmp_path: Path, base: str) -> None:
    how = ("problem.particles_per_cell=2", f"gravity.base={base}")
    growth = dark_growth(plane_wave(tmp_path / "run", 32, "x", *how), "x", 32, 2)
    assert growth == pytest.approx(mesh_growth((1, 0, 0), 32) - 0.0035, abs=0.001)


@pytest.mark.parametrize(("cells", "growth"), [(32, 0.969), (16, 0.890)])
def test_lattices_at_centres_of_cells_grow_as_documented(
    tmp_path: Path, cells: int, growth: float
) -> None:
    outcome = plane_wave(tmp_path / "run", cells, "x")
    assert dark_growth(outcome, "x", cells, 1) == pytest.approx(growth, abs=0.001)


FILE = f"""
[problem]
name = "file"
path = "{{path}}"
particles = ["dark"]
{UNIVERSE}
"""


def test_oblique_waves_grow_as_the_mesh_lets_them(tmp_path: Path) -> None:
    side = 32
    places = np.arange(side) / side
    lattice = np.stack(np.meshgrid(places, places, places, indexing="ij"), axis=-1).reshape(-1, 3)
    modes = [(1, 0, 0), (0, -1, 1), (1, 1, 1), (0, 0, 2)]
    moved = np.zeros_like(lattice)
    for n, mode in enumerate(modes):
        k = np.array(mode, dtype=float)
        moved += np.outer(np.sin(2 * np.pi * lattice @ k + n), k / np.linalg.norm(k))
    moved *= 1e-4 / side
    path = tmp_path / "waves.h5"
    # d ln a / d tau = a^2 H / H0.
    particles = {
        "position": (lattice + moved) % 1,
        "velocity": moved * START**0.5,
        "mass": np.full(len(lattice), 1 / len(lattice)),
    }
    write_initial(path, None, particles={"dark": particles}, scale_factor=START)
    outcome = run_well(
        tmp_path / "run", FILE.format(path=path), f"mesh.base_cells=[{side}, {side}, {side}]"
    )
    start = dark_waves(outcome.snapshots[0], lattice, modes)
    end = dark_waves(outcome.last_snapshot, lattice, modes)
    growth = end / start / (END / START)
    # Steps in which a grows by 10 % lack 0.35 %.
    expected = np.array([mesh_growth(mode, side) for mode in modes]) - 0.0035
    assert growth == pytest.approx(expected, abs=0.002)
    momentum = [outcome.history()[f"dark_momentum_{axis}"] for axis in "xyz"]
    assert np.abs(momentum).max() < 1e-12
