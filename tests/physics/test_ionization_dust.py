"""Optical photons and dust: absorption, momentum, spectra, sources, bits, refusals."""

from pathlib import Path

import numpy as np
import pytest
from ionization_setups import DENSITY, energy_of_photons, photon_residual, region
from ionized_atoms import black_body
from ionized_sphere import KPC, LIGHT_SPEED, MYR, PROTON_MASS
from test_ionization_floor import STIRRED
from test_ionizing_stars import MASS, RATE, SHINING, STARS, SWARM, injected

from galaxies import MEGAYEAR
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_bits,
    leaf_cells,
    run,
    run_well,
)

SPEED_RATIO = 0.1
SPEED = SPEED_RATIO * LIGHT_SPEED * MYR / KPC
EDGE, OPTICAL = 1.0, ("ionization.optical_edge=1",)
METALLICITY, OPACITY, NUCLEI = 0.2, 1000.0, 1.0  # solar, cm^2/g, hydrogen per cm^3
BEAM = 1e58  # photons per kpc^3


def beam(directory: Path, cells: int, *overrides: str) -> Outcome:
    """Send a beam of optical photons along x through 1 kpc of dusty gas until it is stationary."""
    text = region(
        4,
        1.0,
        4.0 / SPEED,
        boundary=("periodic", "periodic"),
        density=f"{NUCLEI / DENSITY!r}",
        rate=0.0,
        speed_ratio=SPEED_RATIO,
        substeps=1000,
        spectrum="black_body",
    )
    flux = BEAM * SPEED * (1.0 - 1e-12)
    return run_well(
        directory,
        text,
        f"mesh.base_cells=[{cells}, 4, 4]",
        f"mesh.upper=[1.0, {4.0 / cells}, {4.0 / cells}]",
        'mesh.boundary_x=["inflow", "outflow"]',
        f"problem.fields={{photon_density_1 = '{BEAM!r}', photon_flux_1_x = '{flux!r}'}}",
        f"ionization.initial_metallicity={METALLICITY}",
        *OPTICAL,
        *overrides,
    )


@pytest.mark.parametrize("exponent", [1.0, 1.62])
def test_dust_absorbs_a_beam_exponentially(tmp_path: Path, exponent: float) -> None:
    """N = N_0 exp(-rho kappa Z^a x); the first-order transport converges to it."""
    depth = NUCLEI * PROTON_MASS * OPACITY * METALLICITY**exponent * KPC
    errors = []
    for cells in (16, 32):
        outcome = beam(
            tmp_path / str(cells),
            cells,
            "hydro.moves=false",
            f"ionization.dust_exponent={exponent}",
        )
        found = leaf_cells(outcome.last_snapshot)
        expected = BEAM * np.exp(-depth * found.position[:, 0])
        errors.append(float(np.abs(found["photon_density_1"] / expected - 1.0).max()))
    print(depth, errors)
    assert errors[1] <= 0.02
    assert errors[0] > 1.7 * errors[1]


def test_dust_takes_the_momentum_of_the_photons_and_loses_their_energy(tmp_path: Path) -> None:
    outcome = beam(tmp_path / "run", 16)
    history = outcome.history()
    absorbed = history["ionization_absorbed_by_dust"][-1]
    stored = history["photons_1"] + history["outflow_photons"]
    assert abs(stored[-1] - stored[0] + absorbed) <= 1e-12 * absorbed
    energy = black_body((EDGE, 13.6)).energy[0]
    infrared = energy_of_photons(absorbed, energy)
    assert history["ionization_infrared"][-1] == pytest.approx(infrared, rel=1e-4)
    c = LIGHT_SPEED * MYR / KPC
    assert history["momentum_x"][-1] == pytest.approx(infrared / c, rel=1e-3)
    assert history["ionization_heated"][-1] == 0.0
    still = beam(tmp_path / "still", 16, "ionization.radiation_pressure=false").history()
    assert abs(still["momentum_x"][-1]) <= 1e-12 * abs(history["momentum_x"][-1])


@pytest.mark.parametrize("spectrum", ["black_body", "monochromatic", "power_law"])
def test_sources_have_the_optical_photons_of_their_spectrum(tmp_path: Path, spectrum: str) -> None:
    text = region(
        4,
        1.0,
        0.01,
        lower=-1.0,
        edges=(13.6, 24.59, 54.42),
        spectrum=spectrum,
        speed_ratio=0.1,
        boundary=("periodic", "periodic"),
        source=(0.1, 0.1, 0.1),
        density="1e-9",
    )
    history = run_well(tmp_path / "run", text, "hydro.moves=false", *OPTICAL).history()
    ratio = history["photons_3"][-1] / sum(history[f"photons_{g}"][-1] for g in range(3))
    if spectrum == "black_body":
        share = black_body((EDGE, 13.6)).share
        expected = share[0] / share[1]
    elif spectrum == "monochromatic":
        expected = 1.0 / 3.0
    else:
        expected = 13.6**2 - 1.0  # photons above E are proportional to E^-2
    print(ratio, expected)
    assert ratio == pytest.approx(expected, rel=1e-3)
    assert photon_residual(history).max() <= 1e-12


def test_stars_emit_optical_photons(tmp_path: Path) -> None:
    few = ("time.max_steps=3", *OPTICAL)
    outcome = run_well(tmp_path / "rate", SWARM, *SHINING, *few)
    share = black_body((EDGE, 13.6), temperature=5e4).share
    seconds = outcome.history()["time"][-1] * MEGAYEAR
    expected = RATE * MASS * STARS * seconds * (1.0 + share[0] / share[1])
    assert injected(outcome) == pytest.approx(expected, rel=1e-3)
    assert outcome.history()["ionization_absorbed_by_dust"][-1] > 0.0
    path = tmp_path / "rates.txt"
    path.write_text("0.01 0 1e46 1e45 5e46\n0.01 9 1e46 1e45 5e46\n")
    tabulated = run_well(
        tmp_path / "table",
        SWARM,
        f"ionization.star_table={path}",
        "output.history_interval=1",
        *few,
    )
    seconds = tabulated.history()["time"][-1] * MEGAYEAR
    assert injected(tabulated) == pytest.approx(6.1e46 * MASS * STARS * seconds, rel=1e-11)


REFINED = ("mesh.max_level=1", 'refine.where="x^2 + y^2 + z^2 < 0.5"', "time.max_steps=4")
DUSTY = (
    *OPTICAL,
    'problem.species={metals = "0.03 * (1 + sin(3 * x))"}',
    "ionization.dust_opacity=1e5",
)


def test_bits_depend_neither_on_ranks_nor_threads_nor_restarts(tmp_path: Path) -> None:
    overrides = (*REFINED, *DUSTY)
    one = run_well(tmp_path / "one", STIRRED, *overrides, *CHECKPOINT_EVERY_STEP)
    history = one.history()
    assert history["ionization_absorbed_by_dust"][-1] > 0.0
    assert history["photons_3"][-1] > 0.0
    assert photon_residual(history).max() <= 1e-12
    gained = history["ionization_heated"] - history["ionization_radiated"]
    budget = history["total_energy"] - gained - history["ionization_work"]
    np.testing.assert_allclose(budget, budget[0], rtol=1e-12)
    assert_same_bits(tmp_path, one, *overrides)
    assert_goes_on(tmp_path / "on", one, 2, *overrides, ranks=2)


BAD_VALUES = {
    "edge_above_the_groups": (
        ["ionization.optical_edge=13.6"],
        ["ionization.optical_edge = 13.6", "below", "ionization.edges[0] = 13.6"],
    ),
    "negative_edge": (["ionization.optical_edge=-1"], ["ionization.optical_edge", ">= 0"]),
    "opacity_without_photons": (
        ["ionization.dust_opacity=10"],
        ["ionization.dust_opacity = 10", "no effect", "ionization.optical_edge"],
    ),
    "flat_dust": (
        ["ionization.optical_edge=1", "ionization.dust_exponent=0"],
        ["ionization.dust_exponent", "> 0"],
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    overrides, words = BAD_VALUES[case]
    outcome = run(tmp_path / "run", region(4, 1.0, 0.1), *overrides)
    assert_refused(outcome, *words)
