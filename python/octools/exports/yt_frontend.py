"""Frontend of yt (yt-project.org) for snapshots of Octant; ``yt.load`` finds it automatically.

Merged boxes of blocks are yt's grids, so that nothing is resampled and cells are read at their
first use. Particles belong to the grid with the finest cell that they are in.

yt keeps all fields of particles in doubles, so that ids become small numbers, unique in the file.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray
from yt.data_objects.index_subobjects.grid_patch import AMRGridPatch
from yt.data_objects.static_output import Dataset
from yt.fields.field_info_container import FieldInfoContainer
from yt.geometry.grid_geometry_handler import GridIndex
from yt.utilities.chemical_formulas import compute_mu
from yt.utilities.io_handler import BaseIOHandler

from octools.ages import formation_times, present_time
from octools.errors import OctoolsError
from octools.exports.boxes import Box, boxes, read_boxes
from octools.fields import find_field, knows_temperature
from octools.molecular_weight import is_ionized
from octools.snapshot import AXES, Batch, Snapshot
from octools.units import CODE, factor, in_python

Indices = NDArray[np.int64]
VECTORS = ("position", "velocity")
ALIASES = {"potential": "gravitational_potential", "metals": "metallicity"}
INDEX = "particle_index"
BIRTH, BIRTH_SCALE_FACTOR = "particle_birth_time", "particle_birth_scale_factor"


class OctantGrid(AMRGridPatch):
    """Box of blocks of one level."""

    _id_offset = 0

    def __init__(self, number: int, index: OctantIndex, level: int, box: Box) -> None:
        super().__init__(number, filename=index.index_filename, index=index)
        self.Level = level
        self.box = box
        self.start_index = box.corner
        self.Parent: list[OctantGrid] = []
        self.Children: list[OctantGrid] = []

    def get_global_startindex(self) -> Indices:
        """Return the index of the first cell on the level's grid."""
        return self.box.corner

    def _setup_dx(self) -> None:
        self.dds = self.ds.arr(self._index.snapshot.levels[self.Level].cell_size, "code_length")


class OctantIndex(GridIndex):
    """All boxes of a snapshot, from the coarsest level to the finest."""

    def __init__(self, ds: OctantDataset, dataset_type: str = "octant") -> None:
        self.dataset_type = dataset_type
        self.dataset = weakref.proxy(ds)
        self.index_filename = ds.parameter_filename
        self.directory = ds.directory
        self.snapshot: Snapshot = ds.snapshot
        self.float_type = np.float64
        self.boxes = [(level.index, box) for level in self.snapshot.levels for box in boxes(level)]
        super().__init__(ds, dataset_type)

    def _count_grids(self) -> None:
        self.num_grids = len(self.boxes)

    def _parse_index(self) -> None:
        header = self.snapshot.header
        self.grid_levels[:, 0] = [level for level, _ in self.boxes]
        self.grid_dimensions[:] = [box.shape[::-1] for _, box in self.boxes]
        corner = np.array([box.corner for _, box in self.boxes])
        cells = header.base_cells * 2.0**self.grid_levels
        for edge, place in (
            (self.grid_left_edge, corner),
            (self.grid_right_edge, corner + self.grid_dimensions),
        ):
            edge[:] = self.ds.arr(header.lower + header.size * (place / cells), "code_length")
        self.max_level = int(self.grid_levels.max())
        grids = [OctantGrid(n, self, level, box) for n, (level, box) in enumerate(self.boxes)]
        self.grids = np.array([None, *grids], dtype=object)[1:]
        self.particles = {kind: Placed(self, kind) for kind in self.snapshot.particle_kinds}
        counts = [np.diff(placed.first) for placed in self.particles.values()]
        self.grid_particle_count[:, 0] = np.sum(counts, axis=0) if counts else 0

    def _populate_grid_objects(self) -> None:
        for grid in self.grids:
            grid._prepare_grid()
            grid._setup_dx()
        for level in self.snapshot.levels[:-1]:
            self._find_children(level.index)

    def _find_children(self, level: int) -> None:
        """Link the grids of a level with the finer grids that cover some of their cells."""
        grid_of_block = self._grid_of_block(level)
        position = self._keys(level, self.snapshot.levels[level].corner)
        order = np.argsort(position)
        fine = self.snapshot.levels[level + 1]
        found = np.searchsorted(position, self._keys(level, fine.corner // 2), sorter=order)
        pairs = np.stack([grid_of_block[order[found]], self._grid_of_block(level + 1)], axis=-1)
        for parent, child in np.unique(pairs, axis=0):
            self.grids[parent].Children.append(self.grids[child])
            self.grids[child].Parent.append(self.grids[parent])

    def _grid_of_block(self, level: int) -> Indices:
        """Return the number of the grid that holds each block of a level, in the file's order."""
        found = np.empty(self.snapshot.levels[level].blocks, dtype=np.int64)
        for number, (of_level, box) in enumerate(self.boxes):
            if of_level == level:
                found[box.tiles] = number
        return found

    def _keys(self, level: int, cell: Indices) -> Indices:
        """Return numbers of a level's blocks by a cell in each, shape (cells, 3)."""
        header = self.snapshot.header
        blocks = (header.base_cells << level) // header.block_size
        place = cell // header.block_size
        return (place[:, 2] * blocks[1] + place[:, 1]) * blocks[0] + place[:, 0]

    def grid_at(self, position: NDArray[np.float64]) -> Indices:
        """Return the number of the grid with the finest cell at each position, shape (points,)."""
        header = self.snapshot.header
        found = np.zeros(len(position), dtype=np.int64)
        share = (position - header.lower) / header.size
        for level in self.snapshot.levels:
            cells = header.base_cells << level.index
            cell = np.clip(np.floor(share * cells).astype(np.int64), 0, cells - 1)
            own, wanted = self._keys(level.index, level.corner), self._keys(level.index, cell)
            order = np.argsort(own)
            near = order[np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)]
            there = own[near] == wanted
            found[there] = self._grid_of_block(level.index)[near[there]]
        return found

    def _detect_output_fields(self) -> None:
        self.field_list = [("octant", name) for name in self.snapshot.cell_fields]
        for kind, placed in self.particles.items():
            self.field_list += [(kind, name) for name in placed.columns]

    def _get_particle_type_counts(self) -> dict[str, int]:
        return {kind: len(placed.order) for kind, placed in self.particles.items()}


class Placed:
    """Particles of a kind, by grid.

    Attributes
    ----------
    order
        Numbers of the particles, those of the first grid first.
    first
        Where the particles of each grid begin in `order`, and the end.
    columns
        The column in the file, and the component of it, that a field of yt is.
    """

    def __init__(self, index: OctantIndex, kind: str) -> None:
        self.kind, self.snapshot = kind, index.snapshot
        self.group: h5py.Group = index.snapshot.file["particles"][kind]
        grid = index.grid_at(self.group["position"][...])
        self.order = np.argsort(grid, kind="stable")
        self.first = np.searchsorted(grid[self.order], np.arange(index.num_grids + 1))
        self.columns: dict[str, tuple[str, Any]] = {}
        for name in self.group:
            if name in VECTORS:
                parts = {f"particle_{name}_{a}": (name, n) for n, a in enumerate(AXES)}
                self.columns |= parts
            else:
                self.columns[INDEX if name == "id" else f"particle_{name}"] = name, ()

    def read(self, grids: list[OctantGrid], names: list[str]) -> dict[str, NDArray[np.float64]]:
        """Read fields of the particles in some grids."""
        parts = [self.order[self.first[g.id] : self.first[g.id + 1]] for g in grids]
        rows = np.concatenate(parts) if parts else self.order[:0]
        found: dict[str, NDArray[np.float64]] = {}
        if len(rows) == 0:
            return dict.fromkeys(names, np.empty(0))
        begin, end = rows.min(), rows.max() + 1
        for name in names:
            column, component = self.columns[name]
            values = self.group[column][begin:end]
            values = values[:, component] if component != () else values
            if name == INDEX:
                values = self.snapshot.unique_numbers(self.kind, values)
            found[name] = values[rows - begin].astype(float)
        return found

    def units(self, name: str) -> str:
        """Return the units of a field as the file gives them.

        A supercomoving time is a number: no interval of it has a length in seconds.
        """
        if name == BIRTH and self.snapshot.header.cosmology:
            return ""
        return str(self.group[self.columns[name][0]].attrs.get("units", ""))


class OctantFieldInfo(FieldInfoContainer):
    """Units and aliases of fields, from the attributes of the file."""

    def __init__(self, ds: OctantDataset, field_list: list[tuple[str, str]]) -> None:
        snapshot: Snapshot = ds.snapshot
        level = snapshot.levels[0]
        self.known_other_fields = tuple(
            (name, (code_units(str(level.dataset(name).attrs.get("units", ""))), [alias], None))
            for name in snapshot.cell_fields
            for alias in [ALIASES.get(name, name)]
        )
        self.known_particle_fields = tuple(
            {
                name: (name, (code_units(placed.units(name)), [], None))
                for placed in ds.index.particles.values()
                for name in placed.columns
            }.values()
        )
        super().__init__(ds, field_list)

    def setup_particle_fields(self, ptype: str, *arguments: Any, **named: Any) -> None:
        """Add the time of birth, counted as ``current_time`` is, and the age."""
        super().setup_particle_fields(ptype, *arguments, **named)
        header = self.ds.snapshot.header
        needed = {"birth_time": BIRTH}
        if header.cosmology:
            needed["birth_scale_factor"] = BIRTH_SCALE_FACTOR
        if not {(ptype, name) for name in needed.values()} <= set(self.field_list):
            return

        def creation_time(field: Any, data: Any) -> Any:
            columns = {name: data[ptype, of].d for name, of in needed.items()}
            return data.ds.arr(formation_times(columns, header), "s")

        def age(field: Any, data: Any) -> Any:
            return data.ds.current_time - data[ptype, "creation_time"]

        for function in (creation_time, age):
            self.add_field(
                (ptype, function.__name__),
                sampling_type="particle",
                function=function,
                units=self.ds.unit_system["time"],
            )

    def setup_fluid_fields(self) -> None:
        """Add the fields that the equation of state gives from pressure and density."""
        if not {("octant", "pressure"), ("octant", "density")} <= set(self.field_list):
            return
        self._add_derived("internal_energy", "specific_thermal_energy", "specific_energy")
        self._add_derived("sound_speed", "sound_speed", "velocity")
        header = self.ds.snapshot.header
        if not header.has_units:
            return
        if is_ionized(header):
            self._add_derived("molecular_weight", "mean_molecular_weight", "dimensionless")
        if knows_temperature(header):
            self._add_derived("temperature", "temperature", "temperature")
            return
        self._add_derived("temperature", "temperature_over_mu", "temperature")

        def temperature(field: Any, data: Any) -> Any:
            return data.ds.mu * data["gas", "temperature_over_mu"]

        self._add_gas_field(temperature, "temperature", "temperature")

    def _add_derived(self, source: str, name: str, dimension: str) -> None:
        """Add a derived field of octools under a name of yt; leave out what the file lacks."""
        snapshot: Snapshot = self.ds.snapshot
        try:
            field = find_field(snapshot, source)
        except OctoolsError:
            return
        stored = {need: code_units(snapshot.units_of(need)) for need in field.needs}
        units = "K" if field.units == "K" else code_units(field.units)

        def compute(_: Any, data: Any) -> Any:
            values = {need: data["octant", need].to(unit).d for need, unit in stored.items()}
            leaf = np.ones(values[field.needs[0]].shape, bool)
            batch = Batch(0, np.zeros((1, 3), np.int64), leaf, values)
            return data.ds.arr(field.compute(batch, snapshot.header), units)

        self._add_gas_field(compute, name, dimension)

    def _add_gas_field(self, function: Any, name: str, dimension: str) -> None:
        units = "" if dimension == "dimensionless" else self.ds.unit_system[dimension]
        self.add_field(("gas", name), sampling_type="cell", function=function, units=units)


def code_units(units: str) -> str:
    """Turn a text such as ``mass / length^3`` into units of yt; empty for those of others."""
    if factor(units, dict.fromkeys(CODE, 1.0)) is None or units == "1":
        return ""
    return re.sub(r"\b(?=length|mass|time)", "code_", in_python(units))


class OctantIOHandler(BaseIOHandler):
    """Reads fields of some grids."""

    _particle_reader = False
    _dataset_type = "octant"

    def io_iter(self, chunks: Any, fields: list[tuple[str, str]]) -> Iterator[Any]:
        """Read fields of cells, grid by grid, each of shape (i, j, k)."""
        names = [name for _, name in fields]
        for chunk in chunks:
            by_level: dict[int, list[OctantGrid]] = {}
            for grid in chunk.objs:
                by_level.setdefault(grid.Level, []).append(grid)
            for level, grids in by_level.items():
                source = self.ds.snapshot.levels[level]
                remaining = iter(grids)
                for part in read_boxes(source, [grid.box for grid in grids], names):
                    for box, grid in zip(part.boxes, remaining, strict=False):
                        for field, name in zip(fields, names, strict=True):
                            values = box.assemble(part.values[name], part.tiles)
                            yield field, grid, values.transpose()

    def _read_particle_coords(self, chunks: Any, ptf: dict[str, list[str]]) -> Iterator[Any]:
        for chunk in chunks:
            for kind in ptf:
                read = self.ds.index.particles[kind].read(list(chunk.objs), POSITIONS)
                yield kind, tuple(read[name] for name in POSITIONS), 0.0

    def _read_particle_fields(
        self, chunks: Any, ptf: dict[str, list[str]], selector: Any
    ) -> Iterator[Any]:
        for chunk in chunks:
            for kind, names in ptf.items():
                wanted = list({*POSITIONS, *names})
                read = self.ds.index.particles[kind].read(list(chunk.objs), wanted)
                mask = selector.select_points(*(read[name] for name in POSITIONS), 0.0)
                if mask is not None:
                    for name in names:
                        yield (kind, name), read[name][mask]


POSITIONS = [f"particle_position_{a}" for a in AXES]


class OctantDataset(Dataset):
    """Snapshot or checkpoint of an adaptive mesh."""

    _load_requirements = ("h5py",)
    _index_class = OctantIndex
    _field_info_class = OctantFieldInfo
    refine_by = 2

    def __init__(
        self,
        filename: str,
        dataset_type: str = "octant",
        units_override: Any = None,
        unit_system: str = "cgs",
        default_species_fields: Any = None,
    ) -> None:
        self.fluid_types += ("octant",)
        self.snapshot = Snapshot(Path(filename))
        super().__init__(
            filename,
            dataset_type,
            units_override=units_override,
            unit_system=unit_system,
            default_species_fields=default_species_fields,
        )
        # Temperatures are T / μ if neither the file nor the caller determines the molecular weight.
        self.mu = compute_mu(default_species_fields) if default_species_fields else 1.0

    def _set_code_unit_attributes(self) -> None:
        units = self.snapshot.header.units
        for name, cgs in zip(CODE, ("cm", "g", "s"), strict=True):
            if getattr(self, f"{name}_unit", None) is None:
                setattr(self, f"{name}_unit", self.quan(units[name], cgs))

    def _parse_parameter_file(self) -> None:
        header = self.snapshot.header
        attributes = self.snapshot.file["header"].attrs
        self.parameters.update(header.parameters)
        self.gamma = header.gamma
        self.dimensionality = 3
        self.domain_left_edge = header.lower
        self.domain_right_edge = header.upper
        self.domain_dimensions = header.base_cells
        self._periodicity = tuple(bool(p) for p in header.periodic)
        self.current_time = present_time(header) / header.units["time"]
        kinds = tuple(self.snapshot.particle_kinds)
        self.particle_types = self.particle_types_raw = kinds
        self.cosmological_simulation = int("redshift" in attributes)
        self.current_redshift = float(attributes.get("redshift", 0.0))
        self.omega_matter = float(attributes.get("omega_m", 0.0))
        self.omega_lambda = float(attributes.get("omega_lambda", 0.0))
        self.omega_radiation = float(attributes.get("omega_radiation", 0.0))
        self.hubble_constant = float(attributes.get("h", 0.0))

    @classmethod
    def _is_valid(cls, filename: str, *_: Any, **__: Any) -> bool:
        if not h5py.is_hdf5(filename):
            return False
        with h5py.File(filename) as file:
            header = file.get("header")
            return header is not None and "block_size" in header.attrs and "mesh/level_0" in file
