"""Radiation in gas with other equations of state than the ideal one, and in fewer dimensions."""

from pathlib import Path

import numpy as np
import pytest
from radiation_cell import Relaxation
from radiation_setups import Array, profile, slab

from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, assert_goes_on, assert_same_run, run, run_well

GAMMA = 5 / 3
IDEAL = (f"hydro.gamma={GAMMA!r}",)
STIFFENED = (
    *IDEAL,
    "hydro.equation_of_state=stiffened",
    "hydro.stiffening_pressure=3",
)
WHITE_DWARF = (
    *IDEAL,
    "hydro.equation_of_state=white_dwarf",
    "hydro.degeneracy_pressure=1",
    "hydro.degeneracy_density=1",
)
ISOTHERMAL = (*IDEAL, "hydro.equation_of_state=isothermal", "hydro.sound_speed=0.7")
BAROTROPIC = (
    *IDEAL,
    "hydro.equation_of_state=barotropic",
    "hydro.sound_speed=0.7",
    "hydro.barotropic_densities=[1.0]",
    "hydro.barotropic_exponents=[1.0, 1.4]",
)
LOCAL = (
    *IDEAL,
    "hydro.equation_of_state=locally_isothermal",
    "hydro.sound_speed=0.7",
    "hydro.sound_speed_exponent=-0.5",
    "hydro.sound_speed_radius=1",
    "hydro.sound_speed_centre=[-4, 0, 0]",
)
GREY = (
    "radiation.planck_opacity=3",
    "radiation.rosseland_opacity=30",
    "radiation.scattering_opacity=5",
    "radiation.opacity_density_exponent=1",
    "radiation.opacity_temperature_exponent=-0.5",
)
RATIO = 0.5
REDUCED = (f"radiation.speed_ratio={RATIO}", "output.history_interval=1")
REFINED = (
    "mesh.max_level=1",
    "refine.gradient_fields=['radiation_energy']",
    "refine.gradient=[0.2]",
)


def waves(pressure: str, sides: tuple[str, str] = ("periodic", "periodic")) -> str:
    """Return the parameter file of moving gas with a hot spot of radiation."""
    return slab(
        16,
        1.0,
        0.03,
        across=(8, 8),
        density="1 + 0.8 * sin(2*pi*x) * cos(4*pi*y)",
        velocity=("sin(4*pi*y)", "cos(2*pi*x)", "0.5 * sin(2*pi*x)"),
        pressure=pressure,
        energy="0.1 + 10 * exp(-50 * ((x - 0.5)^2 + (y - 0.25)^2 + (z - 0.25)^2))",
        flux=("0.5", "0.2 * cos(2*pi*x)", "-0.1"),
        sides=sides,
        light_speed=20.0,
        constant=0.2,
    )


def momentum_error(history: dict[str, Array]) -> float:
    """Return the largest change of the momentum of gas and radiation, relative to its scale."""
    momentum = [history[f"momentum_{a}"] + history[f"radiation_momentum_{a}"] for a in "xyz"]
    changes = np.array([values - values[0] for values in momentum])
    return float(np.abs(changes).max() / history["absolute_momentum"][0])


# --- cold pressures -------------------------------------------------------------------------------

COLD_GASES = {"stiffened": STIFFENED, "white_dwarf": WHITE_DWARF}


@pytest.mark.parametrize("gas", COLD_GASES)
def test_the_thermal_part_of_the_gas_exchanges_energy(tmp_path: Path, gas: str) -> None:
    """Relaxation to one temperature, that of an ideal gas with the same thermal pressure."""
    thermal, radiation, absorption = 0.5, 10.0, 2.0
    exact = Relaxation(thermal / (GAMMA - 1.0), radiation, 1.0 / (GAMMA - 1.0), 1.0, absorption)
    # Minus p_inf, and Chandrasekhar's pressure at x = 1 with A = B = 1.
    cold = -0.3 if gas == "stiffened" else float(3.0 * np.arcsinh(1.0) - np.sqrt(2.0))
    weaker = ("hydro.stiffening_pressure=0.3",) if gas == "stiffened" else ()
    text = slab(4, 0.05, 0.3, pressure=repr(thermal + cold), energy=str(radiation))
    opacity = (
        f"radiation.planck_opacity={absorption}",
        f"radiation.rosseland_opacity={absorption}",
    )
    outcome = run_well(tmp_path / "run", text, *COLD_GASES[gas], *weaker, *opacity)
    found = profile(outcome.last_snapshot)
    energy = float(exact.at(np.array([0.3]))[0][0])
    heat = float((found["pressure"][0] - cold) / (GAMMA - 1.0))
    assert heat == pytest.approx(energy, rel=0.02)
    assert heat > 3.0 * thermal
    history = outcome.history()
    total = history["total_energy"] + history["radiation_energy"]
    np.testing.assert_allclose(total, total[0], rtol=1e-13)


@pytest.mark.parametrize("dual_energy", ["off", "on"])
@pytest.mark.parametrize("gas", COLD_GASES)
def test_gas_with_a_cold_pressure_and_radiation_conserve_energy_and_momentum(
    tmp_path: Path, gas: str, dual_energy: str
) -> None:
    overrides = (*COLD_GASES[gas], *GREY, *REDUCED, *REFINED, f"hydro.dual_energy={dual_energy}")
    text = waves("6")
    one = run_well(tmp_path / "one", text, *overrides, *CHECKPOINT_EVERY_STEP)
    history = one.history()
    assert history["leaf_cells_1"].max() > 0
    energy = history["total_energy"] + history["radiation_energy"] / RATIO
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    assert np.ptp(history["radiation_energy"]) > 0.01 * history["radiation_energy"][0]
    assert momentum_error(history) <= 1e-13
    assert history["floored_cells"][-1] == 0
    assert_same_run(run_well(tmp_path / "three", text, *overrides, ranks=3), one)
    assert_goes_on(tmp_path / "on", one, 2, *overrides, ranks=2)


# --- temperatures that follow from the density ----------------------------------------------------


def test_isothermal_gas_keeps_radiation_at_its_temperature(tmp_path: Path) -> None:
    """E = a T^4 + (E_0 - a T^4) exp(-c kappa rho t), from above and below."""
    for name, energy in (("above", 10.0), ("below", 1e-6)):
        text = slab(4, 0.02, 0.4, energy=str(energy))
        outcome = run_well(tmp_path / name, text, *ISOTHERMAL, "radiation.planck_opacity=2")
        found = float(profile(outcome.last_snapshot)["radiation_energy"][0])
        emission = 0.49**4
        exact = emission + (energy - emission) * np.exp(-0.8)
        assert found - emission == pytest.approx(exact - emission, rel=0.01)


@pytest.mark.parametrize("gas", [ISOTHERMAL, BAROTROPIC])
def test_the_heat_of_barotropic_gas_is_in_the_budget(tmp_path: Path, gas: tuple[str, ...]) -> None:
    """The energy that gas exchanges with its surroundings is a column of history.csv."""
    overrides = (*gas, *GREY, *REDUCED, *REFINED)
    one = run_well(tmp_path / "one", waves("1"), *overrides, *CHECKPOINT_EVERY_STEP)
    history = one.history()
    assert history["leaf_cells_1"].max() > 0
    energy = history["total_energy"] + history["radiation_energy"] / RATIO
    budget = energy - history["exchanged_energy"]
    np.testing.assert_allclose(budget, budget[0], rtol=1e-12)
    assert np.ptp(energy) > 0.05 * energy[0]
    assert momentum_error(history) <= 1e-13
    assert_same_run(run_well(tmp_path / "three", waves("1"), *overrides, ranks=3), one)
    assert_goes_on(tmp_path / "on", one, 2, *overrides, ranks=2)


def test_locally_isothermal_gas_takes_the_momentum_of_radiation(tmp_path: Path) -> None:
    force = ("radiation.rosseland_opacity=30", "radiation.scattering_opacity=5")
    text = waves("1", ("reflecting", "reflecting"))
    sides = [f'mesh.boundary_{axis}=["reflecting","reflecting"]' for axis in "yz"]
    outcome = run_well(tmp_path / "run", text, *LOCAL, *force, *sides, *REDUCED)
    history = outcome.history()
    assert history["radiation_energy"][-1] > 0.0
    refused = run(tmp_path / "heat", text, *LOCAL, *GREY, *sides)
    assert_refused(refused, "radiation.enabled", "locally_isothermal", "radiation.planck_opacity")


def test_gas_with_radiation_in_equilibrium_is_refused(tmp_path: Path) -> None:
    gas = ("hydro.equation_of_state=gas_radiation", "hydro.radiation_constant=1", *IDEAL)
    refused = run(tmp_path / "run", waves("1"), *gas)
    assert_refused(refused, "radiation.enabled", "gas_radiation", "radiation already")


def test_the_cubic_heat_capacity_is_that_of_ideal_gas_only(tmp_path: Path) -> None:
    cubic = ("radiation.cubic_heat_capacity=1", "hydro.moves=false")
    refused = run(tmp_path / "run", waves("1"), *ISOTHERMAL, *cubic)
    assert_refused(refused, "radiation.cubic_heat_capacity", "isothermal")


# --- fewer dimensions -----------------------------------------------------------------------------

PLANES = {
    1: slab(
        16,
        1.0,
        0.02,
        density="1 + 0.5 * sin(2*pi*x)",
        velocity=("0.4", "0.2 * sin(2*pi*x)", "-0.3"),
        energy="1 + 5 * exp(-40 * (x - 0.5)^2)",
        flux=("0.5", "0.3", "-0.1"),
        light_speed=20.0,
        constant=0.2,
    ),
    2: slab(
        16,
        1.0,
        0.02,
        across=(16, 4),
        density="1 + 0.5 * sin(2*pi*x) * cos(2*pi*y)",
        velocity=("0.4", "0.2 * sin(2*pi*x)", "-0.3"),
        energy="1 + 5 * exp(-40 * ((x - 0.5)^2 + (y - 0.5)^2))",
        flux=("0.5", "0.3", "-0.1"),
        light_speed=20.0,
        constant=0.2,
    ),
}


@pytest.mark.parametrize("dimensions", PLANES)
def test_fewer_dimensions_give_the_same_bits(tmp_path: Path, dimensions: int) -> None:
    text = PLANES[dimensions]
    whole = run_well(tmp_path / "whole", text, *GREY, *REDUCED)
    fewer = f"hydro.dimensions={dimensions}"
    for ranks in (1, 2):
        run_of_fewer = run_well(tmp_path / str(ranks), text, *GREY, *REDUCED, fewer, ranks=ranks)
        assert_same_run(run_of_fewer, whole)


def test_radiation_that_varies_across_is_refused(tmp_path: Path) -> None:
    text = slab(8, 1.0, 0.1, energy="1 + 0.1 * (z > 0.25)")
    for dimensions in (1, 2):
        outcome = run(tmp_path / str(dimensions), text, f"hydro.dimensions={dimensions}")
        assert_refused(outcome, f"hydro.dimensions = {dimensions}", "differs from that")
