"""Exchange of energy and momentum of uniform gas and radiation, with which runs are compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Relaxation:
    """Ideal gas at rest in radiation of another temperature, both uniform.

        d_t e = c s (E - a T^4),  d_t E = -r d_t e,  e = heat T

    `heat` is the heat capacity per volume, s the absorption per length and r c the reduced speed of
    light. With r = 1: the second test of Turner & Stone (2001), ApJS 135, 95, where E = 1e12,
    rho = 1e-7, s = 4e-8 and e = 1e2 or 1e10 in cgs.
    """

    gas_energy: float  # e at the beginning
    radiation_energy: float  # E at the beginning
    heat: float
    radiation_constant: float
    absorption: float = 1.0
    light_speed: float = 1.0
    speed_ratio: float = 1.0

    def roots(self) -> tuple[NDArray[np.complex128], float]:
        """Return the zeros of d_t e as a function of e, and the coefficient of its term of e^4."""
        leading = -self.light_speed * self.absorption * self.radiation_constant / self.heat**4
        total = self.radiation_energy + self.speed_ratio * self.gas_energy
        # With e in units of a scale q: z^4 + linear z - constant = 0.
        q = (total * self.heat**4 / self.radiation_constant) ** 0.25
        linear = self.speed_ratio * q / total
        return np.roots([1.0, 0.0, 0.0, linear, -1.0]) * q, leading

    @property
    def equilibrium(self) -> float:
        """Return e in equilibrium."""
        roots = self.roots()[0]
        real = roots[np.abs(roots.imag) < 1e-9 * np.abs(roots)].real
        return float(real[real > 0.0][0])

    def time(self, gas_energy: Array) -> Array:
        """Return the time at which the gas has an energy between the initial and the final one.

        The integral of de / (d_t e) in partial fractions: log((e - e_i) / (e_0 - e_i)) / P'(e_i).
        """
        roots, leading = self.roots()
        e = np.asarray(gas_energy, float)
        total = np.zeros(e.shape, complex)
        for n, root in enumerate(roots):
            slope = leading * np.prod(root - np.delete(roots, n))
            total += np.log((e - root) / (self.gas_energy - root)) / slope
        return total.real

    def at(self, time: Array) -> tuple[Array, Array]:
        """Return e and E at each time, by bisection of `time`."""
        time = np.asarray(time, float)
        begin, end = self.gas_energy, self.equilibrium
        # Logarithms of the fraction of the difference that remains.
        low, high = np.full(time.shape, -30.0), np.zeros(time.shape)
        for _ in range(80):
            middle = 0.5 * (low + high)
            early = self.time(end + (begin - end) * np.exp(middle)) < time
            low, high = np.where(early, low, middle), np.where(early, middle, high)
        e = end + (begin - end) * np.exp(high)
        return e, self.radiation_energy + self.speed_ratio * (self.gas_energy - e)


def drag(
    time: Array,
    flux: float,
    *,
    energy: float,
    extinction: float,
    density: float = 1.0,
    light_speed: float = 1.0,
    speed_ratio: float = 1.0,
) -> tuple[Array, Array]:
    """Return velocity and flux of uniform gas that a flux accelerates from rest, to order v/c.

    rho d_t v = G, d_t F = -r c^2 G and G = s (F - (4/3) v E) / c, at constant E: momentum
    rho v + F / (r c^2) is conserved, and both approach F = (4/3) v E.
    """
    c, r = light_speed, speed_ratio
    inertia = 4.0 / 3.0 * energy
    rate = extinction * (r * c + inertia / (density * c))
    final = flux / (inertia + r * c**2 * density)
    velocity = -final * np.expm1(-rate * np.asarray(time))
    return velocity, flux - r * c**2 * density * velocity
