"""The command that turns Octant's files into others', and other codes' into Octant's."""

from pathlib import Path
from typing import Annotated

import typer

from octools.export import TARGETS, export
from octools.options import Number, console


def convert(
    source: Annotated[
        Path,
        typer.Argument(help="A snapshot or run directory, with --to; or CaNS's input.nml."),
    ],
    to: Annotated[
        str | None, typer.Option("--to", help=f"What to write: {', '.join(TARGETS)}.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder, or TOML file. (default: beside the source)"),
    ] = None,
    initial: Annotated[
        Path | None,
        typer.Option(help="Folder with initial fields u_init.npy, ... (default: the source's)"),
    ] = None,
    snapshot: Number = None,
) -> None:
    """Write snapshots for other programs, or turn CaNS's parameter file into one of Octant."""
    if to is not None:
        for path in export(to, source, snapshot, output):
            console.print(f"wrote {path}")
        return
    from octools import cans

    written = output or source.with_suffix(".toml")
    left_out = cans.convert(source, written, initial)
    console.print(f"wrote {written}")
    if left_out:
        console.print(f"not carried over: {', '.join(left_out)}")
