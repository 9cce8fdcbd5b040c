"""Spin of the gas within cells conserves angular momentum across levels, regrids and walls."""

from pathlib import Path

import numpy as np
import pytest

from running import CHECKPOINT_EVERY_STEP, Outcome, assert_goes_on, assert_same_run, run_well

# A vortex off the centre of a refined region, through whose boundaries it turns.
VORTEX = """
[problem]
name = "expression"
density = "0.1 + exp(-r^2/0.1)"
velocity = ["-2*y*exp(-r^2/0.1) + 0.1*z", "2*x*exp(-r^2/0.1)", "0.2*x*exp(-r^2/0.1)"]
pressure = "0.6"

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
lower = [-1.0, -1.0, -1.0]
upper = [1.0, 1.0, 1.0]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]

[refine]
where = "level < 1 && x > 0.05 && y > -0.4"

[hydro]
gamma = 1.6666666666666667
scheme = "rk3"
reconstruction = "ppm26"
angular_momentum = true

[time]
subcycle = false
end = 0.1
cfl = 0.4

[output.integrals]
size = "density*sqrt(x^2 + y^2)*sqrt(velocity_x^2 + velocity_y^2)"
total_x = "density*(y*velocity_z - z*velocity_y + spin_x)"
total_y = "density*(z*velocity_x - x*velocity_z + spin_y)"
total_z = "density*(x*velocity_y - y*velocity_x + spin_z)"
"""
SUBCYCLED = "time.subcycle=true"
# A refined slab in the vortex that becomes thicker and thinner: cells are refined and derefined.
MOVING = (
    "refine.where='level < 1 && abs(x) < 0.7 - 12*abs(t - 0.05) && y > -0.4'",
    "refine.interval=1",
)
REFERENCE = (SUBCYCLED, *MOVING, *CHECKPOINT_EVERY_STEP)
# Walls along which and against which the gas flows.
WALLS = (
    'mesh.boundary_x=["reflecting","reflecting"]',
    'mesh.boundary_y=["reflecting","outflow"]',
    "mesh.lower=[-0.25, -0.5, -1.0]",
    "mesh.upper=[1.75, 1.5, 1.0]",
)
# Streams across each other without pressure, which break cells beside the refined region.
STREAMS = (
    'problem.density="1 + 0.999*sin(2*pi*x)*sin(2*pi*y)"',
    'problem.velocity=["6*sin(pi*y)", "6*sin(pi*z) - 3*x", "6*sin(pi*x)"]',
    'problem.pressure="1e-5"',
    "time.cfl=0.9",
    "time.max_steps=6",
)


def drift(history: dict[str, np.ndarray], axis: str) -> float:
    """Find the largest change that neither outflow nor floors explain, relative to the vortex."""
    amount = history[f"total_{axis}"] + history[f"outflow_angular_momentum_{axis}"]
    amount = amount - history[f"floored_angular_momentum_{axis}"]
    return float(np.abs(amount - amount[0]).max() / history["size"][0])


@pytest.fixture(scope="module")
def vortex(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the vortex with moving refinement and subcycling on one rank."""
    folder = tmp_path_factory.mktemp("vortex") / "run"
    return run_well(folder, VORTEX, *REFERENCE)


@pytest.mark.parametrize("steps", ["time.subcycle=false", SUBCYCLED])
@pytest.mark.parametrize(
    "mesh", [(), MOVING, WALLS, ("mesh.max_level=2", "refine.where='x > 0'", "time.max_steps=3")]
)
def test_angular_momentum_is_conserved(tmp_path: Path, steps: str, mesh: tuple[str, ...]) -> None:
    history = run_well(tmp_path / "run", VORTEX, steps, *mesh).history()
    assert history["leaf_cells_1"].min() > 0
    for axis in "xyz":
        assert drift(history, axis) < 1e-13, axis


def test_it_is_conserved_where_the_frame_turns(tmp_path: Path) -> None:
    turning = "frame.angular_velocity=1.0"
    history = run_well(tmp_path / "run", VORTEX, turning, SUBCYCLED, *MOVING).history()
    assert drift(history, "z") < 1e-13


def test_the_mesh_was_refined_and_derefined(vortex: Outcome) -> None:
    blocks = vortex.history()["blocks_1"]
    assert np.any(np.diff(blocks) > 0)
    assert np.any(np.diff(blocks) < 0)


@pytest.mark.parametrize("steps", ["time.subcycle=false", SUBCYCLED])
def test_broken_cells_and_floors_are_accounted_for(tmp_path: Path, steps: str) -> None:
    history = run_well(tmp_path / "run", VORTEX, steps, *STREAMS).history()
    assert history["floored_cells"][-1] > 0
    for axis in "xyz":
        assert drift(history, axis) < 1e-13, axis


def test_same_bits_on_any_ranks_and_on_a_device(vortex: Outcome, tmp_path: Path) -> None:
    for ranks in (2, 3):
        assert_same_run(run_well(tmp_path / f"{ranks}", VORTEX, *REFERENCE, ranks=ranks), vortex)
    device = run_well(tmp_path / "device", VORTEX, *REFERENCE, "execution.schedule=device")
    assert_same_run(device, vortex)


def test_a_restart_continues_with_the_same_bits(vortex: Outcome, tmp_path: Path) -> None:
    assert_goes_on(tmp_path / "run", vortex, 4, *REFERENCE)


# A rotating star whose envelope ends a finer level, in a frame at rest.
STAR = """
[problem]
name = "rotating_star"

[gravity]
enabled = true
solver = "fmm"

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
lower = [-1.5, -1.5, -1.5]
upper = [1.5, 1.5, 1.5]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]

[refine]
density = [0.3]

[hydro]
gamma = "5/3"
scheme = "rk3"
reconstruction = "ppm26"
angular_momentum = true

[time]
subcycle = false
cfl = 0.4
max_steps = 12
"""


def spin_of_star(folder: Path, *overrides: str) -> np.ndarray:
    """Return the total angular momentum of the star with outflow and floors, relative to it."""
    history = run_well(folder, STAR, *overrides).history()
    total = history["angular_momentum_z"] + history["outflow_angular_momentum_z"]
    total = total - history["floored_angular_momentum_z"]
    return total / total[0] - 1.0


@pytest.mark.parametrize("frame", [(), ("frame.angular_velocity=0.7",)])
def test_a_star_on_two_levels_keeps_its_angular_momentum(
    tmp_path: Path, frame: tuple[str, ...]
) -> None:
    assert np.abs(spin_of_star(tmp_path / "run", *frame)).max() < 1e-12


@pytest.mark.parametrize("refined", ["t > 0.015 && z > 0.3", "t < 0.015 && z > 0.3"])
def test_gravity_conserves_momentum_in_a_star_that_is_refined_and_derefined(
    tmp_path: Path, refined: str
) -> None:
    """Forces on the levels that do not change are also those of the new mesh."""
    mesh = ("refine.density=[]", f"refine.where='level < 1 && {refined}'", "time.max_steps=4")
    history = run_well(tmp_path / "run", STAR, *mesh).history()
    assert np.ptp(history["leaf_cells_1"]) > 0
    for axis in "xyz":
        total = history[f"momentum_{axis}"] + history[f"outflow_momentum_{axis}"]
        # Forces of two meshes: 3.3e-5 and 4.9e-6 of a mass of 1 and speeds below 1.
        assert np.ptp(total) < 1e-15, axis
