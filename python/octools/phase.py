"""Phase diagrams: distribution of the gas mass over two fields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from octools.errors import OctoolsError
from octools.fields import Field
from octools.figure import STYLE, save
from octools.snapshot import Array, Snapshot

BINS = (32, 128)  # minimum and maximum number of bins along an axis


@dataclass(frozen=True)
class PhaseDiagram:
    """Fractions of the gas in bins of the logarithms of two fields.

    Attributes
    ----------
    x, y
        The fields.
    edges
        Of the bins, decimal logarithms: along x and along y.
    share
        Of all mass or volume in each bin, per decade of x and of y, shape (bins of y, bins of x).
    weight
        ``mass`` or ``volume``.
    means
        The weighted mean of each field over all cells.
    """

    x: Field
    y: Field
    edges: tuple[Array, Array]
    share: Array
    weight: str
    means: tuple[float, float]


def phase_diagram(snapshot: Snapshot, x: Field, y: Field, weight: str = "mass") -> PhaseDiagram:
    """Count leaf cells by two fields; those that are not positive are left out.

    Few cells are shared out among few bins, which can be seen.

    Reads the snapshot once, a bounded number of cells at a time, into bins a hundredth of a decade
    wide, which it then merges.
    """
    found, sums, total, cells = [], np.zeros(2), 0.0, 0
    needs = sorted({*x.needs, *y.needs, *(["density"] if weight == "mass" else [])})
    snapshot.require(needs)
    for level in snapshot.levels:
        volume = float(level.cell_size.prod())
        for batch in snapshot.batches(needs, level):
            values = [f.compute(batch, snapshot.header)[batch.leaf] for f in (x, y)]
            amount = np.full(len(values[0]), volume)
            if weight == "mass":
                amount *= batch.values["density"][batch.leaf]
            sums += [float((amount * value).sum()) for value in values]
            total += float(amount.sum())
            cells += len(amount)
            good = (values[0] > 0) & (values[1] > 0)
            found.append(_binned(*(np.log10(v[good]) for v in values), amount[good]))
    places, amounts = (np.concatenate(part) for part in zip(*found, strict=True))
    if not len(places):
        raise OctoolsError(f"{x.name} and {y.name} have no cells where both are positive")
    low, high = places.min(axis=0) - 0.01, places.max(axis=0) + 0.01
    wide = np.maximum(high - low, 0.2)
    middle = 0.5 * (low + high)
    bins = int(np.clip(3 * cells**0.4, *BINS))
    edges = [
        np.linspace(m - 0.5 * w, m + 0.5 * w, bins + 1) for m, w in zip(middle, wide, strict=True)
    ]
    share, *_ = np.histogram2d(places[:, 1], places[:, 0], bins=edges[::-1], weights=amounts)
    share /= amounts.sum() * np.diff(edges[0])[0] * np.diff(edges[1])[0]
    means = sums / total
    return PhaseDiagram(x, y, (edges[0], edges[1]), share, weight, (means[0], means[1]))


def _binned(x: Array, y: Array, amount: Array) -> tuple[Array, Array]:
    """Join cells whose logarithms agree to a hundredth: memory follows the diagram, not the run."""
    key = np.round(np.stack([x, y], axis=1), 2)
    places, group = np.unique(key, axis=0, return_inverse=True)
    return places, np.bincount(group.ravel(), amount, len(places))


def save_phase(diagram: PhaseDiagram, title: str, path: Path) -> None:
    """Draw a phase diagram over four or five decades of the share."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.9), layout="constrained")
        axes = figure.add_subplot()
        most = float(diagram.share.max())
        shown = axes.pcolormesh(
            *(10.0**edge for edge in diagram.edges),
            np.where(diagram.share > 0, diagram.share, np.nan),
            norm=LogNorm(1e-5 * most, most),
            cmap="inferno_r",
            rasterized=True,
        )
        axes.set(xscale="log", yscale="log", xlabel=diagram.x.label, ylabel=diagram.y.label)
        axes.set_title(title, loc="left")
        bar = figure.colorbar(shown, ax=axes)
        bar.set_label(f"fraction of the {diagram.weight} per decade$^2$")
        save(figure, path)
