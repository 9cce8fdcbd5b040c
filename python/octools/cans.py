"""The files of CaNS (https://github.com/CaNS-World/CaNS): its parameter file, and its fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from octools.errors import OctoolsError, reading
from octools.flow import COMPONENTS, FlowSnapshot
from octools.snapshot import AXES, Array

FIELDS = (*COMPONENTS, "p")
MAPPINGS = {1: "tanh", 2: "tanh_lower", 3: "tanh_upper"}
SIDES = ("lower", "upper")
# What is carried over, or follows from what is: conditions of the pressure from the velocity's.
KNOWN = {
    *("ng", "l", "gtype", "gr", "visci", "inivel", "is_wallturb", "nscal"),
    *("cfl", "dtmax", "dt_f", "nstep", "time_max", "tw_max", "stop_type"),
    *("cbcvel", "bcvel", "cbcpre", "bcpre", "bforce", "is_forced", "velf"),
    *("is_impdiff", "is_impdiff_1d", "is_poisson_dtdma"),
}


class Namelist:
    """The assignments of a Fortran namelist file; names are in lower case, values are lists."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path, "input.nml of CaNS"):
            text = path.read_text()
        text = re.sub(r"!.*", "", text)
        name = r"([A-Za-z_]\w*)\s*(\([^)]*\))?\s*=(?!=)"
        found = list(re.finditer(name, text))
        ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
        self.values: dict[str, list[Any]] = {}
        for match, end in zip(found, ends, strict=True):
            key = match[1].lower() + _last_index(match[2])
            self.values[key] = _values(text[match.end() : end])
        if "ng" not in self.values or "l" not in self.values:
            raise OctoolsError(f"{path} is no parameter file of CaNS: it sets no ng or no l")

    def get(self, name: str, default: list[Any]) -> list[Any]:
        """Return the values of a name, or the default where it is not set."""
        return self.values.get(name, default)

    def one(self, name: str, default: Any) -> Any:
        """Return the single value of a name."""
        return self.get(name, [default])[0]

    def unknown(self) -> list[str]:
        """Name what the file sets and the conversion does not look at."""
        return sorted({re.sub(r"_[123]$", "", name) for name in self.values} - KNOWN)


def _last_index(indices: str | None) -> str:
    """Tell the components of a tensor apart: ``(0:1,1:3,2)`` becomes ``_2``."""
    parts = (indices or "").strip("()").split(",")
    return f"_{parts[2].strip()}" if len(parts) == 3 else ""


def _values(text: str) -> list[Any]:
    tokens = re.findall(r"'[^']*'|\"[^\"]*\"|[^\s,/&]+", text.split("\n&")[0])
    values: list[Any] = []
    for token in tokens:
        if token[0] in "'\"":
            values.append(token[1:-1])
        elif re.fullmatch(r"\.?[tT](rue)?\.?|\.TRUE\.", token):
            values.append(True)
        elif re.fullmatch(r"\.?[fF](alse)?\.?|\.FALSE\.", token):
            values.append(False)
        elif re.fullmatch(r"[+-]?\d+", token):
            values.append(int(token))
        else:
            try:
                values.append(float(re.sub("[dD]", "e", token)))
            except ValueError:
                break  # the beginning of the next group
    return values


def convert(path: Path, output: Path, initial: Path | None = None) -> list[str]:
    """Write a parameter file of Octant that says what one of CaNS says.

    Parameters
    ----------
    path
        CaNS's ``input.nml``.
    output
        The TOML file to write.
    initial
        A folder with initial fields ``u_init.npy``, ..., each [i][j][k]; that of `path` where left
        out and it has some. They are written beside `output` as HDF5.

    Returns
    -------
    list
        Names that the file sets and that are not carried over, such as those of outputs.
    """
    source = Namelist(path)
    if int(source.one("nscal", 0)) > 0:
        raise OctoolsError(f"{path}: scalars (nscal) are not carried over; write [scalar] by hand")
    if initial is None and (path.parent / "u_init.npy").is_file():
        initial = path.parent
    tables = {
        "": {"model": "dns"},
        "grid": _grid(source),
        "dns": _flow(source),
        "time": _time(source),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    if initial is not None:
        fields = output.with_name(f"{output.stem}_initial.h5")
        _write_initial(initial, fields)
        tables["problem"] = {"name": "stored_flow", "path": str(fields.resolve())}
    else:
        tables["problem"] = _problem(source)
    if source.get("stop_type", [True, False, False])[2:] == [True]:
        tables["run"] = {"walltime": 3600.0 * float(source.one("tw_max", 0.0))}
    lines = [f"# From {path}, a parameter file of CaNS."]
    for name, table in tables.items():
        lines += ([f"\n[{name}]"] if name else []) + [f"{k} = {_toml(v)}" for k, v in table.items()]
    output.write_text("\n".join(lines) + "\n")
    return source.unknown()


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return repr(value)


def _grid(source: Namelist) -> dict[str, Any]:
    table: dict[str, Any] = {
        "cells": [int(n) for n in source.get("ng", [])],
        "size": [float(x) for x in source.get("l", [])],
    }
    factor = float(source.one("gr", 0.0))
    if factor != 0.0:
        kind = int(source.one("gtype", 1))
        if kind not in MAPPINGS:
            raise OctoolsError(
                f"{source.path}: gtype = {kind} has no counterpart; write the faces to a file and "
                'use grid.stretching = "file"'
            )
        table |= {"stretching": MAPPINGS[kind], "stretching_factor": factor}
    return table


def _flow(source: Namelist) -> dict[str, Any]:
    table: dict[str, Any] = {"viscosity": 1.0 / float(source.one("visci", 1.0))}
    if source.one("is_impdiff_1d", False):
        table["diffusion"] = "implicit_z"
    elif source.one("is_impdiff", False):
        table["diffusion"] = "implicit"
    if source.one("is_poisson_dtdma", False):
        table["poisson"] = "ptdma"
    for axis in range(3):
        sides = [_side(source, axis, end) for end in range(2)]
        table[f"boundary_{AXES[axis]}"] = [kind for kind, _ in sides]
        for end, (_, velocity) in enumerate(sides):
            if any(velocity):
                table[f"velocity_{AXES[axis]}_{SIDES[end]}"] = velocity
    return table | _forcing(source)


def _side(source: Namelist, axis: int, end: int) -> tuple[str, list[float]]:
    """Tell what a side of the domain is, and its velocity."""
    place = 2 * axis + end
    kinds = [source.get(f"cbcvel_{c}", ["P"] * 6)[place] for c in (1, 2, 3)]
    velocity = [float(source.get(f"bcvel_{c}", [0.0] * 6)[place]) for c in (1, 2, 3)]
    normal, tangential = kinds[axis], {kinds[c] for c in range(3) if c != axis}
    at_rest = not any(velocity)
    if normal == "P":
        return "periodic", [0.0] * 3
    if normal == "D" and tangential == {"D"}:
        return ("inflow" if velocity[axis] else "wall"), velocity
    if normal == "D" and tangential == {"N"} and at_rest:
        return "free_slip", [0.0] * 3
    if normal == "N" and tangential == {"N"} and at_rest:
        return "outflow", [0.0] * 3
    raise OctoolsError(
        f"{source.path}: the {SIDES[end]} side of {AXES[axis]} has the conditions "
        f"{', '.join(kinds)} for u, v, w, which have no counterpart"
    )


def _forcing(source: Namelist) -> dict[str, Any]:
    forced = [bool(f) for f in source.get("is_forced", [False] * 3)]
    force = [float(f) for f in source.get("bforce", [0.0] * 3)]
    if sum(forced) + sum(f != 0.0 for f in force) > 1 or forced[2] or force[2]:
        raise OctoolsError(f"{source.path}: a flow is forced along one axis, x or y")
    for axis in range(2):
        if forced[axis]:
            velocity = float(source.get("velf", [0.0] * 3)[axis])
            return {"forcing": "bulk_velocity", "forcing_axis": AXES[axis]} | {
                "bulk_velocity": velocity
            }
        if force[axis]:
            return {"forcing": "pressure_gradient", "forcing_axis": AXES[axis]} | {
                "pressure_gradient": force[axis]
            }
    return {}


def _time(source: Namelist) -> dict[str, Any]:
    by_step, by_time, *_ = [*source.get("stop_type", [True, False, False]), False, False]
    table: dict[str, Any] = {"end": float(source.one("time_max", 1e9)) if by_time else 1e9}
    if by_step:
        table["max_steps"] = int(source.one("nstep", 1))
    table["cfl"] = min(1.0, float(source.one("cfl", 0.8)))
    longest = float(source.one("dtmax", 0.0))
    if longest > 0.0:
        table["largest_step"] = longest
    fixed = float(source.one("dt_f", -1.0))
    if fixed > 0.0:
        table["step"] = fixed
    return table


def _problem(source: Namelist) -> dict[str, Any]:
    kind = str(source.one("inivel", "zer"))
    known = {
        "zer": {"name": "cavity"},
        "tgv": {"name": "taylor_green"},
        "poi": {"name": "channel"},
        "cou": {"name": "couette"},
    }
    if kind not in known:
        raise OctoolsError(
            f"{source.path}: inivel = '{kind}' has no counterpart; there are: "
            f"{', '.join(known)}, or give --initial"
        )
    table = dict(known[kind])
    if kind == "poi":
        table["bulk_velocity"] = float(source.get("velf", [1.0])[0])
        if not source.one("is_wallturb", False):
            table |= {"rolls": 0.0, "noise": 0.0}
    return table


def load(folder: Path, name: str, moment: str = "final") -> Array:
    """Read a field that was stored as [i][j][k], and give it as [k][j][i]."""
    path = folder / f"{name}_{moment}.npy"
    try:
        return np.ascontiguousarray(np.load(path).transpose(2, 1, 0))
    except (OSError, ValueError) as cause:
        raise OctoolsError(f"{path} is no field of CaNS: {cause}") from cause


def _write_initial(folder: Path, path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name in FIELDS:
            file[f"fields/{name}"] = load(folder, name, "init")


@dataclass(frozen=True)
class FieldDifference:
    """How far a field is from CaNS's: the greatest absolute difference, and where it is [k, j, i].

    The pressure has an arbitrary constant: means are taken off.
    """

    name: str
    largest: float
    where: tuple[int, int, int]
    scale: float


def is_cans_folder(path: Path) -> bool:
    """Tell whether a folder holds fields of CaNS."""
    return all((path / f"{name}_final.npy").is_file() for name in FIELDS)


def compare(snapshot: FlowSnapshot, folder: Path) -> list[FieldDifference]:
    """Compare a snapshot with the final fields in a folder.

    Raises
    ------
    OctoolsError
        If the grids differ, or the snapshot is of another step than the folder's history ends with.
    """
    steps = _last_step(folder)
    if steps is not None and steps != snapshot.step:
        raise OctoolsError(f"{snapshot.path} is of step {snapshot.step}, {folder} of step {steps}")
    differences = []
    for name in FIELDS:
        ours, theirs = snapshot.load(name), load(folder, name)
        if ours.shape != theirs.shape:
            raise OctoolsError(
                f"{snapshot.path} has {ours.shape} planes, rows and cells, {folder} {theirs.shape}"
            )
        if name == "p":
            ours, theirs = ours - ours.mean(), theirs - theirs.mean()
        difference = np.abs(ours - theirs)
        worst = int(difference.argmax())
        where = tuple(int(n) for n in np.unravel_index(worst, difference.shape))
        differences.append(
            FieldDifference(name, float(difference.flat[worst]), where, float(np.abs(theirs).max()))
        )
    return differences


def _last_step(folder: Path) -> int | None:
    path = folder / "history.csv"
    if not path.is_file():
        return None
    return int(path.read_text().strip().splitlines()[-1].split(",")[0])
