"""Models of gas in thermal equilibrium: matter of stellar interiors, and ideal gas with radiation.

All quantities are in cgs units. Energies and entropies are per gram, and contain no rest energy of
ions and electrons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from octools.coulomb import Correlation, coupling
from octools.electron_gas import BOLTZMANN, LIGHT_SPEED, PLANCK, electron_gas
from octools.errors import OctoolsError, unknown_name
from octools.fermi_dirac import Array

ATOMIC_MASS = 1.66053906660e-24  # g, CODATA 2018
PROTON_MASS = 1.67262192369e-24  # g, the unit of mean molecular weights in Octant
# Radiation constant: energy density of black-body radiation divided by T^4.
RADIATION = 8 * np.pi**5 * BOLTZMANN**4 / (15 * (PLANCK * LIGHT_SPEED) ** 3)  # erg / (cm^3 K^4)

# Mass fractions of mixtures of ions by name, and mass numbers and charges of nuclei.
MIXTURES: dict[str, dict[str, float]] = {
    "hydrogen": {"H": 1.0},
    "helium": {"He": 1.0},
    "carbon": {"C": 1.0},
    "carbon-oxygen": {"C": 0.5, "O": 0.5},
    "oxygen-neon": {"O": 0.6, "Ne": 0.4},
    "iron": {"Fe": 1.0},
}
NUCLEI = {"H": (1, 1), "He": (4, 2), "C": (12, 6), "O": (16, 8), "Ne": (20, 10), "Fe": (56, 26)}


@dataclass(frozen=True)
class GasState:
    """Thermodynamic quantities, with one value per point.

    Attributes
    ----------
    pressure
        Pressure [erg/cm^3].
    energy
        Specific internal energy [erg/g].
    entropy
        Specific entropy [erg/(g K)].
    sound_speed
        Newtonian adiabatic sound speed [cm/s], the square root of dP / d rho at constant entropy.
    """

    pressure: Array
    energy: Array
    entropy: Array
    sound_speed: Array


@dataclass(frozen=True)
class Composition:
    """Fully ionised ions, which are described by means.

    Attributes
    ----------
    ion_mass
        Mean mass of ions in atomic mass units, the number of nucleons (abar).
    ion_charge
        Mean charge of ions in elementary charges, the number of electrons per ion (zbar).
    """

    ion_mass: float
    ion_charge: float

    def __post_init__(self) -> None:
        """Refuse values that are not positive, and more electrons than nucleons."""
        if not (0 < self.ion_mass < np.inf):
            raise OctoolsError(f"the mean ion mass {self.ion_mass} must be positive")
        if not (0 < self.ion_charge <= 1.01 * self.ion_mass):
            raise OctoolsError(
                f"the mean ion charge {self.ion_charge} must be positive and at most the mean "
                f"ion mass {self.ion_mass}"
            )

    @classmethod
    def of_fractions(cls, fractions: Mapping[str, float]) -> Composition:
        """Return the means of ions with these mass fractions, whose sum is 1."""
        ions = sum(x / NUCLEI[name][0] for name, x in fractions.items())
        electrons = sum(x * NUCLEI[name][1] / NUCLEI[name][0] for name, x in fractions.items())
        return cls(1 / ions, electrons / ions)

    @classmethod
    def named(cls, name: str) -> Composition:
        """Return the composition of a mixture of MIXTURES."""
        if name not in MIXTURES:
            raise unknown_name("mixture", name, MIXTURES, "octools eos-table")
        return cls.of_fractions(MIXTURES[name])


@dataclass(frozen=True)
class StellarGas:
    """Ideal ions, electrons and positrons of any degeneracy and relativity, and radiation.

    Ions are one species with the mean mass and charge. Partial ionisation, crystals of ions and
    nuclear reactions are not included.

    Attributes
    ----------
    composition
        Composition of the ions.
    radiation
        True if black-body radiation is included.
    coulomb
        True if Coulomb interactions of the ions are included, as a classical liquid.
    """

    composition: Composition
    radiation: bool = True
    coulomb: bool = False

    def state(self, density: Array, temperature: Array) -> GasState:
        """Return the state at densities [g/cm^3] and temperatures [K] of the same shape.

        Raises
        ------
        OctoolsError
            If the chemical potential of the electrons cannot be computed.
        """
        shape = density.shape
        density, temperature = density.ravel(), temperature.ravel()
        mass = self.composition.ion_mass * ATOMIC_MASS
        ions = density / mass
        electrons = electron_gas(self.composition.ion_charge * ions, temperature)
        thermal = ions * BOLTZMANN * temperature
        # Sackur-Tetrode equation, without the entropy of spins and of mixing
        wave = PLANCK / np.sqrt(2 * np.pi * mass * BOLTZMANN * temperature)
        ideal = 2.5 - np.log(ions * wave**3)
        photons = (RADIATION if self.radiation else 0.0) * temperature**3
        strength = coupling(ions, self.composition.ion_charge, temperature)
        excess = Correlation.of(strength if self.coulomb else 0.0 * strength)
        u, v, per_kelvin = excess.internal, excess.slope, BOLTZMANN * ions
        return _state(
            density,
            temperature,
            pressure=thermal * (1 + u / 3) + electrons.pressure + photons * temperature / 3,
            energy=thermal * (1.5 + u) + electrons.energy + photons * temperature,
            entropy=per_kelvin * (ideal + u - excess.free) + electrons.entropy + 4 / 3 * photons,
            # The coupling is proportional to density^(1/3) / temperature.
            by_density=thermal * (1 + u / 3 + v / 9) + electrons.pressure_by_density,
            by_temperature=per_kelvin * (1 + (u - v) / 3)
            + electrons.pressure_by_temperature
            + 4 / 3 * photons,
            heat_capacity=per_kelvin * (1.5 + u - v) + electrons.heat_capacity + 4 * photons,
            shape=shape,
        )


@dataclass(frozen=True)
class IdealGas:
    """Ideal gas with a constant ratio of specific heats, with or without black-body radiation.

    Attributes
    ----------
    gamma
        Ratio of specific heats.
    molecular_weight
        Mean mass of particles in proton masses.
    radiation
        True if black-body radiation is included.
    """

    gamma: float
    molecular_weight: float
    radiation: bool = False

    def __post_init__(self) -> None:
        """Refuse values outside the range of an ideal gas."""
        if not (1 < self.gamma < np.inf):
            raise OctoolsError(f"the ratio of specific heats {self.gamma} must be above 1")
        if not (0 < self.molecular_weight < np.inf):
            raise OctoolsError(
                f"the mean molecular weight {self.molecular_weight} must be positive"
            )

    def state(self, density: Array, temperature: Array) -> GasState:
        """Return the state at densities [g/cm^3] and temperatures [K] of the same shape.

        The entropy of the gas without radiation is 0 at 1 g/cm^3 and 1 K.
        """
        constant = BOLTZMANN / (self.molecular_weight * PROTON_MASS)
        capacity = constant * density / (self.gamma - 1)
        photons = (RADIATION if self.radiation else 0.0) * temperature**3
        logarithm = np.log(temperature) / (self.gamma - 1) - np.log(density)
        return _state(
            density,
            temperature,
            pressure=constant * density * temperature + photons * temperature / 3,
            energy=capacity * temperature + photons * temperature,
            entropy=constant * density * logarithm + 4 / 3 * photons,
            by_density=constant * density * temperature,
            by_temperature=constant * density + 4 / 3 * photons,
            heat_capacity=capacity + 4 * photons,
            shape=density.shape,
        )


def _state(
    density: Array,
    temperature: Array,
    *,
    pressure: Array,
    energy: Array,
    entropy: Array,
    by_density: Array,
    by_temperature: Array,
    heat_capacity: Array,
    shape: tuple[int, ...],
) -> GasState:
    """Return a state from quantities per volume and derivatives of the pressure.

    The derivatives are dP / d ln rho, dP / dT and, as the heat capacity, dE / dT per volume.
    """
    adiabatic = by_density + temperature * by_temperature**2 / heat_capacity
    with np.errstate(invalid="ignore"):  # unstable gas has no sound speed
        speed = np.sqrt(adiabatic / density)
    return GasState(
        pressure.reshape(shape),
        (energy / density).reshape(shape),
        (entropy / density).reshape(shape),
        speed.reshape(shape),
    )
