"""Tabulated equation of state of the gas in a file: temperature, energy and sound speed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError

if TYPE_CHECKING:
    from octools.snapshot import Header

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TablePlaces:
    """Positions of cells in a table: lower indices, and fractions of the distance to the next."""

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    row_fraction: Array
    column_fraction: Array

    def value(self, field: Array) -> Array:
        """Return a field, interpolated linearly along both axes."""
        low, high = (
            (1 - self.column_fraction) * field[row, self.column]
            + self.column_fraction * field[row, self.column + 1]
            for row in (self.row, self.row + 1)
        )
        return (1 - self.row_fraction) * low + self.row_fraction * high


@dataclass(frozen=True)
class GasTable:
    """Table of logarithms in cgs units: fields are [density, temperature].

    Values between the nodes are linear in the logarithms; beyond the table those of its edge are
    used.
    """

    path: Path
    density: Array
    temperature: Array
    pressure: Array
    energy: Array
    sound_speed: Array
    entropy: Array | None  # erg / (g K), not a logarithm

    @classmethod
    def read(cls, path: Path) -> GasTable:
        """Read a table."""
        names = ("density", "temperature", "pressure", "energy", "sound_speed")
        try:
            with h5py.File(path) as file:
                fields = (np.log(np.asarray(file[name], dtype=float)) for name in names)
                entropy = np.asarray(file["entropy"]) if "entropy" in file else None
                return cls(path, *fields, entropy)
        except (OSError, KeyError) as cause:
            message = f"{path}: cannot read the equation of state hydro.eos_table: {cause}"
            raise OctoolsError(message) from cause

    def places(self, density: Array, pressure: Array) -> TablePlaces:
        """Return the places with a density and a pressure in cgs units."""
        step = self.density[1] - self.density[0]
        place = (np.log(density) - self.density[0]) / step
        place = np.clip(place, 0, self.density.size - 1)
        row = np.minimum(place.astype(np.intp), self.density.size - 2)
        share = place - row
        wanted = np.log(pressure)

        def along(column: NDArray[np.intp]) -> Array:
            return (1 - share) * self.pressure[row, column] + share * self.pressure[row + 1, column]

        low = np.zeros(row.shape, np.intp)
        high = np.full(row.shape, self.temperature.size - 1)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            is_cold = along(middle) <= wanted
            low, high = np.where(is_cold, middle, low), np.where(is_cold, high, middle)
        fraction = (wanted - along(low)) / (along(low + 1) - along(low))
        return TablePlaces(row, low, share, np.clip(fraction, 0, 1))


@dataclass(frozen=True)
class TabulatedGas:
    """Tabulated gas in code units."""

    table: GasTable
    unit_of_density: float  # g / cm^3
    unit_of_velocity: float  # cm / s

    @classmethod
    def of(cls, header: Header) -> TabulatedGas | None:
        """Return the gas of a file; None if its equation of state is not a table."""
        if header.parameter("hydro.equation_of_state", "ideal") != "table":
            return None
        length, mass, time = (header.units[name] for name in ("length", "mass", "time"))
        table = _read_once(str(header.parameter("hydro.eos_table")))
        return cls(table, mass / length**3, length / time)

    def temperature(self, density: Array, pressure: Array) -> Array:
        """Return the temperature in K."""
        places = self._places(density, pressure)
        rows = np.broadcast_to(self.table.temperature, self.table.pressure.shape)
        return np.exp(places.value(rows))

    def internal_energy(self, density: Array, pressure: Array) -> Array:
        """Return the internal energy per volume; beyond the table, at its ratio to the pressure."""
        return pressure * self._ratio(self.table.energy, density, pressure)

    def bulk_modulus(self, density: Array, pressure: Array) -> Array:
        """Return rho c²; beyond the table, at its ratio to the pressure, as in the program."""
        return pressure * self._ratio(2.0 * self.table.sound_speed, density, pressure)

    def entropy(self, density: Array, pressure: Array) -> Array:
        """Return the specific entropy of the table in erg / (g K)."""
        if self.table.entropy is None:
            raise OctoolsError(f"{self.table.path}: the table has no dataset 'entropy'")
        return self._places(density, pressure).value(self.table.entropy)

    def _ratio(self, field: Array, density: Array, pressure: Array) -> Array:
        """Return the ratio of density times a specific energy, given by logarithms, to pressure."""
        table = self.table
        ratio = field + table.density[:, None] - table.pressure
        return np.exp(self._places(density, pressure).value(ratio))

    def _places(self, density: Array, pressure: Array) -> TablePlaces:
        unit_of_pressure = self.unit_of_density * self.unit_of_velocity**2
        return self.table.places(density * self.unit_of_density, pressure * unit_of_pressure)


@lru_cache(maxsize=4)
def _read_once(path: str) -> GasTable:
    return GasTable.read(Path(path))
