"""The temperature floor of gas with ionising photons: temperatures, its energy, bits."""

from pathlib import Path

import numpy as np
import pytest
from ionization_setups import pressure_of, region
from ionized_atoms import BOLTZMANN
from ionized_sphere import KPC, MYR, PROTON_MASS

from running import (
    CHECKPOINT_EVERY_STEP,
    Array,
    Outcome,
    assert_goes_on,
    assert_same_bits,
    leaf_cells,
    run_well,
)

HELIUM = 0.079
FLOOR = 3000.0
# Moving gas from 100 K to 20,000 K, with a source.
STIRRED = region(
    8,
    1.0,
    1.0,
    lower=-1.0,
    boundary=("periodic", "periodic"),
    source=(0.1, -0.17, 0.23),
    edges=(13.6, 24.59, 54.42),
    spectrum="black_body",
    helium=HELIUM,
    density="1 + 0.5 * sin(3 * x) * cos(2 * y)",
    velocity=("0.03 * sin(4 * y)", "0.02 * cos(4 * z)", "0.02 * sin(3 * x)"),
    pressure=f"{pressure_of(100.0, HELIUM)!r} * 10^(2.3 * abs(x))",
)
WITH_FLOOR = (f"ionization.temperature_floor={FLOOR}", "time.max_steps=4")
REFINED = ("mesh.max_level=1", 'refine.where="x^2 + y^2 + z^2 < 0.5"')


def temperatures(outcome: Outcome, helium: float = HELIUM) -> Array:
    """Return the temperatures of all cells of the last snapshot in K."""
    cells = leaf_cells(outcome.last_snapshot)
    electrons = cells["ionized_hydrogen"] + helium * (
        cells["ionized_helium"] + 2.0 * cells["doubly_ionized_helium"]
    )
    weight = (1.0 + 4.0 * helium) / (1.0 + helium + electrons)
    return (
        weight * PROTON_MASS / BOLTZMANN * cells["pressure"] / cells["density"] * (KPC / MYR) ** 2
    )


def test_cold_gas_gains_the_energy_of_the_floor(tmp_path: Path) -> None:
    """Neutral gas at rest in the dark: exactly 3/2 n k of the difference."""
    text = region(4, 1.0, 1.0, helium=HELIUM, rate=0.0)
    few = ("hydro.moves=false", "time.max_steps=1", f"ionization.temperature_floor={FLOOR}")
    outcome = run_well(tmp_path / "run", text, *few)
    history = outcome.history()
    gained = 1.5 * (pressure_of(FLOOR, HELIUM) - pressure_of(100.0, HELIUM))
    assert history["ionization_floored"][-1] == pytest.approx(gained, rel=1e-6)
    np.testing.assert_allclose(temperatures(outcome), FLOOR, rtol=1e-6)
    warmer = run_well(tmp_path / "warm", text, *few, "ionization.temperature_floor=50").history()
    assert warmer["ionization_floored"][-1] == 0.0


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Give the run on one rank, with all of its checkpoints."""
    folder = tmp_path_factory.mktemp("floor")
    return run_well(folder / "one", STIRRED, *WITH_FLOOR, *REFINED, *CHECKPOINT_EVERY_STEP)


def test_no_gas_is_colder_and_the_budget_contains_the_energy(reference: Outcome) -> None:
    history = reference.history()
    parts = {name: history[f"ionization_{name}"] for name in ("heated", "radiated", "floored")}
    gained = parts["heated"] - parts["radiated"] + parts["floored"] + history["ionization_work"]
    budget = history["total_energy"] - gained
    np.testing.assert_allclose(budget, budget[0], rtol=1e-12)
    assert parts["floored"][-1] > 0.01 * history["total_energy"][0]
    found = temperatures(reference)
    assert found.min() >= FLOOR * (1.0 - 1e-3)  # the last half step moves gas without the floor
    assert found.max() > 1e4


def test_bits_depend_neither_on_ranks_nor_threads_nor_restarts(
    tmp_path: Path, reference: Outcome
) -> None:
    assert_same_bits(tmp_path, reference, *WITH_FLOOR, *REFINED)
    assert_goes_on(tmp_path / "on", reference, 2, *WITH_FLOOR, *REFINED, ranks=2)
