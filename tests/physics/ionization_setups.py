"""Parameter files of runs with ionising photons, and what is compared with other solutions.

Units are kpc, Myr and the density of hydrogen nuclei of 1e-3 cm^-3, as in tests 1, 2 and 5 of Iliev
et al. (2006, MNRAS 371, 1057; 2009, MNRAS 400, 1283).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ionized_atoms import BOLTZMANN, ELECTRON_VOLT
from ionized_sphere import GAMMA, KPC, LIGHT_SPEED, MYR, PROTON_MASS, Array

from running import leaf_cells

DENSITY = 1e-3  # hydrogen nuclei per cm^3
SOURCE = 5e48  # photons per second
ENERGY_UNIT = DENSITY * PROTON_MASS * KPC**5 / MYR**2  # erg
REGION = """
[problem]
name = "expression"
density = "{density}"
velocity = {velocity}
pressure = "{pressure}"

[mesh]
base_cells = [{cells}, {cells}, {cells}]
block_size = {block}
lower = [{lower}, {lower}, {lower}]
upper = [{upper}, {upper}, {upper}]
boundary_x = {boundary}
boundary_y = {boundary}
boundary_z = {boundary}

[hydro]
gamma = "5/3"

[units]
length = "1 kpc"
density = {unit}
time = "1 Myr"

[radiation]
speed_ratio = {speed_ratio}
max_substeps = {substeps}

[ionization]
enabled = true
edges = {edges}
spectrum = "{spectrum}"
hydrogen_fraction = {hydrogen}
source_x = [{source[0]}]
source_y = [{source[1]}]
source_z = [{source[2]}]
source_rates = [{rate}]

[time]
end = {end}

[output]
history_interval = 1
"""


def pressure_of(temperature: float, helium: float = 0.0) -> float:
    """Return the pressure of neutral gas of the density 1 at a temperature in K, in code units.

    `helium` is the number of helium nuclei per hydrogen nucleus.
    """
    weight = 1.0 + 4.0 * helium
    per_mass = BOLTZMANN * temperature * (1.0 + helium) / (weight * PROTON_MASS)
    return per_mass * (MYR / KPC) ** 2


def region(
    cells: int,
    upper: float,
    end: float,
    *,
    lower: float = 0.0,
    boundary: tuple[str, str] = ("reflecting", "outflow"),
    source: Sequence[float] = (0.0, 0.0, 0.0),
    edges: Sequence[float] = (13.6,),
    spectrum: str = "monochromatic",
    speed_ratio: float = 0.01,
    helium: float = 0.0,
    density: str = "1",
    velocity: Sequence[str] = ("0", "0", "0"),
    pressure: str = "",
    block: int = 4,
    rate: float = SOURCE,
    substeps: int = 100,
) -> str:
    """Return the parameter file of a cube of cold hydrogen and helium with a source of photons.

    By default, it is an octant: the source is at a corner where three walls meet. The default
    `pressure` is that of 100 K. The density of hydrogen is `density` times DENSITY.
    """
    weight = 1.0 + 4.0 * helium
    return REGION.format(
        cells=cells,
        block=block,
        lower=lower,
        upper=upper,
        boundary=list(boundary),
        source=source,
        edges=list(edges),
        spectrum=spectrum,
        speed_ratio=speed_ratio,
        hydrogen=repr(1.0 / weight),
        density=density,
        velocity=list(velocity),
        pressure=pressure or f"({density}) * {pressure_of(100.0, helium)!r}",
        unit=repr(DENSITY * PROTON_MASS * weight),
        rate=repr(rate),
        end=end,
        substeps=substeps,
    )


def energy_of_photons(number: float, energy: float, helium: float = 0.0) -> float:
    """Return the energy, in code units of `region`, of photons of an energy in eV."""
    return number * energy * ELECTRON_VOLT / (ENERGY_UNIT * (1.0 + 4.0 * helium))


def photon_residual(history: dict[str, Array], speed_ratio: float) -> Array:
    """Return the error of the budget of photon energies, relative to what sources emitted.

    c / c' (energies + outflow) = injected + recombined - absorbed.
    """
    stored = sum(history[name] for name in history if name.startswith("photon_energy_"))
    stored = (stored + history.get("outflow_radiation", 0.0)) / speed_ratio
    made = history["ionization_injected"] + history["ionization_recombined"]
    residual = stored - stored[0] - made + history["ionization_absorbed"]
    return np.abs(residual) / made[-1]


@dataclass(frozen=True)
class Profile:
    """Averages over directions; arrays have one value per shell.

    Attributes
    ----------
    radius
        Middle of the shells, in kpc.
    neutral, temperature, density
        Fraction of neutral hydrogen, temperature in K, hydrogen nuclei in units of DENSITY.
    """

    radius: Array
    neutral: Array
    temperature: Array
    density: Array

    def front(self, fraction: float = 0.5) -> float:
        """Return the largest radius at which the fraction of neutral hydrogen is `fraction`."""
        n = int(np.flatnonzero(self.neutral < fraction)[-1])
        return float(np.interp(fraction, self.neutral[n : n + 2], self.radius[n : n + 2]))


def profile(path: Path, helium: float = 0.0, shells_per_cell: float = 1.0) -> Profile:
    """Average the cells of a snapshot of `region` over shells around the corner at 0."""
    cells = leaf_cells(path)
    radius = np.sqrt(np.sum(cells.position**2, axis=1))
    width = cells.size.max() / shells_per_cell
    within = radius < cells.position.max()
    shell = np.floor(radius / width).astype(int)[within]
    weight = cells.volume[within]
    total = np.bincount(shell, weight)
    filled = total > 0.0

    def mean(values: Array) -> Array:
        return np.bincount(shell, weight * values[within])[filled] / total[filled]

    electrons = cells["ionized_hydrogen"]
    ions = cells["ionized_helium"] + 2.0 * cells["doubly_ionized_helium"]
    particles = 1.0 + helium + electrons + helium * ions
    per_mass = cells["pressure"] / cells["density"] * (KPC / MYR) ** 2
    warmth = per_mass * PROTON_MASS * (1.0 + 4.0 * helium) / (BOLTZMANN * particles)
    return Profile(mean(radius), mean(1.0 - electrons), mean(warmth), mean(cells["density"]))


def light_delay(radius: float, speed_ratio: float) -> float:
    """Return the time in Myr in which photons with the reduced speed of light reach a radius."""
    return radius * KPC / (speed_ratio * LIGHT_SPEED) / MYR


assert GAMMA == 5.0 / 3.0  # the adiabatic index of REGION
