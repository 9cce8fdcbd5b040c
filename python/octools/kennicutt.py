"""Relation of gas surface density and star formation rate (Kennicutt 1998)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from octools.ages import cosmic_time
from octools.errors import OctoolsError
from octools.figure import INK, SERIES, STYLE, save
from octools.raster import View
from octools.snapshot import AXES, Array, Header, Snapshot
from octools.units import PARSEC, SOLAR_MASS, YEAR

AVERAGING_TIME = 50.0  # Myr, over which star formation is averaged


class Areas(ABC):
    """Adjacent areas of the projected plane; lengths in code units.

    Attributes
    ----------
    width
        Along each direction across the line of sight, shape (2,).
    area
        Of each part, shape (parts,).
    """

    width: Array
    area: Array

    @abstractmethod
    def index(self, place: Array) -> Array:
        """Find the parts of places of shape (n, 2); len(area) where a place is in none."""


class Squares(Areas):
    """Square areas that cover a domain; their edge divides it and is at least `edge`."""

    def __init__(self, lower: Array, size: Array, edge: float) -> None:
        self.lower = lower
        self.count = np.maximum(np.floor(size / edge).astype(int), 1)
        self.width = size / self.count
        self.area = np.full(np.prod(self.count), np.prod(self.width))

    def index(self, place: Array) -> Array:
        """Find the squares of places, all of them within the domain."""
        at = ((place - self.lower) / self.width).astype(int)
        return np.ravel_multi_index(tuple(np.minimum(at, self.count - 1).T), tuple(self.count))


class Rings(Areas):
    """Rings of equal width around a centre, as far as they lie within the domain."""

    def __init__(self, lower: Array, size: Array, centre: Array, width: float) -> None:
        self.centre = centre
        reach = np.min([centre - lower, lower + size - centre])
        count = int(reach / width)
        self.width = np.array([width, width])
        self.area = np.pi * width**2 * (2 * np.arange(count) + 1.0)

    def index(self, place: Array) -> Array:
        """Find the rings of places by their distances from the centre."""
        radius = np.linalg.norm(place - self.centre, axis=-1)
        return np.minimum((radius / self.width[0]).astype(int), len(self.area))


@dataclass(frozen=True)
class Kennicutt:
    """Surface densities of gas and of recently formed stars in areas, projected along an axis.

    Attributes
    ----------
    gas
        In solar masses per pc^2, shape (parts,): those in which stars have formed.
    rate
        Of star formation, in solar masses per year and kpc^2, shape (parts,).
    """

    gas: Array
    rate: Array

    @property
    def offset(self) -> Array:
        """Log10 of the rate over that of Kennicutt (1998), shape (squares,)."""
        return np.log10(self.rate / kennicutt_rate(self.gas))

    @property
    def middle(self) -> float:
        """The median of the offset."""
        return float(np.median(self.offset))


def kennicutt_rate(gas: Array) -> Array:
    """Find the rate of star formation by Kennicutt (1998): 2.5e-4 (gas)^1.4 Msun/yr/kpc^2."""
    return 2.5e-4 * gas**1.4


def run_age(header: Header) -> float:
    """Return the age of a run in million years; infinite where space expands."""
    if header.parameter("cosmology.enabled", False):
        return float("inf")
    return header.time * header.units["time"] / (1e6 * YEAR)


def kennicutt(snapshot: Snapshot, axis: int, width: float, age: float, rings: bool) -> Kennicutt:
    """Compare columns of gas with the stars that have formed in the same parts of the sky.

    Parameters
    ----------
    snapshot
        Of a run with stars.
    axis
        Along which it is seen.
    width
        Of squares or rings, in kpc: not below the edge of the finest cells.
    age
        Of stars that count, at most, in million years.
    rings
        Whether the parts are rings around the centre of mass of all stars instead of squares.
    """
    header = snapshot.header
    _require_units(header, snapshot.path)
    if "stars" not in snapshot.particle_kinds:
        raise OctoolsError(
            f"{snapshot.path} contains no stars; this command requires a run with stars.enabled = "
            "true"
        )
    kiloparsec = 1e3 * PARSEC / header.units["length"]
    across = list(View(axis, None).across)
    if width * kiloparsec < snapshot.finest_cell()[across[0]]:
        raise OctoolsError(
            f"patches of {width} kpc are smaller than the finest cells of "
            f"{snapshot.finest_cell()[across[0]] / kiloparsec:.4g} kpc; use a larger --square"
        )
    stars = snapshot.particles("stars")
    place, initial = stars["position"][:, across], stars["initial_mass"]
    lower, size = header.lower[across], header.size[across]
    if rings:
        centre = np.average(place, axis=0, weights=initial)
        areas: Areas = Rings(lower, size, centre, width * kiloparsec)
    else:
        areas = Squares(lower, size, width * kiloparsec)

    to_solar = header.units["mass"] / SOLAR_MASS
    gas = _columns(snapshot, axis, areas) * to_solar / (areas.area * (1e3 / kiloparsec) ** 2)
    young = _ages(stars, header) <= age
    formed = _sums(areas, place[young], initial[young] * to_solar)
    rate = formed / (age * 1e6) / (areas.area / kiloparsec**2)
    found = (rate > 0.0) & (gas > 0.0)
    return Kennicutt(gas[found], rate[found])


def save_kennicutt(relation: Kennicutt, title: str, path: Path) -> None:
    """Draw rates of star formation over columns of gas, with Kennicutt's line."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 4.8), layout="constrained")
        axes = figure.subplots()
        axes.loglog(relation.gas, relation.rate, ".", ms=3.0, color=SERIES[0])
        line = np.geomspace(relation.gas.min(), relation.gas.max(), 2)
        axes.loglog(line, kennicutt_rate(line), color=INK, lw=1.2, label="Kennicutt (1998)")
        axes.set(xlabel="gas [Msun / pc^2]", ylabel="star formation [Msun / yr / kpc^2]")
        axes.set_title(title, loc="left")
        axes.legend()
        save(figure, path)


def _require_units(header: Header, path: Path) -> None:
    expands = bool(header.parameter("cosmology.enabled", False))
    if not expands and header.units["time"] == 1.0:
        raise OctoolsError(f"{path}: the run has no units (units.length, ...)")


def _ages(stars: dict[str, Array], header: Header) -> Array:
    """Ages of stars in million years."""
    if header.parameter("cosmology.enabled", False):
        now = cosmic_time(np.array([header.scale_factor]), header)
        return (now - cosmic_time(stars["birth_scale_factor"], header)) / (1e6 * YEAR)
    return (header.time - stars["birth_time"]) * header.units["time"] / (1e6 * YEAR)


def _sums(areas: Areas, place: Array, what: Array) -> Array:
    """Add up what is at places, shape (n, 2), by areas; what is in none is left out."""
    sums = np.bincount(areas.index(place), what, minlength=len(areas.area) + 1)
    return sums[: len(areas.area)]


def _columns(snapshot: Snapshot, axis: int, areas: Areas) -> Array:
    """Add up the mass of gas behind areas, shape (areas,), code units.

    Cells that are wider than an area are dealt out among those that they cover.
    """
    across = list(View(axis, None).across)
    total = np.zeros(len(areas.area))
    for level in snapshot.levels:
        cell = level.cell_size
        parts = max(1, int(np.ceil(np.max(cell[across] / areas.width))))
        step = (np.arange(parts) + 0.5) / parts
        for batch in snapshot.batches(["density"], level):
            block, k, j, i = np.nonzero(batch.leaf)
            index = batch.corner[block] + np.stack([i, j, k], axis=-1)
            mass = batch.values["density"][batch.leaf] * np.prod(cell) / parts**2
            for one in step:
                for other in step:
                    offset = np.zeros(len(AXES))
                    offset[across] = one, other
                    place = snapshot.header.lower + (index + offset) * cell
                    total += _sums(areas, place[:, across], mass)
    return total
