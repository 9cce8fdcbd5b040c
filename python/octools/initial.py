"""Initial conditions for ``problem.name = "file"``, from arrays of gas and particles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.files import EXCLUSIVELY
from octools.text import require_name

Array = NDArray[np.float64]
Vector = Sequence[float]

CODE_UNITS = ("length", "mass", "time")
MEANINGS = {
    "density": ("mass / length^3", "density"),
    "pressure": ("mass / (length time^2)", "pressure"),
    "temperature": ("K", "temperature divided by the mean molecular weight"),
    "velocity_x": ("length / time", "velocity along x"),
    "velocity_y": ("length / time", "velocity along y"),
    "velocity_z": ("length / time", "velocity along z"),
    "position": ("length", "position"),
    "velocity": ("length / time", "velocity"),
    "mass": ("mass", "mass of the particle"),
}
POSITIVE = ("density", "pressure", "temperature", "mass")


@dataclass(frozen=True)
class Grid:
    """Gas on a uniform grid that fills a box.

    Attributes
    ----------
    fields
        Fields by name, as arrays of shape (n_z, n_y, n_x) or numbers: ``density``; ``velocity``
        (three components) or ``velocity_x``, ``velocity_y``, ``velocity_z``, with default 0;
        ``pressure``, or ``temperature`` divided by the mean molecular weight in kelvin; and mass
        fractions of the scalars of the run.
    lower, upper
        Corners of the box in code length; by default those of the domain.
    """

    fields: Mapping[str, Any]
    lower: Vector | None = None
    upper: Vector | None = None


def write_initial(
    path: str | os.PathLike[str],
    gas: Mapping[str, Any] | Grid | Sequence[Grid] | None = None,
    *,
    particles: Mapping[str, Mapping[str, Any]] | None = None,
    lower: Vector = (0.0, 0.0, 0.0),
    upper: Vector = (1.0, 1.0, 1.0),
    units: Mapping[str, float] | None = None,
    scale_factor: float | None = None,
) -> Path:
    """Write initial conditions for a run with ``problem.name = "file"``.

    Parameters
    ----------
    path
        Path of the file, which must not exist.
    gas
        Fields of one grid that fills the domain (a dictionary, or the result of `numpy.load` for
        an .npz file); or a list of `Grid` from coarse to fine, each consisting of whole cells of
        the previous one.
    particles
        Particles by type (``"dark"``, ``"stars"``): ``position`` and ``velocity`` of shape
        (particles, 3), ``mass`` of shape (particles,) or one number, and further columns of the
        type. Ids are assigned in the order of rows.
    lower, upper
        Corners of the domain: mesh.lower and mesh.upper of the run.
    units
        Values of ``length``, ``mass`` and ``time`` of the given numbers in cgs; by default,
        numbers are in the code units of the run.
    scale_factor
        Initial scale factor of a cosmological run.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    OctoolsError
        If the file exists or arrays are invalid. Nothing is written in this case.
    """
    path = Path(path)
    if path.exists():
        raise OctoolsError(f"{path} already exists; remove it or choose another name")
    grids = [] if gas is None else _grids(gas, lower, upper)
    kinds = {name: _particles(name, columns) for name, columns in (particles or {}).items()}
    if not grids and not kinds:
        raise OctoolsError("write_initial: expected gas, particles or both")

    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, EXCLUSIVELY, 0o666))
    try:
        with h5py.File(part, "w") as file:
            _write_header(file, lower, upper, units, scale_factor)
            for level, grid in enumerate(grids):
                group = file.create_group(f"gas/level_{level}")
                group.attrs["lower"] = np.asarray(grid.lower, dtype=np.float64)
                group.attrs["upper"] = np.asarray(grid.upper, dtype=np.float64)
                _write_arrays(group, grid.fields)
            for name, columns in kinds.items():
                _write_arrays(file.create_group(f"particles/{name}"), columns)
        # Fails if the file has been created meanwhile.
        os.link(part, path, follow_symlinks=False)
    except FileExistsError:
        raise OctoolsError(f"{path} already exists; remove it or choose another name") from None
    finally:
        part.unlink(missing_ok=True)
    return path


def _write_header(
    file: h5py.File,
    lower: Vector,
    upper: Vector,
    units: Mapping[str, float] | None,
    scale_factor: float | None,
) -> None:
    header = file.create_group("header")
    header.attrs["kind"] = "initial"
    header.attrs["format_version"] = 1
    header.attrs["lower"] = np.asarray(lower, dtype=np.float64)
    header.attrs["upper"] = np.asarray(upper, dtype=np.float64)
    if units is not None:
        if sorted(units) != sorted(CODE_UNITS):
            raise OctoolsError(f"units: expected length, mass and time, found {', '.join(units)}")
        for name in CODE_UNITS:
            header.attrs[f"unit_{name}"] = float(units[name])
    if scale_factor is not None:
        header.attrs["scale_factor"] = float(scale_factor)


def _write_arrays(group: h5py.Group, arrays: Mapping[str, Array]) -> None:
    for name, values in arrays.items():
        dataset = group.create_dataset(name, data=values)
        unit, description = MEANINGS.get(name, ("1", name.replace("_", " ")))
        dataset.attrs["units"] = unit
        dataset.attrs["description"] = description


def _grids(gas: Any, lower: Vector, upper: Vector) -> list[Grid]:
    if isinstance(gas, Mapping):
        gas = Grid(gas)
    grids = [gas] if isinstance(gas, Grid) else list(gas)
    return [
        Grid(
            _fields(grid.fields, f"level {level}"),
            lower if grid.lower is None else grid.lower,
            upper if grid.upper is None else grid.upper,
        )
        for level, grid in enumerate(grids)
    ]


def _fields(given: Mapping[str, Any], where: str) -> dict[str, Array]:
    fields = _named(given, where)
    if "density" not in fields or ("pressure" in fields) == ("temperature" in fields):
        raise OctoolsError(f"{where}: expected density, and pressure or temperature")
    shape = np.shape(fields["density"])
    if len(shape) != 3:
        raise OctoolsError(f"{where}: density has shape {shape}; expected [k][j][i]")
    if "velocity" in fields:
        velocity = fields.pop("velocity")
        if len(velocity) != 3:
            raise OctoolsError(f"{where}: velocity has {len(velocity)} components instead of 3")
        components = {f"velocity_{axis}": velocity[n] for n, axis in enumerate("xyz")}
        twice = sorted(components.keys() & fields.keys())
        if twice:
            raise OctoolsError(
                f"{where}: velocity and {twice[0]} are both given; expected only one of the two"
            )
        fields |= components
    fields = {f"velocity_{axis}": 0.0 for axis in "xyz"} | fields
    return {name: _checked(where, name, values, shape) for name, values in fields.items()}


def _particles(kind: str, given: Mapping[str, Any]) -> dict[str, Array]:
    require_name(kind, "kind of particles")
    columns = {"velocity": 0.0} | _named(given, kind)
    missing = {"position", "mass"} - set(columns)
    if missing:
        raise OctoolsError(f"{kind}: expected {', '.join(sorted(missing))}")
    count = len(columns["position"])
    return {
        name: _checked(
            kind, name, values, (count, 3) if name in ("position", "velocity") else (count,)
        )
        for name, values in columns.items()
    }


def _named(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the arrays of a grid or kind, whose names must be names of datasets."""
    return {require_name(name, f"{where}: field"): values for name, values in given.items()}


def _checked(where: str, name: str, values: Any, shape: tuple[int, ...]) -> Array:
    """Return values as an array of this shape; raise an error for non-finite or invalid numbers."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(shape, array)
    if array.shape != shape:
        raise OctoolsError(f"{where}: {name} has shape {array.shape}; expected {shape}")
    bad = ~np.isfinite(array)
    if name in POSITIVE:
        bad |= ~(array > 0.0)
    if bad.any():
        place = tuple(int(n) for n in np.argwhere(bad)[0])
        expected = "a positive number" if name in POSITIVE else "a finite number"
        raise OctoolsError(f"{where}: {name} is {array[place]} at {place}; expected {expected}")
    return np.ascontiguousarray(array)
