"""Mirrors, turns and translates the state and the parameters of an incompressible run.

`problem.name = "stored_flow"` reads the fields. Axis z is that of the stretching and of buoyancy:
only x and y can be exchanged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from flows import fields, lower_faces
from running import Array

AXES = "xyz"
COMPONENTS = "uvw"
# An array [k][j][i] counts the axis d by its axis 2 - d.
MIRRORED_STRETCHING = {"tanh_lower": "tanh_upper", "tanh_upper": "tanh_lower"}


@dataclass(frozen=True)
class FlowMotion:
    """A mapping of the domain onto itself, or onto one whose x and y are exchanged.

    Attributes
    ----------
    exchanged
        Whether x and y are exchanged.
    mirrored
        The axis that is mirrored at the middle of the domain, if any.
    cells
        By how many cells the state moves along x, y and z.
    """

    exchanged: bool = False
    mirrored: int | None = None
    cells: tuple[int, int, int] = (0, 0, 0)

    def axis(self, axis: int) -> int:
        """Give the new axis of an old one."""
        return 1 - axis if self.exchanged and axis < 2 else axis

    def vector(self, values: list[float]) -> list[float]:
        """Map the components of a vector."""
        result = [values[self.axis(d)] for d in range(3)]
        if self.mirrored is not None:
            result[self.mirrored] = -result[self.mirrored]
        return result

    def array(self, values: Array) -> Array:
        """Map a field that is stored at the centres of cells."""
        if self.exchanged:
            values = values.transpose(0, 2, 1)
        if self.mirrored is not None:
            values = np.flip(values, 2 - self.mirrored)
        return np.roll(values, self.cells[::-1], (0, 1, 2))


def lower_side(path: Path, parameters: Mapping[str, Any], axis: int, upper: Array) -> Array:
    """Give the velocity across the lower side of an axis, of one cell's thickness."""
    kind = parameters["dns"][f"boundary_{AXES[axis]}"][0]
    last = upper.take([-1], axis=2 - axis)
    if kind == "periodic":
        return last
    if kind == "outflow":
        return lower_faces(path)[COMPONENTS[axis]]
    return np.full_like(last, parameters["dns"][f"velocity_{AXES[axis]}_lower"][axis])


def moved_flow(path: Path, parameters: Mapping[str, Any], motion: FlowMotion) -> dict[str, Array]:
    """Map the fields of a snapshot; `lower/u` and so on are the velocities on lower sides."""
    stored, result = fields(path), {}
    for name, values in stored.items():
        if name not in COMPONENTS:
            result[name] = motion.array(values)
            continue
        axis = COMPONENTS.index(name)
        new = motion.axis(axis)
        faces = np.concatenate([lower_side(path, parameters, axis, values), values], 2 - axis)
        if motion.exchanged:
            faces = faces.transpose(0, 2, 1)
        if motion.mirrored is not None:
            faces = np.flip(faces, 2 - motion.mirrored)
            if motion.mirrored == new:
                faces = -faces
        lower, upper = np.split(faces, [1], axis=2 - new)
        result[COMPONENTS[new]] = np.roll(upper, motion.cells[::-1], (0, 1, 2))
        result[f"lower/{COMPONENTS[new]}"] = lower
    return result


def write_flow(path: Path, flow: Mapping[str, Array], parameters: Mapping[str, Any]) -> None:
    """Write a file for `problem.name = "stored_flow"`."""
    with h5py.File(path, "w") as file:
        for name, values in flow.items():
            if not name.startswith("lower/"):
                file[f"fields/{name}"] = values
            else:
                axis = COMPONENTS.index(name[-1])
                if parameters["dns"][f"boundary_{AXES[axis]}"][0] == "outflow":
                    file[f"lower_faces/{name[-1]}"] = values


def moved_flow_parameters(parameters: Mapping[str, Any], motion: FlowMotion) -> dict[str, Any]:
    """Map all parameters that have directions."""
    result = {s: dict(v) if isinstance(v, dict) else v for s, v in parameters.items()}
    grid, dns, scalar = result["grid"], result["dns"], result["scalar"]
    for key in ("cells", "size"):
        grid[key] = [parameters["grid"][key][motion.axis(d)] for d in range(3)]
    for axis in range(3):
        new, turned = AXES[motion.axis(axis)], motion.mirrored == motion.axis(axis)
        for section, key in (("dns", "boundary"), ("scalar", "boundary"), ("scalar", "values")):
            sides = parameters[section][f"{key}_{AXES[axis]}"]
            result[section][f"{key}_{new}"] = sides[::-1] if turned else sides
        for side, other in (("lower", "upper"), ("upper", "lower")):
            velocity = parameters["dns"][f"velocity_{AXES[axis]}_{side}"]
            dns[f"velocity_{new}_{other if turned else side}"] = motion.vector(velocity)
    forced = motion.axis(AXES.index(dns["forcing_axis"]))
    dns["forcing_axis"] = AXES[forced]
    if motion.mirrored == forced:
        dns["pressure_gradient"] *= -1.0
        dns["bulk_velocity"] *= -1.0
    if motion.mirrored == 2:
        scalar["buoyancy"] *= -1.0
        grid["stretching"] = MIRRORED_STRETCHING.get(grid["stretching"], grid["stretching"])
    return result


def compared_flows(
    path: Path, reference: Path, parameters: Mapping[str, Any], motion: FlowMotion
) -> dict[str, float]:
    """Compare a flow with the mapped reference: largest differences over the scales of fields."""
    found, expected = fields(path), moved_flow(reference, parameters, motion)
    speed = max(np.abs(expected[name]).max() for name in COMPONENTS)
    result = {}
    for name, values in found.items():
        other = expected[name]
        scale = speed
        if name == "p":
            values, other = values - values.mean(), other - other.mean()
            scale = max(np.abs(other).max(), speed**2)
        if name == "t":
            scale = np.abs(other).max()
        difference = np.abs(values - other).max()
        result[name] = float(difference / scale) if difference else 0.0
    return result
