"""Fluid leaves through any side, with any diffusion."""

from pathlib import Path

import numpy as np
import pytest

from flows import DIFFUSIONS, Array, fields, largest_difference, lower_faces
from running import run_well

AXES = "xyz"
CELLS = (12, 10, 9)

# Fluid enters from below and meets a wall.
JET = """
model = "dns"
[problem]
name = "cavity"
[grid]
cells = [8, 8, 10]
[dns]
viscosity = 0.02
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["inflow", "wall"]
velocity_z_lower = [0.0, 0.0, 1.0]
[time]
end = 100.0
max_steps = 20
step = 0.01
"""

DEVELOPING = """
model = "dns"
[problem]
name = "cavity"
velocity = [1.0, 0.0, 0.0]
[grid]
size = [4.0, 1.0, 1.0]
[dns]
viscosity = 0.1
boundary_x = ["inflow", "outflow"]
velocity_x_lower = [1.0, 0.0, 0.0]
[time]
end = 3.0
"""


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


def with_lower_faces(path: Path) -> dict[str, Array]:
    """Read all fields; what left through a lower side comes before the upper faces."""
    found = fields(path)
    for name, faces in lower_faces(path).items():
        found[name] = np.concatenate([faces, found[name]], axis=2 - "uvw".index(name))
    return found


def mirrored(found: dict[str, Array], axis: int) -> dict[str, Array]:
    """Turn an axis round."""
    turned = {name: np.flip(values, axis=2 - axis) for name, values in found.items()}
    turned["uvw"[axis]] = -turned["uvw"[axis]]
    return turned


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
@pytest.mark.parametrize("axis", range(3))
def test_a_lower_outflow_is_the_mirror_image_of_an_upper_one(
    axis: int, diffusion: str, tmp_path: Path
) -> None:
    setting = f"dns.diffusion={diffusion}"
    upper = run_well(tmp_path / "upper", through_flow(axis, 1), setting)
    lower = run_well(tmp_path / "lower", through_flow(axis, 0), setting)
    found = fields(upper.last_snapshot)
    image = mirrored(with_lower_faces(lower.last_snapshot), axis)
    # The face where fluid enters is stored at an upper side alone.
    name = "uvw"[axis]
    image[name] = np.delete(image[name], 0, axis=2 - axis)
    assert largest_difference(found, image, "uvwp") < 1e-12
    assert np.abs(found[name]).max() > 1.1


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_a_jet_leaves_evenly_through_four_sides_that_meet_at_edges(
    diffusion: str, tmp_path: Path
) -> None:
    run = run_well(tmp_path / "run", JET, f"dns.diffusion={diffusion}")
    found = with_lower_faces(run.last_snapshot)
    for axis in (0, 1):
        assert largest_difference(found, mirrored(found, axis), "uvwp") < 1e-12, axis
    turned = {name: values.transpose(0, 2, 1) for name, values in found.items()}
    turned["u"], turned["v"] = turned["v"], turned["u"]
    assert largest_difference(found, turned, "uvwp") < 1e-12
    history = run.history()
    assert np.all(history["divergence"][1:] < 1e-12 * 8)
    # What enters along z, 1 through every cell, leaves through four sides of as many cells.
    through_a_side = found["u"][:, :, -1].sum() * 0.1 / 8
    assert through_a_side == pytest.approx(0.25, rel=1e-12)


def test_all_treatments_of_diffusion_agree_as_steps_become_short(tmp_path: Path) -> None:
    differences = []
    for steps in (20, 40):
        found = []
        for diffusion in DIFFUSIONS:
            run = run_well(
                tmp_path / f"{diffusion}_{steps}",
                through_flow(0, 0, viscosity=0.05),
                f"dns.diffusion={diffusion}",
                f"time.max_steps={steps}",
                f"time.step={0.2 / steps}",
            )
            found.append(with_lower_faces(run.last_snapshot))
        differences.append([largest_difference(found[0], other, "uvw") for other in found[1:]])
    coarse, fine = np.array(differences)
    assert np.all(fine < 2e-5)
    assert np.all(np.log2(coarse / fine) > 1.5)


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
@pytest.mark.parametrize("across", [1, 2])
def test_what_enters_evenly_between_plates_leaves_as_a_parabola(
    across: int, diffusion: str, tmp_path: Path
) -> None:
    cells, kinds = [32, 12, 12], {1: "free_slip", 2: "free_slip"} | {across: "wall"}
    cells[3 - across] = 2
    run = run_well(
        tmp_path / "run",
        DEVELOPING,
        f"dns.diffusion={diffusion}",
        f"grid.cells={cells}",
        *(f'dns.boundary_{AXES[axis]}=["{kind}", "{kind}"]' for axis, kind in kinds.items()),
    )
    u = np.take(fields(run.last_snapshot)["u"], 0, axis=across - 1)
    s = (np.arange(12) + 0.5) / 12
    # What the ghosts at the walls add makes the discrete parabola exact.
    exact = s * (1 - s) + 1 / 4 / 12**2
    exact /= exact.mean()
    assert u[:, -1] == pytest.approx(exact, abs=1e-6)
    # No trace of the boundary one channel height before it, where the same profile holds.
    assert u[:, -8] == pytest.approx(exact, abs=1e-4)
