"""Supernovae in runs: what stars lose and gas gets, in every mode, wherever a star is."""

import math
from pathlib import Path

import h5py
import numpy as np
import pytest
from galaxy_setups import STARS_IN_WARM_GAS, WARM_GAS, half_refined_box
from numpy.typing import NDArray

from cooling_cells import table_of
from galaxies import (
    SNAPSHOTS_ALONE,
    UNIT_ENERGY,
    UNIT_MASS,
    UNIT_SPEED,
    rows,
    toml,
)
from reference_data import reference_path
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_run,
    differing,
    leaf_cells,
    run,
    run_well,
)
from smaller_examples import SMALLER

Array = NDArray[np.float64]

# Stars of 50 solar masses, of which each becomes one supernova in the first step. The lower half
# along x is refined. Units: pc, Myr, one hydrogen per cm^3.
SWARM = f"""{STARS_IN_WARM_GAS}{half_refined_box(16, 64.0)}{WARM_GAS}
[supernovae]
mode = "mechanical"
delay = 0.0

[time]
end = 1e-7
{SNAPSHOTS_ALONE}"""

MODES = ["mechanical", "kinetic", "thermal", "stochastic"]
PLACES = {
    "off its cell's centre": [[46.7, 33.3, 20.9]],
    "at its cell's centre": [[46.0, 34.0, 22.0]],
    "beside finer cells": [[32.9, 33.3, 20.9]],
    "beside coarser cells": [[31.5, 33.3, 20.9]],
    "at a periodic corner": [[63.9, 0.02, 63.7]],
    "beside another one": [[46.7, 33.3, 20.9], [49.1, 33.9, 20.4], [47.3, 35.1, 23.8]],
    "among many": [],
}


DELAYED = ["cooling.enabled=true", "cooling.method=original", "cooling.delayed=true"]


def explode(folder: Path, mode: str, place: str, *overrides: str, **how: object) -> Outcome:
    """Let stars explode in the first step."""
    stars = PLACES[place]
    return run_well(
        folder,
        SWARM,
        f"supernovae.mode={mode}",
        f"problem.stars={len(stars) or 200}",
        f"problem.positions={toml(np.ravel(stars)) if stars else '[]'}",
        *overrides,
        **how,
    )


def change(history: dict[str, Array], name: str) -> float:
    return float(history[name][-1] - history[name][0])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", MODES)
def test_gas_gets_what_stars_lose(tmp_path: Path, mode: str, place: str) -> None:
    velocity = [20.0, -10.0, 5.0]
    outcome = explode(
        tmp_path / "run",
        mode,
        place,
        f"problem.velocity={toml(velocity)}",
        "problem.star_speed=30.0",
    )
    history = outcome.history()
    number = len(PLACES[place]) or 200
    assert change(history, "supernovae_number") == pytest.approx(number, rel=1e-12)
    ejected = 10.0 * number / UNIT_MASS
    assert change(history, "supernovae_mass") == pytest.approx(ejected, rel=1e-12)
    assert change(history, "stars_mass") == pytest.approx(-ejected, rel=1e-12)
    mass = history["mass"] + history["stars_mass"]
    assert abs(mass[-1] / mass[0] - 1.0) < 1e-12
    metals = (0.1 + 0.9 * 0.02) * ejected
    assert change(history, "supernovae_metals") == pytest.approx(metals, rel=1e-12)
    for axis in "xyz":
        lost = -change(history, f"stars_momentum_{axis}")
        got = change(history, f"supernovae_momentum_{axis}")
        assert abs(got - lost) < 1e-12 * history["absolute_momentum"][-1]
        gas = change(history, f"momentum_{axis}")
        assert abs(gas - got) < 1e-12 * history["absolute_momentum"][-1]
    energy = change(history, "supernovae_energy")
    nominal = change(history, "supernovae_nominal")
    assert nominal == pytest.approx(number * 1e51 / UNIT_ENERGY, rel=1e-12)
    total = change(history, "total_energy") - change(history, "supernovae_floor_energy")
    assert abs(total - energy) < 1e-12 * history["total_energy"][-1]
    if mode != "stochastic":
        assert energy == pytest.approx(nominal, rel=1e-12)
    # Momenta of mechanical blasts that overlap add up to more than their energies allow for.
    if mode != "mechanical" or number == 1:
        assert change(history, "supernovae_floor_energy") < 1e-6 * nominal
    before, after = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    gained = (after["metals"] * after["density"] * after.volume).sum()
    gained -= (before["metals"] * before["density"] * before.volume).sum()
    assert gained == pytest.approx(metals, rel=1e-9)


def radial_momentum(snapshot: Path, star: Array) -> tuple[Array, float]:
    """Sum the momenta of cells, and their lengths, in code units."""
    cells = leaf_cells(snapshot)
    mass = cells["density"] * cells.volume
    momentum = np.stack([cells[f"velocity_{axis}"] * mass for axis in "xyz"], axis=1)
    return momentum.sum(axis=0), float(np.linalg.norm(momentum, axis=1).sum())


@pytest.mark.parametrize("mode", ["mechanical", "kinetic"])
def test_a_blast_has_no_net_momentum_wherever_its_star_is(tmp_path: Path, mode: str) -> None:
    random = np.random.default_rng(1)
    for n in range(8):
        star = random.uniform([24.0, 0.0, 0.0], [64.0, 64.0, 64.0])  # on both levels
        outcome = run_well(
            tmp_path / f"{n}",
            SWARM,
            f"supernovae.mode={mode}",
            f"problem.positions={toml(star)}",
        )
        net, radial = radial_momentum(outcome.last_snapshot, star)
        assert radial * UNIT_MASS * UNIT_SPEED > 1e4
        assert np.abs(net).max() < 1e-12 * radial, star


def test_coarse_cells_get_the_terminal_momentum(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        f"mesh.upper={toml([1600.0] * 3)}",
        "mesh.max_level=0",
        "refine.region_level=0",
        f"problem.positions={toml([833.0, 811.0, 795.0])}",
    )
    _, radial = radial_momentum(outcome.last_snapshot, np.zeros(3))
    assert radial * UNIT_MASS * UNIT_SPEED == pytest.approx(3e5, rel=1e-9)
    history = outcome.history()
    # What such a blast radiates on its way is not in the gas.
    assert change(history, "supernovae_energy") < 0.5 * change(history, "supernovae_nominal")


def test_a_mechanical_blast_does_not_know_how_fast_everything_moves(tmp_path: Path) -> None:
    rest, moving = (
        leaf_cells(
            explode(
                tmp_path / f"{speed}",
                "mechanical",
                "beside finer cells",
                f"problem.velocity={toml([speed, 0.0, 0.0])}",
                "time.end=1e-12",
            ).last_snapshot
        )
        for speed in (0.0, 100.0)
    )
    fastest = np.abs(rest["velocity_x"]).max()
    assert np.abs(moving["velocity_x"] - 100.0 - rest["velocity_x"]).max() < 1e-9 * fastest
    for name in ("density", "pressure"):
        assert np.abs(moving[name] / rest[name] - 1.0).max() < 1e-8, name


def test_blasts_leave_no_pressure_below_the_floor(tmp_path: Path) -> None:
    """The floor follows from the initial state, after the process was prepared."""
    text = (ROOT / "examples/disc_galaxy.toml").read_text()
    how = (*SMALLER["disc_galaxy"], "time.max_steps=3", "output.snapshot_interval=0")
    outcome = run_well(tmp_path / "run", text, *how)
    assert outcome.history()["supernovae_number"][-1] > 0
    with h5py.File(next(outcome.directory.glob("checkpoint_*.h5"))) as file:
        floor = 1e-14 * file["header"].attrs["energy_scale"]
    # The pressure follows from the stored energy, to rounding.
    assert leaf_cells(outcome.last_snapshot)["pressure"].min() >= floor * (1 - 1e-15)


def test_stochastic_blasts_heat_few_cells_by_the_energy_that_is_due(tmp_path: Path) -> None:
    outcome = explode(tmp_path / "run", "stochastic", "among many", "problem.stars=2000")
    history = outcome.history()
    energy = change(history, "supernovae_energy") / change(history, "supernovae_nominal")
    # One cell of the coarse level takes 0.06 of a supernova, one of a fine level an eighth of it.
    assert energy == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("mode", ["mechanical", "stochastic"])
def test_all_searches_give_the_same_bits(tmp_path: Path, mode: str) -> None:
    blocks, *others = (
        explode(tmp_path / method, mode, "among many", f"events.method={method}").last_snapshot
        for method in ("blocks", "bins", "brute")
    )
    for other in others:
        assert differing(other, blocks) == []


def test_a_star_explodes_once_and_when_it_is_old_enough(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        "supernovae.delay=0.05",
        "problem.temperature_over_mu=100.0",
        "time.end=0.1",
        "time.largest_step=0.01",
    )
    history = outcome.history()
    exploded = history["supernovae_number"]
    assert exploded[-1] == pytest.approx(1.0)
    assert history["time"][np.argmax(exploded > 0)] == pytest.approx(0.05, abs=0.0101)
    assert (exploded[exploded > 0] == exploded[-1]).all()


def test_discrete_supernovae_come_at_their_rate(tmp_path: Path) -> None:
    # 8 stars of 1e5 solar masses between 5 and 5.5 Myr, in gas that is too thin to matter.
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        "supernovae.population=discrete",
        "supernovae.mode=thermal",
        "supernovae.energy=0.0",
        "problem.stars=8",
        "problem.star_mass=1e5",
        "problem.hydrogen_density=1.0",
        "problem.temperature_over_mu=1.0",
        "mesh.upper=[6400.0, 6400.0, 6400.0]",
        "mesh.max_level=0",
        "refine.region_level=0",
        "time.end=10.0",
        "time.largest_step=0.5",
    )
    history = outcome.history()
    expected = 8e5 * 5.408e-4 * (10.0 - 3.401)
    number = change(history, "supernovae_number")
    assert abs(number - expected) < 4.0 * math.sqrt(expected)
    assert change(history, "stars_mass") * UNIT_MASS == pytest.approx(-10.0 * number, rel=1e-9)
    assert (history["supernovae_number"][history["time"] < 3.4] == 0.0).all()


# --- the same bits --------------------------------------------------------------------------------

CHANGING = """
[refine]
gradient_fields = ["pressure"]
gradient = [0.4]

[balance]
interval = 2
"""
# Stars of a population explode one after the other, while the mesh follows the blasts.
ONGOING = [
    "supernovae.population=discrete",
    "problem.stars=60",
    "problem.star_mass=2e4",
    "problem.star_speed=20.0",
    "time.max_steps=14",
    "time.end=100.0",
    "mesh.upper=[2560.0, 2560.0, 2560.0]",
    "output.final_checkpoint=true",
]


def ongoing(text: str) -> str:
    before, _, rest = text.partition("[refine]")
    return before + CHANGING + rest[rest.index("[hydro]") :]


@pytest.fixture(scope="module", params=MODES)
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run an ongoing swarm on one rank."""
    folder = tmp_path_factory.mktemp(request.param)
    parameters = ongoing(SWARM).replace('"mechanical"', f'"{request.param}"')
    return run_well(folder / "run", parameters, *ONGOING, *CHECKPOINT_EVERY_STEP)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_more_ranks(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    history = reference.history()
    assert np.count_nonzero(np.diff(history["supernovae_number"])) > 3
    assert history["leaf_cells_1"][-1] > 0
    by_cost = "balance.cost=measured"
    outcome = run_well(tmp_path / "run", reference.parameters, *ONGOING, by_cost, ranks=ranks)
    assert_same_run(outcome, reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    assert_goes_on(tmp_path / "run", reference, 9, *ONGOING, ranks=ranks)


# --- a remnant ------------------------------------------------------------------------------------


def remnant_physics() -> list[str]:
    """Return the settings of a remnant in the gas of `sn_remnant_1d.csv`, on one level."""
    return [
        "mesh.max_level=0",
        "refine.region_level=0",
        "problem.metals=0.01295",
        "cooling.enabled=true",
        f'cooling.table="{table_of("noUVB")}"',
        "cooling.compton=false",
        "floor.kind=polytrope",
        "floor.temperature=7e3",
        "floor.index=1.0",
    ]


@pytest.mark.parametrize("cell", [8.0, 100.0])
def test_a_remnant_ends_with_the_momentum_of_the_reference(tmp_path: Path, cell: float) -> None:
    table = rows(reference_path("galaxy/sn_remnant_1d.csv"))
    one = (table["n_H"] == 1.0) & (table["Z"] == 1.0)
    reference = table["momentum"][one].max()
    cells = 24 if cell < 10.0 else 8
    star = (cells // 2 + 0.5 + np.array([0.25, 0.1, -0.3])) * cell
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        f"problem.positions={toml(star)}",
        f"mesh.base_cells=[{cells}, {cells}, {cells}]",
        f"mesh.upper={toml([cells * cell] * 3)}",
        *remnant_physics(),
        "time.end=0.6",
        "output.snapshot_interval=0.1",
    )
    momenta = [radial_momentum(path, star)[1] for path in outcome.snapshots]
    assert max(momenta) * UNIT_MASS * UNIT_SPEED == pytest.approx(reference, rel=0.2)


def test_a_bubble_radiates_no_heat_that_its_energy_lacks(tmp_path: Path) -> None:
    """Entropies of bubble and shell that mix stand for more heat than both have."""
    star = (8.5 + np.array([0.25, 0.1, -0.3])) * 4.0
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        "supernovae.mode=thermal",
        f"problem.positions={toml(star)}",
        'hydro.dual_energy="on"',
        *remnant_physics(),
        "time.end=0.2",
        "output.snapshot_interval=0.05",
    )
    history = outcome.history()
    gained = sum(history[f"{of}_energy"] for of in ("supernovae", "cooling_floor", "floored"))
    lost = history["cooling_cooled"] - history["cooling_uv_heated"]
    total = history["total_energy"] + lost - gained
    blast = change(history, "supernovae_energy")
    assert np.abs(total - total[0]).max() < 1e-12 * blast
    assert change(history, "floored_energy") == 0.0


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["supernovae.mode=thermic"], ["supernovae.mode", "thermal"]),
        (["supernovae.radius=8.0"], ["supernovae.radius = 8", "half of the domain"]),
        (["supernovae.fraction=1.0"], ["supernovae.fraction"]),
        (["events.method=bin"], ["events.method", "bins"]),
        (["hydro.enabled=false"], ["[supernovae] requires hydro.enabled = true"]),
        (DELAYED, ['supernovae.mode = "mechanical"', "cooling.delayed = true"]),
        (["problem.positions=[1.0, 2.0]"], ["problem.positions", "three"]),
        (["problem.positions=[1.0, 2.0, 64.0]"], ["problem.positions", "outside"]),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_bad_input_is_refused(
    tmp_path: Path, overrides: list[str], complaint: list[str], ranks: int
) -> None:
    assert_refused(run(tmp_path / "run", SWARM, *overrides, ranks=ranks), *complaint)


def test_a_blast_that_would_reach_half_the_box_ends_the_run(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", SWARM, "supernovae.least_radius=32.0")
    assert_refused(outcome, "supernovae.least_radius = 32", "half of the domain", code=1)


@pytest.mark.parametrize("mode", ["kinetic", "thermal", "stochastic"])
def test_ejecta_delay_cooling(tmp_path: Path, mode: str) -> None:
    outcome = explode(tmp_path / "run", mode, "at its cell's centre", *DELAYED)
    cells = leaf_cells(outcome.last_snapshot)
    delayed = (cells["density"] * cells["delayed"] * cells.volume).sum()
    assert delayed == pytest.approx(outcome.history()["supernovae_mass"][-1], rel=1e-9)


def test_metals_are_those_of_stars(tmp_path: Path) -> None:
    outcome = explode(tmp_path / "run", "thermal", "at its cell's centre", "supernovae.radius=0.0")
    with h5py.File(outcome.last_snapshot) as file:
        assert file["particles/stars/mass"][0] * UNIT_MASS == pytest.approx(40.0)
        assert file["particles/stars/initial_mass"][0] * UNIT_MASS == pytest.approx(50.0)
    before, after = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    changed = after["metals"] != before["metals"]
    assert np.count_nonzero(changed) == 1  # its own cell alone


# --- populations by a table -----------------------------------------------------------------------


def write_population(path: Path, **changes: object) -> dict[str, Array]:
    """Write a table of stars that give back mass, metals and supernovae between 10 and 90 yr."""
    age = 1e-5 * np.array([1.0, 2.0, 4.0, 7.0, 9.0])
    grows = np.array([0.0, 0.1, 0.6, 0.6, 1.0])  # not at all for a while
    richer = np.array([1.0, 2.0])[:, None]
    table = {
        "age": age,
        "metallicity": np.array([0.0, 0.04]),
        "ejected_mass": 0.2 * grows * richer,
        "ejected_metals": 0.02 * grows**2 * richer,
        "supernovae": 0.012 * np.sqrt(grows) * richer,
    }
    table |= {name: np.asarray(values, dtype=float) for name, values in changes.items()}
    with h5py.File(path, "w") as file:
        for name, values in table.items():
            file[name] = values
    return table


def returned(table: dict[str, Array], age: float, metallicity: float) -> dict[str, float]:
    """Interpolate the table: per mass with which stars formed."""
    share = metallicity / 0.04
    log_age = np.log(table["age"])
    return {
        name: float(
            np.interp(np.log(age), log_age, (1.0 - share) * table[name][0] + share * table[name][1])
        )
        for name in ("ejected_mass", "ejected_metals", "supernovae")
    }


@pytest.mark.parametrize("least", [0.0, 0.05])
@pytest.mark.parametrize("mode", ["thermal", "mechanical"])
def test_stars_give_back_what_their_table_says(tmp_path: Path, mode: str, least: float) -> None:
    path = tmp_path / "stars.h5"
    table = write_population(path)
    steps, end = 40, 8e-5
    outcome = explode(
        tmp_path / "run",
        mode,
        "beside another one",
        "supernovae.population=table",
        f'supernovae.table="{path}"',
        f"supernovae.least_ejecta={least}",
        f"time.largest_step={end / steps!r}",
        f"time.end={end!r}",
    )
    history = outcome.history()
    assert len(history["step"]) == steps + 1
    formed = 3 * 50.0
    with h5py.File(outcome.last_snapshot) as file:
        metallicity = float(file["particles/stars/metallicity"][0])
    assert 0.0 < metallicity < 0.04
    gained = change(history, "supernovae_mass") * UNIT_MASS / formed
    due = returned(table, end, metallicity)
    if least == 0.0:
        assert gained == pytest.approx(due["ejected_mass"], rel=1e-12)
    else:
        assert due["ejected_mass"] - least < gained < due["ejected_mass"]
    # Whatever the steps, metals and supernovae are those until the age that the mass belongs to.
    ages = np.geomspace(1e-5, end, 4000)
    masses = [returned(table, age, metallicity)["ejected_mass"] for age in ages]
    until = ages[np.searchsorted(masses, gained * (1.0 - 1e-9))] if least else end
    then = returned(table, until, metallicity)
    metals = change(history, "supernovae_metals") * UNIT_MASS / formed
    number = change(history, "supernovae_number") / formed
    accuracy = 2e-3 if least else 1e-9
    assert metals == pytest.approx(then["ejected_metals"], rel=accuracy)
    assert number == pytest.approx(then["supernovae"], rel=accuracy)
    nominal = change(history, "supernovae_nominal") * UNIT_ENERGY
    assert nominal == pytest.approx(number * formed * 1e51, rel=1e-9)
    mass = history["mass"] + history["stars_mass"]
    assert np.abs(mass / mass[0] - 1.0).max() < 1e-12


def test_a_table_gives_the_same_bits_on_more_ranks_and_across_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "stars.h5"
    write_population(path)
    settings = [
        "supernovae.population=table",
        f'supernovae.table="{path}"',
        "time.largest_step=4e-6",
        "time.end=8e-5",
    ]
    one = explode(tmp_path / "one", "mechanical", "among many", *settings, *CHECKPOINT_EVERY_STEP)
    three = explode(tmp_path / "three", "mechanical", "among many", *settings, ranks=3)
    assert_same_run(three, one)
    again = explode(
        tmp_path / "again",
        "mechanical",
        "among many",
        *settings,
        restart=one.directory / "checkpoint_00009.h5",
    )
    assert_same_run(again, one, first_step=10)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"age": [3.0, 2.0, 4.0, 5.0, 6.0]}, ["age is 2", "increasing"]),
        ({"ejected_mass": np.full((2, 5), 0.95)}, ["ejected_mass reaches 0.95"]),
        ({"ejected_metals": np.full((2, 5), 0.1)}, ["ejected_metals is 0.1"]),
        ({"supernovae": [[0, 1, 2, 3, 2], [0, 0, 0, 0, 0]]}, ["supernovae is 2", "decrease"]),
        ({"supernovae": np.full((2, 5), np.nan)}, ["supernovae is nan"]),
        ({"supernovae": np.zeros((5, 2))}, ["supernovae", "2 x 5"]),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_bad_tables_are_refused(
    tmp_path: Path, changes: dict[str, object], complaint: list[str], ranks: int
) -> None:
    path = tmp_path / "stars.h5"
    write_population(path, **changes)
    by_table = ["supernovae.population=table", f'supernovae.table="{path}"']
    assert_refused(run(tmp_path / "run", SWARM, *by_table, ranks=ranks), str(path), *complaint)


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["supernovae.population=table"], ["requires supernovae.table"]),
        (['supernovae.table="stars.h5"'], ['requires supernovae.population = "table"']),
        (["supernovae.population=table", 'supernovae.table="none.h5"'], ["none.h5"]),
        (["supernovae.least_ejecta=1.0"], ["supernovae.least_ejecta"]),
    ],
)
def test_populations_and_tables_must_fit(
    tmp_path: Path, overrides: list[str], complaint: list[str]
) -> None:
    assert_refused(run(tmp_path / "run", SWARM, *overrides), *complaint)


@pytest.mark.parametrize("mode", MODES)
def test_ejecta_dilute_no_scalar(tmp_path: Path, mode: str) -> None:
    """A concentration that is the same everywhere stays so to rounding; metals grow."""
    outcome = explode(
        tmp_path / "run", mode, "among many", "hydro.scalars=2", "problem.scalars=[0.25, 1.0]",
        *([] if mode == "mechanical" else DELAYED), "problem.velocity=[20.0, -10.0, 5.0]",
    )  # fmt: skip
    assert change(outcome.history(), "supernovae_mass") > 0.0
    gas = leaf_cells(outcome.last_snapshot)
    assert np.abs(gas["scalar_0"] / 0.25 - 1.0).max() < 1e-14
    assert np.abs(gas["scalar_1"] - 1.0).max() < 1e-14
    assert gas["metals"].max() > 0.0201
