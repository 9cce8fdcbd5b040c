"""Ionised regions around a source compared with spherical solutions and with Strömgren's radius.

Tests 1 and 2 of Iliev et al. (2006), MNRAS 371, 1057, and test 5 of Iliev et al. (2009), MNRAS 400,
1283, in octants with small meshes; tests/measure/ionized_regions.py makes larger runs. The reduced
speed of light is also that of the solutions.
"""

from pathlib import Path

import numpy as np
import pytest
from ionization_setups import (
    expected_profile,
    found_profile,
    front_scatter,
    ionized_radius,
    photon_residual,
    pressure_of,
    region,
)
from ionized_atoms import black_body, case_b_rates, monochromatic
from ionized_sphere import (
    KPC,
    LIGHT_SPEED,
    MYR,
    Delayed,
    cosmological_region,
    with_delayed_front,
    with_light_speed,
)
from stromgren_solutions import Stromgren

from running import Outcome, run_well

GROUPS = (13.6, 24.59, 54.42)
HELIUM = 0.079
AT_REST = ("hydro.moves=false",)


def times(*values: float) -> str:
    """Return the parameter that writes snapshots at times in Myr."""
    return f"output.snapshot_times={list(values)}"


# --- test 1: isothermal gas -----------------------------------------------------------------------

RATIO = 0.003
EPOCHS = (10.0, 30.0, 100.0)


def isothermal(
    directory: Path, cells: int, end: float, *overrides: str, ratio: float = RATIO
) -> Outcome:
    text = region(cells, 6.6, end, speed_ratio=ratio, block=8)
    return run_well(directory, text, *AT_REST, "ionization.temperature=1e4", *overrides)


@pytest.fixture(scope="module")
def test_one(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Give test 1 with cells of 0.41 kpc."""
    return isothermal(tmp_path_factory.mktemp("one") / "run", 16, EPOCHS[-1], times(*EPOCHS))


def stromgren() -> Stromgren:
    """Return the sphere with the atomic data of the run, and the reduced speed of light."""
    alpha = float(case_b_rates(np.array([1e4])).recombination[0][0])
    sigma = float(monochromatic().cross_section[0, 0])
    return Stromgren(recombination=alpha, cross_section=sigma, light_speed=RATIO * LIGHT_SPEED)


def isothermal_solution(*epochs: float) -> list[Delayed]:
    sphere = cosmological_region(256, photons=monochromatic(), temperature=1e4)
    return with_light_speed(sphere, [time * MYR for time in epochs], RATIO * LIGHT_SPEED)


def test_ions_fill_the_sphere_of_the_relativistic_front(test_one: Outcome) -> None:
    """The radius of as many ions as there are, which does not depend on the width of the front."""
    tolerances = (0.025, 0.015, 0.015)
    for path, time, tolerance in zip(test_one.snapshots[1:], EPOCHS, tolerances, strict=True):
        expected = float(stromgren().relativistic_front(time * MYR)[0]) / KPC
        print(time, ionized_radius(path) / expected - 1.0)
        assert ionized_radius(path) == pytest.approx(expected, rel=tolerance)


def test_the_front_is_where_that_of_the_spherical_solution_is(test_one: Outcome) -> None:
    for path, exact in zip(test_one.snapshots[1:], isothermal_solution(*EPOCHS), strict=True):
        found, expected = found_profile(path), expected_profile(path, exact)
        print(found.front(), expected.front())
        assert found.front() == pytest.approx(expected.front(), rel=0.01)


def test_the_front_is_a_sphere(test_one: Outcome) -> None:
    """The standard deviation of its distance over directions, with 5 to 11 cells along it."""
    for path, tolerance in zip(test_one.snapshots[1:], (0.035, 0.025, 0.016), strict=True):
        print(front_scatter(path))
        assert front_scatter(path) <= tolerance


def test_the_sphere_of_stromgren_is_that_of_equilibrium(tmp_path: Path) -> None:
    """Four recombination times, after which the speed of light does not matter."""
    outcome = isothermal(tmp_path / "run", 16, 500.0, ratio=0.001)
    found = found_profile(outcome.last_snapshot)
    (exact,) = isothermal_solution(500.0)
    expected = expected_profile(outcome.last_snapshot, exact)
    print(found.front(), expected.front())
    assert found.front() == pytest.approx(expected.front(), rel=0.025)
    inside = (found.radius > 0.8) & (found.radius < 4.5)
    equilibrium = stromgren().equilibrium(found.radius[inside] * KPC)
    print(found["neutral"][inside] / equilibrium)
    np.testing.assert_allclose(found["neutral"][inside], equilibrium, rtol=0.15)


def test_fronts_converge(tmp_path: Path) -> None:
    """Cells of 0.83, 0.41 and 0.21 kpc at 10 Myr: radii of as many ions as there are."""
    (exact,) = isothermal_solution(10.0)
    errors = []
    for cells in (8, 16, 32):
        path = isothermal(tmp_path / str(cells), cells, 10.0).last_snapshot
        errors.append(ionized_radius(path) / exact.ionized_radius - 1.0)
    print(errors)
    assert abs(errors[2]) <= 0.012
    assert abs(errors[2]) < 0.75 * abs(errors[1]) < 0.6 * abs(errors[0])


def test_refined_cells_follow_the_front(tmp_path: Path) -> None:
    """Cells of 0.83 kpc, and refined ones of 0.41 kpc at the front."""
    refined = (
        "mesh.max_level=1",
        "mesh.block_size=4",
        "refine.gradient_fields=['ionized_hydrogen']",
        "refine.gradient=[0.2]",
        "refine.floor=0.1",
    )
    outcome = isothermal(tmp_path / "run", 8, 60.0, *refined)
    history = outcome.history()
    assert 0 < history["leaf_cells_1"][-1] < 0.9 * 16**3
    (exact,) = isothermal_solution(60.0)
    path = outcome.last_snapshot
    found, expected = found_profile(path).front(), expected_profile(path, exact).front()
    print(found, expected, history["leaf_cells_1"], photon_residual(history).max())
    assert found == pytest.approx(expected, rel=0.015)
    assert photon_residual(history).max() <= 1e-12


def test_photons_of_recombinations_replace_those_of_the_on_the_spot_approximation(
    tmp_path: Path,
) -> None:
    """Case A with photons of recombinations: none escape, and the number of ions is that of B."""
    radii = {}
    for case in ("true", "false"):
        outcome = isothermal(tmp_path / case, 8, 60.0, f"ionization.on_the_spot={case}")
        radii[case] = ionized_radius(outcome.last_snapshot)
        assert photon_residual(outcome.history()).max() <= 1e-12
    recombined = outcome.history()["ionization_recombined"][-1]
    assert recombined > 0.05 * outcome.history()["ionization_injected"][-1]
    print(radii)
    assert radii["false"] == pytest.approx(radii["true"], rel=0.01)


# Ionised hydrogen in the dark, and no source.
DARK = (
    "ionization.source_rates=[0]",
    "ionization.initial_ions=[0.9, 0, 0]",
    "time.largest_step=0.005",
    "ionization.radiation_pressure=false",
    *AT_REST,
)


def mean_temperature(outcome: Outcome) -> float:
    """Return the mean temperature of the last snapshot in K."""
    found = found_profile(outcome.last_snapshot)
    return float(np.mean(found["temperature"]))


@pytest.mark.parametrize("kelvin", [120.0, 1e4])
def test_opaque_gas_in_the_dark_cools_in_case_a_as_in_case_b(tmp_path: Path, kelvin: float) -> None:
    """Photons of recombinations return the energy that they took, and no more."""
    periodic = ("periodic", "periodic")
    # The density is 1000 times that of the tests: cells of 0.1 kpc have optical depths of 2e3.
    text = region(
        4,
        0.4,
        0.1,
        boundary=periodic,
        density="1000",
        pressure=repr(1000.0 * 1.9 * pressure_of(kelvin)),
        edges=GROUPS,
        spectrum="black_body",
        speed_ratio=1e-3,
        substeps=10**6,
    )
    runs = {}
    for case in ("true", "false"):
        outcome = run_well(tmp_path / case, text, *DARK, f"ionization.on_the_spot={case}")
        runs[case] = mean_temperature(outcome), ionized_radius(outcome.last_snapshot)
    history = outcome.history()
    assert photon_residual(history).max() <= 1e-12
    print(runs, history["ionization_recombined"][-1], history["ionization_absorbed"][-1])
    assert history["ionization_recombined"][-1] > 0.0
    (warm, ions), (expected_warm, expected_ions) = runs["false"], runs["true"]
    assert abs(expected_warm / kelvin - 1.0) > 0.02
    assert warm == pytest.approx(expected_warm, rel=0.01)
    assert ions == pytest.approx(expected_ions, rel=0.005)


# --- test 2: heated gas ---------------------------------------------------------------------------


@pytest.mark.parametrize("helium", [0.0, HELIUM], ids=["hydrogen", "helium"])
def test_heated_gas_is_that_of_the_spherical_solution(tmp_path: Path, helium: float) -> None:
    text = region(
        16,
        6.6,
        50.0,
        speed_ratio=RATIO,
        block=8,
        edges=GROUPS,
        spectrum="black_body",
        helium=helium,
    )
    outcome = run_well(tmp_path / "run", text, *AT_REST)
    history = outcome.history()
    assert photon_residual(history).max() <= 1e-12
    assert not history["ionization_unsolved"].any()
    sphere = cosmological_region(128, photons=black_body(GROUPS), helium=helium)
    (exact,) = with_light_speed(sphere, [50.0 * MYR], RATIO * LIGHT_SPEED)
    path = outcome.last_snapshot
    found, expected = found_profile(path, helium), expected_profile(path, exact)
    fronts = ["neutral", "helium_atoms", "not_helium_three"][: 3 if helium > 0.0 else 1]
    for name in fronts:
        print(name, found.front(field=name), expected.front(field=name))
        # HeIII fills three cells.
        tolerance = {"neutral": 0.01, "helium_atoms": 0.015}.get(name, 0.04)
        assert found.front(field=name) == pytest.approx(expected.front(field=name), rel=tolerance)
    inside = (found.radius > 0.8) & (found.radius < 0.8 * expected.front())
    beyond = (found.radius > 1.2 * expected.front()) & (found.radius < 6.0)
    for where, tolerance in ((inside, 0.03), (beyond, 0.4)):
        print(found["temperature"][where] / expected["temperature"][where])
        np.testing.assert_allclose(
            found["temperature"][where], expected["temperature"][where], rtol=tolerance
        )


# --- test 5: gas in motion ------------------------------------------------------------------------


def test_expanding_gas_is_that_of_the_spherical_solution(tmp_path: Path) -> None:
    """Cells of 0.5 kpc at 200 Myr, when the front drives a wave."""
    end, ratio = 200.0, 0.002
    text = region(16, 8.0, end, speed_ratio=ratio, block=8, edges=GROUPS, spectrum="black_body")
    outcome = run_well(tmp_path / "run", text, "ionization.radiation_pressure=false")
    sphere = cosmological_region(128, size=12.0, photons=black_body(GROUPS), moves=True)
    (exact,) = with_delayed_front(sphere, [end * MYR], ratio * LIGHT_SPEED, steps=300)
    path = outcome.last_snapshot
    found, expected = found_profile(path), expected_profile(path, exact)
    print(found.front(), expected.front())
    assert found.front() == pytest.approx(expected.front(), rel=0.015)
    inside = (found.radius > 0.8) & (found.radius < 0.8 * expected.front())
    for name, tolerance in (("temperature", 0.04), ("density", 0.05)):
        print(name, found[name][inside] / expected[name][inside])
        np.testing.assert_allclose(found[name][inside], expected[name][inside], rtol=tolerance)
    assert np.mean(np.abs(found["density"] - expected["density"])) <= 0.03
