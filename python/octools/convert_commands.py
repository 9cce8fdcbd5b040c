"""Command for conversions between the files of Octant and of other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from octools.errors import OctoolsError
from octools.exports.targets import TARGETS, export
from octools.inputs.conversion import BY_HAND, UNKNOWN
from octools.options import Number, console

if TYPE_CHECKING:
    from octools.inputs.conversion import Row


# The advice that is printed for each result of a conversion.
ADVICE = {
    UNKNOWN: "possibly a typo, which the other code would reject or ignore; see the table",
    BY_HAND: "set the parameters named in the table; see docs/ramses_namelist.md",
}


def convert(
    source: Annotated[
        Path,
        typer.Argument(help="Snapshot or run directory (with --to), or a parameter file."),
    ],
    to: Annotated[
        str | None, typer.Option("--to", help=f"Target format: {', '.join(TARGETS)}.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Output directory or TOML file. (default: next to the source)"
        ),
    ] = None,
    initial: Annotated[
        Path | None,
        typer.Option(help="Directory of u_init.npy, ..., for CaNS. (default: that of the source)"),
    ] = None,
    snapshot: Number = None,
) -> None:
    """Write snapshots for other programs (--to), or a parameter file of another code as Octant's.

    Known are parameter files of RAMSES and CaNS (.nml), Octo-Tiger (.ini), and Athena (.athinput or
    athinput.NAME).
    """
    if to is not None:
        for path in export(to, source, snapshot, output):
            console.print(f"wrote {path}")
        return
    from octools.inputs import codes

    written = output or source.with_suffix(".toml")
    if written.exists():
        raise OctoolsError(f"{written} already exists; move it aside, or choose another --output")
    done = codes.convert(source, written, initial)
    console.print(_account(done.rows))
    for status, advice in ADVICE.items():
        if count := sum(row.status == status for row in done.rows):
            console.print(f"{count} {status}: {advice}")
    console.print(f"wrote {written}, which ends with this table")


def _account(rows: "list[Row]") -> Table:
    table = Table("setting", "", "in Octant", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.setting, row.status, row.now)
    return table
