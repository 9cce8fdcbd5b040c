"""Exact Riemann problem of a barotropic gas whose exponents do not decrease with density.

Both waves are then single shocks, or rarefactions that a plateau divides where the exponent
changes. Pressures between the waves are equal, and so are densities.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from octools.equation_of_state import Barotrope

Array = NDArray[np.float64]
State = tuple[float, float]  # density and velocity


@dataclass(frozen=True)
class BarotropicRiemann:
    """Riemann problem with the discontinuity at `position`."""

    left: State
    right: State
    gas: Barotrope
    position: float

    def at(self, x: Array, time: float) -> tuple[Array, Array]:
        """Return density and velocity along the axis."""
        speed = (x - self.position) / time
        (rho_l, u_l), (rho_r, u_r) = self.left, self.right
        star = self.star_density()
        middle = u_l - self.velocity_change(star, rho_l)
        left = self._wave(speed, rho_l, u_l, star)
        # The right wave is a left wave in the mirror.
        right = self._wave(-speed, rho_r, -u_r, star)
        is_left = speed < middle
        return np.where(is_left, left[0], right[0]), np.where(is_left, left[1], -right[1])

    def star_density(self) -> float:
        """Return the density between the waves."""
        (rho_l, u_l), (rho_r, u_r) = self.left, self.right

        low, high = 1e-8 * min(rho_l, rho_r), 1e8 * max(rho_l, rho_r)
        for _ in range(200):
            rho = float(np.sqrt(low * high))
            if self.velocity_change(rho, rho_l) + self.velocity_change(rho, rho_r) < u_l - u_r:
                low = rho
            else:
                high = rho
        return low

    def velocity_change(self, rho: float, before: float) -> float:
        """Return the velocity that gas loses in a wave that changes its density."""
        if rho > before:
            pressures = self.gas.pressure(np.array([before, rho]))
            return float(np.sqrt((pressures[1] - pressures[0]) * (rho - before) / (rho * before)))
        return -self.riemann_invariant(rho, before)

    def riemann_invariant(self, lower: float, upper: float) -> float:
        """Return the integral of c / rho over rho, piece by piece."""
        inner = [d for d in self.gas.densities if lower < d < upper]
        ends = [lower, *inner, upper]
        total = 0.0
        for a, b in pairwise(ends):
            exponent = float(self.gas.exponent(np.array([np.sqrt(a * b)]))[0])
            pressures = self.gas.pressure(np.array([a, b]))
            sound = np.sqrt(exponent * pressures / np.array([a, b]))
            if exponent == 1.0:
                total += float(sound[0]) * np.log(b / a)
            else:
                total += 2 / (exponent - 1) * float(sound[1] - sound[0])
        return total

    def _wave(self, speed: Array, rho: float, u: float, star: float) -> tuple[Array, Array]:
        if star > rho:
            after = u - self.velocity_change(star, rho)
            front = (star * after - rho * u) / (star - rho)
            behind = speed > front
            return np.where(behind, star, rho), np.where(behind, after, u)
        return self._rarefaction(speed, rho, u, star)

    def _rarefaction(self, speed: Array, rho: float, u: float, star: float) -> tuple[Array, Array]:
        densities, velocities, characteristics = [], [], []
        ends = [rho, *sorted((d for d in self.gas.densities if star < d < rho), reverse=True), star]
        for upper, lower in pairwise(ends):
            fan = np.geomspace(upper, lower, 400)
            exponent = float(self.gas.exponent(np.array([np.sqrt(upper * lower)]))[0])
            sound = np.sqrt(exponent * self.gas.pressure(fan) / fan)
            velocity = np.array([u + self.riemann_invariant(d, rho) for d in fan])
            densities.append(fan)
            velocities.append(velocity)
            characteristics.append(velocity - sound)
        places = np.concatenate(characteristics)
        return (
            np.interp(speed, places, np.concatenate(densities)),
            np.interp(speed, places, np.concatenate(velocities)),
        )
