"""Runs with radiation: bits on ranks and threads, restarts, refusals, and what files contain."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from radiation_setups import profile, slab

from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    SAME_BITS_CASES,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    octant,
    run,
    run_well,
    uniform_grid,
)

MOMENTS = ("radiation_energy", "radiation_flux_x", "radiation_flux_y", "radiation_flux_z")
# Moving gas that absorbs, emits and scatters. Kramers' law in the exponents of the opacity.
BALL = slab(
    16,
    1.0,
    0.5,
    across=(8, 8),
    density="1 + 0.8 * sin(2*pi*x) * cos(4*pi*y)",
    velocity=("sin(4*pi*y)", "cos(4*pi*z)", "0.5 * sin(2*pi*x)"),
    pressure="0.5",
    energy="0.1 + 10 * exp(-40 * ((x - 0.4)^2 + (y - 0.2)^2 + (z - 0.3)^2))",
    flux=("0.5", "0.2 * cos(2*pi*x)", "-0.1"),
    light_speed=20.0,
    constant=0.2,
)
GREY = (
    "radiation.planck_opacity=3",
    "radiation.rosseland_opacity=30",
    "radiation.scattering_opacity=5",
    "radiation.opacity_density_exponent=1",
    "radiation.opacity_temperature_exponent=-3.5",
    "radiation.largest_opacity=1e5",
    "radiation.speed_ratio=0.5",
    "radiation.max_substeps=10",
    "output.history_interval=1",
)
REFINED = (
    "mesh.max_level=1",
    "refine.gradient_fields=['radiation_energy']",
    "refine.gradient=[0.25]",
    "balance.interval=2",
    "time.max_steps=4",
)


def refined_run(directory: Path, *overrides: str, **how: object) -> Outcome:
    return run_well(directory, BALL, *GREY, *REFINED, *overrides, **how)


# --- bits -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Give the run on one rank, with all of its checkpoints."""
    outcome = refined_run(tmp_path_factory.mktemp("reference") / "one", *CHECKPOINT_EVERY_STEP)
    assert outcome.history()["leaf_cells_1"][-1] > 0
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
    few = ("time.max_steps=3",)
    runs = [
        run_well(tmp_path / str(n), BALL, *GREY, *few, f"mesh.block_size={n}") for n in (2, 4, 8)
    ]
    for name in (*MOMENTS, "density", "pressure", "velocity_x"):
        first, *others = (uniform_grid(outcome.last_snapshot, name) for outcome in runs)
        for other in others:
            assert np.array_equal(other, first), name


@pytest.mark.parametrize(("step", "ranks"), [(2, 3), (3, 2)])
def test_runs_go_on_from_checkpoints_on_other_ranks(
    tmp_path: Path, reference: Outcome, step: int, ranks: int
) -> None:
    overrides = (*GREY, *REFINED, *CHECKPOINT_EVERY_STEP)
    assert_goes_on(tmp_path / "run", reference, step, *overrides, ranks=ranks)


@pytest.mark.parametrize("boundary", ["outflow", "diode", "open"])
def test_no_radiation_enters_through_open_boundaries(tmp_path: Path, boundary: str) -> None:
    """Radiation in a corner leaves, although its flux points inwards in cells beside the sides."""
    text = slab(
        8,
        1.0,
        1.0,
        across=(8, 8),
        energy="(x < 0.2) * (y < 0.2) * (z < 0.2) + 1e-6",
        sides=(boundary, boundary),
    )
    sides = [f"mesh.boundary_{axis}=['{boundary}','{boundary}']" for axis in "yz"]
    overrides = ("hydro.moves=false", "radiation.max_substeps=4", "output.history_interval=1")
    history = run_well(tmp_path / "run", text, *overrides, *sides).history()
    assert np.all(np.diff(history["outflow_radiation"]) >= 0.0)
    assert history["radiation_energy"][-1] < 0.05 * history["radiation_energy"][0]


@pytest.mark.parametrize("depth", [10.0, 100.0])
@pytest.mark.parametrize("cells", [16, 32])
def test_opaque_gas_loses_radiation_through_open_boundaries_by_diffusion(
    tmp_path: Path, cells: int, depth: float
) -> None:
    """A half-space of diffusivity D, dark at its surface, has lost 2 E sqrt(D t / pi) per area."""
    diffusivity = 1.0 / (3.0 * depth * cells)
    text = slab(cells, 1.0, 0.01 / diffusivity, sides=("outflow", "outflow"))
    overrides = ("hydro.moves=false", "radiation.max_substeps=1000", "output.history_interval=1")
    scattering = f"radiation.scattering_opacity={depth * cells}"
    history = run_well(tmp_path / "run", text, *overrides, scattering).history()
    lost = 1.0 - history["radiation_energy"][-1] / history["radiation_energy"][0]
    expected = 4.0 * np.sqrt(diffusivity * history["time"][-1] / np.pi)
    assert lost == pytest.approx(expected, rel=1.1 / cells)


# --- files and commands ---------------------------------------------------------------------------


def test_snapshots_state_the_units_of_radiation(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", BALL, *GREY, "time.max_steps=1")
    with h5py.File(outcome.last_snapshot) as file:
        (fields,) = file["hydro"].values()
        for name in MOMENTS:
            attributes = fields[name].attrs
            unit = "mass / time^3" if "flux" in name else "mass / (length time^2)"
            assert attributes["units"] == unit
            assert "radiation" in attributes["description"]


def test_history_has_the_sums_of_the_snapshots(tmp_path: Path) -> None:
    outcome = refined_run(tmp_path / "run")
    found, history = leaf_cells(outcome.last_snapshot), outcome.history()
    energy = np.sum(found["radiation_energy"] * found.volume)
    assert history["radiation_energy"][-1] == pytest.approx(energy, rel=1e-13)
    for axis in "xyz":
        momentum = np.sum(found[f"radiation_flux_{axis}"] * found.volume) / (20.0**2 * 0.5)
        largest = np.sum(found["radiation_energy"] * found.volume) / (20.0 * 0.5)
        assert history[f"radiation_momentum_{axis}"][-1] == pytest.approx(
            momentum, abs=1e-13 * largest
        )


def test_the_initial_temperature_sets_isotropic_radiation(tmp_path: Path) -> None:
    text = slab(4, 1.0, 0.01, constant=0.5)
    line = next(row for row in text.splitlines() if row.startswith("fields"))
    outcome = run_well(tmp_path / "run", text.replace(line, ""), "radiation.initial_temperature=3")
    found = profile(outcome.last_snapshot)
    np.testing.assert_allclose(found["radiation_energy"], 0.5 * 3.0**4, rtol=1e-14)
    assert not found["radiation_flux_x"].any()


def test_constants_follow_from_the_units(tmp_path: Path) -> None:
    """A beam moves at the physical speed of light; radiation of 100 K has the energy a T^4."""
    units = "\n[units]\nlength = 1e10\ndensity = 1e-10\ntime = 1.0\n"
    energy = 7.565733250e-15 * 100.0**4 / (1e-10 * 1e20)
    wave = "2 + sin(2*pi*x)"
    flux = (f"2.99792458 * ({wave})", "0", "0")
    text = slab(32, 1.0, 0.25, energy=wave, flux=flux, light_speed=0.0, constant=0.0) + units
    found = profile(run_well(tmp_path / "beam", text, "hydro.moves=false").last_snapshot)
    exact = 2.0 + np.sin(2 * np.pi * (found["x"] - 0.25 * 2.99792458))
    np.testing.assert_allclose(found["radiation_energy"], exact, atol=0.06)
    assert np.mean(np.abs(found["radiation_energy"] - exact)) <= 0.03
    line = next(row for row in text.splitlines() if row.startswith("fields"))
    warm = run_well(
        tmp_path / "warm",
        text.replace(line, ""),
        "radiation.initial_temperature=100",
        "time.end=0.01",
    )
    found = profile(warm.last_snapshot)
    np.testing.assert_allclose(found["radiation_energy"], energy, rtol=1e-9)


def test_the_check_and_the_plan_accept_radiation(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(BALL)
    overrides = [word for override in GREY for word in ("--set", override)]
    checked = octant("check", path, *overrides).text
    assert "is valid" in checked
    assert "grey radiation (M1)" in checked
    assert "radiation, gas, ghost cells" in octant("run", path, "--plan", *overrides).text
    gas = slab(4, 1.0, 0.1)
    line = next(row for row in gas.splitlines() if row.startswith("fields"))
    path.write_text(gas.replace(line, "").replace("enabled = true", "enabled = false"))
    assert "radiation" not in octant("run", path, "--plan").text


def test_the_density_of_radiation_refines_and_derefines(tmp_path: Path) -> None:
    """Refined cells surround a pulse in a vacuum that moves through the box."""
    gauss = "1 + 10 * exp(-200 * (x - 0.3)^2)"
    text = slab(32, 1.0, 0.3, energy=gauss, flux=(gauss, "0", "0"))
    overrides = (
        "hydro.moves=false",
        "mesh.max_level=1",
        "refine.gradient_fields=['radiation_energy']",
        "refine.gradient=[0.15]",
        "radiation.max_substeps=8",
    )
    outcome = run_well(tmp_path / "run", text, *overrides)
    for path, centre in ((outcome.snapshots[0], 0.3), (outcome.last_snapshot, 0.6)):
        found = leaf_cells(path)
        fine = found.position[found.size < found.size.max(), 0]
        assert len(fine) > 0
        assert np.abs(fine - centre).max() <= 0.35
        assert abs(fine.mean() - centre) <= 0.1


def test_inflow_is_limited_to_the_flux_of_a_beam(tmp_path: Path) -> None:
    text = slab(
        8,
        1.0,
        5.0,
        energy="x < 0 ? 1 : 1e-9",
        flux=("x < 0 ? 3 : 0", "0", "0"),
        sides=("inflow", "outflow"),
    )
    found = profile(run_well(tmp_path / "run", text, "hydro.moves=false").last_snapshot)
    np.testing.assert_allclose(found["radiation_energy"], 1.0, rtol=1e-6)
    np.testing.assert_allclose(found["radiation_flux_x"], 1.0, rtol=1e-6)


# --- refusals -------------------------------------------------------------------------------------

SMALL = slab(4, 1.0, 0.1, energy="1 + 0.5 * x", flux=("0.1", "0", "0"))
OUTFLOW = [f'mesh.boundary_{axis}=["outflow", "outflow"]' for axis in "xy"]
INFLOW = 'mesh.boundary_x=["inflow", "outflow"]'
BAD_VALUES = {
    "no_light_speed": (["radiation.light_speed=0"], ["radiation.light_speed", "units.length"]),
    "no_constant": (["radiation.constant=0"], ["radiation.constant", "units.length"]),
    "no_gas": (["hydro.enabled=false"], ["radiation.enabled", "hydro.enabled"]),
    "rotating_frame": (
        ["frame.angular_velocity=1", *OUTFLOW],
        ["radiation.enabled", "frame.angular_velocity"],
    ),
    "no_such_field": (
        ["problem.fields={radiation_enrgy = '1'}"],
        ["problem.fields", "radiation_enrgy", "radiation_energy, radiation_flux_x"],
    ),
    "no_radiation": (["radiation.enabled=false"], ["problem.fields", "radiation_energy"]),
    "unknown_name": (
        ["problem.fields={radiation_energy = '1 + q'}"],
        ["problem.fields.radiation_energy", '"q"'],
    ),
    "not_a_number": (
        ["problem.fields={radiation_energy = 'sqrt(x - 0.5)'}"],
        ["problem.fields.radiation_energy", "sqrt(x - 0.5)", "finite", "x = 0.125"],
    ),
    "infinite_flux": (
        ["problem.fields={radiation_flux_y = '1 / (x - 0.125)'}"],
        ["problem.fields.radiation_flux_y", "finite"],
    ),
    "not_a_number_in_the_inflow": (
        ["problem.fields={radiation_energy = 'x < 0 ? sqrt(x) : 1'}", INFLOW],
        ["problem.fields.radiation_energy", "finite", "x = -"],
    ),
    "negative_energy": (
        ["problem.fields={radiation_energy = '0.5 - x'}"],
        ["problem.fields", "x = 0.625", "radiation_energy", "at least 0"],
    ),
    "flux_above_that_of_a_beam": (
        ["problem.fields={radiation_energy = '1', radiation_flux_z = '1.001'}"],
        ["problem.fields", "x = ", "flux", "speed of light = 1"],
    ),
    "opacities_in_disorder": (
        ["radiation.least_opacity=2", "radiation.largest_opacity=1"],
        ["radiation.least_opacity = 2", "radiation.largest_opacity = 1"],
    ),
    "cubic_heat_capacity_of_moving_gas": (
        ["radiation.cubic_heat_capacity=1"],
        ["radiation.cubic_heat_capacity", "hydro.moves = false"],
    ),
    "gravity_on_gas_at_rest": (
        ["hydro.moves=false", "gravity.enabled=true"],
        ["hydro.moves = false", "gravity.enabled"],
    ),
    "acceleration_of_gas_at_rest": (
        ["hydro.moves=false", "hydro.acceleration=[1, 0, 0]"],
        ["hydro.moves = false", "hydro.acceleration"],
    ),
    "speed_above_light": (["radiation.speed_ratio=2"], ["radiation.speed_ratio", "<= 1"]),
    "no_speed": (["radiation.speed_ratio=0"], ["radiation.speed_ratio", "> 0"]),
    "large_courant_number": (["radiation.cfl=1.5"], ["radiation.cfl", "<= 1"]),
    "no_substeps": (["radiation.max_substeps=0"], ["radiation.max_substeps", ">= 1"]),
    "negative_opacity": (["radiation.planck_opacity=-1"], ["radiation.planck_opacity", ">= 0"]),
    "opacity_with_unit": (
        ["radiation.planck_opacity=1 cm^2/g"],
        ["radiation.planck_opacity", "units.length"],
    ),
    "negative_temperature": (
        ["radiation.initial_temperature=-3"],
        ["radiation.initial_temperature", ">= 0"],
    ),
    "refinement_by_no_such_field": (
        ["refine.gradient_fields=['radiation_enrgy']", "refine.gradient=[0.1]"],
        ["radiation_enrgy", "did you mean radiation_energy"],
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    overrides, fragments = BAD_VALUES[case]
    assert_refused(run(tmp_path / "run", SMALL, *overrides), *fragments)


def test_an_expanding_box_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text((ROOT / "examples/cosmology.toml").read_text())
    outcome = octant("check", path, "--set", "radiation.enabled=true")
    assert_refused(outcome, "radiation", "cosmology")
