"""What tests of galaxies share: constants, units, tables that they are held against, logs."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from running import Outcome

Array = NDArray[np.float64]
X = 0.76  # share of hydrogen in the mass
# As in src/core/units.hpp, in cgs.
BOLTZMANN, GRAVITY, PROTON = 1.380649e-16, 6.67430e-8, 1.67262192369e-24
PARSEC, SUN, YEAR = 3.0856775814913673e18, 1.988409870698051e33, 3.15576e7
KILOPARSEC, MEGAYEAR = 1e3 * PARSEC, 1e6 * YEAR

# Units of clouds: pc, Myr, one hydrogen nucleus per cm^3.
UNITS = f"""
[units]
length = {PARSEC!r}
density = {PROTON / X!r}
time = {MEGAYEAR!r}
"""
UNIT_MASS = PROTON / X * PARSEC**3 / SUN  # in solar masses
UNIT_SPEED = PARSEC / MEGAYEAR / 1e5  # in km/s
UNIT_ENERGY = UNIT_MASS * SUN * (PARSEC / MEGAYEAR) ** 2  # in erg
NEWTON = GRAVITY * PROTON / X * MEGAYEAR**2  # Newton's constant
# For runs of which snapshots alone are looked at.
SNAPSHOTS_ALONE = """
[output]
final_checkpoint = false

[telemetry]
enabled = false
"""


def rows(path: Path) -> dict[str, Array]:
    """Read a table of reference values: one array per column."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    names = lines[0].split(",")
    columns = zip(*(line.split(",") for line in lines[1:]), strict=True)
    table = {}
    for name, column in zip(names, columns, strict=True):
        try:
            table[name] = np.array([float(value) for value in column])
        except ValueError:
            table[name] = np.array(column)
    return table


def head(path: Path) -> str:
    """Read the comments of a table of reference values, as one text."""
    return "\n".join(line for line in path.read_text().splitlines() if line.startswith("#"))


def toml(values: object) -> str:
    return "[" + ", ".join(repr(float(value)) for value in np.atleast_1d(values)) + "]"


def births(outcome: Outcome) -> dict[str, Array]:
    """Read a run's log of the stars that formed."""
    table = pq.read_table(outcome.directory / "stars_formed.parquet")
    return {name: table[name].to_numpy() for name in table.column_names}


def assert_same_births(outcome: Outcome, other: Outcome) -> None:
    """Compare logs of births, in which both may mark a value as unknown."""
    one, two = births(outcome), births(other)
    assert one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], err_msg=name, strict=True)
