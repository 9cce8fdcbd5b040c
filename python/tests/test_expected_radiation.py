"""What examples of radiation are compared with."""

import numpy as np
import pytest

from octools.expected.radiation import LIGHT_SPEED, RECOMBINATION, Pulse, front

MYR = 3.15576e13
KPC = 3.0856775814913673e21


def test_a_front_begins_with_every_photon_and_ends_as_stromgrens_sphere() -> None:
    rate, density = 5e48, 1e-3
    time = np.array([0.1, 1.0, 1e5]) * MYR
    fast = front(time, rate, density, 1e6 * LIGHT_SPEED)
    once = (3 * rate * time / (4 * np.pi * density)) ** (1 / 3)
    assert fast[:2] == pytest.approx(once[:2], rel=3e-3)
    # Test 1 of Iliev et al. (2006): 5.4 kpc.
    assert fast[2] / KPC == pytest.approx(5.4, rel=5e-3)


def test_a_front_is_not_faster_than_light_and_solves_its_equation() -> None:
    rate, density, light = 5e48, 1e-3, 0.01 * LIGHT_SPEED
    time = np.geomspace(1e-4, 1e3, 200) * MYR
    radius = front(time, rate, density, light)
    assert np.all(radius < light * time * (1 + 1e-3))
    assert radius[0] == pytest.approx(light * time[0], rel=1e-2)
    # Photons that left the source until t - r / c' ionise: dr/dt = u / (1 + u / c').
    speed = np.gradient(radius, time)
    left = rate - 4 / 3 * np.pi * radius**3 * RECOMBINATION * density**2
    slow = left / (4 * np.pi * radius**2 * density)
    assert speed[5:-5] == pytest.approx(
        (slow / (1 + slow / light))[5:-5], rel=1e-2, abs=1e-3 * light
    )


def test_a_pulse_in_heavy_gas_diffuses() -> None:
    pulse = Pulse(height=1e-3, width=0.08)
    pulse.mass = 1e6 * pulse.mass
    pulse.advance(0.05, light=10.0, absorption=0.0, total=1e-4)
    variance = 0.08**2 + 2 * 10.0 / (3 * 100.0) * (0.05 - 1 / 1000.0)
    assert pulse.width**2 == pytest.approx(variance, rel=0.01)
    assert pulse.excess == pytest.approx(1e-3 * (2 * np.pi) ** 1.5 * 0.08**3, rel=1e-3)


def test_radiation_in_thin_gas_and_gas_at_rest_come_to_one_temperature() -> None:
    pulse = Pulse(height=0.0, width=0.1, shells=20)
    pulse.energy[:] = 4.0
    pulse.advance(2.0, light=10.0, absorption=1.0, total=1.0)
    temperature = pulse.temperature[0]
    assert pulse.energy[0] == pytest.approx(temperature**4, rel=1e-6)
    assert 1.5 * temperature + pulse.energy[0] == pytest.approx(5.5, rel=1e-6)


def test_a_pulse_pushes_gas_and_keeps_its_energy() -> None:
    coarse, fine = (Pulse(height=10.0, width=0.08, shells=n) for n in (100, 200))

    def energy(pulse: Pulse) -> float:
        gas = pulse.mass * (1.5 * pulse.temperature + 0.5 * pulse.velocity**2)
        return float((gas + pulse.energy * pulse.volume).sum())

    before = energy(fine)
    radiation = float((fine.energy * fine.volume).sum())
    for pulse in (coarse, fine):
        pulse.advance(0.1, light=10.0, absorption=1.0, total=100.0)
    assert energy(fine) - before == pytest.approx(0.0, abs=0.01 * (radiation - 0.9**3 / 3))
    assert (fine.mass / fine.volume)[0] < 0.5
    assert coarse.width == pytest.approx(fine.width, rel=2e-3)
    assert fine.width == pytest.approx(0.15097, rel=1e-3)
