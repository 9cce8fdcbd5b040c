"""Reader of snapshots: files and levels are read lazily, cells in batches of bounded size."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError, reading, unknown_name
from octools.units import LENGTHS, TIMES, named

Array = NDArray[np.float64]
AXES = ("x", "y", "z")
BATCH_CELLS = 2_000_000
KNOWN_KINDS = ("dark", "stars", "sinks", "tracers")  # the order of particles::in_order()
KIND_IDS = 1 << 62  # ids of one kind: a multiple of this, then 0, 1, ...
COSMOLOGY = ("omega_m", "omega_lambda", "omega_b", "omega_radiation", "w0", "wa", "h")


@dataclass(frozen=True)
class Header:
    """Metadata of a snapshot: time, domain, units and parameters.

    Attributes
    ----------
    time
        Code time.
    scale_factor
        Cosmological scale factor; 1 without expansion.
    lower, upper
        Corners of the domain, shape (3,), code length.
    base_cells
        Cells of the base grid along each axis, shape (3,).
    block_size
        Cells along one edge of a block.
    gamma
        Ratio of specific heats.
    units
        ``length``, ``mass`` and ``time`` of the code in cgs.
    parameters
        The run's resolved parameters, as nested tables.
    revision
        Git revision of the program that wrote the file.
    plane
        Axis and position of a slice, whose blocks are one cell thick; None of all other files.
    cosmology
        The attributes of /header that describe an expanding universe, those of `COSMOLOGY`; empty
        in other files.
    data_files
        Checksums of the run's data files by parameter, as nested tables; empty in old files.
    """

    time: float
    scale_factor: float
    lower: Array
    upper: Array
    base_cells: NDArray[np.int64]
    block_size: int
    gamma: float
    units: dict[str, float]
    parameters: dict[str, Any] = field(repr=False)
    revision: str
    plane: tuple[int, float] | None = None
    cosmology: dict[str, float] = field(default_factory=dict)
    data_files: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def block_shape(self) -> tuple[int, int, int]:
        """Number of cells of a block in the file, along z, y and x; 1 across a slice."""
        cells = [self.block_size] * 3
        if self.plane is not None:
            cells[2 - self.plane[0]] = 1
        return cells[0], cells[1], cells[2]

    def name(self, path: Path) -> str:
        """Return the name of the run of a file, which is that of its directory."""
        return path.resolve().parent.name.replace("_", " ")

    @property
    def size(self) -> Array:
        """Edge lengths of the domain, shape (3,), code length."""
        return self.upper - self.lower

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return the value of the parameter ``section.key``; `default` if it is not set."""
        table: Any = self.parameters
        for part in name.split("."):
            if not isinstance(table, dict) or part not in table:
                return default
            table = table[part]
        return table

    @property
    def expands(self) -> bool:
        """Return whether the run is cosmological, with supercomoving units."""
        return bool(self.parameter("cosmology.enabled", False))

    @property
    def has_units(self) -> bool:
        """Return whether the code units have values in cgs."""
        return any(unit != 1.0 for unit in self.units.values())

    @cached_property
    def shown_lengths(self) -> tuple[str, float]:
        """Unit of length in plots, and the code length in this unit."""
        if self.expands:
            return "comoving Mpc/h", float(self.parameter("cosmology.box")) / self.size.max()
        if not self.has_units:
            return "length", 1.0
        return named(LENGTHS, self.units["length"], self.size.max())

    @property
    def when(self) -> str:
        """Time as text for plots; in cosmological runs the redshift."""
        if self.expands:
            return f"z = {round(abs(1 / self.scale_factor - 1), 9):.4g}"
        if not self.has_units:
            return f"t = {self.time:.4g}"
        end = float(self.parameter("time.end", self.time))
        unit, size = named(TIMES, self.units["time"], end)
        return f"t = {size * self.time:.4g} {unit}"

    @cached_property
    def periodic(self) -> NDArray[np.bool_]:
        """Return whether each axis is periodic, shape (3,)."""
        sides = [self.parameter(f"mesh.boundary_{a}", "periodic") for a in AXES]
        return np.array([s == "periodic" or "periodic" in list(s) for s in sides])

    @cached_property
    def drift(self) -> Array:
        """``problem.velocity``, with which the whole problem moves, shape (3,).

        Zero without it, and where it is expressions of the place.
        """
        given = self.parameter("problem.velocity", np.zeros(3))
        if any(isinstance(component, str) for component in given):
            return np.zeros(3)
        return np.asarray(given, dtype=float)

    @cached_property
    def problem_centre(self) -> Array | None:
        """Place around which the problem is set up, drifted with it, shape (3,).

        None without ``problem.centre``, and where it is only the default origin of ``r``: a
        problem of expressions has a centre if one of them uses ``r``.
        """
        start = self.parameter("problem.centre")
        if start is None:
            return None
        if self.parameter("problem.name") == "expression" and not _uses_radius(
            self.parameter("problem")
        ):
            return None
        offset = np.asarray(start, dtype=float) + self.drift * self.time - self.lower
        return self.lower + np.where(self.periodic, offset % self.size, offset)

    @property
    def middle(self) -> Array:
        """Middle of the domain, shape (3,)."""
        return 0.5 * (self.lower + self.upper)

    @cached_property
    def centre(self) -> Array:
        """Default centre of radial profiles: the problem's, or the middle of the domain."""
        return self.middle if self.problem_centre is None else self.problem_centre

    @cached_property
    def inner_centre(self) -> Array:
        """Default place of slices and lines: `centre`, and the middle where that is outside."""
        inside = (self.lower <= self.centre) & (self.centre <= self.upper)
        return np.where(inside, self.centre, self.middle)


def _uses_radius(value: Any) -> bool:
    """Return true if an expression among the values of a table uses the variable ``r``."""
    if isinstance(value, str):
        return re.search(r"(?<![\w.])r(?!\w)", value) is not None
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, list) and any(map(_uses_radius, value))


@dataclass(frozen=True)
class Batch:
    """Blocks of one level with the values of some fields.

    Attributes
    ----------
    level
        Their level; 0 is the base grid.
    corner
        Index of each block's first cell on its level's grid, shape (blocks, 3) as x, y, z.
    leaf
        True for cells that are not covered by finer ones, shape (blocks, k, j, i).
    values
        The values of each field, shape (blocks, k, j, i).
    """

    level: int
    corner: NDArray[np.int64]
    leaf: NDArray[np.bool_]
    values: dict[str, Array]


class Level:
    """Blocks of one level of a snapshot. Arrays are read at their first use."""

    def __init__(self, snapshot: Snapshot, index: int) -> None:
        self.snapshot = snapshot
        self.index = index
        self.mesh: h5py.Group = snapshot.file[f"mesh/level_{index}"]
        gas = snapshot.file.get(f"hydro/level_{index}")
        self.hydro: Mapping[str, h5py.Dataset] = {} if gas is None else gas
        gravity = snapshot.file.get(f"gravity/level_{index}")
        self.gravity: Mapping[str, h5py.Dataset] = {} if gravity is None else gravity
        faces = snapshot.file.get(f"faces/level_{index}")
        self.faces: Mapping[str, h5py.Dataset] = {} if faces is None else faces
        self.blocks = int(self.mesh["key"].shape[0])

    @property
    def cell_size(self) -> Array:
        """Edge lengths of a cell, shape (3,), code length."""
        header = self.snapshot.header
        return header.size / (header.base_cells * 2**self.index)

    @cached_property
    def slice_cell(self) -> int | None:
        """Place of a slice's cells among those along its axis; None where there is no slice."""
        if self.snapshot.header.plane is None:
            return None
        with reading(self.snapshot.path, "Octant snapshot"):
            return int(self.mesh.attrs["slice_cell"])

    @cached_property
    def key(self) -> NDArray[Any]:
        """Morton keys, shape (blocks,) or (blocks, 2) for 128 bits."""
        return self._structure("key")

    @cached_property
    def corner(self) -> NDArray[np.int64]:
        """Index of each block's first cell on the level's grid, shape (blocks, 3) as x, y, z."""
        offset = (self._structure("origin") - self.snapshot.header.lower) / self.cell_size
        return np.rint(offset).astype(np.int64)

    @cached_property
    def refined(self) -> NDArray[np.uint8]:
        """Mask of refined octants, bit ix + 2 iy + 4 iz, shape (blocks,)."""
        return self._structure("refined").astype(np.uint8)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """Rank that held each block, shape (blocks,)."""
        return self._structure("owner").astype(np.int64)

    def _structure(self, name: str) -> NDArray[Any]:
        with reading(self.snapshot.path, "Octant snapshot"):
            return np.asarray(self.mesh[name][...])

    def cell_at(self, axis: int, position: float) -> int:
        """Return the cell index along an axis at a position; faces belong to the upper cell."""
        if self.slice_cell is not None:
            return self.slice_cell
        header = self.snapshot.header
        cells = int(header.base_cells[axis]) << self.index
        part = (position - header.lower[axis]) / header.size[axis]
        return min(int(np.floor(part * header.base_cells[axis] * 2**self.index)), cells - 1)

    def blocks_at(self, axis: int, position: float) -> NDArray[np.int64]:
        """Return the indices of the blocks that a plane normal to an axis intersects."""
        first = self.corner[:, axis]
        index = self.cell_at(axis, position)
        return np.flatnonzero((first <= index) & (index < first + self.snapshot.header.block_size))

    def leaf_cells(self, blocks: slice | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which cells of some blocks are leaf cells, shape (blocks, k, j, i)."""
        header = self.snapshot.header
        octant = np.arange(header.block_size) * 2 // header.block_size
        bit = octant + 2 * octant[:, None] + 4 * octant[:, None, None]
        if header.plane is not None and self.slice_cell is not None:
            bit = np.take(bit, [self.slice_cell % header.block_size], axis=2 - header.plane[0])
        return (self.refined[blocks][:, None, None, None] >> bit) & 1 == 0

    def read(self, name: str, blocks: slice | NDArray[np.int64]) -> Array:
        """Read a stored field in some blocks, shape (blocks, k, j, i).

        Parameters
        ----------
        name
            A stored field of the gas or of gravity, or a field on faces: then the mean of the two
            faces of each cell. `dataset` holds the faces themselves.
        blocks
            A contiguous slice, or ascending block numbers: these are read in contiguous runs.
        """
        runs = [blocks] if isinstance(blocks, slice) else _runs(blocks)
        with reading(self.snapshot.path, "Octant snapshot"):
            data = self.dataset(name)
            parts = [data[run] for run in runs]
            if not parts:
                return np.empty((0, *self.snapshot.header.block_shape))
            return _cell_means(np.concatenate(parts, dtype=float), self.snapshot.header.block_shape)

    def dataset(self, name: str) -> h5py.Dataset:
        """Return the dataset of a field of the gas, on faces or of gravity.

        Along the axis of its component, a block of N cells has N + 1 faces.
        """
        for group in (self.hydro, self.faces):
            if name in group:
                return group[name]
        return self.gravity[name]


class Snapshot:
    """Snapshot or checkpoint of the adaptive model.

    Parameters
    ----------
    path
        The HDF5 file. It stays open until `close`; use the object in a ``with`` statement.
    may_be_slice
        Whether a file with the cells of one plane will do.

    Raises
    ------
    OctoolsError
        If there is no such file, or it is not one that Octant wrote.
    """

    def __init__(self, path: Path, may_be_slice: bool = False) -> None:
        self.path = Path(path)
        self.file = _open(self.path)
        try:
            with reading(self.path, "Octant snapshot"):
                self.header = _read_header(self.file, self.path)
                self.levels = _read_levels(self)
            if self.header.plane is not None and not may_be_slice:
                raise OctoolsError(
                    f"{path} is a slice, which can only be used with plot and movie; "
                    "use a snapshot instead"
                )
        except OctoolsError:
            self.file.close()
            raise

    def __enter__(self) -> Snapshot:
        """Return the open snapshot."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    @property
    def gas_fields(self) -> list[str]:
        """Names of the gas fields in the file; empty without gas."""
        return sorted(self.levels[0].hydro)

    @property
    def stored_fields(self) -> list[str]:
        """Names of the fields of the gas and on faces in the file."""
        return sorted({*self.levels[0].hydro, *self.levels[0].faces})

    @property
    def cell_fields(self) -> list[str]:
        """Names of all cell-centred fields in the file, including those of gravity."""
        return sorted({*self.stored_fields, *self.levels[0].gravity})

    @property
    def particle_kinds(self) -> list[str]:
        """Names of the particle types in the file."""
        return list(self.file.get("particles", {}))

    def particles(self, kind: str) -> dict[str, NDArray[Any]]:
        """Read all columns of a particle type by name, sorted by id, in code units.

        Positions and velocities have shape (particles, 3), all others (particles,).
        """
        if kind not in self.particle_kinds:
            raise unknown_name("kind of particles", kind, self.particle_kinds, str(self.path))
        with reading(self.path, "Octant snapshot"):
            return {name: data[...] for name, data in self.file["particles"][kind].items()}

    @cached_property
    def first_numbers(self) -> dict[str, int]:
        """The number of the first particle of each kind where all kinds are numbered in turn.

        Kinds follow each other as in the program; each takes as many numbers as it has used ids.
        """
        known = [kind for kind in KNOWN_KINDS if kind in self.particle_kinds]
        first, total = {}, 0
        for kind in [*known, *sorted(set(self.particle_kinds) - set(known))]:
            first[kind] = total
            group = self.file["particles"][kind]
            if "used_ids" in group.attrs:
                total += int(group.attrs["used_ids"])
            elif len(group["id"]):
                total += int((group["id"][...] % KIND_IDS).max()) + 1
        return first

    def unique_numbers(self, kind: str, ids: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return particles of a kind numbers by their ids, which no two of the file share.

        Ids of stars and sinks begin at multiples of 2^62, which readers with doubles round. These
        numbers are small, and the same in all snapshots of a run.
        """
        return ids % np.uint64(KIND_IDS) + np.uint64(self.first_numbers[kind])

    def units_of(self, name: str) -> str:
        """Return the text of a stored field's ``units`` attribute; empty where there is none."""
        if name not in self.cell_fields:
            return ""
        return _text(self.levels[0].dataset(name).attrs.get("units", ""))

    @property
    def length_units(self) -> str:
        """The text of the ``units`` attribute of positions; empty where there is none."""
        return _text(self.levels[0].mesh["origin"].attrs.get("units", ""))

    def finest_cell(self) -> Array:
        """Edge lengths of the smallest cells, shape (3,), code length."""
        return self.levels[-1].cell_size

    def require(self, names: Sequence[str]) -> None:
        """Raise OctoolsError, naming similar fields, unless the file contains these fields."""
        for name in names:
            if name not in self.stored_fields:
                raise unknown_name("field", name, self.stored_fields, str(self.path))

    def batches(
        self, names: Sequence[str], level: Level, blocks: NDArray[np.int64] | None = None
    ) -> Iterator[Batch]:
        """Read stored fields of a level in batches with a bounded number of cells.

        Parameters
        ----------
        names
            Stored fields.
        level
            The level.
        blocks
            Ascending block numbers; all blocks where left out.
        """
        step = max(1, BATCH_CELLS // self.header.block_size**3)
        count = level.blocks if blocks is None else len(blocks)
        for first in range(0, count, step):
            last = min(first + step, count)
            part = slice(first, last) if blocks is None else blocks[first:last]
            values = {name: level.read(name, part) for name in names}
            yield Batch(level.index, level.corner[part], level.leaf_cells(part), values)


def _open(path: Path) -> h5py.File:
    if not path.is_file():
        raise OctoolsError(f"the file {path} does not exist")
    try:
        return h5py.File(path, "r")
    except OSError as cause:
        reason = "is truncated" if "truncated" in str(cause) else "is not a readable HDF5 file"
        raise OctoolsError(f"{path} {reason}; expected an Octant snapshot (.h5)") from cause


def _cell_means(values: Array, block_shape: tuple[int, int, int]) -> Array:
    """Average neighbours along axes with a value more than cells, shape (blocks, k, j, i)."""
    for axis, cells in enumerate(block_shape, start=1):
        if values.shape[axis] > cells:
            lower, upper = np.delete(values, -1, axis), np.delete(values, 0, axis)
            values = 0.5 * (lower + upper)
    return values


def _runs(blocks: NDArray[np.int64]) -> list[slice]:
    """Split ascending block numbers into contiguous slices."""
    if blocks.size == 0:
        return []
    parts = np.split(blocks, np.flatnonzero(np.diff(blocks) != 1) + 1)
    return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _read_header(file: h5py.File, path: Path) -> Header:
    if "fields" in file and "mesh" not in file:
        raise OctoolsError(
            f'{path} is from an incompressible flow (model = "dns"); expected a file of an '
            "adaptive mesh"
        )
    for group in ("header", "mesh"):
        if group not in file:
            raise OctoolsError(f"{path} is not an Octant snapshot: it has no group /{group}")
    attributes = file["header"].attrs
    missing = {"time", "block_size", "lower", "upper", "base_cells"} - set(attributes)
    if missing:
        raise OctoolsError(
            f"{path}: /header is missing the attribute(s) {', '.join(sorted(missing))}"
        )
    parameters = _read_parameters(_text(attributes.get("parameters", "")), path)
    gamma = attributes.get("gamma", parameters.get("hydro", {}).get("gamma", np.nan))
    return Header(
        time=float(attributes["time"]),
        scale_factor=float(attributes.get("scale_factor", 1.0)),
        lower=np.asarray(attributes["lower"], dtype=float),
        upper=np.asarray(attributes["upper"], dtype=float),
        base_cells=np.asarray(attributes["base_cells"], dtype=np.int64),
        block_size=int(attributes["block_size"]),
        gamma=float(gamma),
        units={u: float(attributes.get(f"unit_{u}", 1.0)) for u in ("length", "mass", "time")},
        parameters=parameters,
        revision=_text(attributes.get("git_revision", "unknown")),
        plane=read_plane(attributes),
        cosmology={name: float(attributes[name]) for name in COSMOLOGY if name in attributes},
        data_files=_read_parameters(_text(attributes.get("data_files", "")), path),
    )


def read_plane(attributes: Mapping[str, Any]) -> tuple[int, float] | None:
    """Read axis and position of a slice from the attributes of /header; None if it is none."""
    if "slice_axis" not in attributes:
        return None
    return AXES.index(_text(attributes["slice_axis"])), float(attributes["slice_position"])


def _read_parameters(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        raise OctoolsError(f"{path}: the stored parameters are not valid TOML: {cause}") from cause


def _read_levels(snapshot: Snapshot) -> list[Level]:
    count = sum(name.startswith("level_") for name in snapshot.file["mesh"])
    levels = [Level(snapshot, index) for index in range(count)]
    levels = [level for level in levels if level.blocks > 0]
    if not levels:
        raise ValueError("the file contains no blocks")
    shape = snapshot.header.block_shape
    for level in levels:
        if set(level.hydro) != set(levels[0].hydro):
            raise ValueError(f"/hydro/level_{level.index} and /hydro/level_0 hold different fields")
        for name, data in level.hydro.items():
            if data.shape != (level.blocks, *shape):
                raise ValueError(f"/hydro/level_{level.index}/{name} has shape {data.shape}")
    return levels
