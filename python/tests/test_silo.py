"""Silo files: what Silo's own functions find in them is what the snapshots hold."""

from collections.abc import Iterator
from ctypes import CDLL, POINTER, Structure, c_char_p, c_double, c_float, c_int, c_void_p, cast
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from conftest import Call, partly_refined
from synthetic import Array, add_particles
from test_flow import write_flow

import octools as tools
from octools.errors import OctoolsError
from octools.exports import boxes, silo

DOMAIN = {"base_cells": (16, 8, 24), "lower": (-1.0, 0.0, 0.5), "upper": (1.0, 1.0, 3.5)}
UNITS = {"unit_length": 2.0, "unit_mass": 3.0, "unit_time": 5.0}


class MultiMesh(Structure):
    """The beginning of DBmultimesh of silo.h."""

    _fields_ = (
        *((name, c_int) for name in ("id", "parts", "groups")),
        *(("ids", c_void_p), ("names", POINTER(c_char_p)), ("types", c_void_p), ("dirs", c_void_p)),
        *((name, c_int) for name in ("block_origin", "group_origin", "extents_size")),
        *(("extents", POINTER(c_double)), ("cells", POINTER(c_int))),
    )


class Mesh(Structure):
    """The beginning of DBquadmesh."""

    _fields_ = (
        *((name, c_int) for name in ("id", "block", "group")),
        *(("name", c_char_p), ("cycle", c_int), ("system", c_int), ("order", c_int)),
        *(("stride", c_int * 3), ("kind", c_int), ("faces", c_int), ("planar", c_int)),
        *(("coordinates", POINTER(c_double) * 3), ("type", c_int), ("time", c_float)),
        *(("double_time", c_double), ("lower", c_float * 6), ("upper", c_float * 6)),
        *(("labels", c_char_p * 3), ("units", c_char_p * 3)),
        *((name, c_int) for name in ("dimensions", "space", "nodes")),
        ("dims", c_int * 3),
    )


class Variable(Structure):
    """The beginning of DBquadvar."""

    _fields_ = (
        *(("id", c_int), ("name", c_char_p), ("units", c_char_p), ("label", c_char_p)),
        *(("cycle", c_int), ("mesh", c_int), ("values", POINTER(c_void_p))),
        *((name, c_int) for name in ("type", "count", "arrays", "dimensions")),
        ("dims", c_int * 3),
    )


class Points(Structure):
    """The beginning of DBpointmesh."""

    _fields_ = (
        *((name, c_int) for name in ("id", "block", "group")),
        *(("name", c_char_p), ("cycle", c_int), ("units", c_char_p * 3), ("labels", c_char_p * 3)),
        *(("title", c_char_p), ("coordinates", POINTER(c_double) * 3)),
    )


class Reader:
    """A Silo file as Silo itself reads it."""

    def __init__(self, library: CDLL, path: Path) -> None:
        self.functions = library
        library.DBOpenReal.restype = c_void_p
        self.file = c_void_p(library.DBOpenReal(str(path).encode(), silo.HDF5, 1))
        assert self.file, path

    def get(self, kind: type[Any], function: str, name: str) -> Any:
        call = getattr(self.functions, function)
        call.restype = POINTER(kind)
        found = call(self.file, name.encode())
        assert found, f"{function} finds no {name}"
        return found.contents

    def parts(self, name: str = silo.MESH) -> list[str]:
        mesh = self.get(MultiMesh, "DBGetMultimesh", name)
        return [mesh.names[n].decode().rpartition("/")[0] for n in range(mesh.parts)]

    def edges(self, part: str) -> list[Array]:
        mesh = self.get(Mesh, "DBGetQuadmesh", f"{part}/{silo.MESH}")
        return [np.array(mesh.coordinates[a][: mesh.dims[a]]) for a in range(3)]

    def values(self, name: str) -> Array:
        """Read the values of cells, shape (k, j, i)."""
        found = self.get(Variable, "DBGetQuadvar", name)
        types = {16: c_int, 19: c_float, 20: c_double}
        array = cast(found.values[0], POINTER(types[found.type]))
        return np.array(array[: found.count], dtype=float).reshape(found.dims[::-1])

    def cells(self, names: list[str]) -> dict[str, Array]:
        """Collect centres, volumes and fields of all cells, each of shape (cells,)."""
        found: dict[str, list[Array]] = {}
        for part in self.parts():
            edges = self.edges(part)
            centres = [0.5 * (edge[1:] + edge[:-1]) for edge in edges]
            z, y, x = np.meshgrid(*centres[::-1], indexing="ij")
            widths = np.meshgrid(*[np.diff(edge) for edge in edges[::-1]], indexing="ij")
            columns = {"x": x, "y": y, "z": z, "volume": np.prod(widths, axis=0)}
            columns |= {name: self.values(f"{part}/{name}") for name in names}
            for name, values in columns.items():
                assert values.shape == x.shape
                found.setdefault(name, []).append(values.ravel())
        return {name: np.concatenate(parts) for name, parts in found.items()}


@pytest.fixture(scope="module")
def library() -> Iterator[CDLL]:
    try:
        yield silo.load_library()
    except OctoolsError as cause:
        pytest.skip(str(cause))


def written(path: Path, octools: Call) -> Path:
    result = octools("convert", "--to", "silo", path)
    assert result.returncode == 0, result.stderr
    return path.parent / "silo" / f"{path.stem}.silo"


def by_place(cells: dict[str, Array]) -> dict[str, Array]:
    order = np.lexsort([np.round(cells[axis], 9) for axis in "xyz"])
    return {name: values[order] for name, values in cells.items()}


@pytest.mark.parametrize("block_size", [2, 4])
def test_silo_finds_the_leaf_cells_where_they_are(
    tmp_path: Path, octools: Call, library: CDLL, monkeypatch: pytest.MonkeyPatch, block_size: int
) -> None:
    monkeypatch.setattr(boxes, "BOX_CELLS", 300)
    monkeypatch.setattr(boxes, "BATCH_CELLS", 900)
    path = partly_refined(block_size=block_size, time=0.75, **DOMAIN).write(tmp_path / "snap_3.h5")
    names = ["density", "pressure", "velocity_x", "level"]
    reader = Reader(library, written(path, octools))
    theirs, ours = by_place(reader.cells(names)), tools.load(path)
    places = ["x", "y", "z", "volume"]
    expected = by_place({name: ours[name] for name in [*places, *names]})
    assert len(np.unique(expected["level"])) == 3
    for name in [*places, *names]:
        assert theirs[name] == pytest.approx(expected[name], rel=1e-14, abs=1e-14), name
    mass = (ours["density"] * ours["volume"]).sum()
    assert (theirs["density"] * theirs["volume"]).sum() == pytest.approx(mass, rel=1e-13)


def test_the_whole_knows_its_parts(snapshot_path: Path, octools: Call, library: CDLL) -> None:
    path = written(snapshot_path, octools)
    reader = Reader(library, path)
    mesh = reader.get(MultiMesh, "DBGetMultimesh", silo.MESH)
    for n, part in enumerate(reader.parts()):
        edges = reader.edges(part)
        assert mesh.cells[n] == np.prod([len(edge) - 1 for edge in edges])
        corners = [edge[end] for end in (0, -1) for edge in edges]
        assert mesh.extents[6 * n : 6 * n + 6] == corners
    with h5py.File(path) as file:  # with this driver a Silo file is one of HDF5
        density, first = file["density"].attrs["silo"], f"{reader.parts()[0]}/density"
        assert density["nvars"] == mesh.parts
        assert file[first].attrs["silo"]["units"] == b"mass / length^3"
        ranges = file[density["extents"].decode()][...].reshape(-1, 2)
        assert ranges[0].tolist() == [f(reader.values(first)) for f in (np.min, np.max)]
        definitions = file[file["expressions"].attrs["silo"]["defns"].decode()][...]
        text = bytes(definitions.astype(np.uint8)).decode()
        assert "density * velocity_z" in text and "{velocity_x, velocity_y, velocity_z}" in text
        assert "potential" not in text


def test_a_run_with_units_is_in_cgs(tmp_path: Path, octools: Call, library: CDLL) -> None:
    path = partly_refined(time=0.75).write(tmp_path / "snap_00000.h5")
    add_particles(path, "stars", 20)
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(step=12, **UNITS)
        stars = {name: data[...] for name, data in file["particles/stars"].items()}
    reader = Reader(library, written(path, octools))
    part, ours = reader.parts()[0], tools.load(path)
    variable = reader.get(Variable, "DBGetQuadvar", f"{part}/pressure")
    assert variable.units == b"g / (cm s^2)"
    theirs = reader.cells(["density"])
    mass = (ours["density"] * ours["volume"]).sum() * UNITS["unit_mass"]
    assert (theirs["density"] * theirs["volume"]).sum() == pytest.approx(mass, rel=1e-13)
    mesh = reader.get(Mesh, "DBGetQuadmesh", f"{part}/{silo.MESH}")
    assert (mesh.cycle, mesh.double_time) == (12, 0.75 * UNITS["unit_time"])
    [kind] = reader.parts("stars")
    points = reader.get(Points, "DBGetPointmesh", f"{kind}/mesh")
    for a in range(3):
        place = stars["position"][:, a] * UNITS["unit_length"]
        assert points.coordinates[a][:20] == pytest.approx(place, rel=1e-15)


def test_particles_come_in_parts(
    tmp_path: Path, octools: Call, library: CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silo, "PARTICLES", 8)
    path = partly_refined().write(tmp_path / "snap_00000.h5")
    add_particles(path, "dark", 20)
    with h5py.File(path) as source:
        dark = {name: data[...] for name, data in source["particles/dark"].items()}
    with h5py.File(written(path, octools)) as file:

        def values(name: str) -> Array:
            stored = [file[f"dark_{n}/dark_{name}"].attrs["silo"]["data0"] for n in range(3)]
            return np.concatenate([file[place.decode()][...] for place in stored])

        assert np.array_equal(values("mass"), dark["mass"])
        assert np.array_equal(values("velocity_y"), dark["velocity"][:, 1])
        assert np.array_equal(values("id"), dark["id"])


def test_a_flow_keeps_its_stretched_grid(tmp_path: Path, octools: Call, library: CDLL) -> None:
    flow = write_flow(tmp_path / "snap_00000.h5")
    with h5py.File(flow.path, "r+") as file:
        file["grid/z_face"][:] = np.linspace(0, 1, 7)[1:] ** 2
    reader = Reader(library, written(flow.path, octools))
    assert reader.edges("grid")[2][1:] == pytest.approx(np.linspace(0, 1, 7)[1:] ** 2)
    for name in ("u", "v", "w", "p"):
        assert np.array_equal(reader.values(f"grid/{name}"), flow.at_centres(name))


def test_a_run_becomes_a_list(tmp_path: Path, octools: Call, library: CDLL) -> None:
    for number in range(2):
        partly_refined(time=float(number)).write(tmp_path / f"snap_{number:05}.h5")
    result = octools("convert", tmp_path, "--to", "silo", "--output", tmp_path / "there")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "there/snap.visit").read_text() == "snap_00000.silo\nsnap_00001.silo\n"


def test_without_the_library_the_package_is_named(
    snapshot_path: Path, octools: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silo, "find_library", lambda _: None)
    result = octools("convert", "--to", "silo", snapshot_path)
    assert result.returncode == 2
    assert "apt-get install libsiloh5-0" in result.stderr
    assert not (snapshot_path.parent / "silo").exists()


def test_what_cannot_be_written_is_said(
    snapshot_path: Path, octools: Call, library: CDLL, tmp_path: Path
) -> None:
    (tmp_path / "there").write_text("a file")
    result = octools("convert", "--to", "silo", snapshot_path, "--output", tmp_path / "there")
    assert result.returncode == 2
    assert "cannot write" in result.stderr
