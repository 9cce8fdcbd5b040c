"""Runs in units that differ by powers of two have the same bits: no constant has a unit."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from running import CHECKPOINT_EVERY_STEP, assert_goes_on, leaf_cells, run_well

Unit = Callable[[float, int, int, int], str]

# Powers of two by which length, mass and time are multiplied. With the first one densities and
# pressures are far below, with the second one far above all that is common.
SCALES = {"small": (0, -80, 0), "large": (7, 90, -5)}

# In each text u(value, l, m, t) is a value of the unit length^l mass^m time^t.


def sod(u: Unit) -> str:
    left = [u(1.0, -3, 1, 0), u(0.0, 1, 0, -1), u(1.0, -1, 1, -2)]
    right = [u(0.125, -3, 1, 0), u(0.0, 1, 0, -1), u(0.125, -1, 1, -2)]
    return f"""
model = "amr"
[problem]
name = "riemann"
left = [{", ".join(left)}]
right = [{", ".join(right)}]
position = {u(0.5, 1, 0, 0)}
[mesh]
base_cells = [32, 8, 8]
block_size = 8
max_level = 2
upper = [{u(1.0, 1, 0, 0)}, {u(0.25, 1, 0, 0)}, {u(0.25, 1, 0, 0)}]
boundary_x = ["outflow", "outflow"]
[hydro]
dimensions = 1
[refine]
gradient_fields = ["density", "velocity_x", "pressure"]
gradient = [0.05, 0.05, 0.05]
[time]
end = {u(0.1, 0, 0, 1)}
"""


def streams(u: Unit) -> str:
    """Return two streams that leave a vacuum: cells fall to the floors."""
    return f"""
model = "amr"
[problem]
name = "expression"
density = "{u(1.0, -3, 1, 0)}"
velocity = ["x < {u(0.5, 1, 0, 0)} ? {u(-20.0, 1, 0, -1)} : {u(20.0, 1, 0, -1)}", "0", "0"]
pressure = "{u(0.4, -1, 1, -2)}"
[mesh]
base_cells = [64, 8, 8]
block_size = 8
upper = [{u(1.0, 1, 0, 0)}, {u(0.125, 1, 0, 0)}, {u(0.125, 1, 0, 0)}]
boundary_x = ["outflow", "outflow"]
[hydro]
dimensions = 1
[time]
end = {u(0.015, 0, 0, 1)}
max_steps = 30
"""


def sedov(u: Unit) -> str:
    return f"""
model = "amr"
[problem]
name = "sedov"
energy = {u(1.0, 2, 1, -2)}
density = {u(1.0, -3, 1, 0)}
ambient_pressure = {u(1e-5, -1, 1, -2)}
centre = [{u(0.5, 1, 0, 0)}, {u(0.5, 1, 0, 0)}, {u(0.5, 1, 0, 0)}]
[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
upper = [{u(1.0, 1, 0, 0)}, {u(1.0, 1, 0, 0)}, {u(1.0, 1, 0, 0)}]
[refine]
gradient_fields = ["pressure"]
gradient = [0.1]
[time]
end = {u(0.05, 0, 0, 1)}
max_steps = 8
"""


def collapse(u: Unit) -> str:
    return f"""
model = "amr"
[problem]
name = "evrard"
mass = {u(1.0, 0, 1, 0)}
radius = {u(1.0, 1, 0, 0)}
centre = [{u(0.0, 1, 0, 0)}, {u(0.0, 1, 0, 0)}, {u(0.0, 1, 0, 0)}]
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 1
lower = [{u(-1.5, 1, 0, 0)}, {u(-1.5, 1, 0, 0)}, {u(-1.5, 1, 0, 0)}]
upper = [{u(1.5, 1, 0, 0)}, {u(1.5, 1, 0, 0)}, {u(1.5, 1, 0, 0)}]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]
[hydro]
gamma = 1.6666666666666667
[gravity]
enabled = true
constant = {u(1.0, 3, -1, -2)}
[refine]
density = [{u(0.5, -3, 1, 0)}]
[time]
end = {u(0.2, 0, 0, 1)}
max_steps = 4
"""


def barotropic_collapse(u: Unit) -> str:
    """Return the collapse of barotropic gas, which is stiffer above the density 1."""
    extra = f"""
equation_of_state = "barotropic"
sound_speed = {u(0.2, 1, 0, -1)}
barotropic_densities = [{u(0.1, -3, 1, 0)}, {u(1.0, -3, 1, 0)}]
barotropic_exponents = [1.0, 1.1, 1.6]
"""
    jeans = "[refine]\njeans = 8"
    return collapse(u).replace("\n[gravity]", extra + "[gravity]").replace("[refine]", jeans)


def cluster(u: Unit) -> str:
    """Return a cluster of particles in thin gas."""
    return f"""
model = "amr"
[problem]
name = "plummer"
mass = {u(1.0, 0, 1, 0)}
radius = {u(0.3, 1, 0, 0)}
extent = 4.0
particles = 2000
ambient_density = {u(1e-8, -3, 1, 0)}
centre = [{u(0.0, 1, 0, 0)}, {u(0.0, 1, 0, 0)}, {u(0.0, 1, 0, 0)}]
[mesh]
base_cells = [16, 16, 16]
block_size = 4
lower = [{u(-1.5, 1, 0, 0)}, {u(-1.5, 1, 0, 0)}, {u(-1.5, 1, 0, 0)}]
upper = [{u(1.5, 1, 0, 0)}, {u(1.5, 1, 0, 0)}, {u(1.5, 1, 0, 0)}]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]
[gravity]
enabled = true
constant = {u(1.0, 3, -1, -2)}
[time]
end = {u(0.1, 0, 0, 1)}
max_steps = 4
"""


def unit(scales: tuple[int, int, int]) -> Unit:
    """Give a function that writes a value in units that differ by such powers of two."""
    return lambda value, *powers: repr(value * 2.0 ** int(np.dot(scales, powers)))


FIELDS = {"density": (-3, 1, 0), "pressure": (-1, 1, -2), "velocity_x": (1, 0, -1)}


@pytest.mark.parametrize("scales", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("problem", [sod, streams, sedov, collapse, barotropic_collapse, cluster])
def test_scaled_by_powers_of_two(
    tmp_path: Path, problem: Callable[[Unit], str], scales: tuple[int, int, int]
) -> None:
    runs = [
        run_well(tmp_path / name, problem(unit(by)))
        for name, by in (("plain", (0, 0, 0)), ("scaled", scales))
    ]
    plain, scaled = (leaf_cells(run.last_snapshot) for run in runs)
    assert scaled.time == plain.time * 2.0 ** scales[2]
    assert np.array_equal(scaled.position, plain.position * 2.0 ** scales[0])
    for name, powers in FIELDS.items():
        factor = 2.0 ** int(np.dot(scales, powers))
        assert np.array_equal(scaled[name], plain[name] * factor), name


def test_restarts_keep_the_floors_of_the_initial_state(tmp_path: Path) -> None:
    u = unit(SCALES["small"])
    reference = run_well(tmp_path / "run", streams(u), *CHECKPOINT_EVERY_STEP)
    checkpoint = reference.directory / "checkpoint_00020.h5"
    with h5py.File(checkpoint) as file:
        header = file["header"].attrs
        assert header["density_scale"] == 2.0**-80
        # The mean of 1 + 200, to a power of two.
        assert header["energy_scale"] == 2.0 ** (-80 + 8)
    assert_goes_on(tmp_path / "again", reference, 21)
