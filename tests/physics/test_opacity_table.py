"""Runs with a table of opacities: power laws, limits of the table, restarts, refusals."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from radiation_setups import profile, slab

from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, assert_same_run, leaf_cells, octant, run, run_well

# Moving gas that absorbs, emits and scatters.
WAVES = slab(
    16,
    1.0,
    0.05,
    across=(8, 8),
    density="1 + 0.8 * sin(2*pi*x) * cos(4*pi*y)",
    velocity=("sin(4*pi*y)", "cos(4*pi*z)", "0.5 * sin(2*pi*x)"),
    pressure="0.5",
    energy="0.1 + 10 * exp(-40 * ((x - 0.4)^2 + (y - 0.2)^2 + (z - 0.3)^2))",
    light_speed=20.0,
    constant=0.2,
)
REFINED = (
    "mesh.max_level=1",
    "refine.gradient_fields=['radiation_energy']",
    "refine.gradient=[0.25]",
    "output.history_interval=1",
)
SCATTERING = "radiation.scattering_opacity=0.5"
FIELDS = ("density", "pressure", "velocity_x", "radiation_energy", "radiation_flux_y")


def write_table(
    path: Path,
    planck: float,
    rosseland: float,
    exponents: tuple[float, float] = (0.0, 0.0),
    densities: tuple[float, ...] = (1e-2, 0.3, 1.0, 7.0, 1e2),
    temperatures: tuple[float, ...] = (1e-2, 0.1, 0.7, 2.0, 1e2),
) -> str:
    """Write power laws of density and temperature; return the parameter that names the file."""
    a, b = exponents
    rows = ["# density temperature planck rosseland"]
    for rho, t in product(densities, temperatures):
        law = rho**a * t**b
        rows.append(f"{rho!r} {t!r} {planck * law!r} {rosseland * law!r}")
    path.write_text("\n".join(rows))
    return f"radiation.opacity_table={path}"


def test_a_table_of_a_power_law_is_the_power_law(tmp_path: Path) -> None:
    """Kramers' law, on a refined mesh, on one and three ranks."""
    table = write_table(tmp_path / "kramers.txt", 3.0, 30.0, (1.0, -3.5))
    law = (
        "radiation.planck_opacity=3",
        "radiation.rosseland_opacity=30",
        "radiation.opacity_density_exponent=1",
        "radiation.opacity_temperature_exponent=-3.5",
    )
    exact = run_well(tmp_path / "law", WAVES, *REFINED, SCATTERING, *law)
    found = run_well(tmp_path / "table", WAVES, *REFINED, SCATTERING, table)
    assert found.history()["leaf_cells_1"][-1] > 0
    assert found.history()["cells_outside_opacity_table"].max() == 0
    one, other = leaf_cells(exact.last_snapshot), leaf_cells(found.last_snapshot)
    for name in FIELDS:
        scale = np.abs(one[name]).max()
        np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-9 * scale, err_msg=name)
    three = run_well(tmp_path / "three", WAVES, *REFINED, SCATTERING, table, ranks=3)
    assert_same_run(three, found)


def test_a_table_is_in_cgs_units_with_units(tmp_path: Path) -> None:
    """1 cm^2/g, in a run with the units 1e10 cm, 1e-10 g/cm^3 and 1 s."""
    units = "\n[units]\nlength = 1e10\ndensity = 1e-10\ntime = 1.0\n"
    wave = slab(
        16,
        1.0,
        0.1,
        energy="1 + 0.5 * sin(2*pi*x)",
        pressure="1e-6",
        light_speed=0.0,
        constant=0.0,
    )
    table = write_table(
        tmp_path / "one.txt", 1.0, 1.0, densities=(1e-11, 1e-9), temperatures=(1e2, 1e9)
    )
    given = ("radiation.planck_opacity=1 cm^2/g", "radiation.rosseland_opacity=1 cm^2/g")
    exact = profile(run_well(tmp_path / "given", wave + units, *given).last_snapshot)
    found = profile(run_well(tmp_path / "table", wave + units, table).last_snapshot)
    assert np.ptp(exact["radiation_energy"]) < 0.9
    for name in ("pressure", "radiation_energy"):
        np.testing.assert_allclose(found[name], exact[name], rtol=1e-10, err_msg=name)


def test_cells_that_leave_the_table_have_its_last_opacity_and_are_counted(tmp_path: Path) -> None:
    """Radiation heats all gas from the temperature 1 to 5, beyond the 2 of the table."""
    hot = slab(8, 1.0, 2.0, energy="1000")
    table = write_table(tmp_path / "cold.txt", 2.0, 1.0, temperatures=(0.5, 2.0))
    history = ("output.history_interval=1",)
    constant = ("radiation.planck_opacity=2", "radiation.rosseland_opacity=1")
    outcome = run_well(tmp_path / "table", hot, table, *history)
    exact = profile(run_well(tmp_path / "constant", hot, *constant).last_snapshot)
    found = profile(outcome.last_snapshot)
    assert exact["pressure"][0] > 4.0
    for name in ("pressure", "radiation_energy"):
        np.testing.assert_allclose(found[name], exact[name], rtol=1e-10, err_msg=name)
    counts = outcome.history()["cells_outside_opacity_table"]
    assert (counts[0], counts[-1]) == (0, 8 * 16)
    assert outcome.text.count("outside radiation.opacity_table") == 1
    assert "temperatures from 0.5 to 2" in outcome.text


def test_a_restart_with_another_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "opacities.txt"
    table = write_table(path, 1.0, 1.0)
    outcome = run_well(tmp_path / "run", WAVES, table, *CHECKPOINT_EVERY_STEP)
    write_table(path, 1.0, 1.5)
    checkpoint = sorted(outcome.directory.glob("checkpoint_*.h5"))[0]
    refused = run(tmp_path / "changed", WAVES, table, restart=checkpoint)
    assert_refused(refused, "radiation.opacity_table", "have changed")
    write_table(path, 1.0, 1.0)
    assert run(tmp_path / "same", WAVES, table, restart=checkpoint).code == 0


BAD_FILES = {
    "missing": (None, ["opacities.txt", "radiation.opacity_table"]),
    "three_numbers": ("1 1 1\n", ["opacities.txt:1", "Rosseland", "found 3 numbers"]),
    "not_a_number": ("1 1 nan 1\n", ["opacities.txt:1", "nan"]),
    "no_opacity": ("1 1 0 1\n", ["opacities.txt:1", "positive"]),
    "densities": ("2 1 1 1\n2 2 1 1\n1 1 1 1\n", ["opacities.txt:3", "increasing densities"]),
    "temperatures": ("1 2 1 1\n1 1 1 1\n", ["opacities.txt:2", "increasing temperatures"]),
    "one_density": ("1 1 1 1\n1 2 1 1\n", ["opacities.txt", "two densities"]),
    "few_temperatures": (
        "1 1 1 1\n1 2 1 1\n2 1 1 1\n",
        ["opacities.txt", "radiation.opacity_table", "has 1 temperatures; expected 2"],
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_table_is_refused(tmp_path: Path, case: str) -> None:
    text, fragments = BAD_FILES[case]
    path = tmp_path / "opacities.txt"
    if text is not None:
        path.write_text(text)
    parameters = tmp_path / "run.toml"
    parameters.write_text(WAVES)
    table = f'radiation.opacity_table="{path}"'
    assert_refused(octant("check", parameters, "--set", table), *fragments)


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_initial_state_outside_the_table_is_refused(tmp_path: Path, ranks: int) -> None:
    thin = write_table(tmp_path / "thin.txt", 1.0, 1.0, densities=(1e-2, 1.5))
    outcome = run(tmp_path / "run", WAVES, thin, ranks=ranks)
    assert_refused(outcome, "radiation.opacity_table", "x = ", "densities from 0.01 to 1.5")


@pytest.mark.parametrize(
    "other",
    [
        "radiation.planck_opacity=1",
        "radiation.rosseland_opacity=1",
        "radiation.opacity_density_exponent=1",
        "radiation.opacity_temperature_exponent=1",
        "radiation.least_opacity=1",
        "radiation.largest_opacity=1",
    ],
)
def test_a_table_and_a_power_law_are_incompatible(tmp_path: Path, other: str) -> None:
    table = write_table(tmp_path / "opacities.txt", 1.0, 1.0)
    outcome = run(tmp_path / "run", WAVES, table, other)
    assert_refused(outcome, other.split("=")[0], "radiation.opacity_table")
