"""Cooling of the gas: every row of the reference data, whatever folder OCTANT_DATA names."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from cases import DRIFTING_BLAST
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
    uniform_grid,
)

Array = NDArray[np.float64]
DATA = Path(os.environ.get("OCTANT_DATA", "/nonexistent"))
needs_data = pytest.mark.skipif(
    not (DATA / "galaxy").is_dir(), reason="OCTANT_DATA names no folder with galaxy and cooling"
)
TABLES = {
    "noUVB": DATA / "cooling" / "CloudyData_noUVB.h5",
    "HM2012": DATA / "cooling" / "CloudyData_UVB=HM2012_with_MMW.h5",
}
X = 0.76
BOLTZMANN, PROTON, YEAR = 1.380649e-16, 1.67262192369e-24, 3.15576e7  # as in src/core/units.hpp
MEGAYEAR = 1e6 * YEAR
SOLAR = 0.01295
GRACKLE_HYDROGEN = 1.0 / (1.0 + 0.1 * 3.971)  # with tables alone

# Cells as large as nothing is: no sound crosses them. Units: pc, Myr, one hydrogen per cm^3.
CELLS = f"""
problem.name = "cooling_cell"
mesh.upper = [1e30, 1e30, 1e30]
mesh.base_cells = [8, 8, 8]
mesh.block_size = 4
hydro.gamma = 1.6666666666666667
units.length = 3.0856775814913673e18
units.density = {PROTON / X!r}
units.time = {MEGAYEAR!r}
time.cfl = 1.0
cooling.enabled = true
cooling.cmb_floor = false
cooling.compton = false
output.final_checkpoint = false
telemetry.enabled = false
"""


def rows(path: Path) -> dict[str, Array]:
    """Read a table of reference values: one array per column."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    names = lines[0].split(",")
    columns = zip(*(line.split(",") for line in lines[1:]), strict=True)
    table = {}
    for name, column in zip(names, columns, strict=True):
        try:
            table[name] = np.array([float(value) for value in column])
        except ValueError:
            table[name] = np.array(column)
    return table


@dataclass(frozen=True)
class Weights:
    """log10 T, and the mean molecular weight there, at one density and redshift."""

    log_temperature: Array
    mu: Array

    @staticmethod
    def read(table: Path, z: float, n_hydrogen: float) -> "Weights":
        """Interpolate a table linearly in z and log n_hydrogen."""
        with h5py.File(table) as file:
            weight = file["CoolingRates/Primordial/MMW"]
            mu, log_temperature = weight[...], np.log10(weight.attrs["Temperature"])
            densities = weight.attrs["Parameter1"]
            if mu.ndim == 3:
                redshifts = weight.attrs["Parameter2"]
                mu = np.apply_along_axis(lambda at: np.interp(z, redshifts, at), 1, mu)
        mu = np.apply_along_axis(lambda at: np.interp(np.log10(n_hydrogen), densities, at), 0, mu)
        return Weights(log_temperature, mu)

    def mu_at(self, temperature: Array) -> Array:
        """Weights at temperatures: u is a power of T between those of the table."""
        log_u = np.interp(
            np.log10(temperature), self.log_temperature, self.log_temperature - np.log10(self.mu)
        )
        return temperature / 10.0**log_u

    def temperature(self, over_mu: Array) -> Array:
        """Temperatures from T / mu."""
        return 10.0 ** np.interp(
            np.log10(over_mu), self.log_temperature - np.log10(self.mu), self.log_temperature
        )


def toml(values: object) -> str:
    return "[" + ", ".join(repr(float(value)) for value in np.atleast_1d(values)) + "]"


def cells(n_hydrogen: object, over_mu: object, metals: object) -> list[str]:
    """Parameters of cells of these densities, T / mu and mass shares of metals."""
    return [
        f"problem.hydrogen_density={toml(n_hydrogen)}",
        f"problem.temperature_over_mu={toml(over_mu)}",
        f"problem.metals={toml(metals)}",
    ]


def over_mu_of(snapshot: Path, count: int) -> Array:
    """T / mu in K of the first cells, in the order of the lists they were given by."""
    unit = (3.0856775814913673e18 / MEGAYEAR) ** 2 * PROTON / BOLTZMANN
    pressure, density = (uniform_grid(snapshot, name).ravel() for name in ("pressure", "density"))
    return (unit * pressure / density)[:count]


def evolve(
    directory: Path, table: Path, z: float, times: Array, *parameters: str, count: int
) -> Array:
    """Run cells; returns T / mu of shape (times, count)."""
    names = [f'cooling.table="{table}"', f"cooling.redshift={z}", f"time.end={float(times[-1])!r}"]
    snapshots = f"output.snapshot_times={toml(times[:-1])}"
    outcome = run_well(directory, CELLS, *names, snapshots, *parameters)
    files = outcome.snapshots[-len(times) :]
    return np.array([over_mu_of(file, count) for file in files])


def table_of(name: str) -> Path:
    """Find a table by its name in reference values; one without MMW gives way to one with it."""
    file = DATA / "cooling" / (name if name.endswith(".h5") else TABLES[name])
    derived = file.with_name(file.stem + "_with_MMW.h5")
    return derived if derived.is_file() else file


@needs_data
@pytest.mark.parametrize("steps", [1, 1000])
def test_exact_cooling_is_exact_however_many_the_steps(tmp_path: Path, steps: int) -> None:
    table = rows(DATA / "galaxy" / "cooling_exact.csv")
    for case in np.unique(table["case"]):
        of = {name: column[table["case"] == case] for name, column in table.items()}
        source, z, n_hydrogen = (
            table_of(str(of["table"][0])),
            float(of["z"][0]),
            float(of["n_H"][0]),
        )
        weights = Weights.read(source, z, n_hydrogen)
        start = of["T0"][:1]
        gas = cells(n_hydrogen, start / weights.mu_at(start), of["Z"][0] * SOLAR)
        step = f"time.largest_step={float(of['t_Myr'][-1]) / steps!r}"
        folder = tmp_path / f"{case:.0f}"
        found = evolve(
            folder, source, z, of["t_Myr"], *gas, step, "cooling.table_refinement=1", count=1
        )[:, 0]
        energy = BOLTZMANN * found / ((5.0 / 3.0 - 1.0) * 1.67262e-24)
        assert np.abs(energy / of["u_erg_per_g"] - 1.0).max() < 1e-8, case


@needs_data
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


# A table of one axis: rates that go as a power of the temperature, and no metals.
def write_power_law(path: Path, beta: float, rate: float, at: float) -> None:
    temperature = 10.0 ** (0.05 * np.arange(-20, 200))
    with h5py.File(path, "w") as file:
        for name, values in (
            ("Cooling", rate * (temperature / at) ** beta),
            ("MMW", np.ones_like(temperature)),
        ):
            data = file.create_dataset(f"CoolingRates/Primordial/{name}", data=values)
            data.attrs["Rank"] = np.int64(1)
            data.attrs["Dimension"] = np.array([len(temperature)])
            data.attrs["Temperature"] = temperature


@needs_data
def test_power_laws_have_their_analytical_solutions(tmp_path: Path) -> None:
    table = rows(DATA / "galaxy" / "cooling_power_law.csv")
    rate, start = 1e-23, 1e8
    cooling_time = (
        BOLTZMANN * start / (5.0 / 3.0 - 1.0) / (X * rate) / MEGAYEAR
    )  # n = n_hydrogen / X
    for beta in np.unique(table["beta"]):
        of = {name: column[table["beta"] == beta] for name, column in table.items()}
        write_power_law(tmp_path / f"{beta}.h5", beta, rate, start)
        times = of["t"] * cooling_time
        found = evolve(
            tmp_path / f"{beta}", tmp_path / f"{beta}.h5", 0.0, times, *cells(1.0, start, 0.0),
            count=1,
        )[:, 0] / start  # fmt: skip
        assert np.abs(found - of["T"]).max() < 0.02 * of["T"].max()
        warm = of["T"] * start > 1.0
        assert np.abs(found[warm] / of["T"][warm] - 1.0).max() < 0.02, beta


def histories() -> list[Path]:
    return sorted((DATA / "cooling").glob("cell_*.csv"))


@needs_data
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
    # Grackle finds T from the energy to a per cent, so that energies are compared. With tables
    # alone, hydrogen has the share in its gas that it has in Cloudy's: the same rates per volume
    # are those of another density, and per mass of another time.
    tabulated = "primordial_chemistry=0" in header
    share = GRACKLE_HYDROGEN / X if tabulated else 1.0
    # Its densities of hydrogen are those of what is not metals.
    over_mu = (temperature / table["mu"])[cools]
    t = share * (1.0 - metals * SOLAR) * table["t_Myr"][cools]
    gas = cells(share * n_hydrogen, over_mu[0], metals * SOLAR)
    settings = ["cooling.cmb_floor=true", "cooling.compton=true", "cooling.table_refinement=1"]
    times = np.linspace(0.01, 1.3, 200) * t[-1]
    found = evolve(tmp_path / "run", table_of(name), z, times, *gas, *settings, count=1)[:, 0]
    found, times = np.append(over_mu[0], found), np.append(0.0, times)
    when = np.interp(-over_mu, -found, times)
    cooled = over_mu < 0.99 * over_mu[0]
    error = np.abs(when[cooled] / t[cooled] - 1.0).max()
    # Six species and a table are two treatments, whose rates differ by 3 per cent in the median.
    assert error < (0.01 if tabulated else 0.3)


@needs_data
@pytest.mark.parametrize("table", ["noUVB", "HM2012"])
def test_old_gas_follows_the_microwave_background(tmp_path: Path, table: str) -> None:
    z, n_hydrogen, mu, start = 70.0, 0.07, 1.27, 3000.0
    background = 2.726 * (1.0 + z)
    electrons = 2e-4  # that recombination left
    rate = 5.406e-36 * (1.0 + z) ** 4 * electrons * X / PROTON  # erg / (g s K)
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


# Rates of a simple gas at some densities, redshifts and temperatures, with metals: lines at 1e5 K,
# and a background that heats below 1e4 K.
def write_table(path: Path, rank: int = 3, leave_out: str = "", big_endian: bool = False) -> Path:
    n = np.arange(-6.0, 4.1, 1.0)[:, None, None]
    z = np.array([0.0, 1.0, 3.0, 6.0])[None, :, None]
    temperature = 10.0 ** np.arange(1.0, 9.01, 0.05)[None, None, :]
    lines = 1e-22 * np.exp(-(np.log(temperature / 1e5) ** 2)) + 1e-27 * np.sqrt(temperature)
    heat = 1e-24 * (1.0 + z) * 10.0 ** (-n / 2) * np.exp(-temperature / 1e4)
    fields = {
        "Primordial/Cooling": lines + 0.0 * (n + z),
        "Primordial/Heating": heat,
        "Primordial/MMW": 0.6 + 0.6 / (1.0 + temperature / 1e4) + 0.0 * (n + z),
        "Metals/Cooling": 3.0 * lines + 0.0 * (n + z),
        "Metals/Heating": 0.1 * heat,
    }
    cut = {1: (0, 0), 2: (slice(None), 0), 3: (slice(None), slice(None))}[rank]
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            if leave_out and leave_out in name:
                continue
            kind = ">f8" if big_endian else "<f8"
            data = file.create_dataset(f"CoolingRates/{name}", data=values[cut].astype(kind))
            data.attrs["Rank"] = np.int64(rank)
            data.attrs["Dimension"] = np.array(values[cut].shape)
            data.attrs["Temperature"] = temperature.ravel()
            if rank > 1:
                data.attrs["Parameter1"] = n.ravel()
            if rank > 2:
                data.attrs["Parameter2"] = z.ravel()
    return path


# Units of 10 pc, n_H = 10 and 0.1 Myr: temperatures are in units of 1.2e6 K.
COOLING_BLAST = f"""
[units]
length = 3.0857e19
density = {10.0 * PROTON / X!r}
time = 3.15576e12

[cooling]
enabled = true
initial_metallicity = 0.3
delayed = true
largest_change = 0.3

[floor]
kind = "polytrope"
temperature = 3e5
density = 20.0
index = 4.0
"""


@pytest.fixture(scope="module", params=["off", "on"])
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    folder = tmp_path_factory.mktemp(f"dual_energy_{request.param}")
    dual_energy = f'[hydro]\ndual_energy = "{request.param}"'
    table = write_table(folder / "table.h5")
    cooling = COOLING_BLAST.replace("[cooling]", f'[cooling]\ntable = "{table}"')
    parameters = DRIFTING_BLAST.replace("[hydro]", dual_energy) + cooling
    return run_well(folder / "run", parameters, *CHECKPOINT_EVERY_STEP)


def test_the_ledger_holds_all_the_energy_that_went(reference: Outcome) -> None:
    history = reference.history()
    assert history["leaf_cells_2"][-1] > 0
    radiated = history["cooling_cooled"] - history["cooling_uv_heated"]
    assert radiated[-1] > 1e-3 * history["total_energy"][0]
    assert history["cooling_floor_energy"][-1] > 0.0
    left = history["total_energy"] + radiated + history["cooling_capped"]
    left -= history["cooling_floor_energy"]
    assert np.abs(left / left[0] - 1.0).max() < 1e-12


def parameters_of(outcome: Outcome) -> str:
    return outcome.directory.with_suffix(".toml").read_text()


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_more_ranks(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    by_cost = "balance.cost=measured"
    outcome = run_well(tmp_path / "run", parameters_of(reference), by_cost, ranks=ranks)
    assert_same_run(outcome, reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    step = 5
    checkpoint = reference.directory / f"checkpoint_{step - 1:05d}.h5"
    outcome = run_well(tmp_path / "run", parameters_of(reference), ranks=ranks, restart=checkpoint)
    assert_same_run(outcome, reference, first_step=step)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_tables_of_every_layout_say_the_same(tmp_path: Path, rank: int) -> None:
    # Where a table has fewer axes its first density and redshift are meant.
    gas = cells(1e-6, [1e5, 1e6, 1e7], 0.01)
    times = np.array([1e5])
    whole = evolve(tmp_path / "3", write_table(tmp_path / "3.h5"), 0.0, times, *gas, count=3)
    table = write_table(tmp_path / "other.h5", rank=rank, big_endian=True)
    other = evolve(tmp_path / "other", table, 0.0, times, *gas, count=3)
    assert np.abs(other / whole - 1.0).max() < 1e-12


@pytest.mark.parametrize("dual_energy", ["on", "overwrite"])
def test_a_stream_of_mach_100_cools_as_gas_at_rest(tmp_path: Path, dual_energy: str) -> None:
    table = write_table(tmp_path / "table.h5")
    gas = [*cells(1.0, 3e4, 0.0), f"hydro.dual_energy={dual_energy}"]
    times = np.array([0.003, 0.02])
    rest = evolve(tmp_path / "rest", table, 0.0, times, *gas, count=1)
    # 2600 km/s in pc / Myr; gas of that temperature has a sound speed of 20 km/s.
    stream = evolve(
        tmp_path / "fast", table, 0.0, times, *gas, "problem.velocity=[2600.0, 0.0, 0.0]", count=1
    )
    assert rest[-1, 0] < 2e4
    assert np.abs(stream / rest - 1.0).max() < 1e-6


# A blast in cold gas.
COLD_BLAST = """
[problem]
name = "sedov"
centre = [0.5, 0.5, 0.5]
energy = 1.0
radius_cells = 4
ambient_pressure = 1e-3

[mesh]
base_cells = [32, 32, 32]
block_size = 8
boundary_x = ["periodic", "periodic"]

[hydro]
gamma = 1.6666666666666667
dual_energy = "on"

[time]
end = 0.01
"""


def test_a_blast_in_a_stream_of_mach_100_keeps_its_heat(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.h5")
    cooling = COOLING_BLAST.replace("[cooling]", f'[cooling]\ntable = "{table}"')
    cooling = cooling.replace("delayed = true", "delayed = false")
    periodic = [
        "mesh.boundary_y=['periodic','periodic']",
        "mesh.boundary_z=['periodic','periodic']",
    ]
    mach = 100.0 * np.sqrt(5.0 / 3.0 * 1e-3)
    heat = {}
    for name, speed in (("rest", 0.0), ("stream", mach)):
        velocity = f"problem.velocity=[{speed}, 0.0, 0.0]"
        outcome = run_well(tmp_path / name, COLD_BLAST + cooling, velocity, *periodic)
        gas = leaf_cells(outcome.last_snapshot)
        heat[name] = np.sum(gas["pressure"] * gas.volume)
    assert heat["rest"] > 0.1
    assert heat["stream"] == pytest.approx(heat["rest"], rel=0.03)


def refused(tmp_path: Path, *overrides: str) -> Outcome:
    table = f'cooling.table="{write_table(tmp_path / "good.h5")}"'
    return run(tmp_path / "run", CELLS, table, "time.end=1.0", *overrides)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (['cooling.table=""'], ["cooling.table"]),
        (["units.length=1.0", "units.density=1.0", "units.time=1.0"], ["units.length"]),
        (["cooling.uv_background=none", "cooling.self_shielding=exponential"],
         ["cooling.self_shielding", "cooling.uv_background"]),
        (["cooling.self_shielding=rahmati"], ["cooling.self_shielding", "k24"]),
        (['cooling.table="some_shielded.h5"', "cooling.self_shielding=exponential"],
         ["cooling.self_shielding", "shielded already"]),
        (["cooling.initial_metallicity=100.0"], ["cooling.initial_metallicity"]),
        (["problem.metals=[0.1, 1.5]"], ["problem.metals"]),
        (["cooling.method=euler"], ["cooling.method"]),
        (['cooling.table="/nonexistent.h5"'], ["/nonexistent.h5"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    tmp_path: Path, overrides: list[str], words: list[str]
) -> None:
    assert_refused(refused(tmp_path, *overrides), *words)


def spoil_nan(file: h5py.File) -> None:
    file["CoolingRates/Primordial/Cooling"][3, 1, 40] = np.nan


def spoil_rank(file: h5py.File) -> None:
    file["CoolingRates/Primordial/Cooling"].attrs["Rank"] = np.int64(5)


def spoil_shape(file: h5py.File) -> None:
    attributes = file["CoolingRates/Primordial/Cooling"].attrs
    attributes["Parameter1"] = attributes["Parameter1"][:-1]


def spoil_style(file: h5py.File) -> None:
    file.attrs["old_style"] = 1


def spoil_weight(file: h5py.File) -> None:
    del file["CoolingRates/Primordial/MMW"]


def spoil_cooling(file: h5py.File) -> None:
    del file["CoolingRates/Primordial/Cooling"]


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (spoil_nan, "not finite"),
        (spoil_rank, "Rank = 5"),
        (spoil_shape, "axes"),
        (spoil_style, "old style"),
        (spoil_weight, "UVBRates"),
        (spoil_cooling, "Primordial/Cooling"),
    ],
)
def test_bad_tables_are_refused(
    tmp_path: Path, spoil: Callable[[h5py.File], None], word: str
) -> None:
    with h5py.File(write_table(tmp_path / "bad.h5"), "r+") as file:
        spoil(file)
    outcome = refused(tmp_path, f'cooling.table="{tmp_path}/bad.h5"')
    assert_refused(outcome, "bad.h5", word)


def test_what_lies_outside_of_the_table_is_counted(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.h5")
    gas = cells([1e-8, 1.0, 1e6, 10.0], 1e4, 0.0)
    name = f'cooling.table="{table}"'
    outcome = run_well(
        tmp_path / "run", CELLS, name, "cooling.redshift=8.0", "time.end=0.1",
        "time.largest_step=0.05", *gas,
    )  # fmt: skip
    assert outcome.history()["cooling_outside"][-1] == 2 * 256
    assert outcome.text.count("last redshift") == 1
