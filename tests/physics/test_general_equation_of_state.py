"""White-dwarf matter and stiffened gas: exact solutions, order, budgets, bits and refusals."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from gas_setups import (
    CONTACT,
    PRIMITIVES,
    PROBLEMS,
    SCHEMES,
    TUBE,
    assert_budgets,
    assert_contacts_at_rest,
    mean_errors,
    moving_gas,
    places_in_cells,
    scheme_of,
    sound_wave,
    sound_wave_error,
)
from numpy.typing import NDArray
from octools.equation_of_state import ColdCurve
from octools.exact import Riemann

from cold_riemann import ColdRiemann, Gas
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

WHITE_DWARF = (
    "hydro.equation_of_state=white_dwarf",
    "hydro.degeneracy_pressure=1",
    "hydro.degeneracy_density=1",
    "hydro.gamma=5/3",
)
STIFFENED = (
    "hydro.equation_of_state=stiffened",
    "hydro.stiffening_pressure=3",
    "hydro.gamma=1.6",
)
GASES = {
    "white_dwarf": (WHITE_DWARF, Gas(ColdCurve(1.0, 1.0), 5 / 3)),
    "stiffened": (STIFFENED, Gas(ColdCurve(3.0), 1.6)),
}
WAVES = moving_gas(pressure="6")


# --- Riemann problems -----------------------------------------------------------------------------


def tube_errors(directory: Path, gas: str, problem: str, *overrides: str) -> NDArray[np.float64]:
    """Give the means of |q - exact mean over the cell| of density, velocity and pressure.

    The comparison is at half of the time for stiffened gas, which has negative pressures between
    two rarefactions. The thermal pressure of the white dwarf is a part of the pressure.
    """
    parameters, matter = GASES[gas]
    left, right, end = PROBLEMS[problem]
    tube = TUBE.format(left=left, right=right, end=end / 2 if gas == "stiffened" else end)
    found = leaf_cells(run_well(directory, tube, *parameters, *overrides).last_snapshot)
    exact = ColdRiemann(tuple(left), tuple(right), matter, position=0.5)
    return mean_errors(found, exact.at(places_in_cells(found), found.time), PRIMITIVES)


def test_the_exact_solution_of_stiffened_gas_is_that_of_a_shifted_ideal_gas() -> None:
    x = np.linspace(0.0, 1.0, 500)
    for left, right, time in PROBLEMS.values():
        shifted = [(rho, u, p + 3.0) for rho, u, p in (left, right)]
        ideal = Riemann(*shifted, gamma=1.6, position=0.5).at(x, time)
        cold = ColdRiemann(tuple(left), tuple(right), GASES["stiffened"][1], 0.5).at(x, time)
        for name, offset, a, b in zip("rup", (0.0, 0.0, 3.0), ideal, cold, strict=True):
            assert np.mean(np.abs(a - offset - b)) <= 1e-4, name


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_matches_the_exact_riemann_problem(tmp_path: Path, gas: str, problem: str) -> None:
    for scheme in (("muscl_hancock", "plm"), ("rk3", "ppm")):
        error = tube_errors(tmp_path / scheme[1], gas, problem, *scheme_of(scheme))
        print(gas, problem, scheme, error)
        assert np.all(error <= [0.007, 0.007, 0.02]), f"{scheme}: {error}"


@pytest.mark.parametrize("riemann", ["llf", "hll", "hllc", "hllc_low_mach"])
def test_all_solvers_converge_to_the_exact_solution(tmp_path: Path, riemann: str) -> None:
    for gas in GASES:
        error = tube_errors(
            tmp_path / gas, gas, "shock_and_rarefaction", f"hydro.riemann={riemann}"
        )
        print(gas, riemann, error)
        assert np.all(error <= [0.012, 0.012, 0.03]), f"{gas}: {error}"


def test_one_dimension_has_the_bits_of_three(tmp_path: Path) -> None:
    tube = TUBE.format(left=[1.0, 0.0, 3.0], right=[0.125, 0.0, 0.2], end=0.03)
    one = run_well(tmp_path / "1", tube, *WHITE_DWARF)
    three = run_well(tmp_path / "3", tube, *WHITE_DWARF, "hydro.dimensions=3")
    for name in ("density", "velocity_x", "pressure"):
        assert np.array_equal(
            leaf_cells(one.last_snapshot)[name], leaf_cells(three.last_snapshot)[name]
        )


# --- cold gas -------------------------------------------------------------------------------------


def test_cold_gas_expands_with_the_cold_pressure(tmp_path: Path) -> None:
    """With dual energy, almost cold matter follows its isentrope in rarefactions."""
    cold = GASES["white_dwarf"][1].cold
    pressures = cold.pressure(np.array([1.0, 0.7])) * (1 + 1e-6)
    left, right = [1.0, -0.8, float(pressures[0])], [0.7, 0.8, float(pressures[1])]
    tube = TUBE.format(left=left, right=right, end=0.12)
    outcome = run_well(tmp_path / "run", tube, *WHITE_DWARF, "hydro.dual_energy=on")
    found = leaf_cells(outcome.last_snapshot)
    # The initial discontinuity heats a few cells, which stay in the middle.
    heat = found["pressure"] / cold.pressure(found["density"]) - 1
    assert np.all(np.abs(heat) <= 0.1)
    assert np.mean(heat > 0.001) <= 0.1
    gas = GASES["white_dwarf"][1]
    exact = ColdRiemann(tuple(left), tuple(right), gas, 0.5).at(found.position[:, 0], found.time)
    errors = [
        np.mean(np.abs(found[name] - value))
        for name, value in zip(("density", "velocity_x"), exact, strict=False)
    ]
    print(errors, np.mean(heat > 0.001), heat.max())
    assert max(errors) <= 0.005, errors
    assert outcome.history()["floored_cells"][-1] == 0


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_contacts_at_rest_stay(tmp_path: Path, gas: str, scheme: tuple[str, str]) -> None:
    contact = CONTACT.format(pressure=3.0, velocity=0)
    parameters = (*GASES[gas][0], *scheme_of(scheme))
    outcome = run_well(tmp_path / "run", contact, *parameters, "hydro.riemann=hllc")
    assert_contacts_at_rest(leaf_cells(outcome.last_snapshot), 3.0, 1e-12)


def test_low_pressures_are_those_of_cold_gas_and_temperatures_add_to_them(tmp_path: Path) -> None:
    cold = GASES["white_dwarf"][1].cold
    units = ("units.length=1 km", "units.density=1 g/cm^3", "units.time=1 s", "time.max_steps=0")
    per_kelvin = 1.380649e-16 / 1.67262192369e-24 / 1e10  # p / rho in code units
    for name, temperature in (("pressure", 0.0), ("temperature", 1e3)):
        contact = CONTACT.format(pressure="1e-9", velocity=0)
        if temperature > 0:
            contact = contact.replace('pressure = "1e-9"', f'temperature = "{temperature}"')
        found = leaf_cells(run_well(tmp_path / name, contact, *WHITE_DWARF, *units).last_snapshot)
        thermal = found["pressure"] - cold.pressure(found["density"])
        expected = found["density"] * temperature * per_kelvin
        np.testing.assert_allclose(thermal, expected, rtol=1e-6, atol=1e-12)


# --- sound waves ----------------------------------------------------------------------------------


def wave_error(directory: Path, gas: str, cells: int, *overrides: str) -> float:
    """Give the largest mean error of density and velocities in units of the amplitude."""
    parameters, matter = GASES[gas]
    pressure = 2.0
    entropy = matter.entropy(1.0, pressure)
    speed = float(matter.sound_speed(np.array([1.0]), entropy)[0])
    wave = sound_wave(pressure, speed**2, speed, end=0.1)
    outcome = run_well(directory, wave, f"mesh.base_cells={[cells] * 3}", *parameters, *overrides)
    return sound_wave_error(leaf_cells(outcome.last_snapshot), pressure, speed**2, speed)


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sound_waves_converge_at_second_order(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    overrides = (*scheme_of(scheme), "hydro.limiter=huynh")  # keeps smooth extrema
    errors = [wave_error(tmp_path / str(n), gas, n, *overrides) for n in (16, 32)]
    print(gas, scheme, errors, np.log2(errors[0] / errors[1]))
    assert np.log2(errors[0] / errors[1]) >= 1.9, f"errors {errors}"


# --- budgets and bits -----------------------------------------------------------------------------


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_mass_momentum_and_energy_are_conserved(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    history = run_well(tmp_path / "run", WAVES, *GASES[gas][0], *scheme_of(scheme)).history()
    assert_budgets(history, history["total_energy"])


@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm")])
def test_bits_depend_neither_on_ranks_nor_threads_nor_schedule(
    tmp_path: Path, scheme: tuple[str, str]
) -> None:
    overrides = (*WHITE_DWARF, *scheme_of(scheme), "time.max_steps=4", "mesh.max_level=2")
    overrides += ("hydro.dual_energy=on",)
    one = run_well(tmp_path / "one", WAVES, *overrides)
    assert one.history()["leaf_cells_2"][-1] > 0
    assert_same_bits(tmp_path, one, *overrides)


def test_bits_survive_a_restart(tmp_path: Path) -> None:
    overrides = (*WHITE_DWARF, "time.max_steps=8", "mesh.max_level=2")
    one = run_well(tmp_path / "one", WAVES, *overrides, *CHECKPOINT_EVERY_STEP)
    checkpoint = one.directory / "checkpoint_00004.h5"
    other = run_well(tmp_path / "b", WAVES, *overrides, ranks=2, restart=checkpoint)
    assert_same_run(other, one, first_step=5)


def test_heating_raises_the_thermal_energy(tmp_path: Path) -> None:
    heated = (*WHITE_DWARF, "heating.rate=0.5", "mesh.max_level=0", "time.end=0.05")
    history = run_well(tmp_path / "run", WAVES, *heated).history()
    gain = history["total_energy"] - history["total_energy"][0]
    np.testing.assert_allclose(gain, 0.5 * history["mass"][0] * history["time"], rtol=1e-9)


def test_files_and_the_check_name_the_equation_of_state(tmp_path: Path) -> None:
    units = ("units.length=1 km", "units.density=1e6 g/cm^3", "units.time=1 s")
    parameters = ("hydro.equation_of_state=white_dwarf", "hydro.electron_weight=2.1")
    words = ("problem.pressure='1e9'", "time.max_steps=0", "mesh.max_level=0")
    outcome = run_well(tmp_path / "run", WAVES, *parameters, *units, *words)
    with h5py.File(outcome.last_snapshot) as file:
        attributes = dict(file["header"].attrs)
    assert attributes["degeneracy_density"] == pytest.approx(2.1 * 0.981011, rel=1e-14)
    assert attributes["degeneracy_pressure"] == pytest.approx(6.0023e22 / 1e16, rel=1e-14)
    path = tmp_path / "check.toml"
    path.write_text(WAVES)
    overrides = [word for override in WHITE_DWARF for word in ("--set", override)]
    assert ", white_dwarf)" in octant("check", path, *overrides).text


# --- refusals -------------------------------------------------------------------------------------

BAD_VALUES = {
    "negative_constant": (WHITE_DWARF, ["hydro.degeneracy_pressure=-1"], ["-1"]),
    "no_units": (WHITE_DWARF[:1], [], ["units.length", "white_dwarf"]),
    "one_constant": (WHITE_DWARF[:2], [], ["hydro.degeneracy_density"]),
    "weight_and_constant": (
        WHITE_DWARF,
        ["hydro.electron_weight=2.1"],
        ["hydro.electron_weight = 2.1", "hydro.degeneracy_density"],
    ),
    "no_stiffness": (STIFFENED[:1], [], ["hydro.stiffening_pressure > 0"]),
    "exact_solver": (WHITE_DWARF, ["hydro.riemann=exact"], ["hydro.riemann", "exact", '"hllc"']),
    "ppm26": (STIFFENED, ["hydro.reconstruction=ppm26", "hydro.scheme=rk2"], ["ppm26", '"ppm"']),
    "steepening": (
        WHITE_DWARF,
        ["hydro.contact_steepening=true"],
        ["hydro.contact_steepening", "white_dwarf"],
    ),
    "balance": (
        STIFFENED,
        ["hydro.well_balanced=isothermal", "hydro.acceleration=[0, 0, -1]"],
        ["hydro.well_balanced", "stiffened"],
    ),
    "cooling": (WHITE_DWARF, ["cooling.enabled=true"], ["[cooling]", "internal energy"]),
    "stars": (STIFFENED, ["stars.enabled=true"], ["[stars]", "internal energy"]),
    "jeans": (
        STIFFENED,
        ["gravity.enabled=true", "refine.jeans=4"],
        ["refine.jeans", "stiffened"],
    ),
    "sound_speed": (WHITE_DWARF, ["hydro.sound_speed=1"], ["hydro.sound_speed", "isothermal"]),
    "unused_weight": ((), ["hydro.electron_weight=1"], ["hydro.electron_weight", "white_dwarf"]),
    "unused_density": ((), ["hydro.degeneracy_density=1"], ["white_dwarf"]),
    "unused_pressure": ((), ["hydro.stiffening_pressure=1"], ["stiffened"]),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    parameters, overrides, fragments = BAD_VALUES[case]
    assert_refused(run(tmp_path / "run", WAVES, *parameters, *overrides), *fragments)
