"""Command that lists and copies the example parameter files."""

from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from octools.errors import OctoolsError
from octools.examples import read_examples
from octools.files import write_new
from octools.installation import examples_folder
from octools.options import console

Names = Annotated[list[str] | None, typer.Argument(help="Examples to copy, such as sod.")]
Folder = Annotated[Path, typer.Option("--output", "-o", help="Directory of the copies.")]


def examples(names: Names = None, output: Folder = Path()) -> None:
    """List the example parameter files, or copy some of them to the current directory."""
    folder = examples_folder()
    if not folder.is_dir():
        raise OctoolsError(f"{folder} is missing: octools without Octant contains no examples")
    if names:
        for name in names:
            copy = _copy(folder, name.removesuffix(".toml"), output)
            console.print(f"wrote {copy}; to run it: octant run {copy}")
        return
    for example in read_examples(folder):
        shows = shorten(example.said["Shows"].split(":")[0], 79, placeholder=" ...")
        console.print(f"{example.name:<20} {shows}")
    console.print("\noctant examples NAME copies an example to the current directory")


def _copy(folder: Path, name: str, output: Path) -> Path:
    source, copy = folder / f"{name}.toml", output / f"{name}.toml"
    if not source.is_file():
        raise OctoolsError(f"there is no example {name}; octant examples lists all")
    text = source.read_text()
    output.mkdir(parents=True, exist_ok=True)
    try:
        write_new(copy, text)
    except FileExistsError as cause:
        if not copy.is_file() or copy.read_text() != text:
            message = f"{copy} exists and differs from the example; remove or rename it"
            raise OctoolsError(message) from cause
    return copy
