"""Star formation histories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from octools.ages import cosmic_time
from octools.errors import OctoolsError
from octools.figure import SERIES, STYLE, save
from octools.snapshot import Array, Snapshot
from octools.time_axis import draw_redshifts
from octools.units import SOLAR_MASS, YEAR


@dataclass(frozen=True)
class StarFormation:
    """Star formation history in intervals of time.

    Attributes
    ----------
    edges
        Edges of the intervals in Myr since the start of the run, or in cosmological runs since
        the Big Bang, shape (intervals + 1,).
    rate
        Star formation rate in solar masses per year, from initial masses, shape (intervals,).
    mass
        Mass formed until the end of each interval in solar masses, shape (intervals,).
    redshift
        Redshift at the middle of each interval, shape (intervals,); None without expansion.
    """

    edges: Array
    rate: Array
    mass: Array
    redshift: Array | None

    @property
    def middles(self) -> Array:
        """Middles of the intervals, in million years."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def star_formation(snapshot: Snapshot, intervals: int = 50) -> StarFormation:
    """Return the star formation history from the stars of an open snapshot.

    Stars of the initial conditions are included at the start of the run.
    """
    header = snapshot.header
    if "stars" not in snapshot.particle_kinds:
        raise OctoolsError(
            f"{snapshot.path} contains no stars; this command requires a run with stars.enabled = "
            "true"
        )
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
    """Draw the rate of star formation, and the mass of stars, against time and redshift."""
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
        if history.redshift is not None:
            bottom.set_xlabel("cosmic time [Myr]")
            draw_redshifts(top, history.middles, history.redshift)
        save(figure, path)
