"""Snapshots as arrays by the names of fields, and as a data set of yt."""

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
    """The leaf cells and the particles of a snapshot of an adaptive mesh, in code units.

    ``data["density"]`` is a stored or derived field, or one of ``x``, ``y``, ``z`` (the cells'
    centres), ``dx`` (their edge along x), ``volume`` and ``level``, each of shape (cells,), level
    after level. All hold the same cells in the same order. Arrays are read when first asked for.
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
        """Number of the finest level, and of all leaf cells."""
        with Snapshot(self.path) as snapshot:
            batches = (b for level in snapshot.levels for b in snapshot.batches([], level))
            cells = sum(int(np.count_nonzero(batch.leaf)) for batch in batches)
            return snapshot.levels[-1].index, cells

    @cached_property
    def kinds_counted(self) -> list[tuple[str, int]]:
        """Each kind of particles with their number."""
        with Snapshot(self.path) as snapshot:
            return [(kind, len(snapshot.file["particles"][kind]["id"])) for kind in self.kinds]

    def __getitem__(self, name: str) -> Array:
        """Return a field of the leaf cells, shape (cells,)."""
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
        """Read all columns of a kind of particles, in the order of ids."""
        with Snapshot(self.path) as snapshot:
            return snapshot.particles(kind)

    def in_cgs(self, name: str) -> Array:
        """Return a field of the leaf cells in cgs, by its units and the code's.

        Raises
        ------
        OctoolsError
            If the file does not say in terms of length, mass and time what its units are.
        """
        values = self[name]
        size = factor(self.units[name], self.header.units) if name in self.units else None
        if size is None:
            raise OctoolsError(f"{self.path} has no units for {name}")
        return values * size

    def to_yt(self) -> Any:
        """Open the snapshot in yt, with its particles and units, and without resampling."""
        _needs("yt")
        from octools.exports.yt_frontend import OctantDataset

        return OctantDataset(str(self.path))


class FlowData:
    """The fields of an incompressible flow.

    ``data["u"]`` is a field as it is stored, shape (n_z, n_y, n_x): velocity components on the
    upper faces, all else at the cells' centres.
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
        """Return a field at its own places, shape (n_z, n_y, n_x)."""
        return self.flow.load(name)

    def to_xarray(self) -> Any:
        """Give all fields with their coordinates as a data set of xarray.

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
        """Open the flow in yt, with its fields at the cells' centres."""
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
    """Open a snapshot, or one of a run directory.

    Parameters
    ----------
    path
        A snapshot or checkpoint, or a run directory.
    snapshot
        Which snapshot of a run directory; the newest where left out.
    """
    file = resolve(Path(path), snapshot)
    return FlowData(file) if is_flow(file) else CellData(file)


def _needs(name: str) -> None:
    """Say what to install where a module is missing."""
    try:
        __import__(name)
    except ImportError as cause:
        raise OctoolsError(f"{name} is not installed; run pip install {name}") from cause
