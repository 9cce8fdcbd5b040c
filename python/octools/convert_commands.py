"""The command that turns Octant's files into others', and other codes' into Octant's."""

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


# Advice for each verdict on a setting.
ADVICE = {
    UNKNOWN: "perhaps a typo, which the other code would refuse or ignore; see the table",
    BY_HAND: "set the parameters that the table names, see docs/galaxy.md",
}


def convert(
    source: Annotated[
        Path,
        typer.Argument(help="A snapshot or run directory, with --to; or a parameter file."),
    ],
    to: Annotated[
        str | None, typer.Option("--to", help=f"Target format: {', '.join(TARGETS)}.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder, or TOML file. (default: beside the source)"),
    ] = None,
    initial: Annotated[
        Path | None,
        typer.Option(help="Folder of u_init.npy, ..., for CaNS. (default: the source's)"),
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
        raise OctoolsError(f"{written} exists already; move it aside, or choose another --output")
    done = codes.convert(source, written, initial)
    console.print(_account(done.rows))
    for verdict, advice in ADVICE.items():
        if count := sum(row.verdict == verdict for row in done.rows):
            console.print(f"{count} {verdict}: {advice}")
    console.print(f"wrote {written}, with this table at its end")


def _account(rows: "list[Row]") -> Table:
    table = Table("setting", "", "in Octant", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.setting, row.verdict, row.now)
    return table
