#!/usr/bin/env python3
"""Prints the flux of ionising photons in the shadow of an opaque ball.

    tests/measure/photon_shadow.py [--cells 16 32]

A plane beam in a cube of 1 meets a ball with the radius 0.2 in its middle. The flux on the axis is
that of the four cells around it, relative to the beam. docs/ionization_validation.md lists the
results.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import leaf_cells, run_well

SHADOW = """
[problem]
name = "expression"
density = "(x - 0.5)^2 + (y - 0.5)^2 + (z - 0.5)^2 < 0.04 ? 1 : 1e-12"
pressure = "1e-12"

[problem.fields]
photon_density_0 = "{density}"
photon_flux_0_x = "{flux}"

[mesh]
base_cells = [{cells}, {cells}, {cells}]
block_size = 8
boundary_x = ["inflow", "outflow"]
boundary_y = ["periodic", "periodic"]
boundary_z = ["periodic", "periodic"]

[hydro]
moves = false
gamma = "5/3"

[units]
length = "1 kpc"
density = 1.6726e-21
time = "1 Myr"

[radiation]
speed_ratio = 0.01

[ionization]
enabled = true
edges = [13.6]
spectrum = "monochromatic"
temperature = 100.0

[time]
end = 2.0
"""
LIGHT_SPEED = 306.60139378555056  # kpc / Myr
PHOTONS = 1e50  # per kpc^3: too few to ionise the ball
DISTANCES = (0.1, 0.4)  # behind the ball


def fluxes(directory: Path, cells: int) -> list[float]:
    """Return the fluxes on the axis at DISTANCES behind the ball, relative to the beam."""
    flux = 0.01 * LIGHT_SPEED * PHOTONS
    text = SHADOW.format(density=PHOTONS, flux=0.999 * flux, cells=cells)
    found = leaf_cells(run_well(directory, text).last_snapshot)
    x, y, z = found.position.T
    axis = (np.abs(y - 0.5) < 1.0 / cells) & (np.abs(z - 0.5) < 1.0 / cells)
    order = np.argsort(x[axis])
    along, values = x[axis][order].reshape(-1, 4), found["photon_flux_0_x"][axis][order]
    means = values.reshape(-1, 4).mean(axis=1) / (0.999 * flux)
    return [float(np.interp(0.7 + d, along[:, 0], means)) for d in DISTANCES]


def main() -> int:
    """Run and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[16, 32])
    with tempfile.TemporaryDirectory() as scratch:
        for cells in parser.parse_args().cells:
            found = fluxes(Path(scratch) / str(cells), cells)
            words = [f"{value:.3f} at {d}" for value, d in zip(found, DISTANCES, strict=True)]
            print(f"{cells}^3: {', '.join(words)} behind the ball")
    return 0


if __name__ == "__main__":
    sys.exit(main())
