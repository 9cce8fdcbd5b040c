"""The ultraviolet background beside ionising photons: equilibria, heating, self-shielding."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from ionization_setups import DENSITY, ENERGY_UNIT, photon_residual, region
from ionized_atoms import ELECTRON_VOLT, case_b_rates
from ionized_sphere import KPC, MYR

from cooling_cells import TABLES, Weights
from reference_data import reference_path
from refusals import assert_refused
from running import SAME_BITS_CASES, Outcome, assert_same_run, leaf_cells, run, run_well

HELIUM = 0.1  # per hydrogen nucleus, as in the tables
REDSHIFT = 3.017  # of a row of the table
CELLS = 8
# Hydrogen of 1e-6 to 10 cm^-3 along x, in units of 1e-3 cm^-3.
LAYERS = f"10^({CELLS} * x - 3.5)"
DARK = ("ionization.source_rates=[0]", "hydro.moves=false", f"ionization.redshift={REDSHIFT}")


@pytest.fixture(scope="module")
def table() -> Path:
    """Give the path of a table of Grackle with the background of Haardt & Madau (2012)."""
    return reference_path(f"cooling/{TABLES['HM2012']}")


def rates_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return ionisation rates in 1/s and heating in erg/s of HI, HeI and HeII."""
    with h5py.File(path) as file:
        group = file["UVBRates"]
        row = int(np.argmin(np.abs(group["z"][...] - REDSHIFT)))
        rates = [group[f"Chemistry/{name}"][row] for name in ("k24", "k26", "k25")]
        heat = [group[f"Photoheating/{name}"][row] for name in ("piHI", "piHeI", "piHeII")]
    return np.array(rates), np.array(heat) * ELECTRON_VOLT


def shielded(n: np.ndarray, rate: float) -> np.ndarray:
    """Return the fraction of the background at hydrogen densities: Rahmati et al. (2013)."""
    x = n / (6.73e-3 * (rate / 1e-12) ** (2.0 / 3.0))
    return 0.98 * (1.0 + x**1.64) ** -2.28 + 0.02 * (1.0 + x) ** -0.84


def equilibrium(kelvin: float, n: float, photo: np.ndarray) -> tuple[float, float, float]:
    """Return the fractions of HII, HeII and HeIII at a hydrogen density, by bisection."""
    rates = case_b_rates(np.array([kelvin]))
    low, high = 1e-12, 1.0 + 2.0 * HELIUM
    for _ in range(200):
        electrons = np.sqrt(low * high)
        up = [
            (rates.ionization[s][0] + photo[s] / (n * electrons)) / rates.recombination[s][0]
            for s in range(3)
        ]
        hydrogen = up[0] / (1.0 + up[0])
        neutral = 1.0 / (1.0 + up[1] * (1.0 + up[2]))
        once, twice = up[1] * neutral, up[1] * up[2] * neutral
        found = hydrogen + HELIUM * (once + 2.0 * twice)
        low, high = (electrons, high) if found > electrons else (low, electrons)
    return hydrogen, once, twice


def layers(directory: Path, table: Path, kelvin: float, *overrides: str, **how: object) -> Outcome:
    """Run layers of gas of constant temperature until they are in equilibrium."""
    text = region(CELLS, 1.0, 1000.0, density=LAYERS, helium=HELIUM, speed_ratio=1e-7)
    return run_well(
        directory,
        text,
        *DARK,
        f"ionization.uv_background={table}",
        f"ionization.temperature={kelvin}",
        *overrides,
        **how,
    )


@pytest.mark.parametrize("shielding", ["none", "rahmati"])
@pytest.mark.parametrize("kelvin", [1e4, 3e4])
def test_gas_is_in_the_equilibrium_of_the_background(
    tmp_path: Path, table: Path, kelvin: float, shielding: str
) -> None:
    outcome = layers(tmp_path / "run", table, kelvin, f"ionization.self_shielding={shielding}")
    assert not outcome.history()["ionization_unsolved"].any()
    cells = leaf_cells(outcome.last_snapshot)
    n = DENSITY * cells["density"]
    photo, _ = rates_of(table)
    share = shielded(n, photo[0]) if shielding == "rahmati" else np.ones_like(n)
    ratios = []
    for i in range(len(n)):
        hydrogen, once, twice = equilibrium(kelvin, n[i], photo * share[i])
        found = [cells[name][i] for name in ("ionized_hydrogen", "ionized_helium")]
        third = cells["doubly_ionized_helium"][i]
        assert 1.0 - found[0] == pytest.approx(1.0 - hydrogen, rel=5e-3), n[i]
        assert found[1] == pytest.approx(once, rel=0.01, abs=1e-9), n[i]
        assert third == pytest.approx(twice, rel=0.01, abs=1e-9), n[i]
        electrons = found[0] + HELIUM * (found[1] + 2.0 * third)
        weights = Weights.read(table, REDSHIFT, n[i])
        tabulated = np.interp(np.log10(kelvin), weights.log_temperature, weights.mu)
        ratios.append((1.0 + 3.971 * HELIUM) / (1.0 + HELIUM + electrons) / tabulated)
    # Mean molecular weights of Cloudy, which [cooling] reads; those of ionised gas are 3-4 % lower.
    print(ratios)
    if shielding == "none":
        np.testing.assert_allclose(ratios, 1.0, rtol=0.05)


def test_the_background_heats_neutral_gas(tmp_path: Path, table: Path) -> None:
    """In a time that is short against that of ionisation, and the energy budget is closed."""
    end = 1e-5
    text = region(4, 1.0, end, density="1e-3", helium=HELIUM, speed_ratio=1e-7)
    outcome = run_well(tmp_path / "run", text, *DARK, f"ionization.uv_background={table}")
    history = outcome.history()
    _, heat = rates_of(table)
    particles = DENSITY * 1e-3 * KPC**3
    unit = ENERGY_UNIT * (1.0 + 4.0 * HELIUM)
    expected = particles * (heat[0] + HELIUM * heat[1]) * end * MYR / unit
    found = history["ionization_heated"][-1]
    print(found, expected)
    assert found == pytest.approx(expected, rel=1e-3)
    gained = history["ionization_heated"] - history["ionization_radiated"]
    budget = history["total_energy"] - gained
    np.testing.assert_allclose(budget, budget[0], rtol=1e-12)


def test_photons_and_background_add_up(tmp_path: Path, table: Path) -> None:
    """Photons of a source are counted alone; more of them remain beside the background."""
    found = {}
    for name, more in (("dark", ()), ("lit", (f"ionization.uv_background={table}",))):
        text = region(8, 1.0, 1.0, helium=HELIUM, speed_ratio=0.002)
        history = run_well(tmp_path / name, text, "hydro.moves=false", *more).history()
        assert photon_residual(history).max() <= 1e-12
        found[name] = history["ionization_absorbed"][-1]
    print(found)
    assert 0.5 * found["dark"] < found["lit"] < 0.999 * found["dark"]


def test_bits_depend_neither_on_ranks_nor_threads(tmp_path: Path, table: Path) -> None:
    more = ("ionization.self_shielding=rahmati", "time.max_steps=3", "ionization.temperature=0")
    one = layers(tmp_path / "one", table, 0.0, *more)
    for n, (ranks, threads, overrides) in enumerate(SAME_BITS_CASES):
        other = layers(
            tmp_path / str(n), table, 0.0, *more, *overrides, ranks=ranks, threads=threads
        )
        assert_same_run(other, one)


def test_bad_backgrounds_are_refused(tmp_path: Path) -> None:
    text = region(4, 1.0, 0.1)
    broken = tmp_path / "broken.h5"
    with h5py.File(broken, "w") as file:
        file["UVBRates/z"] = [0.0, 1.0]
        for name in ("k24", "k25", "k26"):
            file[f"UVBRates/Chemistry/{name}"] = [1e-12, 1e-12]
        file["UVBRates/Photoheating/piHI"] = [1e-12, -1.0]
    for overrides, fragments in (
        (["ionization.self_shielding=rahmati"], ["self_shielding", "ionization.uv_background"]),
        (["ionization.redshift=2"], ["ionization.redshift = 2", "ionization.uv_background"]),
        (["ionization.uv_background=nothing.h5"], ["nothing.h5"]),
        ([f"ionization.uv_background={broken}"], ["broken.h5", "piHI", "negative"]),
    ):
        assert_refused(run(tmp_path / "run", text, *overrides), *fragments)
