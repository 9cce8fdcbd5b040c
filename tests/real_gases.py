"""Equations of state in density and temperature, their tables, and exact Riemann problems.

Temperatures are in units of velocity squared: k T / (mu m_p).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
State = tuple[float, float, float]  # density, velocity and pressure
STEP = 1e-4  # of logarithms, in differences


@dataclass(frozen=True)
class VanDerWaals:
    """Van der Waals gas; with `attraction` and `volume` 0 an ideal gas.

    p = rho T / (1 - b rho) - a rho², e = T / (gamma - 1) - a rho + offset, per mass.
    """

    gamma: float
    attraction: float = 0.0
    volume: float = 0.0
    offset: float = 0.0

    def pressure(self, density: Array, temperature: Array) -> Array:
        """Return the pressure."""
        thermal = density * temperature / (1 - self.volume * density)
        return thermal - self.attraction * density**2

    def energy(self, density: Array, temperature: Array) -> Array:
        """Return the internal energy per mass."""
        return temperature / (self.gamma - 1) - self.attraction * density + self.offset


@dataclass(frozen=True)
class GasAndRadiation:
    """Ideal gas in equilibrium with radiation of the energy density constant times T⁴."""

    gamma: float
    constant: float

    def pressure(self, density: Array, temperature: Array) -> Array:
        """Return the pressure."""
        return density * temperature + self.constant / 3 * temperature**4

    def energy(self, density: Array, temperature: Array) -> Array:
        """Return the internal energy per mass."""
        return temperature / (self.gamma - 1) + self.constant * temperature**4 / density


RealGas = VanDerWaals | GasAndRadiation


def slopes(gas: RealGas, density: Array, temperature: Array) -> tuple[Array, Array]:
    """Return the squared sound speed, and dln T / dln rho at constant entropy."""

    def slope(function: Callable[[Array, Array], Array], of_density: float, of_t: float) -> Array:
        def at(n: int) -> Array:
            factor = np.exp(n * STEP)
            return function(density * factor**of_density, temperature * factor**of_t)

        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * STEP)

    push = slope(gas.pressure, 0, 1) / density
    heating = push / slope(gas.energy, 0, 1)
    return slope(gas.pressure, 1, 0) / density + push * heating, heating


def temperature_at(gas: RealGas, density: Array, pressure: Array) -> Array:
    """Return the temperature of gas with this pressure, by bisection."""
    density, pressure = np.broadcast_arrays(density, pressure)
    low, high = np.full(density.shape, 1e-12), np.full(density.shape, 1e12)
    for _ in range(80):
        middle = np.sqrt(low * high)
        is_cold = gas.pressure(density, middle) < pressure
        low, high = np.where(is_cold, middle, low), np.where(is_cold, high, middle)
    return np.sqrt(low * high)


def write_table(
    path: Path,
    gas: RealGas,
    density: Array,
    temperature: Array,
    units: tuple[float, float] = (1.0, 1.0),
    /,
    **changes: Array | None,
) -> Path:
    """Write a table; `units` are those of density and velocity in cgs, temperatures are in K.

    A change replaces a dataset, or removes it if it is None.
    """
    rho, t = (axis.T for axis in np.meshgrid(density, temperature))
    of_density, of_velocity = units
    datasets = {
        "density": density * of_density,
        "temperature": temperature,
        "pressure": gas.pressure(rho, t) * of_density * of_velocity**2,
        "energy": gas.energy(rho, t) * of_velocity**2,
        "sound_speed": np.sqrt(slopes(gas, rho, t)[0]) * of_velocity,
    }
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "octant equation of state"
        file.attrs["version"] = 1
        for name, values in (datasets | changes).items():
            if values is not None:
                file[name] = values
    return path


# --- Riemann problems -----------------------------------------------------------------------------


class Wave:
    """Wave that moves to the left into a state."""

    def __init__(self, gas: RealGas, state: State) -> None:
        self.gas = gas
        self.density, self.velocity, self.pressure = state
        self.temperature = float(temperature_at(gas, self.density, self.pressure))
        # Isentrope to small densities, by the midpoint rule: density, temperature, pressure, u - c.
        steps, span = 4000, np.log(300.0)
        fan = self.density * np.exp(-span / steps * np.arange(steps + 1))
        middle = fan[:-1] * np.exp(-0.5 * span / steps)
        t, u, half = self.temperature, self.velocity, 0.5 * span / steps
        self.fan = []
        for rho, between in zip(fan, [*middle, fan[-1]], strict=True):
            square, heating = slopes(gas, rho, t)
            self.fan.append((rho, u, float(gas.pressure(rho, t)), u - np.sqrt(square)))
            square, heating = slopes(gas, between, t * np.exp(-half * heating))
            t *= np.exp(-2 * half * heating)
            u += 2 * half * np.sqrt(square)
        self.fan = np.array(self.fan).T

    def behind(self, pressure: float) -> tuple[float, float]:
        """Return density and velocity behind the wave that leads to a pressure."""
        if pressure <= self.pressure:
            density, velocity, pressures, _ = self.fan[:, ::-1]
            return tuple(float(np.interp(pressure, pressures, q)) for q in (density, velocity))
        before = float(self.gas.energy(self.density, self.temperature))
        low, high = self.density, 1e3 * self.density
        if isinstance(self.gas, VanDerWaals) and self.gas.volume > 0:
            high = min(high, (1 - 1e-9) / self.gas.volume)
        for _ in range(50):
            density = np.sqrt(low * high)
            t = float(temperature_at(self.gas, density, pressure))
            volume = 1 / self.density - 1 / density
            gain = float(self.gas.energy(density, t)) - before
            if gain > 0.5 * (pressure + self.pressure) * volume:
                low = density
            else:
                high = density
        return density, self.velocity - float(np.sqrt((pressure - self.pressure) * volume))

    def at(self, speed: Array, pressure: float) -> tuple[Array, Array, Array]:
        """Return density, velocity and pressure at x/t, from the gas ahead to the contact."""
        star = (*self.behind(pressure), pressure)
        ahead = (self.density, self.velocity, self.pressure)
        if pressure > self.pressure:
            mass = star[0] * star[1] - self.density * self.velocity
            front = mass / (star[0] - self.density)
            return tuple(np.where(speed > front, a, b) for a, b in zip(star, ahead, strict=True))
        places = self.fan[3]
        tail = np.interp(star[0], self.fan[0, ::-1], places[::-1])
        inside = np.clip(speed, places[0], tail)
        found = (np.interp(inside, places, q) for q in self.fan[:3])
        return tuple(np.where(speed >= tail, a, q) for a, q in zip(star, found, strict=True))


@dataclass(frozen=True)
class RealRiemann:
    """Riemann problem of real gas with the discontinuity at `position`."""

    left: State
    right: State
    gas: RealGas
    position: float

    def at(self, x: Array, time: float) -> tuple[Array, ...]:
        """Return density, velocity and pressure along the axis."""
        speed = (x - self.position) / time
        density, u, pressure = self.right
        left, right = Wave(self.gas, self.left), Wave(self.gas, (density, -u, pressure))
        low, high = 1e-2 * min(self.left[2], pressure), 1e2 * max(self.left[2], pressure)
        for _ in range(45):
            star = np.sqrt(low * high)
            if left.behind(star)[1] + right.behind(star)[1] > 0:
                low = star
            else:
                high = star
        a, b = left.at(speed, star), right.at(-speed, star)
        is_left = speed < left.behind(star)[1]
        return tuple(np.where(is_left, *pair) for pair in zip(a, (b[0], -b[1], b[2]), strict=True))
