"""Particles in Gadget's layout: sizes and places are those of the snapshot."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from conftest import Call, partly_refined
from synthetic import add_particles

import octools as tools
from octools.exports.gadget import KM, KPC
from octools.units import SOLAR_MASS

MPC = 1000 * KPC
A, H = 0.25, 0.7
COSMOLOGY = {"scale_factor": A, "redshift": 1 / A - 1, "omega_m": 0.3, "omega_lambda": 0.7, "h": H}


def stored(path: Path, **header: float) -> Path:
    partly_refined(lower=(-0.5, -0.5, -0.5), upper=(0.5, 0.5, 0.5)).write(path)
    add_particles(path, "dark", 50)
    add_particles(path, "stars", 20, ["birth_time", "birth_scale_factor", "initial_mass"])
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(header)
    return path


def converted(path: Path, call: Call) -> Path:
    result = call("convert", "--to", "gadget", path)
    assert result.returncode == 0, result.stderr
    return path.parent / "gadget" / f"{path.stem}.hdf5"


def test_numbers_without_units_stay(tmp_path: Path, octools: Call) -> None:
    path = stored(tmp_path / "snap_00000.h5")
    with h5py.File(converted(path, octools)) as file, h5py.File(path) as source:
        assert file["Header"].attrs["BoxSize"] == 1.0
        assert file["Header"].attrs["NumPart_Total"].tolist() == [
            len(tools.load(path)["x"]),
            50,
            0,
            0,
            20,
            0,
        ]
        for kind, number in (("dark", 1), ("stars", 4)):
            ours, theirs = source[f"particles/{kind}"], file[f"PartType{number}"]
            assert np.array_equal(theirs["Coordinates"], ours["position"][...] + 0.5)
            assert np.array_equal(theirs["Velocities"], ours["velocity"])
            assert np.array_equal(theirs["Masses"], ours["mass"])
        dark, stars = (file[f"PartType{n}/ParticleIDs"][...] for n in (1, 4))
        assert np.array_equal(dark, source["particles/dark/id"])
        assert np.array_equal(stars, source["particles/stars/id"][...] + dark.max() + 1)
        births = source["particles/stars/birth_time"]
        for name in ("FormationTime", "StellarFormationTime", "tform"):
            assert np.array_equal(file[f"PartType4/{name}"], births), name


def test_an_expanding_box_has_the_units_of_gadget(tmp_path: Path, octools: Call) -> None:
    """The code's units are 100 Mpc/h comoving, their velocities 10 km/s, masses 10^12 suns."""
    units = {"unit_length": 100 * MPC / H * A, "unit_mass": 1e12 * SOLAR_MASS}
    units["unit_time"] = units["unit_length"] / (10 * KM)
    path = stored(tmp_path / "snap_00000.h5", **units, **COSMOLOGY)
    with h5py.File(converted(path, octools)) as file, h5py.File(path) as source:
        ours, theirs = source["particles/stars"], file["PartType4"]
        place = (ours["position"][...] + 0.5) * 1e5
        assert theirs["Coordinates"][...] == pytest.approx(place, rel=1e-13)
        speed = ours["velocity"][...] * 10 / np.sqrt(A)
        assert theirs["Velocities"][...] == pytest.approx(speed, rel=1e-13)
        assert theirs["Masses"][...] == pytest.approx(ours["mass"][...] * 100 * H, rel=1e-13)
        first = ours["initial_mass"][...] * 100 * H
        assert theirs["InitialMasses"][...] == pytest.approx(first, rel=1e-13)
        assert file["Header"].attrs["Time"] == A
        assert file["Header"].attrs["BoxSize"] == pytest.approx(1e5)


def test_columns_of_a_kind_get_the_units_of_gadget(tmp_path: Path, octools: Call) -> None:
    """Every column with units in terms of length, mass and time, and no other."""
    units = {"unit_length": 2 * KPC, "unit_mass": 3e10 * SOLAR_MASS, "unit_time": 5 * KPC / KM}
    path = stored(tmp_path / "snap_00000.h5", **units)
    add_particles(path, "sinks", 5, ["bondi_rate", "gas_density", "efficiency"])
    with h5py.File(path, "r+") as file:
        sinks = file["particles/sinks"]
        sinks["bondi_rate"].attrs["units"] = "mass / time"
        sinks["gas_density"].attrs["units"] = "mass / length^3"
        sinks["efficiency"].attrs["units"] = "1"
    with h5py.File(converted(path, octools)) as file, h5py.File(path) as source:
        ours, theirs = source["particles/sinks"], file["PartType5"]
        assert theirs["bondi_rate"][...] == pytest.approx(ours["bondi_rate"][...] * 3 / 5)
        assert theirs["gas_density"][...] == pytest.approx(ours["gas_density"][...] * 3 / 8)
        assert np.array_equal(theirs["efficiency"], ours["efficiency"])
        factor = theirs["bondi_rate"].attrs["CGSConversionFactor"]
        assert factor == pytest.approx(1e10 * SOLAR_MASS / (KPC / KM))
        first = source["particles/stars/birth_time"][...] * 5
        assert file["PartType4/FormationTime"][...] == pytest.approx(first)
        assert file["Header"].attrs["Time"] == 0.0


def test_yt_reads_the_same_particles(tmp_path: Path, octools: Call) -> None:
    yt: Any = pytest.importorskip("yt", reason="no yt; pip install yt")
    yt.set_log_level("error")
    units = {"unit_length": 50 * MPC, "unit_mass": 1e12 * SOLAR_MASS, "unit_time": 1e18}
    path = stored(tmp_path / "snap_00000.h5", **units, **COSMOLOGY)
    found = yt.load(str(converted(path, octools))).all_data()
    with h5py.File(path) as file:
        ours = {name: data[...] for name, data in file["particles/dark"].items()}
    order = np.argsort(found["PartType1", "ParticleIDs"])
    sizes = {"position": "cm", "velocity": "cm/s", "mass": "g"}
    expected = {
        "position": (ours["position"] + 0.5) * units["unit_length"],
        "velocity": ours["velocity"] * units["unit_length"] / units["unit_time"],
        "mass": ours["mass"] * units["unit_mass"],
    }
    for name, unit in sizes.items():
        values = found["PartType1", f"particle_{name}"].to(unit).d[order]
        assert values == pytest.approx(expected[name], rel=1e-5), name  # yt's sun weighs 3e-6 less


def test_leaf_cells_become_gas(tmp_path: Path, octools: Call) -> None:
    """Places, speeds, masses and energies are those of the cells, in Gadget's units."""
    units = {"unit_length": 100 * MPC / H * A, "unit_mass": 1e12 * SOLAR_MASS}
    units["unit_time"] = units["unit_length"] / (10 * KM)
    path = stored(tmp_path / "snap_00000.h5", **units, **COSMOLOGY)
    ours = tools.load(path)
    with h5py.File(converted(path, octools)) as file:
        gas = {name: data[...] for name, data in file["PartType0"].items()}
        others = [file[f"PartType{n}/ParticleIDs"][...] for n in (1, 4)]
        density = file["PartType0/Density"].attrs
        assert (density["aexp-scale-exponent"], density["h-scale-exponent"]) == (-3.0, 2.0)
    place = np.stack([ours[axis] + 0.5 for axis in "xyz"], axis=-1) * 1e5
    assert gas["Coordinates"] == pytest.approx(place, rel=1e-13)
    speed = np.stack([ours[f"velocity_{axis}"] for axis in "xyz"], axis=-1) * 10 / np.sqrt(A)
    assert gas["Velocities"] == pytest.approx(speed, rel=1e-13, abs=1e-13)
    assert gas["Masses"] == pytest.approx(ours["density"] * ours["volume"] * 100 * H, rel=1e-13)
    assert gas["Density"] == pytest.approx(ours["density"] * 100 * H / 1e15, rel=1e-13)
    energy = ours["pressure"] / ours["density"] / (ours.header.gamma - 1) * 100
    assert gas["InternalEnergy"] == pytest.approx(energy, rel=1e-13)
    assert gas["SmoothingLength"] == pytest.approx(2 * ours["dx"] * 1e5, rel=1e-13)
    assert len(np.unique(gas["ParticleIDs"])) == len(place)
    assert not np.isin(gas["ParticleIDs"], np.concatenate(others)).any()


@pytest.mark.parametrize("reader", ["yt", "pynbody"])
def test_others_find_the_mass_of_each_type(tmp_path: Path, octools: Call, reader: str) -> None:
    units = {"unit_length": 50 * MPC, "unit_mass": 1e12 * SOLAR_MASS, "unit_time": 1e18}
    path = stored(tmp_path / "snap_00000.h5", **units, **COSMOLOGY)
    file, cells = converted(path, octools), tools.load(path)
    module: Any = pytest.importorskip(reader, reason=f"no {reader}; pip install {reader}")
    expected = {"dark": cells.particles("dark")["mass"].sum()}
    expected["stars"] = cells.particles("stars")["mass"].sum()
    expected["gas"] = (cells["density"] * cells["volume"]).sum()
    if reader == "yt":
        module.set_log_level("error")
        types = {"gas": "PartType0", "dark": "PartType1", "stars": "PartType4"}
        data = module.load(str(file)).all_data()
        found = {n: data[t, "particle_mass"].sum().to("g").d for n, t in types.items()}
        densest = data["PartType0", "density"].to("g/cm**3").d.max()
    else:
        snapshot = module.load(str(file))
        snapshot.physical_units()
        kinds = {"gas": snapshot.gas, "dark": snapshot.dm, "stars": snapshot.star}
        found = {n: float(k["mass"].sum().in_units("g")) for n, k in kinds.items()}
        densest = float(snapshot.gas["rho"].in_units("g cm**-3").max())
    for name, mass in expected.items():
        assert found[name] == pytest.approx(mass * units["unit_mass"], rel=2e-4), name
    unit = units["unit_mass"] / units["unit_length"] ** 3
    assert densest == pytest.approx(cells["density"].max() * unit, rel=1e-3)


def test_checkpoints_keep_their_particles(tmp_path: Path, octools: Call) -> None:
    path = stored(tmp_path / "checkpoint_00000.h5")
    with h5py.File(path, "r+") as file:
        for level in file["hydro"].values():
            level.move("pressure", "total_energy")
    with h5py.File(converted(path, octools)) as file:
        assert "PartType0" not in file
        assert len(file["PartType1/Masses"]) == 50


def test_a_snapshot_of_nothing_is_refused(snapshot_path: Path, octools: Call) -> None:
    with h5py.File(snapshot_path, "r+") as file:
        del file["hydro"]
    result = octools("convert", "--to", "gadget", snapshot_path)
    assert result.returncode == 2
    assert "contains neither gas nor particles" in result.stderr
    assert not list(snapshot_path.parent.glob("gadget/*"))
