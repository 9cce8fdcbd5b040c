"""Tables of equations of state: the command, the file, and white dwarfs made of a table."""

import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call

from octools.eos_table import MIN_POINTS
from octools.fermi_dirac import Array
from octools.gas_models import ATOMIC_MASS, BOLTZMANN, PROTON_MASS, RADIATION
from octools.units import HYDROGEN_MASS

Table = dict[str, Array]


def read(path: Path) -> Table:
    with h5py.File(path) as file:
        assert file.attrs["format"] == "octant equation of state"
        assert file.attrs["version"] == 1
        return {name: file[name][...] for name in file}


def written(octools: Call, path: Path, *options: object) -> Table:
    result = octools("eos-table", "--output", path, *options)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith(f"wrote {path}\n")
    return read(path)


# --- the file -------------------------------------------------------------------------------------


def test_stellar_matter_has_axes_units_and_composition(octools: Call, tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.h5"
    options = ("--density", 1e-2, 1e6, "--temperature", 1e5, 1e9, "--points", 9, 9)
    table = written(octools, path, *options)
    np.testing.assert_allclose(table["density"], 10.0 ** np.arange(-2, 7), rtol=1e-14)
    np.testing.assert_allclose(table["temperature"], 10.0 ** np.arange(5, 9.5, 0.5), rtol=1e-14)
    for name in ("pressure", "energy", "entropy", "sound_speed"):
        assert table[name].shape == (9, 9)
        assert table[name].dtype == np.float64
    with h5py.File(path) as file:
        assert file.attrs["composition"] == "carbon-oxygen"
        assert file.attrs["abar"] == pytest.approx(96 / 7)
        assert file.attrs["zbar"] == pytest.approx(48 / 7)
        assert "no Coulomb" in file.attrs["description"]
        assert file["energy"].attrs["units"] == "erg/g"
    named = written(octools, tmp_path / "b.h5", *options, "--ions", 96 / 7, 48 / 7)
    assert all(np.allclose(named[name], table[name], rtol=1e-14) for name in table)
    other = written(octools, tmp_path / "c.h5", *options, "--composition", "helium")
    assert np.all(other["pressure"] > table["pressure"])


def test_radiation_can_be_left_out(octools: Call, tmp_path: Path) -> None:
    options = ("--density", 1e-2, 1e6, "--temperature", 1e5, 1e8, "--points", 8, 8)
    full = written(octools, tmp_path / "a.h5", *options)
    part = written(octools, tmp_path / "b.h5", *options, "--no-radiation")
    photons = RADIATION * full["temperature"] ** 4
    np.testing.assert_allclose(full["pressure"], part["pressure"] + photons / 3, rtol=1e-14)
    np.testing.assert_allclose(
        full["energy"], part["energy"] + photons / full["density"][:, None], rtol=1e-14
    )


def test_coulomb_interactions_can_be_added(octools: Call, tmp_path: Path) -> None:
    options = ("--density", 1e5, 1e9, "--temperature", 1e7, 1e8, "--points", 8, 8)
    ideal = written(octools, tmp_path / "a.h5", *options)
    full = written(octools, tmp_path / "b.h5", *options, "--coulomb")
    change = full["pressure"] / ideal["pressure"] - 1
    assert np.all((change > -0.06) & (change < -0.01))
    with h5py.File(tmp_path / "b.h5") as file:
        assert "no Coulomb" not in file.attrs["description"]


def test_ideal_gas_is_written(octools: Call, tmp_path: Path) -> None:
    options = ("--density", 1e-3, 1e3, "--temperature", 10, 1e7, "--points", 8, 8)
    table = written(octools, tmp_path / "a.h5", "--ideal", 1.4, 0.6, *options)
    assert pytest.approx(HYDROGEN_MASS, rel=1e-8) == PROTON_MASS  # of temperatures in plots
    density, temperature = table["density"][:, None], table["temperature"]
    specific = BOLTZMANN * temperature / (0.6 * PROTON_MASS)
    np.testing.assert_allclose(table["pressure"], density * specific, rtol=1e-14)
    np.testing.assert_allclose(table["energy"], specific / 0.4 + 0 * density, rtol=1e-14)
    speed = np.sqrt(1.4 * specific) + 0 * density
    np.testing.assert_allclose(table["sound_speed"], speed, rtol=1e-14)


def test_gas_with_radiation_has_the_known_adiabatic_exponent(octools: Call, tmp_path: Path) -> None:
    """Gamma_1 of Chandrasekhar (1939), equation II.131, with the gas fraction b of the pressure."""
    options = ("--density", 1e-6, 1e3, "--temperature", 1e5, 1e8, "--points", 10, 10)
    table = written(octools, tmp_path / "a.h5", "--gas-radiation", "5/3", 0.6, *options)
    density, temperature = table["density"][:, None], table["temperature"]
    gas = density * BOLTZMANN * temperature / (0.6 * PROTON_MASS)
    np.testing.assert_allclose(table["pressure"], gas + RADIATION * temperature**4 / 3, rtol=1e-14)
    b = gas / table["pressure"]
    assert b.min() < 1e-3
    assert b.max() > 0.999
    gamma1 = b + (4 - 3 * b) ** 2 * (2 / 3) / (b + 8 * (1 - b))
    found = table["sound_speed"] ** 2 * density / table["pressure"]
    np.testing.assert_allclose(found, gamma1, rtol=1e-13)


def test_tables_of_the_default_range_are_consistent(octools: Call, tmp_path: Path) -> None:
    """Differences of a table with 20 points per decade agree with the first law within 2 %."""
    table = written(octools, tmp_path / "a.h5")
    assert table["pressure"].shape == (341, 141)
    rho = table["density"][2:-2, None]
    steps = [np.log(table[name][1] / table[name][0]) for name in ("density", "temperature")]

    def slope(name: str, axis: int) -> Array:
        logarithm = np.log(np.moveaxis(table[name], axis, 0))
        near, far = logarithm[3:-1] - logarithm[1:-3], logarithm[4:] - logarithm[:-4]
        slope = np.moveaxis((8 * near - far) / (12 * steps[axis]), 0, axis)
        middle = table[name][2:-2, 2:-2]
        return middle * (slope[:, 2:-2] if axis == 0 else slope[2:-2])

    pressure, energy = (table[name][2:-2, 2:-2] for name in ("pressure", "energy"))
    by_temperature = slope("pressure", 1)
    error = rho * slope("energy", 0) - (pressure - by_temperature)
    assert np.max(np.abs(error) / (pressure + rho * energy)) <= 0.003
    squared = (slope("pressure", 0) + by_temperature**2 / (rho * slope("energy", 1))) / rho
    assert np.max(np.abs(squared / table["sound_speed"][2:-2, 2:-2] ** 2 - 1)) <= 0.003
    for name in ("pressure", "energy"):
        assert np.all(np.diff(table[name], axis=1) > 0)


def test_a_table_of_27371_states_takes_less_than_two_minutes(octools: Call, tmp_path: Path) -> None:
    start = time.perf_counter()
    written(
        octools, tmp_path / "a.h5",
        "--density", 1e-12, 1e15, "--temperature", 1e3, 1e13, "--points", 271, 101,
    )  # fmt: skip
    print("seconds", time.perf_counter() - start)
    assert time.perf_counter() - start <= 120


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ideal", 1.4, 1, "--composition", "iron"], "choose one of --composition, --ions"),
        (["--ideal", 1.4, 1, "--gas-radiation", 1.4, 1], "choose one of"),
        (["--ideal", 1.4, 1, "--no-radiation"], "--no-radiation requires stellar matter"),
        (["--ideal", "5/0", 1], "5/0 is not a number or a quotient"),
        (["--ideal", 0.9, 1], "ratio of specific heats 0.9"),
        (["--ideal", 1.4, 1, "--coulomb"], "--coulomb requires stellar matter"),
        (["--coulomb"], "the pressure is not positive at all densities"),
        (["--composition", "irn"], "has no mixture 'irn'; did you mean iron?"),
        (["--ions", 4, 9], "mean ion charge 9.0"),
        (["--density", 10, 1], "the range of the density, 10 to 1,"),
        (["--temperature", 0, 1e5], "the range of the temperature, 0 to 100000,"),
        (["--points", 9, 3], "3 points of the temperature are too few"),
        (["--points", 7, 9], "7 points of the density are too few; choose at least 8"),
        (["--points", 9, 0], "0 points of the temperature are too few"),
        (["--points", 10**6, 10**6], "1000000 temperatures are too many nodes"),
        (["--points", 10**30, 10**30], "are too many nodes"),
        (["--density", 1e-300, 1e300, "--temperature", 1e-300, 1e300], "are too many nodes"),
        (
            ["--density", 1e14, 1e15, "--temperature", 1e-3, 1e-2, "--points", 8, 8],
            "does not increase with the temperature",
        ),
    ],
)
def test_a_request_that_is_not_valid_is_refused(
    octools: Call, tmp_path: Path, options: list[object], message: str
) -> None:
    path = tmp_path / "a.h5"
    result = octools("eos-table", "--output", path, *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert not path.exists()


def test_the_smallest_table_is_that_of_the_program(octools: Call, tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[2] / "src/hydro/eos/eos_table.cpp"
    if source.is_file():
        assert f"k_fewest_nodes = {MIN_POINTS};" in source.read_text()
    options = ("--density", 1, 2, "--temperature", 1e5, 2e5, "--ideal", 1.4, 0.6)
    table = written(octools, tmp_path / "a.h5", *options)
    assert table["pressure"].shape == (8, 8)


# --- white dwarfs ---------------------------------------------------------------------------------

GRAVITY = 6.6743e-8  # cm^3 / (g s^2)
SOLAR_MASS = 1.988409870698051e33  # g
ELECTRON = 9.1093837015e-28 * 2.99792458e10 / 6.62607015e-27  # m c / h in 1 / cm
REST_ENERGY = 9.1093837015e-28 * 2.99792458e10**2  # erg


def star(enthalpy: Array, density: Array, central: float, step: float) -> tuple[float, float]:
    """Return mass and radius of a star in hydrostatic equilibrium, by Runge-Kutta steps.

    dh/dr = -G m / r^2 and dm/dr = 4 pi r^2 rho(h) with the specific enthalpy h, the integral of
    dP / rho. The step is in units of (h / (4 pi G rho))^(1/2) of the centre. The surface has the
    lowest tabulated enthalpy.
    """
    logarithms = np.log(enthalpy), np.log(density)
    top = float(np.exp(np.interp(np.log(central), *logarithms[::-1])))
    width = step * float(np.sqrt(top / (4 * np.pi * GRAVITY * central)))

    def slopes(r: float, state: Array) -> Array:
        h, mass = state
        rho = np.exp(np.interp(np.log(max(h, enthalpy[0])), *logarithms))
        pull = GRAVITY * mass / r**2 if r > 0 else 0.0
        return np.array([-pull, 4 * np.pi * r**2 * rho])

    r, state = 0.0, np.array([top, 0.0])
    while True:
        first = slopes(r, state)
        second = slopes(r + width / 2, state + width / 2 * first)
        third = slopes(r + width / 2, state + width / 2 * second)
        fourth = slopes(r + width, state + width * third)
        new = state + width / 6 * (first + 2 * second + 2 * third + fourth)
        if new[0] <= enthalpy[0]:
            part = (state[0] - enthalpy[0]) / (state[0] - new[0])
            return float(state[1]), r + part * width
        r, state = r + width, new


def of_table(table: Table) -> tuple[Array, Array]:
    """Return specific enthalpies and densities along the lowest isotherm of a table."""
    density, pressure = table["density"], table["pressure"][:, 0]
    log_density, log_pressure = np.log(density), np.log(pressure)
    slope = np.gradient(log_pressure, log_density, edge_order=2)
    # dh = P / rho d ln P = (P / rho) slope d ln rho, by a rule of fourth order
    rate = pressure / density * slope
    parts = np.diff(log_density) * (rate[1:] + rate[:-1]) / 2
    enthalpy = np.concatenate(([rate[0]], rate[0] + np.cumsum(parts)))
    return enthalpy, density


def chandrasekhar() -> tuple[Array, Array]:
    """Return enthalpies and densities of electrons at zero temperature (Chandrasekhar 1935)."""
    x = np.geomspace(1e-3, 60, 20001)
    density = 8 * np.pi / 3 * (ELECTRON * x) ** 3 * 2 * ATOMIC_MASS
    return x**2 / (np.sqrt(1 + x**2) + 1) * REST_ENERGY / (2 * ATOMIC_MASS), density


def test_white_dwarfs_have_the_masses_and_radii_of_chandrasekhar(
    octools: Call, tmp_path: Path
) -> None:
    table = written(
        octools, tmp_path / "a.h5",
        "--density", 1e-1, 1e11, "--temperature", 1e3, 1e5, "--points", 241, 8,
    )  # fmt: skip
    found, exact = of_table(table), chandrasekhar()
    masses = []
    for central in (1e5, 1e6, 1e7, 1e8, 1e9, 1e10):
        mass, radius = star(*exact, central, 0.005)
        half = star(*exact, central, 0.01)
        assert np.allclose(half, (mass, radius), rtol=1e-4)  # converged
        masses.append(mass / SOLAR_MASS)
        errors = np.array(star(*found, central, 0.01)) / (mass, radius) - 1
        print(f"{central:g} g/cm^3: {masses[-1]:.4f} solar masses, {radius / 1e5:.0f} km", errors)
        assert np.all(np.abs(errors) <= 0.005), f"{central}: {errors}"
    assert masses == sorted(masses)
    assert 1.38 <= masses[-1] <= 1.456  # the limit is 5.836 / mu_e^2 = 1.459
