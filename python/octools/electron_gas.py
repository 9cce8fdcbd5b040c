"""Electrons and positrons of any degeneracy and relativity in thermal equilibrium.

Densities, pressures and energies are Fermi-Dirac integrals (Timmes & Arnett 1999, ApJS 125, 277).
Charge neutrality, n(electrons) - n(positrons) = n, determines the chemical potential. All
quantities are in cgs units and per volume. Second derivatives of the grand potential are integrals
of f (1 - f) and its first two moments, so that no derivative is a difference of table entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.fermi_dirac import Array, Quadrature, by_chunks, occupation, quadrature

# CODATA 2018, in cgs units.
BOLTZMANN = 1.380649e-16  # erg / K
PLANCK = 6.62607015e-27  # erg s
LIGHT_SPEED = 2.99792458e10  # cm / s
ELECTRON_MASS = 9.1093837015e-28  # g

REST_ENERGY = ELECTRON_MASS * LIGHT_SPEED**2
# States per volume and momentum interval: 8 pi p^2 dp / h^3 with p in units of m c; 2^(1/2) from
# the momentum p = (2 beta x (1 + beta x / 2))^(1/2).
STATES = 8 * np.pi * np.sqrt(2) * (ELECTRON_MASS * LIGHT_SPEED / PLANCK) ** 3  # 1 / cm^3
PAIRS = 0.01  # kT / (m c^2) below which there are no positrons: exp(-2 / beta) < 1e-86
STEPS = 200  # of Newton's method, at most
TOLERANCE = 1e-8  # last step of Newton's method; its error is about the square of the step


@dataclass(frozen=True)
class ElectronGas:
    """State of electrons and positrons; all attributes have one value per point.

    Attributes
    ----------
    degeneracy
        Chemical potential of the electrons without rest energy, in units of kT.
    positrons
        Number of positrons per volume [1/cm^3].
    pressure
        Pressure [erg/cm^3].
    energy
        Kinetic energy, and the rest energy of the electron-positron pairs [erg/cm^3].
    entropy
        Entropy [erg/(K cm^3)].
    pressure_by_density
        d P / d ln n at constant temperature [erg/cm^3], with the difference n of the densities.
    pressure_by_temperature
        d P / d T at constant n [erg/(K cm^3)].
    heat_capacity
        d E / d T at constant n [erg/(K cm^3)].
    """

    degeneracy: Array
    positrons: Array
    pressure: Array
    energy: Array
    entropy: Array
    pressure_by_density: Array
    pressure_by_temperature: Array
    heat_capacity: Array


@dataclass(frozen=True)
class Species:
    """Integrals over the occupation f of electrons or of positrons.

    Integrals are in units of the density STATES beta^(3/2).

    Attributes
    ----------
    number
        Number density.
    pressure, energy
        Pressure and kinetic energy in units of kT.
    entropy
        Entropy in units of k.
    spread
        Moments 0, 1 and 2 of f (1 - f) with respect to x - max(eta, 0).
    """

    number: Array
    pressure: Array
    energy: Array
    entropy: Array
    spread: tuple[Array, Array, Array]

    @classmethod
    def of(cls, eta: Array, beta: Array) -> Species:
        """Return the integrals for degeneracy parameters all above 100, or all at most 100."""
        at = quadrature(eta, beta)
        states = _states(at, beta)
        filled = occupation(at.excess)
        variable = states * filled * occupation(-at.excess)
        # The distance from eta is known to more digits than that from 0.
        distance = at.excess + np.minimum(eta, 0.0)[:, None]
        momentum = at.weight * at.energy * (1 + beta[:, None] * at.energy / 2)
        return cls(
            number=_sum(states * filled),
            pressure=2 / 3 * _sum(momentum * filled),
            energy=_sum(states * at.energy * filled),
            entropy=_sum(states * _entropy(at.excess)),
            spread=(_sum(variable), _sum(variable * distance), _sum(variable * distance**2)),
        )


def _states(at: Quadrature, beta: Array) -> Array:
    """Return weights times the density of states, x^(1/2) (1 + beta x / 2)^(1/2) (1 + beta x)."""
    return at.weight * (1 + beta[:, None] * at.energy)


def _sum(values: Array) -> Array:
    return values.sum(axis=1)


def _entropy(excess: Array) -> Array:
    """Return -f ln f - (1 - f) ln(1 - f), without a difference of large numbers."""
    distance = np.abs(excess)
    empty = np.exp(-distance)
    return np.log1p(empty) + distance * empty / (1 + empty)


def electron_gas(density: Array, temperature: Array) -> ElectronGas:
    """Return the state of electrons and positrons.

    Parameters
    ----------
    density
        Number of electrons minus positrons per volume [1/cm^3], positive, of shape (points,).
    temperature
        Temperature [K], positive, of the same shape.

    Raises
    ------
    OctoolsError
        If the chemical potential cannot be computed.
    """
    beta = BOLTZMANN * temperature / REST_ENERGY
    relative = density / (STATES * beta**1.5)
    eta = chemical_potential(relative, beta)
    # At high temperatures, the positive chemical potential with rest energy has the digits that
    # eta lacks; it is close to 0 where there are many pairs.
    fields = tuple(ElectronGas.__dataclass_fields__)
    found = dict(zip(fields, by_chunks(_state, eta[0], beta, eta[1], relative), strict=True))
    volume = STATES * beta**1.5
    thermal = BOLTZMANN * temperature * volume
    units = dict.fromkeys(("pressure", "energy", "pressure_by_density"), thermal)
    units |= dict.fromkeys(
        ("entropy", "pressure_by_temperature", "heat_capacity"), BOLTZMANN * volume
    )
    units |= {"degeneracy": np.ones_like(beta), "positrons": volume}
    return ElectronGas(**{name: found[name] * units[name] for name in fields})


def _state(eta: Array, beta: Array, potential: Array, number: Array) -> tuple[Array, ...]:
    """Return the attributes of ElectronGas in units of STATES beta^(3/2), kT and k."""
    electrons = Species.of(eta, beta)
    hole = -potential - 1 / beta  # degeneracy parameter of positrons
    positrons = _positrons(hole, beta)
    rest = 2 / beta * positrons.number  # rest energy of pairs
    # Excesses x - eta are distances from max(eta, 0), plus these.
    above, beyond = np.maximum(-eta, 0.0), -hole
    zero, first, second = electrons.spread
    zero_p, first_p, second_p = positrons.spread
    response = zero + zero_p  # d n / d eta
    mean = (first + above * zero - first_p - beyond * zero_p) / response  # T (d n / d T) / response
    a, b = above - mean, beyond + mean
    variance = second + 2 * a * first + a**2 * zero
    variance = variance + second_p + 2 * b * first_p + b**2 * zero_p
    entropy = electrons.entropy + positrons.entropy
    return (
        eta,
        positrons.number,
        electrons.pressure + positrons.pressure,
        electrons.energy + positrons.energy + rest,
        entropy,
        number**2 / response,
        entropy - number * mean,
        variance,
    )


def _positrons(eta: Array, beta: Array) -> Species:
    """Return the integrals for positrons; zero at temperatures without pairs."""
    hot = beta >= PAIRS
    found = Species.of(np.where(hot, eta, -1e3), beta)
    one, two, three = (np.where(hot, moment, 0.0) for moment in found.spread)
    return Species(
        np.where(hot, found.number, 0.0),
        np.where(hot, found.pressure, 0.0),
        np.where(hot, found.energy, 0.0),
        np.where(hot, found.entropy, 0.0),
        (one, two, three),
    )


# --- charge neutrality ----------------------------------------------------------------------------


def chemical_potential(number: Array, beta: Array) -> tuple[Array, Array]:
    """Solve charge neutrality with Newton's method for the logarithm of the density.

    The logarithm is a concave function of the potential. From above or below the solution, the
    iterates therefore approach it from below. They are limited to the interval between
    the potentials of a classical gas and of a gas at zero temperature, which contains the solution.

    Parameters
    ----------
    number
        Densities of electrons minus positrons in units of STATES beta^(3/2).
    beta
        Relativity parameters kT / (m c^2).

    Returns
    -------
    tuple
        Degeneracy parameters eta of electrons, and eta + 1 / beta.
    """
    hot = beta >= PAIRS
    offset = np.where(hot, 1 / beta, 0.0)  # the unknown is eta + 1 / beta in hot gas
    lower, upper = _bracket(number, beta, hot)
    unknown = np.where(lower - offset > 1.0, upper, lower)
    active = np.arange(number.size)
    for _ in range(STEPS):
        eta = unknown[active] - offset[active]
        potential = np.where(hot[active], unknown[active], eta + 1 / beta[active])
        found, response = by_chunks(_net_density, eta, beta[active], potential)
        step = -np.log(found / number[active]) * found / response
        new = np.clip(unknown[active] + step, lower[active], upper[active])
        scale = np.where(hot[active], np.minimum(new, 1.0), np.maximum(new, 1.0))
        moved = np.abs(new - unknown[active]) > TOLERANCE * scale
        unknown[active] = new
        active = active[moved]
        if not active.size:
            return unknown - offset, np.where(hot, unknown, unknown + 1 / beta)
    raise OctoolsError("the chemical potential of the electrons cannot be computed")


def _bracket(number: Array, beta: Array, hot: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the unknowns of a classical gas and of a gas at zero temperature."""
    far = np.full_like(beta, -200.0)
    (classical,) = by_chunks(lambda eta, beta: (Species.of(eta, beta).number,), far, beta)
    classical = classical * np.exp(200.0)
    rest = np.where(hot, 1 / beta, 0.0)
    lower = np.where(
        hot,
        np.arcsinh(number / (2 * classical) * np.exp(rest)),
        np.log(number / classical),
    )
    momentum = np.cbrt(3 * np.sqrt(2) * number) * np.sqrt(beta)  # in units of m c
    fermi = momentum**2 / (np.sqrt(1 + momentum**2) + 1) / beta
    return lower, fermi + rest


def _net_density(eta: Array, beta: Array, potential: Array) -> tuple[Array, Array]:
    """Return the density of electrons minus positrons, and its derivative by eta.

    The difference of the occupations is f (1 - g) (1 - exp(-2 potential)) with the occupation f of
    electrons and g of positrons, which has no cancellation at small potentials.
    """
    at = quadrature(eta, beta)
    states = _states(at, beta)
    filled = occupation(at.excess)
    above = at.energy + (2 / beta + eta)[:, None]
    pairs = occupation(above)
    net = -np.expm1(-2 * potential) * _sum(states * filled * occupation(-above))
    response = states * (filled * occupation(-at.excess) + pairs * occupation(-above))
    return net, _sum(response)
