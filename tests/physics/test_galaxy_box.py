"""Small universes that make galaxies: everything on, its books, its bits, and RAMSES's stars."""

import re
import struct
import tomllib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from octools.inputs import ramses

from galaxies import SUN, assert_same_births, rows
from inputs import GALAXIES_IN_A_BOX
from reference_data import reference_path
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    octant,
    run,
    run_well,
)
from smaller_examples import SMALLER

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the small universe on one rank, with everything."""
    folder = tmp_path_factory.mktemp("box")
    return run_well(folder / "run", GALAXIES_IN_A_BOX, *CHECKPOINT_EVERY_STEP)


def metals_of_gas(snapshot: Path) -> float:
    cells = leaf_cells(snapshot)
    return float((cells["density"] * cells["metals"] * cells.volume).sum())


def test_mass_and_metals_are_where_the_ledger_says(reference: Outcome) -> None:
    history = reference.history()
    assert history["stars_particles"][-1] > 50
    assert history["supernovae_number"][-1] > 0
    assert history["leaf_cells_1"][-1] > 0
    assert history["sinks_particles"][-1] > 1
    assert history["black_holes_injected"][-1] > 0.0
    mass = history["mass"] + history["stars_mass"] + history["sinks_mass"]
    mass += history["black_holes_radiated"]
    assert np.abs(mass / mass[0] - 1.0).max() < 1e-12
    in_stars = history["stars_formed"] - history["supernovae_mass"]
    assert np.abs(in_stars - history["stars_mass"]).max() < 1e-12 * history["mass"][0]

    first, last = (metals_of_gas(s) for s in (reference.snapshots[0], reference.last_snapshot))
    moved = history["supernovae_metals"] - history["stars_formed_metals"]
    moved -= history["black_holes_metals"]
    assert last == pytest.approx(first + moved[-1], rel=1e-12)
    assert history["supernovae_metals"][-1] > 0.1 * history["supernovae_mass"][-1]


@pytest.mark.parametrize(
    ("ranks", "threads", "decomposition"),
    [(1, 2, "ksection"), (2, 1, "hilbert"), (3, 1, "ksection"), (4, 1, "morton")],
)
def test_the_same_bits_on_more_ranks(
    tmp_path: Path, reference: Outcome, ranks: int, threads: int, decomposition: str
) -> None:
    balance = ("balance.cost=measured", f"balance.decomposition={decomposition}")
    outcome = run_well(
        tmp_path / "run", reference.parameters, *balance, ranks=ranks, threads=threads
    )
    assert_same_run(outcome, reference)
    assert_same_births(outcome, reference)


def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome) -> None:
    history = reference.history()
    holes = history["sinks_particles"]
    row = int(np.flatnonzero(holes > 0)[0])  # holes form before it and after it
    assert holes[-1] > holes[row]
    assert history["supernovae_number"][-1] > history["supernovae_number"][row]
    step = int(history["step"][row]) + 1
    outcome = assert_goes_on(tmp_path / "run", reference, step, ranks=3)
    assert_same_births(outcome, reference)


def test_the_energy_equation_holds_with_the_ledger(tmp_path: Path) -> None:
    """The background heats gas without structure by more than there was."""
    box = ["initial.sigma_8=0.01", "mesh.max_level=0", "cosmology.box=50.0"]
    outcome = run_well(
        tmp_path / "run",
        GALAXIES_IN_A_BOX,
        *box,
        'cosmology.start="z = 12"',
        'cosmology.end="z = 5"',
        "stars.enabled=false",
        "supernovae.mode=none",
        "black_holes.enabled=false",
        "agn.enabled=false",
        "time.max_steps=100",
    )
    history = outcome.history()
    added = history["cooling_uv_heated"] + history["cooling_floor_energy"]
    added -= history["cooling_cooled"] + history["cooling_capped"]
    assert added[-1] > 10.0 * history["eint"][0]
    left = history["econs"] * np.abs(history["epot"])
    assert np.abs(left).max() < 1e-2 * added[-1]


def test_gas_without_a_background_is_heated_by_next_to_nothing(tmp_path: Path) -> None:
    dark = ["cooling.uv_background=none", "cooling.self_shielding=none", "cooling.reionization=45"]
    one = run_well(tmp_path / "one", GALAXIES_IN_A_BOX, *dark)
    three = run_well(tmp_path / "three", GALAXIES_IN_A_BOX, *dark, ranks=3)
    assert_same_run(three, one)
    assert_same_births(three, one)
    history = one.history()
    assert history["stars_particles"][-1] > 50
    # What recombination left ionised is heated by a trace of a background.
    assert 0.0 < history["cooling_uv_heated"][-1] < 1e-4 * history["cooling_cooled"][-1]


COOLS_INTO_FEW_CELLS = """
model = "amr"
[problem]
name = "cosmology"
[cosmology]
enabled = true
omega_m = 0.3111
omega_lambda = 0.6889
omega_b = 0.047
h = 0.6766
box = 5.0
start = "z = 29.5"
end = "a = 0.3"
[initial]
kind = "generate"
seed = 12345
sigma_8 = 0.81
spectral_index = 0.967
[gravity]
enabled = true
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 3
[refine]
mass = [6.8, 6.8, 6.8]
gas_weight = 5.6
[hydro]
gamma = 1.6666666666666667
riemann = "hllc"
limiter = "minmod"
[cooling]
enabled = true
method = "original"
self_shielding = "exponential"
initial_metallicity = 1e-3
"""


def test_energy_of_gas_that_has_cooled_into_few_cells_is_booked(tmp_path: Path) -> None:
    """The scheme lifts it in its own potential; a tenth of the energy is what that was spared."""
    outcome = run_well(tmp_path / "run", COOLS_INTO_FEW_CELLS, ranks=2)
    history = outcome.history()
    assert np.abs(history["econs"]).max() < 0.015
    assert history["energy_spared"][-1] > 0.05 * abs(history["epot"][-1])
    alone = run_well(tmp_path / "alone", COOLS_INTO_FEW_CELLS, *CHECKPOINT_EVERY_STEP)
    assert_same_run(alone, outcome)
    half = alone.directory / f"checkpoint_{len(history['step']) // 2:05d}.h5"
    in_batches = "execution.schedule=device"
    later = run_well(tmp_path / "later", COOLS_INTO_FEW_CELLS, in_batches, ranks=3, restart=half)
    assert_same_run(later, outcome, first_step=len(history["step"]) // 2 + 1)


# --- against RAMSES -------------------------------------------------------------------------------


def namelist(path: Path) -> dict[str, str]:
    """Read the assignments of a Fortran namelist."""
    found = re.findall(r"^\s*([\w()]+)\s*=\s*([^\s!]+)", path.read_text(), re.MULTILINE)
    return {name.lower(): value.strip("'") for name, value in found}


def ramses_run(folder: Path) -> str:
    """Translate the namelist of RAMSES's run by hand."""
    given = namelist(folder / "ramses_b10.nml")
    real = {
        k: float(v.lower().replace("d", "e"))
        for k, v in given.items()
        if re.match(r"\.?\d", v) and "*" not in v and "," not in v
    }
    conditions = folder / given["initfile(1)"]
    with (conditions / "ic_deltab").open("rb") as file:
        header = struct.unpack("<i3i8f", file.read(48))
    cells, spacing, omega_m, omega_lambda, hubble = header[1], header[4], *header[9:12]
    levels = int(real["levelmax"] - real["levelmin"])
    count, times = re.fullmatch(r"(\d+)\*([\d.]+)", given["m_refine"]).groups()
    assert int(count) >= levels
    box = cells * spacing * hubble / 100.0
    share = real["omega_b"] / omega_m
    critical = 2.775366e11 * omega_m * box**3 / (hubble / 100.0)  # solar masses in the box
    quantum = real["m_star"] * share * critical / cells**3
    return f"""
[problem]
name = "cosmology"
[cosmology]
enabled = true
omega_m = {omega_m:.6g}
omega_lambda = {omega_lambda:.6g}
omega_b = {real["omega_b"]}
h = {hubble / 100.0:.6g}
box = {box:.6g}
end = "a = 0.3"
[initial]
kind = "grafic"
path = "{conditions.parent}"
[gravity]
enabled = true
[mesh]
base_cells = [{cells}, {cells}, {cells}]
block_size = 4
max_level = {levels}
[refine]
mass = {[float(times) * (1.0 - share)] * levels}
gas_weight = {(1.0 - share) / share}
[hydro]
gamma = 1.6666666666666667
limiter = "minmod"
dual_energy = "overwrite"
[cooling]
enabled = true
method = "original"
self_shielding = "exponential"
initial_metallicity = {real["z_ave"]}
reionization = {real["z_reion"]}
[floor]
kind = "polytrope"
temperature = {real["t2_star"]}
density = {real["n_star"]}
index = {real["g_star"]}
[stars]
enabled = true
efficiency = {real["eps_star"]}
density = {real["n_star"]}
overdensity = {real["del_star"]}
mass = {quantum}
[supernovae]
mode = "thermal"
fraction = {real["eta_sn"]}
yield = {real["yield"]}
delay = {real["t_sne"]}
radius = 0.0
[output]
final_checkpoint = false
[telemetry]
enabled = false
"""


def converted(folder: Path) -> str:
    """Convert the namelist of RAMSES's run by octools."""
    return ramses.convert(folder / "ramses_b10.nml").finish("RAMSES")


def flat(text: str) -> dict[str, Any]:
    """Return the parameters of a file by "section.key"."""
    found = tomllib.loads(text)
    sections = {k: v for k, v in found.items() if isinstance(v, dict)}
    return {f"{s}.{key}": value for s, table in sections.items() for key, value in table.items()}


def test_a_converted_namelist_has_the_parameters_of_a_translation_by_hand() -> None:
    folder = reference_path("galaxy")
    expected, found = flat(ramses_run(folder)), flat(converted(folder))
    for name in ("cosmology.end", "mesh.block_size", "output.final_checkpoint"):
        del expected[name]  # chosen for this test
    del expected["telemetry.enabled"]
    for name, value in expected.items():
        if type(value) in (int, float) or name == "refine.mass":
            assert found[name] == pytest.approx(value, rel=1e-4), name
        else:
            assert found[name] == value, name
    # Settings that the translation leaves at the same defaults.
    assert found["hydro.riemann"] == "hllc"
    assert found["cooling.uv_background"] == "courty"
    assert found["refine.holdback"] is False  # all four levels are open from the beginning


@pytest.fixture(scope="module")
def beside_ramses(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run what RAMSES has run, to a = 0.3, from its namelist."""
    shorter = ['cosmology.end="a = 0.3"', "cosmology.snapshots=[]", "mesh.block_size=4"]
    quiet = ["output.final_checkpoint=false", "telemetry.enabled=false"]
    folder = tmp_path_factory.mktemp("ramses") / "run"
    return run_well(folder, converted(reference_path("galaxy")), *shorter, *quiet, timeout=900)


def test_as_many_stars_form_as_in_ramses(beside_ramses: Outcome) -> None:
    history, known = beside_ramses.history(), rows(reference_path("galaxy/ramses_b10_sfr.csv"))
    with h5py.File(beside_ramses.last_snapshot) as file:
        unit = float(file["header"].attrs["unit_mass"]) / SUN
    formed = history["stars_formed"][-1] * unit
    expected = np.interp(history["a"][-1], known["a"], known["mass_formed_Msun"])
    assert expected / 3.0 < formed < 3.0 * expected


def test_the_energy_of_what_ramses_has_run_is_booked(beside_ramses: Outcome) -> None:
    history = beside_ramses.history()
    assert history["stars_formed"][-1] > 0.0
    assert np.abs(history["econs"]).max() < 0.01
    assert history["energy_spared"][-1] > 0.03 * abs(history["epot"][-1])


def test_files_of_initial_conditions_can_be_checked(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(ramses_run(reference_path("galaxy")))
    checked = octant("check", file)
    assert checked.code == 0, checked.text
    assert "cannot be coarsened" in checked.text


# --- presets --------------------------------------------------------------------------------------

TINY = """
[problem]
name = "cooling_cell"
hydrogen_density = [1e-3]
temperature_over_mu = [1e5]

[mesh]
base_cells = [16, 16, 16]
block_size = 4

[hydro]
gamma = 1.6666666666666667

[units]
length = 3e21
density = 2e-24
time = 3e13

[gravity]
enabled = true

[time]
max_steps = 1
"""


def settings(directory: Path) -> dict[str, str]:
    """Read run.toml as text by name."""
    found, section = {}, ""
    for line in (directory / "run.toml").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif " = " in line:
            name, value = line.split(" = ", 1)
            found[section + name] = value.split("  #")[0]
    return found


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        (
            "horizon-agn",
            {
                "supernovae.mode": '"kinetic"',
                "cooling.reionization": "10.0",
                "black_holes.spin": "false",
                "agn.mass_loading": "100.0",
            },
        ),
        (
            "eagle-like",
            {
                "stars.model": '"pressure_law"',
                "supernovae.mode": '"stochastic"',
                "black_holes.drag": "false",
                "agn.radio_threshold": "0.0",
            },
        ),
    ],
)
def test_a_preset_is_printed_and_what_is_given_wins(
    tmp_path: Path, preset: str, expected: dict[str, str]
) -> None:
    given = (f"subgrid.preset={preset}", "supernovae.delay=7.5")
    outcome = run_well(tmp_path / "run", TINY, *given, "stars.density=3.0")
    chosen = settings(outcome.directory)
    for name, value in {**expected, "cooling.enabled": "true", "stars.enabled": "true"}.items():
        assert chosen[name] == value, name
        assert f"{name} = {value}" in outcome.text
    assert chosen["supernovae.delay"] == "7.5"
    assert chosen["stars.density"] == "3.0"
    assert "supernovae.delay" not in outcome.text


def test_the_preset_of_agora_needs_a_table(tmp_path: Path) -> None:
    refused = run(tmp_path / "run", TINY, "subgrid.preset=agora")
    assert_refused(refused, "cooling.table", "Grackle")


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_unknown_preset_is_refused(tmp_path: Path, ranks: int) -> None:
    refused = run(tmp_path / "run", TINY, "subgrid.preset=agoraa", ranks=ranks)
    assert_refused(refused, "subgrid.preset", "agora")


def test_gravity_of_a_ragged_level_converges(tmp_path: Path) -> None:
    """Level 1 covers all of the box but for some half blocks in step 4."""
    how = (*SMALLER["galaxies"], "time.max_steps=5", "output.snapshot_interval=0")
    outcome = run_well(tmp_path / "run", (ROOT / "examples/galaxies.toml").read_text(), *how)
    most = re.findall(r"gravity: level \d: .* V-cycles on average, (\d+) at most", outcome.text)
    assert len(most) == 2
    assert max(map(int, most)) <= 6


def test_decompositions_give_the_same_galaxies(tmp_path: Path) -> None:
    """Compare k-section with Hilbert segments, as section 8.1 of the cuRAMSES paper does."""
    text = (ROOT / "examples/cosmo256_small.toml").read_text()
    how = (*SMALLER["cosmo256_small"], "time.max_steps=4", "balance.interval=1")
    runs = {
        name: run_well(tmp_path / name, text, *how, f"balance.decomposition={name}", ranks=2)
        for name in ("ksection", "hilbert")
    }
    owners = []
    for outcome in runs.values():
        with h5py.File(outcome.last_snapshot) as file:
            owners.append(file["mesh/level_1/owner"][...])
    assert np.any(owners[0] != owners[1])
    history = runs["ksection"].history()
    for name in ("stars_particles", "supernovae_number", "sinks_particles", "black_holes_accreted"):
        assert history[name][-1] > 0, name
    assert history["black_holes_jet_loaded"][-1] > 0.0
    assert_same_run(*runs.values())
