"""What a run on MUSIC's files begins with, mode by mode beside the files' own overdensity."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from octools.ics import GraficLevel
from octools.linear import LinearTheory, power_spectrum
from test_cosmology import MUSIC, OMEGA_B, OMEGA_M, files

from reference_data import reference_path
from running import Outcome, run_well, uniform_grid

CELLS, BOX, START = 64, 50.0, 1 / 30.5
THEORY = LinearTheory(OMEGA_M, 1 - OMEGA_M, OMEGA_B, 0.6766, 0.81, 0.967)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run MUSIC's 64^3 set for two steps."""
    directory = tmp_path_factory.mktemp("music64") / "run"
    overrides = ("mesh.base_cells=[64, 64, 64]", "time.max_steps=2")
    return run_well(directory, MUSIC, files("b50_n064_2lpt"), *overrides, timeout=300)


@pytest.fixture(scope="module")
def overdensity() -> NDArray[np.float64]:
    """Read the gas's overdensity, shape (z, y, x)."""
    folder = reference_path("ics/b50_n064_2lpt/grafic/level_006")
    return GraficLevel(folder).read("deltab")


def wave_numbers() -> NDArray[np.float64]:
    """Give the length of each mode in units of the box's, shape (z, y, x)."""
    index = np.fft.fftfreq(CELLS, 1 / CELLS)
    return np.sqrt(sum(axis**2 for axis in np.meshgrid(index, index, index, indexing="ij")))


def convergence(path: Path) -> NDArray[np.complex128]:
    """Give the modes of minus the divergence of the dark matter's displacements from its lattice.

    That is its linear overdensity. Deposited clouds would have what second order and the waves'
    own motion make of it, too.
    """
    with h5py.File(path) as file:
        position, number = (file[f"particles/dark/{name}"][...] for name in ("position", "id"))
    place = np.stack([number // CELLS**axis % CELLS for axis in range(3)], axis=-1)
    moved = position - (place + 0.5) / CELLS
    moved -= np.rint(moved)
    k = 2 * np.pi * np.fft.fftfreq(CELLS, 1 / CELLS)
    k[CELLS // 2] = 0.0
    along = (k, k[:, None], k[:, None, None])
    return sum(
        -1j * along[axis] * np.fft.fftn(moved[:, axis].reshape((CELLS,) * 3)) for axis in range(3)
    )


def table(outcome: Outcome) -> NDArray[np.void]:
    """Read the spectrum of the first snapshot; k in h/Mpc, powers in (Mpc/h)^3."""
    path = outcome.directory / "power_00000.csv"
    columns = path.read_text().splitlines()[0].split(",")
    assert columns[:3] == ["k [h/Mpc]", "power [(Mpc/h)^3]", "corrected [(Mpc/h)^3]"]
    return np.genfromtxt(
        path, delimiter=",", skip_header=1, names=[name.split(" ")[0] for name in columns]
    )


def test_masses_are_those_of_the_universe(run: Outcome) -> None:
    history = run.history()
    assert history["mass"] == pytest.approx(OMEGA_B / OMEGA_M, rel=1e-6)
    assert history["dark_mass"] == pytest.approx(1 - OMEGA_B / OMEGA_M, rel=1e-6)
    assert (history["dark_particles"] == CELLS**3).all()


def test_the_gas_is_that_of_the_file(run: Outcome, overdensity: NDArray[np.float64]) -> None:
    gas = uniform_grid(run.snapshots[0], "density")
    assert np.abs(gas / gas.mean() - 1 - overdensity).max() < 1e-6


def test_each_mode_of_the_dark_matter_is_that_of_the_file(
    run: Outcome, overdensity: NDArray[np.float64]
) -> None:
    k = wave_numbers()
    dark, given = convergence(run.snapshots[0]), np.fft.fftn(overdensity)
    for low in range(0, CELLS // 2, 2):
        band = (k >= low) & (k < low + 2) & (k > 0)
        powers = [np.sum(np.abs(modes[band]) ** 2) for modes in (dark, given)]
        # MUSIC's second order is in the displacements, and not in the overdensity.
        assert powers[0] / powers[1] == pytest.approx(1, abs=0.003), low
        assert np.sum((dark * given.conj())[band]).real > 0.9995 * np.sqrt(np.prod(powers)), low


def test_the_written_spectrum_is_that_of_the_file_and_of_linear_theory(
    run: Outcome, overdensity: NDArray[np.float64]
) -> None:
    written = table(run)
    given = power_spectrum(overdensity, BOX, THEORY, START)
    assert written["k"] == pytest.approx(given.k, rel=1e-6)
    assert (written["modes"] == given.modes).all()
    # Waves have begun to couple: by 3 % at an eighth, by 8 % at half of the Nyquist wavenumber.
    ratio = written["corrected"] / given.power
    assert ratio[:4] == pytest.approx(np.ones(4), abs=0.02)
    assert ratio[4:8] == pytest.approx(np.ones(4), abs=0.04)
    # Linear theory, as near as the number of modes allows.
    half = CELLS // 4
    scatter = np.sqrt(2 / given.modes[:half])
    linear = written["corrected"][:half] / given.expected[:half]
    assert (np.abs(linear - 1) < 0.02 + 2.5 * scatter).all()
    assert np.average(linear[:8], weights=given.modes[:8]) == pytest.approx(1, abs=0.02)
