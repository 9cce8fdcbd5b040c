"""Ionising photons of stars: numbers by age, mass and metallicity, whatever mesh and ranks."""

from pathlib import Path

import numpy as np
import pytest
from galaxy_setups import STARS_IN_WARM_GAS, WARM_GAS, half_refined_box
from ionization_setups import photon_residual

from galaxies import MEGAYEAR, SNAPSHOTS_ALONE
from inputs import GALAXIES_IN_A_BOX
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_bits,
    assert_same_run,
    run,
    run_well,
)

# Stars in thin gas at rest, the lower half of which along x is refined; one is beside finer cells,
# one at a periodic corner. Units: pc, Myr, one hydrogen nucleus per cm^3.
GROUPS = (13.6, 24.59)
MASS, STARS, END = 1e3, 20, 0.2
SWARM = f"""{STARS_IN_WARM_GAS}hydrogen_density = 0.1
stars = {STARS}
star_mass = {MASS}
star_speed = 10.0
metals = 0.01
positions = [32.1, 33.3, 20.9, 63.9, 0.02, 63.7]
{half_refined_box(8, 64.0)}{WARM_GAS}
[radiation]
speed_ratio = 0.001

[ionization]
enabled = true
edges = {list(GROUPS)}
spectrum_temperature = 5e4

[time]
end = {END}
{SNAPSHOTS_ALONE}"""
RATE = 2e46  # photons per second and solar mass
SHINING = (f"ionization.star_rate={RATE}", "output.history_interval=1")


def injected(outcome: Outcome) -> float:
    """Return the number of all photons that stars emitted."""
    history = outcome.history()
    assert photon_residual(history).max() <= 1e-12
    return float(history["ionization_injected"][-1])


@pytest.mark.parametrize("lifetime", [5.0, 0.15])
def test_stars_emit_at_their_rate_while_they_are_young(tmp_path: Path, lifetime: float) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *SHINING, f"ionization.star_lifetime={lifetime}")
    seconds = min(END, lifetime) * MEGAYEAR
    expected = RATE * MASS * STARS * seconds
    assert injected(outcome) == pytest.approx(expected, rel=1e-11)
    assert outcome.history()["ionization_absorbed"][-1] > 0.0


def test_stars_have_the_photons_of_a_table(tmp_path: Path) -> None:
    """Rates are linear in age and metallicity, which is 0.01 here."""
    rows = []
    for metallicity, factor in ((0.0, 1.0), (0.02, 3.0)):
        for age, first, second in ((0.0, 4.0, 1.0), (0.1, 2.0, 1.0), (1.0, 2.0, 0.1)):
            rows.append(f"{metallicity} {age} {factor * first}e46 {factor * second}e46")
    path = tmp_path / "rates.txt"
    path.write_text("# metallicity, age in Myr, photons per s and solar mass\n" + "\n".join(rows))
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        f"ionization.star_table={path}",
        "output.history_interval=1",
        *CHECKPOINT_EVERY_STEP,
    )
    # Integrals until 0.2 Myr, of the mean of both metallicities; in 1e46 Myr.
    first = 2.0 * (3.0 * 0.1 + 2.0 * 0.1)
    second = 2.0 * (0.1 + 0.1 * 0.5 * (1.0 + 0.9))
    number = (first + second) * 1e46 * MEGAYEAR * MASS * STARS
    assert injected(outcome) == pytest.approx(number, rel=1e-11)
    path.write_text(path.read_text().replace("4.0e46", "5.0e46"))
    refused = run(
        tmp_path / "changed",
        SWARM,
        f"ionization.star_table={path}",
        restart=sorted(outcome.directory.glob("checkpoint_*.h5"))[-1],
    )
    assert_refused(refused, "ionization.star_table", "have changed")


def test_bits_depend_neither_on_ranks_nor_threads_nor_schedule(tmp_path: Path) -> None:
    overrides = (*SHINING, "time.max_steps=4")
    one = run_well(tmp_path / "one", SWARM, *overrides, *CHECKPOINT_EVERY_STEP)
    assert one.history()["ionization_injected"][-1] > 0.0
    assert_same_bits(tmp_path, one, *overrides)
    assert_goes_on(tmp_path / "on", one, 2, *overrides, ranks=2)


# Stars that form in an expanding box, without processes that have no part in it.
EXPANDING = (
    "mesh.base_cells=[8,8,8]",
    "mesh.max_level=1",
    "refine.mass=[2.3]",
    "refine.holdback=false",
    "cooling.enabled=false",
    "stars.density=1e-9",
    "stars.overdensity=1.0",
    "stars.efficiency=1.0",
    "stars.mass=1e7",
    "supernovae.mode=none",
    "black_holes.enabled=false",
    "agn.enabled=false",
    "ionization.enabled=true",
    "ionization.star_rate=5e46",
    "radiation.speed_ratio=0.01",
    "time.max_steps=5",
    "output.history_interval=1",
    "output.checkpoint_interval=0",
)


def test_photons_balance_in_an_expanding_box_on_any_ranks(tmp_path: Path) -> None:
    text = (ROOT / "examples/galaxies.toml").read_text()
    one = run_well(tmp_path / "one", text, *EXPANDING)
    history = one.history()
    assert history["leaf_cells_1"][-1] > 0
    assert history["ionization_absorbed"][-1] > 0.01 * history["ionization_injected"][-1] > 0.0
    assert photon_residual(history).max() <= 1e-12
    assert history["ionization_unsolved"][-1] == 0
    assert_same_run(run_well(tmp_path / "three", text, *EXPANDING, ranks=3), one)


# Galaxies from stars, supernovae and black holes, all within 20 steps.
GALAXIES = (
    "cooling.enabled=false",
    "stars.density=1e-9",
    "stars.overdensity=1.0",
    "stars.mass=1e7",
    "supernovae.delay=1.0",
    "mesh.base_cells=[12, 12, 12]",
    "refine.mass=[2.5]",
    "black_holes.gas_density=1e-9",
    "black_holes.star_density=1e-9",
    "ionization.enabled=true",
    "ionization.edges=[13.6, 24.59]",
    "ionization.star_rate=2e44",
    "ionization.black_hole_fraction=0.4",
    "radiation.speed_ratio=0.01",
    "time.max_steps=20",
    "output.history_interval=1",
)


def test_budgets_of_a_box_of_galaxies_are_closed(tmp_path: Path) -> None:
    """Photons and mass after 20 steps on two ranks."""
    history = run_well(tmp_path / "run", GALAXIES_IN_A_BOX, *GALAXIES, ranks=2).history()
    assert history["step"][-1] == 20
    assert history["leaf_cells_1"][-1] > 0
    assert history["stars_particles"][-1] > 50
    assert history["supernovae_number"][-1] > 0
    assert history["sinks_particles"][-1] > 0
    assert history["ionization_absorbed"][-1] > 0.01 * history["ionization_injected"][-1] > 0.0
    assert photon_residual(history).max() <= 1e-10
    assert history["ionization_unsolved"][-1] == 0
    mass = history["mass"] + history["stars_mass"] + history["sinks_mass"]
    mass += history["black_holes_radiated"]
    assert np.abs(mass / mass[0] - 1.0).max() < 1e-12


BAD_TABLES = {
    "missing": (None, ["rates.txt"]),
    "few_numbers": ("0.01 0 1e46\n0.01 1 1e46\n", ["rates.txt", "2 groups", "found 3 numbers"]),
    "negative": ("0.01 0 1e46 -1\n0.01 1 1e46 0\n", ["rates.txt", "not negative"]),
    "metallicities": (
        "0.02 0 1 1\n0.02 1 1 1\n0.01 0 1 1\n0.01 1 1 1\n",
        ["rates.txt", "increasing metallicities"],
    ),
    "ages": ("0.02 1 1 1\n0.02 0 1 1\n", ["rates.txt", "increasing ages"]),
    "other_ages": (
        "0.01 0 1 1\n0.01 1 1 1\n0.02 0 1 1\n0.02 2 1 1\n",
        ["rates.txt", "ages of the first metallicity"],
    ),
    "few_ages": (
        "0.01 0 1 1\n0.01 1 1 1\n0.02 0 1 1\n",
        ["rates.txt", "ionization.star_table", "has 1 ages; expected 2"],
    ),
    "one_age": ("0.01 0 1 1\n", ["rates.txt", "ionization.star_table", "at least two ages"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_refused(tmp_path: Path, case: str) -> None:
    text, fragments = BAD_TABLES[case]
    path = tmp_path / "rates.txt"
    if text is not None:
        path.write_text(text)
    outcome = run(tmp_path / "run", SWARM, f"ionization.star_table={path}")
    assert_refused(outcome, *fragments)
