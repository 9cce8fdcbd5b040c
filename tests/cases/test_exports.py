"""Situations that users reported: exports whose units, times or identities readers misread."""

import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
from octools.exports.gadget import export

from ramses_files import read_info
from running import ROOT, octant, octant_environment, program, run_well

MEGAYEAR = 3.15576e13  # s
NEWTON = 6.67430e-8  # cgs
UNIVERSE = """
[problem]
name = "cosmology"
[cosmology]
enabled = true
box = 50.0
start = ""
omega_b = 0.049
[gravity]
enabled = true
[initial]
kind = "grafic"
path = "{path}"
[mesh]
base_cells = [8, 8, 8]
block_size = 4
[hydro]
gamma = 1.6666666666666667
[time]
max_steps = 1
"""


@pytest.fixture(scope="module")
def galaxy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a disc of gas, dark matter and stars for a million years, on the base grid."""
    text = (ROOT / "examples/disc_galaxy.toml").read_text()
    sets = ("mesh.max_level=0", "time.end=1.0", "output.pictures=[]", "refine.region_level=0")
    outcome = run_well(tmp_path_factory.mktemp("disc") / "run", text, *sets)
    return outcome.last_snapshot


def test_r01_the_time_of_a_gadget_file_is_a_million_years(galaxy: Path, tmp_path: Path) -> None:
    [path] = export([galaxy], tmp_path)
    with h5py.File(path) as file:
        seconds = file["Header"].attrs["Time"] * file["Units"].attrs["UnitTime_in_s"]
    assert seconds == pytest.approx(MEGAYEAR, rel=1e-9)


def test_r06_units_of_ramses_have_a_constant_of_gravity_of_one(
    galaxy: Path, tmp_path: Path
) -> None:
    converted = octant("convert", galaxy, "--to", "ramses", "--output", tmp_path)
    assert converted.code == 0, converted.text
    [folder] = tmp_path.glob("output_*")
    assert folder.name[-5:] == galaxy.stem[-5:]
    info = read_info(folder)
    assert NEWTON * info["unit_d"] * info["unit_t"] ** 2 == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("velocities", ["of dark matter", "of baryons"])
def test_r08_files_beside_the_fields_are_passed_by(
    case: Callable[[str], Path], tmp_path: Path, velocities: str
) -> None:
    """Numbers of particles are no damaged field, and gas needs no velocities of its own."""
    import subprocess

    make = case("R08") / "make.py"
    more = ["velb"] if velocities == "of baryons" else []
    files = tmp_path / "files"
    subprocess.run([sys.executable, make, files, *more], check=True, timeout=60)
    outcome = run_well(tmp_path / "run", UNIVERSE.format(path=files))
    assert "ignored ic_particle_ids" in outcome.text
    assert ("using the velocities of the dark matter for the gas" in outcome.text) == (not more)
    summary = subprocess.run(
        [sys.executable, "-m", "octools", "ics", files, "--output", tmp_path / "ics.png"],
        check=False, capture_output=True, text=True, timeout=120,
        env=octant_environment() | {"OCTANT_BUILD": str(program().parent)},
    )  # fmt: skip
    assert summary.returncode == 0, summary.stderr
    assert "ignored ic_particle_ids" in summary.stdout
