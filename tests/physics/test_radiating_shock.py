"""Checks of the radiating shocks with which runs are compared; no run of Octant."""

import numpy as np
import pytest
from octools.flow_figures import REFERENCES, read_table
from radiating_shock import RadiatingShock, integrate
from radiation_waves import RadiationWave


def test_integration_is_of_fifth_order() -> None:
    errors = []
    for tolerance in (1e-9, 1e-11):
        rows = integrate(
            lambda y, v: (v, -y), (0.0, 1.0), 1e-3, lambda s: s[1] > -0.99, (1e3, 1e3), tolerance
        )
        x = rows[0, -1]
        assert 2.9 < x < np.pi
        errors.append(np.hypot(rows[1, -1] - np.sin(x), rows[2, -1] - np.cos(x)) / rows.shape[1])
    assert errors[1] < 1e-8
    assert 30.0 < errors[0] / errors[1] < 300.0


@pytest.fixture(scope="module", params=[2.0, 5.0])
def shock(request: pytest.FixtureRequest) -> RadiatingShock:
    return RadiatingShock(request.param)


def test_states_far_from_the_shock_conserve_mass_momentum_and_energy() -> None:
    for mach in (1.05, 2.0, 5.0, 30.0):
        for radiation in (1e-9, 1e-4, 0.1):
            shock = RadiatingShock(mach, radiation)
            density, t = shock.downstream
            v, g = mach / density, shock.gamma
            theta = radiation * t**4
            momentum = density * v**2 + density * t / g + theta / 3.0
            energy = mach * (0.5 * v**2 + t / (g - 1.0)) + 4.0 / 3.0 * v * theta
            assert momentum == pytest.approx(shock.momentum_flux, rel=1e-12)
            assert energy == pytest.approx(shock.energy_flux, rel=1e-12)
            assert density > 1.0
            assert t > 1.0
    # Little radiation: the shock of the gas. Strong shocks: compression by 7, for Gamma = 4/3.
    assert RadiatingShock(2.0, 1e-12).downstream == pytest.approx((16 / 7, 133 / 64), rel=1e-10)
    assert RadiatingShock(1e4).downstream[0] == pytest.approx(7.0, rel=1e-3)


def test_states_of_lowrie_and_edwards() -> None:
    # P0 = 1e-4; density and temperature downstream.
    assert RadiatingShock(2.0).downstream == pytest.approx((2.2860748989, 2.0775699953), rel=1e-9)
    assert RadiatingShock(5.0).downstream == pytest.approx((3.5979106531, 8.5571992185), rel=1e-9)


def grid(shock: RadiatingShock, count: int = 4000) -> list[np.ndarray]:
    """Return points ahead of the gas shock, and behind it."""
    start, end = shock.extent
    middle = (np.arange(count) + 0.5) / count
    return [start * middle[::-1], end * middle]


def test_profiles_conserve_mass_momentum_and_energy(shock: RadiatingShock) -> None:
    for x in grid(shock):
        f = shock.at(x)
        v, rho, t = f["velocity"], f["density"], f["temperature"]
        theta = shock.radiation * f["radiation_temperature"] ** 4
        momentum = rho * v**2 + rho * t / shock.gamma + theta / 3.0
        energy = rho * v * (0.5 * v**2 + t / (shock.gamma - 1.0)) + 4.0 / 3.0 * v * theta
        assert rho * v == pytest.approx(shock.mach, rel=1e-12)
        assert momentum == pytest.approx(shock.momentum_flux, rel=1e-12)
        assert energy + f["energy_flux"] == pytest.approx(shock.energy_flux, rel=1e-12)
        # The flux, which follows from the sum, is that of diffusion.
        middle = shock.at(0.5 * (x[1:] + x[:-1]))["energy_flux"]
        slope = np.diff(f["radiation_temperature"] ** 4) / np.diff(x)
        error = np.abs(-shock.kappa * shock.radiation * slope - middle).max()
        assert error < 1e-4 * np.abs(middle).max()


def test_profiles_exchange_energy_at_the_rate_of_absorption(shock: RadiatingShock) -> None:
    for x in grid(shock):
        f = shock.at(x)
        middle = shock.at(0.5 * (x[1:] + x[:-1]))
        t, theta = middle["temperature"], middle["radiation_temperature"] ** 4
        heat = shock.mach / (shock.gamma * (shock.gamma - 1.0)) * np.diff(f["temperature"])
        work = middle["density"] * t / shock.gamma * np.diff(f["velocity"])
        rate = shock.radiation * shock.sigma * (theta - t**4)
        error = np.abs((heat + work) / np.diff(x) - rate)
        assert error.mean() < 1e-3 * np.abs(rate).mean()
        # The radiation loses what the gas gains.
        advected = shock.radiation * np.diff(f["radiation_temperature"] ** 4 * f["velocity"])
        squeezed = shock.radiation / 3.0 * theta * np.diff(f["velocity"])
        error = (advected + squeezed + np.diff(f["energy_flux"])) / np.diff(x) + rate
        assert np.abs(error).mean() < 1e-3 * np.abs(rate).mean()


def test_gas_shock_leaves_the_radiation_continuous(shock: RadiatingShock) -> None:
    ahead, behind = (
        {name: float(a[0]) for name, a in shock.at(np.array([x])).items()} for x in (-1e-13, 1e-13)
    )
    flux = []
    for f in (ahead, behind):
        theta = f["radiation_temperature"] ** 4
        flux.append(f["energy_flux"] + 4.0 / 3.0 * f["velocity"] * shock.radiation * theta)
    assert behind["radiation_temperature"] == pytest.approx(
        ahead["radiation_temperature"], rel=1e-9
    )
    assert flux[1] == pytest.approx(flux[0], rel=1e-8)
    square = ahead["velocity"] ** 2 / ahead["temperature"]
    assert square > 1.0
    g = shock.gamma
    compression = (g + 1.0) * square / ((g - 1.0) * square + 2.0)
    assert behind["density"] / ahead["density"] == pytest.approx(compression, rel=1e-8)
    heating = (2.0 * g * square - g + 1.0) / (g + 1.0) / compression
    assert behind["temperature"] / ahead["temperature"] == pytest.approx(heating, rel=1e-8)
    # The temperature behind the shock is above the final one.
    assert behind["temperature"] > shock.downstream[1]


def test_limits_are_the_states_far_away(shock: RadiatingShock) -> None:
    far = shock.at(np.array([-10.0, 10.0]))
    density, t = shock.downstream
    assert far["density"] == pytest.approx([1.0, density], rel=1e-6)
    assert far["temperature"] == pytest.approx([1.0, t], rel=1e-6)
    assert far["radiation_temperature"] == pytest.approx([1.0, t], rel=1e-6)


def test_shocks_are_sub_and_supercritical(shock: RadiatingShock) -> None:
    ahead = shock.at(np.array([-1e-9]))["temperature"][0] / shock.downstream[1]
    limits = {2.0: (0.6, 0.9), 5.0: (0.995, 1.0)}[shock.mach]
    assert limits[0] < ahead < limits[1]


def test_weak_shocks_are_continuous() -> None:
    with pytest.raises(ValueError, match="no shock of the gas"):
        RadiatingShock(1.05).at(np.zeros(1))


def test_opacities_per_mass_shorten_the_downstream_side() -> None:
    shock, dense = RadiatingShock(2.0), RadiatingShock(2.0, density_power=1.0)
    assert dense.downstream == shock.downstream
    assert dense.extent[1] < 0.7 * shock.extent[1]
    assert shock.extinctions(1e3) == pytest.approx((1e3, 1e3 / 3.0))


def test_precursor_begins_as_a_linear_wave(shock: RadiatingShock) -> None:
    # A perturbation exp(s x) at rest in the frame of the shock grows at s M0 in that of the gas.
    _, rate = shock.leaving(shock.mach, 1.0, 1.0)
    light_speed, wavelength = 1e6, 2.0j * np.pi / rate
    k_p, k_f = shock.extinctions(light_speed)
    wave = RadiationWave(
        gamma=shock.gamma,
        radiation=shock.gamma * shock.radiation,
        light_speed=light_speed,
        absorption=k_p * wavelength,
        scattering=(k_f - k_p) * wavelength,
        wavelength=wavelength,
    )
    growth = -1j * wave.modes()[0]
    assert np.abs(growth / (rate * shock.mach) - 1.0).min() < 1e-5


def test_solution_for_the_example_is_this_one() -> None:
    """Compare the table for examples/radiation_shock.toml, at its points and between them."""
    table = read_table(REFERENCES / "radiation_shock.csv")
    x = np.linspace(-0.02, 0.012, 3001)
    shock = RadiatingShock(2.0)
    for name in ("temperature", "radiation_temperature"):
        assert table[name] == pytest.approx(shock.at(table["x"])[name], rel=1e-7)
        assert np.interp(x, table["x"], table[name]) == pytest.approx(shock.at(x)[name], abs=6e-4)
