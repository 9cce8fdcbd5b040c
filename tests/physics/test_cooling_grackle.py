"""Cooling rates with a table against those of the library Grackle with the same table.

Grackle finds the mean molecular weight by an iteration that ends when it changes by less than 1 per
cent, so that its temperatures are up to 1 per cent too high, and its rates are those of them. The
strict comparison gives Octant the energy that belongs to Grackle's temperature.
"""

from pathlib import Path

import h5py
import numpy as np
import pytest

import grackle_rates
from cooling_cells import Array, cells
from galaxies import BOLTZMANN, MEGAYEAR, PARSEC, PROTON, X
from grackle_rates import REDSHIFTS, recorded, write_grackle_table
from running import run_well, uniform_grid

HYDROGEN = 1.0 / (1.0 + 0.1 * 3.971)  # mass fraction in gas without metals
SPECIFIC = 1.5 * BOLTZMANN / PROTON  # erg g^-1 per K of T / mu
VELOCITY = PARSEC / MEGAYEAR
TIMES = [1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1, 10.0]  # Myr

CELLS = f"""
problem.name = "cooling_cell"
mesh.upper = [1e30, 1e30, 2e30]
mesh.base_cells = [4, 4, 8]
mesh.block_size = 4
hydro.gamma = 1.6666666666666667
units.length = {PARSEC!r}
units.density = {PROTON / X!r}
units.time = {MEGAYEAR!r}
cooling.enabled = true
cooling.residual_electrons = 0.0
output.final_checkpoint = false
output.snapshot_times = {TIMES[:-1]}
time.end = {TIMES[-1]}
telemetry.enabled = false
"""


def rates_of_octant(
    directory: Path, table: Path, density: Array, energy: Array, metals: Array, *parameters: str
) -> Array:
    """Measure du/dt in erg g^-1 s^-1 over times in which the energy changes little."""
    gas = cells(X * density / PROTON, energy / SPECIFIC, metals)
    outcome = run_well(directory, CELLS, f'cooling.table="{table}"', *gas, *parameters)
    energies = np.array([energies_of(path)[: len(density)] for path in outcome.snapshots])
    begin, rate = energies[0], np.zeros(len(density))
    for energy_then, time in zip(energies[1:], TIMES, strict=False):
        change = energy_then - begin
        little = np.abs(change) < 1e-3 * begin
        rate = np.where(little, change / (time * MEGAYEAR), rate)
    return rate


def energies_of(snapshot: Path) -> Array:
    pressure, density = (uniform_grid(snapshot, name).ravel() for name in ("pressure", "density"))
    return 1.5 * VELOCITY**2 * pressure / density


def weight_in(table: Path, temperature: Array) -> Array:
    """Interpolate the mean molecular weight of gas without metals, the same at all densities."""
    with h5py.File(table) as file:
        data = file["CoolingRates/Primordial/MMW"]
        log_t = np.log10(data.attrs["Temperature"])
        return np.interp(np.log10(temperature), log_t, data[0, 0])


def electrons(inverse_weight: Array, metals: Array) -> Array:
    """Count electrons per proton mass."""
    return np.maximum(inverse_weight - 0.25 * (1.0 + 3.0 * HYDROGEN) - metals / 16.0, 0.0)


@pytest.mark.parametrize("method", ["exact", "implicit"])
@pytest.mark.parametrize("background", ["own", "none"])
@pytest.mark.parametrize("redshift", REDSHIFTS)
def test_rates_are_those_of_grackle(
    tmp_path: Path, redshift: float, background: str, method: str
) -> None:
    """At the same temperature and density, for all metallicities."""
    if method == "implicit" and redshift != REDSHIFTS[1]:
        pytest.skip("the solver is the same at all redshifts")
    table = write_grackle_table(tmp_path / "table.h5")
    of = {name: column[recorded()["redshift"] == redshift] for name, column in recorded().items()}
    temperature, metals = of["temperature"], of["metals"]
    inverse = (1.0 - metals) / weight_in(table, temperature) + metals / 16.0
    # Compton's exchange with the electrons that belong to the temperature.
    background_temperature = 2.73 * (1.0 + redshift)
    compton = 5.65e-36 * (1.0 + redshift) ** 4 * (temperature - background_temperature) / PROTON
    missing = electrons(inverse, metals) - electrons(1.0 / of["weight"], metals)
    expected = of["rate" if background == "own" else "dark_rate"] - compton * missing
    found = rates_of_octant(
        tmp_path / "run",
        table,
        of["density"],
        SPECIFIC * temperature * inverse,
        metals,
        f"cooling.redshift={redshift}",
        f"cooling.uv_background={background}",
        f"cooling.method={method}",
        f"time.end={TIMES[-2] if method == 'implicit' else TIMES[-1]}",
    )
    # Near equilibrium cooling and heating are larger than their difference.
    larger = np.maximum(np.abs(expected), np.abs(of["dark_rate"]))
    error = np.abs(found - expected) / larger
    assert error.max() < 0.01


def test_rates_at_the_energies_of_grackle(tmp_path: Path) -> None:
    table = write_grackle_table(tmp_path / "table.h5")
    of = {name: column[recorded()["redshift"] == 0.0] for name, column in recorded().items()}
    state = of["density"], of["energy"], of["metals"]
    found = rates_of_octant(tmp_path / "run", table, *state, "cooling.uv_background=none")
    hot = of["temperature"] > 3e4
    ratio = (found / of["dark_rate"])[hot]
    assert abs(np.median(ratio) - 1.0) < 0.01
    assert np.quantile(np.abs(ratio - 1.0), 0.9) < 0.03


def test_recorded_rates_are_those_of_the_library() -> None:
    pytest.importorskip("gracklepy", reason="no gracklepy; ./octant test python gets it")
    np.testing.assert_allclose(
        grackle_rates.gracklepy_rows(), np.column_stack(list(recorded().values())), rtol=1e-5
    )
