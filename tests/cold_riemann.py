"""Exact Riemann problem of gas with a cold curve, for waves that are single shocks or rarefactions.

Behind a shock the state follows from the Rankine-Hugoniot conditions, found by bisection. In a
rarefaction the thermal pressure divided by rho^gamma is constant, and du = c / rho drho.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from octools.equation_of_state import ColdCurve

Array = NDArray[np.float64]
NODES, WEIGHTS = (
    0.5 * (values + shift)
    for values, shift in zip(np.polynomial.legendre.leggauss(24), (1, 0), strict=True)
)  # of Gauss quadrature from 0 to 1
State = tuple[float, float, float]  # density, velocity and pressure


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function between two positive numbers."""
    for _ in range(48):
        middle = float(np.sqrt(low * high))
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return middle


@dataclass(frozen=True)
class Gas:
    """Gas with a cold curve and the ratio of specific heats gamma."""

    cold: ColdCurve
    gamma: float

    def pressure(self, density: Array, entropy: float) -> Array:
        """Return the pressure at a value of p_th / rho^gamma."""
        return self.cold.pressure(density) + entropy * density**self.gamma

    def entropy(self, density: float, pressure: float) -> float:
        """Return p_th / rho^gamma."""
        return (pressure - self._cold_pressure(density)) / density**self.gamma

    def sound_speed(self, density: Array, entropy: float) -> Array:
        """Return the sound speed at a value of p_th / rho^gamma."""
        modulus = self.gamma * entropy * density**self.gamma + self.cold.bulk_modulus(density)
        return np.sqrt(modulus / density)

    def specific_energy(self, density: float, pressure: float) -> float:
        """Return the internal energy per mass."""
        thermal = (pressure - self._cold_pressure(density)) / (self.gamma - 1)
        return (thermal + float(self.cold.energy(np.array([density]))[0])) / density

    def _cold_pressure(self, density: float) -> float:
        return float(self.cold.pressure(np.array([density]))[0])


class Wave:
    """Wave that moves to the left into a state."""

    def __init__(self, gas: Gas, state: State) -> None:
        self.gas = gas
        self.density, self.velocity, self.pressure = state
        self.entropy = gas.entropy(self.density, self.pressure)

    def after(self, density: float) -> tuple[float, float]:
        """Return pressure and velocity behind the wave that leads to a density."""
        if density <= self.density:
            range_of_log = np.log(self.density / density)
            fan = density * np.exp(range_of_log * NODES)
            slope = self.gas.sound_speed(fan, self.entropy)  # du / dln rho
            gain = float(range_of_log * (WEIGHTS @ slope))
            star = np.array([density])
            return float(self.gas.pressure(star, self.entropy)[0]), self.velocity + gain
        volume = 1 / self.density - 1 / density

        def excess(pressure: float) -> float:
            mean = 0.5 * (pressure + self.pressure) * volume
            gain = self.gas.specific_energy(density, pressure)
            return gain - self.gas.specific_energy(self.density, self.pressure) - mean

        # Linear in the pressure.
        one, two = excess(self.pressure), excess(self.pressure + 1)
        pressure = self.pressure - one / (two - one)
        return pressure, self.velocity - float(np.sqrt((pressure - self.pressure) * volume))

    def density_at(self, pressure: float) -> float:
        """Return the density behind the wave that leads to a pressure."""
        limit = (self.gas.gamma + 1) / (self.gas.gamma - 1) * (1 - 1e-9)
        high = self.density * limit if pressure > self.pressure else self.density
        return root(lambda rho: self.after(rho)[0] - pressure, 1e-3 * self.density, high)

    def at(self, speed: Array, pressure: float) -> tuple[Array, Array, Array]:
        """Return density, velocity and pressure at x/t, from the gas ahead to the contact."""
        star = self.density_at(pressure)
        velocity = self.after(star)[1]
        if star > self.density:
            front = (star * velocity - self.density * self.velocity) / (star - self.density)
            is_behind = speed > front
            states = ((star, self.density), (velocity, self.velocity), (pressure, self.pressure))
            return tuple(np.where(is_behind, *pair) for pair in states)
        fan = np.geomspace(self.density, star, 200)
        velocities = np.array([self.after(rho)[1] for rho in fan])
        places = velocities - self.gas.sound_speed(fan, self.entropy)
        density = np.interp(speed, places, fan)
        return (
            density,
            np.interp(speed, places, velocities),
            self.gas.pressure(density, self.entropy),
        )


@dataclass(frozen=True)
class ColdRiemann:
    """Riemann problem with the discontinuity at `position`."""

    left: State
    right: State
    gas: Gas
    position: float

    def at(self, x: Array, time: float) -> tuple[Array, ...]:
        """Return density, velocity and pressure along the axis."""
        speed = (x - self.position) / time
        density, u, pressure = self.right
        left = Wave(self.gas, self.left)
        right = Wave(self.gas, (density, -u, pressure))  # in the mirror

        # Above the lowest pressure, which may be negative, by `excess`.
        lowest = float(self.gas.cold.pressure(np.array([1e-12]))[0])

        def approach(excess: float) -> float:
            both = (wave.after(wave.density_at(lowest + excess))[1] for wave in (left, right))
            return -sum(both)

        excess = root(
            approach, 1e-3 * (min(self.left[2], pressure) - lowest), 1e2 * (pressure - lowest)
        )
        star = lowest + excess
        contact = left.after(left.density_at(star))[1]
        a, b = left.at(speed, star), right.at(-speed, star)
        is_left = speed < contact
        mirrored = (b[0], -b[1], b[2])
        return tuple(np.where(is_left, *pair) for pair in zip(a, mirrored, strict=True))
