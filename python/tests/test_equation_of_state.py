"""Pressure and sound speed of barotropic gas in files."""

from types import SimpleNamespace

import numpy as np
import pytest

from octools.equation_of_state import Barotrope, pressure_exponent


def header(**hydro: object) -> SimpleNamespace:
    """Give the part of a header that the equation of state needs."""
    values = {f"hydro.{key}": value for key, value in hydro.items()}
    return SimpleNamespace(
        gamma=1.6, parameter=lambda name, default=None: values.get(name, default)
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
