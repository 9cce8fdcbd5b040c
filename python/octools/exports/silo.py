"""Snapshots as Silo files (library of Lawrence Livermore National Laboratory) for VisIt.

They are laid out like those of Octo-Tiger: quadmeshes that abut and hold leaf cells only, joined by
the multimesh ``quadmesh`` and by a multivar for each field, in cgs where the run has units. There a
quadmesh is a leaf of the octree; here it is a box of neighbouring leaf cells of one level, because
readers are slow with many. Fields have Octant's names; VisIt gets Octo-Tiger's as expressions.

Silo has no Python package that pip installs: its C library is called through ctypes. Numbers of
constants and the order of arguments are those of silo.h, version 4.11, which has not changed them
since 4.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import CDLL, RTLD_GLOBAL, addressof, byref, c_char_p, c_double, c_float, c_int, c_void_p
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.ages import present_time
from octools.errors import OctoolsError, reading
from octools.exports.boxes import leaf_boxes, read_boxes
from octools.files import whole_file, write_text
from octools.flow import COMPONENTS, FlowSnapshot, is_flow
from octools.snapshot import AXES, Array, Snapshot
from octools.units import factor, in_cgs

PARTICLES = 1 << 20  # of one point mesh
MESH = "quadmesh"

# --- the library ----------------------------------------------------------------------------------

HDF5, CLOBBER, LOCAL = 7, 0, 0
SILENT = 1  # errors are returned, not printed
COLLINEAR, ZONE_CENTRED, ABUTTING = 130, 111, 142
QUAD_MESH, QUAD_VARIABLE, POINT_MESH, POINT_VARIABLE = 500, 501, 570, 571
SCALAR, VECTOR = 200, 201
TYPES = {"i4": 16, "f4": 19, "f8": 20, "i8": 22}
OPTIONS = {
    **{"cycle": 263, "time": 275, "units": 276, "x_units": 277, "y_units": 278, "z_units": 279},
    **{"double_time": 280, "extents_size": 299, "extents": 300, "zone_counts": 304, "hidden": 311},
    **{"dimensions": 312, "mesh": 321, "disjoint": 323, "block_type": 333},
}
_P, _I, _S = c_void_p, c_int, c_char_p
SIGNATURES: dict[str, tuple[Any, ...]] = {  # what is returned, then what is taken
    "DBShowErrors": (None, _I, _P),
    "DBErrString": (_S,),
    "DBCreateReal": (_P, _S, _I, _I, _S, _I),
    "DBClose": (_I, _P),
    "DBMkDir": (_I, _P, _S),
    "DBMakeOptlist": (_P, _I),
    "DBAddOption": (_I, _P, _I, _P),
    "DBFreeOptlist": (_I, _P),
    "DBPutQuadmesh": (_I, _P, _S, _P, _P, _P, _I, _I, _I, _P),
    "DBPutQuadvar1": (_I, _P, _S, _S, _P, _P, _I, _P, _I, _I, _I, _P),
    "DBPutPointmesh": (_I, _P, _S, _I, _P, _I, _I, _P),
    "DBPutPointvar1": (_I, _P, _S, _S, _P, _I, _I, _P),
    "DBPutMultimesh": (_I, _P, _S, _I, _P, _P, _P),
    "DBPutMultivar": (_I, _P, _S, _I, _P, _P, _P),
    "DBPutDefvars": (_I, _P, _S, _I, _P, _P, _P, _P),
    "DBWrite": (_I, _P, _S, _P, _P, _I, _I),
}


def load_library() -> CDLL:
    """Load Silo with its HDF5 driver.

    Raises
    ------
    OctoolsError
        If it is not installed.
    """
    for name in ("siloh5", "silo"):
        path = find_library(name)
        if path is not None:
            # Debian's libsiloh5 leaves the symbols of the C++ library to whoever loads it.
            CDLL("libstdc++.so.6", RTLD_GLOBAL)
            silo = CDLL(path)
            for function, (result, *arguments) in SIGNATURES.items():
                getattr(silo, function).restype = result
                getattr(silo, function).argtypes = arguments
            silo.DBShowErrors(SILENT, None)
            return silo
    raise OctoolsError("Silo files require the Silo library: sudo apt-get install libsiloh5-0")


class SiloFile:
    """Silo file of one snapshot during writing.

    Parameters
    ----------
    silo
        The library.
    path
        The file; one that is there is replaced.
    time, step
        Of the moment.
    """

    def __init__(self, silo: CDLL, path: Path, time: float, step: int) -> None:
        self._silo = silo
        self._file = silo.DBCreateReal(str(path).encode(), CLOBBER, LOCAL, b"Octant", HDF5)
        if not self._file:
            raise OSError(f"Silo: {silo.DBErrString().decode()}")
        self._moment = {"cycle": c_int(step), "time": c_float(time), "double_time": c_double(time)}

    def close(self) -> None:
        """Write what is left."""
        self._call("DBClose")

    def folder(self, name: str) -> None:
        """Make a folder."""
        self._call("DBMkDir", name.encode())

    def write(self, name: str, value: float) -> None:
        """Write a number."""
        number = np.array([value])
        self._call("DBWrite", name.encode(), number.ctypes.data, byref(c_int(1)), 1, TYPES["f8"])

    def quad_mesh(self, name: str, edges: list[Array]) -> None:
        """Write a mesh of cells between edges along x, y and z."""
        dims = np.array([len(edge) for edge in edges], dtype=np.int32)
        with self._options({"hidden": c_int(1)}) as options:
            names, coordinates = _texts(AXES), _pointers(edges)
            self._call(
                *("DBPutQuadmesh", name.encode(), names, coordinates, dims.ctypes.data),
                *(3, TYPES["f8"], COLLINEAR, options),
            )

    def quad_variable(self, name: str, mesh: str, values: NDArray[Any], units: str) -> None:
        """Write values of cells, shape (k, j, i)."""
        values = np.ascontiguousarray(values)
        dims = np.array(values.shape[::-1], dtype=np.int32)
        kind = TYPES[values.dtype.str[1:]]
        with self._options({"hidden": c_int(1), "units": units}) as options:
            self._call(
                *("DBPutQuadvar1", name.encode(), mesh.encode(), values.ctypes.data),
                *(dims.ctypes.data, 3, None, 0, kind, ZONE_CENTRED, options),
            )

    def point_mesh(self, name: str, places: Array) -> None:
        """Write places of particles, shape (particles, 3)."""
        columns = [np.ascontiguousarray(column) for column in places.T]
        with self._options({"hidden": c_int(1)}) as options:
            self._call(
                *("DBPutPointmesh", name.encode(), 3, _pointers(columns), len(places)),
                *(TYPES["f8"], options),
            )

    def point_variable(self, name: str, mesh: str, values: NDArray[Any], units: str) -> None:
        """Write values of particles, shape (particles,)."""
        values = np.ascontiguousarray(values)
        kind = TYPES[values.dtype.str[1:]]
        with self._options({"hidden": c_int(1), "units": units}) as options:
            self._call(
                *("DBPutPointvar1", name.encode(), mesh.encode(), values.ctypes.data),
                *(len(values), kind, options),
            )

    def join_meshes(
        self, name: str, parts: list[str], kind: int, extents: Array, cells: list[int], units: str
    ) -> None:
        """Write a multimesh of parts; extents are lower and upper corners, shape (parts, 6)."""
        more = {
            **{"extents_size": c_int(6), "extents": np.ascontiguousarray(extents)},
            **{"zone_counts": np.array(cells, dtype=np.int32), "dimensions": c_int(3)},
            **{"disjoint": c_int(ABUTTING), "block_type": c_int(kind)},
            **dict.fromkeys(("x_units", "y_units", "z_units"), units),
        }
        if kind == POINT_MESH:
            more["dimensions"] = c_int(0)
        kinds = np.full(len(parts), kind, dtype=np.int32)
        with self._options(more) as options:
            self._call(
                *("DBPutMultimesh", name.encode(), len(parts), _texts(parts)),
                *(kinds.ctypes.data, options),
            )

    def join_variables(
        self, name: str, parts: list[str], kind: int, extents: Array, mesh: str, units: str
    ) -> None:
        """Write a multivar of parts; extents are least and greatest values, shape (parts, 2)."""
        more = {"extents_size": c_int(2), "extents": np.ascontiguousarray(extents)}
        kinds = np.full(len(parts), kind, dtype=np.int32)
        with self._options(more | {"mesh": mesh, "units": units}) as options:
            self._call(
                *("DBPutMultivar", name.encode(), len(parts), _texts(parts)),
                *(kinds.ctypes.data, options),
            )

    def expressions(self, scalars: Mapping[str, str], vectors: Mapping[str, str]) -> None:
        """Write what VisIt is to compute from the fields."""
        kinds = np.array([SCALAR] * len(scalars) + [VECTOR] * len(vectors), dtype=np.int32)
        texts = dict(scalars) | dict(vectors)
        if texts:
            self._call(
                *("DBPutDefvars", b"expressions", len(texts), _texts(texts)),
                *(kinds.ctypes.data, _texts(texts.values()), None),
            )

    @contextmanager
    def _options(self, more: Mapping[str, Any]) -> Iterator[int]:
        """Make a list of options: of pointers to values, which live as long as it does."""
        values = {**self._moment, **more}
        kept = {name: v.encode() if isinstance(v, str) else v for name, v in values.items()}
        options = self._silo.DBMakeOptlist(len(kept))
        for name, value in kept.items():
            self._silo.DBAddOption(options, OPTIONS[name], _address(value))
        try:
            yield options
        finally:
            self._silo.DBFreeOptlist(options)

    def _call(self, function: str, *arguments: Any) -> None:
        if getattr(self._silo, function)(self._file, *arguments) != 0:
            raise OSError(f"Silo's {function}: {self._silo.DBErrString().decode()}")


def _address(value: Any) -> Any:
    if isinstance(value, bytes):
        return value
    return value.ctypes.data if isinstance(value, np.ndarray) else addressof(value)


def _texts(names: Iterable[str]) -> Any:
    encoded = [name.encode() for name in names]
    return (c_char_p * len(encoded))(*encoded)


def _pointers(arrays: list[Array]) -> Any:
    return (c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


# --- what is written ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """Cells of one quadmesh: its name, edges along x, y, z, and fields, shape (k, j, i)."""

    name: str
    edges: list[Array]
    fields: dict[str, NDArray[Any]]


def export(paths: list[Path], folder: Path) -> list[Path]:
    """Write each snapshot to NAME.silo in a folder, and of several the list RUN.visit.

    Raises
    ------
    OctoolsError
        If Silo is not installed, or cannot write.
    """
    silo = load_library()
    written = [folder / f"{path.stem}.silo" for path in paths]
    for path, target in zip(paths, written, strict=True):
        with whole_file(target) as beside:
            (_write_flow if is_flow(path) else _write_gas)(silo, path, beside)
    if len(paths) > 1:
        stem = paths[0].stem.rpartition("_")[0] or paths[0].stem
        films = folder / f"{stem}.visit"
        write_text(films, "".join(f"{file.name}\n" for file in written))
        written.append(films)
    return written


def _write_gas(silo: CDLL, path: Path, target: Path) -> None:
    with Snapshot(path) as snapshot:
        header = snapshot.header
        unit = dict(header.units) if header.has_units else {}
        step = int(snapshot.file["header"].attrs.get("step", 0))
        file = SiloFile(silo, target, present_time(header) if unit else header.time, step)
        for name, ours in (("code_to_g", "mass"), ("code_to_cm", "length"), ("code_to_s", "time")):
            file.write(name, header.units[ours])
        if snapshot.cell_fields:
            units = {name: snapshot.units_of(name) for name in snapshot.cell_fields}
            _write_mesh(file, _boxes_of_leaves(snapshot, unit), units | {"level": "1"}, unit)
            file.expressions(*_names_of_octotiger(snapshot))
        for kind in snapshot.particle_kinds:
            _write_particles(file, snapshot, kind, unit)
        file.close()


def _boxes_of_leaves(snapshot: Snapshot, unit: Mapping[str, float]) -> Iterator[Piece]:
    """Read the leaf cells of a snapshot, box after box, each with a field for its level."""
    header, names = snapshot.header, snapshot.cell_fields
    single = {name: snapshot.levels[0].dataset(name).dtype.str[1:] == "f4" for name in names}
    for level in snapshot.levels:
        number = 0
        for part in read_boxes(level, leaf_boxes(level), names):
            for box in part.boxes:
                index = [box.corner[a] + np.arange(n + 1) for a, n in enumerate(box.shape[::-1])]
                edges = [
                    (header.lower[a] + index[a] * level.cell_size[a]) * unit.get("length", 1.0)
                    for a in range(3)
                ]
                fields: dict[str, NDArray[Any]] = {
                    "level": np.full(box.shape, level.index, dtype=np.int32)
                }
                for name in names:
                    size = _size(snapshot.units_of(name), unit)
                    values = size * box.assemble(part.values[name], part.tiles)
                    fields[name] = values.astype(np.float32) if single[name] else values
                yield Piece(f"level_{level.index}_box_{number}", edges, fields)
                number += 1


def _write_flow(silo: CDLL, path: Path, target: Path) -> None:
    """Write an incompressible flow as one quadmesh, with all fields at the cells' centres."""
    flow = FlowSnapshot.read(path)
    file = SiloFile(silo, target, flow.time, flow.step)
    edges = [np.concatenate([[0.0], faces]) for faces in flow.faces]
    fields: dict[str, NDArray[Any]] = {name: flow.at_centres(name) for name in flow.fields()}
    units = {name: flow.units_of(name) for name in fields}
    _write_mesh(file, iter([Piece("grid", edges, fields)]), units, {})
    file.expressions({}, {"velocity": f"{{{', '.join(COMPONENTS)}}}"})
    file.close()


def _write_mesh(
    file: SiloFile, pieces: Iterator[Piece], units: Mapping[str, str], unit: Mapping[str, float]
) -> None:
    parts, extents, cells = [], [], []
    ranges: dict[str, list[tuple[float, float]]] = {name: [] for name in units}
    for piece in pieces:
        file.folder(piece.name)
        file.quad_mesh(f"{piece.name}/{MESH}", piece.edges)
        parts.append(piece.name)
        extents.append([edge[end] for end in (0, -1) for edge in piece.edges])
        cells.append(int(np.prod([len(edge) - 1 for edge in piece.edges])))
        for name, values in piece.fields.items():
            text = in_cgs(units[name]) if unit else units[name]
            file.quad_variable(f"{piece.name}/{name}", f"{piece.name}/{MESH}", values, text)
            ranges[name].append((float(values.min()), float(values.max())))
    meshes = [f"{part}/{MESH}" for part in parts]
    file.join_meshes(MESH, meshes, QUAD_MESH, np.array(extents), cells, "cm" if unit else "length")
    for name, least_and_greatest in ranges.items():
        file.join_variables(
            *(name, [f"{part}/{name}" for part in parts], QUAD_VARIABLE),
            *(np.array(least_and_greatest), MESH, in_cgs(units[name]) if unit else units[name]),
        )


def _write_particles(
    file: SiloFile, snapshot: Snapshot, kind: str, unit: Mapping[str, float]
) -> None:
    """Write the particles of a kind as point meshes; components of vectors become KIND_NAME_x."""
    source: h5py.Group = snapshot.file["particles"][kind]
    with reading(snapshot.path, "Octant snapshot"):
        count = len(source["position"])
    starts = range(0, count, PARTICLES)
    extents: list[list[float]] = []
    ranges: dict[str, list[tuple[float, float]]] = {}
    units: dict[str, str] = {}
    parts = [f"{kind}_{number}" for number, _ in enumerate(starts)]
    for part, begin in zip(parts, starts, strict=True):
        file.folder(part)
        for name in sorted(source, key=lambda name: name != "position"):  # the mesh comes first
            text = str(source[name].attrs.get("units", ""))
            values = source[name][begin : begin + PARTICLES]
            if values.dtype.kind == "f":
                values = values.astype(np.float64) * _size(text, unit)
            else:
                values = values.astype(np.int64)
            if name == "position":
                file.point_mesh(f"{part}/mesh", values)
                extents.append([*values.min(axis=0), *values.max(axis=0)])
                continue
            vector = values.ndim > 1
            for column, end in zip(values.T if vector else [values], AXES, strict=False):
                whole = f"{kind}_{name}_{end}" if vector else f"{kind}_{name}"
                units[whole] = in_cgs(text) if unit else text
                file.point_variable(f"{part}/{whole}", f"{part}/mesh", column, units[whole])
                ranges.setdefault(whole, []).append((float(column.min()), float(column.max())))
    if not parts:
        return
    sizes = [min(PARTICLES, count - begin) for begin in starts]
    meshes = [f"{part}/mesh" for part in parts]
    length = "cm" if unit else "length"
    file.join_meshes(kind, meshes, POINT_MESH, np.array(extents), sizes, length)
    for name, least_and_greatest in ranges.items():
        file.join_variables(
            *(name, [f"{part}/{name}" for part in parts], POINT_VARIABLE),
            *(np.array(least_and_greatest), kind, units[name]),
        )


def _size(units: str, unit: Mapping[str, float]) -> float:
    """Return the unit of a field in cgs; 1 for fields in code units."""
    return (factor(units, unit) or 1.0) if unit else 1.0


def _names_of_octotiger(snapshot: Snapshot) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields for Octo-Tiger's names, for scalars and for vectors."""
    known = set(snapshot.cell_fields)
    scalars = {"rho": "density", "pot": "density * potential"}
    scalars |= {f"s{a}": f"density * velocity_{a}" for a in AXES}
    scalars |= {f"g{a}": f"acceleration_{a}" for a in AXES}
    vectors = {
        name: f"{{{', '.join(f'{name}_{a}' for a in AXES)}}}"
        for name in ("velocity", "momentum", "acceleration")
    }

    def given(table: dict[str, str]) -> dict[str, str]:
        needs = {name: set(re.findall(r"\w+", text)) for name, text in table.items()}
        return {name: text for name, text in table.items() if needs[name] <= known}

    return given(scalars), given(vectors)
