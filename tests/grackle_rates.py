#!/usr/bin/env python3
"""Cooling rates of Grackle with the tables alone, for gas that tests cool in Octant.

`python tests/grackle_rates.py` writes tests/data/grackle_rates.csv with the library gracklepy. Its
table is that of write_grackle_table; a test compares the recorded numbers with the library where
that is installed.
"""

import tempfile
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RECORDED = Path(__file__).resolve().parent / "data" / "grackle_rates.csv"
COLUMNS = ["redshift", "density", "energy", "metals", "rate", "dark_rate", "temperature", "weight"]
PROTON, BOLTZMANN, SOLAR = 1.67262171e-24, 1.3806504e-16, 0.01295  # as Grackle has them, in cgs
# A redshift of the table, two between those, and one beyond the last, where nothing heats.
REDSHIFTS = (0.0, 0.4, 2.2, 10.0)


def write_grackle_table(path: Path) -> Path:
    """Write a table as Grackle reads it; its last redshift stands twice, then unheated."""
    n = np.arange(-6.0, 4.1, 1.0)[:, None, None]
    z = np.array([0.0, 1.0, 3.0, 6.0, 6.0])[None, :, None]
    temperature = 10.0 ** np.arange(1.0, 9.01, 0.05)[None, None, :]
    lines = 1e-22 * np.exp(-(np.log(temperature / 1e5) ** 2)) + 1e-27 * np.sqrt(temperature)
    neutral = 1.0 / (1.0 + (temperature / 1.5e4) ** 6)
    heat = 1e-24 * (1.0 + z) * 10.0 ** (-n / 2) * np.exp(-temperature / 1e4)
    heat[:, -1] = 0.0
    fields = {
        "Primordial/Cooling": lines * (1.0 - neutral) * (1.0 + 0.05 * n) + 1e-28 + 0.0 * z,
        "Primordial/Heating": heat,
        "Primordial/MMW": 0.61 + 0.66 * neutral + 0.0 * (n + z),
        "Metals/Cooling": 3.0 * lines * (1.0 + 0.02 * z) + 0.0 * n,
        "Metals/Heating": 0.1 * heat,
    }
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            data = file.create_dataset(f"CoolingRates/{name}", data=values)
            data.attrs["Rank"] = np.int64(3)
            data.attrs["Dimension"] = np.array(values.shape)
            data.attrs["Parameter1"] = n.ravel()
            data.attrs["Parameter2"] = z.ravel()
            data.attrs["Temperature"] = temperature.ravel()
    return path


def gas() -> tuple[Array, Array, Array]:
    """Densities in g cm^-3, internal energies in erg g^-1 and mass fractions of metals."""
    density = PROTON * 10.0 ** np.array([-5.0, -2.0, 0.5])
    over_weight = 10.0 ** np.linspace(3.9, 7.9, 11)
    metals = SOLAR * np.array([0.0, 1.0, 3.0])
    grid = np.meshgrid(density, 1.5 * BOLTZMANN / PROTON * over_weight, metals, indexing="ij")
    return tuple(values.ravel() for values in grid)


def rates_of_library(
    table: Path, redshift: float, background: bool, density: Array, energy: Array, metals: Array
) -> tuple[Array, Array, Array]:
    """Let the library find du/dt in erg g^-1 s^-1, temperatures in K and mean molecular weights."""
    from gracklepy import FluidContainer, chemistry_data

    chemistry = chemistry_data()
    chemistry.use_grackle = chemistry.with_radiative_cooling = chemistry.metal_cooling = 1
    chemistry.primordial_chemistry = 0
    chemistry.UVbackground = int(background)
    chemistry.cmb_temperature_floor = 1
    chemistry.Gamma = 5.0 / 3.0
    chemistry.grackle_data_file = str(table)
    chemistry.comoving_coordinates = 0
    chemistry.a_units = 1.0
    chemistry.a_value = 1.0 / (1.0 + redshift)
    chemistry.density_units, chemistry.length_units = PROTON, 3.0856775814913673e18
    chemistry.time_units = 3.15576e13
    chemistry.set_velocity_units()
    assert chemistry.initialize() == 1
    fluid = FluidContainer(chemistry, len(density))
    fluid["density"][:] = density / chemistry.density_units
    fluid["metal_density"][:] = metals * fluid["density"]
    fluid["internal_energy"][:] = energy / chemistry.velocity_units**2
    fluid.calculate_cooling_time()
    fluid.calculate_temperature()
    fluid.calculate_mean_molecular_weight()
    rate = energy / (np.asarray(fluid["cooling_time"]) * chemistry.time_units)
    return rate, np.array(fluid["temperature"]), np.array(fluid["mean_molecular_weight"])


def gracklepy_rows() -> Array:
    """Rates with and without the background at all redshifts, in the order of COLUMNS."""
    density, energy, metals = gas()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        table = write_grackle_table(Path(folder) / "table.h5")
        for redshift in REDSHIFTS:
            state = (density, energy, metals)
            rate, temperature, weight = rates_of_library(table, redshift, True, *state)
            dark, *_ = rates_of_library(table, redshift, False, *state)
            z = np.full_like(rate, redshift)
            rows.append(np.column_stack([z, *state, rate, dark, temperature, weight]))
    return np.concatenate(rows)


def recorded() -> dict[str, Array]:
    """Read the recorded numbers by column."""
    return dict(zip(COLUMNS, np.loadtxt(RECORDED, delimiter=",", skiprows=2).T, strict=True))


if __name__ == "__main__":
    heading = "du/dt of gracklepy 1.2 (libgrackle 3.4.1), tabulated mode: tests/grackle_rates.py\n"
    np.savetxt(
        RECORDED, gracklepy_rows(), fmt="%.7g", delimiter=",", header=heading + ",".join(COLUMNS),
        comments="# ",
    )  # fmt: skip
