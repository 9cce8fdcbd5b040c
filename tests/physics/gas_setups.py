"""Set-ups and errors that the tests of several equations of state share."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from running import LeafCells

Array = NDArray[np.float64]
SCHEMES = [("muscl_hancock", "plm"), ("muscl_hancock", "ppm"), ("rk2", "plm"), ("rk3", "ppm")]


def scheme_of(scheme: tuple[str, str]) -> tuple[str, str]:
    """Give the settings of a time integrator and a reconstruction."""
    return f"hydro.scheme={scheme[0]}", f"hydro.reconstruction={scheme[1]}"


# --- Riemann problems -----------------------------------------------------------------------------

TUBE = """
[problem]
name = "sod"
left = {left}
right = {right}

[mesh]
base_cells = [256, 4, 4]
upper = [1.0, 0.015625, 0.015625]
block_size = 4
boundary_x = ["outflow", "outflow"]

[hydro]
dimensions = 1

[time]
end = {end}
"""
# Density, velocity and pressure on both sides, and the time of the comparison.
PROBLEMS = {
    "shock_and_rarefaction": ([1.0, 0.0, 3.0], [0.125, 0.0, 0.2], 0.12),
    "two_shocks": ([1.0, 1.5, 2.5], [0.5, -1.5, 1.0], 0.15),
    "two_rarefactions": ([1.0, -0.8, 2.0], [0.7, 0.8, 1.0], 0.12),
}
PRIMITIVES = ("density", "velocity_x", "pressure")


def places_in_cells(found: LeafCells) -> Array:
    """Give 32 places along x in each cell, shape (cells, 32)."""
    parts = (np.arange(32) + 0.5) / 32 - 0.5
    return found.position[:, 0, None] + found.size[:, None] * parts


def mean_errors(found: LeafCells, exact: Sequence[Array], names: Sequence[str]) -> Array:
    """Give the means of |q - exact mean over the cell|; exact values are at `places_in_cells`."""
    return np.array(
        [
            np.mean(np.abs(found[name] - values.mean(axis=1)))
            for name, values in zip(names, exact, strict=True)
        ]
    )


# --- uniform pressure -----------------------------------------------------------------------------

CONTACT = """
[problem]
name = "expression"
density = "x > 0.3 && x < 0.7 ? 1.5 : 0.1"
velocity = ["{velocity}", "0", "0"]
pressure = "{pressure}"

[mesh]
base_cells = [32, 8, 8]
upper = [1.0, 0.25, 0.25]
block_size = 8

[time]
max_steps = 20
end = 10.0
"""


def assert_contacts_at_rest(found: LeafCells, pressure: float, tolerance: float) -> None:
    """Compare with the initial state of CONTACT without velocity."""
    inside = np.abs(found.position[:, 0] - 0.5) < 0.2
    np.testing.assert_allclose(found["density"], np.where(inside, 1.5, 0.1), rtol=tolerance)
    np.testing.assert_allclose(found["pressure"], pressure, rtol=tolerance)
    assert np.all(np.abs(found["velocity_x"]) <= tolerance)


# --- sound waves ----------------------------------------------------------------------------------

AMPLITUDE = 1e-6
WAVE = """
[problem]
name = "expression"
density = "1 + {a} * sin(2 * pi * (x + y + z))"
velocity = ["{u} * sin(2 * pi * (x + y + z))", "{u} * sin(2 * pi * (x + y + z))",
            "{u} * sin(2 * pi * (x + y + z))"]
pressure = "{p} + {k} * sin(2 * pi * (x + y + z))"

[mesh]
block_size = 8

[time]
end = {end}
"""


def sound_wave(pressure: float, square: float, speed: float, end: float) -> str:
    """Give an oblique wave of the density 1.

    Parameters
    ----------
    pressure
        Mean pressure.
    square
        Squared sound speed.
    speed
        Phase speed, which gravity makes smaller than the sound speed.
    end
        Time of the end.
    """
    return WAVE.format(
        a=AMPLITUDE,
        u=AMPLITUDE * speed / 3.0**0.5,
        p=pressure,
        k=AMPLITUDE * square,
        end=end,
    )


def sound_wave_error(found: LeafCells, pressure: float, square: float, speed: float) -> float:
    """Give the largest mean error of density, pressure and velocities in units of the amplitude."""
    phase = 2 * np.pi * (found.position.sum(axis=1) - np.sqrt(3.0) * speed * found.time)
    changes = [found["density"] - 1.0, (found["pressure"] - pressure) / square]
    changes += [found[f"velocity_{axis}"] * np.sqrt(3.0) / speed for axis in "xyz"]
    return float((np.abs(np.array(changes) / AMPLITUDE - np.sin(phase)).mean(axis=1)).max())


# --- budgets and bits -----------------------------------------------------------------------------

MOVING_GAS = """
[problem]
name = "expression"
density = "1 + 0.9 * sin(2 * pi * x) * cos(2 * pi * y)"
velocity = ["2 * sin(2 * pi * y)", "1.5 * cos(2 * pi * z)", "sin(2 * pi * x)"]
pressure = "{pressure}"
scalars = ["x > 0.5 ? 1 : 0"]

[mesh]
base_cells = [16, 16, 16]
max_level = 1
block_size = 4

[hydro]
scalars = 1

[balance]
interval = 2

[refine]
gradient_fields = ["density"]
gradient = [0.25]

[time]
max_steps = 20
end = 1.0
"""


def moving_gas(pressure: str) -> str:
    """Give three-dimensional flow with refined cells that follow its waves."""
    return MOVING_GAS.format(pressure=pressure)


def assert_budgets(history: Mapping[str, Array], energy: Array) -> None:
    """Require that mass, momentum and an energy are constant on a mesh with refined cells."""
    assert history["leaf_cells_1"][-1] > 0
    for conserved in (history["mass"], energy):
        np.testing.assert_allclose(conserved, conserved[0], rtol=1e-13)
    momentum = np.array([history[f"momentum_{axis}"] for axis in "xyz"])
    assert np.all(np.abs(momentum - momentum[:, :1]) <= 1e-13 * history["absolute_momentum"][0])
    assert history["floored_cells"][-1] == 0
