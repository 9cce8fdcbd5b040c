"""Static equilibrium of the pressures of gas and radiation, with which runs are compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PressureTube:
    """Opaque gas at rest, p = rho T, between a hot end at x = 0 and a cold one at x = 1.

        d_x (p + E/3) = 0,  F = -c / (3 rho kappa) d_x E = const,  E = a T^4

    The temperature falls from 1 to `cold`. The radiation tube of Krumholz et al. (2007), ApJ 667,
    626, in other units.
    """

    pressure: float = 1.0  # of the gas at x = 0
    radiation_constant: float = 3.0
    opacity: float = 50.0  # per mass
    light_speed: float = 40.0
    cold: float = 0.8

    @property
    def total(self) -> float:
        """Return the sum of the pressures of gas and radiation."""
        return self.pressure + self.radiation_constant / 3.0

    def _distance(self, temperature: Array) -> Array:
        """Return x times a constant, from T^4 d_x T proportional to -p: the integral of T^4 / p.

        With p = total - a T^4 / 3 and z^4 = a T^4 / (3 total), it is that of z^4 / (1 - z^4).
        """
        scale = (self.radiation_constant / (3.0 * self.total)) ** 0.25

        def integral(t: Array) -> Array:
            z = scale * t
            return 0.5 * (np.arctanh(z) + np.arctan(z)) - z

        return integral(np.ones(1)) - integral(np.asarray(temperature, float))

    def at(self, x: Array) -> dict[str, Array]:
        """Return density, temperature, pressure of the gas, and E at positions."""
        x = np.asarray(x, float)
        length = self._distance(np.array([self.cold]))[0]
        # Temperatures by bisection, also a little beyond the ends.
        low, high = np.full(x.shape, 0.5 * self.cold), np.full(x.shape, 1.1)
        for _ in range(60):
            middle = 0.5 * (low + high)
            is_hot = self._distance(middle) < x * length
            low, high = np.where(is_hot, low, middle), np.where(is_hot, middle, high)
        temperature = 0.5 * (low + high)
        energy = self.radiation_constant * temperature**4
        pressure = self.total - energy / 3.0
        return {
            "density": pressure / temperature,
            "temperature": temperature,
            "pressure": pressure,
            "energy": energy,
        }

    @property
    def flux(self) -> float:
        """Return the energy flux F."""
        # F = -(4 a c / (3 kappa)) T^4 d_x T / p
        scale = (self.radiation_constant / (3.0 * self.total)) ** 0.25
        length = self._distance(np.array([self.cold]))[0]
        gradient = length / (scale**5 * self.total)  # -T^4 d_x T / p
        conductivity = 4.0 * self.radiation_constant * self.light_speed / (3.0 * self.opacity)
        return float(conductivity * gradient)
