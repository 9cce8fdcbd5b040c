"""The numbers that examples must give: theory's, or the literature's.

An example is known by the name of its run directory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from octools.errors import OctoolsError
from octools.history import read_history
from octools.loading import CellData
from octools.run import snapshots
from octools.snapshot import Array

GRAVITY = 0.1  # of examples/rayleigh_taylor.toml
RIPPLES = 4 * np.pi
HEAVY, LIGHT = 2.0, 1.0


@dataclass(frozen=True)
class Number:
    """A number that a run gave, and the one that it must give.

    Attributes
    ----------
    what
        What it is.
    found, expected
        The two.
    tolerance
        How far apart they may be.
    """

    what: str
    found: float
    expected: float
    tolerance: float

    @property
    def passes(self) -> bool:
        """Whether the run gave it."""
        return bool(abs(self.found - self.expected) <= self.tolerance)

    def __str__(self) -> str:
        """Say it in a line."""
        word = "PASS" if self.passes else "DEVIATES"
        return (
            f"{word:<9} {self.what}: {self.found:.5g}, expected {self.expected:.5g} "
            f"within {self.tolerance:.2g}"
        )


def last_cells(run: Path) -> CellData:
    """Read the leaf cells of a run's newest snapshot."""
    found = snapshots(run)
    return CellData(found[max(found)])


def on_line(cells: CellData, axis: str, field: str, where: Array) -> tuple[Array, Array]:
    """Give places along an axis and a field there, of chosen cells, in ascending order.

    Cells at the same place, as across a slab, count as one.
    """
    place, first = np.unique(np.round(cells[axis][where], 12), return_index=True)
    return place, cells[field][where][first]


def crossing(place: Array, values: Array, level: float) -> float:
    """Find the last place where values pass a level, between cells by a straight line."""
    above = np.flatnonzero((values[:-1] > level) != (values[1:] > level))
    if len(above) == 0:
        return float("nan")
    n = above[-1]
    share = (level - values[n]) / (values[n + 1] - values[n])
    return float(place[n] + share * (place[n + 1] - place[n]))


def double_mach(run: Path) -> list[Number]:
    """Measure shock and Mach stem of a double Mach reflection.

    The unperturbed shock is at x = (y + 20 t) / sqrt(3), and 8 is the density behind it. What runs
    along the wall is a normal shock there: its speed, by self-similarity its place over the time,
    gives the pressure behind it (Rankine & Hugoniot).
    """
    cells, time = last_cells(run), last_cells(run).header.time
    dx = float(cells["dx"].min())
    top = cells["y"] > cells.header.upper[1] - 0.75 * dx
    x, density = on_line(cells, "x", "density", top)
    shock = crossing(x, density, 0.5 * (1.4 + 8.0))
    exact = (1.0 - 0.5 * dx + 20.0 * time) / np.sqrt(3.0)
    behind = density[(x > exact - 0.3) & (x < exact - 0.1)]
    x, pressure = on_line(cells, "x", "pressure", cells["y"] < 0.75 * dx)
    stem = crossing(x, pressure, 100.0)  # half of what is behind it
    mach = stem / time
    peak = float(pressure[(x > stem - 8 * dx) & (x < stem)].max())
    return [
        Number("shock at the upper boundary, x", shock, exact, 2.0 * dx),
        Number("density behind it", float(behind.mean()), 8.0, 0.16),
        Number(
            f"pressure behind the Mach stem at x = {stem:.4g}",
            peak,
            (2.8 * mach**2 - 0.4) / 2.4,
            0.08 * peak,
        ),
    ]


def rayleigh_taylor(run: Path) -> list[Number]:
    """Measure the growth of a small ripple between two heavy layers.

    With A = (heavy - light) / (heavy + light) it grows as cosh(sqrt(A g k) t) (Taylor 1950).
    """
    history = read_history(run)
    rate = np.sqrt((HEAVY - LIGHT) / (HEAVY + LIGHT) * GRAVITY * RIPPLES)
    time, size = history["time"], history["rising"]
    until = int(np.searchsorted(time, 3.0))
    if until == len(time):
        raise OctoolsError(f"{history.path} ends before t = 3")
    found = np.arccosh(size[until] / size[0]) / time[until]
    return [Number("growth rate", float(found), float(rate), 0.05 * float(rate))]


def two_blasts(run: Path) -> list[Number]:
    """Find the peak between the waves of two blasts (Woodward & Colella 1984, figure 2h)."""
    cells = last_cells(run)
    x, density = on_line(cells, "x", "density", cells["volume"] > 0)
    right = (x > 0.7) & (x < 0.85)
    left = (x > 0.55) & (x < 0.63)  # before the shock at 0.65
    jump = np.abs(np.diff(density[left]))
    return [
        Number("peak, x", float(x[right][density[right].argmax()]), 0.78, 0.015),
        Number("peak, density", float(density[right].max()), 6.4, 0.5),
        Number("contact on the left, x", float(x[left][jump.argmax()]), 0.60, 0.015),
    ]


def shu_osher(run: Path) -> list[Number]:
    """Find the shock of a tube with ripples, and the ripples behind it (Shu & Osher 1989)."""
    cells = last_cells(run)
    x, density = on_line(cells, "x", "density", cells["volume"] > 0)
    behind = density[(x > 0.7) & (x < 2.2)]
    return [
        Number("shock, x", crossing(x, density, 2.5), 2.39, 0.05),
        Number("ripples behind it, highest density", float(behind.max()), 4.65, 0.25),
    ]


def isentropic_vortex(run: Path) -> list[Number]:
    """Measure how a vortex comes back as it was (Shu 1998)."""
    found = snapshots(run)
    first, last = CellData(found[min(found)]), CellData(found[max(found)])
    error = float(np.average(np.abs(last["density"] - first["density"]), weights=last["volume"]))
    return [Number("L1 error of the density", error, 0.0, 5e-4)]


def driven_turbulence(run: Path) -> list[Number]:
    """Check the energy's balance, and a Mach number of a few."""
    history = read_history(run)
    entered = history["turbulence_energy"] + history["heating_energy"]
    left = history["total_energy"] - history["total_energy"][0] - entered
    speed = np.sqrt(2 * history["kinetic"][-1] / history["mass"][-1])
    scale = float(np.abs(history["turbulence_energy"]).max())
    return [
        Number("energy less what entered, of what was driven", float(left[-1]) / scale, 0.0, 1e-10),
        Number("mean Mach number", float(speed), 3.0, 1.0),
    ]


def heated_cavity(run: Path) -> list[Number]:
    """Measure the heat through a cavity at a Rayleigh number of 10^5 (de Vahl Davis 1983)."""
    return [Number("Nusselt number", nusselt(run), 4.519, 0.05)]


def nusselt(run: Path) -> float:
    """Measure the mean heat flux through a cavity of unit sides and difference, over conduction's.

    By diffusion at the warm wall: values half a cell from it fall to those at the wall.
    """
    import h5py

    found = snapshots(run)
    with h5py.File(found[max(found)]) as file:
        scalar = file["fields/t"][...]
        heights = np.diff(file["grid/z_face"][...], prepend=0.0)
    cells = scalar.shape[2]
    # Of second order: a parabola through the wall and two cells.
    slope = (8 * 0.5 - 9 * scalar[:, :, 0] + scalar[:, :, 1]) * cells / 3
    return float(np.average(slope.mean(axis=1), weights=heights))


def square_duct(run: Path) -> list[Number]:
    """Measure laminar flow in a square duct: largest over mean velocity (White 2006)."""
    import h5py

    found = snapshots(run)
    with h5py.File(found[max(found)]) as file:
        speed = file["fields/u"][...]
    # The largest is between the four cells in the middle.
    k, j = speed.shape[0] // 2, speed.shape[1] // 2
    middle = speed[k - 1 : k + 1, j - 1 : j + 1].mean()
    return [Number("largest velocity over the mean", float(middle / speed.mean()), 2.0963, 0.01)]


EXAMPLES: dict[str, Callable[[Path], list[Number]]] = {
    "double_mach": double_mach,
    "driven_turbulence": driven_turbulence,
    "heated_cavity": heated_cavity,
    "isentropic_vortex": isentropic_vortex,
    "rayleigh_taylor": rayleigh_taylor,
    "shu_osher": shu_osher,
    "square_duct": square_duct,
    "two_blasts": two_blasts,
}
