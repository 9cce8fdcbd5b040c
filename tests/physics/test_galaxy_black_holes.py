"""Black holes in runs: accretion, drag, spin, mergers, seeds and feedback."""

import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from galaxy_setups import BLACK_HOLES, DENSITY, LENGTH, LIGHT, TIME, half_refined_box, sinks
from numpy.typing import NDArray

from galaxies import BOLTZMANN, GRAVITY, PROTON, SNAPSHOTS_ALONE, SUN, toml
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    differing,
    leaf_cells,
    run,
    run_well,
)

Array = NDArray[np.float64]

UNIT_MASS = DENSITY * LENGTH**3 / SUN  # of the code, in solar masses
UNIT_SPEED = LENGTH / TIME / 1e5  # in km/s
UNIT_ENERGY = DENSITY * LENGTH**3 * (LENGTH / TIME) ** 2
LIGHT_SPEED = LIGHT / (LENGTH / TIME)  # in the code's unit

# Black holes in cells of two levels, in a step that is too short for gas to move far; the accretion
# rate is boosted. The lower half along x is refined.
SWARM = f"""
[problem]
name = "black_holes"
holes = 40
hole_mass = 1e6
hole_speed = 0.5
temperature_over_mu = 1e5
velocity = [0.5, -0.2, 0.1]
{half_refined_box(16, 16.0)}
[hydro]
gamma = 1.6666666666666667
{BLACK_HOLES}boost_density = 1e-3
merge_length = 0.0

[time]
end = 1e-4
{SNAPSHOTS_ALONE}"""


def change(history: dict[str, Array], name: str) -> float:
    return float(history[name][-1] - history[name][0])


def mass_is_kept(history: dict[str, Array]) -> None:
    """Check that the mass of gas, black holes and radiated energy is constant at every step."""
    mass = history["mass"] + history["sinks_mass"] + history["black_holes_radiated"]
    assert np.abs(mass / mass[0] - 1.0).max() < 1e-12


# --- accretion and drag ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run one step in which many black holes accrete, some from the same cells."""
    folder = tmp_path_factory.mktemp("fed")
    random = np.random.default_rng(1)
    middles = np.array([[15.9, 0.1, 8.0], [8.1, 8.0, 4.0], [12.0, 12.0, 15.8]])
    places = (middles.repeat(8, axis=0) + random.uniform(-1.0, 1.0, (24, 3))) % 16.0
    return run_well(
        folder / "run",
        SWARM,
        "black_holes.boost=5.0",
        "black_holes.eddington=false",
        "black_holes.drag_boost=5.0",
        "time.end=1e-8",
        "problem.holes=24",
        f"problem.positions={toml(places.ravel())}",
        "time.subcycle=false",
        "time.max_steps=1",
    )


def test_gas_and_holes_keep_their_mass_and_momentum(fed: Outcome) -> None:
    history = fed.history()
    mass_is_kept(history)
    accreted = change(history, "black_holes_accreted")
    assert accreted > 3e-4 * history["mass"][0]
    radiated = change(history, "black_holes_radiated")
    assert change(history, "sinks_mass") == pytest.approx(accreted - radiated, rel=1e-12)
    # Gravity between cells and holes has a larger error than what is tested here.
    scale = history["absolute_momentum"][-1]
    for axis in "xyz":
        total = history[f"momentum_{axis}"] + history[f"sinks_momentum_{axis}"]
        assert abs(total[-1] - total[0]) < 1e-12 * scale, axis
        got = change(history, f"black_holes_momentum_{axis}")
        assert abs(change(history, f"sinks_momentum_{axis}") - got) < 1e-6 * scale


def test_no_cell_gives_more_than_a_quarter(fed: Outcome) -> None:
    density = leaf_cells(fed.last_snapshot)["density"]
    assert density.min() == pytest.approx(0.75, rel=1e-6)
    assert np.count_nonzero(density < 0.7501) > 3


def test_energy_is_accounted_for(fed: Outcome) -> None:
    history = fed.history()
    energy = history["total_energy"] - history["potential"] + history["black_holes_accreted_energy"]
    assert change(history, "black_holes_drag_energy") > 0.0
    assert abs(energy[-1] - energy[0]) < 1e-6 * abs(change(history, "black_holes_accreted_energy"))


def rate_of(run: Outcome) -> tuple[float, float]:
    """Read the Bondi rate and the Eddington rate of the only black hole."""
    columns = sinks(run.last_snapshot)
    return float(columns["bondi_rate"][0]), float(columns["eddington_rate"][0])


ONE = ["problem.holes=1", "problem.positions=[12.3,7.9,8.2]", "problem.hole_speed=0.0"]


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_rates_are_those_of_bondi_and_eddington(tmp_path: Path, speed: float) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        *ONE,
        "black_holes.boost=0.0",
        "time.max_steps=1",
        f"problem.velocities={toml([speed, 0.0, 0.0])}",
        "problem.hole_mass=1e4",
        "time.end=1e-9",
    )
    sound = math.sqrt(5.0 / 3.0 * BOLTZMANN * 1e5 / PROTON) / (LENGTH / TIME)
    mass = 1e4 / UNIT_MASS
    bondi = 4.0 * math.pi * mass**2 / (sound**2 + speed**2) ** 1.5
    measured, eddington = rate_of(outcome)
    assert measured == pytest.approx(bondi, rel=1e-4)
    # A hole without spin radiates 1 - sqrt(8/9).
    years = (
        (1.0 - math.sqrt(8.0 / 9.0)) * 6.6524587321e-25 * LIGHT / (4.0 * math.pi * GRAVITY * PROTON)
    )
    assert eddington == pytest.approx(mass / (years / TIME), rel=1e-12)


def test_accretion_stops_at_eddingtons_rate(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *ONE, "problem.hole_mass=1e8", "time.max_steps=3")
    history = outcome.history()
    bondi, eddington = rate_of(outcome)
    assert bondi > eddington
    duration = history["time"][-1] - history["time"][0]
    assert change(history, "black_holes_accreted") == pytest.approx(eddington * duration, rel=1e-3)


def test_gas_slows_a_hole_down(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        *ONE,
        "problem.hole_mass=1e4",
        "black_holes.accretion=false",
        "problem.velocities=[0.4,0.0,0.0]",
        "time.max_steps=1",
        "time.end=1e-4",
        "black_holes.boost_density=1.0",
        "problem.velocity=[0.0,0.0,0.0]",
    )
    history, columns = outcome.history(), sinks(outcome.last_snapshot)
    mach = 0.4 / columns["sound_speed"][0]
    mass = 1e4 / UNIT_MASS
    factor = (0.5 * math.log((1.0 + mach) / (1.0 - mach)) - mach) / mach**2
    force = 4.0 * math.pi * mass**2 / columns["sound_speed"][0] ** 2 * factor
    lost = -change(history, "black_holes_momentum_x")
    assert lost == pytest.approx(force * history["time"][-1], rel=1e-3)


# --- spins ----------------------------------------------------------------------------------------


def test_a_hole_in_turning_gas_spins_up_as_its_mass_says(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        "problem.holes=1",
        "problem.positions=[8.0,8.0,8.0]",
        "problem.hole_speed=0.0",
        "problem.hole_mass=2e8",
        "problem.velocity=[0.0,0.0,0.0]",
        "problem.rotation=[0.0,0.0,0.1]",
        "black_holes.boost=0.0",
        "black_holes.eddington=false",
        "mesh.max_level=0",
        "refine.region_level=0",
        "time.end=1.2",
        "output.snapshot_interval=0.04",
    )
    masses: list[float] = []
    for path in outcome.snapshots:
        columns = sinks(path)
        masses.append(float(columns["mass"][0]))
        ratio = masses[-1] / masses[0]
        orbit = 6.0 / ratio**2
        spin = min(math.sqrt(orbit) / 3.0 * (4.0 - math.sqrt(max(3.0 * orbit - 2.0, 0.0))), 0.998)
        spin = 0.998 if ratio > math.sqrt(6.0) else spin
        assert columns["spin_z"][0] == pytest.approx(spin, abs=1e-9)
        assert abs(columns["spin_x"][0]) < 1e-6
    assert any(1.01 < mass / masses[0] < 2.0 for mass in masses)
    assert masses[-1] / masses[0] > 2.2019


# --- mergers --------------------------------------------------------------------------------------

# Three over a periodic corner, of which two only know each other by the third, and a pair; one is
# alone.
CORNER = [[15.9, 0.3, 15.7], [0.6, 15.9, 0.1], [1.5, 0.1, 15.9]]
PLACES = [*CORNER, [9.0, 8.0, 8.0], [9.5, 8.2, 8.0], [4.0, 4.0, 4.0]]
GROUPS = [
    "problem.holes=6",
    f"problem.positions={toml(np.ravel(PLACES))}",
    f"problem.masses={toml([1e6, 3e6, 2e6, 5e5, 5e5, 1e6])}",
    "black_holes.merge_length=3.0",
    "black_holes.accretion=false",
    "black_holes.drag=false",
    "time.max_steps=1",
    "time.end=1e-9",
]


def test_friends_of_friends_merge(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *GROUPS, "black_holes.merge_bound=false")
    before, after = sinks(outcome.snapshots[0]), sinks(outcome.last_snapshot)
    history = outcome.history()
    mass_is_kept(history)
    assert history["sinks_particles"][-1] == 3
    first = 1 << 63
    assert after["id"].astype(np.uint64).tolist() == [first, first + 3, first + 5]
    assert after["mergers"].tolist() == [2, 1, 0]
    assert after["mass"] * UNIT_MASS == pytest.approx([6e6, 1e6, 1e6])
    momentum = (before["mass"][:, None] * before["velocity"]).sum(axis=0)
    same = (after["mass"][:, None] * after["velocity"]).sum(axis=0)
    assert np.abs(same - momentum).max() < 1e-12 * np.abs(momentum).max()
    centre = (
        (
            np.array([-0.1, 0.3, -0.3])
            + 3 * np.array([0.6, -0.1, 0.1])
            + 2 * np.array([1.5, 0.1, -0.1])
        )
        / 6
        % 16.0
    )
    assert after["position"][0] == pytest.approx(centre, abs=1e-6)
    kinetic = change(history, "sinks_kinetic")
    assert kinetic == pytest.approx(-change(history, "black_holes_merger_kinetic"), rel=1e-6)
    spin = np.sqrt(sum(after[f"spin_{axis}"] ** 2 for axis in "xyz"))
    assert spin[1] == pytest.approx(0.68691602878, abs=1e-9)  # two alike, without spins
    assert spin[2] == 0.0

    rows = pq.read_table(outcome.directory / "black_hole_mergers.parquet").to_pylist()
    listed = [(row["id"], row["heaviest_id"], row["other_id"]) for row in rows]
    assert listed == [
        (first, first + 1, first),
        (first, first + 1, first + 2),
        (first + 3, first + 3, first + 4),
    ]
    masses = [(row["heaviest_mass"], row["other_mass"]) for row in rows]
    assert np.array(masses) * UNIT_MASS == pytest.approx(
        np.array([(3e6, 1e6), (3e6, 2e6), (5e5, 5e5)])
    )
    assert [row["step"] for row in rows] == [0, 0, 0]
    assert rows[0]["position_x"] == after["position"][0][0]


def test_only_bound_holes_merge_where_asked(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *GROUPS, "problem.hole_speed=3.0")
    assert outcome.history()["sinks_particles"][-1] == 6  # fast ones
    slow = run_well(tmp_path / "slow", SWARM, *GROUPS, "problem.hole_speed=0.0")
    assert slow.history()["sinks_particles"][-1] == 3


# --- seeds ----------------------------------------------------------------------------------------

SEEDS = [
    "problem.holes=0",
    "black_holes.seed_mass=1e5",
    "black_holes.exclusion=4.0",
    "problem.temperature_over_mu=1e2",
    "problem.hydrogen_density=3.0",
    "time.max_steps=2",
]


def test_holes_form_apart_from_each_other(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *SEEDS)
    history, columns = outcome.history(), sinks(outcome.last_snapshot)
    mass_is_kept(history)
    count = history["sinks_particles"][-1]
    assert count >= 8
    assert change(history, "black_holes_seeds") * UNIT_MASS == pytest.approx(count * 1e5, rel=1e-12)
    ways = columns["position"][:, None] - columns["position"]
    ways -= 16.0 * np.rint(ways / 16.0)
    apart = np.sqrt((ways**2).sum(axis=-1)) + 100.0 * np.eye(len(ways))
    assert apart.min() > 4.0
    assert (columns["position"][:, 0] < 10.0).all()  # in the finest cells
    for axis in "xyz":
        total = history[f"momentum_{axis}"] + history[f"sinks_momentum_{axis}"]
        assert abs(total[-1] - total[0]) < 1e-12 * history["absolute_momentum"][-1]


@pytest.mark.parametrize(
    "override",
    [
        "black_holes.gas_density=4.0",
        "problem.temperature_over_mu=1e7",  # stable
        "black_holes.seed_mass=2e7",  # more than half a cell has
    ],
)
def test_no_hole_forms_where_it_should_not(tmp_path: Path, override: str) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *SEEDS, override)
    assert outcome.history()["sinks_particles"][-1] == 0


# --- feedback -------------------------------------------------------------------------------------

ACTIVE = [
    "agn.enabled=true",
    "problem.holes=30",
    "problem.hole_mass=1e8",
    "time.max_steps=4",
    "agn.radius=2.0",
]
MODES = {"heat": "agn.radio_threshold=0.0", "jet": "agn.radio_threshold=1e30"}


@pytest.mark.parametrize("mode", MODES)
def test_nuclei_give_what_they_are_due(tmp_path: Path, mode: str) -> None:
    # In so short a step gravity, which conserves momentum less well, does nothing.
    how = ["agn.mad=false", "time.end=1e-9"]
    outcome = run_well(tmp_path / "run", SWARM, *ACTIVE, MODES[mode], *how)
    history = outcome.history()
    mass_is_kept(history)
    nominal = change(history, "black_holes_nominal")
    efficiency = 1.0 - math.sqrt(8.0 / 9.0)
    share = {"heat": 0.15, "jet": 1.0}[mode]
    due = share * efficiency * change(history, "black_holes_accreted") * LIGHT_SPEED**2
    assert nominal == pytest.approx(due, rel=1e-3)  # efficiencies change with spins
    injected = change(history, "black_holes_injected")
    assert injected == pytest.approx(nominal, rel=1e-12)
    assert (change(history, "black_holes_jet_loaded") > 0.0) == (mode == "jet")
    energy = history["total_energy"] - history["potential"]
    energy += history["black_holes_accreted_energy"] - history["black_holes_floor_energy"]
    assert change({"energy": energy}, "energy") == pytest.approx(injected, rel=1e-4)
    for axis in "xyz":
        total = history[f"momentum_{axis}"] + history[f"sinks_momentum_{axis}"]
        assert abs(total[-1] - total[0]) < 1e-12 * history["absolute_momentum"][-1]


@pytest.mark.parametrize("mode", MODES)
def test_neither_accretion_nor_nuclei_change_a_concentration(tmp_path: Path, mode: str) -> None:
    scalars = ["hydro.scalars=1", "problem.scalars=[0.25]"]
    outcome = run_well(tmp_path / "run", SWARM, *ACTIVE, MODES[mode], *scalars)
    history = outcome.history()
    assert change(history, "black_holes_accreted") > 0.0
    gas = leaf_cells(outcome.last_snapshot)
    assert np.abs(gas["scalar_0"] / 0.25 - 1.0).max() < 1e-13


def test_what_gas_cannot_take_is_saved_to_the_last_digit(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        *ACTIVE,
        MODES["heat"],
        "agn.maximum_temperature=3e5",
        "time.max_steps=100",
        "time.end=1e3",
        "agn.thermal_efficiency=3e-5",
        "problem.holes=12",
        "mesh.max_level=0",
        "refine.region_level=0",
        "mesh.base_cells=[12,12,12]",
        "mesh.upper=[12.0,12.0,12.0]",
        "problem.hole_mass=3e8",
    )
    history = outcome.history()
    nominal, injected, saved = (
        history[f"black_holes_{name}"] - history[f"black_holes_{name}"][0]
        for name in ("nominal", "injected", "saved")
    )
    assert len(nominal) > 90
    assert saved.max() > 0.1 * nominal[-1] > 0.0
    assert (np.diff(saved) < 0.0).any()  # some of it was released
    assert np.abs(injected + saved - nominal).max() < 1e-12 * nominal[-1]
    kept = sinks(outcome.last_snapshot)["saved_energy"].sum()
    assert kept == pytest.approx(saved[-1], rel=1e-9, abs=1e-12 * nominal[-1])


def test_jets_point_along_the_spin_on_both_sides(tmp_path: Path) -> None:
    spin = np.array([0.3, 0.0, 0.4])
    outcome = run_well(
        tmp_path / "run",
        SWARM,
        *ACTIVE,
        *ONE,
        MODES["jet"],
        f"problem.spins={toml(spin)}",
        "time.max_steps=1",
        "problem.velocity=[0.0,0.0,0.0]",
        "problem.hole_mass=1e6",
        "agn.radius=3.0",
    )
    cells = leaf_cells(outcome.last_snapshot)
    velocity = np.stack([cells[f"velocity_{axis}"] for axis in "xyz"], axis=1)
    fast = np.linalg.norm(velocity, axis=1) > 0.2 * np.abs(velocity).max()
    direction = velocity[fast] / np.linalg.norm(velocity[fast], axis=1)[:, None]
    along = direction @ (spin / 0.5)
    assert np.abs(along).min() > 0.99
    assert along.min() < 0.0 < along.max()


# --- the same bits --------------------------------------------------------------------------------

# Black holes form, accrete, merge and heat gas on an adaptive mesh.
ONGOING = [
    "problem.holes=40",
    "problem.hole_mass=3e7",
    "black_holes.seed_mass=1e5",
    "black_holes.exclusion=1.5",
    "black_holes.merge_length=4.0",
    "black_holes.boost_density=0.5",
    "black_holes.merge_bound=false",
    "problem.hydrogen_density=3.0",
    "problem.temperature_over_mu=3e3",
    "agn.enabled=true",
    "agn.radio_threshold=0.3",
    "agn.maximum_temperature=1e8",
    "time.max_steps=12",
    "time.end=1.0",
    "refine.region_level=0",
    'refine.gradient_fields=["pressure"]',
    "refine.gradient=[0.4]",
    "balance.interval=2",
]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("reference")
    return run_well(
        folder / "run", SWARM, *ONGOING, *CHECKPOINT_EVERY_STEP, "output.final_checkpoint=true"
    )


def test_a_run_has_holes_of_every_kind(reference: Outcome) -> None:
    history = reference.history()
    for account in ("accreted", "seeds", "merger_kinetic", "nominal", "jet_loaded"):
        assert change(history, f"black_holes_{account}") > 0.0, account
    # A hole that drag slows loses energy; one that moving gas carries along gains some.
    assert change(history, "black_holes_drag_energy") != 0.0
    assert history["leaf_cells_1"][-1] > 0
    mass_is_kept(history)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_more_ranks(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *ONGOING, "balance.cost=measured", ranks=ranks)
    assert_same_run(outcome, reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    outcome = assert_goes_on(tmp_path / "run", reference, 8, *ONGOING, ranks=ranks)
    late, all_of_them = (
        pq.read_table(o.directory / "black_hole_mergers.parquet") for o in (outcome, reference)
    )
    assert late.to_pylist() == all_of_them.to_pylist()[-late.num_rows :]


@pytest.mark.parametrize("method", ["bins", "brute"])
def test_all_searches_give_the_same_bits(tmp_path: Path, reference: Outcome, method: str) -> None:
    outcome = run_well(tmp_path / "run", SWARM, *ONGOING, f"events.method={method}")
    assert differing(outcome.last_snapshot, reference.last_snapshot) == []
    assert_goes_on(tmp_path / "later", reference, 8, *ONGOING, f"events.method={method}")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["agn.enabled=true", "black_holes.enabled=false"], ["agn.enabled", "black_holes.enabled"]),
        (["agn.enabled=true", "black_holes.spin=false"], ["agn.mad", "black_holes.spin"]),
        (["gravity.enabled=false"], ["black_holes.enabled", "gravity.enabled"]),
        (
            ["mesh.base_cells=[8,8,8]", "mesh.max_level=0", "refine.region_level=0"],
            ["[black_holes]", "half of the domain"],
        ),
        (["agn.enabled=true", "agn.radius=6.0"], ["agn.radius", "half of the domain"]),
        (["black_holes.star_density=1.0"], ["black_holes.star_density", "requires stars.enabled"]),
        (["black_holes.largest_spin=1.0"], ["black_holes.largest_spin"]),
        (["problem.spins=[0.0,0.9,0.9]"], ["problem.spins"]),
        (["problem.velocities=[1.0]"], ["problem.velocities", "expected 3"]),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, overrides: list[str], complaint: list[str]) -> None:
    assert_refused(run(tmp_path / "run", SWARM, *overrides, ranks=2), *complaint)
