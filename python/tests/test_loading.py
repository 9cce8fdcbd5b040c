"""Snapshots as arrays, and in yt: the same cells, particles and sums as octools itself finds."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from conftest import partly_refined, wave
from synthetic import Synthetic, add_particles
from test_flow import write_flow

import octools
from octools.errors import OctoolsError
from octools.fields import find_field
from octools.profile import radial_profile
from octools.raster import View, make_image
from octools.snapshot import Snapshot
from octools.units import factor, in_python

FIELDS = {"density": wave, "pressure": lambda x, y, z: 1 + x * y + 0.1 * z}
DOMAIN = {"base_cells": (16, 8, 24), "lower": (-1.0, 0.0, 0.5), "upper": (1.0, 1.0, 3.5)}
UNITS = {"unit_length": 2.0, "unit_mass": 5.0, "unit_time": 10.0}


def stored(path: Path, **changes: Any) -> Path:
    """Write a snapshot with dark matter and stars, whose code has units."""
    snapshot: Synthetic = partly_refined(fields=FIELDS, time=0.25, **changes)
    snapshot.write(path)
    add_particles(path, "dark", 500)
    add_particles(path, "stars", 60, ["birth_time"])
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(UNITS)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("run") / "snap_00000.h5")


@pytest.fixture(scope="module")
def yt() -> Any:
    module = pytest.importorskip("yt", reason="no yt; pip install yt")
    module.set_log_level("error")
    return module


def test_units_are_read_as_they_are_written() -> None:
    code = {"length": 2.0, "mass": 5.0, "time": 10.0}
    assert in_python("mass / (length time^2)") == "mass/(length*time**2)"
    assert factor("mass / (length time^2)", code) == pytest.approx(5 / (2 * 100))
    assert factor("mass / length^3", code) == pytest.approx(5 / 8)
    assert factor("1 / time", code) == pytest.approx(0.1)
    assert factor("1", code) == factor("", code) == 1
    assert factor("K", code) is None


def test_arrays_hold_the_leaf_cells(path: Path) -> None:
    data = octools.load(path.parent)
    assert data["density"] == pytest.approx(wave(data["x"], data["y"], data["z"]), rel=1e-13)
    assert data["volume"].sum() == pytest.approx(1.0, rel=1e-13)
    assert np.array_equal(data["dx"], (1 / 16) / 2 ** data["level"])
    assert data["sound_speed"] == pytest.approx(np.sqrt(1.4 * data["pressure"] / data["density"]))
    assert data.units["pressure"] == "mass / (length time^2)"
    assert data.in_cgs("pressure") == pytest.approx(data["pressure"] * 5 / 200)
    assert data.particles("stars")["birth_time"].shape == (60,)
    with pytest.raises(OctoolsError, match="did you mean density"):
        data["densty"]


def test_fields_of_gravity_are_fields_too(tmp_path: Path, yt: Any) -> None:
    path = stored(tmp_path / "snap_00000.h5")
    with h5py.File(path, "r+") as file:
        for level, gas in file["hydro"].items():
            file[f"gravity/{level}/potential"] = -gas["density"][...]
            file[f"gravity/{level}/potential"].attrs["units"] = "length^2 / time^2"
    data = octools.load(path)
    assert np.array_equal(data["potential"], -data["density"])
    assert data.in_cgs("potential") == pytest.approx(data["potential"] * 0.04)
    seen = data.to_yt().all_data()["gas", "gravitational_potential"].to("cm**2/s**2").d
    assert np.sort(seen) == pytest.approx(np.sort(data.in_cgs("potential")), rel=1e-13)


def test_arrays_of_a_flow_know_their_places(tmp_path: Path) -> None:
    flow = write_flow(tmp_path / "snap_00000.h5")
    data = octools.load(tmp_path)
    assert np.array_equal(data["u"], flow.load("u"))
    xarray = pytest.importorskip("xarray", reason="no xarray; pip install xarray")
    found = data.to_xarray()
    assert isinstance(found, xarray.Dataset)
    assert found["u"].dims == ("z", "y", "x_face")
    assert np.array_equal(found["w"].sel(x=0.3125), flow.load("w")[:, :, 2])


def test_a_flow_in_yt_has_its_own_cells(tmp_path: Path, yt: Any) -> None:
    flow = write_flow(tmp_path / "snap_00000.h5")
    with h5py.File(flow.path, "r+") as file:
        file["grid/z_face"][:] = np.linspace(0, 1, 7)[1:] ** 2
    data = octools.load(tmp_path).to_yt()
    everything = data.all_data()
    assert everything["index", "cell_volume"].sum() == pytest.approx(1.0)
    assert everything["stream", "p"].size == 6 * 4 * 8
    assert everything["stream", "velocity_z"].max() == flow.at_centres("w").max()


def test_yt_knows_octant_by_itself(path: Path, yt: Any) -> None:
    """An entry point tells it, which `yt.load` looks for."""
    from importlib.metadata import entry_points

    names = [entry.value for entry in entry_points(group="yt.frontends")]
    if "octools.exports.yt_frontend" not in names:
        pytest.skip("octools was installed before it had a frontend; install it again")
    data = yt.load(str(path))
    assert type(data).__name__ == "OctantDataset"
    assert float(data.current_time.to("code_time")) == 0.25


@pytest.mark.parametrize("domain", [{}, DOMAIN], ids=["cube", "box"])
def test_every_cell_of_yt_is_a_leaf_of_the_file(
    tmp_path: Path, yt: Any, domain: dict[str, Any]
) -> None:
    data = octools.load(stored(tmp_path / "snap_00000.h5", **domain))
    cells = data.to_yt().all_data()
    place = [cells["index", a].to("code_length").d for a in "xyz"]
    ours = np.lexsort([data[a] for a in "xyz"])
    theirs = np.lexsort(place)
    for n, axis in enumerate("xyz"):
        assert place[n][theirs] == pytest.approx(data[axis][ours], rel=1e-13)
    for name in ("density", "pressure"):
        values = cells["octant", name].d[theirs]
        assert np.array_equal(values, data[name][ours])
    volume = cells["index", "cell_volume"].to("code_length**3").d[theirs]
    assert volume == pytest.approx(data["volume"][ours], rel=1e-13)
    in_cgs = cells["gas", "pressure"].to("dyn/cm**2").d[theirs]
    assert in_cgs == pytest.approx(data.in_cgs("pressure")[ours], rel=1e-13)


def test_yt_measures_what_octools_measures(path: Path, yt: Any) -> None:
    """Mass, projections along each axis, and a sphere's profile, to 1e-10."""
    data = octools.load(path)
    opened = data.to_yt()
    mass = opened.all_data().quantities.total_quantity(("gas", "cell_mass"))
    ours = (data["density"] * data["volume"]).sum()
    assert float(mass.to("code_mass")) == pytest.approx(ours, rel=1e-10)
    assert float(mass.to("g")) == pytest.approx(5 * ours, rel=1e-10)
    with Snapshot(path) as snapshot:
        for axis, name in enumerate("xyz"):
            image = make_image(snapshot, find_field(snapshot, "density"), View(axis, None)).values
            seen = opened.proj(("gas", "density"), name).to_frb((1.0, "code_length"), len(image))
            theirs = seen["gas", "density"].to("code_mass/code_length**2").d
            # yt looks along y with z to the right
            assert (theirs.T if name == "y" else theirs) == pytest.approx(image, rel=1e-10)
        ball = radial_profile(snapshot, np.full(3, 0.5), ["density"], 1 / 16)
    sphere = opened.sphere([0.5] * 3, (0.5, "code_length"))
    radius, density = ("index", "radius"), ("gas", "density")
    profile = yt.create_profile(
        sphere, radius, density, n_bins=8, extrema={radius: (0.0, 0.5)}, logs={radius: False},
        units={radius: "code_length", density: "code_mass/code_length**3"},
        weight_field=("index", "cell_volume"),
    )  # fmt: skip
    assert profile[density].d == pytest.approx(ball.values["density"][:8], rel=1e-10)


def test_particles_are_in_yt_once(path: Path, yt: Any) -> None:
    data = octools.load(path)
    opened = data.to_yt()
    everything = opened.all_data()
    for kind in ("dark", "stars"):
        columns = data.particles(kind)
        order = np.argsort(everything[kind, "particle_index"])
        found = {
            "position": everything[kind, "particle_position"].to("code_length"),
            "velocity": everything[kind, "particle_velocity"].to("code_velocity"),
            "mass": everything[kind, "particle_mass"].to("code_mass"),
        }
        for name, values in found.items():
            assert values.d[order] == pytest.approx(columns[name], rel=1e-12), name
        total = everything.quantities.total_quantity((kind, "particle_mass"))  # grid by grid
        assert float(total.to("code_mass")) == pytest.approx(columns["mass"].sum(), rel=1e-12)
    births = everything["stars", "particle_birth_time"].d
    assert sorted(births) == sorted(data.particles("stars")["birth_time"])
    sphere = opened.sphere([0.4] * 3, (0.25, "code_length"))
    apart = data.particles("dark")["position"] - 0.4
    inside = np.linalg.norm(apart - np.rint(apart), axis=1) < 0.25
    assert sphere["dark", "particle_mass"].size == np.count_nonzero(inside)


def test_derived_fields_of_yt_follow_from_the_files(path: Path, yt: Any) -> None:
    data = octools.load(path)
    cells = data.to_yt().all_data()
    order = np.lexsort([cells["index", a] for a in "xyz"])
    ours = np.lexsort([data[a] for a in "xyz"])
    for name, theirs in (
        ("sound_speed", "sound_speed"),
        ("internal_energy", "specific_thermal_energy"),
    ):
        unit = "code_velocity" if name == "sound_speed" else "code_velocity**2"
        values = cells["gas", theirs].to(unit).d[order]
        assert values == pytest.approx(data[name][ours], rel=1e-12), name


def test_the_reader_of_the_manual_finds_the_leaf_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manual = Path(__file__).resolve().parents[2] / "docs/files.md"
    code = manual.read_text().split("## A reader in twenty lines")[1]
    code = code.split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 24
    names: dict[str, Any] = {"path": stored(tmp_path / "snap_00000.h5", **DOMAIN)}
    exec(code, names)
    assert names["densities"] == pytest.approx(wave(*names["centres"].T), rel=1e-13)
    assert names["volumes"].sum() == pytest.approx(6.0, rel=1e-13)
    mass = (names["densities"] * names["volumes"]).sum()
    assert float(capsys.readouterr().out.split()[1]) == mass


def test_what_was_loaded_describes_itself(path: Path, tmp_path: Path) -> None:
    text = repr(octools.load(path))
    assert f"{path}: t = " in text
    assert "16 x 16 x 16 base cells, levels 0 to 2" in text
    assert f"{len(octools.load(path)['density'])} leaf cells" in text
    assert "fields: density, pressure, velocity_x" in text
    assert "particles: 500 dark, 60 stars" in text
    flow = repr(octools.load(write_flow(tmp_path / "snap_00000.h5").path))
    assert "object at" not in flow
    assert "fields: p, " in flow
