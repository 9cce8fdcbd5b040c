"""Commands for galaxies: stars, black holes, and budgets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from octools.options import Axis, Number, Output, Target, console
from octools.run import output_path, resolve


def ledger(
    run: Annotated[Path, typer.Argument(help="A run directory, or its history.csv.")],
    output: Output = None,
) -> None:
    """Plot the mass and energy budgets of a run by process, and their residuals."""
    from octools.history import read_history
    from octools.ledger import books, save_books
    from octools.time_axis import time_axis

    data = read_history(run)
    found = books(data)
    table = Table("", "when the run began", "change", "left over", box=None)
    for book in found:
        change = book.total[-1] - book.total[0]
        rest = f"{book.rest[-1]:+.2e}"
        name = f"{book.name.replace('_', ' ')} ({book.unit})"
        table.add_row(name, f"{book.total[0]:.6g}", f"{change:+.6g}", rest)
        for account, entry in book.entries.items():
            table.add_row(f"  {account.replace('_', ' ')}", "", f"{entry[-1]:+.6g}", "")
    console.print(table)
    destination = output or output_path(run, "ledger.png")
    save_books(found, time_axis(data), data.path.parent.resolve().name, destination)
    console.print(f"wrote {destination}")


def sfr(
    target: Target,
    snapshot: Number = None,
    intervals: Annotated[int, typer.Option(min=1, max=100_000, help="Number of time bins.")] = 50,
    output: Output = None,
) -> None:
    """Plot the star formation history of a snapshot; write it as CSV, too."""
    from octools.snapshot import Snapshot
    from octools.stars import save_star_formation, star_formation
    from octools.table import write_table

    path = resolve(target, snapshot)
    with Snapshot(path) as data:
        found = star_formation(data, intervals)
    destination = output or output_path(target, "star_formation.png")
    columns = {"time_Myr": found.middles, "rate_Msun_per_yr": found.rate, "mass_Msun": found.mass}
    if found.redshift is not None:
        columns["redshift"] = found.redshift
    write_table(columns, destination.with_suffix(".csv"))
    save_star_formation(found, path.parent.resolve().name, destination)
    console.print(
        f"{found.mass[-1]:.4g} Msun of stars formed until {found.edges[-1]:.4g} Myr, at most "
        f"{found.rate.max():.4g} Msun / yr"
    )
    console.print(f"wrote {destination} and {destination.with_suffix('.csv')}")


def kennicutt(
    target: Target,
    snapshot: Number = None,
    axis: Annotated[Axis, typer.Option(help="Direction of the projection.")] = Axis.z,
    square: Annotated[
        float,
        typer.Option(min=0.0, help="Side length of the squares, or width of the rings [kpc]."),
    ] = 0.75,
    rings: Annotated[
        bool,
        typer.Option("--rings", help="Rings around the centre of the stars instead of squares."),
    ] = False,
    age: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Maximum age of the stars that are included [Myr]. (default: 50, or the age of "
            "the run)",
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Plot the Kennicutt-Schmidt relation; write it as CSV, too."""
    from octools.errors import OctoolsError
    from octools.kennicutt import AVERAGING_TIME, run_age, save_kennicutt
    from octools.kennicutt import kennicutt as relation
    from octools.snapshot import AXES, Snapshot
    from octools.table import write_table

    path = resolve(target, snapshot)
    with Snapshot(path) as data:
        oldest = run_age(data.header)
        interval = (
            min(AVERAGING_TIME, oldest) if age is None and oldest > 0 else age or AVERAGING_TIME
        )
        found = relation(data, AXES.index(axis.value), square, interval, rings)
    if len(found.gas) == 0:
        raise OctoolsError(f"{path}: no star is younger than {interval:g} Myr")
    if age is None and interval < AVERAGING_TIME:
        console.print(
            f"the run is {interval:.4g} Myr old: rates are means over that time, not over "
            f"{AVERAGING_TIME:g} Myr"
        )
    elif interval > oldest:
        console.print(
            f"warning: the run is {oldest:.4g} Myr old, and rates are means over {interval:g} Myr"
        )
    destination = output or output_path(target, "kennicutt.png")
    columns = {"gas_Msun_per_pc2": found.gas, "rate_Msun_per_yr_kpc2": found.rate}
    write_table(columns, destination.with_suffix(".csv"))
    save_kennicutt(found, path.parent.resolve().name, destination)
    console.print(
        f"{len(found.gas)} {'rings' if rings else 'squares'}; log of the rate relative to "
        f"Kennicutt's: median {found.middle:+.2f}, scatter {found.offset.std():.2f}"
    )
    console.print(f"wrote {destination} and {destination.with_suffix('.csv')}")


def sinks(
    target: Target,
    snapshot: Number = None,
    rows: Annotated[int, typer.Option(min=1, help="Number of rows printed.")] = 20,
    output: Output = None,
) -> None:
    """List the black holes of a snapshot by mass; write them and their mergers as CSV."""
    from octools.sinks import black_holes, mergers
    from octools.snapshot import Snapshot
    from octools.table import write_table
    from octools.units import SOLAR_MASS

    path = resolve(target, snapshot)
    with Snapshot(path) as data:
        found = black_holes(data)
        merged = mergers(path.parent, data.header.units["mass"] / SOLAR_MASS)
    shown = ("mass_Msun", "spin", "swallowed_Msun", "bondi_Msun_per_yr", "feeding", "mergers")
    table = Table("number", *(name.replace("_", " ") for name in shown), box=None)
    for n in range(min(rows, len(found["number"]))):
        table.add_row(str(found["number"][n]), *(f"{found[name][n]:.4g}" for name in shown))
    console.print(table)
    destination = output or output_path(target, "sinks.csv")
    write_table(found, destination)
    console.print(f"{len(found['number'])} black holes; wrote {destination}")
    if merged:
        of_mergers = destination.with_name(f"{destination.stem}_mergers.csv")
        write_table(merged, of_mergers)
        console.print(f"{len(merged['time'])} mergers; wrote {of_mergers}")
