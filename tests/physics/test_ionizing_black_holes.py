"""Ionising photons of black holes: numbers by luminosity and spectrum, whatever mesh and ranks."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from galaxy_setups import BLACK_HOLES, DENSITY, LENGTH, LIGHT, TIME, half_refined_box, sinks
from ionization_setups import photon_residual
from ionized_atoms import ELECTRON_VOLT

from galaxies import SNAPSHOTS_ALONE
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_bits,
    run,
    run_well,
)

GROUPS = (13.6, 24.59, 54.42)
MASS = DENSITY * LENGTH**3
HOLES = 12

# Black holes in dense gas, the lower half of which along x is refined.
SWARM = f"""
[problem]
name = "black_holes"
holes = {HOLES}
hole_mass = 1e6
hole_speed = 0.5
hydrogen_density = 0.1
temperature_over_mu = 1e4
{half_refined_box(12, 24.0, refined=8.0)}
[hydro]
gamma = 1.6666666666666667
{BLACK_HOLES}merge_length = 0.0
drag = false

[radiation]
speed_ratio = 1e-3

[ionization]
enabled = true
edges = {list(GROUPS)}
spectrum = "power_law"
spectrum_index = 1.7
black_hole_fraction = 0.4

[time]
end = 1.0
largest_step = 0.002
max_steps = 4
{SNAPSHOTS_ALONE}"""
EVERY_STEP = ("output.snapshot_interval=1e-9", "output.history_interval=1")


def luminosities(path: Path, most: float = 1.0) -> np.ndarray:
    """Return the luminosities of the black holes of a snapshot in erg/s, by their columns.

    `most` is the largest accretion rate over the Eddington rate.
    """
    holes = sinks(path)
    share = np.minimum(holes["bondi_rate"] / holes["eddington_rate"], most)
    share = np.where(holes["swallowed"] > 0.0, share, 0.0)
    of_disc = holes["efficiency"] * holes["eddington_rate"] * share
    return of_disc * np.minimum(share / 0.01, 1.0) * MASS / TIME * LIGHT**2


def photons_per_erg(
    index: float, most: float, low: float, high: float, points: int = 20000
) -> float:
    """Return the photons from `low` to `high` of a power law, per erg from 13.6 eV to `most`."""

    def middles(begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
        edges = np.geomspace(begin, end, points + 1)
        return np.sqrt(edges[1:] * edges[:-1]), np.diff(edges)

    energy, width = middles(13.6, most)
    all_energy = np.sum(energy**-index * width) * ELECTRON_VOLT
    energy, width = middles(low, high)
    return float(np.sum(energy ** (-index - 1.0) * width) / all_energy)


def expected_photons(outcome: Outcome, fraction: float, per_erg: float, most: float = 1.0) -> float:
    """Return the photons that black holes emit at the luminosities at the beginning of steps."""
    history = outcome.history()
    steps = np.diff(history["time"])
    paths = outcome.snapshots[: len(steps)]
    energy = sum(
        luminosities(path, most).sum() * step * TIME
        for path, step in zip(paths, steps, strict=True)
    )
    return fraction * per_erg * float(energy)


@pytest.fixture(scope="module")
def shining(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Give the run on one rank, with all of its checkpoints."""
    folder = tmp_path_factory.mktemp("shining")
    return run_well(folder / "one", SWARM, *EVERY_STEP, *CHECKPOINT_EVERY_STEP)


def test_black_holes_emit_the_photons_of_their_luminosity(shining: Outcome) -> None:
    history = shining.history()
    expected = expected_photons(shining, 0.4, photons_per_erg(1.7, 1e3, 13.6, 1e3))
    found = history["ionization_injected"][-1]
    print(found, expected)
    assert expected > 0.0
    assert found == pytest.approx(expected, rel=1e-6)
    assert photon_residual(history).max() <= 1e-12
    assert history["ionization_absorbed"][-1] > 0.0
    assert not history["ionization_unsolved"].any()


@pytest.mark.parametrize(("low", "index", "most"), [(13.6, 1.0, 200.0), (24.59, 1.4, 100.0)])
def test_photons_have_the_power_law_of_the_parameters(
    tmp_path: Path, low: float, index: float, most: float
) -> None:
    """Photons below the first group, and above the highest energy, are lost."""
    overrides = (
        f"ionization.edges=[{low}, 54.42]",
        f"ionization.black_hole_index={index}",
        f"ionization.black_hole_energy={most}",
        "ionization.black_hole_fraction=1",
    )
    outcome = run_well(tmp_path / "run", SWARM, *EVERY_STEP, *overrides)
    expected = expected_photons(outcome, 1.0, photons_per_erg(index, most, low, most))
    assert outcome.history()["ionization_injected"][-1] == pytest.approx(expected, rel=1e-6)


def test_slow_discs_are_faint(tmp_path: Path) -> None:
    """Thin gas feeds black holes with less than 0.01 of the Eddington rate."""
    outcome = run_well(tmp_path / "run", SWARM, *EVERY_STEP, "problem.hydrogen_density=1e-4")
    with h5py.File(outcome.last_snapshot) as file:
        holes = file["particles/sinks"]
        shares = holes["bondi_rate"][...] / holes["eddington_rate"][...]
    assert 0.0 < shares.min() < 0.01
    expected = expected_photons(outcome, 0.4, photons_per_erg(1.7, 1e3, 13.6, 1e3))
    assert outcome.history()["ionization_injected"][-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("is_limited", [True, False])
def test_black_holes_shine_above_the_eddington_rate_where_accretion_may_be(
    tmp_path: Path, is_limited: bool
) -> None:
    """Dense gas feeds black holes with more than the Eddington rate."""
    overrides = ("problem.hydrogen_density=10", f"black_holes.eddington={str(is_limited).lower()}")
    outcome = run_well(tmp_path / "run", SWARM, *EVERY_STEP, *overrides)
    with h5py.File(outcome.last_snapshot) as file:
        holes = file["particles/sinks"]
        shares = holes["bondi_rate"][...] / holes["eddington_rate"][...]
    print(shares)
    assert shares.max() > 2.0
    per_erg = photons_per_erg(1.7, 1e3, 13.6, 1e3)
    most = 1.0 if is_limited else np.inf
    expected = expected_photons(outcome, 0.4, per_erg, most)
    assert outcome.history()["ionization_injected"][-1] == pytest.approx(expected, rel=1e-6)


def test_bits_depend_neither_on_ranks_nor_threads_nor_restarts(
    tmp_path: Path, shining: Outcome
) -> None:
    assert_same_bits(tmp_path, shining, *EVERY_STEP)
    assert_goes_on(tmp_path / "on", shining, 2, *EVERY_STEP, ranks=2)


def test_black_holes_without_their_process_are_refused(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", SWARM, "black_holes.enabled=false")
    assert_refused(outcome, "ionization.black_hole_fraction = 0.4", "black_holes.enabled")
