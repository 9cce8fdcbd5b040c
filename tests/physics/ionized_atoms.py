"""Atomic data of hydrogen and helium for the solutions in `ionized_sphere`, in cgs units.

Species are HI, HeI and HeII. Fits of Verner et al. (1996, ApJ 465, 487), Hui & Gnedin (1997, MNRAS
292, 27, appendix A), Cen (1992, ApJS 78, 341) and Osterbrock & Ferland (2006, eq. 3.14).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ELECTRON_VOLT = 1.602176634e-12
BOLTZMANN = 1.380649e-16
THRESHOLDS = np.array([13.60, 24.59, 54.42])  # eV

# E_0 in eV, sigma_0 in cm^2, y_a, P, y_w, y_0, y_1.
VERNER = (
    (0.4298, 5.475e-14, 32.88, 2.963, 0.0, 0.0, 0.0),
    (13.61, 9.492e-16, 1.469, 3.188, 2.039, 0.4434, 2.136),
    (1.720, 1.369e-14, 32.88, 2.963, 0.0, 0.0, 0.0),
)


def cross_sections(energy: Array) -> Array:
    """Return the photoionisation cross-sections, shape (3, energies), at energies in eV."""
    found = np.zeros((3, len(energy)))
    for s, (unit, scale, y_a, power, y_w, y_0, y_1) in enumerate(VERNER):
        x = energy / unit - y_0
        y = np.hypot(x, y_1)
        shape = ((x - 1.0) ** 2 + y_w**2) * y ** (0.5 * power - 5.5)
        shape = shape * (1.0 + np.sqrt(y / y_a)) ** -power
        found[s] = np.where(energy >= THRESHOLDS[s] * (1.0 - 1e-12), scale * shape, 0.0)
    return found


@dataclass(frozen=True)
class Photons:
    """Groups of photons: averages over their spectrum, weighted by the number of photons.

    Attributes
    ----------
    cross_section, excess
        Cross-section, and energy above the threshold per ionisation, shape (groups, 3).
    share
        Share of each group in the photons of the source.
    energy
        Mean energy of a photon of each group.
    """

    cross_section: Array
    excess: Array
    share: Array
    energy: Array


def monochromatic(energy: float = 13.6) -> Photons:
    """Return one group of photons of one energy in eV."""
    sigma = cross_sections(np.array([energy])).T
    excess = np.where(sigma > 0.0, np.maximum(energy - THRESHOLDS, 0.0), 0.0) * ELECTRON_VOLT
    return Photons(sigma, excess, np.ones(1), np.array([energy * ELECTRON_VOLT]))


def black_body(edges: tuple[float, ...], temperature: float = 1e5, points: int = 4000) -> Photons:
    """Return groups of photons of a black body that begin at energies in eV."""
    thermal = BOLTZMANN * temperature / ELECTRON_VOLT
    sigma, excess, numbers, energies = [], [], [], []
    for n, lower in enumerate(edges):
        upper = edges[n + 1] if n + 1 < len(edges) else lower + 60.0 * thermal
        step = (upper - lower) / points
        e = lower + (np.arange(points) + 0.5) * step
        photons = e**2 / np.expm1(e / thermal) * step
        number = photons.sum()
        ionising = cross_sections(e) * photons
        above = ionising * (e - THRESHOLDS[:, None])
        sigma.append(ionising.sum(axis=1) / number)
        excess.append(above.sum(axis=1) / np.maximum(ionising.sum(axis=1), 1e-300))
        numbers.append(number)
        energies.append(np.sum(photons * e) / number)
    numbers = np.array(numbers)
    return Photons(
        np.array(sigma),
        np.array(excess) * ELECTRON_VOLT,
        numbers / numbers.sum(),
        np.array(energies) * ELECTRON_VOLT,
    )


@dataclass(frozen=True)
class Rates:
    """Rate coefficients in cm^3/s, and losses in erg cm^3/s per electron, by species.

    Species of `ionization` and `atom_loss` are HI, HeI and HeII, those of `recombination` and
    `ion_loss` HII, HeII and HeIII. `metastable_loss` is per electron, electron and HeII.
    """

    ionization: list[Array]
    recombination: list[Array]
    atom_loss: list[Array]
    ion_loss: list[Array]
    metastable_loss: Array


def _recombination(temperature: Array, charge: int) -> tuple[Array, Array]:
    """Return case-B recombination, and its cooling, of hydrogen-like ions."""
    y = 2.0 * (157807.0 if charge == 1 else 631515.0) / temperature
    rate = 2.753e-14 * y**1.5 * (1.0 + (y / 2.740) ** 0.407) ** -2.242
    cooling = 3.435e-30 * temperature * y**1.970 * (1.0 + (y / 2.250) ** 0.376) ** -3.720
    return (rate, cooling) if charge == 1 else (2.0 * rate, 2.0 * cooling)


def case_b_rates(temperature: Array) -> Rates:
    """Return the rates of case B at temperatures in K."""
    root = np.sqrt(temperature)
    cut = 1.0 / (1.0 + np.sqrt(temperature / 1e5))
    kelvin = (157809.1, 285335.4, 631515.0)
    scale = (5.85e-11, 2.38e-11, 5.68e-12)
    ionization = [
        c * root * cut * np.exp(-k / temperature) for c, k in zip(scale, kelvin, strict=True)
    ]
    losses = [e * ELECTRON_VOLT * c for e, c in zip(THRESHOLDS, ionization, strict=True)]
    losses[0] = losses[0] + 7.5e-19 * cut * np.exp(-118348.0 / temperature)
    losses[2] = losses[2] + 5.54e-17 * temperature**-0.397 * cut * np.exp(-473638.0 / temperature)
    metastable = 9.10e-27 * temperature**-0.1687 * cut * np.exp(-13179.0 / temperature)
    captured = 0.75 * 631515.0
    dielectronic = 1.9e-3 * temperature**-1.5 * np.exp(-captured / temperature)
    dielectronic = dielectronic * (1.0 + 0.3 * np.exp(-0.2 * captured / temperature))
    radiative = 1.26e-14 * (2.0 * 285335.0 / temperature) ** 0.75
    (hydrogen, hydrogen_loss), (helium, helium_loss) = (
        _recombination(temperature, z) for z in (1, 2)
    )
    braking = 1.42e-27 * 1.3 * root
    helium_ion_loss = BOLTZMANN * (temperature * radiative + captured * dielectronic) + braking
    return Rates(
        ionization,
        [hydrogen, radiative + dielectronic, helium],
        losses,
        [hydrogen_loss + braking, helium_ion_loss, helium_loss + 4.0 * braking],
        metastable,
    )
