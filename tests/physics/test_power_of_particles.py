"""The power spectrum beside a snapshot is that of the particles, whatever their levels."""

from pathlib import Path

import numpy as np
import pytest
from octools.initial import write_initial

from running import Array, run_well

CELLS = 16
BOX = f"""
[problem]
name = "file"
path = "{{path}}"
particles = ["dark"]
[hydro]
enabled = false
[gravity]
enabled = true
[mesh]
base_cells = [{CELLS}, {CELLS}, {CELLS}]
block_size = 4
max_level = 2
[refine]
region_level = 2
region_lower = [0.0, 0.25, 0.25]
region_upper = [0.75, 0.75, 0.75]
[time]
end = 1.0
max_steps = 0
"""


def waves(side: int) -> Array:
    """Give the points of a lattice that many waves have moved, positions in a box of size 1."""
    noise = np.random.default_rng(3)
    along = (np.arange(side) + 0.125) / side
    points = np.stack(np.meshgrid(along, along, along, indexing="ij"), axis=-1).reshape(-1, 3)
    moved = points.copy()
    index = np.arange(-5, 6)
    for k in np.stack(np.meshgrid(index, index, index), axis=-1).reshape(-1, 3):
        if tuple(k) > (0, 0, 0) and k @ k <= 25:
            phase = 2 * np.pi * (points @ k + noise.random())
            moved += 1e-4 * k / (k @ k) * np.cos(phase)[:, None]
    return moved % 1.0


def exact_power(position: Array, bins: int) -> Array:
    """Mean of |sum(exp(-i k x)) / N|^2 over the modes of each bin, summed over the particles."""
    index = np.arange(-bins, bins + 1)
    waves_along = [np.exp(-2j * np.pi * np.outer(index, position[:, d])) for d in range(3)]
    power, modes = np.zeros(bins + 1), np.zeros(bins + 1)
    for a, kx in enumerate(index):
        for b, ky in enumerate(index):
            part = waves_along[2] @ (waves_along[0][a] * waves_along[1][b]) / len(position)
            for c, kz in enumerate(index):
                n = round(float(np.sqrt(kx**2 + ky**2 + kz**2)))
                if 0 < n <= bins:
                    power[n] += abs(part[c]) ** 2
                    modes[n] += 1
    return power[1:] / modes[1:]


@pytest.mark.parametrize("ranks", [1, 3])
def test_corrected_power_is_exact_to_half_of_nyquist(tmp_path: Path, ranks: int) -> None:
    position = waves(4 * CELLS)
    path = tmp_path / "waves.h5"
    still = np.zeros_like(position)
    mass = np.full(len(position), 1.0 / len(position))
    particles = {"position": position, "velocity": still, "mass": mass}
    write_initial(path, None, particles={"dark": particles})
    outcome = run_well(tmp_path / "run", BOX.format(path=path), ranks=ranks)
    name = outcome.last_snapshot.name.replace("snap", "power").replace(".h5", ".csv")
    table = np.genfromtxt(outcome.directory / name, delimiter=",", names=True)
    exact = exact_power(position, CELLS // 4)
    corrected = table["corrected_length3"][: CELLS // 4]
    assert corrected / exact == pytest.approx(np.ones(CELLS // 4), abs=0.01)
