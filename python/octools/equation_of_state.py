"""Equations of state of the gas in files: the sound speed as a function of density and pressure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from octools.snapshot import Header

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Barotrope:
    """Piecewise polytropic pressure, as the program computes it.

    Attributes
    ----------
    densities
        Densities at which the exponent changes.
    pressures
        Pressures at these densities; for an isothermal gas, the pressure at the density 1.
    exponents
        Exponents d ln p / d ln rho below, between and above the densities.
    """

    densities: tuple[float, ...]
    pressures: tuple[float, ...]
    exponents: tuple[float, ...]

    @classmethod
    def of_pieces(
        cls, sound_speed: float, densities: Sequence[float], exponents: Sequence[float]
    ) -> Barotrope:
        """Return the equation of state with these parameters; without densities, isothermal."""
        if not densities:
            return cls((), (sound_speed**2,), (1.0,))
        pressures = [sound_speed**2 * densities[0]]
        for n in range(1, len(densities)):
            growth = (densities[n] / densities[n - 1]) ** exponents[n]
            pressures.append(pressures[-1] * growth)
        return cls(tuple(densities), tuple(pressures), tuple(exponents))

    @classmethod
    def of(cls, header: Header) -> Barotrope | None:
        """Return the equation of state of a file; None if it is that of an ideal gas."""
        kind = header.parameter("hydro.equation_of_state", "ideal")
        if kind == "ideal":
            return None
        return cls.of_pieces(
            float(header.parameter("hydro.sound_speed")),
            [float(d) for d in header.parameter("hydro.barotropic_densities", [])],
            [float(e) for e in header.parameter("hydro.barotropic_exponents", [])],
        )

    def exponent(self, density: Array) -> Array:
        """Return d ln p / d ln rho."""
        return np.asarray(self.exponents)[self._piece(density)]

    def pressure(self, density: Array) -> Array:
        """Return the pressure."""
        start = np.maximum(self._piece(density) - 1, 0)
        ratio = density / np.asarray(self.densities or (1.0,))[start]
        return np.asarray(self.pressures)[start] * ratio ** self.exponent(density)

    def _piece(self, density: Array) -> NDArray[np.intp]:
        return np.searchsorted(np.asarray(self.densities), density, side="right")


def pressure_exponent(header: Header, density: Array) -> Array | float:
    """Return c² rho / p: the ratio of specific heats, or the exponent of a barotropic gas."""
    gas = Barotrope.of(header)
    return header.gamma if gas is None else gas.exponent(density)
