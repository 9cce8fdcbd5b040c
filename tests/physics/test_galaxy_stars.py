"""Star formation in runs: statistics, rates, ledgers, bits, the log of births, and refusals."""

import math
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from galaxy_setups import CLOUD_GAS, STARS_IN_CLUMPY_BOX
from numpy.typing import NDArray

from galaxies import (
    BOLTZMANN,
    GRAVITY,
    NEWTON,
    PARSEC,
    SNAPSHOTS_ALONE,
    SUN,
    UNIT_MASS,
    X,
    assert_same_births,
    births,
    head,
    rows,
    toml,
)
from inputs import CLUMPY_BOX
from reference_data import reference_path
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

# Cells of 100 pc in a uniform, cold gas that is too heavy to move in a step. Units: pc, Myr, one
# hydrogen per cm^3.
UNIFORM = f"""
[problem]
name = "cooling_cell"
hydrogen_density = [1.0]
temperature_over_mu = [100.0]
metals = [0.03]

[mesh]
base_cells = [32, 32, 32]
block_size = 8
upper = [3200.0, 3200.0, 3200.0]
{CLOUD_GAS}
[stars]
enabled = true
efficiency = 0.02
density = 0.1
{SNAPSHOTS_ALONE}"""

FREE_FALL = math.sqrt(3.0 * math.pi / (32.0 * NEWTON))  # Myr, at one hydrogen per cm^3
CELL = 100.0**3  # mass of a cell, in code units


def quantum_of(mean: float, dt: float) -> float:
    """Find the quantum of mass of which so many form in a cell in a step."""
    return 0.02 * CELL * dt / FREE_FALL / mean


def counts_per_cell(snapshot: Path, quantum: float) -> NDArray[np.int64]:
    """Count the quanta that formed in each cell, shape (32, 32, 32)."""
    counts = np.zeros((32, 32, 32), dtype=np.int64)
    with h5py.File(snapshot) as file:
        stars = file["particles/stars"]
        cell = np.floor(stars["position"][...] / 100.0).astype(int)
        quanta = stars["initial_mass"][...] / quantum
    assert np.abs(quanta - np.rint(quanta)).max(initial=0.0) < 1e-9
    np.add.at(counts, tuple(cell.T), np.rint(quanta).astype(int))
    return counts


def form(folder: Path, mean: float, *overrides: str, dt: float = 0.01, steps: int = 1) -> Outcome:
    """Run the uniform gas for some steps, in each of which so many quanta form in a cell."""
    quantum = quantum_of(mean, dt) * UNIT_MASS
    return run_well(
        folder,
        UNIFORM,
        f"stars.mass={quantum!r}",
        f"time.largest_step={dt!r}",
        f"time.end={steps * dt!r}",
        *overrides,
    )


def chi_squared(counts: NDArray[np.int64], mean: float) -> tuple[float, int]:
    """Compare counts with a Poisson distribution: Pearson's chi squared, and the bins."""
    total, bins = 0.0, 0
    expected = observed = 0.0
    left = float(counts.size)
    n = 0
    while left - expected > 20.0:
        chance = math.exp(n * math.log(mean) - mean - math.lgamma(n + 1.0))
        expected += counts.size * chance
        observed += np.count_nonzero(counts == n)
        n += 1
        if expected < 20.0:
            continue
        total += (observed - expected) ** 2 / expected
        left -= expected
        expected = observed = 0.0
        bins += 1
    return total, bins


@pytest.mark.parametrize("mean", [0.01, 5.0, 50.0])
def test_numbers_of_stars_in_cells_are_poisson_numbers(tmp_path: Path, mean: float) -> None:
    dt = 0.01
    outcome = form(tmp_path / "run", mean)
    counts = counts_per_cell(outcome.last_snapshot, quantum_of(mean, dt))
    found, bins = chi_squared(counts, mean)
    assert bins >= (2 if mean < 0.1 else 10)
    assert abs(found - bins) < 4.0 * math.sqrt(2.0 * bins) + 2.0
    beyond = counts - mean
    for axis in range(3):
        neighbours = (beyond * np.roll(beyond, 1, axis=axis)).mean() / beyond.var()
        assert abs(neighbours) < max(0.01, 4.0 / math.sqrt(counts.size))
    history = outcome.history()
    expected = mean * quantum_of(mean, dt) * counts.size
    assert history["stars_expected"][-1] == pytest.approx(expected, rel=1e-9)
    assert history["stars_capped"][-1] == 0.0


def test_a_hundred_steps_form_a_hundred_times_as_many(tmp_path: Path) -> None:
    mean, dt, steps = 0.01, 0.002, 100
    outcome = form(tmp_path / "run", mean, dt=dt, steps=steps)
    history = outcome.history()
    assert len(history["step"]) == steps + 1
    quanta = counts_per_cell(outcome.last_snapshot, quantum_of(mean, dt))
    expected = history["stars_expected"][-1] / quantum_of(mean, dt)
    assert expected == pytest.approx(32768.0, rel=0.005)  # the gas becomes less
    assert abs(quanta.sum() - expected) < 4.0 * math.sqrt(expected)
    found, bins = chi_squared(quanta, expected / quanta.size)
    assert abs(found - bins) < 4.0 * math.sqrt(2.0 * bins) + 2.0


def test_another_seed_gives_other_stars_and_the_same_seed_the_same(tmp_path: Path) -> None:
    one, again, other = (
        counts_per_cell(
            form(tmp_path / name, 5.0, f"stars.seed={seed}").last_snapshot, quantum_of(5.0, 0.01)
        )
        for name, seed in (("one", 1), ("again", 1), ("other", 2))
    )
    assert (one == again).all()
    together = np.corrcoef(one.ravel(), other.ravel())[0, 1]
    assert abs(together) < 4.0 / math.sqrt(one.size)


@pytest.mark.parametrize("dual_energy", ["off", "on"])
def test_stars_take_their_share_of_everything(tmp_path: Path, dual_energy: str) -> None:
    speed = [30.0, -20.0, 10.0]
    outcome = form(
        tmp_path / "run", 5.0, f"problem.velocity={toml(speed)}", f"hydro.dual_energy={dual_energy}"
    )
    cells, first = leaf_cells(outcome.last_snapshot), leaf_cells(outcome.snapshots[0])
    for name in ("velocity_x", "velocity_y", "velocity_z", "metals"):
        assert np.abs(cells[name] / first[name] - 1.0).max() < 1e-12, name
    energy, before = cells["pressure"] / cells["density"], first["pressure"] / first["density"]
    # Total energies hold ten thousand times as much.
    assert np.abs(energy / before - 1.0).max() < (1e-12 if dual_energy == "on" else 1e-9)
    with h5py.File(outcome.last_snapshot) as file:
        stars = file["particles/stars"]
        assert np.abs(stars["velocity"][...] / speed - 1.0).max() < 1e-12
        assert np.abs(stars["metallicity"][...] / 0.03 - 1.0).max() < 1e-12
        assert (stars["initial_mass"][...] == stars["mass"][...]).all()
        assert stars["id"][0] == 2**62
    history = outcome.history()
    energies = history["total_energy"] + history["stars_formed_thermal"]
    assert np.abs(energies / energies[0] - 1.0).max() < 1e-12
    assert history["stars_formed_kinetic"][-1] == pytest.approx(history["stars_kinetic"][-1])


def test_no_cell_loses_more_than_it_may(tmp_path: Path) -> None:
    outcome = form(tmp_path / "run", 2.0, "stars.efficiency=1e6", "stars.gas_limit=0.4")
    cells = leaf_cells(outcome.last_snapshot)
    assert cells["density"].min() >= 0.6 - 1e-12
    history = outcome.history()
    assert history["stars_capped"][-1] > 0.0
    drawn = history["stars_capped"][-1] + history["stars_formed"][-1]
    assert drawn == pytest.approx(history["stars_expected"][-1], rel=0.01)


@pytest.mark.parametrize(
    "hinders", ["stars.density=1.01", "stars.temperature=99.0", "stars.efficiency=0.0"]
)
def test_what_is_not_eligible_forms_no_stars(tmp_path: Path, hinders: str) -> None:
    outcome = form(tmp_path / "run", 5.0, hinders)
    history = outcome.history()
    assert history["stars_particles"][-1] == 0
    assert history["stars_expected"][-1] == 0.0
    assert not (outcome.directory / "stars_formed.parquet").exists()


def test_the_pressure_law_gives_the_rate_of_its_equation(tmp_path: Path) -> None:
    over_mu = 1e4
    outcome = form(
        tmp_path / "run",
        5.0,
        'stars.model="pressure_law"',
        f"problem.temperature_over_mu=[{over_mu}]",
    )
    pressure = 1.0 / X * BOLTZMANN * over_mu
    column = math.sqrt(5.0 / 3.0 * pressure / GRAVITY) / (SUN / PARSEC**2)
    rate = 1.515e-10 / 1e-6 * 1e-6 * column**0.4  # per year: Msun / yr / kpc^2 over Msun / pc^2
    expected = rate * 1e6 * 0.01 * CELL * 32**3
    assert outcome.history()["stars_expected"][-1] == pytest.approx(expected, rel=1e-3)


# Cells of 80 pc at heights above the disc, and at radii of rings of equal area.
def test_a_disc_forms_stars_at_the_rate_of_its_profile(tmp_path: Path) -> None:
    path = reference_path("galaxy/disc_profile.csv")
    profile, text = rows(path), head(path)
    numbers = re.search(r"exp\(-R/([\d.]+) kpc\) exp\(-\|z\|/([\d.]+) kpc\).*", text)
    central = float(re.search(r"n_H\(0\)=([\d.]+)", text)[1])
    length, height = float(numbers[1]), float(numbers[2])
    temperature, mu = re.search(r"T=(\d+) K, mu=([\d.]+)", text).groups()
    efficiency = float(re.search(r"eps=([\d.]+)", text)[1])
    midplane = central * np.exp(-profile["R_kpc"] / length)
    assert np.abs(midplane / profile["n_H_midplane"] - 1.0).max() < 1e-5
    cell, rings, heights = 0.08, 1024, 32
    z = (np.arange(heights) + 0.5) * cell
    found = re.findall(r"n_H > ([\d.]+): SFR ([\d.]+) Msun/yr", text)
    assert len(found) == 3
    for threshold, rate in found:
        dt = 1e-4
        outermost = length * max(math.log(central / float(threshold)), 0.1)
        radius = outermost * np.sqrt((np.arange(rings) + 0.5) / rings)
        density = central * np.exp(-radius[:, None] / length - z / height)
        share = math.pi * outermost**2 / rings * 2.0 * cell / cell**3  # of the disc, by cell
        outcome = run_well(
            tmp_path / threshold,
            UNIFORM.replace("[1.0]", toml(density.ravel()).replace(", ", ",\n"), 1),
            f"mesh.upper={toml([2560.0] * 3)}",
            f"problem.temperature_over_mu=[{float(temperature) / float(mu)!r}]",
            f"stars.density={threshold}",
            f"stars.efficiency={efficiency}",
            "stars.mass=1000.0",
            f"time.largest_step={dt}",
            f"time.end={dt}",
        )
        mass = outcome.history()["stars_expected"][-1] * UNIT_MASS
        assert mass * share / (dt * 1e6) == pytest.approx(float(rate), rel=0.03), threshold


# --- stars in a small universe --------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the small universe on one rank."""
    folder = tmp_path_factory.mktemp("stars")
    return run_well(folder / "run", CLUMPY_BOX + STARS_IN_CLUMPY_BOX, *CHECKPOINT_EVERY_STEP)


def test_stars_form_on_several_levels(reference: Outcome) -> None:
    history, log = reference.history(), births(reference)
    assert history["stars_particles"][-1] > 100
    assert len(np.unique(log["level"])) >= 2
    assert len(np.unique(log["step"])) > 3


def test_the_ledger_closes(reference: Outcome) -> None:
    history = reference.history()
    assert history["stars_formed"][-1] > 1e-3 * history["mass"][0]
    mass = history["mass"] + history["stars_mass"]
    assert np.abs(mass / mass[0] - 1.0).max() < 1e-12
    formed = history["stars_formed"]
    assert np.abs(formed - history["stars_mass"]).max() < 1e-12 * formed[-1]
    cells, first = leaf_cells(reference.last_snapshot), leaf_cells(reference.snapshots[0])
    with h5py.File(reference.last_snapshot) as file:
        stars = file["particles/stars"]
        in_stars = (stars["mass"][...] * stars["metallicity"][...]).sum()
    metals, before = ((c["density"] * c["metals"] * c.volume).sum() for c in (cells, first))
    assert abs((metals + in_stars) / before - 1.0) < 1e-12
    assert history["stars_formed_metals"][-1] == pytest.approx(in_stars, rel=1e-12)


def test_the_log_has_every_star(reference: Outcome) -> None:
    log = births(reference)
    with h5py.File(reference.last_snapshot) as file:
        stars = file["particles/stars"]
        assert (stars["id"][...] == log["id"]).all()
        assert (stars["initial_mass"][...] == log["mass"]).all()
        assert (stars["birth_time"][...] == log["time"]).all()
        assert (stars["birth_scale_factor"][...] == log["scale_factor"]).all()
        assert (stars["metallicity"][...] == log["metallicity"]).all()
    assert (np.diff(log["id"].astype(np.int64)) == 1).all()
    assert (np.diff(log["time"]) >= 0.0).all()
    assert log["temperature_over_mu"].max() < 2e4


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_stars_on_more_ranks(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    outcome = run_well(
        tmp_path / "run", CLUMPY_BOX + STARS_IN_CLUMPY_BOX, "balance.cost=measured", ranks=ranks
    )
    assert_same_run(outcome, reference)
    assert_same_births(outcome, reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_stars_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    log = births(reference)
    step = int(log["step"][len(log["step"]) // 2])  # stars form before it and after it
    outcome = assert_goes_on(tmp_path / "run", reference, step, ranks=ranks)
    assert_same_births(outcome, reference)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["gravity.enabled=false"], ["stars.enabled = true", "gravity.enabled = true"]),
        (["hydro.enabled=false"], ["[stars] requires hydro.enabled = true"]),
        (["stars.model=kennicutt"], ["stars.model", "pressure_law"]),
        (["stars.gas_limit=1.5"], ["stars.gas_limit"]),
        (["stars.mass=-1"], ["stars.mass"]),
        (["stars.sead=3"], ["stars.sead", "stars.seed"]),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_bad_input_is_refused(
    tmp_path: Path, overrides: list[str], complaint: list[str], ranks: int
) -> None:
    assert_refused(run(tmp_path / "run", UNIFORM, *overrides, ranks=ranks), *complaint)


def test_stars_need_units(tmp_path: Path) -> None:
    without = re.sub(r"\[units\][^\[]*", "", UNIFORM)
    without = without.replace("cooling_cell", "sedov")
    without = re.sub(r"(hydrogen_density|temperature_over_mu|metals) = .*\n", "", without)
    assert_refused(
        run(tmp_path / "run", without), "[stars] requires physical units", "units.length"
    )


def test_a_checkpoint_without_stars_is_refused(tmp_path: Path) -> None:
    few = ("time.max_steps=1", "output.final_checkpoint=true", "time.largest_step=0.01")
    before = run_well(tmp_path / "before", UNIFORM, "stars.enabled=false", *few)
    checkpoint = before.directory / "checkpoint_00000.h5"
    refused = run(tmp_path / "after", UNIFORM, "time.max_steps=2", restart=checkpoint)
    assert refused.code == 2, refused.text
