"""Runs with ionising photons: budgets, sources, bits on ranks and threads, restarts, refusals."""

import itertools
from pathlib import Path

import h5py
import numpy as np
import pytest
from ionization_setups import SOURCE, energy_of_photons, photon_residual, region
from ionized_atoms import black_body
from ionized_sphere import KPC, LIGHT_SPEED, MYR

from running import (
    CHECKPOINT_EVERY_STEP,
    SAME_BITS_CASES,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    octant,
    run_well,
    uniform_grid,
)

HELIUM = 0.079
GROUPS = (13.6, 24.59, 54.42)
IONS = ("ionized_hydrogen", "ionized_helium", "doubly_ionized_helium")
PHOTONS = [f"photon_density_{g}" for g in range(3)]
PHOTONS += [f"photon_flux_{g}_{axis}" for g in range(3) for axis in "xyz"]

# Moving gas around a source that is in no special place, with case A and three groups.
STIRRED = region(
    8,
    1.0,
    1.0,
    lower=-1.0,
    boundary=("periodic", "periodic"),
    source=(0.1, -0.17, 0.23),
    edges=GROUPS,
    spectrum="black_body",
    helium=HELIUM,
    density="1 + 0.5 * sin(3 * x) * cos(2 * y)",
    velocity=("0.03 * sin(4 * y)", "0.02 * cos(4 * z)", "0.02 * sin(3 * x)"),
    pressure="1e-4",
).replace("boundary_x = ['periodic', 'periodic']", "boundary_x = ['outflow', 'outflow']")
CASE_A = ("ionization.on_the_spot=false", "ionization.initial_ions=[0.01, 0.01, 0.001]")
REFINED = (
    "mesh.max_level=1",
    "refine.gradient_fields=['ionized_hydrogen']",
    "refine.gradient=[0.25]",
    "refine.floor=0.3",
    "balance.interval=2",
    "time.max_steps=4",
)


def refined_run(directory: Path, *overrides: str, **how: object) -> Outcome:
    return run_well(directory, STIRRED, *CASE_A, *REFINED, *overrides, **how)


# --- bits -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Give the run on one rank, with all of its checkpoints."""
    outcome = refined_run(tmp_path_factory.mktemp("reference") / "one", *CHECKPOINT_EVERY_STEP)
    history = outcome.history()
    assert 0 < history["leaf_cells_1"][-1] < 8 * 8**3
    assert history["ionization_absorbed"][-1] > 0.0
    assert history["ionization_recombined"][-1] > 0.0
    assert not history["ionization_unsolved"].any()
    return outcome


@pytest.mark.parametrize(("ranks", "threads", "overrides"), SAME_BITS_CASES)
def test_bits_depend_neither_on_ranks_nor_threads_nor_schedule(
    tmp_path: Path, reference: Outcome, ranks: int, threads: int, overrides: tuple[str, ...]
) -> None:
    outcome = refined_run(tmp_path / "run", *overrides, ranks=ranks, threads=threads)
    assert_same_run(outcome, reference)


def test_bits_without_subcycling_do_not_depend_on_ranks(tmp_path: Path) -> None:
    overrides = ("time.subcycle=false", "time.max_steps=3")
    one = refined_run(tmp_path / "one", *overrides)
    assert_same_run(refined_run(tmp_path / "three", *overrides, ranks=3), one)


def test_bits_do_not_depend_on_the_size_of_blocks(tmp_path: Path) -> None:
    few = ("time.max_steps=3", *CASE_A)
    runs = [run_well(tmp_path / str(n), STIRRED, *few, f"mesh.block_size={n}") for n in (2, 4, 8)]
    for name in (*IONS, *PHOTONS, "density", "pressure", "velocity_x"):
        first, *others = (uniform_grid(outcome.last_snapshot, name) for outcome in runs)
        for other in others:
            assert np.array_equal(other, first), name


@pytest.mark.parametrize(("step", "ranks"), [(2, 3), (3, 2)])
def test_runs_go_on_from_checkpoints_on_other_ranks(
    tmp_path: Path, reference: Outcome, step: int, ranks: int
) -> None:
    overrides = (*CASE_A, *REFINED, *CHECKPOINT_EVERY_STEP)
    assert_goes_on(tmp_path / "run", reference, step, *overrides, ranks=ranks)


# --- budgets --------------------------------------------------------------------------------------

BALL = ("mesh.max_level=1", 'refine.where="x^2 + y^2 + z^2 < 0.5"', "time.max_steps=12")


@pytest.mark.parametrize("speed_ratio", [0.002, 0.05])
@pytest.mark.parametrize("mesh", [(), BALL], ids=["uniform", "refined"])
@pytest.mark.parametrize("case", ["on_the_spot", "case_a"])
def test_the_photon_budget_is_closed(
    tmp_path: Path, speed_ratio: float, mesh: tuple[str, ...], case: str
) -> None:
    """Photons leave an octant of gas at rest that becomes transparent; the front passes levels."""
    text = region(8, 1.2, 0.6, edges=GROUPS, spectrum="black_body", speed_ratio=speed_ratio)
    overrides = ("hydro.moves=false", *mesh)
    if case == "case_a":
        overrides += ("ionization.on_the_spot=false", "ionization.initial_ions=[0.9, 0, 0]")
    history = run_well(tmp_path / "run", text, *overrides).history()
    assert photon_residual(history).max() <= 1e-12
    assert (history["leaf_cells_1"][-1] if mesh else 1) > 0
    assert (history["ionization_recombined"][-1] > 0.0) == (case == "case_a")
    assert not history["ionization_unsolved"].any()
    if speed_ratio == 0.05:
        assert history["outflow_photons"][-1] > 1e-4 * history["ionization_injected"][-1]


def test_energy_of_gas_and_photons_is_in_the_budget(reference: Outcome) -> None:
    history = reference.history()
    assert photon_residual(history).max() <= 1e-12
    gained = history["ionization_heated"] - history["ionization_radiated"]
    budget = history["total_energy"] + history["outflow_energy"] - gained
    budget = budget - history["ionization_work"]
    np.testing.assert_allclose(budget, budget[0], rtol=1e-12)


def test_absorbed_photons_push_the_gas(tmp_path: Path) -> None:
    """The momenta of gas and photons, F / (c c'), add up to that of the source, 0."""
    text = region(
        8,
        1.0,
        0.2,
        lower=-1.0,
        boundary=("periodic", "periodic"),
        source=(0.1, 0.2, -0.1),
        density="x > 0.5 ? 1000 : 0.01",
        pressure="1e-8",
        edges=GROUPS,
        spectrum="black_body",
    )
    outcome = run_well(tmp_path / "run", text, "ionization.temperature=1e-3")
    history, found = outcome.history(), leaf_cells(outcome.last_snapshot)
    c = LIGHT_SPEED * MYR / KPC
    energies = [energy_of_photons(1.0, energy) for energy in black_body(GROUPS).energy]
    for axis in "xyz":
        fluxes = [found[f"photon_flux_{g}_{axis}"] * energies[g] for g in range(3)]
        photons = np.sum(sum(fluxes) * found.volume) / (0.01 * c**2)
        emitted = history["ionization_injected"][-1] * energies[0] / c
        gas = history[f"momentum_{axis}"][-1]
        print(axis, gas / emitted, photons / emitted)
        assert abs(gas + photons) <= 1e-3 * emitted
    assert abs(history["momentum_x"][-1]) > 0.01 * emitted
    still = run_well(tmp_path / "still", text, "ionization.radiation_pressure=false").history()
    assert abs(still["momentum_x"][-1]) <= 1e-12 * still["absolute_momentum"][-1]


def test_snapshots_and_history_agree(tmp_path: Path) -> None:
    outcome = refined_run(tmp_path / "run")
    found, history = leaf_cells(outcome.last_snapshot), outcome.history()
    for g in range(3):
        number = np.sum(found[f"photon_density_{g}"] * found.volume)
        assert history[f"photons_{g}"][-1] == pytest.approx(number, rel=1e-13)
    with h5py.File(outcome.last_snapshot) as file:
        fields = next(iter(file["hydro"].values()))
        for g in range(3):
            assert fields[f"photon_density_{g}"].attrs["units"] == "1 / length^3"
            assert fields[f"photon_flux_{g}_x"].attrs["units"] == "1 / (length^2 time)"


# --- sources --------------------------------------------------------------------------------------

# Positions in a box from -1 to 1 with 8 cells of 0.25 along each axis.
PLACES = {
    "cell": (0.1, 0.2, -0.3),
    "centre": (0.125, 0.125, 0.125),
    "face": (0.25, 0.1, 0.1),
    "edge": (0.25, -0.5, 0.1),
    "corner": (0.25, -0.5, 0.0),
    "periodic_boundary": (-1.0, 0.1, 0.1),
    "periodic_edge": (1.0, -1.0, 0.1),
    "periodic_corner": (1.0, -1.0, 1.0),
}
# Cells with x < 0 are refined: these places are on the boundary of the refined region.
FINE = ("mesh.max_level=1", 'refine.where="x < 0"')
FINE_PLACES = {
    "face": (0.0, 0.1, 0.1),
    "fine_face": (0.0, 0.125, 0.1),
    "corner": (0.0, 0.25, -0.25),
    "fine_corner": (0.0, 0.125, 0.125),
    "periodic_corner": (-1.0, 1.0, -1.0),
}


def emitted(directory: Path, place: tuple[float, ...], *overrides: str) -> Outcome:
    text = region(
        8, 1.0, 0.01, lower=-1.0, boundary=("periodic", "periodic"), source=place, speed_ratio=0.1
    )
    return run_well(directory, text, "hydro.moves=false", *overrides)


@pytest.mark.parametrize("mesh", ["uniform", "refined"])
def test_sources_emit_their_photons_wherever_they_are(tmp_path: Path, mesh: str) -> None:
    expected = SOURCE * 0.01 * MYR
    places, overrides = (PLACES, ()) if mesh == "uniform" else (FINE_PLACES, FINE)
    for name, place in places.items():
        history = emitted(tmp_path / name, place, *overrides).history()
        assert history["ionization_injected"][-1] == pytest.approx(expected, rel=1e-13), name
        assert photon_residual(history).max() <= 1e-12, name


@pytest.mark.parametrize(
    ("place", "part"),
    [((0.0, 0.3, 0.3), 2), ((0.0, 0.0, 0.3), 4), ((0.0, 0.0, 0.0), 8), ((1.0, 1.0, 1.0), 8)],
)
def test_photons_of_sources_on_the_boundary_enter_in_part(
    tmp_path: Path, place: tuple[float, ...], part: int
) -> None:
    history = run_well(
        tmp_path / "run", region(8, 1.0, 0.01, source=place), "hydro.moves=false"
    ).history()
    expected = SOURCE * 0.01 * MYR / part
    assert history["ionization_injected"][-1] == pytest.approx(expected, rel=1e-13)


def test_sources_add_up(tmp_path: Path) -> None:
    """Sources of which some share a cell, and one is dark."""
    text = region(8, 1.0, 0.01, lower=-1.0, boundary=("periodic", "periodic"))
    overrides = (
        "ionization.source_x=[0.1, 0.11, -0.5, 0.7]",
        "ionization.source_y=[0.1, 0.12, 0.5, 0.7]",
        "ionization.source_z=[0.1, 0.13, 0.1, 0.7]",
        "ionization.source_rates=[1e48, 2e48, 4e48, 0]",
    )
    outcome = run_well(tmp_path / "run", text, "hydro.moves=false", *overrides)
    expected = 7e48 * 0.01 * MYR
    assert outcome.history()["ionization_injected"][-1] == pytest.approx(expected, rel=1e-13)


def test_groups_share_the_photons_of_the_spectrum(tmp_path: Path) -> None:
    photons = black_body(GROUPS)
    text = region(
        4,
        1.0,
        0.01,
        lower=-1.0,
        edges=GROUPS,
        spectrum="black_body",
        speed_ratio=0.1,
        boundary=("periodic", "periodic"),
        source=(0.1, 0.1, 0.1),
        density="1e-9",
    )
    history = run_well(tmp_path / "run", text, "hydro.moves=false").history()
    for g, share in enumerate(photons.share):
        expected = SOURCE * 0.01 * MYR * share
        assert history[f"photons_{g}"][-1] == pytest.approx(expected, rel=1e-4), g


def test_photons_in_transparent_gas_have_the_flux_of_the_source(tmp_path: Path) -> None:
    """F = S / (4 pi r^2) in all directions, once the first photons have left."""
    text = region(
        16, 1.0, 1.6, lower=-1.0, boundary=("outflow", "outflow"), density="1e-9", speed_ratio=0.01
    )
    outcome = run_well(tmp_path / "run", text, "hydro.moves=false", "radiation.max_substeps=10")
    history, found = outcome.history(), leaf_cells(outcome.last_snapshot)
    left = np.diff(history["outflow_photons"])[-1]
    assert left == pytest.approx(np.diff(history["ionization_injected"])[-1], rel=1e-3)
    radius = np.sqrt(np.sum(found.position**2, axis=1))
    along = (found[f"photon_flux_0_{axis}"] * found.position[:, d] for d, axis in enumerate("xyz"))
    far = (radius > 0.5) & (radius < 0.9)
    outward = (sum(along) / radius)[far]
    density = found["photon_density_0"][far]
    # Through faces, the flux is larger by the numerical diffusion c' / 2 dN/dr dx.
    speed = 0.01 * LIGHT_SPEED * MYR / KPC
    diffusion = speed * density * found.size[far] / radius[far]
    thickness = 4.0 * np.pi * radius[far] ** 2 / (SOURCE * MYR)
    flux = (outward + diffusion) * thickness
    print(flux.mean(), flux.std(), outward.mean() / (speed * density).mean())
    assert flux.mean() == pytest.approx(1.0, abs=0.04)
    assert flux.std() <= 0.06
    assert np.all(outward <= speed * density)


@pytest.mark.parametrize("boundary", ["outflow", "diode", "open"])
def test_no_photons_enter_through_open_boundaries(tmp_path: Path, boundary: str) -> None:
    """What is beyond them is dark, as with inflow boundaries without photons."""
    runs = []
    for side in (boundary, "inflow"):
        text = region(8, 3.3, 3.0, boundary=(side, side), source=(0.1, 0.1, 0.1), density="1e-9")
        runs.append(run_well(tmp_path / side, text, "hydro.moves=false").history())
    history, dark = runs
    assert np.all(np.diff(history["outflow_photons"]) >= 0.0)
    assert history["outflow_photons"][-1] > 0.1 * history["ionization_injected"][-1]
    assert history["photons_0"][-1] == pytest.approx(dark["photons_0"][-1], rel=1e-12)


# --- symmetry -------------------------------------------------------------------------------------


def test_an_octant_has_the_bits_of_the_whole(tmp_path: Path) -> None:
    many = {"edges": GROUPS, "spectrum": "black_body", "helium": HELIUM}
    whole = region(16, 1.0, 0.3, lower=-1.0, boundary=("outflow", "outflow"), **many)
    octant_text = region(8, 1.0, 0.3, **many)
    one = run_well(tmp_path / "whole", whole, "time.max_steps=4")
    other = run_well(tmp_path / "octant", octant_text, "time.max_steps=4")
    for name in (*IONS, *PHOTONS, "density", "pressure", "velocity_x", "velocity_y"):
        grid = uniform_grid(one.last_snapshot, name)
        assert np.array_equal(grid[8:, 8:, 8:], uniform_grid(other.last_snapshot, name)), name
        for flips in itertools.product((False, True), repeat=3):  # of z, y, x
            axes = tuple(d for d in range(3) if flips[d])
            mirrored = np.flip(grid, axes)
            vector = name.startswith(("photon_flux", "velocity"))
            odd = vector and flips[2 - "xyz".index(name[-1])]
            assert np.array_equal(-mirrored if odd else mirrored, grid), (name, flips)
    assert uniform_grid(one.last_snapshot, "ionized_hydrogen").max() > 0.9


# --- commands -------------------------------------------------------------------------------------


def test_the_check_and_the_plan_accept_ionization(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(STIRRED)
    assert "is valid" in octant("check", path).text
    plan = octant("run", path, "--plan")
    assert plan.code == 0, plan.text
