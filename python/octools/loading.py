"""Snapshots as arrays by field name, and as a yt data set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.fields import find_field
from octools.flow import FlowSnapshot, is_flow
from octools.run import resolve
from octools.snapshot import AXES, Array, Header, Snapshot
from octools.units import factor


class CellData:
    """Leaf cells and particles of a snapshot of an adaptive mesh, in code units.

    ``data[name]`` returns a field of all leaf cells, shape (cells,), ordered by level. Names are
    stored fields (``data.fields``), derived fields and expressions (`octools.fields.find_field`),
    and ``x``, ``y``, ``z`` (cell centres), ``dx`` (cell size along x), ``volume`` and ``level``.
    All arrays have the same order of cells. An array is read at its first use and kept.

    Attributes
    ----------
    path
        Path of the file.
    header
        Time, domain, units and parameters (`octools.snapshot.Header`).
    fields
        Names of the stored fields.
    kinds
        Names of the particle types in the file.
    units
        Units of each field in terms of length, mass and time, as text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, Array] = {}
        with Snapshot(path) as snapshot:
            self.header: Header = snapshot.header
            self.fields = snapshot.cell_fields
            self.kinds = snapshot.particle_kinds
            self.units: dict[str, str] = {name: snapshot.units_of(name) for name in self.fields}
        places = ("x", "y", "z", "dx")
        self.units |= dict.fromkeys(places, "length") | {"volume": "length^3", "level": "1"}

    def __repr__(self) -> str:
        """Describe the snapshot: when it was written, what it holds, and how fine its mesh is."""
        levels, cells = self.mesh
        base = " x ".join(map(str, self.header.base_cells))
        lines = [
            f"{self.path}: {self.header.when}",
            f"mesh: {base} base cells, levels 0 to {levels}, {cells} leaf cells",
            f"fields: {', '.join(self.fields) or 'none'}",
            f"particles: {', '.join(f'{n} {kind}' for kind, n in self.kinds_counted) or 'none'}",
        ]
        return "\n".join(lines)

    @cached_property
    def mesh(self) -> tuple[int, int]:
        """Number of the finest level, and number of leaf cells on all levels."""
        with Snapshot(self.path) as snapshot:
            batches = (b for level in snapshot.levels for b in snapshot.batches([], level))
            cells = sum(int(np.count_nonzero(batch.leaf)) for batch in batches)
            return snapshot.levels[-1].index, cells

    @cached_property
    def kinds_counted(self) -> list[tuple[str, int]]:
        """Name and number of particles of each particle type."""
        with Snapshot(self.path) as snapshot:
            return [(kind, len(snapshot.file["particles"][kind]["id"])) for kind in self.kinds]

    def __getitem__(self, name: str) -> Array:
        """Return a field of the leaf cells in code units, shape (cells,).

        Raises
        ------
        OctoolsError
            If the snapshot has no such field; the message names similar fields.
        """
        if name in ("x", "y", "z", "dx", "volume"):
            return self._places[name]
        if name not in self._known:
            with Snapshot(self.path) as snapshot:
                field = find_field(snapshot, name)
                parts = [
                    field.compute(batch, snapshot.header)[batch.leaf]
                    for level in snapshot.levels
                    for batch in snapshot.batches(field.needs, level)
                ]
            self._known[name] = np.concatenate(parts)
        return self._known[name]

    @cached_property
    def _places(self) -> dict[str, Array]:
        columns: dict[str, list[Array]] = {name: [] for name in ("x", "y", "z", "dx", "volume")}
        header = self.header
        n = header.block_size
        with Snapshot(self.path) as snapshot:
            for level in snapshot.levels:
                cell = level.cell_size
                for batch in snapshot.batches([], level):
                    for a, axis in enumerate(AXES):
                        shape = [len(batch.corner), *(n if d == 2 - a else 1 for d in range(3))]
                        index = batch.corner[:, a, None] + np.arange(n) + 0.5
                        place = header.lower[a] + index.reshape(shape) * cell[a]
                        columns[axis].append(np.broadcast_to(place, batch.leaf.shape)[batch.leaf])
                    leaves = np.count_nonzero(batch.leaf)
                    columns["dx"].append(np.full(leaves, cell[0]))
                    columns["volume"].append(np.full(leaves, cell.prod()))
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    def particles(self, kind: str) -> dict[str, NDArray[Any]]:
        """Read all columns of a particle type, sorted by id, in code units.

        Columns are ``id``, ``position`` and ``velocity`` of shape (particles, 3), ``mass`` of
        shape (particles,), and further columns of the type.
        """
        with Snapshot(self.path) as snapshot:
            return snapshot.particles(kind)

    def in_cgs(self, name: str) -> Array:
        """Return a field of the leaf cells in cgs units, shape (cells,).

        Raises
        ------
        OctoolsError
            If the units of the field are unknown, or not products of length, mass and time.
        """
        values = self[name]
        size = factor(self.units[name], self.header.units) if name in self.units else None
        if size is None:
            raise OctoolsError(f"{self.path} has no units for {name}")
        return values * size

    def to_yt(self) -> Any:
        """Open the snapshot as a yt data set, with particles and units; cells are not resampled."""
        _needs("yt")
        from octools.exports.yt_frontend import OctantDataset

        return OctantDataset(str(self.path))


class FlowData:
    """Fields of a snapshot of an incompressible flow, in code units.

    ``data[name]`` returns a stored field, shape (n_z, n_y, n_x): ``u``, ``v`` and ``w`` on the
    upper faces of the cells, ``p`` and the scalar ``t`` at cell centres.

    Attributes
    ----------
    path
        Path of the file.
    flow
        Grid, time and parameters (`octools.flow.FlowSnapshot`).
    fields
        Names of the stored fields.
    units
        Units of each field, as text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.flow = FlowSnapshot.read(path)
        self.fields = self.flow.fields()
        self.units = {name: self.flow.units_of(name) for name in self.fields}

    def __repr__(self) -> str:
        """Describe the snapshot: when it was written, its grid, and its fields."""
        cells = " x ".join(str(len(centres)) for centres in self.flow.centres)
        return (
            f"{self.path}: t = {self.flow.time:.6g}, step {self.flow.step}\n"
            f"grid: {cells} cells\nfields: {', '.join(self.fields)}"
        )

    def __getitem__(self, name: str) -> Array:
        """Return a field at its own grid points, shape (n_z, n_y, n_x)."""
        return self.flow.load(name)

    def to_xarray(self) -> Any:
        """Return all fields with their coordinates as an xarray data set.

        Dimensions are x, y, z, and x_face, y_face, z_face for a velocity's own axis.
        """
        _needs("xarray")
        import xarray

        places = dict(zip(AXES, self.flow.centres, strict=True))
        places |= {f"{a}_face": f for a, f in zip(AXES, self.flow.faces, strict=True)}
        own = {"u": "x", "v": "y", "w": "z"}
        fields = {
            name: (
                [f"{a}_face" if own.get(name) == a else a for a in reversed(AXES)],
                self[name],
                {"units": self.units[name]},
            )
            for name in self.fields
        }
        facts = {"time": self.flow.time, "viscosity": self.flow.viscosity}
        return xarray.Dataset(fields, places, facts)

    def to_yt(self) -> Any:
        """Open the flow as a yt data set, with all fields averaged to cell centres."""
        _needs("yt")
        import yt

        flow = self.flow
        fields: Mapping[str, Array] = {
            {"u": "velocity_x", "v": "velocity_y", "w": "velocity_z"}.get(name, name):
                np.ascontiguousarray(flow.at_centres(name).T)
            for name in self.fields
        }  # fmt: skip
        widths = [np.diff(faces, prepend=0.0) for faces in flow.faces]
        kinds = [flow.section("dns").get(f"boundary_{a}", ["periodic"])[0] for a in AXES]
        return yt.load_uniform_grid(
            dict(fields),
            [len(width) for width in widths],
            bbox=np.array([[0.0, size] for size in flow.size]),
            sim_time=flow.time,
            periodicity=tuple(kind == "periodic" for kind in kinds),
            cell_widths=widths,
        )


def load(path: str | Path, snapshot: int | None = None) -> CellData | FlowData:
    """Open a snapshot file, or a snapshot of a run directory.

    Parameters
    ----------
    path
        Snapshot or checkpoint file, or run directory.
    snapshot
        Number of the snapshot in a run directory; by default the newest one.

    Returns
    -------
    CellData or FlowData
        Data of an adaptive mesh or of an incompressible flow, depending on the file.

    Raises
    ------
    OctoolsError
        If there is no such file, or it is not a snapshot of Octant.
    """
    file = resolve(Path(path), snapshot)
    return FlowData(file) if is_flow(file) else CellData(file)


def _needs(name: str) -> None:
    """Say what to install where a module is missing."""
    try:
        __import__(name)
    except ImportError as cause:
        raise OctoolsError(f"{name} is not installed; run pip install {name}") from cause
