"""Coulomb interactions of ions in a uniform background of electrons.

The one-component plasma has a free energy that depends on density and temperature through the
coupling parameter Gamma = (Z e)^2 / (a kT) with the radius a = (3 / (4 pi n))^(1/3) of the sphere
of one ion. The fit to simulations of the classical liquid by Potekhin & Chabrier (2000, PRE 62,
8554) is smooth from the Debye-Hueckel limit to Gamma = 200.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from octools.electron_gas import BOLTZMANN
from octools.fermi_dirac import Array

CHARGE = 4.803204712570263e-10  # elementary charge [esu], CODATA 2018

A1, A2 = -0.907347, 0.62849
A3 = -np.sqrt(3) / 2 - A1 / np.sqrt(A2)  # limit of Debye and Hueckel, u = -3^(1/2) / 2 Gamma^(3/2)
B1, B2, B3, B4 = 0.0045, 170.0, -8.4e-5, 0.0037


@dataclass(frozen=True)
class Correlation:
    """Interaction energies per ion in units of kT.

    Attributes
    ----------
    free
        Free energy f.
    internal
        Internal energy u = Gamma df / dGamma.
    slope
        Derivative Gamma du / dGamma.
    """

    free: Array
    internal: Array
    slope: Array

    @classmethod
    def of(cls, coupling: Array) -> Correlation:
        """Return the energies for coupling parameters Gamma >= 0."""
        g = coupling
        root = np.sqrt(g)
        free = (
            A1 * (np.sqrt(g * (A2 + g)) - A2 * np.arcsinh(np.sqrt(g / A2)))
            + 2 * A3 * (root - np.arctan(root))
            + B1 * (g - B2 * np.log1p(g / B2))
            + B3 / 2 * np.log1p(g**2 / B4)
        )
        terms = (
            (A1 * g * root / np.sqrt(A2 + g), 1.5 - 0.5 * g / (A2 + g)),
            (A3 * g * root / (1 + g), 1.5 - g / (1 + g)),
            (B1 * g**2 / (B2 + g), 2 - g / (B2 + g)),
            (B3 * g**2 / (B4 + g**2), 2 * B4 / (B4 + g**2)),
        )
        internal = sum(term for term, _ in terms)
        return cls(free, internal, sum(term * exponent for term, exponent in terms))


def coupling(ions: Array, charge: float, temperature: Array) -> Array:
    """Return the coupling parameter of ions with a number density [1/cm^3] and a charge number."""
    radius = np.cbrt(3 / (4 * np.pi * ions))
    return (charge * CHARGE) ** 2 / (radius * BOLTZMANN * temperature)
