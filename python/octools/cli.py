"""The command line of octools."""

import sys
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from octools import cans, galaxy_commands, ics
from octools.compare import Comparison, compare, vector_scales
from octools.errors import OctoolsError
from octools.fields import find_field
from octools.figure import Picture, save_plot
from octools.flow import FlowSnapshot, is_flow
from octools.flow_figures import FlowSlice, save_flow_history, save_slice
from octools.flow_profile import profile_flow
from octools.halos import (
    Halos,
    find_halos,
    read_particles,
    save_picture,
    write_catalogue,
)
from octools.history import drifts, read_history, save_history
from octools.linear import LinearTheory, Spectrum, power_spectrum
from octools.movie import default_name, save_flow_movie, save_movie
from octools.profile import (
    EXACT_NAMES,
    RADIAL_NAMES,
    Profile,
    exact_solution,
    key_numbers,
    line_profile,
    problem_axis,
    radial_profile,
    save_profile,
    write_csv,
)
from octools.run import (
    SNAPSHOTS,
    output_path,
    picture_command,
    resolve,
    snapshots,
    wanted_pictures,
)
from octools.snapshot import AXES, Header, Snapshot
from octools.telemetry import commands

app = typer.Typer(
    help="Look at what Octant wrote.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console(highlight=False, soft_wrap=True)
commands.register(app)
galaxy_commands.register(app)


class Kind(StrEnum):
    """Kinds of picture."""

    slice = "slice"
    projection = "projection"


class ProfileKind(StrEnum):
    """Kinds of profile."""

    radial = "radial"
    line = "line"


class Axis(StrEnum):
    """The axes of space."""

    x = "x"
    y = "y"
    z = "z"


_EXACT_NAMES = {name: name for name in ("auto", *EXACT_NAMES, "none")}
ExactName = Enum("ExactName", _EXACT_NAMES, type=str)  # type: ignore[misc]

Target = Annotated[Path, typer.Argument(help="A snapshot, or a run directory (its newest one).")]
Number = Annotated[int | None, typer.Option("--snapshot", help="Which snapshot of a run.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")]
KindOption = Annotated[Kind, typer.Option("--kind", help="Cut, or add up along the axis.")]
AxisOption = Annotated[Axis, typer.Option("--axis", help="Axis to look along.")]
Position = Annotated[
    float | None, typer.Option(help="Where a slice cuts, code length. (default: problem's centre)")
]
Mean = Annotated[bool, typer.Option("--mean", help="Project the mass-weighted mean.")]
Log = Annotated[bool, typer.Option("--log", help="Logarithmic colours.")]
Outlines = Annotated[bool, typer.Option("--outlines", help="Draw the blocks, coloured by level.")]
Low = Annotated[float | None, typer.Option("--min", help="Least value of the colours.")]
High = Annotated[float | None, typer.Option("--max", help="Greatest value of the colours.")]
Colours = Annotated[str | None, typer.Option(help="A matplotlib colour map.")]


def _picture(
    field: Annotated[
        str | None,
        typer.Option("--field", "-f", help="Stored or derived field. (default: density, or speed)"),
    ] = None,
    kind: KindOption = Kind.slice,
    axis: AxisOption = Axis.z,
    position: Position = None,
    mean: Mean = False,
    log: Log = False,
    outlines: Outlines = False,
    low: Low = None,
    high: High = None,
    colours: Colours = None,
) -> Picture:
    """Describe a picture by options; a field that is not given stays empty."""
    limits = (low, high)
    return Picture(
        field or "", kind.value, axis.value, position, mean, log, outlines, limits, colours
    )


def _slice_of(picture: Picture) -> FlowSlice:
    """Give what a picture of an incompressible flow needs of these options."""
    field = picture.field or "speed"
    return FlowSlice(field, picture.axis, picture.position, picture.limits, picture.colours)


def _picture_of_gas(picture: Picture) -> Picture:
    """Fill in the field of a picture of gas."""
    return replace(picture, field=picture.field or "density")


def _with_picture_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `_picture` in place of its parameter `picture`."""
    options = signature(_picture).parameters
    own = [p for name, p in signature(command).parameters.items() if name != "picture"]

    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in options}
        command(**given, picture=_picture(**chosen))

    every = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*own, *options.values())]
    run.__signature__ = Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in every}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


@app.command()
@_with_picture_options
def plot(target: Target, picture: Picture, snapshot: Number = None, output: Output = None) -> None:
    """Draw a slice or a projection."""
    path = resolve(target, snapshot)
    if is_flow(path):
        flow = FlowSnapshot.read(path, may_be_slice=True)
        what = _slice_of(picture).in_plane(flow.plane)
        destination = output or output_path(target, f"{path.stem}_{what.field}_{what.axis}.png")
        values = save_slice(flow, what, destination)
        console.print(f"{what.field}: {values.min():.6g} to {values.max():.6g}")
        console.print(f"wrote {destination}")
        return
    with Snapshot(path, may_be_slice=True) as data:
        picture = _picture_of_gas(picture).in_plane(data.header.plane)
        name = f"{path.stem}_{picture.field}_{picture.kind}_{picture.axis}.png"
        destination = output or output_path(target, name)
        image = save_plot(data, picture, find_field(data, picture.field), destination)
    span = f"{np.nanmin(image.values):.6g} to {np.nanmax(image.values):.6g}"
    console.print(f"{picture.field}: {span}\nwrote {destination}")


@app.command()
@_with_picture_options
def movie(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    picture: Picture,
    rate: Annotated[int, typer.Option(min=1, help="Frames per second.")] = 10,
    series: Annotated[
        str, typer.Option(help="Which files: snap, coarse or a slice, such as slice_z0.5.")
    ] = SNAPSHOTS,
    output: Output = None,
) -> None:
    """Draw all snapshots of a run with the same colours, as a film; or all cut-outs of a kind."""
    paths = list(snapshots(run, series).values())
    what: FlowSlice | Picture
    if is_flow(paths[0]):
        what = _slice_of(picture).in_plane(FlowSnapshot.read(paths[0], may_be_slice=True).plane)
    else:
        with Snapshot(paths[0], may_be_slice=True) as first:
            what = _picture_of_gas(picture).in_plane(first.header.plane)
    destination = output or output_path(run, default_name(what))
    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("frames", total=len(paths))

        def progress(frame: int) -> None:
            bar.update(task, completed=frame)

        if isinstance(what, FlowSlice):
            save_flow_movie(paths, what, destination, rate, progress)
        else:
            save_movie(paths, what, destination, rate, progress)
    console.print(f"{len(paths)} frames\nwrote {destination}")


@app.command()
def profile(
    target: Target,
    kind: Annotated[
        ProfileKind | None, typer.Option(help="(default: radial for blasts and implosions)")
    ] = None,
    centre: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Of the shells, or on the line. (default: the problem's centre)"),
    ] = None,
    axis: Annotated[Axis | None, typer.Option(help="Of the line. (default: problem.axis)")] = None,
    exact: Annotated[ExactName, typer.Option(help="Exact solution to compare with.")] = ExactName[
        "auto"
    ],
    fields: Annotated[
        str | None, typer.Option(help="Comma-separated. (default: density, velocity, pressure)")
    ] = None,
    bin_width: Annotated[
        float | None, typer.Option(min=0.0, help="Of the shells. (default: one finest cell)")
    ] = None,
    energy: Annotated[float | None, typer.Option(help="Energy of a whole Sedov blast.")] = None,
    density: Annotated[float | None, typer.Option(help="Density around a Sedov blast.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Ratio of specific heats.")] = None,
    position: Annotated[float | None, typer.Option(help="Of a shock tube's diaphragm.")] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(help="Flows: tables of reference data (a channel: one; a cavity: u and w)."),
    ] = None,
    snapshot: Number = None,
    output: Output = None,
) -> None:
    """Draw a radial profile or one along a line, with its exact solution; write it as CSV too.

    Of a flow: the statistics of a channel in wall units, those of other flows over z, or velocities
    on the centre lines where there are none.
    """
    path = resolve(target, snapshot)
    if is_flow(path):
        destination = output or path.parent / "profile_flow.png"
        console.print("\n".join(profile_flow(path, reference or [], destination)))
        console.print(f"wrote {destination}")
        return
    given = {"energy": energy, "density": density, "gamma": gamma, "position": position}
    overrides = {name: value for name, value in given.items() if value is not None}
    with Snapshot(path) as data:
        header = data.header
        problem = str(header.parameter("problem.name", path.stem))
        name = _exact_name(exact.value, problem)
        if kind is None:
            kind = ProfileKind.radial if name in RADIAL_NAMES else ProfileKind.line
        solution = exact_solution(header, name, overrides) if name != "none" else None
        result = _measure(data, kind, centre, axis, fields, bin_width)
    destination = output or output_path(target, f"{path.stem}_profile_{result.coordinate}.png")
    when = f"t = {header.time:.4g}"
    if header.parameter("cosmology.enabled", False):
        when = f"z = {round(abs(1 / header.scale_factor - 1), 9):.4g}"
    title = f"{problem.replace('_', ' ')}   {when}"
    save_profile(result, solution, title, destination)
    write_csv(result, solution, destination.with_suffix(".csv"))
    for label, value in key_numbers(result, solution).items():
        console.print(f"{label + ':':<28}{value:.6g}")
    console.print(f"wrote {destination} and {destination.with_suffix('.csv').name}")


@app.command(name="compare")
def compare_command(
    a: Annotated[Path, typer.Argument(help="A snapshot, checkpoint or run directory.")],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Greatest difference that passes.")
    ] = 0.0,
    relative: Annotated[
        bool, typer.Option("--relative", help="Divide by the greatest value of the field.")
    ] = False,
    fields: Annotated[str | None, typer.Option(help="Comma-separated. (default: all)")] = None,
) -> None:
    """Compare two snapshots cell by cell, or a flow with a folder of CaNS's final fields.

    The exit code is 1 if they differ by more than the tolerance.
    """
    if cans.is_cans_folder(b):
        _compare_with_cans(a, b, tolerance)
        return
    if is_flow(resolve(a)) and is_flow(resolve(b)):
        _compare_flows(resolve(a), resolve(b), tolerance)
        return
    with Snapshot(resolve(a)) as left, Snapshot(resolve(b)) as right:
        result = compare(left, right, _names(fields))
    if result.identical:
        count = len(result.differences)
        console.print(f"identical: the same blocks, and the same bits in {count} fields")
        return
    scales = vector_scales(result.differences)
    scale = {d.name: (scales[d.name] or 1.0) if relative else 1.0 for d in result.differences}
    worst = max(d.largest / scale[d.name] for d in result.differences)
    console.print(_comparison_table(result, scale, relative))
    console.print(f"the blocks are {'the same' if result.same_layout else 'different'}")
    if result.times[0] != result.times[1]:
        console.print(f"the times differ: {result.times[0]!r} and {result.times[1]!r}")
    verdict = "within" if worst <= tolerance else "above"
    console.print(f"largest difference {worst:.6g} is {verdict} the tolerance {tolerance:g}")
    if worst > tolerance:
        raise typer.Exit(1)


def _compare_flows(a: Path, b: Path, tolerance: float) -> None:
    left, right = FlowSnapshot.read(a), FlowSnapshot.read(b)
    differences = {}
    for name in left.fields():
        ours, theirs = left.load(name), right.load(name)
        if ours.shape != theirs.shape:
            raise OctoolsError(f"the grids differ: {ours.shape} and {theirs.shape} in z, y, x")
        differences[name] = float(np.abs(ours - theirs).max())
        console.print(f"{name}: {differences[name]:.6g}; values up to {np.abs(theirs).max():.6g}")
    _verdict(max(differences.values()), tolerance)


def _verdict(worst: float, tolerance: float) -> None:
    verdict = "within" if worst <= tolerance else "above"
    console.print(f"largest difference {worst:.6g} is {verdict} the tolerance {tolerance:g}")
    if worst > tolerance:
        raise typer.Exit(1)


def _compare_with_cans(run: Path, folder: Path, tolerance: float) -> None:
    differences = cans.compare(FlowSnapshot.read(resolve(run)), folder)
    for d in differences:
        where = ", ".join(map(str, reversed(d.where)))
        console.print(f"{d.name}: {d.largest:.6g} at cell ({where}); values up to {d.scale:.6g}")
    _verdict(max(d.largest for d in differences), tolerance)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="CaNS's parameter file, input.nml.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="TOML file. (default: beside the source)")
    ] = None,
    initial: Annotated[
        Path | None,
        typer.Option(help="Folder with initial fields u_init.npy, ... (default: the source's)"),
    ] = None,
) -> None:
    """Turn a parameter file of CaNS into one of Octant."""
    written = output or source.with_suffix(".toml")
    left_out = cans.convert(source, written, initial)
    console.print(f"wrote {written}")
    if left_out:
        console.print(f"not carried over: {', '.join(left_out)}")


@app.command()
def history(
    run: Annotated[Path, typer.Argument(help="A run directory, or its history.csv.")],
    output: Output = None,
) -> None:
    """Draw what a run conserved, its blocks per level and its time step.

    Of a flow: kinetic energy, wall shear and the time step.
    """
    if "wall_shear_lower" in read_history(run).columns:
        save_flow_history(run, output or output_path(run, "history.png"))
        console.print(f"wrote {output or output_path(run, 'history.png')}")
        return
    data = read_history(run)
    destination = output or output_path(run, "history.png")
    save_history(
        data, f"{data.path.parent.resolve().name}   {len(data['time'])} steps", destination
    )
    for name, values in drifts(data).items():
        label = f"drift of {name.replace('_', ' ')}:"
        console.print(
            f"{label:<34}{values[-1]:+.3e} at the end, {np.abs(values).max():.3e} at most"
        )
    console.print(f"wrote {destination}")


@app.command(name="ics")
def ics_command(
    target: Annotated[
        Path, typer.Argument(help="A folder of grafic files, a snapshot, or a run directory.")
    ],
    omega_b: Annotated[float, typer.Option(min=0.0, help="Baryons, for linear theory.")] = 0.047,
    sigma_8: Annotated[float, typer.Option(min=0.0, help="Of the linear spectrum today.")] = 0.81,
    spectral_index: Annotated[float, typer.Option(help="Of the primordial spectrum.")] = 0.967,
    snapshot: Annotated[int, typer.Option("--snapshot", help="Which snapshot of a run.")] = 0,
    output: Output = None,
) -> None:
    """Summarise initial conditions, and compare their power spectrum with linear theory.

    Of a snapshot, the gas on the base grid is measured; what the run's parameters say of omega_b,
    sigma_8 and the spectral index goes before these options.
    """
    given = {"omega_b": omega_b, "sigma_8": sigma_8, "spectral_index": spectral_index}
    if ics.is_grafic(target):
        levels = ics.read_levels(target)
        universe = levels[0].universe
        theory = _linear_theory(universe, given)
        what, delta = ics.overdensity(levels[0], theory)
        for level in levels:
            console.print(_level_table(level))
    else:
        path = resolve(target, snapshot if target.is_dir() else None)
        with Snapshot(path) as data:
            universe, delta = ics.base_overdensity(data)
            stored = {
                "omega_b": data.header.parameter("cosmology.omega_b"),
                "sigma_8": data.header.parameter("initial.sigma_8"),
                "spectral_index": data.header.parameter("initial.spectral_index"),
            }
        given |= {name: value for name, value in stored.items() if value is not None}
        theory, what = _linear_theory(universe, given), "gas"
    title = f"{what}, {delta.shape[0]}³ in {universe.box:.6g} Mpc/h, z = {universe.redshift:.4g}"
    spectrum = power_spectrum(delta, universe.box, theory, universe.scale_factor)
    destination = output or output_path(target, "ics.png")
    ics.save_spectrum(spectrum, title, destination)
    console.print(f"{title}; standard deviation {delta.std():.5g}")
    console.print(_spectrum_table(spectrum))
    console.print(f"wrote {destination}")


def _linear_theory(universe: ics.Universe, given: dict[str, float]) -> LinearTheory:
    return LinearTheory(universe.omega_m, universe.omega_lambda, h=universe.h, **given)


def _level_table(level: ics.GraficLevel) -> Table:
    universe = level.universe
    cells = " x ".join(map(str, level.cells))
    where = ", ".join(map(str, level.origin))
    table = Table(
        title=f"level {level.number}: {cells} cells of {universe.box / 2**level.number:.6g} Mpc/h "
        f"from cell ({where}) on; a = {universe.scale_factor:.7g}, "
        f"omega_m = {universe.omega_m:.6g}, omega_lambda = {universe.omega_lambda:.6g}, "
        f"h = {universe.h:.6g}",
        title_justify="left",
        title_style="",
        box=None,
        pad_edge=False,
    )
    table.add_column("field")
    for column in ("mean", "standard deviation", "least", "greatest"):
        table.add_column(column, justify="right")
    for name, *numbers in ics.moments(level):
        table.add_row(name, *(f"{number:.5g}" for number in numbers))
    return table


def _spectrum_table(spectrum: Spectrum) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("k [h/Mpc]", "P [(Mpc/h)^3]", "linear", "ratio", "modes"):
        table.add_column(column, justify="right")
    rows = (spectrum.k, spectrum.power, spectrum.expected, spectrum.modes)
    for k, power, expected, modes in zip(*rows, strict=True):
        ratio = f"{power / expected:.3f}"
        table.add_row(f"{k:.4f}", f"{power:.4g}", f"{expected:.4g}", ratio, f"{modes:.0f}")
    return table


@app.command()
def halos(
    target: Target,
    linking: Annotated[
        float, typer.Option(min=0.0, help="Linking length, in mean separations of particles.")
    ] = 0.2,
    least: Annotated[int, typer.Option(min=2, help="Particles of the smallest halo.")] = 20,
    kind: Annotated[str, typer.Option(help="Which particles.")] = "dark",
    picture: Annotated[bool, typer.Option(help="Draw the halos and their mass function.")] = True,
    snapshot: Number = None,
    output: Output = None,
) -> None:
    """Find halos of particles by friends of friends, and write their catalogue."""
    path = resolve(target, snapshot)
    with Snapshot(path) as data:
        particles, header, units = read_particles(data, kind), data.header, data.length_units
    found = find_halos(particles, linking, least)
    destination = output or output_path(target, f"{path.stem}_halos.csv")
    write_catalogue(found, destination)
    console.print(
        f"{len(found.mass) or 'no'} halos of {least} particles or more; "
        f"linking length {found.linking_length:.6g}"
    )
    if len(found.mass):
        console.print(_halo_table(found))
    if picture:
        title = f"t = {header.time:.4g}, a = {header.scale_factor:.4g}"
        save_picture(particles, found, units, title, destination.with_suffix(".png"))
        console.print(f"wrote {destination} and {destination.with_suffix('.png').name}")
    else:
        console.print(f"wrote {destination}")


def _halo_table(halos: Halos, rows: int = 10) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("particles", "mass", "x", "y", "z", "radius", "dispersion"):
        table.add_column(column, justify="right")
    for n in range(min(rows, len(halos.mass))):
        numbers = (halos.mass[n], *halos.centre[n], halos.radius[n], halos.dispersion[n])
        table.add_row(str(halos.number[n]), *(f"{number:.5g}" for number in numbers))
    return table


@app.command()
def pictures(run: Annotated[Path, typer.Argument(help="A run directory.")]) -> None:
    """Make the pictures that a run's parameter file asks for in output.pictures."""
    wanted = wanted_pictures(run)
    codes = [_ended(lambda text=text: app(picture_command(text, run))) for text in wanted]
    if not codes:
        console.print(f"{run / 'run.toml'} asks for no pictures")
    raise typer.Exit(max(codes, default=0))


def main() -> None:
    """Run the command line."""
    sys.exit(_ended(lambda: app(sys.argv[1:])))


def _ended(command: Callable[[], object]) -> int:
    """Run a command; one that cannot be met ends with one line and exit code 2."""
    try:
        command()
    except (OctoolsError, OSError) as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            f"octools: {' '.join(str(error).split())}", markup=False
        )
        return 2
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def _exact_name(wanted: str, problem: str) -> str:
    if wanted != "auto":
        return wanted
    problem = "sod" if problem == "riemann" else problem
    return problem if problem in EXACT_NAMES else "none"


def _measure(
    data: Snapshot,
    kind: ProfileKind,
    centre: tuple[float, float, float] | None,
    axis: Axis | None,
    fields: str | None,
    bin_width: float | None,
) -> Profile:
    header: Header = data.header
    middle = header.centre if centre is None else np.array(centre)
    if kind is ProfileKind.radial:
        names = _names(fields) or ["density", "radial_velocity", "pressure"]
        return radial_profile(data, middle, names, bin_width or None)
    number = problem_axis(header) if axis is None else AXES.index(axis.value)
    names = _names(fields) or ["density", f"velocity_{AXES[number]}", "pressure"]
    return line_profile(data, number, middle, names)


def _comparison_table(result: Comparison, scale: dict[str, float], relative: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("field")
    unit = " (relative)" if relative else ""
    for column in (f"largest{unit}", f"L1{unit}", "level", "where"):
        table.add_column(column, justify="left" if column == "where" else "right")
    for d in result.differences:
        where = "" if d.where is None else ", ".join(f"{x:.6g}" for x in d.where)
        level = "" if d.where is None else str(d.level)
        same = "identical" if d.identical else f"{d.largest / scale[d.name]:.6g}"
        table.add_row(d.name, same, f"{d.mean / scale[d.name]:.6g}", level, where)
    return table
