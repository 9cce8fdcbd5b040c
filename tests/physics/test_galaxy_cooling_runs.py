"""Cooling in runs: ledgers, bits, streams, shocks, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from cooling_cells import CELLS, GRACKLE_HYDROGEN, cells, evolve, write_table
from galaxies import BOLTZMANN, MEGAYEAR, PROTON, X
from inputs import CLUMPY_BOX, DRIFTING_BLAST
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
)

Array = NDArray[np.float64]


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
density = 10.0
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


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_more_ranks(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    by_cost = "balance.cost=measured"
    outcome = run_well(tmp_path / "run", reference.parameters, by_cost, ranks=ranks)
    assert_same_run(outcome, reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    assert_goes_on(tmp_path / "run", reference, 5, ranks=ranks)


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
    cooling = cooling.replace("delayed = true", "delayed = false").replace("polytrope", "none")
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
         ["cooling.self_shielding", "already includes self-shielding"]),
        (["cooling.initial_metallicity=100.0"], ["cooling.initial_metallicity"]),
        (["problem.metals=[0.1, 1.5]"], ["problem.metals"]),
        (["cooling.method=euler"], ["cooling.method"]),
        (["cooling.method=original"], ['cooling.method = "original"', "cooling.table"]),
        (["cooling.uv_background=courty"], ["cooling.table", 'cooling.uv_background = "courty"']),
        (["cooling.method=original", 'cooling.table=""', "cooling.uv_background=table"],
         ['cooling.method = "original"', 'cooling.uv_background = "table"']),
        (["cooling.method=original", 'cooling.table=""', "cooling.self_shielding=rahmati"],
         ['cooling.method = "original"', 'cooling.self_shielding = "rahmati"']),
        (['cooling.table="/nonexistent.h5"'], ["/nonexistent.h5"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    tmp_path: Path, overrides: list[str], words: list[str]
) -> None:
    assert_refused(refused(tmp_path, *overrides), *words)


@pytest.mark.parametrize(("dual_energy", "warnings"), [("off", 1), ("overwrite", 0)])
def test_cold_gas_of_a_universe_without_dual_energy_is_warned_of(
    tmp_path: Path, dual_energy: str, warnings: int
) -> None:
    cooling = ["cooling.enabled=true", "cooling.method=original", "time.max_steps=1"]
    outcome = run_well(tmp_path / "run", CLUMPY_BOX, *cooling, f"hydro.dual_energy={dual_energy}")
    assert outcome.text.count("temperatures of cold, supersonic gas") == warnings


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


def spoil_signs(file: h5py.File) -> None:
    file["CoolingRates/Metals/Heating"][3, 1, 40] = -1e-30


def spoil_all_signs(file: h5py.File) -> None:
    file["CoolingRates/Primordial/Cooling"][...] = -1.0


def spoil_rates(file: h5py.File) -> None:
    file["CoolingRates/Primordial/Cooling"][...] = 0.0


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (spoil_nan, "non-finite"),
        (spoil_rank, "Rank = 5"),
        (spoil_shape, "axes"),
        (spoil_style, "old format"),
        (spoil_weight, "UVBRates"),
        (spoil_cooling, "Primordial/Cooling"),
        (spoil_signs, "Metals/Heating contains negative rates"),
        (spoil_all_signs, "Primordial/Cooling contains negative rates"),
        (spoil_rates, "is 0 everywhere"),
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


# A shock that recedes slowly makes waves at each cell that it crosses; this solver damps them.
# Inflow that cools as T between 1e4 K and its shock's 1e6 K, and shocks at a wall. Pure hydrogen
# without electrons: mu = 1.
SHOCK = f"""
problem.name = "radiative_shock"
problem.speed = 200.0
problem.hydrogen_density = {X}
problem.temperature_over_mu = 1e4
mesh.base_cells = [192, 8, 8]
mesh.block_size = 8
mesh.boundary_x = ["inflow", "reflecting"]
hydro.gamma = 1.6666666666666667
hydro.riemann = "hll"
hydro.limiter = "minmod"
units.length = 3.0857e18
units.density = {PROTON!r}
units.time = {MEGAYEAR!r}
cooling.enabled = true
cooling.cmb_floor = false
cooling.compton = false
telemetry.enabled = false
"""


def write_shock_table(path: Path, rate: float) -> None:
    temperature = 10.0 ** (0.02 * np.arange(100, 451))
    cooling = np.where(temperature > 1.05e4, rate * temperature / 1e6, 0.0)
    with h5py.File(path, "w") as file:
        for name, values in (("Cooling", cooling), ("MMW", np.ones_like(temperature))):
            data = file.create_dataset(f"CoolingRates/Primordial/{name}", data=values)
            data.attrs["Rank"] = np.int64(1)
            data.attrs["Dimension"] = np.array([len(temperature)])
            data.attrs["Temperature"] = temperature


def steady_structure(speed: float, start: float, rate: float) -> tuple[Array, Array]:
    """Density over that before the shock against the distance behind it, in cm.

    Mass rho v and momentum rho v^2 + P are the same everywhere, and
    v d(h + v^2 / 2)/dx = -n^2 rate / rho with h = 5/2 P / rho; all for rho = 1 proton mass per
    cm^3 and mu = 1.
    """
    pressure = BOLTZMANN * start / PROTON  # over density, before the shock
    momentum = speed**2 + pressure
    mach = speed**2 / (5.0 / 3.0 * pressure)
    first = speed * (mach + 3.0) / (4.0 * mach)
    v = np.linspace(first, first / 20.0, 200_001)
    temperature = (momentum * v / speed - v * v) * PROTON / BOLTZMANN
    # h + v^2 / 2 with h = 5/2 (momentum / speed v - v^2); n = speed / v.
    slope = 2.5 * momentum / speed - 4.0 * v
    loss = GRACKLE_HYDROGEN**2 * (speed / v) * rate * (temperature / 1e6) / PROTON
    dx = -slope * v / loss
    x = np.concatenate([[0.0], np.cumsum(0.5 * (dx[1:] + dx[:-1]) * np.diff(v))])
    return x, speed / v


def profile(snapshot: Path, unit: float, behind: Array) -> Array:
    """Density at distances behind the shock, which is where density has grown by 2.5."""
    gas = leaf_cells(snapshot)
    line = (gas.position[:, 1] < gas.size) & (gas.position[:, 2] < gas.size)
    order = np.argsort(gas.position[line, 0])
    density, place = gas["density"][line][order], gas.position[line, 0][order] * unit
    shocked = np.argmax(density > 2.5) + 1
    shock = np.interp(2.5, density[:shocked], place[:shocked])
    return np.interp(shock + behind, place, density)


def test_the_structure_of_a_radiative_shock_is_the_steady_one(tmp_path: Path) -> None:
    parsec, rate = 3.0857e18, 3e-23
    # The cold layer takes what falls upon it, and the shock recedes as it grows.
    speed = 200e5
    cold = BOLTZMANN * 1.05e4 / PROTON
    recedes = 0.0
    for _ in range(50):
        recedes = speed / (((speed + recedes) ** 2) / cold - 1.0)
    x, density = steady_structure(speed + recedes, 1e4, rate)
    length = x[np.searchsorted(density, 16.0)]  # in which density grows by another factor of 4
    box = float(3.0 * length / parsec)
    write_shock_table(tmp_path / "table.h5", rate)
    end = float(40.0 * length / (0.25 * speed) / MEGAYEAR)
    outcome = run_well(
        tmp_path / "run", SHOCK, f'cooling.table="{tmp_path}/table.h5"', f"time.end={end!r}",
        f"mesh.upper=[{box!r}, {box / 24.0!r}, {box / 24.0!r}]",
        f"output.snapshot_times=[{0.8 * end!r}, {0.9 * end!r}]", timeout=600,
    )  # fmt: skip
    cell = box * parsec / 192.0
    behind = np.arange(4.0 * cell, np.interp(9.0, density, x), cell)
    expected = np.interp(behind, x, density)
    assert len(behind) > 40
    found = [profile(snapshot, parsec, behind) for snapshot in outcome.snapshots[-3:]]
    assert np.abs(np.mean(found, axis=0) / expected - 1.0).max() < 0.03
