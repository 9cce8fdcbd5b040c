"""Temperature and molecular weight of gas whose ions or composition a run knows."""

import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call
from synthetic import Array, Synthetic

from octools.errors import OctoolsError
from octools.exports.gadget import export
from octools.fields import Field, find_field
from octools.snapshot import Snapshot

KELVIN = 1.67262192e-24 / 1.380649e-16  # of p / rho = 1 (cm / s)^2 with one proton per particle
UNITS = {"unit_length": 3e18, "unit_mass": 2e33, "unit_time": 3e13}
SPEED = 1e5  # cm/s, the unit of velocity
ION_FIELDS = {
    "ionized_hydrogen": lambda x, y, z: x,
    "ionized_helium": lambda x, y, z: 0.5 * y + 0 * x,
    "doubly_ionized_helium": lambda x, y, z: 0.4 * z + 0 * x,
}


def run_of(path: Path, parameters: str, **fields: object) -> Path:
    """Write a snapshot of a run with these parameters, in units with 1 km/s."""
    Synthetic(base_cells=(8, 8, 8), parameters=parameters, fields=fields).write(path)
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(UNITS)
    return path


def values_of(snapshot: Snapshot, name: str) -> tuple[Field, dict[str, Array]]:
    field = find_field(snapshot, name)
    stored = snapshot.stored_fields
    (batch,) = snapshot.batches(sorted({*field.needs, *stored}), snapshot.levels[0])
    return field, {**batch.values, name: field.compute(batch, snapshot.header)}


@pytest.mark.parametrize("hydrogen", [1.0, 0.76])
def test_ions_determine_the_temperature(tmp_path: Path, hydrogen: float) -> None:
    text = f"[ionization]\nenabled = true\nhydrogen_fraction = {hydrogen}\n"
    path = run_of(tmp_path / "snap_00000.h5", text, **ION_FIELDS)
    with Snapshot(path) as snapshot:
        field, cells = values_of(snapshot, "temperature")
        assert field.label == "temperature [K]"
        # particles per proton mass, counted one species at a time
        neutral_hydrogen = hydrogen * (1 - cells["ionized_hydrogen"])
        protons_and_electrons = 2 * hydrogen * cells["ionized_hydrogen"]
        helium = (1 - hydrogen) / 4
        electrons = helium * (cells["ionized_helium"] + 2 * cells["doubly_ionized_helium"])
        particles = neutral_hydrogen + protons_and_electrons + helium + electrons
        np.testing.assert_allclose(cells["temperature"], SPEED**2 * KELVIN / particles, rtol=1e-12)
        _, cells = values_of(snapshot, "molecular_weight")
        np.testing.assert_allclose(cells["molecular_weight"], 1 / particles, rtol=1e-12)


def test_impossible_fractions_of_ions_are_limited(tmp_path: Path) -> None:
    text = "[ionization]\nenabled = true\nhydrogen_fraction = 0.76\n"
    fields = {
        "ionized_hydrogen": lambda x, y, z: 1.0 + 1e-3 * (x > 0.5) - 2.0 * (x < 0.3),
        "ionized_helium": lambda x, y, z: 0.7 + 0 * x,
        "doubly_ionized_helium": lambda x, y, z: 0.7 + 0 * x,
    }
    with Snapshot(run_of(tmp_path / "snap_00000.h5", text, **fields)) as snapshot:
        weights = values_of(snapshot, "molecular_weight")[1]["molecular_weight"]
    expected = [1 / (0.76 * (1 + x) + 0.06 * 2.5) for x in (0.0, 1.0)]
    assert [weights.max(), weights.min()] == pytest.approx(expected)


@pytest.mark.parametrize("missing", ION_FIELDS)
def test_a_snapshot_without_some_ions_has_no_temperature(
    tmp_path: Path, missing: str, octools: Call
) -> None:
    fields = {name: values for name, values in ION_FIELDS.items() if name != missing}
    path = run_of(tmp_path / "snap_00000.h5", "[ionization]\nenabled = true\n", **fields)
    with Snapshot(path) as snapshot, pytest.raises(OctoolsError, match=missing):
        find_field(snapshot, "temperature")
    result = octools("plot", path, "--field", "temperature")
    assert result.returncode == 2
    assert f"requires the field(s) {missing}, which output.fields of the run left out" in (
        result.stderr
    )


RADIATION = "[radiation]\nenabled = true\nmolecular_weight = 2.3\n"
MIXTURE = '[hydro]\nequation_of_state = "gas_radiation"\n'
UNKNOWN = "temperature / $\\mu$ [K]"


@pytest.mark.parametrize(
    ("parameters", "weight", "label"),
    [
        ("", 1.0, UNKNOWN),
        ("[ionization]\nenabled = false\n[radiation]\nenabled = false\n", 1.0, UNKNOWN),
        (RADIATION, 2.3, "temperature [K]"),
        (MIXTURE + "radiation_constant = 1e-30\n", 1.0, UNKNOWN),
        ('[hydro]\nequation_of_state = "isothermal"\nsound_speed = 1.0\n', 1.0, UNKNOWN),
        ('[hydro]\nequation_of_state = "stiffened"\nstiffening_pressure = 0.0\n', 1.0, UNKNOWN),
    ],
)
def test_the_label_tells_whether_the_molecular_weight_is_known(
    tmp_path: Path, parameters: str, weight: float, label: str
) -> None:
    path = run_of(tmp_path / "snap_00000.h5", parameters)
    with Snapshot(path) as snapshot:
        field, cells = values_of(snapshot, "temperature")
    assert field.label == label
    np.testing.assert_allclose(cells["temperature"], weight * SPEED**2 * KELVIN, rtol=1e-6)


def test_gas_and_radiation_of_one_temperature_have_the_pressure(tmp_path: Path) -> None:
    path = run_of(tmp_path / "snap_00000.h5", MIXTURE + "molecular_weight = 0.62\n")
    with Snapshot(path) as snapshot:
        field, cells = values_of(snapshot, "temperature")
        assert find_field(snapshot, "entropy").label == "specific entropy $\\mu$ m$_p$ / k"
    assert field.label == "temperature [K]"
    kelvin = cells["temperature"]
    density = UNITS["unit_mass"] / UNITS["unit_length"] ** 3
    gas = density * kelvin / (0.62 * KELVIN)
    photons = 7.565733250e-15 * kelvin**4 / 3
    np.testing.assert_allclose(gas + photons, density * SPEED**2, rtol=1e-8)


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("ideal", "internal energy [code length$^{2}$ / time$^{2}$]"),
        ("white_dwarf", "thermal energy per mass [code length$^{2}$ / time$^{2}$]"),
        ("stiffened", "thermal energy per mass [code length$^{2}$ / time$^{2}$]"),
    ],
)
def test_energies_without_the_cold_part_are_called_thermal(
    tmp_path: Path, kind: str, label: str
) -> None:
    text = f'[hydro]\nequation_of_state = "{kind}"\nstiffening_pressure = 1.0\n'
    with Snapshot(run_of(tmp_path / "snap_00000.h5", text)) as snapshot:
        assert find_field(snapshot, "internal_energy").label == label


def test_files_of_gadget_hold_temperature_and_weight(tmp_path: Path) -> None:
    text = "[ionization]\nenabled = true\nhydrogen_fraction = 0.76\n"
    path = run_of(tmp_path / "snap_00000.h5", text, **ION_FIELDS)
    export([path], tmp_path / "out")
    with h5py.File(tmp_path / "out/snap_00000.hdf5") as file:
        gas = file["PartType0"]
        ratio = gas["Temperature"][...] / gas["mu"][...]
        assert gas["Temperature"].attrs["VarDescription"] == "temperature [K]"
        assert np.ptp(gas["mu"][...]) > 0.3
    np.testing.assert_allclose(ratio, SPEED**2 * KELVIN, rtol=1e-9)


DEGENERATE = (
    '[hydro]\nequation_of_state = "white_dwarf"\n'
    "degeneracy_pressure = 0.1\ndegeneracy_density = 2.0\n"
)
GASES = ["[ionization]\nenabled = true\n", RADIATION, MIXTURE, DEGENERATE, "", "[hydro]\n"]


@pytest.mark.parametrize("parameters", GASES)
def test_yt_has_the_state_of_octools(tmp_path: Path, parameters: str) -> None:
    yt = pytest.importorskip("yt", reason="no yt; pip install yt")
    yt.set_log_level("error")
    path = run_of(tmp_path / "snap_00000.h5", parameters, **ION_FIELDS)
    cells = yt.load(str(path)).all_data()
    order = np.lexsort([cells["index", axis].d for axis in "xyz"])
    units = {"temperature": ("K", 1.0), "sound_speed": ("cm/s", SPEED)}
    units["internal_energy"] = ("erg/g", SPEED**2)
    with Snapshot(path) as snapshot:
        for name, (unit, size) in units.items():
            expected = values_of(snapshot, name)[1][name].ravel() * size
            of_yt = "specific_thermal_energy" if name == "internal_energy" else name
            found = cells["gas", of_yt].to(unit).d[order]
            np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)


ISOTHERMAL = """
[problem]
name = "expression"
density = "1 + 0.5 * sin(2 * pi * x)"
pressure = "1e-3"
[mesh]
base_cells = [8, 8, 8]
block_size = 8
[hydro]
moves = false
gamma = "5/3"
[units]
length = "1 kpc"
density = 1.6726e-27
time = "1 Myr"
[radiation]
speed_ratio = 0.005
[ionization]
enabled = true
temperature = 12345.0
hydrogen_fraction = 0.7
initial_ions = [0.3, 0.2, 0.5]
source_x = [0.3]
source_y = [0.4]
source_z = [0.5]
source_rates = [5e47]
[time]
max_steps = 3
end = 1.0
[output]
directory = "run"
"""


def test_isothermal_gas_of_the_program_has_its_temperature(tmp_path: Path, program: str) -> None:
    (tmp_path / "input.toml").write_text(ISOTHERMAL)
    subprocess.run([program, "run", "input.toml"], cwd=tmp_path, check=True, capture_output=True)
    with Snapshot(sorted((tmp_path / "run").glob("snap_*.h5"))[-1]) as snapshot:
        cells = values_of(snapshot, "temperature")[1]
        assert np.ptp(cells["ionized_hydrogen"]) > 0.1
        np.testing.assert_allclose(cells["temperature"], 12345.0, rtol=1e-6)
