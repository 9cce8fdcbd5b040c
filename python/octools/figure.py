"""Drawing of an image: colours, colour bar, title and block outlines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from octools.constant import constant_value
from octools.errors import OctoolsError, unknown_name
from octools.fields import VELOCITY, Field, as_shown, find_field, with_units
from octools.files import whole_file
from octools.gradients import GRADIENTS, SIGNED, gradient_image
from octools.raster import (
    Image,
    Outlines,
    View,
    block_outlines,
    make_image,
    make_view,
)
from octools.snapshot import AXES, Array, Batch, Header, Snapshot
from octools.units import shown_units

DPI = 160
PARTICLE_PIXELS = 960  # across columns of particles: no more than a picture has across its axes
LABELLED_RANGE = 30.0  # of a logarithmic scale: where it is longer, powers of ten are labelled
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
    """Request for a figure: field, view and style.

    Attributes
    ----------
    field
        Name of a field, a formula of fields, or a kind of particles to project.
    kind
        ``slice`` or ``projection``.
    axis
        The axis that is looked along.
    position
        Where a slice cuts that axis; None for the centre. Lengths are those of the picture's axes.
    centre, width
        Middle and edge length of a part of the domain; None for the default centre, and for all.
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

    field: str = ""
    kind: str = "slice"
    axis: str = "z"
    position: float | None = None
    mean: bool = False
    log: bool = False
    outlines: bool = False
    limits: tuple[float | None, float | None] = (None, None)
    colours: str | None = None
    centre: tuple[float, float, float] | None = None
    width: float | None = None

    def of(self, header: Header) -> Picture:
        """Fill in what the file decides: the field, and the plane of a slice."""
        field = self.field or ("overdensity" if header.expands else "density")
        filled = replace(self, field=field)
        if header.plane is None:
            return filled
        axis, position = header.plane
        return replace(filled, axis=AXES[axis], position=position * header.shown_lengths[1])

    def view(self, snapshot: Snapshot) -> View:
        """Return the view in code lengths."""
        unit = snapshot.header.shown_lengths[1]
        position = None if self.position is None else self.position / unit
        x, y, z = self.centre or (0.0, 0.0, 0.0)
        centre = None if self.centre is None else (x / unit, y / unit, z / unit)
        width = None if self.width is None else self.width / unit
        return make_view(snapshot, self.kind, self.axis, position, centre, width)


def picture_field(snapshot: Snapshot, picture: Picture) -> Field:
    """Find what a picture shows: a field of the gas, or the column density of particles."""
    if picture.field in GRADIENTS:
        units = "1 / time^2" if picture.field == "q_criterion" else "1 / time"
        return Field(picture.field, VELOCITY, _nothing, units, picture.field in SIGNED)
    if picture.field not in snapshot.particle_kinds:
        field = find_field(snapshot, picture.field)
        integrated = picture.kind == "projection" and not (picture.mean or field.relative)
        return as_shown(field, snapshot.header, integrated)
    if picture.kind != "projection":
        raise OctoolsError(
            f"{picture.field} are particles, which can only be plotted with --kind projection"
        )
    label = f"column density of {picture.field.replace('_', ' ')} particles"
    if snapshot.header.expands:
        return Field(f"{label} / mean", (), _nothing, relative=True)
    return as_shown(Field(label, (), _nothing, "mass / length^2"), snapshot.header)


def _nothing(batch: Batch, _: Header) -> Array:
    """Return zeros instead of a field that must be computed from more than one cell."""
    return np.zeros(batch.leaf.shape)


def render(snapshot: Snapshot, picture: Picture, field: Field) -> Image:
    """Compute the array of a picture."""
    view = picture.view(snapshot)
    if picture.field in snapshot.particle_kinds:
        return _column_of_particles(snapshot, picture.field, view)
    if picture.field in GRADIENTS:
        return gradient_image(snapshot, picture.field, view)
    weight = None
    if picture.mean:
        snapshot.require(["density"])
        weight = Field("density", ("density",), lambda batch, _: batch.values["density"])
    image = make_image(snapshot, field, view, weight)
    if field.relative and weight is None and view.position is None:
        depth = snapshot.header.size[view.axis]
        image = replace(image, values=image.values / depth)
    return image


def _column_of_particles(snapshot: Snapshot, kind: str, view: View) -> Image:
    """Share out each particle's mass among the four nearest pixels; over the mean if space expands.

    Dark matter has two pixels across the mean distance of its particles, over which the mass is
    smoothed: it fills the domain and resolves no more. Other kinds lie close together where the
    mesh is fine: they have pixels of the finest cells.
    """
    header, across = snapshot.header, list(view.across)
    columns = snapshot.particles(kind)
    if "mass" not in columns:
        raise OctoolsError(f"{snapshot.path}: {kind} particles have no mass")
    mass = columns["mass"]
    lower, upper = np.array(view.window or (header.lower[across], header.upper[across]))
    per_length: Any = 2 * np.cbrt(max(len(mass), 1) / header.size.prod())
    if kind != "dark":
        per_length = 1 / snapshot.finest_cell()[across]
    pixels = np.clip(np.ceil((upper - lower) * per_length), 64, PARTICLE_PIXELS).astype(int)
    place = (columns["position"][:, across] - lower) / (upper - lower) * pixels - 0.5
    first = np.floor(place).astype(int)
    share = place - first
    values = np.zeros(pixels[::-1])
    for right, up in np.ndindex(2, 2):
        index, weight = first + np.array((right, up)), np.array(mass, dtype=float)
        for d, step in enumerate((right, up)):
            weight *= share[:, d] if step else 1 - share[:, d]
            if view.window is None and header.periodic[across[d]]:
                index[:, d] %= pixels[d]
        seen = ((index >= 0) & (index < pixels)).all(axis=1)
        np.add.at(values, (index[seen, 1], index[seen, 0]), weight[seen])
    for axis in (0, 1):
        values = 0.25 * (np.roll(values, 1, axis) + 2 * values + np.roll(values, -1, axis))
    values /= ((upper - lower) / pixels).prod()
    if header.expands:
        values /= mass.sum() / header.size[across].prod()
    else:
        values *= shown_units("mass / length^2", header.units)[1]
    return Image(view, values, (lower[0], upper[0], lower[1], upper[1]))


def draw(figure: Figure, snapshot: Snapshot, picture: Picture, field: Field, image: Image) -> None:
    """Draw a picture of a snapshot on an empty figure."""
    figure.clear()
    with mpl.rc_context(STYLE):
        axes = figure.add_subplot()
        length, unit = snapshot.header.shown_lengths
        colours = mpl.colormaps[_colour_map(picture, field)]
        colours = colours.with_extremes(bad=colours(0.0))  # what has no logarithm
        shown = axes.imshow(
            image.values,
            origin="lower",
            extent=tuple(unit * edge for edge in image.extent),  # type: ignore[arg-type]
            norm=_norm(picture, field, image),
            cmap=colours,
            interpolation="nearest",
        )
        if image.view.window is not None:
            (left, low), (right, high) = image.view.window
            axes.set(xlim=(unit * left, unit * right), ylim=(unit * low, unit * high))
        if picture.outlines:
            _draw_outlines(axes, block_outlines(snapshot, image.view), unit)
        right, up = image.view.across
        axes.set(xlabel=with_units(AXES[right], length), ylabel=with_units(AXES[up], length))
        axes.set_title(_title(snapshot, picture, image.view), loc="left")
        value = None
        if picture.limits == (None, None):
            value = constant_value(image.values, reference_scale(snapshot, picture))
        if value is not None:
            label = _bar_label(snapshot, picture, field)
            draw_constant(axes, shown, label, value)
            return
        if _is_wide(snapshot, image.view):
            bar = figure.colorbar(shown, ax=axes, location="bottom", aspect=60, fraction=0.1)
        else:
            bar = figure.colorbar(shown, cax=axes.inset_axes((1.02, 0, 0.03, 1)))
        low, high = shown.get_clim()
        if picture.log and low >= 1e-3 and high <= 1e5:
            bar.formatter = FuncFormatter(lambda value, _: f"{value:g}")
            narrow = high < LABELLED_RANGE * low
            bar.minorformatter = bar.formatter if narrow else NullFormatter()
        bar.set_label(_bar_label(snapshot, picture, field))
        bar.outline.set_linewidth(0.5)  # type: ignore[operator]


def draw_constant(axes: mpl.axes.Axes, shown: Any, label: str, value: float) -> None:
    """Show a constant field in one colour, with its value as a text.

    Parameters
    ----------
    axes, shown
        Where the field is drawn, and its image or mesh.
    label
        Name of the field, with units.
    value
        Its value.
    """
    half = abs(value) or 1.0
    shown.set_norm(Normalize(value - half, value + 1.1 * half))  # not on the edge of a colour
    name, bracket, units = label.partition(" [")
    text = f"{name} is constant: {value:.6g}"
    text += f" {units.removesuffix(']')}" if bracket else ""
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="white",
        bbox={"facecolor": INK, "edgecolor": "none", "boxstyle": "round"},
    )  # fmt: skip


def reference_scale(snapshot: Snapshot, picture: Picture) -> float:
    """Return the size of signals beside which differences of a velocity are rounding errors.

    The greatest speed or sound speed in the picture, in the units shown; for gradients of the
    velocity over the width of the finest cells. 0 for all other fields, which have their own size.
    """
    power = {"q_criterion": 2}.get(picture.field, 1)
    gradient = picture.field in GRADIENTS
    stored = snapshot.stored_fields
    if not gradient and picture.field not in (*VELOCITY, "speed"):
        return 0.0
    if not {*VELOCITY, "density", "pressure"} <= set(stored):
        return 0.0
    view, largest = picture.view(snapshot), 0.0
    for name in ("speed", "sound_speed"):
        field = find_field(snapshot, name)
        if not gradient:
            field = picture_field(snapshot, replace(picture, field=name))
        weight = find_field(snapshot, "density") if picture.mean else None
        values = make_image(snapshot, field, view, weight).values
        largest = max(largest, float(np.nanmax(values, initial=0.0)))
    return (largest / float(snapshot.finest_cell().min())) ** power if gradient else largest


def new_figure(snapshot: Snapshot, picture: Picture) -> Figure:
    """Make an empty figure of the shape that a picture needs."""
    view = picture.view(snapshot)
    right, up = _seen(snapshot, view)
    if _is_wide(snapshot, view):
        size = (9.6, 9.0 * up / right + 1.7)
    else:
        scale = 7.2 / max(right, up)
        size = (max(5.0, scale * right + 1.8), scale * up + 0.75)
    return Figure(figsize=size, dpi=DPI, layout="constrained")


def _is_wide(snapshot: Snapshot, view: View) -> bool:
    right, up = _seen(snapshot, view)
    return bool(right > 1.6 * up)


def _seen(snapshot: Snapshot, view: View) -> Array:
    """Edge lengths of the visible area, horizontal and vertical."""
    if view.window is None:
        return snapshot.header.size[list(view.across)]
    return np.subtract(*view.window[::-1])


def save_plot(snapshot: Snapshot, picture: Picture, field: Field, path: Path) -> Image:
    """Write a picture of a snapshot as an image file, and return its array."""
    image = render(snapshot, picture, field)
    figure = new_figure(snapshot, picture)
    draw(figure, snapshot, picture, field, image)
    save(figure, path)
    return image


def save(figure: Figure, path: Path) -> None:
    """Write a figure, in the format of the file's extension."""
    try:
        with whole_file(path) as beside:
            figure.savefig(beside, dpi=DPI, format=path.suffix.removeprefix(".") or "png")
    except (OSError, ValueError) as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause


def label_logarithms(axis: Axis) -> None:
    """Label a logarithmic axis in plain numbers where these are short, and nowhere too densely."""
    low, high = axis.get_view_interval()
    steps = (1, 2, 5) if high < 100 * low else (1,)
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_minor_formatter(NullFormatter())
    if low >= 1e-3 and high <= 1e5:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


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
            raise OctoolsError(f"{picture.field} has no positive values; plot it without --log")
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
    where = f"projection along {picture.axis}"
    if view.position is not None:
        length, unit = snapshot.header.shown_lengths
        where = f"slice at {picture.axis} = {view.position * unit:.4g}"
        if length != "length":
            where += f" {length.removeprefix('comoving ')}"
    return f"{snapshot.header.name(snapshot.path)}   {snapshot.header.when}   {where}"


def _bar_label(snapshot: Snapshot, picture: Picture, field: Field) -> str:
    if picture.kind == "slice":
        return field.label
    if picture.mean:
        return f"{field.label}, mass-weighted mean"
    if picture.field in snapshot.particle_kinds:
        return field.label
    if field.relative:
        return f"{field.label}, mean along {picture.axis}"
    if picture.field == "density":
        return f"column {field.label}"
    return f"{field.label}, integrated along {picture.axis}"


def _draw_outlines(axes: mpl.axes.Axes, levels: list[Outlines], unit: float) -> None:
    """Draw light lines in dark ones, which stand out from any colour below."""
    around = [withStroke(linewidth=1.3, foreground=INK, alpha=0.7)]
    shown = [level for level in levels if len(level.lower)]
    handles = []
    for level in shown:
        (x0, y0), (x1, y1) = unit * level.lower.T, unit * level.upper.T
        corners = np.stack([[x0, x1, x1, x0], [y0, y0, y1, y1]]).transpose(2, 1, 0)
        colour = LEVELS[level.level % len(LEVELS)]
        axes.add_collection(
            PolyCollection(
                list(corners),
                facecolors="none",
                edgecolors=colour,
                linewidths=0.6,
                path_effects=around,
            ),
            autolim=False,
        )
        handles.append(
            Line2D(
                [],
                [],
                color=colour,
                lw=2.5,
                label=f"{level.level}",
                path_effects=[withStroke(linewidth=3.5, foreground=INK)],
            )
        )
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
