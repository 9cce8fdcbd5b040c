"""Pressure and sound speed of barotropic gas in files."""

from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from octools.equation_of_state import (
    Barotrope,
    ColdCurve,
    GasRadiation,
    adiabatic_modulus,
    entropy,
    gas_pressure,
    is_ideal,
    pressure_exponent,
    tabulated_temperature,
    thermal_pressure,
)
from octools.errors import OctoolsError


def header(**hydro: object) -> SimpleNamespace:
    """Give the part of a header that the equation of state needs."""
    values = {f"hydro.{key}": value for key, value in hydro.items()}
    return SimpleNamespace(
        gamma=1.6, data_files={}, parameter=lambda name, default=None: values.get(name, default)
    )


def test_files_of_an_ideal_gas_and_old_files_have_gamma() -> None:
    for plain in (header(), header(equation_of_state="ideal")):
        assert Barotrope.of(plain) is None
        assert pressure_exponent(plain, np.array([1.0])) == 1.6


def test_isothermal_pressure_is_proportional_to_the_density() -> None:
    gas = Barotrope.of(header(equation_of_state="isothermal", sound_speed=0.3))
    assert gas is not None
    density = np.array([1e-9, 1.0, 7.0])
    np.testing.assert_allclose(gas.pressure(density), 0.09 * density)
    assert np.all(gas.exponent(density) == 1.0)


def test_the_sound_speed_of_locally_isothermal_gas_follows_from_its_pressure() -> None:
    gas = header(
        equation_of_state="locally_isothermal", sound_speed=0.3, sound_speed_exponent=-0.25
    )
    density, pressure = np.array([1.0, 2.0]), np.array([0.09, 0.02])
    np.testing.assert_allclose(adiabatic_modulus(gas, density, pressure), pressure)
    assert not is_ideal(gas)


def test_pieces_are_continuous_and_their_exponents_those_of_the_slope() -> None:
    pieces = header(
        equation_of_state="barotropic",
        sound_speed=2.0,
        barotropic_densities=[0.5, 3.0],
        barotropic_exponents=[1.0, 1.4, 1.6],
    )
    gas = Barotrope.of(pieces)
    assert gas is not None
    ends = np.array([0.5, 3.0])
    np.testing.assert_allclose(gas.pressure(ends * (1 - 1e-15)), gas.pressure(ends))
    assert gas.pressure(ends)[0] == pytest.approx(2.0)
    density = np.array([0.1, 0.6, 2.0, 40.0])
    slope = np.log(gas.pressure(1.001 * density) / gas.pressure(density)) / np.log(1.001)
    np.testing.assert_allclose(slope, pressure_exponent(pieces, density))


@pytest.mark.parametrize("kind", ["white_dwarf", "stiffened"])
def test_cold_curves_obey_the_first_law(kind: str) -> None:
    constants = {"degeneracy_pressure": 3.0, "degeneracy_density": 2.0, "stiffening_pressure": 3.0}
    gas = header(equation_of_state=kind, **constants)
    gas.units = {"length": 1.0, "mass": 1.0, "time": 1.0}
    cold = ColdCurve.of(gas)
    assert cold is not None
    density = np.geomspace(1e-4, 1e4, 60)
    above, below = 1.0001 * density, density / 1.0001
    slope = (cold.energy(above) - cold.energy(below)) / (2 * np.log(1.0001))
    np.testing.assert_allclose(
        slope, cold.energy(density) + cold.pressure(density), rtol=1e-6, atol=1e-11
    )
    modulus = (cold.pressure(above) - cold.pressure(below)) / (2 * np.log(1.0001))
    np.testing.assert_allclose(modulus, cold.bulk_modulus(density), rtol=1e-6, atol=1e-12)
    pressure = cold.pressure(density) + 2.0
    np.testing.assert_allclose(thermal_pressure(gas, density, pressure), 2.0, rtol=1e-5)
    expected = 1.6 * thermal_pressure(gas, density, pressure) + cold.bulk_modulus(density)
    np.testing.assert_allclose(adiabatic_modulus(gas, density, pressure), expected)
    assert not is_ideal(gas)
    assert Barotrope.of(gas) is None


def test_constants_of_degenerate_electrons_follow_from_the_units() -> None:
    gas = header(equation_of_state="white_dwarf", electron_weight=2.1)
    gas.units = {"length": 1e5, "mass": 1e21, "time": 1.0}
    cold = ColdCurve.of(gas)
    assert cold is not None
    assert cold.density_scale == pytest.approx(2.1 * 0.981011)
    assert cold.pressure_scale == pytest.approx(6.0023e6)


def test_gas_with_radiation_has_the_limits_of_gas_and_of_radiation() -> None:
    mixture = header(equation_of_state="gas_radiation", radiation_constant=2.0)
    density = np.array([1e6, 1e-6])
    pressure = np.array([1.0, 1.0])
    gas = gas_pressure(mixture, density, pressure)
    assert gas[0] == pytest.approx(1.0)
    assert gas[1] == pytest.approx(1e-6 * 1.5**0.25, rel=1e-5)
    modulus = adiabatic_modulus(mixture, density, pressure)
    np.testing.assert_allclose(modulus, [1.6, 4 / 3], rtol=1e-5)
    energy = thermal_pressure(mixture, density, pressure) / 0.6
    np.testing.assert_allclose(energy, [1 / 0.6, 3.0], rtol=1e-5)
    assert not is_ideal(mixture)


def test_gas_with_radiation_obeys_the_first_law_along_its_isentrope() -> None:
    mixture = GasRadiation(2.0, 1.6)
    density, pressure = np.array([1.3]), np.array([2.1])
    above = 1.0001 * density
    modulus = mixture.bulk_modulus(density, pressure)
    raised = pressure + 0.0001 * mixture.bulk_modulus(1.00005 * density, pressure + 5e-5 * modulus)
    entropies = [mixture.entropy(density, pressure), mixture.entropy(above, raised)]
    assert entropies[1] == pytest.approx(entropies[0], rel=1e-7)
    gain = mixture.internal_energy(above, raised) - mixture.internal_energy(density, pressure)
    work = 0.0001 * (mixture.internal_energy(density, pressure) + pressure)
    assert gain == pytest.approx(work, rel=2e-4)


def test_the_entropy_of_radiation_is_finite_and_its_gain_is_heat_over_temperature() -> None:
    mixture = GasRadiation(2.0, 1.6)
    density = np.array([1e-12, 1e-3, 1.0, 1e6])
    pressure = np.array([1e3, 1e3, 1.0, 1e-3])
    entropies = mixture.entropy(density, pressure)
    assert np.all(np.isfinite(entropies))
    # T ds = de at constant density, with the temperature p_gas / rho
    above, below = pressure * (1 + 1e-5), pressure * (1 - 1e-5)
    temperature = mixture.gas_pressure(density, pressure) / density
    heat = mixture.internal_energy(density, above) - mixture.internal_energy(density, below)
    gain = mixture.entropy(density, above) - mixture.entropy(density, below)
    np.testing.assert_allclose(density * temperature * gain, heat, rtol=1e-5)


def test_tables_have_the_state_of_their_gas(tmp_path: Path) -> None:
    density, temperature = np.geomspace(1e-3, 1e3, 31), np.geomspace(1e3, 1e7, 41)
    with h5py.File(tmp_path / "ideal.h5", "w") as file:
        file["density"], file["temperature"] = density, temperature
        file["pressure"] = density[:, None] * temperature * 1e8
        file["energy"] = np.broadcast_to(1.5e8 * temperature, (31, 41))
        file["sound_speed"] = np.sqrt(5 / 3 * 1e8 * np.broadcast_to(temperature, (31, 41)))
    gas = header(equation_of_state="table", eos_table=str(tmp_path / "ideal.h5"))
    gas.units = {"length": 1e5, "mass": 2e15, "time": 1.0}
    rho, kelvin = np.array([0.002, 0.7, 30.0]), np.array([2e3, 1.234e5, 9e6])
    pressure = rho * kelvin * 1e8 / 1e10
    found = tabulated_temperature(gas, rho, pressure)
    np.testing.assert_allclose(found, kelvin, rtol=1e-12)
    np.testing.assert_allclose(adiabatic_modulus(gas, rho, pressure), 5 / 3 * pressure)
    np.testing.assert_allclose(thermal_pressure(gas, rho, pressure), 0.6 * 1.5 * pressure)
    for factor in (1e-3, 1e3):  # beyond the table, ratios are those of its edge
        beyond = factor * pressure
        np.testing.assert_allclose(adiabatic_modulus(gas, factor * rho, beyond), 5 / 3 * beyond)
        np.testing.assert_allclose(adiabatic_modulus(gas, rho, beyond), 5 / 3 * beyond)
        np.testing.assert_allclose(thermal_pressure(gas, rho, beyond), 0.6 * 1.5 * beyond)
    with pytest.raises(OctoolsError, match="entropy"):
        entropy(gas, rho, pressure)
    assert tabulated_temperature(header(), rho, pressure) is None


def test_a_missing_table_is_named() -> None:
    gas = header(equation_of_state="table", eos_table="missing.h5")
    gas.units = {"length": 1.0, "mass": 1.0, "time": 1.0}
    with pytest.raises(OctoolsError, match=r"missing\.h5"):
        adiabatic_modulus(gas, np.array([1.0]), np.array([1.0]))
