"""Fluid leaves through any side, with any diffusion."""

from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pytest

from flows import DIFFUSIONS, Array, differing_fields, fields, largest_difference
from running import Outcome, run_well

AXES = "xyz"
CELLS = (12, 10, 9)


def through_flow(axis: int, outflow: int, viscosity: float = 0.02) -> str:
    """Let fluid enter at one end of an axis, and leave at the other, past walls that slide."""
    side, way = ("lower", "upper")[1 - outflow], 1.0 if outflow == 1 else -1.0
    entering = np.roll([way, 0.2, 0.1], axis)
    kinds = ["inflow", "outflow"] if outflow == 1 else ["outflow", "inflow"]
    beside, last = (axis + 1) % 3, (axis + 2) % 3
    sliding = np.roll([0.3 * way, 0.0, 0.4], axis)
    return f"""
model = "dns"
[problem]
name = "cavity"
velocity = {np.roll([way, 0.0, 0.0], axis).tolist()}
[grid]
cells = {np.roll(CELLS, axis).tolist()}
size = {np.roll([2.0, 1.0, 1.0], axis).tolist()}
stretching = "tanh"
stretching_factor = 1.0
[dns]
viscosity = {viscosity}
boundary_{AXES[axis]} = {kinds}
velocity_{AXES[axis]}_{side} = {entering.tolist()}
boundary_{AXES[beside]} = ["wall", "wall"]
velocity_{AXES[beside]}_upper = {sliding.tolist()}
boundary_{AXES[last]} = ["free_slip", "wall"]
[time]
end = 100.0
max_steps = 20
step = 0.01
""".replace("'", '"')


def whole_velocity(path: Path, axis: int, kept: bool) -> dict[str, Array]:
    """Read all fields, with the faces of the lower side along an axis where the file has them."""
    found = fields(path)
    if kept:
        name = "uvw"[axis]
        with h5py.File(path) as file:
            lower = file["lower_faces"][name][...]
        found[name] = np.concatenate([lower, found[name]], axis=2 - axis)
    return found


def mirrored(found: dict[str, Array], axis: int) -> dict[str, Array]:
    """Turn an axis round."""
    turned = {name: np.flip(values, axis=2 - axis) for name, values in found.items()}
    turned["uvw"[axis]] = -turned["uvw"[axis]]
    return turned


def upper_faces(found: dict[str, Array], axis: int) -> dict[str, Array]:
    """Leave out the first faces along an axis."""
    name = "uvw"[axis]
    return found | {name: np.delete(found[name], 0, axis=2 - axis)}


@pytest.mark.parametrize(("axis", "diffusion"), product(range(3), DIFFUSIONS))
def test_a_lower_outflow_is_the_mirror_image_of_an_upper_one(
    axis: int, diffusion: str, tmp_path: Path
) -> None:
    setting = f"dns.diffusion={diffusion}"
    upper = run_well(tmp_path / "upper", through_flow(axis, 1), setting)
    lower = run_well(tmp_path / "lower", through_flow(axis, 0), setting)
    image = mirrored(whole_velocity(lower.last_snapshot, axis, kept=True), axis)
    found = fields(upper.last_snapshot)
    name = "uvw"[axis]
    image[name] = np.take(image[name], range(CELLS[0]), axis=2 - axis)
    print(axis, diffusion, [largest_difference(found, image, n) for n in "uvwp"], [np.abs(found[n]).max() for n in "uvwp"])
    print(upper.history()["divergence"][-3:], lower.history()["divergence"][-3:])
