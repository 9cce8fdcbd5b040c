"""Averages of ionising photons over the spectrum of a black body, for groups of photon energies.

Octant computes the same averages (src/subgrid/ionization/photon_groups.cpp); the converter compares
them with the numbers of a namelist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from octools.snapshot import Array

THRESHOLDS = (13.60, 24.59, 54.42)  # eV: H I, He I, He II
BOLTZMANN = 8.617333262e-5  # eV/K
# Energy, cross section, y_a, P, y_w, y_0 and y_1 of Verner et al. (1996), ApJ 465, 487, table 1.
VERNER = (
    (0.4298, 5.475e-14, 32.88, 2.963, 0.0, 0.0, 0.0),
    (13.61, 9.492e-16, 1.469, 3.188, 2.039, 0.4434, 2.136),
    (1.720, 1.369e-14, 32.88, 2.963, 0.0, 0.0, 0.0),
)


@dataclass(frozen=True)
class Group:
    """Averages of a group of photons.

    Attributes
    ----------
    photons
        Photons of the group over those of all groups.
    energy
        Mean photon energy, eV.
    sections
        Mean cross sections of H I, He I and He II, cm^2.
    """

    photons: float
    energy: float
    sections: tuple[float, ...]

    @classmethod
    def monochromatic(cls, energy: float, groups: int) -> Group:
        """Return a group of photons of one energy in eV, one of several with equal numbers."""
        at = np.array([energy])
        return cls(1 / groups, energy, tuple(float(cross_section(n, at)[0]) for n in range(3)))


def cross_section(atom: int, energy: Array) -> Array:
    """Return the cross section of H I (0), He I (1) or He II (2) in cm^2 (Verner et al. 1996)."""
    scale, section, y_a, power, y_w, y_0, y_1 = VERNER[atom]
    x = energy / scale - y_0
    y = np.sqrt(x**2 + y_1**2)
    shape = ((x - 1) ** 2 + y_w**2) * y ** (0.5 * power - 5.5) / (1 + np.sqrt(y / y_a)) ** power
    return np.where(energy >= THRESHOLDS[atom], section * shape, 0.0)


def black_body(edges: list[float], temperature: float) -> list[Group]:
    """Return the averages of groups that begin at these energies in eV, the last one without end.

    Cross sections are weighted by the number of photons (Rosdahl et al. 2013, appendix B).
    """
    thermal = BOLTZMANN * temperature
    sums = []
    for low, high in zip(edges, [*edges[1:], np.inf], strict=True):
        energy = np.geomspace(low, min(high, low + 60 * thermal), 2001)
        count = energy**2 * np.exp((edges[0] - energy) / thermal) / -np.expm1(-energy / thermal)
        values = [count, count * energy, *(count * cross_section(n, energy) for n in range(3))]
        sums.append([float(np.trapezoid(value, energy)) for value in values])
    photons = sum(one[0] for one in sums)
    return [
        Group(one[0] / photons, one[1] / one[0], tuple(x / one[0] for x in one[2:])) for one in sums
    ]


def temperature_of(edges: list[float], energies: list[float]) -> float:
    """Return the temperature in K of the black body with mean photon energies closest to these."""

    def deviation(temperature: float) -> float:
        groups = black_body(edges, temperature)
        return max(abs(g.energy / e - 1) for g, e in zip(groups, energies, strict=True))

    if deviation(1e5) < 0.01:
        return 1e5
    near = min(np.geomspace(8e3, 1e6, 243), key=deviation)
    return float(f"{min(near * np.geomspace(0.98, 1.02, 41), key=deviation):.3g}")
