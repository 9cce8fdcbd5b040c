"""Drawing a picture: colours, colour bar, title and block outlines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from octools.errors import OctoolsError, unknown_name
from octools.fields import Field, with_units
from octools.raster import Image, Outlines, View, block_outlines, make_image, make_view
from octools.snapshot import AXES, Snapshot

DPI = 160
INK = "#22262b"
SERIES = ("#1f5a94", "#c8553d", "#3f7d58", "#8a5a9e", "#b8860b", "#4b5563")
LEVELS = ("#9aa7b8", "#4cc3ff", "#6fe36f", "#ffe14d", "#ff9a5c", "#ff6fae", "#c79bff", "#ffffff")
STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.grid": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.dpi": DPI,
}


@dataclass(frozen=True)
class Picture:
    """What to draw.

    Attributes
    ----------
    field
        Name of the field.
    kind
        ``slice`` or ``projection``.
    axis
        The axis that is looked along.
    position
        Where a slice cuts that axis; None for the problem's centre.
    mean
        In a projection: the mass-weighted mean instead of the integral.
    log
        Logarithmic colours.
    outlines
        Draw the outlines of the blocks.
    limits
        Least and greatest value of the colours; either may be None to take it from the data.
    colours
        Name of a matplotlib colour map; None to choose by the field.
    """

    field: str = "density"
    kind: str = "slice"
    axis: str = "z"
    position: float | None = None
    mean: bool = False
    log: bool = False
    outlines: bool = False
    limits: tuple[float | None, float | None] = (None, None)
    colours: str | None = None

    def in_plane(self, plane: tuple[int, float] | None) -> Picture:
        """Look at the plane that a file holds, if it is a slice."""
        return self if plane is None else replace(self, axis=AXES[plane[0]], position=plane[1])


def render(snapshot: Snapshot, picture: Picture, field: Field) -> Image:
    """Compute the array of a picture."""
    view = make_view(snapshot, picture.kind, picture.axis, picture.position)
    weight = None
    if picture.mean:
        snapshot.require(["density"])
        weight = Field("density", ("density",), lambda batch, _: batch.values["density"])
    return make_image(snapshot, field, view, weight)


def draw(figure: Figure, snapshot: Snapshot, picture: Picture, field: Field, image: Image) -> None:
    """Draw a picture of a snapshot on an empty figure."""
    figure.clear()
    with mpl.rc_context(STYLE):
        axes = figure.add_subplot()
        shown = axes.imshow(
            image.values,
            origin="lower",
            extent=image.extent,
            norm=_norm(picture, field, image),
            cmap=_colour_map(picture, field),
            interpolation="nearest",
        )
        if picture.outlines:
            _draw_outlines(figure, axes, block_outlines(snapshot, image.view))
        right, up = image.view.across
        units = snapshot.length_units
        axes.set(xlabel=with_units(AXES[right], units), ylabel=with_units(AXES[up], units))
        axes.set_title(_title(snapshot, picture, image.view), loc="left")
        if _is_wide(snapshot, image.view):
            bar = figure.colorbar(shown, ax=axes, location="bottom", aspect=60, fraction=0.1)
        else:
            bar = figure.colorbar(shown, cax=axes.inset_axes((1.02, 0, 0.03, 1)))
        low, high = shown.get_clim()
        if picture.log and low >= 1e-3 and high <= 1e5:
            bar.formatter = bar.minorformatter = FuncFormatter(lambda value, _: f"{value:g}")
        bar.set_label(_bar_label(picture, field))
        bar.outline.set_linewidth(0.5)  # type: ignore[operator]


def new_figure(snapshot: Snapshot, picture: Picture) -> Figure:
    """Make an empty figure of the shape that a picture needs."""
    view = make_view(snapshot, picture.kind, picture.axis, picture.position)
    right, up = snapshot.header.size[list(view.across)]
    if _is_wide(snapshot, view):
        size = (9.6, 9.0 * up / right + 1.7)
    else:
        scale = 7.2 / max(right, up)
        size = (max(5.0, scale * right + 1.8), scale * up + 0.75)
    return Figure(figsize=size, dpi=DPI, layout="constrained")


def _is_wide(snapshot: Snapshot, view: View) -> bool:
    right, up = snapshot.header.size[list(view.across)]
    return bool(right > 1.6 * up)


def save_plot(snapshot: Snapshot, picture: Picture, field: Field, path: Path) -> Image:
    """Write a picture of a snapshot as an image file, and return its array."""
    image = render(snapshot, picture, field)
    figure = new_figure(snapshot, picture)
    draw(figure, snapshot, picture, field, image)
    save(figure, path)
    return image


def save(figure: Figure, path: Path) -> None:
    """Write a figure, in the format that the file's name asks for."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=DPI)
    except (OSError, ValueError) as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause


def _colour_map(picture: Picture, field: Field) -> str:
    if picture.colours is None:
        return "berlin" if field.signed else "inferno"
    if picture.colours not in mpl.colormaps:
        raise unknown_name("colour map", picture.colours, mpl.colormaps, "matplotlib")
    return picture.colours


def _norm(picture: Picture, field: Field, image: Image) -> Normalize:
    finite = image.values[np.isfinite(image.values)]
    low, high = picture.limits
    if picture.log:
        positive = finite[finite > 0]
        if positive.size == 0:
            raise OctoolsError(f"{picture.field} is nowhere positive; draw it without --log")
        low = float(positive.min()) if low is None else low
        high = float(positive.max()) if high is None else high
        if not 0 < low <= high:
            raise OctoolsError(f"logarithmic colours need 0 < {low:g} <= {high:g}")
        return LogNorm(low, high)
    if field.signed and low is None and high is None:
        high = float(np.abs(finite).max(initial=0.0))
        low = -high
    low = float(finite.min(initial=np.inf)) if low is None else low
    high = float(finite.max(initial=-np.inf)) if high is None else high
    return Normalize(low, high)


def _title(snapshot: Snapshot, picture: Picture, view: View) -> str:
    name = snapshot.header.parameter("problem.name", snapshot.path.stem)
    where = f"projection along {picture.axis}"
    if view.position is not None:
        where = f"slice at {picture.axis} = {view.position:.4g}"
    return f"{str(name).replace('_', ' ')}   t = {snapshot.header.time:.4g}   {where}"


def _bar_label(picture: Picture, field: Field) -> str:
    if picture.kind == "slice":
        return field.label
    if picture.mean:
        return f"{field.label}, mass-weighted mean"
    return f"{field.label}, integrated over length"


def _draw_outlines(figure: Figure, axes: mpl.axes.Axes, levels: list[Outlines]) -> None:
    shown = [level for level in levels if len(level.lower)]
    handles = []
    for level in shown:
        (x0, y0), (x1, y1) = level.lower.T, level.upper.T
        corners = np.stack([[x0, x1, x1, x0], [y0, y0, y1, y1]]).transpose(2, 1, 0)
        colour = LEVELS[level.level % len(LEVELS)]
        axes.add_collection(
            PolyCollection(
                list(corners), facecolors="none", edgecolors=colour, linewidths=0.5, alpha=0.9
            ),
            autolim=False,
        )
        handles.append(Line2D([], [], color=colour, lw=2.5, label=f"{level.level}"))
    axes.legend(
        handles=handles,
        title="blocks of level",
        ncols=len(handles),
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.2,
        handlelength=1.0,
        handletextpad=0.4,
        columnspacing=0.9,
        fontsize=8,
        title_fontsize=8,
    )
