"""Set-ups with stars and black holes that several tests share."""

import math
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from galaxies import GRAVITY, KILOPARSEC, NEWTON, PROTON, UNITS, X

LIGHT = 2.99792458e10  # cm/s


def half_refined_box(cells: int, side: float, refined: float | None = None) -> str:
    """Give [mesh] and [refine] of a periodic box of which the lower part along x is refined.

    The refined part has the length `refined`, by default half of the side.
    """
    refined = 0.5 * side if refined is None else refined
    return f"""
[mesh]
base_cells = {[cells] * 3}
block_size = 4
max_level = 1
upper = {[side] * 3}

[refine]
region_upper = {[refined, side, side]}
region_level = 1
"""


# --- stars ----------------------------------------------------------------------------------------

# Self-gravitating monatomic gas in units of pc, Myr and one hydrogen nucleus per cm^3.
CLOUD_GAS = f"""
[hydro]
gamma = 1.6666666666666667
{UNITS}
[gravity]
enabled = true
constant = {NEWTON!r}
"""

# Cooling and efficient star formation for the box of inputs.CLUMPY_BOX. [stars] is the last
# section, so that tests can append its parameters.
STARS_IN_CLUMPY_BOX = """
[cooling]
enabled = true
method = "original"
initial_metallicity = 0.1

[stars]
enabled = true
efficiency = 5.0
density = 1e-6
overdensity = 2.0
mass = 3e6
"""

# Star particles in gas of 10^4 K: [problem] of problem.name = "supernovae", to which tests append
# parameters.
STARS_IN_WARM_GAS = """
[problem]
name = "supernovae"
temperature_over_mu = 1e4
"""
# Gas and units of these set-ups.
WARM_GAS = f"""
[hydro]
gamma = 1.6666666666666667
{UNITS}"""

# --- black holes ----------------------------------------------------------------------------------

# Units of runs with black holes: kpc, one hydrogen nucleus per cm^3, and the time with which
# Newton's constant is 1.
LENGTH, DENSITY = KILOPARSEC, PROTON / X
TIME = 1.0 / math.sqrt(GRAVITY * DENSITY)

# Gravity, units, and black holes that do not form during the run. [black_holes] is the last
# section, so that tests can append its parameters.
BLACK_HOLES = f"""
[gravity]
enabled = true

[units]
length = {LENGTH!r}
density = {DENSITY!r}
time = {TIME!r}

[black_holes]
enabled = true
seed_mass = 0.0
"""


def sinks(path: Path) -> dict[str, NDArray[np.float64]]:
    """Read the columns of all black holes of a snapshot, in the order of their ids."""
    with h5py.File(path) as file:
        return {name: data[...] for name, data in file["particles/sinks"].items()}
