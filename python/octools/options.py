"""Common options and output formats of commands."""

import math
from copy import copy
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from octools.files import require_file
from octools.text import printable


class PlainConsole(Console):
    """Console that shows text from files and arguments verbatim: no markup, no escapes."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a text into what is shown."""
        return super().render_str(printable(text, lines=True), **{**options, "markup": False})


console = PlainConsole(highlight=False, soft_wrap=True)


class Axis(StrEnum):
    """Coordinate axes."""

    x = "x"
    y = "y"
    z = "z"


class Format(StrEnum):
    """Output formats."""

    table = "table"
    csv = "csv"
    json = "json"


Target = Annotated[Path, typer.Argument(help="A snapshot, or a run directory (its newest one).")]
Number = Annotated[int | None, typer.Option("--snapshot", help="Number of the snapshot of a run.")]


def output_file(path: Path | None) -> Path | None:
    """Refuse the name of a folder, a device or a pipe as output file, before any work is done."""
    if path is not None:
        require_file(path)
    return path


Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Output file.", callback=output_file)
]


def names_in(text: str | None) -> list[str]:
    """Split names at commas; none where there is no text."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def finite(kind: Any) -> Any:
    """Return the type of an option that refuses infinite numbers and nan, which passes bounds."""
    refusing = copy(kind)
    if hasattr(kind, "types"):  # several numbers, such as those of --centre
        refusing.types = [finite(each) for each in kind.types]
        return refusing

    def convert(value: Any, parameter: Any, context: Any) -> Any:
        number = kind.convert(value, parameter, context)
        if isinstance(number, float) and not math.isfinite(number):
            kind.fail(f"{value} is not a finite number.", parameter, context)
        return number

    refusing.convert = convert
    return refusing
