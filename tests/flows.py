"""Small incompressible flows that several tests run, and how to read their fields."""

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Turbulence begins between two walls; the mean velocity is kept.
SMALL_CHANNEL = """
model = "dns"
[problem]
name = "channel"
rolls = 0.2
noise = 0.2
[grid]
cells = [24, 15, 13]
size = [4.0, 2.0, 2.0]
stretching = "tanh"
[dns]
viscosity = 0.002
forcing = "bulk_velocity"
[time]
end = 100.0
max_steps = 12
step = 0.01
"""

# A lid slides over a box; cells are smaller at the bottom.
SMALL_CAVITY = """
model = "dns"
[problem]
name = "cavity"
[grid]
cells = [14, 11, 12]
stretching = "tanh_lower"
[dns]
viscosity = 0.01
boundary_x = ["wall", "wall"]
boundary_y = ["wall", "free_slip"]
velocity_z_upper = [1.0, 0.5, 0.0]
[time]
end = 100.0
max_steps = 12
step = 0.01
"""

# Vortices in a periodic box.
SMALL_VORTICES = """
model = "dns"
[problem]
name = "taylor_green"
[grid]
cells = [16, 12, 10]
size = [6.283185307179586, 6.283185307179586, 6.283185307179586]
[dns]
viscosity = 0.02
boundary_z = ["periodic", "periodic"]
[time]
end = 100.0
max_steps = 12
step = 0.02
"""

# Fluid enters on the left and leaves on the right, between walls.
SMALL_DUCT = """
model = "dns"
[problem]
name = "cavity"
velocity = [1.0, 0.0, 0.0]
[grid]
cells = [16, 9, 10]
size = [4.0, 1.0, 1.0]
[dns]
viscosity = 0.02
boundary_x = ["inflow", "outflow"]
velocity_x_lower = [1.0, 0.0, 0.0]
boundary_y = ["free_slip", "free_slip"]
[time]
end = 100.0
max_steps = 12
step = 0.01
"""

# Fluid enters on the right, and leaves on the left, in front, below and above.
SMALL_FOUNTAIN = """
model = "dns"
[problem]
name = "cavity"
velocity = [-1.0, 0.0, 0.0]
[grid]
cells = [14, 9, 11]
size = [2.0, 1.0, 1.5]
[dns]
viscosity = 0.02
boundary_x = ["outflow", "inflow"]
velocity_x_upper = [-1.0, 0.1, -0.2]
boundary_y = ["outflow", "wall"]
velocity_y_upper = [0.3, 0.0, 0.5]
boundary_z = ["outflow", "outflow"]
[time]
end = 100.0
max_steps = 12
step = 0.01
"""

DIFFUSIONS = ("explicit", "implicit_z", "implicit")


def fields(path: Path) -> dict[str, Array]:
    """Read the fields of a snapshot or checkpoint, each of shape (z, y, x)."""
    with h5py.File(path) as file:
        return {name: data[...] for name, data in file["fields"].items()}


def lower_faces(path: Path) -> dict[str, Array]:
    """Read the velocities of a snapshot or checkpoint on lower sides through which fluid leaves."""
    with h5py.File(path) as file:
        return {name: data[...] for name, data in file.get("lower_faces", {}).items()}


def differing_fields(path: Path, reference: Path) -> list[str]:
    """Name the fields whose bits differ between two files."""
    names = []
    for read in (fields, lower_faces):
        one, other = read(path), read(reference)
        assert one.keys() == other.keys()
        names += [name for name in one if one[name].tobytes() != other[name].tobytes()]
    return names


def largest_difference(a: dict[str, Array], b: dict[str, Array], names: str) -> float:
    """Greatest absolute difference in some fields; means are taken off the pressure."""
    differences = []
    for name in names:
        mean = [q.mean() if name == "p" else 0.0 for q in (a[name], b[name])]
        differences.append(np.abs((a[name] - mean[0]) - (b[name] - mean[1])).max())
    return float(max(differences))
