"""Checks of the linear waves with which runs with radiation are compared; no run of Octant."""

import numpy as np
import pytest
from radiation_waves import RadiationWave

K = 2.0 * np.pi


def test_sound_in_thin_gas_is_adiabatic() -> None:
    omega, vector = RadiationWave(absorption=1e-9, radiation=0.1).acoustic()
    assert omega.real / K == pytest.approx(1.0, abs=1e-6)
    assert abs(omega.imag) < 1e-4
    assert vector[:3] == pytest.approx([1.0, 1.0, 1.0], abs=1e-4)  # gamma p = 1


def test_sound_with_fast_exchange_and_diffusion_is_isothermal() -> None:
    # Radiation that leaves the wave at once, and exchanges energy with the gas at once.
    wave = RadiationWave(light_speed=1e8, absorption=1.0, radiation=1e-3)
    omega, vector = wave.acoustic()
    assert omega.real / K == pytest.approx(wave.isothermal_speed, rel=1e-3)
    temperature = vector[2] / wave.pressure - vector[0]
    assert abs(temperature) < 1e-3


@pytest.mark.parametrize("radiation", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("speed_ratio", [1.0, 0.1])
def test_sound_in_thick_gas_traps_radiation(radiation: float, speed_ratio: float) -> None:
    wave = RadiationWave(
        light_speed=1e3, absorption=1e8, radiation=radiation, speed_ratio=speed_ratio
    )
    omega, vector = wave.acoustic()
    assert omega.real / K == pytest.approx(wave.trapped_speed, rel=1e-5)
    assert abs(omega.imag) < 1e-2
    # The radiation is in equilibrium with the gas, and moves with it.
    temperature = vector[2] / wave.pressure - vector[0]
    assert vector[3] / wave.energy == pytest.approx(4.0 * temperature, rel=1e-4)
    assert vector[4] == pytest.approx(4.0 / 3.0 * wave.energy * vector[1], rel=1e-2)
    # Limits of Gamma_1: that of the gas, and 4/3.
    if speed_ratio < 1.0:
        return
    if radiation == 0.01:
        assert wave.trapped_speed == pytest.approx(1.0, rel=0.01)
    if radiation == 100.0:
        pressure = wave.pressure + wave.energy / 3.0
        assert wave.trapped_speed**2 == pytest.approx(4.0 / 3.0 * pressure, rel=0.02)


def test_scattering_alone_leaves_the_gas_adiabatic_and_exerts_its_force() -> None:
    # Without exchange, radiation follows E ~ rho^(4/3) where it is trapped.
    wave = RadiationWave(absorption=0.0, scattering=1e9, radiation=3.0)
    omega, vector = wave.acoustic()
    square = 1.0 + 4.0 / 3.0 * wave.energy / 3.0
    assert omega.real / K == pytest.approx(np.sqrt(square), rel=1e-4)
    assert vector[3] / wave.energy == pytest.approx(4.0 / 3.0, rel=1e-4)


def test_light_in_thin_gas_moves_at_the_speed_of_p1() -> None:
    wave = RadiationWave(absorption=1e-6, light_speed=50.0, radiation=0.5, speed_ratio=0.5)
    omega, _ = wave.modes()
    assert omega.real.max() / K == pytest.approx(0.5 * 50.0 / np.sqrt(3.0), rel=1e-6)


def test_modes_obey_the_equations_and_decay() -> None:
    for absorption in (1e-3, 1.0, 1e3):
        for radiation in (0.01, 1.0, 10.0):
            wave = RadiationWave(radiation=radiation, absorption=absorption, scattering=2.0)
            omega, vectors = wave.modes()
            matrix = wave.matrix()
            for n in range(5):
                residual = matrix @ vectors[:, n] + 1j * omega[n] * vectors[:, n]
                scale = np.abs(matrix) @ np.abs(vectors[:, n])
                assert np.all(np.abs(residual) < 1e-9 * (scale + np.abs(scale).max() * 1e-3))
            assert omega.imag.max() < 1e-9 * np.abs(omega).max()
            # The sum of the energies of gas and radiation is conserved, and their momentum.
            c, r = wave.light_speed, wave.speed_ratio
            energy = matrix[2] / (wave.gamma - 1.0) + matrix[3] / r
            momentum = matrix[1] + matrix[4] / (r * c**2)
            grad = 1j * K
            enthalpy = wave.gamma / (wave.gamma - 1.0) * wave.pressure
            assert energy == pytest.approx([0, -grad * enthalpy, 0, 0, -grad], abs=1e-8 * c)
            assert momentum == pytest.approx([0, 0, -grad, -grad / 3.0, 0], abs=1e-8)


def test_fields_follow_the_equations_in_time() -> None:
    wave = RadiationWave(absorption=3.0, radiation=0.5, light_speed=100.0)
    omega, vector = wave.acoustic(density=1e-6)
    x, step = np.linspace(0.0, 1.0, 7), 1e-6
    before, after = (wave.at(x, 0.3 + s, omega, vector) for s in (-step, step))
    here = vector * np.exp(1j * (K * x[:, None] - omega * 0.3))
    rate = (here @ wave.matrix().T).real
    for n, name in enumerate(before):
        change = (after[name] - before[name]) / (2.0 * step)
        assert change == pytest.approx(rate[:, n], abs=2e-4 * np.abs(rate[:, n]).max() + 1e-9)
