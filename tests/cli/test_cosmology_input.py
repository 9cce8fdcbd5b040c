"""Bad input for cosmological runs: one clear message, and exit code 2, before the first step."""

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inputs import CLUMPY_BOX, TINY_BLAST
from reference_data import reference_path
from refusals import assert_refused
from running import differing, run, run_well


@pytest.mark.parametrize(
    ("setting", "fragments"),
    [
        ("cosmology.enabled=false", ["refine.mass_unit", "cosmology.enabled = false"]),
        ("cosmology.box=0.0", ["cosmology.box", "Mpc/h"]),
        ("cosmology.start=z29", ["cosmology.start", "z = 29.5"]),
        ('cosmology.start=""', ["cosmology.start", "missing"]),
        ('cosmology.end="z = -1.5"', ["cosmology.end", "z = -1.5"]),
        ('cosmology.snapshots=["z : 3"]', ["cosmology.snapshots", "z : 3"]),
        ("cosmology.omega_b=0.5", ["cosmology.omega_b", "dark matter"]),
        ("cosmology.omega_b=0.0", ["cosmology.omega_b", "hydro.enabled"]),
        ("cosmology.omega_lambda=-3.0", ["omega_lambda", "expand"]),
        ("time.end=3.0", ["time.end", "cosmology.end"]),
        ("gravity.constant=2.0", ["gravity.constant", "omega_m"]),
        ("gravity.enabled=false", ["gravity.enabled"]),
        ("hydro.gamma=1.4", ["hydro.gamma", "5/3"]),
        ("mesh.upper=[2.0, 2.0, 2.0]", ["mesh.upper", "cosmology.box"]),
        ("mesh.base_cells=[16, 16, 8]", ["mesh"]),
        ("initial.cells=24", ["mesh.base_cells", "24"]),
        ("initial.kind=grafic", ["initial.path"]),
        ("refine.mass_scalar=0", ["refine.mass_scalar", "hydro.scalars"]),
    ],
)
def test_wrong_parameters_are_refused(setting: str, fragments: list[str], tmp_path: Path) -> None:
    assert_refused(run(tmp_path / "run", CLUMPY_BOX, setting), *fragments)


@pytest.mark.parametrize("setting", ["refine.holdback=true", 'cosmology.snapshots=["z = 1"]'])
def test_epochs_need_a_universe(setting: str, tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, setting)
    assert_refused(outcome, setting.split("=")[0], "cosmology.enabled")


@pytest.fixture
def zoom(tmp_path: Path) -> Path:
    """Copy MUSIC's nested zoom, to be damaged."""
    return shutil.copytree(reference_path("ics/b50_zoom_l5_l7/grafic"), tmp_path / "files")


@pytest.fixture
def refuse(tmp_path: Path, zoom: Path, ranks: int) -> Callable[..., None]:
    """Give a function that runs from these files, which must be refused."""

    def check(*fragments: str, settings: tuple[str, ...] = ()) -> None:
        parameters = ("cosmology.box=50.0", 'cosmology.start=""', "mesh.base_cells=[32, 32, 32]")
        source = ("initial.kind=grafic", f"initial.path={zoom}")
        outcome = run(tmp_path / "run", CLUMPY_BOX, *parameters, *source, *settings, ranks=ranks)
        assert_refused(outcome, *fragments)
        assert not outcome.snapshots

    return check


@pytest.mark.parametrize(
    ("setting", "fragments"),
    [
        ("cosmology.omega_m=0.3", ["cosmology.omega_m", "0.3111"]),
        ("cosmology.omega_lambda=0.7", ["cosmology.omega_lambda", "0.6889"]),
        ("cosmology.box=100.0", ["the box in Mpc/h = 50", "has 100"]),
        ('cosmology.start="z = 49"', ["scale factor", "0.02"]),
        ("cosmology.h=0.7", ["cosmology.h", "0.7"]),
        ("mesh.base_cells=[16, 16, 16]", ["mesh.base_cells", "32"]),
    ],
)
def test_files_of_another_run_are_refused(
    setting: str, fragments: list[str], refuse: Callable[..., None]
) -> None:
    refuse(*fragments, settings=(setting,))


def test_a_zoom_without_a_level_is_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    shutil.rmtree(zoom / "level_006")
    refuse("level_006")


def test_a_level_without_one_of_the_fields_is_refused(
    zoom: Path, refuse: Callable[..., None]
) -> None:
    (zoom / "level_007/ic_velcz").unlink()
    refuse("level_007/ic_velcz", "missing")


def test_files_of_mixed_sizes_are_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    shutil.copy(zoom / "level_007/ic_velby", zoom / "level_006/ic_velby")
    refuse("level_006/ic_velby", "22", "16")


def test_a_truncated_file_is_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    file = zoom / "level_006/ic_velcx"
    file.write_bytes(file.read_bytes()[:-100])
    refuse("ic_velcx", "truncated")


def test_a_file_without_a_whole_header_is_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    file = zoom / "level_005/ic_deltab"
    file.write_bytes(file.read_bytes()[:20])
    refuse("ic_deltab", "truncated")


def test_a_damaged_record_is_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    file = zoom / "level_005/ic_velcy"
    words = np.fromfile(file, dtype="<i4")
    words[13 + 20 * (32 * 32 + 2)] += 4  # the marker before plane 20
    words.tofile(file)
    refuse("ic_velcy", "corrupt", "plane 20")


def test_files_of_the_other_byte_order_are_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    for file in zoom.glob("level_*/ic_*"):
        np.fromfile(file, dtype="<i4").byteswap().tofile(file)
    refuse("endian")


def test_particles_that_leave_the_box_are_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    file = zoom / "level_005/ic_poscy"
    words = np.fromfile(file, dtype="<f4")
    words[13 + 1 + 7] = 40.0  # Mpc/h, in a box of 50
    words.tofile(file)
    refuse("dark matter", "40")


@pytest.mark.parametrize(("name", "value"), [("velbz", np.inf), ("poscx", np.nan)])
def test_values_that_are_no_numbers_are_refused(
    name: str, value: float, zoom: Path, refuse: Callable[..., None]
) -> None:
    file = zoom / f"level_007/ic_{name}"
    words = np.fromfile(file, dtype="<f4")
    words[13 + 1 + 9] = value
    words.tofile(file)
    refuse(f"ic_{name}", str(value))


def test_gas_without_mass_is_refused(zoom: Path, refuse: Callable[..., None]) -> None:
    file = zoom / "level_005/ic_deltab"
    words = np.fromfile(file, dtype="<f4")
    words[13 + 1 + 9] = -1.5
    words.tofile(file)
    refuse("overdensity", "-1.5")


SMALL_BOX = """
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
path = "{}"
[mesh]
base_cells = [8, 8, 8]
block_size = 4
[hydro]
gamma = 1.6666666666666667
[time]
max_steps = 1
"""


def write_grafic(folder: Path, fields: dict[str, np.ndarray]) -> Path:
    """Write a level of 8^3 cells in the grafic2 format."""
    level = folder / "level_003"
    level.mkdir(parents=True)
    for name, values in fields.items():
        cosmology = (1 / 30.5, 0.3111, 0.6889, 67.66)
        header = struct.pack("<3i8f", 8, 8, 8, 50 / 0.6766 / 8, 0, 0, 0, *cosmology)
        records = [header, *(plane.astype("<f4").tobytes() for plane in values)]
        marked = (struct.pack("<i", len(r)) + r + struct.pack("<i", len(r)) for r in records)
        (level / f"ic_{name}").write_bytes(b"".join(marked))
    return folder


def waves() -> dict[str, np.ndarray]:
    """Give a plane wave along x: overdensity, and velocities of dark matter."""
    phase = np.broadcast_to((np.arange(8) + 0.5) * np.pi / 4, (8, 8, 8))
    still = np.zeros((8, 8, 8))
    return {"deltab": 0.03 * np.cos(phase), "velcx": -20 * np.sin(phase)} | {
        f"velc{axis}": still for axis in "yz"
    }


def test_gas_without_velocities_has_those_of_dark_matter(tmp_path: Path) -> None:
    """As in RAMSES; files of other fields are named."""
    fields = waves()
    without = write_grafic(tmp_path / "without", fields)
    (without / "level_003/ic_particle_ids").write_bytes(b"somebody else's")
    of_gas = {f"velb{axis}": fields[f"velc{axis}"] for axis in "xyz"}
    outcome = run_well(tmp_path / "one", SMALL_BOX.format(without))
    assert "using the velocities of the dark matter for the gas" in outcome.text
    assert "ignored ic_particle_ids" in outcome.text
    with_all = write_grafic(tmp_path / "with", fields | of_gas)
    other = run_well(tmp_path / "other", SMALL_BOX.format(with_all), ranks=2)
    assert "velocities of the dark matter" not in other.text
    assert differing(outcome.last_snapshot, other.last_snapshot) == []


def test_scalars_behind_a_gap_are_refused(tmp_path: Path) -> None:
    files = write_grafic(tmp_path / "files", waves() | {"pvar_00002": np.ones((8, 8, 8))})
    outcome = run(tmp_path / "run", SMALL_BOX.format(files))
    assert_refused(outcome, "ic_pvar_00002", "but not ic_pvar_00001")


def test_scalars_that_the_run_does_not_have_are_named(tmp_path: Path) -> None:
    files = write_grafic(tmp_path / "files", waves() | {"pvar_00001": np.ones((8, 8, 8))})
    outcome = run_well(tmp_path / "run", SMALL_BOX.format(files), "time.max_steps=0")
    assert "ignored 1 of 1 scalars of the initial conditions" in outcome.text
