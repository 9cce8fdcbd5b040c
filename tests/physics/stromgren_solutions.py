"""Radius and structure of an ionised sphere around a source, with which runs are compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stromgren:
    """Ionised sphere of a source of `photons` per time in hydrogen of constant density, in cgs.

    Strömgren (1939); the numbers are those of test 1 of Iliev et al. (2006), MNRAS 371, 1057.
    """

    photons: float = 5e48
    density: float = 1e-3  # hydrogen atoms and ions per volume
    recombination: float = 2.59e-13  # coefficient alpha_B at 1e4 K
    cross_section: float = 6.3e-18
    light_speed: float = 2.99792458e10

    @property
    def radius(self) -> float:
        """Return the Strömgren radius."""
        rate = 4.0 * np.pi * self.recombination * self.density**2
        return float((3.0 * self.photons / rate) ** (1.0 / 3.0))

    @property
    def recombination_time(self) -> float:
        """Return the time 1 / (alpha_B n)."""
        return 1.0 / (self.recombination * self.density)

    def front(self, time: Array) -> Array:
        """Return the radius of a sharp front, without limit of its speed (Spitzer 1978)."""
        return self.radius * (-np.expm1(-np.asarray(time) / self.recombination_time)) ** (1.0 / 3.0)

    def front_without_recombination(self, time: Array) -> Array:
        """Return the radius within which the source has ionised every atom once."""
        volume = self.photons * np.asarray(time) / self.density
        return (3.0 / (4.0 * np.pi) * volume) ** (1.0 / 3.0)

    def relativistic_front(self, time: Array) -> Array:
        """Return the radius of a front that photons reach at the speed of light.

        With y = R / R_S: t / t_rec = q y - ln(1 - y^3), q = R_S / (c t_rec); Shapiro et al. (2006),
        ApJ 648, 922.
        """
        w = np.atleast_1d(np.asarray(time, float)) / self.recombination_time
        q = self.radius / (self.light_speed * self.recombination_time)
        low, high = np.zeros_like(w), np.ones_like(w)
        for _ in range(60):
            y = 0.5 * (low + high)
            late = q * y - np.log1p(-(y**3)) > w
            low, high = np.where(late, low, y), np.where(late, y, high)
        return self.radius * low

    def equilibrium(self, radius: Array, cells: int = 20000) -> Array:
        """Return the neutral fraction in equilibrium with grey photons (Osterbrock 1989, ch. 2).

        (1 - x) S exp(-tau) sigma / (4 pi r^2) = alpha_B n x^2, d tau / dr = (1 - x) n sigma, with
        the source at r = 0. The on-the-spot approximation: only absorptions balance alpha_B.
        """
        edges = np.linspace(0.0, max(float(np.max(radius)), 1.5 * self.radius), cells + 1)
        middle = 0.5 * (edges[1:] + edges[:-1])
        shell = 4.0 * np.pi / 3.0 * np.diff(edges**3)
        neutral = np.empty(cells)
        photons = self.photons
        for n in range(cells):
            neutral[n], photons = self._shell(shell[n], edges[n + 1] - edges[n], photons)
        return np.interp(radius, middle, neutral)

    def _shell(self, volume: float, thickness: float, photons: float) -> tuple[float, float]:
        """Return the neutral fraction of a shell whose recombinations balance its absorptions."""
        depth = self.density * self.cross_section * thickness
        per_volume = self.recombination * self.density**2 * volume
        low, high = 0.0, 1.0
        for _ in range(45):
            y = 0.5 * (low + high)
            if -photons * np.expm1(-y * depth) > per_volume * (1.0 - y) ** 2:
                high = y
            else:
                low = y
        return high, photons * float(np.exp(-high * depth))
