"""Walls that are heated or moved suddenly: their fluxes settle at once, with implicit diffusion."""

import math
from pathlib import Path

import numpy as np
import pytest

from flows import SMALL_CHANNEL, differing_fields, fields
from running import CHECKPOINT_EVERY_STEP, run_well

AXES = "xyz"
WALLS, PERIODIC = '["wall", "wall"]', '["periodic", "periodic"]'
DIFFUSIVITY, HOT, SPEED = 0.7, 2.0, 1.5


def heated_and_moved(axis: int, end: int, diffusion: str, **change: float) -> str:
    """Heat and move a wall of a fluid at rest along an axis, with cells that are small there."""
    side = ("lower", "upper")[end]
    values, sliding = [0.0, 0.0], [0.0, 0.0, 0.0]
    values[end] = change.get("hot", HOT)
    sliding[(axis + 1) % 3] = change.get("speed", SPEED)
    cells, size = [4, 4, 4], [1.0, 1.0, 1.0]
    cells[axis], size[axis] = 48, 3.0
    boundaries = "\n".join(
        f"boundary_{name} = {(WALLS if n == axis else PERIODIC)}" for n, name in enumerate(AXES)
    )
    stretching = f"tanh_{side}" if axis == 2 else "uniform"
    return f"""
model = "dns"
[problem]
name = "expression"
scalar = "0"
[grid]
cells = {cells}
size = {size}
stretching = "{stretching}"
stretching_factor = 3.0
[dns]
viscosity = {DIFFUSIVITY}
diffusion = "{diffusion}"
{boundaries}
velocity_{AXES[axis]}_{side} = {sliding}
[scalar]
enabled = true
diffusivity = {DIFFUSIVITY}
values_{AXES[axis]} = {values}
[time]
end = 10.0
max_steps = 10
step = 0.02
[output]
snapshot_times = []
"""


@pytest.mark.parametrize("schedule", ["planes", "batches"])
@pytest.mark.parametrize("diffusion", ["implicit_z", "implicit"])
@pytest.mark.parametrize("end", [0, 1])
def test_fluxes_at_a_wall_along_z_are_exact_after_ten_steps(
    tmp_path: Path, end: int, diffusion: str, schedule: str
) -> None:
    """Into a fluid that reaches far, a wall's flux is a jump times (nu / (pi t))^(1/2)."""
    flow = heated_and_moved(2, end, diffusion)
    history = run_well(tmp_path / "run", flow, f"dns.schedule={schedule}").history()
    side, sign = ("lower", "upper")[end], 1.0 if end == 0 else -1.0
    flux = math.sqrt(DIFFUSIVITY / (math.pi * history["time"][-1]))
    assert sign * history[f"scalar_flux_{side}"][-1] == pytest.approx(HOT * flux, rel=0.01)
    assert -sign * history[f"wall_shear_{side}"][-1] == pytest.approx(SPEED * flux, rel=0.01)
    # It falls steadily from the second step on.
    assert (np.diff(np.abs(history[f"scalar_flux_{side}"][1:])) < 0.0).all()
    assert (np.diff(np.abs(history[f"wall_shear_{side}"][1:])) < 0.0).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_profiles_beside_a_wall_along_x_or_y_are_exact(tmp_path: Path, axis: int) -> None:
    """Cells of even size: 0.06 from the wall the fluid has 0.9 of the wall's value."""
    flow = heated_and_moved(axis, 0, "implicit").replace("step = 0.02", "step = 0.1")
    found = fields(run_well(tmp_path / "run", flow).last_snapshot)
    place = (np.arange(48) + 0.5) * 3.0 / 48
    # The other wall, at which both vanish, is an image.
    width = 2.0 * math.sqrt(DIFFUSIVITY * 1.0)
    waves = [math.erfc(x / width) - math.erfc((6.0 - x) / width) for x in place]
    images = [math.erfc((6.0 + x) / width) for x in place]
    profile = np.array(waves) + np.array(images)
    sliding = "uvw"[(axis + 1) % 3]
    line = tuple(slice(None) if 2 - n == axis else 1 for n in range(3))
    assert np.abs(found["t"][line] / HOT - profile).max() < 3e-3
    assert np.abs(found[sliding][line] / SPEED - profile).max() < 3e-3


def test_a_start_that_is_not_sudden_takes_ordinary_steps(tmp_path: Path) -> None:
    noisy = run_well(
        tmp_path / "noisy", SMALL_CHANNEL, "dns.diffusion=implicit_z", "time.max_steps=1"
    )
    assert "backward Euler" not in noisy.text
    at_rest = heated_and_moved(2, 0, "implicit", hot=0.0, speed=0.0)
    assert "backward Euler" not in run_well(tmp_path / "rest", at_rest, "time.max_steps=1").text
    sudden = heated_and_moved(2, 0, "implicit", speed=0.0)
    assert "backward Euler" in run_well(tmp_path / "heated", sudden, "time.max_steps=1").text


def test_the_start_goes_on_after_a_restart_and_on_more_ranks(tmp_path: Path) -> None:
    flow = heated_and_moved(2, 0, "implicit_z")
    how = (*CHECKPOINT_EVERY_STEP, "time.max_steps=5")
    whole = run_well(tmp_path / "whole", flow, *how)
    # The second step is damped as well, the third one is not.
    for step in (1, 2):
        checkpoint = whole.directory / f"checkpoint_{step:05d}.h5"
        rest = run_well(tmp_path / f"after_{step}", flow, *how, restart=checkpoint)
        assert differing_fields(rest.last_snapshot, whole.last_snapshot) == []
    ranks = run_well(tmp_path / "ranks", flow, *how, ranks=2)
    assert differing_fields(ranks.last_snapshot, whole.last_snapshot) == []


def test_short_steps_need_no_damping(tmp_path: Path) -> None:
    flow = heated_and_moved(0, 0, "implicit")
    assert "backward Euler" not in run_well(tmp_path / "run", flow, "time.step=1e-3").text


def test_a_plug_flow_between_walls_keeps_its_mean(tmp_path: Path) -> None:
    """The fluid moves evenly at first, so that the friction of its walls has no bound."""
    flow = SMALL_CHANNEL.replace(
        'name = "channel"\nrolls = 0.2\nnoise = 0.2',
        'name = "expression"\nvelocity = ["1", "0", "0"]',
    )
    outcome = run_well(
        tmp_path / "run",
        flow,
        "dns.diffusion=implicit_z",
        "dns.viscosity=0.1",
        "grid.cells=[8, 8, 64]",
    )
    fine = run_well(
        tmp_path / "fine",
        flow,
        "dns.diffusion=implicit_z",
        "dns.viscosity=0.1",
        "grid.cells=[8, 8, 64]",
        "time.step=0.001",
        "time.max_steps=120",
    )
    assert "backward Euler" in outcome.text
    history, exact = outcome.history(), fine.history()
    assert history["mean_u"][-1] == pytest.approx(1.0, rel=1e-3)
    for name in ("force", "wall_shear_lower"):
        assert history[name][-1] == pytest.approx(exact[name][-1], rel=0.03), name
