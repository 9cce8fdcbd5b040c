"""Stars: when they formed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from octools.errors import OctoolsError
from octools.figure import SERIES, STYLE, save
from octools.snapshot import Array, Header, Snapshot
from octools.units import SOLAR_MASS, YEAR

HUBBLE_TIME = 3.0856775814913673e17  # s, for h = 1


@dataclass(frozen=True)
class StarFormation:
    """How many stars formed in intervals of time.

    Attributes
    ----------
    edges
        Of the intervals, in million years: since the run began, or since the universe did; shape
        (intervals + 1,).
    rate
        Solar masses per year, of the stars' masses when they formed, shape (intervals,).
    mass
        Solar masses that had formed by the end of each interval, shape (intervals,).
    redshift
        At the middles of the intervals; None where nothing expands.
    """

    edges: Array
    rate: Array
    mass: Array
    redshift: Array | None

    @property
    def middles(self) -> Array:
        """Middles of the intervals, in million years."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def cosmic_time(scale_factor: Array, header: Header) -> Array:
    """Find the age of the universe in s at scale factors, by the parameters of a run."""
    names = ("omega_m", "omega_lambda", "omega_radiation", "w0", "wa", "h")
    defaults = (None, None, 0.0, -1.0, 0.0, None)
    values = [header.parameter(f"cosmology.{n}", d) for n, d in zip(names, defaults, strict=True)]
    if any(value is None for value in values):
        raise OctoolsError("the file does not say what universe it is of: cosmology.omega_m, ...")
    matter, dark_energy, radiation, w0, wa, h = (float(value) for value in values)
    curvature = 1.0 - matter - dark_energy - radiation
    # dt = a / sqrt(...) dx with x = sqrt(a): smooth from a = 0 on.
    x = np.linspace(0.0, np.sqrt(max(float(np.max(scale_factor, initial=0.0)), 1e-4)), 20001)
    a = x**2
    with np.errstate(divide="ignore"):
        growth = np.where(a > 0, a, 1.0) ** (-3.0 * (1.0 + w0 + wa)) * np.exp(-3.0 * wa * (1.0 - a))
    rate = matter * a + radiation + curvature * a**2 + dark_energy * a**4 * growth
    slope = np.zeros_like(x)
    slope[1:] = 2.0 * x[1:] * a[1:] / np.sqrt(rate[1:])
    time = np.concatenate([[0.0], np.cumsum(0.5 * (slope[1:] + slope[:-1]) * np.diff(x))])
    return np.interp(np.sqrt(scale_factor), x, time) * HUBBLE_TIME / h


def star_formation(snapshot: Snapshot, intervals: int = 50) -> StarFormation:
    """Find the history of star formation from the stars of a snapshot.

    Stars that a run began with count, too, from the time when it began.
    """
    header = snapshot.header
    if "stars" not in snapshot.particle_kinds:
        raise OctoolsError(f"{snapshot.path} has no stars: did the run have stars.enabled = true?")
    stars = snapshot.particles("stars")
    expands = bool(header.parameter("cosmology.enabled", False))
    if not expands and header.units["time"] == 1.0:
        raise OctoolsError(f"{snapshot.path}: the run has no units (units.time, ...)")
    if expands:
        born = cosmic_time(stars["birth_scale_factor"], header)
        now = float(cosmic_time(np.array([header.scale_factor]), header)[0])
        begin = float(born.min(initial=now))
    else:
        born = stars["birth_time"] * header.units["time"]
        now, begin = header.time * header.units["time"], 0.0
    if not now > begin:
        begin, now = 0.0, max(now, 1.0)
    edges = np.linspace(begin, now, intervals + 1)
    mass = stars["initial_mass"] * header.units["mass"] / SOLAR_MASS
    formed, _ = np.histogram(born, bins=edges, weights=mass)
    redshift = None
    if expands:
        a = np.linspace(1e-3, max(header.scale_factor, 2e-3), 4001)
        middles = 0.5 * (edges[1:] + edges[:-1])
        redshift = 1.0 / np.interp(middles, cosmic_time(a, header), a) - 1.0
    return StarFormation(
        edges / (1e6 * YEAR), formed * YEAR / np.diff(edges), np.cumsum(formed), redshift
    )


def save_star_formation(history: StarFormation, title: str, path: Path) -> None:
    """Draw the rate of star formation, and the mass of stars, against time."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 5.0), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True)
        top.stairs(history.rate, history.edges, color=SERIES[0], lw=1.2)
        top.set(ylabel="star formation [Msun / yr]", ylim=(0.0, None))
        top.set_title(title, loc="left")
        bottom.plot(history.edges[1:], history.mass, color=SERIES[1], lw=1.2)
        bottom.set(ylabel="stars formed [Msun]", xlabel="time [Myr]", ylim=(0.0, None))
        for axes in (top, bottom):
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.01)
        save(figure, path)
