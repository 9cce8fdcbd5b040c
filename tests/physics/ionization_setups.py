"""Parameter files of runs with ionising photons, and what is compared with other solutions.

Units are kpc, Myr and the density of hydrogen nuclei of 1e-3 cm^-3, as in tests 1, 2 and 5 of Iliev
et al. (2006, MNRAS 371, 1057; 2009, MNRAS 400, 1283).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ionized_atoms import BOLTZMANN
from ionized_sphere import GAMMA, KPC, MYR, PROTON_MASS, Array, Delayed

from running import LeafCells, leaf_cells, uniform_grid

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
    """Return the energy, in code units of `region`, of photons of an energy in erg."""
    return number * energy / (ENERGY_UNIT * (1.0 + 4.0 * helium))


def photon_residual(history: dict[str, Array]) -> Array:
    """Return the error of the budget of photons, relative to the number that sources emitted.

    photons + outflow = injected + recombined + restored - absorbed - absorbed by dust.
    """
    stored = sum(history[name] for name in history if name.startswith("photons_"))
    stored = stored + history.get("outflow_photons", 0.0)
    made = sum(history[f"ionization_{name}"] for name in ("injected", "recombined", "restored"))
    lost = history["ionization_absorbed"] + history.get("ionization_absorbed_by_dust", 0.0)
    residual = stored - stored[0] - made + lost
    return np.abs(residual) / made[-1]


@dataclass(frozen=True)
class Profile:
    """Averages over directions; arrays have one value per shell.

    Attributes
    ----------
    radius
        Mean distance of cells from the source, in kpc.
    fields
        Averages: "neutral" (hydrogen atoms per nucleus), "temperature" in K, and others.
    """

    radius: Array
    fields: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        """Return an average by its name."""
        return self.fields[name]

    def front(self, fraction: float = 0.5, field: str = "neutral") -> float:
        """Return the largest radius at which a field that grows outwards is `fraction`."""
        values = self.fields[field]
        inside = np.flatnonzero(values < fraction)
        if len(inside) == 0:
            return 0.0
        n = min(int(inside[-1]), len(values) - 2)
        return float(np.interp(fraction, values[n : n + 2], self.radius[n : n + 2]))


def profile(cells: LeafCells, values: dict[str, Array]) -> Profile:
    """Average values of cells over shells as thick as cells, in a sphere around 0 in the domain."""
    radius = distance(cells)
    width = cells.size.max()
    within = radius < cells.position.max()
    shell = np.floor(radius / width).astype(int)[within]
    weight = cells.volume[within]
    total = np.bincount(shell, weight)
    filled = total > 0.0

    def mean(a: Array) -> Array:
        return np.bincount(shell, weight * a[within])[filled] / total[filled]

    return Profile(mean(radius), {name: mean(a) for name, a in values.items()})


def distance(cells: LeafCells) -> Array:
    """Return the distances of cells from 0."""
    return np.sqrt(np.sum(cells.position**2, axis=1))


def found_profile(path: Path, helium: float = 0.0) -> Profile:
    """Average the gas of a snapshot of `region` over shells."""
    cells = leaf_cells(path)
    two, three = cells["ionized_helium"], cells["doubly_ionized_helium"]
    particles = 1.0 + helium + cells["ionized_hydrogen"] + helium * (two + 2.0 * three)
    per_mass = cells["pressure"] / cells["density"] * (KPC / MYR) ** 2
    values = {
        "neutral": 1.0 - cells["ionized_hydrogen"],
        "helium_atoms": 1.0 - two - three,
        "not_helium_three": 1.0 - three,
        "temperature": per_mass * PROTON_MASS * (1.0 + 4.0 * helium) / (BOLTZMANN * particles),
        "density": cells["density"],
    }
    return profile(cells, values)


def expected_profile(path: Path, exact: Delayed) -> Profile:
    """Average a solution in the same cells as a snapshot, which are coarser than its shells."""
    cells = leaf_cells(path)
    radius = distance(cells) * KPC

    def sampled(a: Array) -> Array:
        return np.interp(radius, exact.radius, a)

    atoms, three = sampled(exact.helium_atoms), sampled(exact.helium_three)
    values = {
        "neutral": sampled(exact.neutral),
        "helium_atoms": atoms,
        "not_helium_three": 1.0 - three,
        "temperature": sampled(exact.temperature),
        "density": sampled(exact.density) / DENSITY,
    }
    return profile(cells, values)


def ionized_radius(path: Path) -> float:
    """Return the radius in kpc of a sphere with as many ions as an octant of hydrogen at rest."""
    cells = leaf_cells(path)
    volume = 8.0 * np.sum(cells["ionized_hydrogen"] * cells.volume)
    return float((0.75 / np.pi * volume) ** (1.0 / 3.0))


def front_scatter(path: Path) -> float:
    """Return the scatter of the distance of the front with direction, over its mean.

    The front is where half of the hydrogen is ionised, on lines between neighbouring cells of an
    unrefined octant along x, y and z.
    """
    grid = uniform_grid(path, "ionized_hydrogen")
    size = leaf_cells(path).size[0]
    radii = []
    for axis in range(3):
        along = np.moveaxis(grid, axis, 0)
        j, k = np.meshgrid(*(np.arange(n) + 0.5 for n in along.shape[1:]), indexing="ij")
        near, far = along[:-1], along[1:]
        crosses = (near >= 0.5) & (far < 0.5)
        share = (near - 0.5)[crosses] / (near - far)[crosses]
        position = np.nonzero(crosses)[0] + 0.5 + share
        across = np.broadcast_to(j**2 + k**2, near.shape)[crosses]
        radii.append(np.sqrt(position**2 + across))
    distances = np.concatenate(radii) * size
    return float(np.std(distances) / np.mean(distances))


assert GAMMA == 5.0 / 3.0  # the adiabatic index of REGION
