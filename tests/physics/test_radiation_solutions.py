"""Checks of the solutions with which runs with radiation are compared; no run of Octant."""

import numpy as np
import pytest
from radiation_solutions import (
    MARSHAK_U,
    MARSHAK_V,
    MARSHAK_X,
    SU_OLSON_DIFFUSION_U,
    SU_OLSON_TRANSPORT_U,
    SU_OLSON_TRANSPORT_V,
    SU_OLSON_X,
    Array,
    Medium,
    evolve_periodic,
    exponentials,
    gaussian_flux,
    gaussian_pulse,
    hot_slab,
    marshak_wave,
    marshak_wave_p1,
    su_olson_source,
)
from stromgren_solutions import Stromgren


def test_marshak_wave_has_the_tabulated_values() -> None:
    for (epsilon, tau), table in MARSHAK_U.items():
        assert np.abs(marshak_wave(MARSHAK_X, tau, epsilon)[0] - table).max() < 1e-4
    for (epsilon, tau), table in MARSHAK_V.items():
        assert np.abs(marshak_wave(MARSHAK_X, tau, epsilon)[1] - table).max() < 1e-4


def paper_integrals(x: float, tau: float, epsilon: float) -> tuple[float, float]:
    """Return u and v by the integrals of Su & Olson (1996), eqs. 36 and 42, by the midpoint rule.

    The substitutions eta = sin(phi) and eta = z^2 remove the square roots at the ends.
    """
    z = (np.arange(400_000) + 0.5) / 400_000
    eta, root = np.sin(0.5 * np.pi * z), np.cos(0.5 * np.pi * z)
    gamma = eta * np.sqrt(epsilon + 1.0 / root**2)
    theta = np.arccos(np.sqrt(3.0 / (3.0 + 4.0 * gamma**2)))
    first = np.exp(-tau * eta**2) * np.sin(x * gamma + theta)
    first *= 0.5 * np.pi * root / (eta * np.sqrt(3.0 + 4.0 * gamma**2))
    u = 1.0 - 2.0 * np.sqrt(3.0) / np.pi * first.mean()
    v = 1.0 - 2.0 * np.sqrt(3.0) / np.pi * (first / root**2).mean()

    eta = z**2
    gamma = np.sqrt((1.0 - eta) * (epsilon + 1.0 / eta))
    theta = np.arccos(np.sqrt(3.0 / (3.0 + 4.0 * gamma**2)))
    second = np.exp(-tau / (epsilon * eta)) * np.sin(x * gamma + theta)
    second *= 2.0 * z / (eta * (1.0 + epsilon * eta) * np.sqrt(3.0 + 4.0 * gamma**2))
    u -= np.sqrt(3.0) / np.pi * np.exp(-tau) * second.mean()
    v += np.sqrt(3.0) / np.pi * np.exp(-tau) * (second * epsilon * eta).mean()
    return u, v


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_marshak_wave_agrees_with_the_integrals_of_the_paper(epsilon: float) -> None:
    for x, tau in [(0.0, 0.1), (0.5, 1.0), (2.5, 10.0)]:
        u, v = marshak_wave(np.array([x]), tau, epsilon)
        assert (u[0], v[0]) == pytest.approx(paper_integrals(x, tau, epsilon), abs=2e-5)


def diffusion_on_a_grid(width: float, cells: int, tau: float, epsilon: float) -> Array:
    """Return x, u and v by second-order finite volumes, exact in time."""
    dx = width / cells
    across = np.full(cells - 1, 1.0 / dx**2)
    diffusion = np.diag(across, 1) + np.diag(across, -1)
    diffusion -= np.diag(diffusion.sum(axis=1))
    # Half a cell between the first centre and the boundary, where u - (2 / sqrt(3)) u_x = 1.
    diffusion[0, 0] -= 1.0 / (dx * (0.5 * dx + 2.0 / np.sqrt(3.0)))
    # Each eigenvector of the symmetric matrix evolves by itself; the steady state is u = v = 1.
    rates, vectors = np.linalg.eigh(diffusion)
    matrices = np.array([[[(rate - 1.0) / epsilon, 1.0 / epsilon], [1.0, -1.0]] for rate in rates])
    modes = vectors.sum(axis=0)[:, None] * exponentials(matrices * tau).sum(axis=2)
    u, v = 1.0 - (vectors @ modes).T
    return np.stack([(np.arange(cells) + 0.5) * dx, u, v])


@pytest.mark.parametrize(("epsilon", "tau", "width"), [(0.1, 1, 16), (1.0, 0.1, 4), (1.0, 10, 20)])
def test_marshak_wave_is_that_of_finite_volumes(epsilon: float, tau: float, width: float) -> None:
    coarse = diffusion_on_a_grid(width, 80, tau, epsilon)
    fine = diffusion_on_a_grid(width, 240, tau, epsilon)[:, 1::3]
    exact = np.stack(marshak_wave(coarse[0], tau, epsilon))
    errors = [np.abs(numerical[1:] - exact).max() for numerical in (coarse, fine)]
    assert errors[0] > 6.0 * errors[1]
    assert np.abs((9.0 * fine - coarse)[1:] / 8.0 - exact).max() < 2e-4


def test_marshak_wave_of_slow_changes_is_the_same_with_p1() -> None:
    x = np.linspace(0.0, 20.0, 41)
    diffusion, p1 = marshak_wave(x, 1000.0, 0.1), marshak_wave_p1(x, 1000.0, 0.1)
    assert np.abs(np.stack(diffusion) - np.stack(p1)).max() < 1e-4
    # No light beyond the front at tau / epsilon, and a jump at it.
    assert marshak_wave_p1(np.array([10.01]), 1.0, 0.1)[0] == 0.0
    u = marshak_wave_p1(np.array([0.09, 0.0999]), 0.01, 0.1)[0]
    assert np.all(u > 0.3)


def test_source_problem_has_the_tabulated_values() -> None:
    for tau, table in SU_OLSON_DIFFUSION_U.items():
        assert np.abs(su_olson_source(SU_OLSON_X, tau)[0] - table).max() < 1e-5
    for tau, table in SU_OLSON_TRANSPORT_U.items():
        u, v = su_olson_source(SU_OLSON_X, tau, order=31, modes=300)
        assert np.abs(u - table).max() < 3e-3
        if tau in SU_OLSON_TRANSPORT_V:
            assert np.abs(v - SU_OLSON_TRANSPORT_V[tau]).max() < 3e-3


def test_sources_and_slabs_conserve_energy() -> None:
    medium = Medium(absorption=0.7, scattering=0.8, heat_ratio=2.5, light_speed=3.0)
    dx = 0.01
    x = (np.arange(2000) + 0.5) * dx
    for order in (0, 1):
        e, b = su_olson_source(x, 3.0, order, medium=medium, duration=2.0, half_length=20.0)
        assert dx * np.sum(e + 2.5 * b) == pytest.approx(0.5 * 2.0, rel=1e-6)
        e, b = hot_slab(x, 3.0, order, medium=medium, half_length=20.0, emission=0.4)
        assert dx * np.sum(e + 2.5 * b) == pytest.approx(0.5 * (1.0 + 2.5 * 0.4), rel=1e-6)


def test_source_is_the_integral_of_hot_slabs() -> None:
    x = np.array([0.1, 0.8, 1.5])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = sum(
        0.5 * weight * np.stack(hot_slab(x, 0.5 + 0.5 * node, half_length=8.0))
        for node, weight in zip(nodes, weights, strict=True)
    )
    assert total == pytest.approx(np.stack(su_olson_source(x, 1.0, half_length=8.0)), abs=1e-5)


def test_gaussian_pulse_is_the_limit_of_great_optical_depth() -> None:
    cells, length, width = 256, 20.0, 1.0
    x = (np.arange(cells) + 0.5) * length / cells - 0.5 * length
    dark = np.zeros(cells)
    for absorption, scattering in [(0.0, 400.0), (300.0, 100.0)]:
        medium = Medium(absorption, scattering, heat_ratio=0.5, light_speed=10.0)
        initial = gaussian_pulse(x**2, 0.0, medium, width)
        b = initial if absorption > 0.0 else dark
        exact = gaussian_pulse(x**2, 100.0, medium, width)
        assert exact.max() < 0.7
        for order, error in [(0, 1e-4), (1, 1e-4)]:
            e, _, b_end = evolve_periodic(initial, dark, b, length, 100.0, medium, order)
            assert np.abs(e - exact).max() < error
            if absorption > 0.0:
                assert np.abs(b_end - e).max() < error


@pytest.mark.parametrize("absorption", [0.0, 3e4])
def test_gas_carries_the_pulse_with_it_in_dynamic_diffusion(absorption: float) -> None:
    # Optical depths of 1e5 and v / c = 1e-3.
    cells, length, width, velocity, time = 256, 20.0, 1.0, 0.01, 500.0
    medium = Medium(absorption, 1e5 - absorption, heat_ratio=0.5, light_speed=10.0)
    x = (np.arange(cells) + 0.5) * length / cells - 0.5 * length
    initial = gaussian_pulse(x**2, 0.0, medium, width)
    flux = gaussian_flux(x, initial, 0.0, medium, width, velocity)
    b = initial if absorption > 0.0 else np.zeros(cells)
    e, f, _ = evolve_periodic(initial, flux, b, length, time, medium, velocity=velocity)
    distance = x - velocity * time
    exact = gaussian_pulse(distance**2, time, medium, width)
    assert np.abs(e - exact).max() < 1e-4
    exact_flux = gaussian_flux(distance, exact, time, medium, width, velocity)
    assert np.abs(f - exact_flux).max() < 1e-4 * np.abs(exact_flux).max()


def test_p1_without_matter_is_the_wave_equation() -> None:
    cells, length = 128, 1.0
    x = (np.arange(cells) + 0.5) / cells
    dark = np.zeros(cells)
    vacuum = Medium(absorption=0.0, light_speed=2.0)
    e, f, _ = evolve_periodic(np.cos(2 * np.pi * x), dark, dark, length, 0.3, vacuum)
    phase = 2.0 * np.pi * 2.0 / np.sqrt(3.0) * 0.3
    assert e == pytest.approx(np.cos(2 * np.pi * x) * np.cos(phase), abs=1e-10)
    assert f == pytest.approx(2 / np.sqrt(3) * np.sin(2 * np.pi * x) * np.sin(phase), abs=1e-10)


KPC, MYR = 3.0857e21, 3.15576e13


def test_stromgren_sphere_is_that_of_the_first_test_of_iliev_et_al() -> None:
    sphere = Stromgren()
    assert sphere.radius / KPC == pytest.approx(5.4, abs=0.02)
    assert sphere.recombination_time / MYR == pytest.approx(122.4, abs=0.1)
    times = np.array([1e-6, 1.0, 30.0, 500.0]) * MYR
    front, fast = sphere.front(times), sphere.relativistic_front(times)
    assert np.all(fast <= front)
    assert fast[0] == pytest.approx(sphere.light_speed * times[0], rel=1e-3)
    assert fast[-1] == pytest.approx(front[-1], rel=1e-4)
    assert front[1] == pytest.approx(sphere.front_without_recombination(times[1]), rel=5e-3)


def test_stromgren_sphere_in_equilibrium_recombines_as_much_as_it_absorbs() -> None:
    sphere = Stromgren()
    radius = np.linspace(0.0, 1.5 * sphere.radius, 1501)
    ionised = 1.0 - sphere.equilibrium(radius, cells=3000)
    rate = sphere.recombination * sphere.density**2 * ionised**2 * 4.0 * np.pi * radius**2
    assert np.sum(rate) * (radius[1] - radius[0]) == pytest.approx(sphere.photons, rel=2e-3)
    # Half of the hydrogen is neutral just outside R_S, and nearly none well inside.
    assert 1.0 < np.interp(-0.5, -ionised, radius / sphere.radius) < 1.08
    assert ionised[500] > 0.99
