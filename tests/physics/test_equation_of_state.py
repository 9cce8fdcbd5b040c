"""Isothermal and piecewise polytropic gas: exact solutions, order, budgets, bits and refusals."""

from pathlib import Path

import numpy as np
import pytest
from gas_setups import TUBE, assert_budgets, mean_errors, moving_gas, places_in_cells, scheme_of
from numpy.typing import NDArray
from octools.equation_of_state import Barotrope

from barotropic_riemann import BarotropicRiemann
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    assert_same_bits,
    assert_same_run,
    leaf_cells,
    octant,
    run,
    run_well,
)

ISOTHERMAL = ("hydro.equation_of_state=isothermal", "hydro.sound_speed=1")
# As in collapsing clouds: isothermal, adiabatic above the density 0.5.
BAROTROPIC = (
    "hydro.equation_of_state=barotropic",
    "hydro.sound_speed=1",
    "hydro.barotropic_densities=[0.5, 1.5]",
    "hydro.barotropic_exponents=[1, 1.4, 1.6]",
    "hydro.gamma=1.6",
)
GASES = {
    "isothermal": (ISOTHERMAL, Barotrope.of_pieces(1.0, [], [])),
    "barotropic": (BAROTROPIC, Barotrope.of_pieces(1.0, [0.5, 1.5], [1.0, 1.4, 1.6])),
}

WAVES = moving_gas(pressure="1")
# Densities and velocities on both sides, and the time of the comparison.
PROBLEMS = {
    "shock_and_rarefaction": ((1.0, 0.0), (0.125, 0.0), 0.2),
    "two_shocks": ((1.0, 1.5), (0.5, -1.5), 0.2),
    "two_rarefactions": ((1.0, -0.8), (0.7, 0.8), 0.15),
}


def tube_errors(directory: Path, gas: str, problem: str, *overrides: str) -> NDArray[np.float64]:
    """Give the means of |q - exact mean over the cell| of density and velocity in a tube."""
    parameters, barotrope = GASES[gas]
    left, right, end = PROBLEMS[problem]
    # The pressures are those of the equation of state, whatever the problem says.
    tube = TUBE.format(left=[*left, 7.0], right=[*right, 7.0], end=end)
    outcome = run_well(directory, tube, *parameters, *overrides)
    found = leaf_cells(outcome.last_snapshot)
    np.testing.assert_allclose(found["pressure"], barotrope.pressure(found["density"]), rtol=1e-13)
    exact = BarotropicRiemann(left, right, barotrope, position=0.5)
    values = exact.at(places_in_cells(found), found.time)
    return mean_errors(found, values, ("density", "velocity_x"))


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_matches_the_exact_riemann_problem(tmp_path: Path, gas: str, problem: str) -> None:
    for scheme in (("muscl_hancock", "plm"), ("rk3", "ppm")):
        overrides = scheme_of(scheme)
        error = tube_errors(tmp_path / scheme[1], gas, problem, *overrides)
        assert np.all(error <= 0.006), f"{scheme}: {error}"


def test_solvers_agree_on_plane_flows(tmp_path: Path) -> None:
    """They differ only in velocities along faces."""
    problem = "shock_and_rarefaction"
    hll, hllc, hybrid = (
        tube_errors(tmp_path / name, "barotropic", problem, f"hydro.riemann={name}")
        for name in ("hll", "hllc", "hllc_hybrid")
    )
    assert np.all(hll == hllc)
    assert np.all(hll == hybrid)


def test_inflow_has_the_pressure_of_the_equation_of_state(tmp_path: Path) -> None:
    """The waves do not reach the ends; the rest of the gas is that beyond the boundary."""
    for name, end in (("inflow", '["inflow", "inflow"]'), ("outflow", '["outflow", "outflow"]')):
        tube = TUBE.format(left=[1.0, 0.3, 7.0], right=[0.125, 0.3, 0.1], end=0.1)
        tube = tube.replace('["outflow", "outflow"]', end)
        run_well(tmp_path / name, tube, *BAROTROPIC)
    inflow, outflow = (leaf_cells(tmp_path / f"{n}/snap_00001.h5") for n in ("inflow", "outflow"))
    for name in ("density", "velocity_x", "pressure"):
        assert np.array_equal(inflow[name], outflow[name])


def test_one_dimension_has_the_bits_of_three(tmp_path: Path) -> None:
    tube = TUBE.format(left=[1.0, 0.0, 1.0], right=[0.125, 0.0, 0.1], end=0.05)
    one = run_well(tmp_path / "1", tube, *BAROTROPIC)
    three = run_well(tmp_path / "3", tube, *BAROTROPIC, "hydro.dimensions=3")
    for name in ("density", "velocity_x", "pressure"):
        assert np.array_equal(
            leaf_cells(one.last_snapshot)[name], leaf_cells(three.last_snapshot)[name]
        )


# --- sound waves ----------------------------------------------------------------------------------

AMPLITUDE = 1e-6
WAVE = f"""
[problem]
name = "sound_wave"
wave = [1, 1, 1]
amplitude = {AMPLITUDE}
sound_speed = {{sound_speed}}

[mesh]
block_size = 8

[time]
end = 0.15
"""


def wave_error(directory: Path, gas: str, cells: int, *overrides: str) -> float:
    """Give the largest mean of |q - exact mean over the cell| in units of the amplitude."""
    parameters, barotrope = GASES[gas]
    one = np.array([1.0])
    speed = float(np.sqrt(barotrope.exponent(one) * barotrope.pressure(one))[0])
    wave = WAVE.format(sound_speed=speed)
    outcome = run_well(directory, wave, f"mesh.base_cells={[cells] * 3}", *parameters, *overrides)
    found = leaf_cells(outcome.last_snapshot)
    phase = 2 * np.pi * (found.position.sum(axis=1) - np.sqrt(3.0) * speed * found.time)
    exact = AMPLITUDE * np.sinc(found.size) ** 3 * np.sin(phase)
    changes = [found["density"] - 1.0]
    changes += [found[f"velocity_{axis}"] * np.sqrt(3.0) / speed for axis in "xyz"]
    return float((np.abs(np.array(changes) - exact).mean(axis=1) / AMPLITUDE).max())


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk2", "plm"), ("rk3", "ppm")])
def test_sound_waves_converge_at_second_order(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    overrides = scheme_of(scheme)
    overrides += ("hydro.limiter=huynh",)  # keeps smooth extrema
    errors = [wave_error(tmp_path / str(n), gas, n, *overrides) for n in (16, 32)]
    assert np.log2(errors[0] / errors[1]) >= 1.9, f"errors {errors}"


# --- gravity, rotating frame ----------------------------------------------------------------------

JEANS = """
[problem]
name = "jeans"
amplitude = 1e-3

[gravity]
enabled = true
tolerance = 1e-6

[mesh]
base_cells = [32, 8, 8]
block_size = 8
upper = [1.0, 0.25, 0.25]

[hydro]
equation_of_state = "isothermal"
reconstruction = "ppm"
scheme = "rk3"
"""


@pytest.mark.parametrize("sound_speed", [1.0, 0.3])
def test_jeans_waves_oscillate_and_grow(tmp_path: Path, sound_speed: float) -> None:
    """Waves are stable below and unstable above the isothermal Jeans length."""
    square = 4 * np.pi**2 * sound_speed**2 - 4 * np.pi
    time = 0.45
    outcome = run_well(
        tmp_path / "run", JEANS, f"hydro.sound_speed={sound_speed}", f"time.end={time}"
    )
    found = leaf_cells(outcome.last_snapshot)
    amplitude = 2e3 * np.mean(found["density"] * np.cos(2 * np.pi * found.position[:, 0]))
    assert amplitude == pytest.approx(np.cos(np.emath.sqrt(square) * time).real, abs=0.03)


def test_gas_at_rest_stays_at_rest_in_a_rotating_frame(tmp_path: Path) -> None:
    sides = [f'mesh.boundary_{axis}=["outflow", "outflow"]' for axis in "xy"]
    frame = (*sides, "frame.angular_velocity=1.5", "problem.velocity=['0', '0', '0']")
    found = leaf_cells(run_well(tmp_path / "run", SHEAR, *ISOTHERMAL, *frame).last_snapshot)
    np.testing.assert_allclose(found["density"], 1.0, rtol=1e-13)
    for axis in "xyz":
        assert np.all(np.abs(found[f"velocity_{axis}"]) <= 1e-13)


# --- shear layers ---------------------------------------------------------------------------------

SHEAR = """
[problem]
name = "expression"
density = "1"
velocity = ["0", "x > 0.25 && x < 0.75 ? 1 : -1", "0"]
pressure = "1"

[mesh]
base_cells = [16, 16, 16]
block_size = 8

[time]
end = 0.2
"""


@pytest.mark.parametrize("riemann", ["hllc", "hllc_hybrid"])
def test_shear_layers_at_rest_stay(tmp_path: Path, riemann: str) -> None:
    found = leaf_cells(
        run_well(tmp_path / riemann, SHEAR, *ISOTHERMAL, f"hydro.riemann={riemann}").last_snapshot
    )
    assert np.all(np.abs(found["velocity_y"]) == 1.0)
    assert np.all(found["density"] == 1.0)


# --- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk2", "plm"), ("rk3", "ppm")])
def test_the_budget_counts_the_exchanged_energy(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    """Refinement follows the waves; mass and momentum are conserved, energy with the exchange."""
    overrides = scheme_of(scheme)
    history = run_well(tmp_path / "run", WAVES, *GASES[gas][0], *overrides).history()
    energy = history["total_energy"] - history["exchanged_energy"]
    assert np.abs(history["exchanged_energy"][-1]) > 1e-4 * energy[0]
    assert_budgets(history, energy)


def test_the_budget_of_driven_turbulence_is_closed(tmp_path: Path) -> None:
    driven = ("turbulence.acceleration=60", "sources.acceleration=['sin(2*pi*y)', '0', '0']")
    history = run_well(tmp_path / "run", SHEAR, *ISOTHERMAL, *driven, "time.max_steps=30").history()
    gains = ("exchanged_energy", "turbulence_energy", "sources_work")
    energy = history["total_energy"] - sum(history[name] for name in gains)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    assert history["exchanged_energy"][-1] < -0.1 * energy[0]


# --- bits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm")])
def test_bits_depend_neither_on_ranks_nor_threads_nor_schedule(
    tmp_path: Path, scheme: tuple[str, str]
) -> None:
    overrides = (*BAROTROPIC, *scheme_of(scheme))
    overrides += ("time.max_steps=4", "mesh.max_level=2")
    one = run_well(tmp_path / "one", WAVES, *overrides)
    assert one.history()["leaf_cells_2"][-1] > 0
    assert_same_bits(tmp_path, one, *overrides)


def test_bits_survive_a_restart(tmp_path: Path) -> None:
    overrides = (*BAROTROPIC, "time.max_steps=8", "mesh.max_level=2")
    one = run_well(tmp_path / "one", WAVES, *overrides, *CHECKPOINT_EVERY_STEP)
    checkpoint = one.directory / "checkpoint_00004.h5"
    other = run_well(tmp_path / "b", WAVES, *overrides, ranks=2, restart=checkpoint)
    assert_same_run(other, one, first_step=5)


def test_the_check_and_the_plan_name_the_equation_of_state(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(WAVES)
    overrides = [word for override in BAROTROPIC for word in ("--set", override)]
    assert "gamma = 1.6, barotropic)" in octant("check", path, *overrides).text
    assert "equation of state" in octant("run", path, "--plan", *overrides).text
    assert "equation of state" not in octant("run", path, "--plan").text


# --- refusals -------------------------------------------------------------------------------------

BAD_VALUES = {
    "no_sound_speed": (["hydro.sound_speed=0"], ["hydro.sound_speed > 0"]),
    "densities_in_disorder": (
        ["hydro.barotropic_densities=[2, 0.4]"],
        ["hydro.barotropic_densities", "2, 0.4", "increasing"],
    ),
    "equal_densities": (["hydro.barotropic_densities=[2, 2]"], ["increasing"]),
    "negative_density": (["hydro.barotropic_densities=[-1, 2]"], ["densities", "-1"]),
    "exponent_that_makes_the_sound_speed_imaginary": (
        ["hydro.barotropic_exponents=[1, -1, 1]"],
        ["hydro.barotropic_exponents", "-1", "> 0"],
    ),
    "too_few_exponents": (
        ["hydro.barotropic_exponents=[1, 1.4]"],
        ["hydro.barotropic_exponents", "expected 3", "found 2"],
    ),
    "exponent_above_gamma": (["hydro.gamma=1.5"], ["1.6", "hydro.gamma = 1.5"]),
    "exact_solver": (["hydro.riemann=exact"], ["hydro.riemann", "exact", "hllc_hybrid"]),
    "low_mach_solver": (["hydro.riemann=hllc_low_mach"], ["hllc_low_mach", '"hllc"']),
    "ppm26": (["hydro.reconstruction=ppm26", "hydro.scheme=rk2"], ["ppm26", '"ppm"']),
    "dual_energy": (["hydro.dual_energy=on"], ["hydro.dual_energy", "barotropic"]),
    "pressure_floor": (["hydro.pressure_floor=1e-9"], ["hydro.pressure_floor", "barotropic"]),
    "heating": (["heating.rate=1"], ["[heating]", "internal energy"]),
    "heat_source": (["sources.heating=1 + x"], ["[sources]", "internal energy"]),
    "cooling": (["cooling.enabled=true"], ["[cooling]", "internal energy"]),
    "stars": (["stars.enabled=true"], ["[stars]", "internal energy"]),
    "balance": (
        ["hydro.well_balanced=isothermal", "hydro.acceleration=[0, 0, -1]"],
        ["hydro.well_balanced", "barotropic"],
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    overrides, fragments = BAD_VALUES[case]
    assert_refused(run(tmp_path / "run", SHEAR, *BAROTROPIC, *overrides), *fragments)


@pytest.mark.parametrize(
    "override",
    ["hydro.sound_speed=1", "hydro.barotropic_densities=[1]", "hydro.barotropic_exponents=[1, 1]"],
)
def test_unused_parameters_are_refused(tmp_path: Path, override: str) -> None:
    name = override.split("=")[0]
    assert_refused(run(tmp_path / "run", SHEAR, override), name, "hydro.equation_of_state")
