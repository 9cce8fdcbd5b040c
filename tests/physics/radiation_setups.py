"""Parameter files and profiles of runs with radiation in slabs, for the tests of the module."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from running import leaf_cells

Array = NDArray[np.float64]

AXES = "xyz"
SLAB = """
[problem]
name = "expression"
density = "{density}"
velocity = {velocity}
pressure = "{pressure}"
fields = {{radiation_energy = "{energy}", {fluxes}}}
{samples}

[mesh]
base_cells = {cells}
lower = {lower}
upper = {upper}
block_size = 4
{boundaries}

[radiation]
enabled = true
light_speed = {light_speed}
constant = {constant}

[time]
end = {end}
"""


def slab(
    cells: int,
    length: float,
    end: float,
    *,
    lower: float = 0.0,
    across: tuple[int, int] = (4, 4),
    axes: str = "xyz",
    energy: str = "1",
    flux: tuple[str, str, str] = ("0", "0", "0"),
    density: str = "1",
    velocity: tuple[str, str, str] = ("0", "0", "0"),
    pressure: str = "1",
    sides: tuple[str, str] = ("periodic", "periodic"),
    light_speed: float = 1.0,
    constant: float = 1.0,
    samples: int = 1,
) -> str:
    """Return the parameter file of a box of cubic cells, `cells` long and `across` them wide.

    `axes` names the axes of the long side and of the sides `across`; all arguments refer to these
    three in turn, and the expressions have x, y, z for them. Domains begin at `lower` on the long
    side, and at 0 on the others, whose boundaries are periodic.
    """
    order = [axes.index(axis) for axis in AXES]
    table = str.maketrans(AXES, axes)
    dx = length / cells
    counts = (cells, *across)
    lows, highs = (lower, 0.0, 0.0), (lower + length, across[0] * dx, across[1] * dx)
    fluxes = [f'radiation_flux_{axes[n]} = "{flux[n].translate(table)}"' for n in range(3)]
    return SLAB.format(
        density=density.translate(table),
        velocity=[velocity[n].translate(table) for n in order],
        pressure=pressure.translate(table),
        energy=energy.translate(table),
        fluxes=", ".join(fluxes),
        samples=f"samples = {samples}",
        cells=[counts[n] for n in order],
        lower=[lows[n] for n in order],
        upper=[highs[n] for n in order],
        boundaries=f'boundary_{axes[0]} = ["{sides[0]}", "{sides[1]}"]',
        light_speed=light_speed,
        constant=constant,
        end=end,
    )


def profile(path: Path, axis: int = 0) -> dict[str, Array]:
    """Read the rows of unrefined cells along an axis, which must have the same bits.

    Returns the fields by name and the position as "x", each of shape (cells,).
    """
    cells = leaf_cells(path)
    _, row = np.unique(cells.position[:, axis], return_inverse=True)
    first = np.unique(row, return_index=True)[1]
    for name, values in cells.values.items():
        assert np.array_equal(values, values[first][row]), f"{name} differs between rows"
    return {"x": cells.position[first, axis]} | {n: v[first] for n, v in cells.values.items()}


def mean_error(found: Array, exact: Array) -> float:
    """Return the mean of |found - exact| in units of the mean of |exact|."""
    return float(np.mean(np.abs(found - exact)) / np.mean(np.abs(exact)))
