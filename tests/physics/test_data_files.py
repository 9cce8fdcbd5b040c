"""Files of tables: values in other files, pipes, moved files and initial states beyond a table."""

import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from real_gases import GasAndRadiation, write_table
from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, Outcome, run, run_well

TUBE = """
model = "amr"
[units]
length = "1 km"
density = "1 g/cm^3"
time = "1 s"
[problem]
name = "expression"
density = "1 + 0.1 * sin(2 * pi * x)"
pressure = "12"
[mesh]
base_cells = [32, 8, 8]
block_size = 8
max_level = 0
upper = [1.0, 0.25, 0.25]
[hydro]
dimensions = 1
gamma = "5/3"
equation_of_state = "table"
[time]
end = 1.0
max_steps = 2
"""
DENSITIES, TEMPERATURES = np.geomspace(1e-2, 1e2, 81), np.geomspace(1e-2, 1e2, 81)


def table_in(directory: Path, strength: float = 1.0) -> Path:
    """Write a table of gas and radiation with this radiation constant."""
    directory.mkdir(parents=True, exist_ok=True)
    gas = GasAndRadiation(5 / 3, strength)
    return write_table(directory / "table.h5", gas, DENSITIES, TEMPERATURES, (1.0, 1e5))


def with_table(
    directory: Path, path: object, *overrides: str, ranks: int = 1, restart: Path | None = None
) -> Outcome:
    """Run the tube with a table."""
    parameters = (f"hydro.eos_table={path}", *overrides)
    return run(directory, TUBE, *parameters, ranks=ranks, restart=restart)


# --- values in other files ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["external link", "external storage", "virtual dataset"])
def test_values_in_another_file_are_refused(tmp_path: Path, kind: str) -> None:
    table, other = table_in(tmp_path / "a"), table_in(tmp_path / "b", 2.0)
    with h5py.File(table, "a") as file:
        shape = file["pressure"].shape
        del file["pressure"]
        if kind == "external link":
            file["pressure"] = h5py.ExternalLink(str(other), "/pressure")
        elif kind == "virtual dataset":
            layout = h5py.VirtualLayout(shape, dtype=float)
            layout[...] = h5py.VirtualSource(str(other), "pressure", shape)
            file.create_virtual_dataset("pressure", layout)
        else:
            with h5py.File(other) as values:
                raw = values["pressure"][...]
            raw.tofile(tmp_path / "raw")
            pieces = [(str(tmp_path / "raw"), 0, raw.nbytes)]
            file.create_dataset("pressure", shape, dtype=float, external=pieces)
    outcome = with_table(tmp_path / "run", table)
    assert_refused(outcome, str(table), "/pressure", kind, "lies in another file", "store its")


# --- pipes ----------------------------------------------------------------------------------------

PIPES = {
    "hydro.eos_table": "{}",
    "problem.tables": '{{profile = "{}"}}',
    "problem.particle_table": "{}",
}


@pytest.mark.parametrize("parameter", PIPES)
def test_a_pipe_is_refused(tmp_path: Path, parameter: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    table = table_in(tmp_path / "a")
    overrides = [f"hydro.eos_table={table}", f"{parameter}={PIPES[parameter].format(pipe)}"]
    outcome = run(tmp_path / "run", TUBE, *overrides, timeout=30)
    assert_refused(outcome, str(pipe), "expected a regular file")


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    link = tmp_path / "link.h5"
    link.symlink_to(table_in(tmp_path / "a"))
    assert with_table(tmp_path / "run", link).code == 0


# --- restarts -------------------------------------------------------------------------------------


def test_a_restart_accepts_a_table_that_has_moved(tmp_path: Path) -> None:
    table = table_in(tmp_path / "a")
    one = run_well(tmp_path / "one", TUBE, f"hydro.eos_table={table}", *CHECKPOINT_EVERY_STEP)
    checkpoint = one.directory / "checkpoint_00001.h5"
    moved = tmp_path / "moved.h5"
    table.rename(moved)
    assert with_table(tmp_path / "b", moved, restart=checkpoint).code == 0
    relative = os.path.relpath(moved)
    tolerance = "hydro.eos_table_tolerance=0.03"
    assert with_table(tmp_path / "c", relative, tolerance, restart=checkpoint).code == 0
    other = table_in(tmp_path / "b", 1.01)
    assert_refused(
        with_table(tmp_path / "d", other, restart=checkpoint), "hydro.eos_table", "have changed"
    )


def test_a_restart_accepts_tables_of_functions_that_have_moved(tmp_path: Path) -> None:
    table = table_in(tmp_path / "a")
    profile = tmp_path / "profile.txt"
    profile.write_text("0 1\n1 1.1\n")
    parameters = (f"hydro.eos_table={table}", "problem.density='profile(x)'")
    one = run_well(
        tmp_path / "one",
        TUBE,
        *parameters,
        f'problem.tables={{profile = "{profile}"}}',
        *CHECKPOINT_EVERY_STEP,
    )
    checkpoint = one.directory / "checkpoint_00001.h5"
    moved = tmp_path / "moved.txt"
    shutil.move(profile, moved)
    changed = f'problem.tables={{profile = "{moved}"}}'
    run_well(tmp_path / "b", TUBE, *parameters, changed, restart=checkpoint)
    moved.write_text("0 1\n1 1.2\n")
    outcome = run(tmp_path / "c", TUBE, *parameters, changed, restart=checkpoint)
    assert_refused(outcome, "problem.tables", "have changed")


# --- initial states -------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_refused_initial_state_leaves_no_files(tmp_path: Path, ranks: int) -> None:
    table = table_in(tmp_path / "a")
    cold = "problem.pressure='x < 0.9 ? 12 : 1e-6'"
    outcome = with_table(tmp_path / "run", table, cold, ranks=ranks)
    assert_refused(
        outcome,
        "hydro.eos_table: 192 cells of the initial state are outside",
        "x = 0.921875",
        "density 0.9",
        "pressure 1e-06",
        "densities 0.01 to 100",
        "temperatures 0.01 to 100 K",
    )
    assert not list((tmp_path / "run").glob("snap_*"))
    assert with_table(tmp_path / "run", table, ranks=ranks).code == 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_raised_pressures_are_noted_once(tmp_path: Path, ranks: int) -> None:
    parameters = ("hydro.equation_of_state=white_dwarf", "hydro.degeneracy_pressure=1")
    parameters += ("hydro.degeneracy_density=1", "hydro.riemann=hllc")
    cold = "problem.pressure='x < 0.9 ? 12 : 0.1'"
    text = run_well(tmp_path / "cold", TUBE, *parameters, cold, ranks=ranks).text
    (note,) = [line for line in text.splitlines() if "initial pressures of" in line]
    x = np.cbrt(1 + 0.1 * np.sin(2 * np.pi * np.array([29.5, 30.5, 31.5]) / 32))
    root = np.sqrt(1 + x * x)
    most = np.max(x * (2 * x * x - 3) * root + 3 * np.arcsinh(x)) / 0.1 - 1
    assert "192 cells" in note
    assert "white_dwarf" in note
    assert f"{most:.3g} times" in note
    warm = run_well(tmp_path / "warm", TUBE, *parameters)
    assert "initial pressures of" not in warm.text


@pytest.mark.parametrize("parameter", ["pressure", "temperature"])
def test_pressures_without_effect_are_noted(tmp_path: Path, parameter: str) -> None:
    isothermal = ("hydro.equation_of_state=isothermal", "hydro.sound_speed=1", "hydro.riemann=hllc")
    tube = TUBE.replace("pressure", parameter)
    text = run_well(tmp_path / "run", tube, *isothermal).text
    assert text.count(f"determines the pressure: problem.{parameter}") == 1
    tube = TUBE.replace('pressure = "12"', "")
    assert "determines the pressure" not in run_well(tmp_path / "b", tube, *isothermal).text
