"""Plots of incompressible flows: slices, profiles with reference data, histories."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from octools.constant import constant_value, name_constants
from octools.errors import OctoolsError, unknown_name
from octools.figure import INK, SERIES, STYLE, draw_constant, save
from octools.flow import COMPONENTS, DERIVED, SCALAR, FlowSnapshot, stored_name
from octools.gradients import GRADIENTS
from octools.history import History, read_history
from octools.snapshot import AXES, Array

FLUCTUATIONS = ("u_rms", "v_rms", "w_rms")
PLANE_MEANS = ("z", *COMPONENTS, *FLUCTUATIONS)  # columns of profiles.csv
STRESSES = ("uw", "total_stress")
CHANNEL_REFERENCE = ("y_over_h", "yplus", "Uplus", "urms_plus", "vrms_plus", "wrms_plus")
CHANNELS = {"mkm1999_retau180.csv": "Moser, Kim & Mansour (1999)"}
CAVITY = "Albensoeder & Kuhlmann (2005)"  # of whose box centre_line_references knows
WIDE = 0.6  # slices whose height is less of their width
REFERENCES = Path(__file__).parent / "references"


@dataclass(frozen=True)
class FlowSlice:
    """Request for a figure of a flow: a field on the cell plane nearest to a position on an axis.

    Attributes
    ----------
    field
        A stored field, or ``speed``.
    axis
        The axis that is looked along.
    position
        Where the slice is; None for half-way.
    limits
        Least and greatest value of the colours; None for those of the data.
    colours
        A matplotlib colour map; None to choose by the field.
    """

    field: str = "speed"
    axis: str = "z"
    position: float | None = None
    limits: tuple[float | None, float | None] = (None, None)
    colours: str | None = None

    def in_plane(self, plane: tuple[int, float] | None) -> FlowSlice:
        """Look at the plane that a file holds, if it is a slice."""
        return self if plane is None else replace(self, axis=AXES[plane[0]], position=plane[1])


def slice_values(snapshot: FlowSnapshot, what: FlowSlice) -> tuple[Array, float]:
    """Read a slice: its values, shape (rows, columns), and its position on the axis."""
    known = [*snapshot.fields(), *DERIVED]
    if stored_name(what.field, known) not in known:
        raise unknown_name("field", what.field, known, str(snapshot.path))
    if what.field in GRADIENTS and snapshot.plane is not None:
        raise OctoolsError(f"{snapshot.path} is a slice, but {what.field} requires a full snapshot")
    axis = AXES.index(what.axis)
    centres = snapshot.centres[axis]
    position = 0.5 * snapshot.size[axis] if what.position is None else what.position
    index = int(np.abs(centres - position).argmin())
    return np.take(snapshot.at_centres(what.field), index, axis=2 - axis), float(centres[index])


def flow_scale(snapshot: FlowSnapshot, what: FlowSlice) -> float:
    """Return the size beside which differences of a velocity or pressure are rounding errors.

    The greatest speed in the slice, or its square; for gradients over the thinnest cell. 0 for a
    scalar, which has its own size.
    """
    power = {"t": 0, SCALAR: 0, "p": 2, "q_criterion": 2}.get(what.field, 1)
    if power == 0 or not set(COMPONENTS) <= set(snapshot.fields()):
        return 0.0
    speed = float(slice_values(snapshot, replace(what, field="speed"))[0].max())
    if what.field in GRADIENTS:
        speed /= min(float(np.diff(faces, prepend=0.0).min()) for faces in snapshot.faces)
    return speed**power


def slice_limits(what: FlowSlice, low: float, high: float) -> tuple[float | None, float | None]:
    """Choose the colours' limits for values between two: symmetric ones where signs differ."""
    if what.limits != (None, None) or not _is_signed(what, low, high):
        return what.limits
    high = max(-low, high)
    return -high, high


def draw_slice(figure: Figure, snapshot: FlowSnapshot, what: FlowSlice) -> Array:
    """Draw a slice into an empty figure, and return its values, shape (rows, columns)."""
    values, position = slice_values(snapshot, what)
    right, up = _plane_of(what)
    edges = [np.concatenate([[0.0], snapshot.faces[a]]) for a in (right, up)]
    least, most = float(values.min()), float(values.max())
    low, high = slice_limits(what, least, most)
    signed = _is_signed(what, least if low is None else low, most if high is None else high)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    shown = axes.pcolormesh(
        *edges,
        values,
        vmin=low,
        vmax=high,
        cmap=what.colours or ("berlin" if signed else "inferno"),
        rasterized=True,
    )
    axes.set(aspect="equal", xlabel=AXES[right], ylabel=AXES[up])
    axes.set_title(f"{flow_title(snapshot)}   slice at {what.axis} = {position:.4g}", loc="left")
    if what.limits == (None, None):
        value = constant_value(values, flow_scale(snapshot, what))
        if value is not None:
            draw_constant(axes, shown, _label(snapshot, what.field), value)
            return values
    if _aspect(snapshot, what) < WIDE:
        bar = figure.colorbar(shown, ax=axes, location="bottom", aspect=50)
    else:
        bar = figure.colorbar(shown, cax=axes.inset_axes((1.03, 0, 0.04, 1)))
    bar.set_label(_label(snapshot, what.field))
    bar.outline.set_linewidth(0.5)  # type: ignore[operator]
    return values


def _label(snapshot: FlowSnapshot, name: str) -> str:
    if name in COMPONENTS:
        return f"velocity {name}"
    if name in ("t", SCALAR):
        return "temperature" if snapshot.section("scalar").get("buoyancy") else "scalar"
    return {"p": "pressure"}.get(name, name.replace("_", " "))


def flow_title(snapshot: FlowSnapshot) -> str:
    """Return the title of a figure: the run, named as its directory, and the time."""
    name = snapshot.path.parent.resolve().name.replace("_", " ")
    return f"{name}   t = {snapshot.time:.4g}"


def slice_figure(snapshot: FlowSnapshot, what: FlowSlice) -> Figure:
    """Make an empty figure that a slice fits into."""
    aspect = _aspect(snapshot, what)
    if aspect < WIDE:  # the bar of colours lies below
        return Figure(figsize=(7.5, 7.0 * aspect + 1.7))
    return Figure(figsize=(7.5, min(6.2 * aspect + 1.0, 9.0)))


def save_slice(snapshot: FlowSnapshot, what: FlowSlice, path: Path) -> Array:
    """Draw a slice, and return its values, shape (rows, columns)."""
    with mpl.rc_context(STYLE):
        figure = slice_figure(snapshot, what)
        values = draw_slice(figure, snapshot, what)
        save(figure, path)
    return values


def _is_signed(what: FlowSlice, low: float, high: float) -> bool:
    """Return true if values have both signs, by more than turbulent fluctuations of a mean flow."""
    both = low < 0 < high and min(-low, high) > 0.1 * max(-low, high)
    return what.field not in ("speed", "t", SCALAR, "vorticity") and both


def _plane_of(what: FlowSlice) -> tuple[int, int]:
    right, up = (a for a in range(3) if a != AXES.index(what.axis))
    return right, up


def _aspect(snapshot: FlowSnapshot, what: FlowSlice) -> float:
    right, up = _plane_of(what)
    return float(snapshot.size[up] / snapshot.size[right])


def read_reference(path: Path, *names: str) -> dict[str, Array]:
    """Read a table of reference data: a file, or by its name alone one of octools' own."""
    own = REFERENCES / path.name
    is_own = path.parent == Path() and not path.exists() and own.exists()
    return read_table(own if is_own else path, *names)


def read_table(path: Path, *names: str) -> dict[str, Array]:
    """Read a table of numbers by column; lines with # before the names are left out.

    Parameters
    ----------
    path
        The file.
    names
        Columns that it must have.
    """
    table = _read_columns(path)
    for name in names:
        if name not in table:
            raise unknown_name("column", name, table, str(path))
    return table


def _read_columns(path: Path) -> dict[str, Array]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise OctoolsError(f"{path} cannot be read: {cause}") from cause
    lines = [line for line in lines if line.strip()]
    while len(lines) > 1 and lines[0].startswith("#") and lines[1].startswith("#"):
        lines.pop(0)
    rows = list(csv.reader([line.lstrip("# ") for line in lines]))
    try:
        table = np.array([[float(cell) for cell in row] for row in rows[1:]])
        return dict(zip(rows[0], table.T, strict=True))
    except (ValueError, IndexError) as cause:
        raise OctoolsError(f"{path} is not a numerical table: {cause}") from cause


def wall_shear(profile: dict[str, Array], viscosity: float) -> float:
    """Return the shear of the mean flow at walls at rest below and above, mean of both."""
    z, u = profile["z"], profile["u"]
    height = z[0] + z[-1]
    return float(0.5 * viscosity * (u[0] / z[0] + u[-1] / (height - z[-1])))


def in_wall_units(profile: dict[str, Array], viscosity: float) -> dict[str, Array]:
    """Scale the statistics of a channel by the friction velocity, and average both halves.

    Parameters
    ----------
    profile
        The columns of ``profiles.csv``; its `wall_shear` must be positive.
    viscosity
        Kinematic viscosity.

    Returns
    -------
    dict
        ``height`` (over the half-height), ``plus`` (distance from the wall in wall units), ``u``,
        ``u_rms``, ``v_rms``, ``w_rms``, ``uw`` and ``total_stress``, each from the wall to the
        middle; ``friction`` holds the friction velocity and its Reynolds number.
    """
    z = profile["z"]
    height = z[0] + z[-1]
    friction = np.sqrt(wall_shear(profile, viscosity))
    half = len(z) // 2

    def fold(name: str, sign: float = 1.0) -> Array:
        q = profile[name]
        return 0.5 * (q[:half] + sign * q[::-1][:half])

    result = {"height": z[:half] / (0.5 * height), "plus": z[:half] * friction / viscosity}
    for name in ("u", *FLUCTUATIONS):
        result[name] = fold(name) / friction
    for name in STRESSES:
        result[name] = fold(name, -1.0) / friction**2
    result["friction"] = np.array([friction, 0.5 * height * friction / viscosity])
    return result


def channel_errors(wall: dict[str, Array], reference: dict[str, Array]) -> dict[str, float]:
    """Measure how far a channel's statistics are from reference data, and from a straight stress.

    Differences of the mean are over the reference's centre value, those of each root mean square
    over that profile's peak; the stress over that at the wall.
    """
    y = reference["y_over_h"]

    def off(ours: str, theirs: str) -> float:
        expected = np.interp(wall["height"], y, reference[theirs])
        return float(np.abs(wall[ours] - expected).max() / reference[theirs].max())

    # The reference's y is normal to the walls and its z along the span: z and y of Octant.
    errors = {"u": off("u", "Uplus"), "u_rms": off("u_rms", "urms_plus")}
    errors |= {"v_rms": off("v_rms", "wrms_plus"), "w_rms": off("w_rms", "vrms_plus")}
    errors["total_stress"] = float(np.abs(wall["total_stress"] - (1 - wall["height"])).max())
    return errors


def save_channel(
    wall: dict[str, Array],
    reference: dict[str, Array] | None,
    path: Path,
    source: str = "reference",
    turnovers: float | None = None,
) -> None:
    """Draw means, root mean squares and stresses of a channel in wall units.

    Parameters
    ----------
    wall
        The statistics.
    reference
        Columns of reference data; None for none.
    path
        The file to write.
    source
        Name of the reference data.
    turnovers
        Time averaged over in h / u_tau, which the title says; None where it is not known.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 7.5), layout="constrained")
        mean, rms, stress = figure.subplots(3, 1)
        mean.semilogx(wall["plus"], wall["u"], color=SERIES[0], label="Octant")
        mean.set(ylabel="$U^+$", xlabel="$y^+$, distance from the wall")
        for place, law, label in _laws_of_the_wall(wall):
            mean.plot(place, law, color=SERIES[1], ls="--", lw=1.0, label=label)
        pairs = zip(FLUCTUATIONS, ("urms_plus", "wrms_plus", "vrms_plus"), SERIES, strict=False)
        for name, theirs, colour in pairs:
            rms.plot(wall["height"], wall[name], color=colour, label=name.replace("_", " "))
            if reference is not None:
                rms.plot(reference["y_over_h"], reference[theirs], ls=":", color=INK, lw=1.0)
        rms.set(ylabel="fluctuations$^+$", xlabel="distance from the wall over half-height")
        stress.plot(wall["height"], -wall["uw"], color=SERIES[1], label="-uw")
        stress.plot(wall["height"], wall["total_stress"], color=SERIES[0], label="total")
        stress.plot([0, 1], [1, 0], color=INK, ls=":", lw=1.0, label="exact")
        stress.set(ylabel="shear stress$^+$", xlabel="distance from the wall over half-height")
        if reference is not None:
            known = reference["yplus"][1:], reference["Uplus"][1:]
            mean.plot(*known, ls=":", color=INK, label=source)
        averaged = "" if turnovers is None else f"   averaged over {turnovers:.3g} $h/u_\\tau$"
        mean.set_title(f"channel   $Re_\\tau$ = {wall['friction'][1]:.1f}{averaged}", loc="left")
        for axes in (mean, rms, stress):
            _tidy(axes)
        save(figure, path)


KARMAN, INTERCEPT = 0.41, 5.2  # of the logarithmic law (Pope 2000, eq. 7.44)


def _laws_of_the_wall(wall: dict[str, Array]) -> list[tuple[Array, Array, str]]:
    """Give the viscous sublayer and, if the channel is high enough for one, the logarithmic law."""
    below = np.geomspace(wall["plus"][0], 12.0, 50)
    laws = [(below, below, "$U^+ = y^+$")]
    reynolds = float(wall["friction"][1])
    if reynolds > 100:
        above = np.geomspace(20.0, reynolds, 50)
        law = np.log(above) / KARMAN + INTERCEPT
        laws.append((above, law, f"$U^+ = \\ln y^+ / {KARMAN} + {INTERCEPT}$"))
    return laws


def save_plane_means(profile: dict[str, Array], title: str, path: Path) -> None:
    """Draw means and root mean squares over planes against z, in the run's own units."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 6.0), layout="constrained")
        mean, rms = figure.subplots(2, 1, sharex=True)
        for name, colour in zip(COMPONENTS, SERIES, strict=False):
            mean.plot(profile["z"], profile[name], color=colour, label=name)
            rms.plot(profile["z"], profile[f"{name}_rms"], color=colour, label=f"{name} rms")
        mean.set(ylabel="mean velocity")
        mean.set_title(title, loc="left")
        rms.set(ylabel="fluctuations", xlabel="z")
        for axes in (mean, rms):
            _tidy(axes)
        save(figure, path)


def centre_lines(snapshot: FlowSnapshot) -> dict[str, Array]:
    """Return u on the line along z, and w on that along x, through the middle of the box.

    Positions run over the cells' centres, velocities are interpolated to the line.
    """
    lines = {}
    for name, along, others in (("u", 2, (0, 1)), ("w", 0, (1, 2))):
        values = np.moveaxis(snapshot.at_centres(name), 2 - along, 0)
        # What is left of [k][j][i]: the slower axis first.
        for axis in sorted(others):
            centres = snapshot.centres[axis]
            middle = 0.5 * snapshot.size[axis]
            above = int(np.clip(np.searchsorted(centres, middle), 1, len(centres) - 1))
            share = (middle - centres[above - 1]) / (centres[above] - centres[above - 1])
            values = (1 - share) * values[..., above - 1] + share * values[..., above]
        lines[f"{name}_place"] = snapshot.centres[along]
        lines[name] = values
    return lines


def centre_line_references(paths: Sequence[Path]) -> dict[str, tuple[Array, Array]]:
    """Read the lid-driven cavity of Albensoeder & Kuhlmann (2005) in this program's frame.

    Their lid is the lower side of x, moving along y, of a box around the origin; ours is the upper
    side of z, moving along x. Tables with a column ``v`` over x give u over z = 1/2 - x; those with
    ``u`` over y give w over x, with the other sign.
    """
    found = {}
    for path in paths:
        table = read_reference(path)
        if "v" in table and "x" in table:
            found["u"] = (0.5 - table["x"], table["v"])
        elif "u" in table and "y" in table:
            found["w"] = (0.5 + table["y"], -table["u"])
        else:
            raise OctoolsError(f"{path} has the columns {', '.join(table)}; expected x,v or y,u")
    return found


def save_centre_lines(
    snapshot: FlowSnapshot, references: dict[str, tuple[Array, Array]], path: Path
) -> dict[str, float]:
    """Draw velocities on the centre lines, with reference points; return how far they are off."""
    lines = centre_lines(snapshot)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 6.5), layout="constrained")
        for axes, (name, along) in zip(
            figure.subplots(2, 1), (("u", "z"), ("w", "x")), strict=True
        ):
            axes.plot(lines[f"{name}_place"], lines[name], color=SERIES[0], label="Octant")
            if name in references:
                place, values = references[name]
                axes.plot(place, values, "o", ms=3.5, mfc="none", color=INK, label=CAVITY)
            axes.set(xlabel=along, ylabel=f"{name} on the centre line along {along}")
            _tidy(axes)
        save(figure, path)
    return centre_line_errors(lines, references)


def centre_line_errors(
    lines: dict[str, Array], references: dict[str, tuple[Array, Array]]
) -> dict[str, float]:
    """Measure how far u and w on the centre lines are from reference points between our own."""
    errors = {}
    for name, (place, values) in references.items():
        ours = lines[f"{name}_place"]
        inside = (place > ours[0]) & (place < ours[-1])
        found = np.interp(place[inside], ours, lines[name])
        errors[name] = float(np.abs(found - values[inside]).max())
    return errors


def save_flow_history(run: Path, path: Path) -> None:
    """Draw kinetic energy, what the flow is judged by, and the time step against time.

    That is the friction of walls, the Nusselt number of plates that a scalar passes between, or the
    loss of energy where there is neither.
    """
    data = read_history(run)
    time = data["time"]
    judged = _wall_shear(data) | _nusselt_number(data)
    judged = judged or {"loss of energy": {"": _loss_of_energy(data)}}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 2.3 * (2 + len(judged))), layout="constrained")
        energy, *middle, step = figure.subplots(2 + len(judged), 1, sharex=True)
        for name, colour in zip(COMPONENTS, SERIES, strict=False):
            energy.plot(time, data[f"kinetic_{name}"], color=colour, label=f"of {name}")
        energy.set(ylabel="kinetic energy")
        for axes, (label, curves) in zip(middle, judged.items(), strict=True):
            for (name, values), colour in zip(curves.items(), SERIES, strict=False):
                axes.plot(time, values, color=colour, label=name)
            axes.set(ylabel=label)
        step.plot(time[:-1], data["dt"][:-1], color=SERIES[0])
        step.ticklabel_format(axis="y", useOffset=False)
        step.set(ylabel="time step", xlabel="time")
        for axes in (energy, *middle, step):
            name_constants(axes)
            _tidy(axes)
        save(figure, path)


def _wall_shear(data: History) -> dict[str, dict[str, Array]]:
    shear = {"lower": data["wall_shear_lower"], "upper": -data["wall_shear_upper"]}
    return {"wall shear stress": shear} if any(map(np.any, shear.values())) else {}


def _nusselt_number(data: History) -> dict[str, dict[str, Array]]:
    """Divide the fluxes through both plates by what conduction alone would carry."""
    parameters = data.path.with_name("run.toml")
    if "scalar_flux_lower" not in data.columns or not parameters.is_file():
        return {}
    run = tomllib.loads(parameters.read_text())
    lower, upper = run["scalar"]["values_z"]
    conduction = run["scalar"]["diffusivity"] * (lower - upper) / run["grid"]["size"][2]
    if run["scalar"]["boundary_z"] != ["value", "value"] or conduction == 0.0:
        return {}
    sides = {side: data[f"scalar_flux_{side}"] / conduction for side in ("lower", "upper")}
    return {"Nusselt number": sides}


def _loss_of_energy(data: History) -> Array:
    energy = sum((data[f"kinetic_{name}"] for name in COMPONENTS), start=np.zeros(1))
    return -np.gradient(energy, data["time"]) if len(energy) > 1 else np.zeros_like(energy)


def _tidy(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="best", fontsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)
