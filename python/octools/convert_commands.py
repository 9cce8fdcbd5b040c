"""The command that turns other codes' files into Octant's."""

from pathlib import Path
from typing import Annotated

import typer

from octools.options import console


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
    from octools import cans

    written = output or source.with_suffix(".toml")
    left_out = cans.convert(source, written, initial)
    console.print(f"wrote {written}")
    if left_out:
        console.print(f"not carried over: {', '.join(left_out)}")
