"""Plots of binary stars: curves over time, and density in the orbital plane with Roche lobes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from octools.binary_star import BinaryState
from octools.fields import with_units
from octools.figure import INK, SERIES, STYLE, save
from octools.history import History
from octools.oblique import ObliquePlane, interpolated_potential, sample_plane
from octools.roche import Lobes
from octools.snapshot import Array, Header, Snapshot
from octools.units import shown_units

PIXELS = 640
CONTOUR_PIXELS = 2  # pixels of the density per pixel of the potential, along each axis
PANEL_COLUMNS = 3
DECADES = 6.0  # range of the colour scale below the maximum density
FEW = 25  # snapshots; fewer ones are marked by points
OUTLINED = [withStroke(linewidth=2.4, foreground=INK)]


# --- curves ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Line of a plot: its label and values, and whether it is a thin line of history.csv."""

    label: str
    orbits: Array
    values: Array
    colour: str
    thin: bool = False


def save_curves(
    table: Mapping[str, Array], history: History | None, header: Header, title: str, path: Path
) -> None:
    """Draw separation, masses, transfer and angular momentum over time in orbital periods.

    Parameters
    ----------
    table
        Columns of `octools.binary_star.binary_table`.
    history
        history.csv of the run, whose separation of marked gas is also drawn; None without it.
    header
        Header of the first snapshot, for units.
    title, path
        Title and file of the plot.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 8.4), layout="constrained")
        panels = figure.subplots(3, 2, sharex=True)
        _draw_separation(panels[0, 0], table, history, header)
        _draw_ratio(panels[0, 1], table)
        _draw_masses(panels[1, 0], table)
        _draw_passed(panels[1, 1], table)
        _draw_rates(panels[2, 0], table)
        _draw_angular_momentum(panels[2, 1], table)
        for axes in panels.flat:
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.01)
        for axes in panels[-1]:
            axes.set_xlabel("time / initial orbital period $P_0$")
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
        save(figure, path)


def _draw_separation(
    axes: Axes, table: Mapping[str, Array], history: History | None, header: Header
) -> None:
    name, unit = header.shown_lengths
    orbits = table["orbits"]
    curves = [Curve("gas in the Roche lobes", orbits, unit * table["separation"], SERIES[0])]
    if history is not None and "separation" in history.columns:
        since = np.interp(history["time"], table["time"], orbits, left=np.nan, right=np.nan)
        marked = unit * history["separation"]
        curves.append(Curve("marked gas (history.csv)", since, marked, SERIES[5], thin=True))
    _draw(axes, curves)
    axes.set_ylabel(with_units("separation $a$", "" if name == "length" else name))


def _draw_ratio(axes: Axes, table: Mapping[str, Array]) -> None:
    _draw(axes, [Curve("", table["orbits"], table["mass_ratio"], SERIES[0])])
    axes.set_ylabel("mass ratio $q = M_2 / M_1$")


def _draw_masses(axes: Axes, table: Mapping[str, Array]) -> None:
    curves = []
    for star in (1, 2):
        mass = table[f"lobe_{star}_mass"]
        label = f"star {star}, $M_{{{star},0}}$ = {mass[0] / _whole(table):.4g} $M_0$"
        change = (mass - mass[0]) / _whole(table)
        curves.append(Curve(label, table["orbits"], change, SERIES[star - 1]))
    outside = table["mass_outside"] - table["mass_outside"][0]
    curves.append(Curve("outside the lobes", table["orbits"], outside / _whole(table), SERIES[5]))
    _draw(axes, curves)
    axes.set_ylabel("change of mass in the Roche lobe [$M_0$]")


def _draw_passed(axes: Axes, table: Mapping[str, Array]) -> None:
    curves = []
    for number, (giver, taker) in enumerate(((1, 2), (2, 1))):
        label = f"gas of star {giver} in the lobe of star {taker}"
        passed = table[f"mass_from_{giver}_to_{taker}"] / _whole(table)
        curves.append(Curve(label, table["orbits"], passed, SERIES[number]))
    _draw(axes, curves)
    axes.set_ylabel("exchanged mass [$M_0$]")
    if any((curve.values > 0.0).any() for curve in curves):
        axes.set_yscale("log", nonpositive="mask")


def _draw_rates(axes: Axes, table: Mapping[str, Array]) -> None:
    per_orbit = 2.0 * np.pi / table["angular_velocity"][0] / _whole(table)
    labels = {
        "mass_rate_1": ("star 1, $\\dot M_1$", SERIES[0]),
        "mass_rate_2": ("star 2, $\\dot M_2$", SERIES[1]),
        "transfer_rate": ("from star 1 to star 2, by origin of the gas", SERIES[2]),
    }
    curves = [
        Curve(label, table["orbits"], per_orbit * table[name], colour)
        for name, (label, colour) in labels.items()
    ]
    axes.axhline(0.0, color=INK, lw=0.5)
    _draw(axes, curves)
    axes.set_ylabel("mass-transfer rate $\\dot M$ [$M_0 / P_0$]")


def _draw_angular_momentum(axes: Axes, table: Mapping[str, Array]) -> None:
    names = {
        "orbital_angular_momentum": "orbit",
        "spin_1": "spin of star 1",
        "spin_2": "spin of star 2",
        "angular_momentum_outside": "gas outside the lobes",
    }
    total = np.sum([table[name] for name in names], axis=0)
    scale = abs(total[0])
    curves = [
        Curve(
            f"{label}, {table[name][0] / scale:.4g} $J_0$",
            table["orbits"],
            (table[name] - table[name][0]) / scale,
            colour,
        )
        for (name, label), colour in zip(names.items(), (*SERIES[:3], SERIES[5]), strict=True)
    ]
    curves.append(Curve("total", table["orbits"], (total - total[0]) / scale, INK))
    axes.axhline(0.0, color=INK, lw=0.5)
    _draw(axes, curves)
    axes.set_ylabel("change of angular momentum [$J_0$]")


def _whole(table: Mapping[str, Array]) -> float:
    """Return the mass of both stars in the first snapshot."""
    return float(table["lobe_1_mass"][0] + table["lobe_2_mass"][0])


def _draw(axes: Axes, curves: Sequence[Curve]) -> None:
    for curve in curves:
        marker = "." if not curve.thin and len(curve.orbits) < FEW else ""
        width = 0.7 if curve.thin else 1.3
        axes.plot(
            curve.orbits, curve.values, color=curve.colour, lw=width, marker=marker,
            label=curve.label, zorder=1.5 if curve.thin else 2.0,
        )  # fmt: skip
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    if any(curve.label for curve in curves):
        axes.legend(fontsize=8)


# --- density in the orbital plane -----------------------------------------------------------------


@dataclass(frozen=True)
class Scales:
    """Time, separation and orbital period of the first snapshot, in code units."""

    time: float
    separation: float
    period: float


@dataclass(frozen=True)
class OrbitalImage:
    """Density in the orbital plane, seen along the axis, with the first star on the left.

    Attributes
    ----------
    state
        Binary star.
    plane
        Region of the orbital plane; its centre is the centre of mass of both stars.
    density
        Density in the units shown, shape (pixels, pixels) as up, right; NaN outside the domain.
    potential
        Effective potential near the stars relative to that at L1 on larger pixels of the same
        region; None without lobes.
    """

    state: BinaryState
    plane: ObliquePlane
    density: Array
    potential: Array | None


def orbital_image(
    snapshot: Snapshot, state: BinaryState, half_width: float, pixels: int = PIXELS
) -> OrbitalImage:
    """Return density and effective potential in the orbital plane.

    Parameters
    ----------
    snapshot, state
        Open snapshot, and the state of the binary measured in it.
    half_width
        Half the edge length of the image, code length.
    pixels
        Number of pixels along an edge.
    """
    pair = state.pair
    right = pair.direction
    plane = ObliquePlane(pair.centre, right, np.cross(pair.axis, right), half_width, pixels)
    unit = shown_units("mass / length^3", snapshot.header.units)[1]
    density = unit * sample_plane(snapshot, plane, "density")
    if state.stars is None:
        return OrbitalImage(state, plane, density, None)
    coarse = replace(plane, pixels=max(2, pixels // CONTOUR_PIXELS))
    potential = _relative_potential(snapshot, state.stars.lobes, coarse.positions.reshape(-1, 3))
    return OrbitalImage(state, plane, density, potential.reshape(coarse.pixels, coarse.pixels))


def _relative_potential(snapshot: Snapshot, lobes: Lobes, places: Array) -> Array:
    """Return the effective potential relative to that at L1; NaN far from the stars."""
    near = _near_stars(places, lobes.potential.pair.position, lobes.reach)
    stored = lobes.potential.gravity_constant is None
    gravity = interpolated_potential(snapshot, places[near]) if stored else None
    found = np.full(len(places), np.nan)
    found[near] = lobes.potential.with_rotation(places[near], gravity) - lobes.value
    return found


def _near_stars(places: Array, stars: Array, reach: Array) -> Array:
    """Return which positions are hardly farther from a star than the inner Lagrangian point."""
    near = [np.linalg.norm(places - stars[s], axis=1) < 1.05 * reach[s] for s in range(2)]
    return np.asarray(near[0] | near[1])


def density_limits(images: Sequence[OrbitalImage]) -> tuple[float, float]:
    """Return the common limits of a logarithmic colour scale: at most six decades."""
    values = np.concatenate([image.density[image.density > 0.0] for image in images])
    high = float(values.max())
    return max(float(values.min()), 10.0**-DECADES * high), high


def draw_orbital_plane(
    axes: Axes,
    image: OrbitalImage,
    scales: Scales,
    limits: tuple[float, float],
) -> Any:
    """Draw density, Roche lobes, centres of mass and L1, and return the coloured image.

    Parameters
    ----------
    axes
        Axes of the plot.
    image
        Density and potential.
    scales
        Binary star in the first snapshot, for axes and title.
    limits
        Limits of the colour scale.
    """
    unit = 1.0 / scales.separation
    edge = unit * image.plane.half_width
    colours = mpl.colormaps["inferno"]
    shown = axes.imshow(
        np.where(np.isnan(image.density), np.nan, np.maximum(image.density, limits[0])),
        origin="lower",
        extent=(-edge, edge, -edge, edge),
        norm=LogNorm(*limits),
        cmap=colours.with_extremes(bad="#d5d8dc"),
        interpolation="nearest",
    )
    if image.potential is not None and np.nanmin(image.potential) < 0.0:
        ticks = unit * replace(image.plane, pixels=len(image.potential)).ticks
        lines = axes.contour(
            ticks, ticks, image.potential, levels=[0.0], colors="white", linewidths=1.1
        )
        lines.set(path_effects=OUTLINED)
    _mark(axes, image, unit)
    axes.set(xlabel="along the line of the stars [$a_0$]", ylabel="along the orbit [$a_0$]")
    orbits = (image.state.time - scales.time) / scales.period
    axes.set_title(f"$t$ = {orbits:.3g} $P_0$", loc="left", fontsize=9.5)
    return shown


def _mark(axes: Axes, image: OrbitalImage, unit: float) -> None:
    plane, style = image.plane, {"ls": "", "color": "white", "path_effects": OUTLINED}
    marks = [(place, "+", 7.0) for place in image.state.pair.position]
    if image.state.stars is not None:
        marks.append((image.state.stars.lobes.point, "x", 4.5))
    for place, marker, size in marks:
        away = unit * (place - plane.centre)
        axes.plot(away @ plane.right, away @ plane.up, marker=marker, ms=size, **style)


def density_label(header: Header) -> str:
    """Return the label of the colour bar."""
    return with_units("density", shown_units("mass / length^3", header.units)[0])


def save_density(
    images: Sequence[OrbitalImage], header: Header, scales: Scales, title: str, path: Path
) -> None:
    """Draw the density in the orbital plane of several snapshots with a common colour scale."""
    columns = min(len(images), PANEL_COLUMNS)
    rows = -(-len(images) // columns)
    limits = density_limits(images)
    with mpl.rc_context(STYLE):
        size = (3.4 * columns + 1.3, 3.45 * rows + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, image in zip(panels.flat, images, strict=False):
            shown = draw_orbital_plane(axes, image, scales, limits)
            axes.label_outer()
        for axes in list(panels.flat)[len(images) :]:
            axes.set_visible(False)
        bar = figure.colorbar(shown, ax=panels, shrink=0.9, aspect=35)
        bar.set_label(density_label(header))
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
        save(figure, path)


def draw_frame(
    figure: Figure,
    image: OrbitalImage,
    header: Header,
    scales: Scales,
    limits: tuple[float, float],
) -> None:
    """Draw one snapshot on an empty figure, as a frame of a movie."""
    with mpl.rc_context(STYLE):
        axes = figure.add_subplot()
        shown = draw_orbital_plane(axes, image, scales, limits)
        figure.colorbar(shown, ax=axes, shrink=0.9).set_label(density_label(header))
