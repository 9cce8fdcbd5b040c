"""Equation-of-state tables in HDF5, which hydro.equation_of_state = "table" reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import h5py
import numpy as np

from octools.errors import OctoolsError
from octools.fermi_dirac import Array
from octools.files import whole_file
from octools.gas_models import GasState

FORMAT = "octant equation of state"
VERSION = 1
MIN_POINTS = 8  # of each axis, which the program requires (src/hydro/eos/eos_table.cpp)
MAX_NODES = 10_000_000  # densities times temperatures
PER_DECADE = 20  # points per decade, if their number is not given


class GasModel(Protocol):
    """Gas whose state is a function of density and temperature."""

    def state(self, density: Array, temperature: Array) -> GasState:
        """Return the state at densities [g/cm^3] and temperatures [K] of the same shape."""


@dataclass(frozen=True)
class Axis:
    """Values of a table in one direction, with constant ratios between neighbours.

    Attributes
    ----------
    name
        Name of the quantity, for messages.
    lower, upper
        First and last value.
    points
        Number of values.
    """

    name: str
    lower: float
    upper: float
    points: int

    def __post_init__(self) -> None:
        """Refuse an empty range, and fewer points than the program requires."""
        if not (0 < self.lower < self.upper < np.inf):
            raise OctoolsError(
                f"the range of the {self.name}, {self.lower:g} to {self.upper:g}, must be "
                "positive and increasing"
            )
        if self.points < MIN_POINTS:
            raise OctoolsError(
                f"{self.points} points of the {self.name} are too few; choose at least {MIN_POINTS}"
            )

    @classmethod
    def of(cls, name: str, limits: tuple[float, float], points: int | None) -> Axis:
        """Return an axis; without a number of points, with 20 per decade."""
        lower, upper = limits
        if points is None and 0 < lower < upper < np.inf:
            decades = np.log10(upper) - np.log10(lower)
            points = max(MIN_POINTS, int(np.ceil(PER_DECADE * decades - 1e-9)) + 1)
        return cls(name, lower, upper, MIN_POINTS if points is None else points)

    @property
    def values(self) -> Array:
        """All values."""
        return np.geomspace(self.lower, self.upper, self.points)


def write_eos_table(
    path: Path,
    gas: GasModel,
    density: Axis,
    temperature: Axis,
    attributes: Mapping[str, str | float] | None = None,
) -> None:
    """Write the equation of state of a gas as an HDF5 table in cgs units.

    Parameters
    ----------
    path
        Path of the file. An older table is replaced.
    gas
        Model of the gas.
    density, temperature
        Values at which the gas is tabulated [g/cm^3, K].
    attributes
        Further attributes of the root group.

    Raises
    ------
    OctoolsError
        If the table has too many nodes, if the state cannot be computed or is not valid, or if the
        file cannot be written.
    """
    if density.points * temperature.points > MAX_NODES:
        raise OctoolsError(
            f"{density.points} densities and {temperature.points} temperatures are too many nodes; "
            f"choose at most {MAX_NODES} in all, such as 10 to 40 per decade"
        )
    axes = density.values, temperature.values
    grid = np.meshgrid(*axes, indexing="ij")
    state = gas.state(*grid)
    columns = {name: getattr(state, name) for name in GasState.__dataclass_fields__}
    _require_valid(columns)
    units = {"pressure": "erg/cm^3", "energy": "erg/g", "entropy": "erg/(g K)"}
    units |= {"density": "g/cm^3", "temperature": "K", "sound_speed": "cm/s"}
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        file.attrs["format"] = FORMAT
        file.attrs["version"] = VERSION
        file.attrs.update(attributes or {})
        for name, values in {"density": axes[0], "temperature": axes[1], **columns}.items():
            file[name] = values
            file[name].attrs["units"] = units[name]


def _require_valid(columns: Mapping[str, Array]) -> None:
    """Refuse a state that the reader would refuse."""
    for name in ("pressure", "energy", "sound_speed"):
        values = columns[name]
        if not np.all(np.isfinite(values) & (values > 0)):
            raise OctoolsError(
                f"the {name} is not positive at all densities and temperatures; raise the lowest "
                "temperature"
            )
    for name in ("pressure", "energy"):
        if not np.all(np.diff(columns[name], axis=1) > 0):
            raise OctoolsError(
                f"the {name} does not increase with the temperature everywhere in float64; raise "
                "the lowest temperature or reduce the highest density"
            )
