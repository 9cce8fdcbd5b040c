"""Reader of snapshots of model "dns": fields on one staggered grid."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from octools.errors import OctoolsError, reading, unknown_name
from octools.gradients import GRADIENTS, from_gradient
from octools.snapshot import AXES, Array, read_plane

COMPONENTS = ("u", "v", "w")
DERIVED = ("speed", *GRADIENTS)
SCALAR = "scalar"  # of parameters, for the field that files call t


@dataclass(frozen=True)
class FlowSnapshot:
    """Snapshot or checkpoint of an incompressible flow.

    Attributes
    ----------
    path
        The file.
    time, step
        Time in code units, and number of the step.
    viscosity
        Kinematic viscosity.
    size
        Edge lengths of the domain, shape (3,).
    centres, faces
        Coordinates of the cell centres and of the upper faces along x, y and z, each of shape
        (cells,).
    parameters
        The run's resolved parameters, as nested tables.
    plane
        Axis and position of a slice, which is one cell thick; None of all other files.
    """

    path: Path
    time: float
    step: int
    viscosity: float
    size: Array
    centres: tuple[Array, Array, Array]
    faces: tuple[Array, Array, Array]
    parameters: dict[str, Any] = field(repr=False)
    plane: tuple[int, float] | None = None

    @classmethod
    def read(cls, path: Path, may_be_slice: bool = False) -> FlowSnapshot:
        """Read metadata and grid; fields are read by `load`.

        Raises
        ------
        OctoolsError
            If the file is no snapshot of a flow, or a slice of one where that will not do.
        """
        with _opened(path) as file:
            header, grid = file["header"].attrs, file["grid"]
            if read_plane(header) is not None and not may_be_slice:
                raise OctoolsError(
                    f"{path} is a slice, which can only be used with plot and movie; "
                    "use a snapshot instead"
                )
            return cls(
                path,
                float(header["time"]),
                int(header["step"]),
                float(header["viscosity"]),
                np.asarray(header["box_size"], dtype=float),
                tuple(grid[a][...] for a in AXES),
                tuple(grid[f"{a}_face"][...] for a in AXES),
                tomllib.loads(_text(header["parameters"])),
                read_plane(header),
            )

    def fields(self) -> list[str]:
        """Names of the stored fields."""
        with _opened(self.path) as file:
            return sorted(file["fields"])

    def load(self, name: str) -> Array:
        """Read a field at its own grid points, shape (n_z, n_y, n_x); "scalar" is t."""
        with _opened(self.path) as file:
            name = stored_name(name, file["fields"])
            if name not in file["fields"]:
                raise unknown_name("field", name, file["fields"], str(self.path))
            return np.asarray(file["fields"][name][...], dtype=float)

    def units_of(self, name: str) -> str:
        """Return the text of a stored field's ``units`` attribute; empty where there is none."""
        with _opened(self.path) as file:
            name = stored_name(name, file["fields"])
            return _text(file["fields"][name].attrs.get("units", ""))

    def section(self, name: str) -> dict[str, Any]:
        """Return a section of the parameters; empty if there is none."""
        return dict(self.parameters.get(name, {}))

    @property
    def is_channel(self) -> bool:
        """Return whether the flow is a channel: walls at rest below and above."""
        flow = self.section("dns")
        at_rest = not any(any(flow.get(f"velocity_z_{side}", [])) for side in ("lower", "upper"))
        return list(flow.get("boundary_z", ["wall", "wall"])) == ["wall", "wall"] and at_rest

    def at_centres(self, name: str) -> Array:
        """Return a stored or derived field at cell centres, shape (n_z, n_y, n_x)."""
        if name in GRADIENTS:
            return self._of_gradients(name)
        if name == "speed":
            return np.sqrt(sum(self.at_centres(c) ** 2 for c in COMPONENTS))
        values = self.load(name)
        if name not in COMPONENTS:
            return values
        component = COMPONENTS.index(name)
        if self.plane is not None and self.plane[0] == component:
            return values  # on the upper faces, half a cell away: a slice has no others
        axis = 2 - component
        below = np.roll(values, 1, axis=axis)
        below[(slice(None),) * axis + (0,)] = self._lower_face(component, values, axis)
        return 0.5 * (values + below)

    def _of_gradients(self, name: str) -> Array:
        """Derive a field from g[i][j], the derivative of component i along axis j."""
        g = [[self._gradient(c, axis) for axis in range(3)] for c in range(3)]
        return from_gradient(name, g)

    def _gradient(self, component: int, axis: int) -> Array:
        """Differentiate a velocity at the centres.

        Along its own axis across the cell, as mass is conserved there; else between the
        neighbours' centres, and one-sided beside walls.
        """
        along = 2 - axis
        edges = np.concatenate([[self.faces[axis][0] - self._first_width(axis)], self.faces[axis]])
        shape = [1, 1, 1]
        shape[along] = -1
        if component == axis:
            values = self.load(COMPONENTS[component])
            below = np.roll(values, 1, axis=along)
            below[(slice(None),) * along + (0,)] = self._lower_face(component, values, along)
            return (values - below) / np.diff(edges).reshape(shape)
        values, places = self.at_centres(COMPONENTS[component]), self.centres[axis]
        if values.shape[along] < 2:
            return np.zeros_like(values)
        if self.section("dns").get(f"boundary_{AXES[axis]}", ["periodic"])[0] != "periodic":
            return np.gradient(values, places, axis=along)
        size = self.size[axis]
        ends = [np.take(values, [n], axis=along) for n in (-1, 0)]
        wide = np.concatenate([ends[0], values, ends[1]], axis=along)
        wide_places = np.concatenate([[places[-1] - size], places, [places[0] + size]])
        inner = [slice(None)] * 3
        inner[along] = slice(1, -1)
        return np.gradient(wide, wide_places, axis=along)[tuple(inner)]

    def _first_width(self, axis: int) -> float:
        """Width of the first cell: its centre is half-way between its faces."""
        return float(2 * (self.faces[axis][0] - self.centres[axis][0]))

    def _lower_face(self, component: int, values: Array, axis: int) -> Array | float:
        """Return a normal velocity on the lower side of its axis."""
        flow = self.section("dns")
        kind = flow.get(f"boundary_{AXES[component]}", ["periodic"])[0]
        if kind == "outflow":
            with _opened(self.path) as file:
                faces = np.asarray(file["lower_faces"][COMPONENTS[component]][...], dtype=float)
            return np.take(faces, 0, axis=axis)
        if kind == "periodic":
            return np.take(values, -1, axis=axis)
        return float(flow.get(f"velocity_{AXES[component]}_lower", [0.0] * 3)[component])


def stored_name(name: str, fields: Container[str]) -> str:
    """Return the name of a field in files: the scalar, as parameters call it, is ``t`` there."""
    return "t" if name == SCALAR and "t" in fields else name


def is_flow(path: Path) -> bool:
    """Return true if a file is a snapshot of model "dns"."""
    try:
        with h5py.File(path) as file:
            return "header" in file and _text(file["header"].attrs.get("model", "")) == "dns"
    except (KeyError, OSError, RuntimeError, ValueError):
        return False


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    with reading(path, "snapshot of a flow"), h5py.File(path) as file:
        yield file


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
