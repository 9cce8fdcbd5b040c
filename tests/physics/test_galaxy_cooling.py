"""Cooling of single cells: every row of the reference data, whatever folder OCTANT_DATA names."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from cooling_cells import (
    CELLS,
    GRACKLE_HYDROGEN,
    SOLAR,
    Array,
    Weights,
    cells,
    evolve,
    over_mu_of,
    table_of,
    write_power_law,
)
from galaxies import BOLTZMANN, MEGAYEAR, PROTON, X, rows
from reference_data import reference_files, reference_path
from running import run_well

# Settings and factors that make the gas of the closed form of Octant's: its hydrogen is 0.76 of the
# mass whatever the table says, its metals have no mass, and its rates have no temperatures but the
# table's.
CLOSED_FORM = (
    "cooling.solar_metallicity=1e-12",
    "cooling.table_refinement=1",
    "cooling.temperature_refinement=1",
)
SHARE = X / GRACKLE_HYDROGEN


def cases_of_closed_form() -> list[dict[str, Array]]:
    """List the cases at a redshift of the tables: between them the closed form is linear in z."""
    table = rows(reference_path("galaxy/cooling_exact.csv"))
    return [
        {name: column[table["case"] == case] for name, column in table.items()}
        for case in np.unique(table["case"][table["z"] == 0.0])
    ]


@pytest.mark.parametrize("steps", [1, 1000])
def test_exact_cooling_is_exact_however_many_the_steps(tmp_path: Path, steps: int) -> None:
    for of in cases_of_closed_form():
        case, source, n_hydrogen = of["case"][0], table_of(str(of["table"][0])), of["n_H"][0]
        weights = Weights.read(source, 0.0, float(n_hydrogen))
        start = of["T0"][:1]
        gas = cells(SHARE * n_hydrogen, start / weights.mu_at(start), of["Z"][0] * 1e-12)
        times = SHARE * of["t_Myr"]
        step = f"time.largest_step={float(times[-1]) / steps!r}"
        folder = tmp_path / f"{case:.0f}"
        found = evolve(folder, source, 0.0, times, *gas, step, *CLOSED_FORM, count=1)[:, 0]
        energy = BOLTZMANN * found / ((5.0 / 3.0 - 1.0) * 1.67262e-24)
        assert np.abs(energy / of["u_erg_per_g"] - 1.0).max() < 1e-8, case


def test_rows_between_those_of_the_table_change_little(tmp_path: Path) -> None:
    n_hydrogen = 10.0 ** np.linspace(-6.0, 1.0, 64)
    gas = cells(n_hydrogen, 10.0 ** np.linspace(4.0, 8.0, 64), 0.3 * SOLAR)
    times = np.array([0.03, 0.1])
    one, ten = (
        evolve(tmp_path / f"{rows}", table_of("HM2012"), 1.0, times, *gas,
               f"cooling.table_refinement={rows}", count=64)
        for rows in (1, 10)
    )  # fmt: skip
    assert 0.0 < np.abs(ten / one - 1.0).max() < 5e-3


def test_power_laws_have_their_analytical_solutions(tmp_path: Path) -> None:
    table = rows(reference_path("galaxy/cooling_power_law.csv"))
    rate, start = 1e-23, 1e8
    cooling_time = (
        BOLTZMANN * start / (5.0 / 3.0 - 1.0) / (GRACKLE_HYDROGEN * rate) / MEGAYEAR
    )  # n = n_hydrogen / GRACKLE_HYDROGEN
    for beta in np.unique(table["beta"]):
        of = {name: column[table["beta"] == beta] for name, column in table.items()}
        write_power_law(tmp_path / f"{beta}.h5", beta, rate, start)
        times = of["t"] * cooling_time
        found = evolve(
            tmp_path / f"{beta}", tmp_path / f"{beta}.h5", 0.0, times, *cells(SHARE, start, 0.0),
            count=1,
        )[:, 0] / start  # fmt: skip
        assert np.abs(found - of["T"]).max() < 0.02 * of["T"].max()
        warm = of["T"] * start > 1.0
        assert np.abs(found[warm] / of["T"][warm] - 1.0).max() < 0.02, beta


def histories() -> list[Path]:
    return reference_files("cooling/cell_*.csv")


@pytest.mark.parametrize("path", histories(), ids=lambda path: path.stem)
def test_cells_cool_as_those_of_grackle(tmp_path: Path, path: Path) -> None:
    header = path.read_text().splitlines()[0]
    name = re.search(r"\S+\.h5", header).group()
    z, n_hydrogen, metals = (
        float(re.search(rf"\b{key}=([-+.\de]+)", header).group(1)) for key in ("z", "nH", "Z")
    )
    table = rows(path)
    temperature = table["T_K"]
    cools = (temperature > 2e4) & (np.minimum.accumulate(temperature) == temperature)
    # Grackle finds T from the energy to a per cent, so that energies are compared. The rates of six
    # species are those of gas with a mass fraction of 0.76 of hydrogen.
    tabulated = "primordial_chemistry=0" in header
    share = 1.0 if tabulated else SHARE
    if tabulated:
        source = table_of(name)
    else:
        source = table_of_species(tmp_path / "species.h5", z, n_hydrogen, metals)
    # Its densities of hydrogen are those of what is not metals.
    over_mu = (temperature / table["mu"])[cools]
    light = 1.0 - metals * SOLAR
    t = table["t_Myr"][cools] * (1.0 if tabulated else share * light)
    density = n_hydrogen / light if tabulated else share * n_hydrogen
    gas = cells(density, over_mu[0], metals * SOLAR if tabulated else 0.0)
    settings = ["cooling.table_refinement=1"]
    settings += [f"cooling.{term}={str(tabulated).lower()}" for term in ("cmb_floor", "compton")]
    times = np.linspace(0.01, 1.3, 200) * t[-1]
    found = evolve(tmp_path / "run", source, z, times, *gas, *settings, count=1)[:, 0]
    found, times = np.append(over_mu[0], found), np.append(0.0, times)
    when = np.interp(-over_mu, -found, times)
    cooled = over_mu < 0.99 * over_mu[0]
    error = np.abs(when[cooled] / t[cooled] - 1.0).max()
    # Metals have lines that the grid of rates does not resolve.
    assert error < (0.01 if tabulated else 0.02 if metals == 0.0 else 0.1)


def table_of_species(path: Path, z: float, n_hydrogen: float, metals: float) -> Path:
    """Write the net rates of six species in equilibrium at one density as a table.

    Those of the tables are other ones: without metals 2.4 times as large at 1.5e5 K, so that no
    solver cools by them as six species do.
    """
    grid = rows(reference_path("cooling/grid_HM2012_eq6species.csv"))
    at = np.isclose(grid["z"], z) & np.isclose(grid["nH_cm3"], n_hydrogen)
    at &= np.isclose(grid["Z_over_Zsun"], metals)
    log_t, net = np.log10(grid["T_K"][at]), grid["Lambda_net_erg_cm3_s"][at]
    fine = np.arange(log_t[0], log_t[-1] + 0.01, 0.05)
    cools = net > 0.0
    cooling = 10.0 ** np.interp(fine, log_t[cools], np.log10(net[cools]))
    cooling[fine < log_t[cools][0] - 1e-6] = 1e-99
    with h5py.File(path, "w") as file:
        for name, values in (
            ("Cooling", cooling),
            ("MMW", np.interp(fine, log_t, grid["mu"][at])),
        ):
            data = file.create_dataset(f"CoolingRates/Primordial/{name}", data=values)
            data.attrs["Rank"] = np.int64(1)
            data.attrs["Dimension"] = np.array([len(fine)])
            data.attrs["Temperature"] = 10.0**fine
    return path


@pytest.mark.parametrize("table", ["noUVB", "HM2012"])
def test_old_gas_follows_the_microwave_background(tmp_path: Path, table: str) -> None:
    z, n_hydrogen, mu, start = 70.0, 0.07, 1.27, 3000.0
    background = 2.73 * (1.0 + z)
    electrons = 2e-4  # that recombination left
    rate = 5.65e-36 * (1.0 + z) ** 4 * electrons * GRACKLE_HYDROGEN / PROTON  # erg / (g s K)
    fall = rate * (5.0 / 3.0 - 1.0) * mu * PROTON / BOLTZMANN * MEGAYEAR
    times = np.array([0.1, 0.5, 1.0, 10.0]) / fall
    settings = ["cooling.cmb_floor=true", "cooling.compton=true"]
    gas = cells(n_hydrogen, start / mu, 0.0)
    found = mu * evolve(tmp_path / "run", table_of(table), z, times, *gas, *settings, count=1)[:, 0]
    if table == "noUVB":
        expected = background + (start - background) * np.exp(-fall * times)
        assert np.abs(found / expected - 1.0).max() < 0.02
    # Not at the 1000 K at which the heating of the last table's background would hold it.
    assert found[-1] == pytest.approx(background, rel=0.1)


def test_implicit_cooling_comes_close(tmp_path: Path) -> None:
    for of in cases_of_closed_form():
        case, source, n_hydrogen = of["case"][0], table_of(str(of["table"][0])), of["n_H"][0]
        weights = Weights.read(source, 0.0, float(n_hydrogen))
        start = of["T0"][:1]
        gas = cells(SHARE * n_hydrogen, start / weights.mu_at(start), of["Z"][0] * 1e-12)
        settings, folder = ["cooling.method=implicit", *CLOSED_FORM], tmp_path / f"{case:.0f}"
        found = evolve(folder, source, 0.0, SHARE * of["t_Myr"], *gas, *settings, count=1)[:, 0]
        warm = of["T_K"] > 2e4
        error = np.abs(weights.temperature(found) / of["T_K"] - 1.0)[warm]
        assert (error < 0.01).all(), case


def test_gas_of_the_original_method_settles(tmp_path: Path) -> None:
    """Dense gas ends near 1e4 K in the background of z = 3, and colder before that began."""
    run_cells = [*cells(1.0, 1e6, 0.0), "cooling.method=original", "time.end=1000.0"]
    after, before = (
        over_mu_of(run_well(tmp_path / f"{z}", CELLS, *run_cells, z_is).last_snapshot, 1)[0]
        for z, z_is in ((3, "cooling.redshift=3.0"), (9, "cooling.redshift=9.0"))
    )
    assert 1e4 < after < 3e4
    assert 3e3 < before < 1e4
