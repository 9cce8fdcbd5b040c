"""Tabulated equation of state of the gas in a file: temperature, energy and sound speed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.crc32c import crc32c
from octools.errors import OctoolsError

if TYPE_CHECKING:
    from octools.snapshot import Header

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
POINTS = 6  # of the polynomials along the density, as in src/hydro/eos/eos_grid.cpp


@dataclass(frozen=True)
class Isochores:
    """Lines of constant density of a table at the densities of cells.

    Fields are interpolated by polynomials of fifth degree in the logarithm of the density; beyond
    the table, they have the values of its edge.
    """

    first: Indices  # row of the first point
    weights: Array  # [point, cell]

    @classmethod
    def at(cls, axis: Array, density: Array) -> Isochores:
        """Return the lines at densities, on an axis of logarithms."""
        place = (np.log(density) - axis[0]) / (axis[1] - axis[0])
        place = np.clip(place, 0, axis.size - 1)
        first = np.clip(place.astype(np.intp) - POINTS // 2 + 1, 0, axis.size - POINTS)
        weights = np.ones((POINTS, *place.shape))
        for n in range(POINTS):
            for m in set(range(POINTS)) - {n}:
                weights[n] *= (place - first - m) / (n - m)
        return cls(first, weights)

    def value(self, field: Array, column: Indices | int) -> Array:
        """Return a field at one column for each cell."""
        rows = range(POINTS)
        return sum((self.weights[n] * field[self.first + n, column] for n in rows), np.zeros(()))


@dataclass(frozen=True)
class TablePlaces:
    """Places of cells in a table: between two columns of the thermal pressure."""

    isochores: Isochores
    columns: list[Indices]  # two below and two above
    x: list[Array]  # logarithm of the thermal pressure per mass at the columns
    at: Array  # that of the cells, not beyond the table

    def value(self, field: Array) -> Array:
        """Return a field by monotone cubic polynomials (Fritsch & Butland 1984)."""
        x, y = self.x, [self.isochores.value(field, column) for column in self.columns]
        h = [x[n + 1] - x[n] for n in range(3)]
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = [(y[n + 1] - y[n]) / h[n] for n in range(3)]
            slopes = []
            for n in (0, 1):
                share = (1 + h[n + 1] / (h[n] + h[n + 1])) / 3
                mean = rise[n] * rise[n + 1] / (share * rise[n + 1] + (1 - share) * rise[n])
                slope = np.where(rise[n] * rise[n + 1] > 0, mean, 0.0)
                # At the first and last column one of the neighbours is missing.
                slopes.append(np.where(h[2 * n] > 0, slope, rise[1]))
        t = (self.at - x[1]) / h[1]
        bend = (1 - t) * (slopes[0] - rise[1]) - t * (slopes[1] - rise[1])
        return y[1] + t * (y[2] - y[1]) + t * (1 - t) * h[1] * bend


@dataclass(frozen=True)
class GasTable:
    """Table in cgs units: fields are [density, temperature].

    As in the program, the coldest isotherm is subtracted from the others, so that the temperature
    of degenerate gas does not follow from the difference of large numbers.
    """

    path: Path
    checksum: str  # as in the header of files
    density: Array  # logarithms
    temperature: Array
    pressure: Array  # per mass
    energy: Array  # per mass
    modulus: Array  # squared sound speed
    entropy: Array | None  # erg / (g K)

    @classmethod
    def read(cls, path: Path) -> GasTable:
        """Read a table."""
        names = ("density", "temperature", "pressure", "energy", "sound_speed")
        try:
            data = path.read_bytes()
            with h5py.File(path) as file:
                rho, kelvin, pressure, energy, speed = (
                    np.asarray(file[name], dtype=float) for name in names
                )
                entropy = np.asarray(file["entropy"]) if "entropy" in file else None
        except (OSError, KeyError) as cause:
            message = f"{path}: cannot read the equation of state hydro.eos_table: {cause}"
            raise OctoolsError(message) from cause
        checksum = f"{crc32c(data):08x}, {len(data)} bytes"
        per_mass = pressure / rho[:, None]
        return cls(path, checksum, np.log(rho), kelvin, per_mass, energy, speed**2, entropy)

    def thermal_ratio(self, field: Array) -> Array:
        """Return the ratio of a field per mass to the pressure, both without their cold part."""
        return (field[:, 1:] - field[:, :1]) / (self.pressure[:, 1:] - self.pressure[:, :1])


@dataclass(frozen=True)
class CellsInTable:
    """Cells with densities and pressures in cgs units, and their thermal pressure per mass."""

    table: GasTable
    isochores: Isochores
    thermal: Array
    places: TablePlaces

    @classmethod
    def at(cls, table: GasTable, density: Array, pressure: Array) -> CellsInTable:
        """Find the places of cells."""
        density, pressure = np.broadcast_arrays(density, pressure)
        isochores = Isochores.at(table.density, density)
        cold = np.exp(isochores.value(np.log(table.pressure), 0))
        thermal = pressure / density - cold
        x = np.log(table.pressure[:, 1:] - table.pressure[:, :1])
        wanted = np.log(np.maximum(thermal, 1e-300))
        last = x.shape[1] - 1
        low, high = np.zeros(cold.shape, np.intp), np.full(cold.shape, last)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            is_cold = isochores.value(x, middle) <= wanted
            low, high = np.where(is_cold, middle, low), np.where(is_cold, high, middle)
        columns = [np.clip(low + n, 0, last) for n in range(-1, 3)]
        at = [isochores.value(x, column) for column in columns]
        places = TablePlaces(isochores, columns, at, np.clip(wanted, at[1], at[2]))
        return cls(table, isochores, thermal, places)

    def per_mass(self, field: Array) -> Array:
        """Return a field per mass; beyond the table, thermal parts have the ratios of its edge."""
        cold = np.exp(self.isochores.value(np.log(field), 0))
        return cold + self.thermal * self.places.value(self.table.thermal_ratio(field))

    def share_of_first(self) -> Array:
        """Return the thermal pressure relative to that of the second isotherm, 0 to 1."""
        excess = self.table.pressure[:, 1:] - self.table.pressure[:, :1]
        first = np.exp(self.isochores.value(np.log(excess), 0))
        return np.clip(self.thermal / first, 0, 1)

    def temperature(self) -> Array:
        """Return the temperature in K."""
        coldest = self.table.temperature[0]
        excess = np.log(self.table.temperature[1:] - coldest)
        field = np.broadcast_to(excess, self.table.modulus[:, 1:].shape)
        return coldest + self.share_of_first() * np.exp(self.places.value(field))

    def entropy(self, entropy: Array) -> Array:
        """Return the specific entropy in erg / (g K)."""
        coldest, second = (self.isochores.value(entropy, column) for column in (0, 1))
        kelvin = self.table.temperature
        share = np.log(self.temperature() / kelvin[0]) / np.log(kelvin[1] / kelvin[0])
        below = coldest + share * (second - coldest)
        return np.where(share < 1, below, self.places.value(entropy[:, 1:]))


@dataclass(frozen=True)
class TabulatedGas:
    """Tabulated gas in code units."""

    table: GasTable
    unit_of_density: float  # g / cm^3
    unit_of_velocity: float  # cm / s

    @classmethod
    def of(cls, header: Header) -> TabulatedGas | None:
        """Return the gas of a file; None if its equation of state is not a table.

        Refuses a table whose content differs from that of the run.
        """
        if header.parameter("hydro.equation_of_state", "ideal") != "table":
            return None
        length, mass, time = (header.units[name] for name in ("length", "mass", "time"))
        path = Path(str(header.parameter("hydro.eos_table"))).absolute()
        try:
            table = _read_once(path, path.stat().st_mtime_ns)
        except OSError:
            table = GasTable.read(path)
        expected = header.data_files.get("hydro", {}).get("eos_table", table.checksum)
        if table.checksum != expected:
            raise OctoolsError(
                f"{path}: the contents of hydro.eos_table have changed since the run (checksum "
                f"{expected}, now {table.checksum}); restore the file"
            )
        return cls(table, mass / length**3, length / time)

    def temperature(self, density: Array, pressure: Array) -> Array:
        """Return the temperature in K."""
        return self._cells(density, pressure).temperature()

    def internal_energy(self, density: Array, pressure: Array) -> Array:
        """Return the internal energy per volume."""
        energy = self._cells(density, pressure).per_mass(self.table.energy)
        return density * energy / self.unit_of_velocity**2

    def bulk_modulus(self, density: Array, pressure: Array) -> Array:
        """Return rho c²."""
        modulus = self._cells(density, pressure).per_mass(self.table.modulus)
        return density * modulus / self.unit_of_velocity**2

    def entropy(self, density: Array, pressure: Array) -> Array:
        """Return the specific entropy of the table in erg / (g K)."""
        if self.table.entropy is None:
            raise OctoolsError(f"{self.table.path}: the table has no dataset 'entropy'")
        return self._cells(density, pressure).entropy(self.table.entropy)

    def _cells(self, density: Array, pressure: Array) -> CellsInTable:
        unit_of_pressure = self.unit_of_density * self.unit_of_velocity**2
        cgs = (density * self.unit_of_density, pressure * unit_of_pressure)
        return CellsInTable.at(self.table, *cgs)


@lru_cache(maxsize=4)
def _read_once(path: Path, _changed: int) -> GasTable:
    return GasTable.read(path)
