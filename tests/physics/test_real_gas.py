"""Gas with radiation and tabulated gas: exact solutions, order, budgets, bits and refusals."""

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

from real_gases import (
    GasAndRadiation,
    RealGas,
    RealRiemann,
    VanDerWaals,
    slopes,
    temperature_at,
    write_table,
)
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

GAMMA = 5 / 3
UNITS = ("units.length=1 km", "units.density=1 g/cm^3", "units.time=1 s")
TABLE_UNITS = (1.0, 1e5)  # of density and velocity, in cgs
# Gas, and for tables the ranges of density and temperature.
RADIATION, STRONG_REPULSION = GasAndRadiation(GAMMA, 1.0), VanDerWaals(1.4, 0.2, 0.05, 4.0)
GASES: dict[str, tuple[RealGas, tuple[float, float], tuple[float, float]]] = {
    "radiation": (RADIATION, (), ()),
    "table_of_radiation": (RADIATION, (1e-3, 1e2), (1e-2, 1e2)),
    "van_der_waals": (STRONG_REPULSION, (1e-2, 10.0), (1.5, 1e3)),
}
WAVES = moving_gas(pressure="12")


def table_of(directory: Path, name: str, **changes: NDArray[np.float64] | None) -> Path:
    """Write the table of a gas, with 20 nodes per decade."""
    gas, densities, temperatures = GASES[name]

    def axis(least: float, largest: float) -> NDArray[np.float64]:
        return np.geomspace(least, largest, round(20 * np.log10(largest / least)) + 1)

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.h5"
    return write_table(path, gas, axis(*densities), axis(*temperatures), TABLE_UNITS, **changes)


def parameters_of(directory: Path, name: str) -> tuple[str, ...]:
    """Give the parameters of a gas, and write its table."""
    gas = GASES[name][0]
    if name == "radiation":
        return (
            "hydro.equation_of_state=gas_radiation",
            "hydro.radiation_constant=1",
            f"hydro.gamma={gas.gamma}",
        )
    path = table_of(directory, name)
    return ("hydro.equation_of_state=table", f"hydro.eos_table={path}", *UNITS)


# --- Riemann problems -----------------------------------------------------------------------------

HOT_FACTOR = 9.0  # of pressures and squared velocities, for gas whose table begins at high ones


def problem_of(gas: str, problem: str) -> tuple[list[float], list[float], float]:
    """Give the states of a problem and its time."""
    left, right, end = PROBLEMS[problem]
    if gas != "van_der_waals":
        return left, right, end
    scaled = [[4 * rho, u * 3, p * 4 * HOT_FACTOR] for rho, u, p in (left, right)]
    return scaled[0], scaled[1], end / 3


def tube_errors(directory: Path, gas: str, problem: str, *overrides: str) -> NDArray[np.float64]:
    """Give the means of |q - exact mean over the cell|, relative to the largest values."""
    left, right, end = problem_of(gas, problem)
    tube = TUBE.format(left=left, right=right, end=end)
    parameters = parameters_of(directory, gas)
    found = leaf_cells(run_well(directory / "run", tube, *parameters, *overrides).last_snapshot)
    exact = RealRiemann(tuple(left), tuple(right), GASES[gas][0], position=0.5)
    values = exact.at(places_in_cells(found), found.time)
    largest = np.array([np.abs(value).max() for value in values])
    return mean_errors(found, values, PRIMITIVES) / largest


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_matches_the_exact_riemann_problem(tmp_path: Path, gas: str, problem: str) -> None:
    for scheme in (("muscl_hancock", "plm"), ("rk3", "ppm")):
        error = tube_errors(tmp_path / scheme[1], gas, problem, *scheme_of(scheme))
        print(gas, problem, scheme, error)
        assert np.all(error <= 0.006), f"{scheme}: {error}"


@pytest.mark.parametrize("riemann", ["llf", "hll", "hllc", "hllc_low_mach"])
def test_all_solvers_converge_to_the_exact_solution(tmp_path: Path, riemann: str) -> None:
    for gas in GASES:
        error = tube_errors(
            tmp_path / gas, gas, "shock_and_rarefaction", f"hydro.riemann={riemann}"
        )
        print(gas, riemann, error)
        assert np.all(error <= 0.008), f"{gas}: {error}"


def test_table_of_an_ideal_gas_gives_its_flow(tmp_path: Path) -> None:
    gas, axis = VanDerWaals(1.4), np.geomspace(1e-4, 1e4, 81)
    path = write_table(tmp_path / "ideal.h5", gas, axis, axis, TABLE_UNITS)
    table = ("hydro.equation_of_state=table", f"hydro.eos_table={path}", *UNITS)
    left, right, end = PROBLEMS["shock_and_rarefaction"]
    tube = TUBE.format(left=left, right=right, end=end)
    for scheme in SCHEMES:
        overrides = scheme_of(scheme)
        directory = tmp_path / "_".join(scheme)
        found = leaf_cells(run_well(directory / "t", tube, *table, *overrides).last_snapshot)
        ideal = leaf_cells(run_well(directory / "i", tube, *overrides).last_snapshot)
        for name in ("density", "velocity_x", "pressure"):
            np.testing.assert_allclose(found[name], ideal[name], rtol=1e-10, atol=1e-10)


def test_table_and_closed_form_agree(tmp_path: Path) -> None:
    left, right, end = PROBLEMS["shock_and_rarefaction"]
    tube = TUBE.format(left=left, right=right, end=end)
    closed, table = (
        leaf_cells(
            run_well(
                tmp_path / gas, tube, *parameters_of(tmp_path, gas), "hydro.gamma=5/3"
            ).last_snapshot
        )
        for gas in ("radiation", "table_of_radiation")
    )
    for name in ("density", "velocity_x", "pressure"):
        difference = np.abs(table[name] - closed[name])
        print(name, difference.mean(), difference.max())
        assert difference.mean() <= 5e-5
    one = leaf_cells(
        run_well(
            tmp_path / "3", tube, *parameters_of(tmp_path, "radiation"), "hydro.dimensions=3"
        ).last_snapshot
    )
    assert np.array_equal(one["pressure"], closed["pressure"])


# --- uniform pressure -----------------------------------------------------------------------------


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_contacts_at_rest_stay(tmp_path: Path, gas: str, scheme: tuple[str, str]) -> None:
    contact = CONTACT.format(pressure=20.0, velocity=0)
    parameters = (*parameters_of(tmp_path, gas), *scheme_of(scheme))
    outcome = run_well(tmp_path / "run", contact, *parameters, "hydro.riemann=hllc")
    assert_contacts_at_rest(leaf_cells(outcome.last_snapshot), 20.0, 1e-11)


@pytest.mark.parametrize("gas", GASES)
def test_uniform_gas_moves_uniformly(tmp_path: Path, gas: str) -> None:
    flow = CONTACT.format(pressure=20.0, velocity=1).replace("x > 0.3 && x < 0.7 ? 1.5 : 0.1", "1")
    outcome = run_well(tmp_path / "run", flow, *parameters_of(tmp_path, gas))
    found = leaf_cells(outcome.last_snapshot)
    for name, value in (("density", 1.0), ("pressure", 20.0), ("velocity_x", 1.0)):
        np.testing.assert_allclose(found[name], value, rtol=1e-12)


# --- sound waves ----------------------------------------------------------------------------------


def wave_error(
    directory: Path, gas: str, cells: int, *overrides: str, gravity: float = 0.0
) -> float:
    """Give the largest mean error of density and velocities in units of the amplitude.

    Gravity reduces the squared frequency by the fraction `gravity` (Jeans 1902).
    """
    pressure, matter = 20.0, GASES[gas][0]
    temperature = temperature_at(matter, np.array(1.0), np.array(pressure))
    square = float(slopes(matter, np.array(1.0), temperature)[0])  # of the sound speed
    speed = np.sqrt((1 - gravity) * square)  # of the phase
    wave = sound_wave(pressure, square, speed, end=0.05)
    parameters = [f"mesh.base_cells={[cells] * 3}", *parameters_of(directory, gas)]
    if gravity > 0:
        constant = gravity * 3 * np.pi * square  # 4 pi G rho / k^2 = gravity c^2
        parameters += ["gravity.enabled=true", f"gravity.constant={constant}"]
    found = leaf_cells(run_well(directory / "run", wave, *parameters, *overrides).last_snapshot)
    return sound_wave_error(found, pressure, square, speed)


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sound_waves_converge_at_second_order(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    overrides = (*scheme_of(scheme), "hydro.limiter=huynh")  # keeps smooth extrema
    errors = [wave_error(tmp_path / str(n), gas, n, *overrides) for n in (16, 32)]
    print(gas, scheme, errors, np.log2(errors[0] / errors[1]))
    assert np.log2(errors[0] / errors[1]) >= 1.9, f"errors {errors}"


@pytest.mark.parametrize("gas", GASES)
def test_self_gravity_slows_sound_waves(tmp_path: Path, gas: str) -> None:
    overrides = ("hydro.reconstruction=ppm", "hydro.limiter=huynh")
    errors = [wave_error(tmp_path / str(n), gas, n, *overrides, gravity=0.4) for n in (16, 32)]
    print(gas, errors, np.log2(errors[0] / errors[1]))
    assert np.log2(errors[0] / errors[1]) >= 1.8, f"errors {errors}"


# --- budgets and bits -----------------------------------------------------------------------------


@pytest.mark.parametrize("gas", GASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_mass_momentum_and_energy_are_conserved(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    parameters = (*parameters_of(tmp_path, gas), *scheme_of(scheme))
    history = run_well(tmp_path / "run", WAVES, *parameters).history()
    assert_budgets(history, history["total_energy"])
    if gas != "radiation":
        assert np.all(history["cells_outside_table"] == 0)


@pytest.mark.parametrize("gas", ["radiation", "van_der_waals"])
@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm")])
def test_bits_depend_neither_on_ranks_nor_threads_nor_schedule(
    tmp_path: Path, gas: str, scheme: tuple[str, str]
) -> None:
    overrides = (*parameters_of(tmp_path, gas), *scheme_of(scheme), "time.max_steps=4")
    overrides += ("mesh.max_level=2",)
    one = run_well(tmp_path / "one", WAVES, *overrides)
    assert one.history()["leaf_cells_2"][-1] > 0
    assert_same_bits(tmp_path, one, *overrides)


def test_a_restart_with_another_table_is_refused(tmp_path: Path) -> None:
    overrides = (*parameters_of(tmp_path, "van_der_waals"), "time.max_steps=2")
    one = run_well(tmp_path / "one", WAVES, *overrides, *CHECKPOINT_EVERY_STEP)
    (table,) = tmp_path.glob("*.h5")
    with h5py.File(table, "a") as file:
        file.attrs["comment"] = "another table"
    checkpoint = one.directory / "checkpoint_00001.h5"
    outcome = run(tmp_path / "b", WAVES, *overrides, restart=checkpoint)
    assert_refused(outcome, "hydro.eos_table", "have changed")


@pytest.mark.parametrize("gas", ["radiation", "van_der_waals"])
def test_bits_survive_a_restart(tmp_path: Path, gas: str) -> None:
    overrides = (*parameters_of(tmp_path, gas), "time.max_steps=8", "mesh.max_level=2")
    one = run_well(tmp_path / "one", WAVES, *overrides, *CHECKPOINT_EVERY_STEP)
    checkpoint = one.directory / "checkpoint_00004.h5"
    other = run_well(tmp_path / "b", WAVES, *overrides, ranks=2, restart=checkpoint)
    assert_same_run(other, one, first_step=5)


@pytest.mark.parametrize("gas", GASES)
def test_heating_raises_the_internal_energy(tmp_path: Path, gas: str) -> None:
    heated = (*parameters_of(tmp_path, gas), "heating.rate=0.5", "mesh.max_level=0")
    history = run_well(tmp_path / "run", WAVES, *heated, "time.end=0.05").history()
    gain = history["total_energy"] - history["total_energy"][0]
    np.testing.assert_allclose(gain, 0.5 * history["mass"][0] * history["time"], rtol=1e-9)


# --- temperatures and files -----------------------------------------------------------------------


def test_temperatures_give_gas_and_radiation_pressure(tmp_path: Path) -> None:
    parameters = (
        "hydro.equation_of_state=gas_radiation",
        "hydro.molecular_weight=0.7",
        "hydro.gamma=5/3",
        "units.length=1e9 cm",
        "units.density=1e-3 g/cm^3",
        "units.time=1 s",
        "time.max_steps=0",
    )
    hot = CONTACT.format(pressure=1, velocity=0).replace(
        'pressure = "1"', 'temperature = "1e7 / 0.7"'
    )
    found = leaf_cells(run_well(tmp_path / "run", hot, *parameters).last_snapshot)
    density = found["density"] * 1e-3
    gas = density * 1.380649e-16 * 1e7 / (0.7 * 1.67262192369e-24)
    radiation = 7.565733250e-15 * 1e28 / 3
    assert np.min(gas) < radiation
    np.testing.assert_allclose(found["pressure"] * 1e-3 * 1e18, gas + radiation, rtol=1e-9)


def test_the_check_names_the_equation_of_state(tmp_path: Path) -> None:
    path = tmp_path / "check.toml"
    path.write_text(WAVES)
    for gas, word in (("radiation", "gas_radiation"), ("van_der_waals", "table")):
        parameters = parameters_of(tmp_path, gas)
        overrides = [part for override in parameters for part in ("--set", override)]
        assert f", {word})" in octant("check", path, *overrides).text


# --- outside the table ----------------------------------------------------------------------------


def test_initial_states_outside_the_table_are_refused(tmp_path: Path) -> None:
    parameters = (*parameters_of(tmp_path, "table_of_radiation"), "mesh.max_level=0")
    for change in ("problem.density='1e-4'", "problem.density='1e3'", "problem.pressure='1e9'"):
        outcome = run(tmp_path / "run", WAVES, *parameters, change, overwrite=True)
        assert_refused(outcome, "hydro.eos_table", "4096 cells of the initial state are outside")
    cold = run(tmp_path / "cold", WAVES, *parameters, "problem.pressure='1e-9'")
    assert_refused(cold, "hydro.eos_table", "4096 cells of the initial state are outside")


def test_cells_that_leave_the_table_are_counted(tmp_path: Path) -> None:
    parameters = (*parameters_of(tmp_path, "table_of_radiation"), "mesh.max_level=0")
    blast = WAVES.replace('density = "1 +', 'density = "98 +').replace("12", "100")
    outcome = run_well(tmp_path / "run", blast, *parameters, "time.max_steps=60")
    outside = outcome.history()["cells_outside_table"]
    assert outside[0] == 0
    assert outside.max() > 0
    assert outcome.text.count("are outside hydro.eos_table") >= 1
    total = outcome.history()["total_energy"]
    np.testing.assert_allclose(total, total[0], rtol=1e-12)


# --- refusals -------------------------------------------------------------------------------------

RADIATION_GAS = ("hydro.equation_of_state=gas_radiation", "hydro.radiation_constant=1")
BAD_VALUES = {
    "negative_constant": (RADIATION_GAS[:1], ["hydro.radiation_constant=-1"], ["-1"]),
    "no_units": (RADIATION_GAS[:1], [], ["units.length", "gas_radiation"]),
    "weight_and_constant": (
        RADIATION_GAS,
        ["hydro.molecular_weight=0.7"],
        ["hydro.molecular_weight = 0.7", "hydro.radiation_constant"],
    ),
    "dual_energy": (RADIATION_GAS, ["hydro.dual_energy=on"], ["hydro.dual_energy", "gas_rad"]),
    "exact_solver": (RADIATION_GAS, ["hydro.riemann=exact"], ["hydro.riemann", '"hllc"']),
    "ppm26": (
        RADIATION_GAS,
        ["hydro.reconstruction=ppm26", "hydro.scheme=rk2"],
        ["ppm26", '"ppm"'],
    ),
    "steepening": (
        RADIATION_GAS,
        ["hydro.contact_steepening=true"],
        ["hydro.contact_steepening", "gas_radiation"],
    ),
    "balance": (
        RADIATION_GAS,
        ["hydro.well_balanced=isothermal", "hydro.acceleration=[0, 0, -1]"],
        ["hydro.well_balanced", "gas_radiation"],
    ),
    "cooling": (RADIATION_GAS, ["cooling.enabled=true"], ["[cooling]", "internal energy"]),
    "stars": (RADIATION_GAS, ["stars.enabled=true"], ["[stars]", "internal energy"]),
    "no_table": (("hydro.equation_of_state=table",), list(UNITS), ["hydro.eos_table"]),
    "unused_weight": ((), ["hydro.molecular_weight=1"], ["hydro.molecular_weight", "radiation"]),
    "unused_constant": ((), ["hydro.radiation_constant=1"], ["gas_radiation"]),
    "unused_table": ((), ["hydro.eos_table=a.h5"], ["hydro.eos_table", '"table"']),
    "unused_tolerance": ((), ["hydro.eos_table_tolerance=1"], ["eos_table_tolerance"]),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    parameters, overrides, fragments = BAD_VALUES[case]
    assert_refused(run(tmp_path / "run", WAVES, *parameters, *overrides), *fragments)


def test_a_table_requires_units_and_pressures(tmp_path: Path) -> None:
    parameters = parameters_of(tmp_path, "van_der_waals")
    assert_refused(run(tmp_path / "a", WAVES, *parameters[:2]), '"table"', "units.length")
    hot = WAVES.replace('pressure = "12"', 'temperature = "12"')
    assert_refused(run(tmp_path / "b", hot, *parameters), "problem.temperature", '"table"')
    missing = (*parameters[:1], "hydro.eos_table=missing.h5", *UNITS)
    assert_refused(run(tmp_path / "c", WAVES, *missing), "missing.h5")


ROWS, COLUMNS = 61, 61
AXIS = np.geomspace(1e-2, 1e1, ROWS)
PRESSURE = AXIS[:, None] * AXIS * 1e10
ENERGY = np.broadcast_to(AXIS * 1.5e10, (ROWS, COLUMNS))
SPEED = np.sqrt(5 / 3 * ENERGY / 1.5)


def changed(field: NDArray[np.float64], value: float) -> NDArray[np.float64]:
    """Return a field with one value replaced."""
    field = field.copy()
    field[30, 20] = value
    return field


BAD_TABLES = {
    "no_pressure": ({"pressure": None}, ["pressure"]),
    "no_speed": ({"sound_speed": None}, ["sound_speed"]),
    "shape": ({"energy": ENERGY[:, 1:]}, ["/energy", "shape"]),
    "decreasing_axis": ({"density": AXIS[::-1]}, ["/density", "constant ratio"]),
    "uneven_axis": ({"temperature": AXIS + 1}, ["/temperature", "constant ratio"]),
    "negative_density": ({"density": -AXIS}, ["/density"]),
    "infinite": ({"pressure": changed(PRESSURE, np.inf)}, ["/pressure", "row 30"]),
    "not_a_number": ({"energy": changed(ENERGY, np.nan)}, ["/energy", "row 30"]),
    "negative_energy": ({"energy": changed(ENERGY, -1.0)}, ["/energy", "row 30"]),
    "falling_pressure": ({"pressure": changed(PRESSURE, 1.0)}, ["the pressure does not exceed"]),
    "falling_energy": ({"energy": changed(ENERGY, 1.0)}, ["the energy does not exceed"]),
    "inconsistent_energy": (
        {"energy": ENERGY * AXIS[:, None] ** 0.5, "sound_speed": SPEED},
        ["rho^2 dE/drho"],
    ),
    "inconsistent_speed": ({"sound_speed": 1.1 * SPEED}, ["squared sound speed"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_refused(tmp_path: Path, case: str) -> None:
    changes, fragments = BAD_TABLES[case]
    gas = VanDerWaals(GAMMA)
    good = {"pressure": PRESSURE, "energy": ENERGY, "sound_speed": SPEED}
    path = write_table(tmp_path / "bad.h5", gas, AXIS, AXIS, TABLE_UNITS, **(good | changes))
    table = ("hydro.equation_of_state=table", f"hydro.eos_table={path}", *UNITS)
    assert_refused(run(tmp_path / "run", WAVES, *table), "bad.h5", *fragments)
