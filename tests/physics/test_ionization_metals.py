"""Cooling by metals beside ionising photons: exact solutions, budget, bits, refusals."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from ionization_setups import ENERGY_UNIT, pressure_of, region
from ionized_atoms import BOLTZMANN
from ionized_sphere import KPC, MYR
from test_ionization_floor import STIRRED, temperatures

from grackle_rates import write_grackle_table
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Array,
    Outcome,
    assert_goes_on,
    assert_same_bits,
    run,
    run_well,
)

REDSHIFT = 1.0  # of a row of the table
METALLICITY = 0.5
LOG_DENSITY = 0.5  # log10 of hydrogen nuclei per cm^3, between rows of the table
DENSITY = 10.0**LOG_DENSITY
SLOPE = 0.1  # of log10 of the cooling by metals with log10 of the density
CMB = 2.73 * (1.0 + REDSHIFT)
STEPS = 100
STILL = ("hydro.moves=false", f"ionization.redshift={REDSHIFT}")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table whose cooling by metals depends on density, with a background without rates."""
    path = write_grackle_table(tmp_path_factory.mktemp("table") / "table.h5")
    with h5py.File(path, "r+") as file:
        cooling = file["CoolingRates/Metals/Cooling"]
        cooling[...] *= 10.0 ** (SLOPE * cooling.attrs["Parameter1"])[:, None, None]
        file["UVBRates/z"] = np.array([0.0, 10.0])
        for name in ("Chemistry/k24", "Chemistry/k25", "Chemistry/k26"):
            file[f"UVBRates/{name}"] = np.zeros(2)
        for name in ("piHI", "piHeI", "piHeII"):
            file[f"UVBRates/Photoheating/{name}"] = np.zeros(2)
    return path


def rate(table: Path, kelvin: Array, heating: float = 0.0) -> Array:
    """Return the net cooling by metals per n_H^2 in erg cm^3/s, linear in logarithms."""
    with h5py.File(table) as file:
        of = {name: file[f"CoolingRates/Metals/{name}"] for name in ("Cooling", "Heating")}
        attributes = of["Cooling"].attrs
        row = int(np.argmin(np.abs(attributes["Parameter2"] - REDSHIFT)))
        densities, log_t = attributes["Parameter1"], np.log10(attributes["Temperature"])

        def interpolate(name: str, x: Array) -> Array:
            logs = np.log10(of[name][:, row, :])
            by_t = [np.interp(LOG_DENSITY, densities, column) for column in logs.T]
            inside = np.interp(x, log_t, by_t)
            below = by_t[0] + (x - log_t[0]) * (by_t[1] - by_t[0]) / (log_t[1] - log_t[0])
            return 10.0 ** np.where(x < log_t[0], below, inside)

        found = interpolate("Cooling", np.log10(kelvin)) - interpolate("Cooling", np.log10([CMB]))
        return found - heating * interpolate("Heating", np.log10(kelvin))


def uniform(kelvin: float, end: float, particles: float = 1.0) -> str:
    """Return the parameter file of hydrogen at a temperature, until `end` in Myr, in the dark."""
    pressure = DENSITY / 1e-3 * particles * pressure_of(kelvin)
    return region(
        4,
        1.0,
        end,
        density=f"{DENSITY / 1e-3!r}",
        pressure=repr(pressure),
        rate=0.0,
        speed_ratio=1e-4,
    )


def with_metals(table: Path, metallicity: float = METALLICITY) -> tuple[str, ...]:
    return (
        f"ionization.metal_table={table}",
        f"ionization.initial_metallicity={metallicity}",
    )


@pytest.mark.parametrize(("begin", "end"), [(9000.0, 6000.0), (9000.0, 1000.0), (1000.0, 100.0)])
def test_neutral_gas_cools_by_metals_alone(
    tmp_path: Path, table: Path, begin: float, end: float
) -> None:
    """Dark gas without electrons: 3/2 k dT/dt = -n Z Lambda(T)."""
    kelvin = np.geomspace(begin, end, 20001)
    slowness = 1.5 * BOLTZMANN / (DENSITY * METALLICITY * rate(table, kelvin))
    parts = 0.5 * (slowness[1:] + slowness[:-1]) * -np.diff(kelvin)
    time = float(parts.sum()) / MYR
    text, step = uniform(begin, time), f"time.largest_step={time / STEPS}"
    outcome = run_well(tmp_path / "run", text, *STILL, *with_metals(table), step)
    found, history = temperatures(outcome, 0.0), outcome.history()
    print(found.mean(), end)
    np.testing.assert_allclose(found, end, rtol=5e-3)
    budget = history["total_energy"] + history["ionization_radiated"]
    np.testing.assert_allclose(budget, budget[0], rtol=1e-12)


def test_metals_reach_the_temperature_at_which_the_background_heats_as_much(
    tmp_path: Path, table: Path
) -> None:
    kelvin = np.geomspace(20.0, 2e4, 20001)
    net = rate(table, kelvin, heating=1.0)
    assert net[0] < 0.0 < net[-1]
    expected = float(np.interp(0.0, net, kelvin))
    text = uniform(9000.0, 1e3)
    outcome = run_well(
        tmp_path / "run",
        text,
        *STILL,
        *with_metals(table),
        f"ionization.uv_background={table}",
        "radiation.max_substeps=1000",
    )
    found = temperatures(outcome, 0.0)
    print(expected, found.mean())
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_metals_add_their_losses_to_those_of_hydrogen(tmp_path: Path, table: Path) -> None:
    """Hot ionised gas over a time in which it loses little."""
    end = 1e-3
    hot = ("ionization.initial_ions=[1, 0, 0]", *STILL)
    text = uniform(1e6, end, particles=2.0)
    lost = []
    for metallicity in (0.0, METALLICITY):
        outcome = run_well(
            tmp_path / f"{metallicity}", text, *hot, *with_metals(table, metallicity)
        )
        history = outcome.history()
        budget = history["total_energy"] + history["ionization_radiated"]
        np.testing.assert_allclose(budget, budget[0], rtol=1e-12)
        lost.append(history["ionization_radiated"][-1])
    expected = DENSITY**2 * METALLICITY * rate(table, np.array([1e6]))[0] * end * MYR * KPC**3
    expected /= ENERGY_UNIT
    print((lost[1] - lost[0]) / expected, lost)
    assert lost[0] > 0.0
    assert lost[1] - lost[0] == pytest.approx(expected, rel=0.01)


METALS = ("mesh.max_level=1", 'refine.where="x^2 + y^2 + z^2 < 0.5"', "time.max_steps=4")
SPECIES = 'problem.species={metals = "0.03 * (1 + sin(3 * x))"}'


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Outcome:
    """Give a run with stirred metals on one rank, with all of its checkpoints."""
    folder = tmp_path_factory.mktemp("metals")
    overrides = (*METALS, SPECIES, f"ionization.metal_table={table}")
    return run_well(folder / "one", STIRRED, *overrides, *CHECKPOINT_EVERY_STEP)


def test_bits_depend_neither_on_ranks_nor_threads_nor_restarts(
    tmp_path: Path, reference: Outcome, table: Path
) -> None:
    assert not reference.history()["ionization_unsolved"].any()
    overrides = (*METALS, SPECIES, f"ionization.metal_table={table}")
    assert_same_bits(tmp_path, reference, *overrides)
    assert_goes_on(tmp_path / "on", reference, 2, *overrides, ranks=2)


def test_tables_without_metals_are_refused(tmp_path: Path, table: Path) -> None:
    path = tmp_path / "primordial.h5"
    path.write_bytes(table.read_bytes())
    with h5py.File(path, "r+") as file:
        del file["CoolingRates/Metals"]
    outcome = run(tmp_path / "run", uniform(1e4, 0.1), f"ionization.metal_table={path}")
    assert_refused(outcome, "ionization.metal_table", "primordial.h5", "no rates of metals")
    outcome = run(tmp_path / "missing", uniform(1e4, 0.1), "ionization.metal_table=no.h5")
    assert_refused(outcome, "no.h5")
