"""Profiles of a snapshot, radial or along a line, with exact solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from octools.constant import constant_value
from octools.equation_of_state import is_ideal
from octools.errors import OctoolsError
from octools.exact import Bondi, IsothermalBall, Noh, Riemann, Sedov, State
from octools.fields import VELOCITY, Field, find_field, with_units
from octools.figure import INK, SERIES, STYLE, save
from octools.linear import LinearTheory, other_energies
from octools.pancake import Pancake
from octools.snapshot import AXES, Array, Batch, Header, Snapshot
from octools.table import write_table

EXACT_NAMES = ("sedov", "sod", "noh", "pancake", "isothermal_ball", "bondi")
RADIAL_NAMES = ("sedov", "noh", "isothermal_ball", "bondi")
MAX_BINS = 10_000_000
MAX_SAMPLES = 4  # per axis of a cell that is larger than the bins


@dataclass(frozen=True)
class Exact:
    """Exact solution at the time of a snapshot.

    Attributes
    ----------
    name
        Name of the solution.
    at
        Function that returns density, velocity (radial, or along the line) and pressure at
        coordinates, in code units.
    shock
        Radius of the shock; None without a shock.
    """

    name: str
    at: Callable[[Array], State]
    shock: float | None


@dataclass(frozen=True)
class Profile:
    """Values of some fields along a coordinate, in code units.

    Attributes
    ----------
    coordinate
        ``radius`` or an axis.
    place
        The coordinate, shape (points,), code length. In radial profiles the volume-weighted mean
        radius of each bin.
    volume
        Volume of the cells of each bin, or length of each cell, shape (points,).
    values
        The fields, each of shape (points,).
    labels
        Axis labels of the coordinate and of each field.
    """

    coordinate: str
    place: Array
    volume: Array
    values: dict[str, Array]
    labels: dict[str, str]


def radial_profile(
    snapshot: Snapshot, centre: Array, names: list[str], width: float | None = None
) -> Profile:
    """Average fields over spherical shells, weighted by volume.

    Leaf cells are assigned to shells by their centres; cells larger than the bins are divided
    into up to `MAX_SAMPLES` samples per axis. At periodic boundaries, the nearest image of the
    centre is used. The last shells extend to the farthest face of the domain.

    Parameters
    ----------
    snapshot
        Open snapshot.
    centre
        Centre of the shells, shape (3,), code length.
    names
        Names of fields, and ``radial_velocity`` relative to the motion of the problem.
    width
        Width of the bins in code length; by default the finest cell size.
    """
    header = snapshot.header
    width = float(snapshot.finest_cell().max()) if width is None else width
    fields = [_radial_field(snapshot, name, centre) for name in names]
    reach = _reach(header, centre)
    if not reach / MAX_BINS < width < np.inf:
        raise OctoolsError(
            f"the thickness of the shells, {width:g}, must be a number above {reach / MAX_BINS:g}, "
            f"so that there are fewer than {MAX_BINS} shells"
        )
    bins = max(1, round(reach / width))
    sums = np.zeros((2 + len(fields), bins))
    stored = sorted({need for f in fields for need in f.needs})
    for level in snapshot.levels:
        samples = int(np.clip(level.cell_size.max() / width, 1, MAX_SAMPLES))
        volume = float(level.cell_size.prod()) / samples**3
        for batch in snapshot.batches(stored, level):
            values = [f.compute(batch, header)[batch.leaf] for f in fields]
            for offset in np.ndindex(samples, samples, samples):
                shift = (np.array(offset) + 0.5) / samples
                r = np.sqrt(sum(d**2 for d in _offsets(header, batch, centre, shift)))[batch.leaf]
                index = (r / width).astype(np.int64)
                inside = index < bins
                weights = [np.ones(len(r)), r, *values]
                for total, weight in zip(sums, weights, strict=True):
                    add = np.bincount(index[inside], weight[inside], minlength=bins)
                    total += volume * add
    filled = sums[0] > 0
    place, *values = sums[1:, filled] / sums[0, filled]
    return _profile(snapshot, "radius", place, sums[0, filled], fields, values)


def line_profile(snapshot: Snapshot, axis: int, through: Array, names: list[str]) -> Profile:
    """Return the values in the leaf cells along a line parallel to an axis.

    Parameters
    ----------
    snapshot
        Open snapshot.
    axis
        Direction of the line: 0, 1 or 2.
    through
        Point on the line, shape (3,), code length; on a face, the upper cells are used.
    names
        Names of fields.
    """
    header = snapshot.header
    fields = [find_field(snapshot, name) for name in names]
    stored = sorted({need for f in fields for need in f.needs})
    first, second = (a for a in range(3) if a != axis)
    parts: list[list[Array]] = []
    for level in snapshot.levels:
        blocks = np.intersect1d(
            level.blocks_at(first, through[first]), level.blocks_at(second, through[second])
        )
        for batch in snapshot.batches(stored, level, blocks):
            index = _cell_indices(batch)
            on_line = batch.leaf.copy()
            for a in (first, second):
                on_line &= index[a] == level.cell_at(a, through[a])
            place = header.lower[axis] + (index[axis] + 0.5) * level.cell_size[axis]
            columns = [place, np.full(batch.leaf.shape, level.cell_size[axis])]
            columns += [f.compute(batch, header) for f in fields]
            parts.append([np.broadcast_to(c, batch.leaf.shape)[on_line] for c in columns])
    merged = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(merged[0])
    place, length, *values = (column[order] for column in merged)
    return _profile(snapshot, AXES[axis], place, length, fields, values)


def _profile(
    snapshot: Snapshot,
    coordinate: str,
    place: Array,
    volume: Array,
    fields: list[Field],
    values: list[Array],
) -> Profile:
    labels = {field.name: field.label for field in fields}
    labels[coordinate] = with_units(coordinate, snapshot.length_units)
    named = {field.name: column for field, column in zip(fields, values, strict=True)}
    return Profile(coordinate, place, volume, named, labels)


def exact_solution(header: Header, name: str, overrides: dict[str, float]) -> Exact:
    """Compute the exact solution for the parameters of a run.

    Parameters
    ----------
    header
        Header of the snapshot, which defines time and parameters.
    name
        Name of the solution, one of `EXACT_NAMES`.
    overrides
        Values of ``energy``, ``density``, ``gamma`` or ``position`` that replace those of the
        run.
    """
    t = header.time
    if not is_ideal(header):
        raise OctoolsError(
            f"the exact {name} solution is that of an ideal gas, but the run has "
            f'hydro.equation_of_state = "{header.parameter("hydro.equation_of_state")}"'
        )

    def given(key: str, default: float) -> float:
        return float(overrides.get(key, header.parameter(f"problem.{key}", default)))

    if name == "pancake":
        return _exact_pancake(header)
    if name == "isothermal_ball":
        ball = IsothermalBall(
            *(float(header.parameter(f"problem.{key}", default)) for key, default in BALL),
            float(header.parameter("gravity.constant", 1.0)),
        )
        return Exact(name, ball.at, None)
    if name == "bondi":
        flow = Bondi(header.gamma, given("density", 1.0), given("radius", 1.0))
        return Exact(name, flow.at, None)
    if t <= 0:
        raise OctoolsError(f"there is no exact {name} solution at t = {t:g}; take a later snapshot")
    gamma = overrides.get("gamma", header.gamma)
    if not gamma > 1:
        raise OctoolsError("the snapshot has no hydro.gamma > 1; give --gamma")
    if name == "sedov":
        blast = Sedov(given("energy", 1.0), given("density", 1.0), gamma)
        return Exact(name, lambda r: blast.at(r, t), blast.radius(t))
    if name == "sod":
        axis = problem_axis(header)
        middle = 0.5 * float(header.lower[axis] + header.upper[axis])
        left = _state(header, "problem.left", (1.0, 0.0, 1.0))
        right = _state(header, "problem.right", (0.125, 0.0, 0.1))
        tube = Riemann(left, right, gamma, given("position", middle))
        return Exact(name, lambda x: tube.at(x, t), None)
    if name == "noh":
        noh = Noh(gamma, given("density", 1.0), given("speed", 1.0))
        return Exact(name, lambda r: noh.at(r, t), noh.radius(t))
    raise OctoolsError(
        f"unknown exact solution '{name}'; expected one of {', '.join(EXACT_NAMES)}, none"
    )


BALL = (("central_density", 1.0), ("radius", 0.3), ("extent", 4.0), ("contrast", 100.0))


def _exact_pancake(header: Header) -> Exact:
    """Exact before the collapse; from then on integrated along a line."""
    cosmology = {
        name: float(header.parameter(f"cosmology.{name}"))
        for name in ("omega_m", "omega_lambda", "omega_b", "h", "box")
    }
    theory = LinearTheory(
        *(cosmology[name] for name in ("omega_m", "omega_lambda", "omega_b", "h")), 1.0, 1.0,
        **other_energies(header),
    )  # fmt: skip
    share = cosmology["omega_b"] / cosmology["omega_m"]
    axis = problem_axis(header)
    size = float(header.size[axis])
    if not np.isclose(size, 1.0):
        raise OctoolsError(f"the wavelength of the pancake is {size:g} of the box size; expected 1")
    pancake = Pancake(
        theory,
        start=epoch(header.parameter("cosmology.start")),
        collapse=epoch(header.parameter("problem.collapse", "z = 1")),
        temperature=float(header.parameter("problem.temperature", 100.0)),
        gas_share=share if header.parameter("problem.dark_matter", True) else 1.0,
        box=cosmology["box"],
    )
    middle = 0.5 * float(header.lower[axis] + header.upper[axis])
    return Exact("pancake", lambda x: pancake.at(x - middle, header.scale_factor), None)


def epoch(text: str) -> float:
    """Return the scale factor that ``z = 1`` or ``a = 0.5`` says."""
    kind, value = (part.strip() for part in text.split("="))
    return float(value) if kind == "a" else 1 / (1 + float(value))


def problem_axis(header: Header) -> int:
    """Give the axis that a run calls ``problem.axis``, by letter or number; x where it has none."""
    axis = header.parameter("problem.axis", "x")
    return AXES.index(axis) if axis in AXES else int(axis)


def key_numbers(profile: Profile, exact: Exact | None) -> dict[str, float]:
    """Measure a profile: the peak, the outer half-jump, and the distance to the exact solution.

    The outer half-jump is where the density outside the peak has fallen to the mean of the peak
    and the outermost value. L1 errors are means of the absolute difference weighted by volume.
    """
    numbers: dict[str, float] = {}
    if profile.coordinate == "radius" and "density" in profile.values:
        density = profile.values["density"]
        peak = int(np.argmax(density))
        numbers["peak radius"] = float(profile.place[peak])
        numbers["peak density"] = float(density[peak])
        half = _falls_to(profile.place[peak:], density[peak:], 0.5 * (density[peak] + density[-1]))
        if half is not None:
            numbers["outer half-jump radius"] = half
    if exact is not None:
        if exact.shock is not None:
            numbers["exact shock radius"] = exact.shock
        for name, solution in exact_values(profile, exact, profile.place).items():
            error = np.abs(profile.values[name] - solution)
            numbers[f"L1 error, {name}"] = float(np.average(error, weights=profile.volume))
    return numbers


# A profile may differ from its exact solution by as much as that one, moved by so many cells, does
# from itself. The default scheme gives up to 1.1 cells, with 32 to 256 of them across the domain,
# most in Noh's implosion; for gas that falls onto a black hole 1.9, where the hole accretes.
MOST_CELLS = {"bondi": 2.25}
MOST_CELLS_OF_OTHERS = 1.25


@dataclass(frozen=True)
class Comparison:
    """Difference between a profile and its exact solution.

    Attributes
    ----------
    what
        The number that was compared.
    cells
        The deviation, in cells.
    most
        The largest deviation that passes.
    """

    what: str
    cells: float
    most: float = MOST_CELLS_OF_OTHERS

    @property
    def passes(self) -> bool:
        """Whether the deviation is one that the resolution explains."""
        return self.cells <= self.most

    def __str__(self) -> str:
        """Return one line of text."""
        word = "PASS" if self.passes else "DEVIATES"
        return f"{word:<9} {self.what}: off by {self.cells:.2g} cells; {self.most:g} pass"


def comparisons(profile: Profile, exact: Exact | None) -> list[Comparison]:
    """Compare a profile with its exact solution: where its shock is, and each field.

    A field's deviation is the L1 error over the mean change of the exact solution per cell.
    """
    if exact is None:
        return []
    numbers, found = key_numbers(profile, exact), []
    most = MOST_CELLS.get(exact.name, MOST_CELLS_OF_OTHERS)
    cell = np.gradient(profile.place)
    if exact.shock is not None and "outer half-jump radius" in numbers:
        at = int(np.abs(profile.place - exact.shock).argmin())
        off = abs(numbers["outer half-jump radius"] - exact.shock) / cell[at]
        found.append(Comparison("shock radius", float(off), most))
    behind = exact_values(profile, exact, np.maximum(profile.place - 0.5 * cell, 0.0))
    for name, ahead in exact_values(profile, exact, profile.place + 0.5 * cell).items():
        change = float(np.average(np.abs(ahead - behind[name]), weights=profile.volume))
        if change > 0:
            cells = numbers[f"L1 error, {name}"] / change
            found.append(Comparison(name.replace("_", " "), cells, most))
    return found


def exact_values(profile: Profile, exact: Exact, place: Array) -> dict[str, Array]:
    """Return the exact values of the profile's fields at coordinates, as far as they are known."""
    radial = profile.coordinate == "radius"
    velocity = "radial_velocity" if radial else f"velocity_{profile.coordinate}"
    solution = zip(("density", velocity, "pressure"), exact.at(place), strict=True)
    return {name: values for name, values in solution if name in profile.values}


def write_csv(profile: Profile, exact: Exact | None, path: Path) -> None:
    """Write a profile as a table, one row per point, with the exact values beside it."""
    columns = {profile.coordinate: profile.place, **profile.values}
    if exact is not None:
        columns |= {f"exact_{n}": v for n, v in exact_values(profile, exact, profile.place).items()}
    write_table(columns, path)


def constants(profile: Profile) -> dict[str, float]:
    """Return the values of the fields that are constant along a profile, by name.

    Velocities are compared with the isothermal sound speed, where the profile has one.
    """
    scale = 0.0
    if {"density", "pressure"} <= profile.values.keys():
        density, pressure = (profile.values[name] for name in ("density", "pressure"))
        scale = float(np.sqrt(np.abs(pressure / density).max()))
    found = {}
    for name, values in profile.values.items():
        value = constant_value(values, scale if "velocity" in name else 0.0)
        if value is not None:
            found[name] = value
    return found


def differences(profile: Profile, other: Profile) -> dict[str, tuple[float, float]]:
    """Return the differences of a profile from another one, interpolated linearly.

    Returns
    -------
    dict
        Mean absolute difference weighted by volume, and range of the profile, by field.
    """
    found = {}
    for name, values in profile.values.items():
        theirs = np.interp(profile.place, other.place, other.values[name])
        mean = float(np.average(np.abs(values - theirs), weights=profile.volume))
        found[name] = mean, float(np.ptp(values))
    return found


def save_profile(
    profile: Profile,
    exact: Exact | None,
    title: str,
    path: Path,
    log: bool = False,
    against: tuple[str, Profile] | None = None,
) -> None:
    """Draw a profile, one panel per field, with the exact solution as a line behind the points.

    Parameters
    ----------
    profile
        What is drawn.
    exact
        The exact solution; None where there is none.
    title
        Title of the picture.
    path
        The file to write.
    log
        Whether fields that are above zero everywhere get a logarithmic scale.
    against
        Name and profile of another run, drawn in another colour.
    """
    flat = constants(profile)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 0.7 + 2.3 * len(profile.values)), layout="constrained")
        panels = figure.subplots(len(profile.values), 1, sharex=True, squeeze=False)[:, 0]
        fine = np.linspace(profile.place[0], profile.place[-1], 4000)
        curves = {} if exact is None else exact_values(profile, exact, fine)
        for axes, (name, values) in zip(panels, profile.values.items(), strict=True):
            if exact is not None and name in curves:
                label = f"exact {exact.name.replace('_', ' ')}"
                axes.plot(fine, curves[name], color=INK, lw=1.1, label=label)
            name_of_run = "Octant" if against is None else title.partition("   ")[0]
            axes.plot(profile.place, values, "o", ms=2.6, mew=0, color=SERIES[0], label=name_of_run)
            if against is not None:
                label, other = against
                axes.plot(other.place, other.values[name], color=SERIES[1], lw=1.0, label=label)
            if exact is not None and exact.shock is not None:
                axes.axvline(exact.shock, color=INK, lw=0.6, ls=":", zorder=0)
            if name in flat and against is None and name not in curves:
                _show_constant(axes, flat[name])
            elif log and np.all(values > 0):
                axes.set_yscale("log")
            axes.set_ylabel(profile.labels[name].replace(" [", "\n["))
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.01)
        if curves or against is not None:
            panels[0].legend(loc="best")
        panels[0].set_title(title, loc="left")
        panels[-1].set_xlabel(profile.labels[profile.coordinate])
        figure.align_ylabels(panels)
        save(figure, path)


def _show_constant(axes: mpl.axes.Axes, value: float) -> None:
    """Keep the scale of a constant field from magnifying rounding errors, and say so."""
    half = 0.5 * abs(value) or 1.0
    axes.set_ylim(value - half, value + half)
    axes.text(0.5, 0.8, f"constant: {value:.6g}", transform=axes.transAxes, ha="center")


def _radial_field(snapshot: Snapshot, name: str, centre: Array) -> Field:
    if name != "radial_velocity":
        return find_field(snapshot, name)
    snapshot.require(VELOCITY)

    def compute(batch: Batch, header: Header) -> Array:
        offsets = _offsets(header, batch, centre, np.full(3, 0.5))
        r = np.sqrt(sum(d**2 for d in offsets))
        flow = [batch.values[v] - u for v, u in zip(VELOCITY, header.drift, strict=True)]
        dot = sum(d * v for d, v in zip(offsets, flow, strict=True))
        return dot / np.maximum(r, 1e-300)

    return Field(name, VELOCITY, compute, units=snapshot.units_of("velocity_x"), signed=True)


def _cell_indices(batch: Batch) -> list[np.ndarray]:
    """Return the x, y and z indices of a batch's cells, each ready to broadcast to its shape."""
    n = np.arange(batch.leaf.shape[1])
    corner = batch.corner[:, :, None, None, None]
    return [corner[:, 0] + n, corner[:, 1] + n[:, None], corner[:, 2] + n[:, None, None]]


def _offsets(header: Header, batch: Batch, centre: Array, shift: Array) -> list[Array]:
    """Return x, y, z from the centre to a point in each cell; `shift` is in cells, shape (3,)."""
    cell = header.size / (header.base_cells * 2**batch.level)
    offsets = []
    for a, index in enumerate(_cell_indices(batch)):
        d = header.lower[a] + (index + shift[a]) * cell[a] - centre[a]
        if header.periodic[a]:
            d -= header.size[a] * np.rint(d / header.size[a])
        offsets.append(d)
    return offsets


def _reach(header: Header, centre: Array) -> float:
    """Distance from the centre to the farthest face that a shell can reach."""
    to_faces = np.maximum(header.upper - centre, centre - header.lower)
    return float(np.where(header.periodic, 0.5 * header.size, to_faces).max())


def _state(
    header: Header, name: str, default: tuple[float, float, float]
) -> tuple[float, float, float]:
    density, velocity, pressure = header.parameter(name, default)
    return float(density), float(velocity), float(pressure)


def _falls_to(place: Array, values: Array, target: float) -> float | None:
    """Find where falling values first reach a target, linearly between points."""
    below = np.flatnonzero(values <= target)
    if below.size == 0 or below[0] == 0:
        return None
    i = below[0]
    part = (values[i - 1] - target) / (values[i - 1] - values[i])
    return float(place[i - 1] + part * (place[i] - place[i - 1]))
