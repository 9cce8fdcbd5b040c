"""A binary on an adaptive mesh conserves mass, angular momentum and energy with what left it."""

from pathlib import Path

import numpy as np
import pytest

from running import Outcome, assert_same_run, run_well

# Rotating with the stars; level 1 covers them, and its boundary passes through rarefied gas.
BINARY = """
[problem]
name = "binary"
mass_ratio = 0.5
filling = [0.8, 0.9]

[gravity]
enabled = true
solver = "fmm"
theta = 0.35
work = "potential"

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
lower = [-1.5, -1.5, -1.5]
upper = [1.5, 1.5, 1.5]
boundary_x = ["inflow", "inflow"]
boundary_y = ["inflow", "inflow"]
boundary_z = ["inflow", "inflow"]

[refine]
density = [1e-2]

[frame]
angular_velocity = 1.0094274

[hydro]
gamma = "5/3"
scheme = "rk3"
reconstruction = "ppm26"
angular_momentum = true
dual_energy = "on"
density_floor = 1e-7
scalars = 2

[time]
cfl = 0.4
subcycle = false
max_steps = 40
"""
SUBCYCLED = "time.subcycle=true"
# The stars move through the mesh, which follows them.
AT_REST = "frame.angular_velocity=0"


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Evolve the binary on one rank."""
    return run_well(tmp_path_factory.mktemp("binary") / "run", BINARY)


def drift(history: dict[str, np.ndarray], *names: str) -> float:
    """Find the largest relative change of a quantity with what left and what floors added."""
    total, *rest = (history[name] for name in names)
    for name, values in zip(names[1:], rest, strict=True):
        sign = -1.0 if name.startswith(("floored", "energy_resolution")) else 1.0
        total = total + sign * values
    return float(np.abs(total / total[0] - 1.0).max())


MASS = ("mass", "outflow_mass", "floored_mass")
SPIN = tuple(f"{kind}angular_momentum_z" for kind in ("", "outflow_", "floored_"))
ENERGY = ("total_energy", "outflow_energy", "outflow_potential", "floored_energy")


@pytest.mark.parametrize(
    ("how", "spin", "energy"),
    [
        # 1.1e-11 in the first step, when the gas around the stars begins to settle. Theta = 0.5:
        # 2.1e-10.
        ((), 1e-12, 3e-11),
        # Forces of levels at different times: 4.6e-9 and 1.7e-9.
        ((SUBCYCLED,), 1e-8, 4e-9),
        # The energy error is 2.8e-11.
        ((AT_REST,), 1e-12, 6e-11),
    ],
)
def test_what_is_conserved(
    tmp_path: Path, binary: Outcome, how: tuple[str, ...], spin: float, energy: float
) -> None:
    history = (run_well(tmp_path / "run", BINARY, *how) if how else binary).history()
    resolution = ("energy_resolution",) if "energy_resolution" in history else ()
    assert history["leaf_cells_1"].min() > 0
    assert history["outflow_mass"][-1] != 0.0
    assert drift(history, *MASS) < 1e-12
    assert drift(history, *SPIN) < spin
    assert drift(history, *ENERGY, *resolution) < energy
    centre = np.array([history[f"centre_{axis}"] for axis in "xyz"])
    assert np.abs(centre - centre[:, :1]).max() < 0.1 * 3.0 / 32


def test_same_bits_on_three_ranks(tmp_path: Path, binary: Outcome) -> None:
    assert_same_run(run_well(tmp_path / "run", BINARY, ranks=3), binary)
