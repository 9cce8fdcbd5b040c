"""The implosion of Noh (1987): the strongest shock there is, in one octant."""

from pathlib import Path

import numpy as np
from octools.exact import Noh

from running import leaf_cells, run_well

TIME = 0.6
EXACT = Noh(gamma=5 / 3)

NOH = f"""
[problem]
name = "noh"

[mesh]
base_cells = [48, 48, 48]
block_size = 8
boundary_x = ["reflecting", "outflow"]
boundary_y = ["reflecting", "outflow"]
boundary_z = ["reflecting", "outflow"]

[hydro]
gamma = {5 / 3}

[time]
end = {TIME}
cfl = 0.5
"""


def test_shock_and_densities_are_those_of_the_exact_solution(tmp_path: Path) -> None:
    cells = leaf_cells(run_well(tmp_path / "run", NOH).last_snapshot)
    radius = np.sqrt((cells.position**2).sum(axis=1))
    shock = EXACT.radius(TIME)
    width = 1.0 / 48

    # In front of the shock, and out of reach of the boundary (within 1 - TIME), the flow is smooth:
    # second-order errors of (width / radius)^2.
    smooth = (radius > shock + 3 * width) & (radius < 1.0 - TIME)
    exact = EXACT.at(radius, TIME)[0]
    assert np.abs(cells["density"] / exact - 1.0)[smooth].mean() < (width / shock) ** 2

    # Behind it the density is 64, but for the centre, which every scheme overheats.
    plateau = (radius > 0.5 * shock) & (radius < shock - 2 * width)
    assert abs(cells["density"][plateau].mean() / 64 - 1.0) < 0.15
    pressure = EXACT.at(radius, TIME)[2]
    assert abs((cells["pressure"] / pressure)[plateau].mean() - 1.0) < 0.15

    # The gas is at rest behind the shock, the centre not left out, and falls in before it.
    falling = -sum(cells[f"velocity_{axis}"] * cells.position[:, n] for n, axis in enumerate("xyz"))
    assert np.abs((falling / radius)[radius < shock - 2 * width]).mean() < 0.05
    assert np.abs((falling / radius)[smooth] - 1.0).max() < 0.01

    # The mean density falls through half its jump within a cell of the exact radius.
    shell = (radius / width).astype(int)
    density = np.bincount(shell, cells["density"]) / np.bincount(shell)
    outside = int(np.argmax(density[4:] < 0.5 * (64 + 16))) + 4
    assert abs(outside * width - shock) <= 1.5 * width
