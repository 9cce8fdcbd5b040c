"""Time axes of plots in physical units: cosmic time and redshift, or s, yr, Myr and Gyr."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from octools.ages import cosmic_time
from octools.history import History
from octools.snapshot import Array
from octools.units import TIMES, YEAR, named

REDSHIFTS = (0, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
LEAST_DISTANCE = 0.07  # of labels along an axis, in parts of its length


@dataclass(frozen=True)
class RunParameters:
    """Resolved parameters of a run, as run.toml holds them."""

    tables: dict[str, Any]

    @property
    def cosmology(self) -> dict[str, float]:
        """Cosmological parameters of a file's header: none, they are parameters."""
        return {}

    def parameter(self, name: str, default: Any = None) -> Any:
        """Look up ``section.key``; `default` where it is not set."""
        section, _, key = name.partition(".")
        return self.tables.get(section, {}).get(key, default)


@dataclass(frozen=True)
class TimeAxis:
    """Times of a history in the unit that a plot shows.

    Attributes
    ----------
    values
        Times, shape (rows,).
    label
        Name of the axis, with its unit.
    redshift
        Redshifts at these times; None where space does not expand.
    """

    values: Array
    label: str
    redshift: Array | None = None


def run_parameters(history: History) -> RunParameters:
    """Read run.toml beside a history; there are no parameters without it."""
    path = history.path.with_name("run.toml")
    try:
        return RunParameters(tomllib.loads(path.read_text()))
    except (OSError, ValueError):
        return RunParameters({})


def time_axis(history: History) -> TimeAxis:
    """Choose the time axis of a history by the parameters of run.toml beside it."""
    parameters = run_parameters(history)
    if parameters.parameter("cosmology.enabled", False) and "a" in history.columns:
        a = history["a"]
        return TimeAxis(cosmic_time(a, parameters) / (1e9 * YEAR), "cosmic time [Gyr]", 1 / a - 1)
    unit = float(parameters.parameter("units.time", 1.0))
    time = history["time"]
    if unit == 1.0:
        return TimeAxis(time, "time")
    name, size = named(TIMES, unit, max(float(time[-1]), 1e-300))
    return TimeAxis(size * time, f"time [{name}]")


def draw_redshifts(axes: Axes, time: Array, redshift: Array) -> None:
    """Label the upper side of a plot over time with redshifts.

    Parameters
    ----------
    axes
        The plot, whose limits are set.
    time, redshift
        Ascending times in the unit of the axis, and the redshifts there.
    """
    low, high = axes.get_xlim()
    rising = np.argsort(redshift)
    places: list[float] = []
    labels: list[str] = []
    for z in REDSHIFTS:
        if not redshift.min() <= z <= redshift.max():
            continue
        place = float(np.interp(z, redshift[rising], time[rising]))
        near = any(abs(place - other) < LEAST_DISTANCE * (high - low) for other in places)
        if low <= place <= high and not near:
            places.append(place)
            labels.append(f"{z:g}")
    top = axes.secondary_xaxis("top")
    top.set_xticks(places, labels)
    top.set_xlabel("redshift")
