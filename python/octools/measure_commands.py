"""Commands for measurements: profiles, histories, comparisons."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from octools.errors import OctoolsError, unknown_name
from octools.options import Axis, Number, Output, Target, console, names_in
from octools.run import example_of, output_path, resolve

if TYPE_CHECKING:
    from octools.compare import Comparison
    from octools.profile import Profile
    from octools.snapshot import Snapshot


class ProfileKind(StrEnum):
    """Kinds of profile."""

    radial = "radial"
    line = "line"


class ExactName(StrEnum):
    """Exact solutions, by the names of problems."""

    auto = "auto"
    sedov = "sedov"
    sod = "sod"
    noh = "noh"
    pancake = "pancake"
    isothermal_ball = "isothermal_ball"
    bondi = "bondi"
    none = "none"


def profile(
    target: Target,
    kind: Annotated[
        ProfileKind | None,
        typer.Option(
            help="Kind of profile: radial or line. (default: radial for blasts and implosions)"
        ),
    ] = None,
    centre: Annotated[
        tuple[float, float, float] | None,
        typer.Option(
            help="Centre of the shells, or a point on the line. (default: the problem's centre, "
            "or the domain's)"
        ),
    ] = None,
    axis: Annotated[
        Axis | None, typer.Option(help="Direction of the line. (default: problem.axis)")
    ] = None,
    exact: Annotated[ExactName, typer.Option(help="Exact solution to compare with.")] = (
        ExactName.auto
    ),
    fields: Annotated[
        str | None,
        typer.Option(help="Fields, comma-separated. (default: density, velocity, pressure)"),
    ] = None,
    bin_width: Annotated[
        float | None,
        typer.Option(min=0.0, help="Thickness of the shells. (default: one finest cell)"),
    ] = None,
    energy: Annotated[float | None, typer.Option(help="Total energy of a Sedov blast.")] = None,
    density: Annotated[float | None, typer.Option(help="Ambient density of a Sedov blast.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Ratio of specific heats.")] = None,
    position: Annotated[
        float | None, typer.Option(help="Position of the diaphragm of a shock tube.")
    ] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(help="Flows: tables of reference data (a channel: one; a cavity: u and w)."),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Logarithmic axes for positive quantities.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(help="Second run or snapshot, whose profile is also plotted and compared."),
    ] = None,
    snapshot: Number = None,
    output: Output = None,
) -> None:
    """Plot a radial or line profile with its analytic solution; write it as CSV, too.

    Of a flow: the statistics of a channel in wall units, those of other flows over z, or velocities
    on the centre lines where there are none.
    """
    from octools.equation_of_state import is_ideal as gas_is_ideal
    from octools.flow import is_flow
    from octools.flow_profile import profile_flow
    from octools.profile import (
        RADIAL_NAMES,
        comparisons,
        constants,
        exact_solution,
        key_numbers,
        save_profile,
        write_csv,
    )
    from octools.snapshot import Snapshot

    path = resolve(target, snapshot)
    if is_flow(path):
        if against is not None:
            raise OctoolsError(
                f"{path} is a DNS run, but --against only compares runs with model = amr"
            )
        destination = output or path.parent / "profile_flow.png"
        console.print("\n".join(profile_flow(path, reference or [], destination)))
        console.print(f"wrote {destination}")
        return
    given = {"energy": energy, "density": density, "gamma": gamma, "position": position}
    overrides = {name: value for name, value in given.items() if value is not None}
    with Snapshot(path) as data:
        header = data.header
        problem = str(header.parameter("problem.name", path.stem))
        name = _exact_name(exact.value, problem, is_ideal=gas_is_ideal(header))
        if kind is None:
            kind = ProfileKind.radial if name in RADIAL_NAMES else ProfileKind.line
        solution = exact_solution(header, name, overrides) if name != "none" else None
        result = _measure(data, kind, centre, axis, fields, bin_width)
    other = None
    if against is not None:
        with Snapshot(resolve(against, snapshot if against.is_dir() else None)) as data:
            measured = _measure(data, kind, centre, axis, fields, bin_width)
            other = (data.header.name(data.path), measured)
            if abs(data.header.time - header.time) > 1e-9 * abs(header.time):
                console.print(f"the times differ: {header.time:.6g} and {data.header.time:.6g}")
    destination = output or output_path(target, f"{path.stem}_profile_{result.coordinate}.png")
    when = header.when
    if header.has_units and not header.expands:  # but the axes and the solution are in code units
        when += f" ({header.time:.4g} in code units)"
    save_profile(result, solution, f"{header.name(path)}   {when}", destination, log, other)
    write_csv(result, solution, destination.with_suffix(".csv"))
    for label, value in key_numbers(result, solution).items():
        console.print(f"{label + ':':<28}{value:.6g}")
    for field, value in constants(result).items():
        console.print(f"{field} is constant: {value:.6g}")
    for comparison in comparisons(result, solution):
        console.print(str(comparison))
    if other is not None:
        _print_differences(result, other)
    console.print(f"wrote {destination} and {destination.with_suffix('.csv').name}")


def _print_differences(result: "Profile", other: tuple[str, "Profile"]) -> None:
    from octools.profile import differences

    name, theirs = other
    for field, (mean, span) in differences(result, theirs).items():
        part = f", {100 * mean / span:.2g} % of its range" if span > 0 else ""
        console.print(f"{field}: mean difference from {name} {mean:.4g}{part}")


def expect(
    run: Annotated[Path, typer.Argument(help="The run directory of an example.")],
    example: Annotated[
        str | None,
        typer.Option(
            help="Name of the example. (default: from the parameters or the directory of the run)"
        ),
    ] = None,
) -> None:
    """Compare a run of an example with its expected results, and plot the comparison."""
    from octools.chart import Chart, save_charts
    from octools.expected import EXAMPLES

    name = example or example_of(run)
    if name not in EXAMPLES:
        if example is None:
            raise OctoolsError(
                f"{run}: no example is identified by output.pictures in run.toml or by the name of "
                "the directory; "
                'add --example NAME, as in output.pictures = ["expect --example sound_wave"]'
            )
        raise unknown_name("example with a number", name, EXAMPLES, "octools")
    found = EXAMPLES[name](run)
    charts = [item for item in found if isinstance(item, Chart)]
    for item in found:
        if not isinstance(item, Chart):
            console.print(str(item))
    if charts:
        save_charts(charts, name.replace("_", " "), output_path(run, "expect.png"))
        console.print(f"wrote {output_path(run, 'expect.png')}")


def spectra(
    run: Annotated[Path, typer.Argument(help="The run directory of a flow with statistics.")],
    output: Output = None,
) -> None:
    """Plot the energy spectra of a flow and Kolmogorov's law; report the resolution."""
    from octools.flow_spectra import read_spectra, save_spectra

    found = read_spectra(run)
    destination = output or output_path(run, "spectra.png")
    save_spectra(found, destination)
    for line in found.numbers():
        console.print(line)
    console.print(f"wrote {destination}")


def _exact_name(wanted: str, problem: str, *, is_ideal: bool) -> str:
    from octools.profile import EXACT_NAMES

    if wanted != "auto":
        return wanted
    if not is_ideal:
        return "none"
    problem = "sod" if problem == "riemann" else problem
    return problem if problem in EXACT_NAMES else "none"


def _measure(
    data: "Snapshot",
    kind: ProfileKind,
    centre: tuple[float, float, float] | None,
    axis: Axis | None,
    fields: str | None,
    bin_width: float | None,
) -> "Profile":
    import numpy as np

    from octools.profile import line_profile, problem_axis, radial_profile
    from octools.snapshot import AXES

    header = data.header
    if kind is ProfileKind.radial:
        middle = header.centre if centre is None else np.array(centre)
        names = names_in(fields) or ["density", "radial_velocity", "pressure"]
        return radial_profile(data, middle, names, bin_width)
    middle = header.inner_centre if centre is None else np.array(centre)
    number = problem_axis(header) if axis is None else AXES.index(axis.value)
    names = names_in(fields) or ["density", f"velocity_{AXES[number]}", "pressure"]
    return line_profile(data, number, middle, names)


def compare_command(
    a: Annotated[Path, typer.Argument(help="A snapshot, checkpoint or run directory.")],
    b: Annotated[Path, typer.Argument(help="Second snapshot, checkpoint or run directory.")],
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Maximum difference that passes.")
    ] = 0.0,
    relative: Annotated[
        bool, typer.Option("--relative", help="Differences relative to the maximum of the field.")
    ] = False,
    fields: Annotated[
        str | None, typer.Option(help="Fields, comma-separated. (default: all)")
    ] = None,
) -> None:
    """Compare two snapshots cell by cell, or a flow with a folder of CaNS's final fields.

    The exit code is 1 if they differ by more than the tolerance.
    """
    from octools import cans
    from octools.compare import compare, vector_scales
    from octools.flow import is_flow
    from octools.snapshot import Snapshot

    if cans.is_cans_folder(b):
        _compare_with_cans(a, b, tolerance)
        return
    if is_flow(resolve(a)) and is_flow(resolve(b)):
        _compare_flows(resolve(a), resolve(b), tolerance)
        return
    with Snapshot(resolve(a)) as left, Snapshot(resolve(b)) as right:
        result = compare(left, right, names_in(fields))
    if result.identical:
        count = len(result.differences)
        console.print(f"identical: the same blocks, and bitwise-identical values in {count} fields")
        return
    scales = vector_scales(result.differences)
    scale = {d.name: (scales[d.name] or 1.0) if relative else 1.0 for d in result.differences}
    worst = max(d.largest / scale[d.name] for d in result.differences)
    console.print(_comparison_table(result, scale, relative))
    console.print(f"the blocks are {'the same' if result.same_layout else 'different'}")
    if result.times[0] != result.times[1]:
        console.print(f"the times differ: {result.times[0]!r} and {result.times[1]!r}")
    _compare_with_tolerance(worst, tolerance)


def _compare_flows(a: Path, b: Path, tolerance: float) -> None:
    import numpy as np

    from octools.flow import FlowSnapshot

    left, right = FlowSnapshot.read(a), FlowSnapshot.read(b)
    differences = {}
    for name in left.fields():
        ours, theirs = left.load(name), right.load(name)
        if ours.shape != theirs.shape:
            raise OctoolsError(f"the grids differ: {ours.shape} and {theirs.shape} in z, y, x")
        differences[name] = float(np.abs(ours - theirs).max())
        console.print(f"{name}: {differences[name]:.6g}; values up to {np.abs(theirs).max():.6g}")
    _compare_with_tolerance(max(differences.values()), tolerance)


def _compare_with_tolerance(worst: float, tolerance: float) -> None:
    relation = "is within" if worst <= tolerance else "exceeds"
    console.print(f"maximum difference {worst:.6g} {relation} the tolerance of {tolerance:g}")
    if worst > tolerance:
        raise typer.Exit(1)


def _compare_with_cans(run: Path, folder: Path, tolerance: float) -> None:
    from octools import cans
    from octools.flow import FlowSnapshot

    differences = cans.compare(FlowSnapshot.read(resolve(run)), folder)
    for d in differences:
        where = ", ".join(map(str, reversed(d.where)))
        console.print(f"{d.name}: {d.largest:.6g} at cell ({where}); values up to {d.scale:.6g}")
    _compare_with_tolerance(max(d.largest for d in differences), tolerance)


def _comparison_table(result: "Comparison", scale: dict[str, float], relative: bool) -> Table:
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


def history(
    run: Annotated[Path, typer.Argument(help="A run directory, or its history.csv.")],
    output: Output = None,
) -> None:
    """Plot errors of conservation, blocks per level and the time step of a run.

    Changes that accounts of history.csv explain, such as heating, are no errors.
    Of a flow: kinetic energy, the friction of walls, the Nusselt number or else the loss of energy,
    and the time step.
    """
    import numpy as np

    from octools.flow_figures import save_flow_history
    from octools.history import drifts, read_history, save_history
    from octools.ledger import books_in_code_units

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
            f"{label:<34}{values[-1]:+.3e} at the end, maximum {np.abs(values).max():.3e}"
        )
    for book in books_in_code_units(data, with_energy="econs" not in data.columns):
        if book.entries:
            names = ", ".join(sorted(name.replace("_", " ") for name in book.entries))
            console.print(f"accounted for in the {book.name.replace('_', ' ')}: {names}")
    console.print(f"wrote {destination}")
