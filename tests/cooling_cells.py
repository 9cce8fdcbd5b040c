"""Cells that cool, and tables that they cool by: what tests of [cooling] share."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from galaxies import BOLTZMANN, MEGAYEAR, PARSEC, PROTON, X, toml
from reference_data import reference_path
from running import run_well, uniform_grid

Array = NDArray[np.float64]
TABLES = {
    "noUVB": "CloudyData_noUVB.h5",
    "HM2012": "CloudyData_UVB=HM2012_with_MMW.h5",
}
SOLAR = 0.01295
GRACKLE_HYDROGEN = 1.0 / (1.0 + 0.1 * 3.971)  # with tables alone

# Cells as large as nothing is: no sound crosses them. Units: pc, Myr, one hydrogen per cm^3.
CELLS = f"""
problem.name = "cooling_cell"
mesh.upper = [1e30, 1e30, 1e30]
mesh.base_cells = [8, 8, 8]
mesh.block_size = 4
hydro.gamma = 1.6666666666666667
units.length = {PARSEC!r}
units.density = {PROTON / X!r}
units.time = {MEGAYEAR!r}
time.cfl = 1.0
cooling.enabled = true
cooling.cmb_floor = false
cooling.compton = false
output.final_checkpoint = false
telemetry.enabled = false
"""


@dataclass(frozen=True)
class Weights:
    """log10 T, and the mean molecular weight there, at one density and redshift."""

    log_temperature: Array
    mu: Array

    @staticmethod
    def read(table: Path, z: float, n_hydrogen: float) -> "Weights":
        """Interpolate a table linearly in z and log n_hydrogen."""
        with h5py.File(table) as file:
            weight = file["CoolingRates/Primordial/MMW"]
            mu, log_temperature = weight[...], np.log10(weight.attrs["Temperature"])
            densities = weight.attrs["Parameter1"]
            if mu.ndim == 3:
                redshifts = weight.attrs["Parameter2"]
                mu = np.apply_along_axis(lambda at: np.interp(z, redshifts, at), 1, mu)
        mu = np.apply_along_axis(lambda at: np.interp(np.log10(n_hydrogen), densities, at), 0, mu)
        return Weights(log_temperature, mu)

    def mu_at(self, temperature: Array) -> Array:
        """Weights at temperatures: u is a power of T between those of the table."""
        log_u = np.interp(
            np.log10(temperature), self.log_temperature, self.log_temperature - np.log10(self.mu)
        )
        return temperature / 10.0**log_u

    def temperature(self, over_mu: Array) -> Array:
        """Temperatures from T / mu."""
        return 10.0 ** np.interp(
            np.log10(over_mu), self.log_temperature - np.log10(self.mu), self.log_temperature
        )


def cells(n_hydrogen: object, over_mu: object, metals: object) -> list[str]:
    """Parameters of cells of these densities, T / mu and mass shares of metals."""
    return [
        f"problem.hydrogen_density={toml(n_hydrogen)}",
        f"problem.temperature_over_mu={toml(over_mu)}",
        f"problem.metals={toml(metals)}",
    ]


def over_mu_of(snapshot: Path, count: int) -> Array:
    """T / mu in K of the first cells, in the order of the lists they were given by."""
    unit = (PARSEC / MEGAYEAR) ** 2 * PROTON / BOLTZMANN
    pressure, density = (uniform_grid(snapshot, name).ravel() for name in ("pressure", "density"))
    return (unit * pressure / density)[:count]


def evolve(
    directory: Path, table: Path, z: float, times: Array, *parameters: str, count: int
) -> Array:
    """Run cells; returns T / mu of shape (times, count)."""
    names = [f'cooling.table="{table}"', f"cooling.redshift={z}", f"time.end={float(times[-1])!r}"]
    snapshots = f"output.snapshot_times={toml(times[:-1])}"
    outcome = run_well(directory, CELLS, *names, snapshots, *parameters)
    files = outcome.snapshots[-len(times) :]
    return np.array([over_mu_of(file, count) for file in files])


def table_of(name: str) -> Path:
    """Find a table by its name in reference values; one without MMW gives way to one with it."""
    file = reference_path(f"cooling/{TABLES.get(name, name)}")
    derived = file.with_name(file.stem + "_with_MMW.h5")
    return derived if derived.is_file() else file


# A table of one axis: rates that go as a power of the temperature, and no metals.
def write_power_law(path: Path, beta: float, rate: float, at: float) -> None:
    temperature = 10.0 ** (0.05 * np.arange(-20, 200))
    with h5py.File(path, "w") as file:
        for name, values in (
            ("Cooling", rate * (temperature / at) ** beta),
            ("MMW", np.ones_like(temperature)),
        ):
            data = file.create_dataset(f"CoolingRates/Primordial/{name}", data=values)
            data.attrs["Rank"] = np.int64(1)
            data.attrs["Dimension"] = np.array([len(temperature)])
            data.attrs["Temperature"] = temperature


# Rates of a simple gas at some densities, redshifts and temperatures, with metals: lines at 1e5 K,
# and a background that heats below 1e4 K.
def write_table(path: Path, rank: int = 3, leave_out: str = "", big_endian: bool = False) -> Path:
    n = np.arange(-6.0, 4.1, 1.0)[:, None, None]
    z = np.array([0.0, 1.0, 3.0, 6.0])[None, :, None]
    temperature = 10.0 ** np.arange(1.0, 9.01, 0.05)[None, None, :]
    lines = 1e-22 * np.exp(-(np.log(temperature / 1e5) ** 2)) + 1e-27 * np.sqrt(temperature)
    heat = 1e-24 * (1.0 + z) * 10.0 ** (-n / 2) * np.exp(-temperature / 1e4)
    fields = {
        "Primordial/Cooling": lines + 0.0 * (n + z),
        "Primordial/Heating": heat,
        "Primordial/MMW": 0.6 + 0.6 / (1.0 + temperature / 1e4) + 0.0 * (n + z),
        "Metals/Cooling": 3.0 * lines + 0.0 * (n + z),
        "Metals/Heating": 0.1 * heat,
    }
    cut = {1: (0, 0), 2: (slice(None), 0), 3: (slice(None), slice(None))}[rank]
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            if leave_out and leave_out in name:
                continue
            kind = ">f8" if big_endian else "<f8"
            data = file.create_dataset(f"CoolingRates/{name}", data=values[cut].astype(kind))
            data.attrs["Rank"] = np.int64(rank)
            data.attrs["Dimension"] = np.array(values[cut].shape)
            data.attrs["Temperature"] = temperature.ravel()
            if rank > 1:
                data.attrs["Parameter1"] = n.ravel()
            if rank > 2:
                data.attrs["Parameter2"] = z.ravel()
    return path
