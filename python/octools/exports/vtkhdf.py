"""Snapshots as VTKHDF files (docs.vtk.org, "VTKHDF file format"), which ParaView and VTK open.

An adaptive mesh becomes an OverlappingAMR, and particles become PolyData. A flow becomes a
RectilinearGrid in VTK's older XML format: VTKHDF has none that older readers know, and VTK 9.2
cannot read cells of its ImageData. Layouts are those of version 1.0 where there are such.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import h5py
import numpy as np

from octools.ages import present_time
from octools.errors import reading
from octools.exports.boxes import Box, boxes, read_boxes
from octools.files import whole_file, write_text
from octools.flow import COMPONENTS, FlowSnapshot, is_flow
from octools.snapshot import AXES, Array, Header, Level, Snapshot

REFINED = 8  # vtkDataSetAttributes::REFINEDCELL: finer cells are in its place
GHOSTS = "vtkGhostType"
PARTICLES = 1 << 20  # that are copied together


def export(paths: list[Path], folder: Path) -> list[Path]:
    """Write snapshots as VTKHDF: their meshes, each kind of particles, and what joins the times.

    Parameters
    ----------
    paths
        Snapshots or checkpoints.
    folder
        Where to write NAME.vtkhdf and NAME_KIND.vtkhdf (of a flow NAME.vtr), and,
        of several snapshots, SERIES.vtkhdf.series.

    Returns
    -------
    list
        The files.
    """
    series: dict[str, dict[str, float]] = {}
    written = []
    for path in paths:
        files, time = _export_flow(path, folder) if is_flow(path) else _export_gas(path, folder)
        for kind, file in files.items():
            series.setdefault(kind + file.suffix, {})[file.name] = time
            written.append(file)
    if len(paths) > 1:
        stem = paths[0].stem.rpartition("_")[0] or paths[0].stem
        for kind, times in series.items():
            written.append(folder / f"{stem}{kind}.series")
            _write_series(times, written[-1])
    return written


def _export_gas(path: Path, folder: Path) -> tuple[dict[str, Path], float]:
    with Snapshot(path) as snapshot:
        files = {}
        if snapshot.cell_fields:
            files[""] = folder / f"{path.stem}.vtkhdf"
            write_mesh(snapshot, files[""])
        for kind in snapshot.particle_kinds:
            files[f"_{kind}"] = folder / f"{path.stem}_{kind}.vtkhdf"
            write_particles(snapshot, kind, files[f"_{kind}"])
        return files, snapshot.header.time


def _export_flow(path: Path, folder: Path) -> tuple[dict[str, Path], float]:
    flow = FlowSnapshot.read(path)
    file = folder / f"{path.stem}.vtr"
    write_rectilinear(flow, file)
    return {"": file}, flow.time


def _write_series(times: Mapping[str, float], path: Path) -> None:
    entries = [{"name": name, "time": time} for name, time in times.items()]
    series = {"file-series-version": "1.0", "files": entries}
    write_text(path, json.dumps(series, indent=1) + "\n")


@contextmanager
def _created(path: Path, kind: str, header: Header) -> Iterator[h5py.Group]:
    """Make a file, and in it the group that everything lies in.

    FieldData has the time in code units and in seconds, the redshift, and the code's units.
    """
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([1, 0])
        root.attrs["Type"] = np.bytes_(kind)  # text of variable length is refused by old readers
        facts = {
            "TimeValue": header.time,
            "TimeInSeconds": present_time(header),
            "Redshift": 1.0 / header.scale_factor - 1.0,
            "UnitLengthInCm": header.units["length"],
            "UnitMassInG": header.units["mass"],
            "UnitTimeInS": header.units["time"],
        }
        for name, value in facts.items():
            root[f"FieldData/{name}"] = np.array([value])
        yield root


# --- adaptive meshes ------------------------------------------------------------------------------


def write_mesh(snapshot: Snapshot, path: Path) -> None:
    """Write all cells of gas and gravity as an OverlappingAMR.

    Blocks are merged into boxes; cells that finer ones cover are marked as REFINEDCELL. Fields
    NAME_x, NAME_y, NAME_z become the vector NAME. A bounded number of cells is in memory.
    """
    with _created(path, "OverlappingAMR", snapshot.header) as root:
        root.attrs["Origin"] = snapshot.header.lower
        root.attrs["GridDescription"] = np.bytes_("XYZ")
        for level in snapshot.levels:
            _write_level(root.create_group(f"Level{level.index}"), level)


def _write_level(group: h5py.Group, level: Level) -> None:
    group.attrs["Spacing"] = level.cell_size
    merged = boxes(level)
    group["AMRBox"] = np.array([_first_and_last(box) for box in merged], dtype=np.int32)
    for name in ("PointData", "FieldData"):
        group.create_group(name)
    data = group.create_group("CellData")
    cells = sum(box.cells for box in merged)
    names = level.snapshot.cell_fields
    vectors = _vectors(names)
    for vector, components in vectors.items():
        stored = level.dataset(components[0])
        made = data.create_dataset(
            vector, (cells, len(components))[: len(components)], stored.dtype
        )
        made.attrs["units"] = stored.attrs.get("units", "")
    data.create_dataset(GHOSTS, (cells,), np.uint8)
    begin = 0
    for part in read_boxes(level, merged, names):
        end = begin + sum(box.cells for box in part.boxes)
        covered = np.where(part.leaf, 0, REFINED)
        data[GHOSTS][begin:end] = part.one_after_the_other(covered)
        for vector, components in vectors.items():
            columns = [part.one_after_the_other(part.values[name]) for name in components]
            data[vector][begin:end] = _columns(columns)
        begin = end


def _first_and_last(box: Box) -> list[int]:
    """Return a box as the first and last index of its cells along each axis."""
    ends = box.corner + box.shape[::-1]
    return [int(n) for a in range(3) for n in (box.corner[a], ends[a] - 1)]


def _vectors(names: list[str]) -> dict[str, list[str]]:
    """Group the components of vectors under the vector's name; all others stand alone."""
    found: dict[str, list[str]] = {}
    for name in names:
        stem = name.removesuffix("_x").removesuffix("_y").removesuffix("_z")
        components = [f"{stem}_{a}" for a in AXES]
        whole = stem != name and set(components) <= set(names)
        found[stem if whole else name] = components if whole else [name]
    return found


def _columns(columns: list[Array]) -> Array:
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=-1)


# --- particles ------------------------------------------------------------------------------------


def write_particles(snapshot: Snapshot, kind: str, path: Path) -> None:
    """Write the particles of a kind, with all of their columns, as the vertices of a PolyData."""
    source = snapshot.file["particles"][kind]
    with reading(snapshot.path, "Octant snapshot"):
        count = len(source["position"])
        columns = {"Points" if name == "position" else name: source[name] for name in source}
    with _created(path, "PolyData", snapshot.header) as root:
        root["NumberOfPoints"] = np.array([count])
        for cells in ("Vertices", "Lines", "Polygons", "Strips"):
            own = count if cells == "Vertices" else 0
            group = root.create_group(cells)
            group["NumberOfCells"] = np.array([own])
            group["NumberOfConnectivityIds"] = np.array([own])
            group["Connectivity"] = np.arange(own)
            group["Offsets"] = np.arange(own + 1)
        data = root.create_group("PointData")
        for name, column in columns.items():
            place = root if name == "Points" else data
            made = place.create_dataset(name, column.shape, column.dtype)
            made.attrs["units"] = column.attrs.get("units", "")
            for begin in range(0, count, PARTICLES):
                made[begin : begin + PARTICLES] = column[begin : begin + PARTICLES]


# --- flows ----------------------------------------------------------------------------------------


def write_rectilinear(flow: FlowSnapshot, path: Path) -> None:
    """Write a flow as RectilinearGrid in VTK's XML format, with its fields at the cells' centres.

    The numbers follow the XML as they are in memory, each array after its length in bytes.
    """
    edges = [np.concatenate([[0.0], faces]) for faces in flow.faces]
    cells = int(np.prod([len(faces) for faces in flow.faces]))
    fields = [name for name in flow.fields() if name not in COMPONENTS]
    sizes = {axis: len(edge) for axis, edge in zip(AXES, edges, strict=True)}
    sizes |= {"velocity": 3 * cells} | dict.fromkeys(fields, cells)
    offsets = dict(zip(sizes, np.cumsum([0, *(8 + 8 * n for n in sizes.values())]), strict=False))

    def array(name: str, components: int = 1) -> str:
        return (
            f'<DataArray type="Float64" Name="{name}" NumberOfComponents="{components}" '
            f'format="appended" offset="{offsets[name]}"/>\n'
        )

    extent = " ".join(f"0 {len(faces)}" for faces in flow.faces)
    head = (
        '<?xml version="1.0"?>\n<VTKFile type="RectilinearGrid" version="1.0" '
        'byte_order="LittleEndian" header_type="UInt64">\n'
        f'<RectilinearGrid WholeExtent="{extent}"><FieldData>\n<DataArray type="Float64" '
        f'Name="TimeValue" NumberOfTuples="1" format="ascii">{flow.time!r}</DataArray>\n'
        f'</FieldData><Piece Extent="{extent}"><CellData>\n{array("velocity", 3)}'
        f"{''.join(map(array, fields))}</CellData><Coordinates>\n{''.join(map(array, AXES))}"
        '</Coordinates></Piece></RectilinearGrid>\n<AppendedData encoding="raw">\n_'
    )
    with whole_file(path) as beside, beside.open("wb") as file:
        file.write(head.encode())
        for edge in edges:
            _append(file, edge)
        _append(file, np.stack([flow.at_centres(name) for name in COMPONENTS], axis=-1))
        for name in fields:
            _append(file, flow.at_centres(name))
        file.write(b"\n</AppendedData></VTKFile>\n")


def _append(file: BinaryIO, values: Array) -> None:
    file.write(np.array(values.nbytes, dtype="<u8").tobytes())
    file.write(np.ascontiguousarray(values, dtype="<f8").tobytes())
