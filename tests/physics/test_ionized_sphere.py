"""Checks of the spherical ionised regions with which runs are compared; no run of Octant."""

import numpy as np
import pytest
from ionized_atoms import (
    ELECTRON_VOLT,
    THRESHOLDS,
    black_body,
    case_b_rates,
    cross_sections,
    monochromatic,
)
from ionized_sphere import (
    BOLTZMANN,
    GAMMA,
    KPC,
    MYR,
    PROTON_MASS,
    IonizedSphere,
    cosmological_region,
    with_light_speed,
)
from stromgren_solutions import Stromgren

GROUPS = black_body((13.6, 24.59, 54.42))


def test_cross_sections_are_those_at_the_thresholds() -> None:
    """Osterbrock & Ferland (2006): 6.30, 7.83 and 1.58 times 1e-18 cm^2, within the fits."""
    found = np.diag(cross_sections(THRESHOLDS)) / 1e-18
    np.testing.assert_allclose(found, [6.30, 7.83, 1.58], rtol=0.06)
    below = cross_sections(THRESHOLDS - 0.01)
    assert not np.diag(below).any()
    # Hydrogen-like ions: sigma scales as Z^-2 at energies that scale as Z^2.
    energy = np.array([15.0, 30.0, 90.0])
    np.testing.assert_allclose(
        cross_sections(4.002 * energy)[2], cross_sections(energy)[0] / 4.0, rtol=2e-3
    )


def test_groups_of_a_black_body_are_those_of_rosdahl_et_al() -> None:
    """Rosdahl et al. (2013), MNRAS 436, 2188: black body of 1e5 K in three groups."""
    np.testing.assert_allclose(GROUPS.energy / ELECTRON_VOLT, [18.85, 35.08, 65.67], rtol=1e-3)
    expected = [
        [3.007e-18, 0.0, 0.0],
        [5.687e-19, 4.478e-18, 0.0],
        [7.889e-20, 1.197e-18, 1.055e-18],
    ]
    np.testing.assert_allclose(GROUPS.cross_section, expected, rtol=1e-3)
    assert GROUPS.share.sum() == pytest.approx(1.0)


def test_rates_have_published_values_at_1e4_kelvin() -> None:
    """Case B of Osterbrock & Ferland (2006), tables 2.1 and 2.8: HII 2.59e-13, HeIII 1.54e-12."""
    rates = case_b_rates(np.array([1e4]))
    assert rates.recombination[0][0] == pytest.approx(2.59e-13, rel=0.002)
    assert rates.recombination[1][0] == pytest.approx(2.73e-13, rel=0.1)
    assert rates.recombination[2][0] == pytest.approx(1.54e-12, rel=0.05)
    # Losses per recombination: 0.62 k T (Osterbrock & Ferland, table 3.2: beta_B = 1.73e-13).
    braking = 1.42e-27 * 1.3 * 100.0
    per_ion = (rates.ion_loss[0][0] - braking) / (BOLTZMANN * 1e4)
    assert per_ion == pytest.approx(1.73e-13, rel=0.05)


def test_an_isothermal_sphere_becomes_that_of_stromgren() -> None:
    sphere = cosmological_region(200, photons=monochromatic(), temperature=1e4)
    sphere.advance(8000.0 * MYR, 300)
    sigma = float(sphere.photons.cross_section[0, 0])
    alpha = float(case_b_rates(np.array([1e4])).recombination[0][0])
    exact = Stromgren(recombination=alpha, cross_section=sigma).equilibrium(sphere.radius)
    known = (sphere.radius > 0.3 * KPC) & (sphere.radius < 6.2 * KPC)  # finer than shells
    np.testing.assert_allclose(sphere.neutral[known], exact[known], rtol=0.01)


def test_photons_ionise_once_each_and_replace_recombinations() -> None:
    """While no photon escapes, S t = ions + recombinations, with alpha n_e of a constant."""
    sphere = cosmological_region(100, photons=monochromatic(), temperature=1e4)
    alpha = float(case_b_rates(np.array([1e4])).recombination[0][0])
    recombined, steps, end = 0.0, 400, 30.0 * MYR
    for n in range(1, steps + 1):
        begin = sphere.time
        sphere.advance(end * (n / steps) ** 2, 1)
        ions = 1.0 - sphere.neutral
        per_time = alpha * np.sum(sphere.nuclei * sphere.density * ions**2)
        recombined += float(per_time) * (sphere.time - begin)
    assert sphere.absorbed == pytest.approx(5e48 * end, rel=2e-4)  # a little leaves at 6.6 kpc
    ions = float(np.sum(sphere.nuclei * (1.0 - sphere.neutral)))
    # Collisional ionisation adds ions at the front: 1e-3 of them.
    assert ions + recombined == pytest.approx(sphere.absorbed, rel=2e-3)


class Rays(IonizedSphere):
    """Photons that cross one shell in each step, and are stored in the meantime."""

    leaving: np.ndarray | None = None

    def _pass_photons(self, u: np.ndarray) -> np.ndarray:
        entering = np.zeros((len(self.photons.share), len(self.density)))
        entering[:, 0] = self.photons.share * self.rate
        if self.leaving is not None:
            entering[:, 1:] = self.leaving[:, :-1]
        return entering

    def hand_on(self) -> None:
        """Hand the photons of each shell on to the next one."""
        self.leaving = self.entering * np.exp(-self._depths(self.unknowns)[0].sum(axis=-2))


def test_photons_of_finite_speed_delay_the_state_by_their_travel_time() -> None:
    edges, gas = np.linspace(0.0, 4.0 * KPC, 41), np.full(40, 1e-3)
    rays = Rays(edges, gas, GROUPS, 5e48)
    steps, dt = 200, 0.1 * MYR
    for _ in range(steps):
        rays.react(dt)
        rays.hand_on()
    quick = IonizedSphere(edges, gas, GROUPS, 5e48)
    # The middle of a shell; photons that enter it have needed that time.
    speed = (edges[1] - edges[0]) / dt
    (delayed,) = with_light_speed(quick, [steps * dt], speed, steps=800)
    lit = rays.radius < 0.9 * speed * steps * dt
    assert np.abs(rays.neutral - delayed.neutral)[lit].max() <= 0.02
    assert rays.front() == pytest.approx(np.interp(0.5, delayed.neutral, delayed.radius), rel=5e-3)
    still = IonizedSphere(edges, gas, GROUPS, 5e48)
    still.advance(steps * dt, 200)
    assert still.front() > 1.02 * rays.front()


@pytest.mark.parametrize("helium", [0.0, 0.0789])
def test_fronts_of_heated_gas_converge(helium: float) -> None:
    fronts = []
    for cells, steps in ((50, 60), (100, 150), (200, 400)):
        sphere = cosmological_region(cells, photons=GROUPS, helium=helium)
        sphere.advance(20.0 * MYR, steps)
        fronts.append(sphere.front())
    assert abs(fronts[1] / fronts[2] - 1.0) <= 2e-3, fronts
    assert abs(fronts[0] / fronts[2] - 1.0) <= 1e-2, fronts


def test_heat_is_the_energy_of_photons_less_ionisation_and_losses() -> None:
    """Within a time in which nothing is lost, ions have the mean excess energy of photons."""
    photons = monochromatic(20.0)
    sphere = cosmological_region(60, size=1.0, photons=photons)
    sphere.advance(0.1 * MYR, 200)
    gained = sphere.unknowns[3] - BOLTZMANN * 100.0 / (GAMMA - 1.0)
    expected = (1.0 - sphere.neutral) * 6.4 * ELECTRON_VOLT
    total = float(np.sum(gained * sphere.nuclei) / np.sum(expected * sphere.nuclei))
    assert total == pytest.approx(1.0, abs=0.05)
    assert total < 1.0


def test_the_motion_is_that_of_sedov() -> None:
    """R = 1.1517 (E t^2 / rho)^(1/5) at gamma = 5/3 (Sedov 1959)."""
    edges, dark = np.linspace(0.0, KPC, 201), monochromatic()
    sphere = IonizedSphere(edges, np.full(200, 1.0), dark, 0.0, initial_temperature=1.0, moves=True)
    energy = 1e51
    sphere.unknowns[3, :4] = energy / np.sum(sphere.nuclei[:4])
    radius = 0.7 * KPC
    end = float(np.sqrt((radius / 1.1517) ** 5 * PROTON_MASS / energy))
    while sphere.time < end:
        dt = min(sphere.longest_step(), end - sphere.time)
        sphere.move(dt)
        sphere.time += dt
    shock = sphere.radius[np.argmax(sphere.density)]
    assert shock == pytest.approx(radius, rel=0.02)
    assert 3.2 <= sphere.density.max() <= 4.2
    kinetic = 0.5 * np.sum(
        0.5 * (sphere.nuclei[1:] + sphere.nuclei[:-1]) * sphere.velocity[1:-1] ** 2
    )
    total = PROTON_MASS * kinetic + np.sum(sphere.nuclei * sphere.unknowns[3])
    assert total == pytest.approx(energy, rel=0.03)


def test_a_dense_region_expands_as_that_of_spitzer() -> None:
    """R = R_S (1 + 7 c t / (4 R_S))^(4/7) (Spitzer 1978), with c of the gas behind the front.

    The gas beyond the front is cold; the law of Hosokawa & Inutsuka (2006, ApJ 646, 240), with
    (4/3)^(1/2) c instead of c, is a few per cent larger.
    """
    edges = np.linspace(0.0, 3.0, 101)
    photons, density, source = black_body((13.6,)), 1e2, 1e49
    alpha = float(case_b_rates(np.array([8e3])).recombination[0][0])
    radius = (3.0 * source / (4.0 * np.pi * alpha * density**2)) ** (1.0 / 3.0)
    sphere = IonizedSphere(edges * radius, np.full(100, density), photons, source, moves=True)
    sphere.advance(0.15 * MYR, 150)
    warm = np.interp(0.9 * sphere.front(), sphere.radius, sphere.gas_temperature)
    sound = np.sqrt(2.0 * BOLTZMANN * warm / PROTON_MASS)
    alpha = float(case_b_rates(np.array([warm])).recombination[0][0])
    radius = (3.0 * source / (4.0 * np.pi * alpha * density**2)) ** (1.0 / 3.0)
    laws = [
        radius * (1.0 + 1.75 * f * sound * sphere.time / radius) ** (4 / 7) for f in (1.0, 1.155)
    ]
    assert 0.97 * laws[0] <= sphere.front() <= 1.03 * laws[1], (sphere.front(), laws)
