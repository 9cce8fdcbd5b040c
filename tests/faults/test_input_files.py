"""Input files are opened by one rank of a run, as its preloaded layer counts."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from disturbances import Layer

from cooling_cells import CELLS, cells, write_table
from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX, GALAXIES_IN_A_BOX, SMALL
from real_gases import VanDerWaals
from real_gases import write_table as write_gas_table
from refusals import assert_refused
from running import Outcome, octant, run, run_well

RANKS = 4
ROWS = {
    "function.txt": "0.0 1\n1.0 2\n",
    "particles.txt": "0.1 0.2 0.3 0 0 0 1e-3\n0.4 0.2 0.4 0 0 0 2e-3\n",
    "sweeps.txt": "1 1 1e-4 1e-4\n1 1000 1e-3 1e-4\n",
    "opacities.txt": "1e-3 1e-3 1 1\n1e-3 1e3 1 1\n1e3 1e-3 1 1\n1e3 1e3 1 1\n",
    "spectrum.txt": "1e-4 1e4\n1e-2 1e4\n1.0 1e1\n1e3 1e-6\n",
    "factors.txt": "1.0\n1e-3 1.1\n1e3 1.1\n",
    "photons.txt": "0.01 0 1e46 1e45\n0.01 100 1e44 1e43\n",
    "faces.txt": "0 0.1 0.3 0.6 1.0 1.4 1.7 1.9 2.0\n",
}

# Inputs of runs: parameters, settings with the names of data files in braces, and these names.
GAS = (
    SMALL + "[radiation]\nenabled = true\nlight_speed = 20.0\nconstant = 0.2\n",
    "problem.tables={{f='{function.txt}'}}",
    "problem.density='f(r)'",
    "problem.fields={{radiation_energy='1'}}",
    "problem.particle_table={particles.txt}",
    "radiation.opacity_table={opacities.txt}",
    "execution.model={sweeps.txt}",
    "time.max_steps=1",
)
COSMOLOGY = (
    CLUMPY_BOX,
    "initial.transfer=table",
    "initial.table={spectrum.txt}",
    "initial.sigma_8=0.8",
    "gravity.transfer={factors.txt}",
    "time.max_steps=1",
)
GALAXIES = (
    GALAXIES_IN_A_BOX,
    "cooling.enabled=false",
    "supernovae.population=table",
    "supernovae.table={yields.h5}",
    "ionization.enabled=true",
    "ionization.edges=[13.6, 24.59]",
    "ionization.star_table={photons.txt}",
    "ionization.metal_table={cooling.h5}",
    "radiation.speed_ratio=0.01",
    "time.max_steps=1",
)
COOLING = (CELLS, *cells([1.0], [1e6], [0.01]), "cooling.table={cooling.h5}", "time.max_steps=1")
CHANNEL = (
    SMALL_CHANNEL,
    "grid.cells=[16, 16, 8]",
    "grid.stretching=file",
    "grid.stretching_file={faces.txt}",
    "sources.tables={{f='{function.txt}'}}",
    "sources.acceleration=['f(r)', '0', '0']",
    "time.max_steps=1",
)
EQUATION_OF_STATE = (
    '[problem]\nname = "expression"\npressure = "12"\n[mesh]\nbase_cells = [16, 16, 16]\n',
    "hydro.equation_of_state=table",
    "hydro.eos_table={gas.h5}",
    "units.length=1 km",
    "units.density=1 g/cm^3",
    "units.time=1 s",
    "time.max_steps=1",
)
RUNS = {
    "gas": GAS,
    "equation of state": EQUATION_OF_STATE,
    "cosmology": COSMOLOGY,
    "galaxies": GALAXIES,
    "cooling": COOLING,
    "channel": CHANNEL,
}


def write_yields(path: Path) -> None:
    """Write the returned masses and supernovae of stars of one metallicity."""
    with h5py.File(path, "w") as file:
        file["age"] = np.array([3.0, 30.0])
        file["metallicity"] = np.array([0.01])
        file["ejected_mass"] = np.array([[0.01, 0.2]])
        file["ejected_metals"] = np.array([[0.001, 0.02]])
        file["supernovae"] = np.array([[0.001, 0.01]])


def write_gas(path: Path) -> None:
    """Write the table of a van der Waals gas, for units of g/cm^3 and km/s."""
    gas = VanDerWaals(1.4, 0.2, 0.05, 4.0)
    densities, temperatures = np.geomspace(1e-2, 10.0, 61), np.geomspace(1.5, 1e3, 57)
    write_gas_table(path, gas, densities, temperatures, (1.0, 1e5))


MAKERS: dict[str, Callable[[Path], object]] = {
    "cooling.h5": write_table,
    "yields.h5": write_yields,
    "gas.h5": write_gas,
}


def prepare(case: str, folder: Path) -> tuple[list[str], dict[str, Path]]:
    """Write the data files of a run; return its settings and the files by name."""
    settings, files = [], {}
    for setting in RUNS[case][1:]:
        text = setting
        for name in (*ROWS, *MAKERS):
            if f"{{{name}}}" not in text:
                continue
            files[name] = folder / name
            if name in ROWS:
                files[name].write_text(ROWS[name])
            else:
                MAKERS[name](files[name])
            text = text.replace(f"{{{name}}}", str(files[name]))
        settings.append(text.replace("{{", "{").replace("}}", "}"))
    return settings, files


def openers(layer: Layer, folder: Path) -> dict[str, set[int]]:
    """Return the ranks that opened a file, by the name of the file."""
    ranks: dict[str, set[int]] = {}
    for call in layer.calls(folder):
        if call.name == "open":
            ranks.setdefault(call.path.name, set()).add(call.rank)
    return ranks


@pytest.mark.parametrize("case", RUNS)
def test_one_rank_opens_each_input_file(layer: Layer, tmp_path: Path, case: str) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    settings, files = prepare(case, folder)
    with layer.below(folder):
        outcome = run_well(folder / "run", RUNS[case][0], *settings, ranks=RANKS)
    ranks = openers(layer, folder)
    print(outcome.text, ranks)
    # The control file is polled before each step.
    for name in ("run.toml", "control.toml", *files):
        assert ranks[name] == {0}, name
    # Other ranks open the files that all ranks write.
    shared = {name for name, of in ranks.items() if of != {0}}
    assert all(name.endswith(".h5.part") for name in shared), shared


@pytest.mark.parametrize("case", ["gas", "channel"])
def test_one_rank_opens_the_inputs_of_a_check(layer: Layer, tmp_path: Path, case: str) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    settings, files = prepare(case, folder)
    parameters = folder / "run.toml"
    parameters.write_text(RUNS[case][0])
    options = [word for setting in settings for word in ("--set", setting)]
    with layer.below(folder):
        outcome = octant("check", parameters, *options, ranks=RANKS)
    assert outcome.code == 0, outcome.text
    ranks = openers(layer, folder)
    for name in (parameters.name, *files):
        assert ranks[name] == {0}, name


BROKEN = {
    "gas": ("particles.txt", "opacities.txt", "sweeps.txt", "function.txt"),
    "cosmology": ("spectrum.txt", "factors.txt"),
    "galaxies": ("photons.txt", "yields.h5", "cooling.h5"),
    "cooling": ("cooling.h5",),
    "equation of state": ("gas.h5",),
    "channel": ("faces.txt", "function.txt"),
}


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case, names in BROKEN.items() for name in names]
)
@pytest.mark.parametrize("is_missing", [True, False], ids=["missing", "broken"])
def test_an_unreadable_file_is_reported_once(
    tmp_path: Path, case: str, name: str, is_missing: bool
) -> None:
    settings, files = prepare(case, tmp_path)
    files[name].unlink()
    if not is_missing:
        files[name].write_text("no numbers\n")
    outcome = run(tmp_path / "run", RUNS[case][0], *settings, ranks=RANKS)
    assert_refused(outcome, name)
    assert outcome.text.count(name) == 1


def refused(tmp_path: Path, text: str) -> Outcome:
    return run(tmp_path / "run", text, ranks=RANKS)


def test_a_parameter_file_is_reported_once(tmp_path: Path) -> None:
    assert_refused(refused(tmp_path, ""), "run.toml", "the file is empty")
    assert_refused(refused(tmp_path, "[problem]\nname = sedov\n"), "run.toml:2", "not valid TOML")
    assert_refused(refused(tmp_path, SMALL + "steps = 3\n"), "run.toml:12", "time.steps")
