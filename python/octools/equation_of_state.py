"""Equations of state of the gas in files: sound speed and thermal part of the pressure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from octools.tabulated_gas import TabulatedGas

if TYPE_CHECKING:
    from octools.snapshot import Header

Array = NDArray[np.float64]

# Constants of degenerate electrons, for one nucleon per electron (Chandrasekhar 1935).
PRESSURE_CGS = 6.0023e22  # erg / cm^3
DENSITY_CGS = 9.81011e5  # g / cm^3
RADIATION_CGS = 7.565733250e-15  # erg / (cm^3 K^4)
PROTON_MASS = 1.67262192369e-24  # g
BOLTZMANN_CONSTANT = 1.380649e-16  # erg / K


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
        """Return the equation of state of a file; None if the gas is not barotropic.

        The pressure of locally isothermal gas also depends on the position; its exponent is 1.
        """
        if _kind(header) not in ("isothermal", "locally_isothermal", "barotropic"):
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


@dataclass(frozen=True)
class ColdCurve:
    """Pressure of gas at zero temperature, of degenerate electrons or stiffened gas.

    Attributes
    ----------
    pressure_scale
        Constant A of degenerate electrons, or the pressure p_inf of stiffened gas.
    density_scale
        Constant B of degenerate electrons; None for stiffened gas.
    """

    pressure_scale: float
    density_scale: float | None = None

    @classmethod
    def of(cls, header: Header) -> ColdCurve | None:
        """Return the cold curve of a file; None if the gas has no cold pressure."""
        kind = _kind(header)
        if kind == "stiffened":
            return cls(float(header.parameter("hydro.stiffening_pressure")))
        if kind != "white_dwarf":
            return None
        pressure = float(header.parameter("hydro.degeneracy_pressure", 0.0))
        density = float(header.parameter("hydro.degeneracy_density", 0.0))
        length, mass, time = (header.units[name] for name in ("length", "mass", "time"))
        if pressure == 0.0:
            pressure = PRESSURE_CGS / (mass / (length * time**2))
        if density == 0.0:
            weight = float(header.parameter("hydro.electron_weight", 2.0))
            density = DENSITY_CGS * weight / (mass / length**3)
        return cls(pressure, density)

    def pressure(self, density: Array) -> Array:
        """Return the cold pressure."""
        if self.density_scale is None:
            return np.full_like(density, -self.pressure_scale)
        x = np.cbrt(density / self.density_scale)
        z = x**2
        closed = x * (2 * z - 3) * np.sqrt(1 + z) + 3 * np.arcsinh(x)
        terms = [8.0]  # 8 binom(-1/2, n)
        for n in range(24):
            terms.append(-terms[-1] * (2 * n + 1) / (2 * n + 2))
        series = sum(t * z**n / (2 * n + 5) for n, t in enumerate(terms)) * x**5
        return self.pressure_scale * np.where(x > 0.4, closed, series)

    def energy(self, density: Array) -> Array:
        """Return the internal energy at zero temperature, per volume."""
        if self.density_scale is None:
            return np.full_like(density, self.pressure_scale)
        x = np.cbrt(density / self.density_scale)
        kinetic = x**2 / (np.sqrt(1 + x**2) + 1)
        return 8 * self.pressure_scale * x**3 * kinetic - self.pressure(density)

    def bulk_modulus(self, density: Array) -> Array:
        """Return rho times the derivative of the cold pressure."""
        if self.density_scale is None:
            return np.zeros_like(density)
        x = np.cbrt(density / self.density_scale)
        return 8 / 3 * self.pressure_scale * x**5 / np.sqrt(1 + x**2)


@dataclass(frozen=True)
class GasRadiation:
    """Ideal gas in equilibrium with its radiation.

    Attributes
    ----------
    constant
        Radiation energy density at a ratio 1 of gas pressure and density.
    gamma
        Ratio of specific heats of the gas.
    """

    constant: float
    gamma: float

    @classmethod
    def of(cls, header: Header) -> GasRadiation | None:
        """Return the equation of state of a file; None if it has no radiation pressure."""
        if _kind(header) != "gas_radiation":
            return None
        constant = float(header.parameter("hydro.radiation_constant", 0.0))
        if constant == 0.0:
            length, mass, time = (header.units[name] for name in ("length", "mass", "time"))
            weight = float(header.parameter("hydro.molecular_weight", 0.6))
            kelvin = weight * PROTON_MASS / BOLTZMANN_CONSTANT * (length / time) ** 2
            constant = RADIATION_CGS * kelvin**4 / (mass / (length * time**2))
        return cls(constant, header.gamma)

    def gas_pressure(self, density: Array, pressure: Array) -> Array:
        """Return the pressure of the gas alone, without radiation."""
        unit = (3 * pressure / self.constant) ** 0.25
        q = density * unit / pressure
        z = 1 / np.sqrt(1 + q**2)
        for _ in range(5):  # Newton's method for z^4 + q z = 1
            z = (3 * z**4 + 1) / (4 * z**3 + q)
        return density * unit * z

    def internal_energy(self, density: Array, pressure: Array) -> Array:
        """Return the internal energy per volume."""
        gas = self.gas_pressure(density, pressure)
        return gas / (self.gamma - 1) + self.constant * (gas / density) ** 4

    def bulk_modulus(self, density: Array, pressure: Array) -> Array:
        """Return rho c²."""
        gas = self.gas_pressure(density, pressure)
        radiation = self.constant / 3 * (gas / density) ** 4
        return gas + (gas + 4 * radiation) ** 2 / (gas / (self.gamma - 1) + 12 * radiation)

    def entropy(self, density: Array, pressure: Array) -> Array:
        """Return the specific entropy in units of k / (mu m_p), up to a constant.

        It is ln(p_gas / rho^gamma) / (gamma - 1) + 4 a T^3 / (3 rho) (Mihalas & Mihalas 1984,
        sec. 71). Its exponential exceeds the largest double where radiation dominates.
        """
        gas = self.gas_pressure(density, pressure)
        of_gas = (np.log(gas) - self.gamma * np.log(density)) / (self.gamma - 1)
        return of_gas + 4 / 3 * self.constant * (gas / density) ** 3 / density


def _kind(header: Header) -> str:
    return str(header.parameter("hydro.equation_of_state", "ideal"))


def is_ideal(header: Header) -> bool:
    """Return true if the gas of a file is ideal."""
    return _kind(header) == "ideal"


def has_cold_pressure(header: Header) -> bool:
    """Return true if a part of the pressure depends on the density alone."""
    return _kind(header) in ("white_dwarf", "stiffened")


def has_radiation(header: Header) -> bool:
    """Return true if the pressure of a file contains that of radiation in equilibrium."""
    return _kind(header) == "gas_radiation"


def is_tabulated(header: Header) -> bool:
    """Return true if the equation of state of a file is a table."""
    return _kind(header) == "table"


def pressure_exponent(header: Header, density: Array) -> Array | float:
    """Return c² rho / p: the ratio of specific heats, or the exponent of a barotropic gas."""
    gas = Barotrope.of(header)
    return header.gamma if gas is None else gas.exponent(density)


def thermal_pressure(header: Header, density: Array, pressure: Array) -> Array:
    """Return gamma - 1 times the internal energy, without that at zero temperature."""
    mixture = TabulatedGas.of(header) or GasRadiation.of(header)
    if mixture is not None:
        return (header.gamma - 1) * mixture.internal_energy(density, pressure)
    cold = ColdCurve.of(header)
    return pressure if cold is None else pressure - cold.pressure(density)


def gas_pressure(header: Header, density: Array, pressure: Array) -> Array:
    """Return the part of the pressure that is density times temperature."""
    mixture = GasRadiation.of(header)
    if mixture is not None:
        return mixture.gas_pressure(density, pressure)
    return thermal_pressure(header, density, pressure)


def tabulated_temperature(header: Header, density: Array, pressure: Array) -> Array | None:
    """Return the temperature in K if the equation of state is a table, otherwise None."""
    table = TabulatedGas.of(header)
    return None if table is None else table.temperature(density, pressure)


def entropy(header: Header, density: Array, pressure: Array) -> Array:
    """Return a function of the specific entropy, which smooth adiabatic flow conserves.

    It is p / rho^gamma, with the thermal part of the pressure for gas with a cold pressure; the
    specific entropy of gas with radiation in units of k / (mu m_p); and that of a table in
    erg / (g K).
    """
    mixture = TabulatedGas.of(header) or GasRadiation.of(header)
    if mixture is not None:
        return mixture.entropy(density, pressure)
    return thermal_pressure(header, density, pressure) / density**header.gamma


def adiabatic_modulus(header: Header, density: Array, pressure: Array) -> Array:
    """Return rho c²."""
    mixture = TabulatedGas.of(header) or GasRadiation.of(header)
    if mixture is not None:
        return mixture.bulk_modulus(density, pressure)
    cold = ColdCurve.of(header)
    if cold is None:
        return pressure_exponent(header, density) * pressure
    thermal = pressure - cold.pressure(density)
    return header.gamma * thermal + cold.bulk_modulus(density)
