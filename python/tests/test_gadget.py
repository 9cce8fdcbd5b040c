"""Particles in Gadget's layout: sizes and places are those of the snapshot."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from conftest import Call, partly_refined
from synthetic import add_particles

from octools.exports.gadget import KM, KPC, SOLAR_MASS

MPC = 1000 * KPC
A, H = 0.25, 0.7
COSMOLOGY = {"scale_factor": A, "redshift": 1 / A - 1, "omega_m": 0.3, "omega_lambda": 0.7, "h": H}


def stored(path: Path, **header: float) -> Path:
    partly_refined(lower=(-0.5, -0.5, -0.5), upper=(0.5, 0.5, 0.5)).write(path)
    add_particles(path, "dark", 50)
    add_particles(path, "stars", 20, ["birth_time", "initial_mass"])
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
        assert file["Header"].attrs["NumPart_Total"].tolist() == [0, 50, 0, 0, 20, 0]
        for kind, number in (("dark", 1), ("stars", 4)):
            ours, theirs = source[f"particles/{kind}"], file[f"PartType{number}"]
            assert np.array_equal(theirs["Coordinates"], ours["position"][...] + 0.5)
            assert np.array_equal(theirs["Velocities"], ours["velocity"])
            assert np.array_equal(theirs["Masses"], ours["mass"])
            assert np.array_equal(theirs["ParticleIDs"], ours["id"])
        assert np.array_equal(file["PartType4/BirthTimes"], source["particles/stars/birth_time"])


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


def test_a_snapshot_without_particles_is_refused(snapshot_path: Path, octools: Call) -> None:
    result = octools("convert", "--to", "gadget", snapshot_path)
    assert result.returncode == 2
    assert "holds no particles" in result.stderr
    assert not list(snapshot_path.parent.glob("gadget/*"))
