"""How the column of gas and the rate of star formation go together (Kennicutt 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from octools.errors import OctoolsError
from octools.figure import INK, SERIES, STYLE, save
from octools.raster import View
from octools.snapshot import AXES, Array, Header, Snapshot
from octools.stars import cosmic_time
from octools.units import PARSEC, SOLAR_MASS, YEAR


@dataclass(frozen=True)
class Kennicutt:
    """Columns of gas, and of stars that formed of late, in squares seen along an axis.

    Attributes
    ----------
    gas
        In solar masses per pc^2, shape (squares,): those in which stars have formed.
    rate
        Of star formation, in solar masses per year and kpc^2, shape (squares,).
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


def kennicutt(snapshot: Snapshot, axis: int, square: float, age: float) -> Kennicutt:
    """Compare columns of gas with the stars that have formed in the same squares.

    Parameters
    ----------
    snapshot
        Of a run with stars.
    axis
        Along which it is seen.
    square
        Edge of the squares, in kpc: not below the edge of the finest cells.
    age
        Of stars that count, at most, in million years.
    """
    header = snapshot.header
    _require_units(header, snapshot.path)
    if "stars" not in snapshot.particle_kinds:
        raise OctoolsError(f"{snapshot.path} has no stars: did the run have stars.enabled = true?")
    kiloparsec = 1e3 * PARSEC / header.units["length"]
    first, second = View(axis, None).across
    size = header.size[[first, second]]
    if square * kiloparsec < snapshot.finest_cell()[first]:
        raise OctoolsError(
            f"squares of {square} kpc are smaller than the finest cells, of "
            f"{snapshot.finest_cell()[first] / kiloparsec:.4g} kpc: give larger ones (--square)"
        )
    squares = np.maximum(np.floor(size / (square * kiloparsec)).astype(int), 1)
    edge = size / squares
    to_solar = header.units["mass"] / SOLAR_MASS
    gas = _columns(snapshot, axis, squares, edge) * to_solar / np.prod(edge * 1e3 / kiloparsec)

    stars = snapshot.particles("stars")
    place = stars["position"][:, [first, second]] - header.lower[[first, second]]
    young = _ages(stars, header) <= age
    index = np.minimum((place[young] / edge).astype(int), squares - 1)
    formed = np.zeros(tuple(squares))
    np.add.at(formed, tuple(index.T), stars["initial_mass"][young] * to_solar)
    rate = formed / (age * 1e6) / np.prod(edge / kiloparsec)
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


def _columns(snapshot: Snapshot, axis: int, squares: Array, edge: Array) -> Array:
    """Add up the mass of gas behind squares, shape (squares, squares), code units.

    Cells that are wider than a square are dealt out among those that they cover.
    """
    across = View(axis, None).across
    total = np.zeros(tuple(squares))
    for level in snapshot.levels:
        cell = level.cell_size
        parts = max(1, int(np.ceil(np.max(cell[list(across)] / edge))))
        step = (np.arange(parts) + 0.5) / parts
        for batch in snapshot.batches(["density"], level):
            block, k, j, i = np.nonzero(batch.leaf)
            index = batch.corner[block] + np.stack([i, j, k], axis=-1)
            mass = batch.values["density"][batch.leaf] * np.prod(cell) / parts**2
            for one in step:
                for other in step:
                    offset = np.zeros(len(AXES))
                    offset[list(across)] = one, other
                    place = ((index + offset) * cell)[:, list(across)]
                    at = np.minimum((place / edge).astype(int), squares - 1)
                    np.add.at(total, tuple(at.T), mass)
    return total
