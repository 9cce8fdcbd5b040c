"""Body forces by expressions against flows that they make exactly, and the same bits everywhere."""

import math
from pathlib import Path

import numpy as np
import pytest

from flows import DIFFUSIONS, fields
from refusals import assert_refused
from running import run, run_well

# u = sin(pi z) cos(4 t) between walls, and what it takes to have it so.
SWINGING = """
model = "dns"
[problem]
name = "expression"
velocity = ["sin(pi*z)", "0", "0"]
[grid]
cells = [4, 4, 16]
stretching = "tanh"
[dns]
viscosity = 0.1
[sources]
acceleration = ["sin(pi*z)*(friction*cos(4*t) - 4*sin(4*t))", "0", "0"]
constants = {friction = "viscosity*pi^2"}
[time]
end = 0.5
step = 0.01
"""


def error_between_walls(directory: Path, *settings: str) -> float:
    outcome = run_well(directory, SWINGING, *settings)
    found = fields(outcome.last_snapshot)
    assert np.abs(found["v"]).max() < 1e-14
    assert np.abs(found["w"]).max() < 1e-14
    faces = np.linspace(-1.0, 1.0, found["u"].shape[0] + 1)
    z = 0.5 + 0.5 * np.tanh(faces) / math.tanh(1.0)
    centre = 0.5 * (z[1:] + z[:-1])
    exact = np.sin(math.pi * centre) * math.cos(4 * 0.5)
    return float(np.abs(found["u"] - exact[:, None, None]).max())


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_a_swinging_flow_between_walls_is_second_order(diffusion: str, tmp_path: Path) -> None:
    steps = {16: 0.004, 32: 0.001} if diffusion == "explicit" else {16: 0.02, 32: 0.01}
    coarse, fine = (
        error_between_walls(
            tmp_path / str(cells),
            f"dns.diffusion={diffusion}",
            f"grid.cells=[4, 4, {cells}]",
            f"time.step={step}",
        )
        for cells, step in steps.items()
    )
    assert coarse < 5e-3
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.25)


# Vortices that swell and shrink at a place of their own: f(t) (sin x cos y, -cos x sin y, 0), whose
# advection is a gradient.
SWELLING = """
model = "dns"
[problem]
name = "expression"
velocity = ["sin(x)*cos(y)", "-cos(x)*sin(y)", "0"]
[grid]
size = [6.283185307179586, 6.283185307179586, 1.0]
[dns]
viscosity = 0.1
boundary_z = ["periodic", "periodic"]
[sources]
acceleration = ["growth*sin(x)*cos(y)", "-growth*cos(x)*sin(y)", "0"]
[sources.terms]
growth = "1.5*cos(3*t) + 2*viscosity*(1 + 0.5*sin(3*t))"
[time]
end = 0.6
step = 0.0125
"""


def error_of_vortices(directory: Path, cells: int, *settings: str) -> float:
    outcome = run_well(directory, SWELLING, f"grid.cells=[{cells}, {cells}, 3]", *settings)
    face = 2 * math.pi * (np.arange(cells) + 1) / cells
    centre = 2 * math.pi * (np.arange(cells) + 0.5) / cells
    strength = 1 + 0.5 * math.sin(3 * 0.6)
    found = fields(outcome.last_snapshot)
    u = found["u"] - strength * np.sin(face) * np.cos(centre)[:, None]
    v = found["v"] + strength * np.cos(centre) * np.sin(face)[:, None]
    return max(float(np.abs(q).max()) for q in (u, v, found["w"]))


def test_swelling_vortices_are_second_order(tmp_path: Path) -> None:
    coarse, fine = (
        error_of_vortices(tmp_path / str(cells), cells, f"time.step={0.4 / cells}")
        for cells in (16, 32)
    )
    assert coarse < 5e-3
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.2)


def test_a_gradient_is_held_by_the_pressure(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        SWINGING,
        'problem.velocity=["0", "0", "0"]',
        'sources.acceleration=["0", "0", "-2*z*(1 + t)"]',
        "time.end=0.05",
    )
    found = fields(outcome.last_snapshot)
    assert max(np.abs(found[name]).max() for name in "uvw") < 1e-13
    assert np.ptp(found["p"]) == pytest.approx(1.0, rel=0.1)


# All three components, walls and other sides, and a place from which r counts.
EVERYWHERE = """
model = "dns"
[problem]
name = "expression"
velocity = ["0.1*noise", "0.1*noise", "0.1*noise"]
[grid]
cells = [12, 10, 11]
stretching = "tanh"
[dns]
viscosity = 0.01
boundary_y = ["wall", "free_slip"]
[sources]
acceleration = ["exp(-r^2/0.1)*cos(9*t)", "x*(z > 0.4)", "sin(y + 3*t)"]
centre = [0.5, 0.5, 0.5]
[time]
end = 10.0
max_steps = 8
"""


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_forces_have_the_same_bits_on_any_ranks_and_after_a_restart(
    diffusion: str, tmp_path: Path
) -> None:
    scheme = f"dns.diffusion={diffusion}"
    whole = fields(run_well(tmp_path / "one", EVERYWHERE, scheme).last_snapshot)
    others = [
        run_well(tmp_path / "two", EVERYWHERE, scheme, "grid.process_grid=1x2", ranks=2),
        run_well(tmp_path / "three", EVERYWHERE, scheme, "grid.process_grid=3x1", ranks=3),
        run_well(tmp_path / "batches", EVERYWHERE, scheme, "dns.schedule=batches"),
    ]
    run_well(
        tmp_path / "again", EVERYWHERE, scheme, "time.max_steps=5", "output.final_checkpoint=true"
    )
    others.append(run_well(tmp_path / "again", EVERYWHERE, scheme, restart="latest"))
    for other in others:
        for name, values in fields(other.last_snapshot).items():
            assert (values == whole[name]).all(), (other.directory, name)


@pytest.mark.parametrize(
    ("setting", "fragments"),
    [
        ('sources.acceleration=["0", "0"]', ["sources.acceleration", "3 expressions", "2"]),
        ('sources.acceleration=["sin(zz)", "0", "0"]', ['unknown name "zz"', '"z"']),
        ('sources.acceleration=["u", "0", "0"]', ["sources.acceleration[0]", 'unknown name "u"']),
    ],
)
def test_forces_that_are_none_are_refused(
    setting: str, fragments: list[str], tmp_path: Path
) -> None:
    assert_refused(run(tmp_path / "run", SWINGING, setting), *fragments)


def test_a_force_that_is_no_number_ends_the_run_with_its_place(tmp_path: Path) -> None:
    outcome = run(
        tmp_path / "run", SWINGING, 'sources.acceleration=["1/(t < 0.1)", "0", "0"]', ranks=2
    )
    assert_refused(outcome, "sources.acceleration[0]", "expected a finite number", code=1)
