"""Matter of stellar interiors: thermodynamic relations, limits and states of other programs."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from octools.coulomb import Correlation
from octools.electron_gas import BOLTZMANN, REST_ENERGY, ElectronGas, electron_gas
from octools.electron_gas import STATES as STATES_PER_VOLUME
from octools.errors import OctoolsError
from octools.fermi_dirac import Array, fermi_dirac
from octools.gas_models import ATOMIC_MASS, RADIATION, Composition, IdealGas, StellarGas

CARBON_OXYGEN = Composition.named("carbon-oxygen")
STATES = np.genfromtxt(
    Path(__file__).with_name("stellar_states.csv"), delimiter=",", names=True, dtype=float
)

# --- thermodynamic relations ----------------------------------------------------------------------

STEP = 0.003  # of the logarithms of density and temperature
WEIGHTS = np.array([672, -168, 32, -3]) / 840  # of differences of eighth order


@cache
def electrons(density_steps: int, temperature_steps: int) -> tuple[Array, Array, ElectronGas]:
    """Return states of 500 random points, moved by steps of density and temperature."""
    random = np.random.default_rng(2)
    density = 10 ** random.uniform(-6, 11, 500) / (2 * ATOMIC_MASS)
    temperature = 10 ** random.uniform(4, 11, 500)
    density = density * np.exp(STEP * density_steps)
    temperature = temperature * np.exp(STEP * temperature_steps)
    return density, temperature, electron_gas(density, temperature)


Quantity = Callable[[Array, Array, ElectronGas], Array]


def slope(quantity: Quantity, along: str) -> Array:
    """Return the derivative by the logarithm of the density or of the temperature."""
    moves = [(n, 0) if along == "density" else (0, n) for n in (1, 2, 3, 4)]
    return (
        sum(
            w * (quantity(*electrons(*move)) - quantity(*electrons(-move[0], -move[1])))
            for w, move in zip(WEIGHTS, moves, strict=True)
        )
        / STEP
    )


def largest(difference: Array, scale: Array) -> float:
    return float(np.max(np.abs(difference / scale)))


def test_electrons_obey_the_relations_of_thermodynamics() -> None:
    """The free energy is a potential of pressure and entropy (relative errors 1e-8)."""
    n, t, gas = electrons(0, 0)
    by_temperature = t * gas.pressure_by_temperature
    enthalpy = gas.energy + gas.pressure
    free_by_density = slope(lambda n, t, g: (g.energy - t * g.entropy) / n, "density") * n
    free_by_temperature = slope(lambda n, t, g: g.energy - t * g.entropy, "temperature")
    errors = {
        "P = n^2 d(F/n)/dn": largest(free_by_density - gas.pressure, gas.pressure),
        "S = -dF/dT": largest(free_by_temperature + t * gas.entropy, enthalpy),
        "dP/dT = -n^2 d(S/n)/dn": largest(
            slope(lambda n, t, g: g.entropy / n, "density") * n * t + by_temperature,
            by_temperature,
        ),
        "n^2 d(E/n)/dn = P - T dP/dT": largest(
            slope(lambda n, t, g: g.energy / n, "density") * n - gas.pressure + by_temperature,
            enthalpy,
        ),
        "T dS/dT = dE/dT": largest(
            slope(lambda n, t, g: g.entropy, "temperature") - gas.heat_capacity,
            gas.heat_capacity,
        ),
        "dE/dT": largest(
            slope(lambda n, t, g: g.energy, "temperature") - t * gas.heat_capacity, enthalpy
        ),
        "dP/dT": largest(
            slope(lambda n, t, g: g.pressure, "temperature") - by_temperature, gas.pressure
        ),
        "dP/dn": largest(
            slope(lambda n, t, g: g.pressure, "density") - gas.pressure_by_density, gas.pressure
        ),
    }
    print(errors)
    assert max(errors.values()) <= 1e-8, errors


def test_free_enthalpy_of_electrons_is_the_chemical_potential() -> None:
    n, t, gas = electrons(0, 0)
    enthalpy = gas.energy + gas.pressure
    difference = enthalpy - t * gas.entropy - n * gas.degeneracy * BOLTZMANN * t
    assert largest(difference, enthalpy) <= 1e-12


def test_matter_is_neutral() -> None:
    """Densities of electrons and positrons are those of two Fermi-Dirac integrals."""
    n, t, gas = electrons(0, 0)
    beta = BOLTZMANN * t / REST_ENERGY
    number, positrons = (
        STATES_PER_VOLUME
        * beta**1.5
        * (fermi_dirac(0.5, eta, beta) + beta * fermi_dirac(1.5, eta, beta))
        for eta in (gas.degeneracy, -gas.degeneracy - 2 / beta)
    )
    assert largest(number - gas.positrons - n, number) <= 1e-12
    assert largest(positrons - gas.positrons, number) <= 1e-12
    assert np.any(positrons > 1e3 * n)


def test_sound_speed_is_that_of_differences_of_pressure_and_entropy() -> None:
    """c^2 = dP/drho at constant entropy, from differences of P and S; F = e - T s as well."""
    random = np.random.default_rng(3)
    log_density = np.log(10) * random.uniform(-4, 10, 200)
    log_temperature = np.log(10) * random.uniform(6, 10.5, 200)
    for gas in (
        StellarGas(CARBON_OXYGEN),
        StellarGas(CARBON_OXYGEN, coulomb=True),
        IdealGas(1.4, 0.6),
        IdealGas(5 / 3, 0.6, True),
    ):

        def at(x: Array, y: Array, gas: StellarGas | IdealGas = gas) -> Array:
            state = gas.state(np.exp(x), np.exp(y))
            free = state.energy - np.exp(y) * state.entropy
            return np.array([state.pressure, state.entropy, free])

        def slope(x: float, y: float, at: Callable[[Array, Array], Array] = at) -> Array:
            return sum(
                w
                * (
                    at(log_density + n * x, log_temperature + n * y)
                    - at(log_density - n * x, log_temperature - n * y)
                )
                for n, w in enumerate(WEIGHTS, 1)
            ) / (x + y)

        density, temperature = np.exp(log_density), np.exp(log_temperature)
        state = gas.state(density, temperature)
        by_density, by_temperature = slope(STEP, 0.0), slope(0.0, STEP)
        squared = by_density[0] - by_temperature[0] * by_density[1] / by_temperature[1]
        np.testing.assert_allclose(np.sqrt(squared / density), state.sound_speed, rtol=1e-8)
        np.testing.assert_allclose(density * by_density[2], state.pressure, rtol=1e-8)
        heat = temperature * state.entropy
        scale = np.abs(state.energy) + np.abs(heat)
        assert largest(by_temperature[2] + heat, scale) <= 1e-8


# --- limits ---------------------------------------------------------------------------------------


def cold_electrons(density: Array) -> tuple[Array, Array, Array]:
    """Return pressure, energy and dP / d ln n at zero temperature (Chandrasekhar 1935).

    The sums are integrals over the momentum by Gauss-Legendre quadrature.
    """
    planck, light, mass = 6.62607015e-27, 2.99792458e10, 9.1093837015e-28
    x = np.cbrt(3 * density / (8 * np.pi)) * planck / (mass * light)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    p = x * (nodes[:, None] + 1) / 2
    states = 8 * np.pi * (mass * light / planck) ** 3 * p**2 * weights[:, None] * x / 2
    root = np.sqrt(1 + p**2)
    rest = mass * light**2
    pressure = rest / 3 * np.sum(states * p**2 / root, axis=0)
    energy = rest * np.sum(states * p**2 / (root + 1), axis=0)
    return pressure, energy, rest / 3 * density * x**2 / np.sqrt(1 + x**2)


def test_cold_electrons_are_those_of_chandrasekhar() -> None:
    density = np.geomspace(1e2, 1e14, 60) / (2 * ATOMIC_MASS)
    pressure, energy, modulus = cold_electrons(density)
    fermi = (pressure + energy) / density  # in the limit of zero temperature
    gas = electron_gas(density, 1e-4 * fermi / BOLTZMANN)
    np.testing.assert_allclose(gas.pressure, pressure, rtol=1e-6)
    np.testing.assert_allclose(gas.energy, energy, rtol=1e-6)
    np.testing.assert_allclose(gas.pressure_by_density, modulus, rtol=1e-6)
    # Sommerfeld expansion: pi^2 / 3 k^2 T times the number of states per energy, n^2 / modulus
    expected = np.pi**2 / 3 * 1e-4 * fermi * BOLTZMANN * density**2 / modulus
    np.testing.assert_allclose(gas.entropy, expected, rtol=1e-6)
    np.testing.assert_allclose(gas.heat_capacity, gas.entropy, rtol=1e-6)


def test_thin_gas_is_classical() -> None:
    density = np.array([1e10, 1e15, 1e20])
    gas = electron_gas(density, np.full(3, 1e6))
    classical = density * BOLTZMANN * 1e6
    np.testing.assert_allclose(gas.pressure, classical, rtol=1e-4)
    # with the first relativistic correction, E = 3/2 n k T (1 + 5/4 k T / (m c^2))
    correction = 1 + 1.25 * BOLTZMANN * 1e6 / REST_ENERGY
    np.testing.assert_allclose(gas.energy, 1.5 * classical * correction, rtol=1e-4)
    np.testing.assert_allclose(gas.pressure[0], classical[0], rtol=1e-10)


def test_entropy_of_ions_is_that_of_argon() -> None:
    """154.846 J/(mol K) at 298.15 K and 1 bar (Cox et al. 1989, CODATA Key Values)."""
    temperature, pressure = np.array([298.15]), 1e6
    number = pressure / (BOLTZMANN * temperature)
    density = 39.948 * ATOMIC_MASS * number
    gas = StellarGas(Composition(39.948, 1.0), radiation=False).state(density, temperature)
    ions = gas.entropy - electron_gas(number, temperature).entropy / density
    np.testing.assert_allclose(39.948 * ions, 154.846e7, rtol=3e-5)


def test_hot_pairs_are_seven_quarters_of_radiation() -> None:
    t = np.full(3, 1e13)
    gas = electron_gas(np.array([1e-10, 1e10, 1e30]), t)
    np.testing.assert_allclose(gas.pressure, 7 / 4 * RADIATION * t**4 / 3, rtol=2e-6)
    np.testing.assert_allclose(gas.energy, 7 / 4 * RADIATION * t**4, rtol=2e-6)
    np.testing.assert_allclose(gas.entropy, 7 / 4 * 4 / 3 * RADIATION * t**3, rtol=2e-6)


def test_pairs_appear_continuously_at_the_temperature_below_which_they_are_left_out() -> None:
    edge = 0.01 * REST_ENERGY / BOLTZMANN
    for density in (1e-6, 1e3, 1e10):
        n = np.full(2, density / (2 * ATOMIC_MASS))
        gas = electron_gas(n, edge * np.array([1 - 1e-12, 1 + 1e-12]))
        for name in ("pressure", "energy", "entropy", "pressure_by_density", "heat_capacity"):
            below, above = getattr(gas, name)
            assert abs(above / below - 1) <= 1e-10, name


# --- Coulomb interactions -------------------------------------------------------------------------


def test_energy_of_ions_is_that_of_simulations() -> None:
    """Yakovlev & Shalybkov (1989) fit the energies of Monte Carlo simulations above Gamma = 1."""
    gamma = np.geomspace(2, 180, 40)
    root = gamma**0.25
    expected = -0.898004 * gamma + 0.96786 * root + 0.220703 / root - 0.86097
    np.testing.assert_allclose(Correlation.of(gamma).internal, expected, rtol=5e-4)
    weak = np.array([1e-6, 1e-4])
    debye = -np.sqrt(3) / 2 * weak**1.5
    np.testing.assert_allclose(Correlation.of(weak).internal, debye, rtol=1e-3)
    np.testing.assert_allclose(Correlation.of(weak).free, debye / 1.5, rtol=1e-3)


def test_coulomb_pressure_of_relativistic_matter_is_a_constant_fraction() -> None:
    """Salpeter (1961): -2^(5/3) / 5 (3 / pi)^(1/3) alpha Z^(2/3) with spheres of one ion."""
    carbon = Composition.named("carbon")
    density, temperature = np.array([3e10, 1e11]), np.array([1e8, 1e8])
    ideal, full = (
        StellarGas(carbon, coulomb=coulomb).state(density, temperature).pressure
        for coulomb in (False, True)
    )
    fraction = -(2 ** (5 / 3)) / 5 * (3 / np.pi) ** (1 / 3) / 137.036 * 6 ** (2 / 3)
    np.testing.assert_allclose(full / ideal - 1, fraction, rtol=0.03)  # liquid at Gamma > 100


# --- other programs -------------------------------------------------------------------------------


def test_states_are_those_of_another_program() -> None:
    """The reference is written by stellar_states.py, which uses pynucastro 3.1."""
    found = StellarGas(CARBON_OXYGEN).state(STATES["density"], STATES["temperature"])
    for name in ("pressure", "energy", "sound_speed"):
        error = np.max(np.abs(getattr(found, name) / STATES[name] - 1))
        print(name, error)
        assert error <= 1e-8, name


def test_entropy_of_electrons_is_that_of_the_helmholtz_table() -> None:
    """Values of 6 digits from the tests of helmeos 1.0 (table of Timmes & Swesty 2000)."""
    density, temperature = np.array([1e-7, 1e2]), np.array([1e4, 1e7])
    gas = electron_gas(density / ATOMIC_MASS, temperature)
    np.testing.assert_allclose(gas.entropy / density, [1.14675e9, 2.88628e8], rtol=5e-6)


# --- compositions ---------------------------------------------------------------------------------


def test_means_of_mixtures_count_ions_and_electrons() -> None:
    assert (CARBON_OXYGEN.ion_mass, CARBON_OXYGEN.ion_charge) == pytest.approx((96 / 7, 48 / 7))
    iron = Composition.named("iron")
    assert (iron.ion_mass, iron.ion_charge) == pytest.approx((56, 26))
    solar = Composition.of_fractions({"H": 0.7, "He": 0.3})
    assert solar.ion_mass == pytest.approx(1 / (0.7 + 0.3 / 4))
    assert solar.ion_charge / solar.ion_mass == pytest.approx(0.7 + 0.15)


def test_values_without_meaning_are_refused() -> None:
    for make, words in (
        (lambda: Composition(0.0, 1.0), "mean ion mass 0.0"),
        (lambda: Composition(4.0, 5.0), "mean ion charge 5.0"),
        (lambda: Composition(4.0, -1.0), "mean ion charge -1.0"),
        (lambda: Composition.named("carbon-oxigen"), "did you mean carbon-oxygen"),
        (lambda: IdealGas(1.0, 0.6), "ratio of specific heats 1.0"),
        (lambda: IdealGas(1.4, 0.0), "mean molecular weight 0.0"),
    ):
        with pytest.raises(OctoolsError, match=words):
            make()
