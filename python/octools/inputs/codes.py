"""The codes whose parameter files are converted, and how a file is told to be of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from octools.errors import OctoolsError
from octools.inputs import athena, octotiger, ramses
from octools.inputs.conversion import Conversion


@dataclass(frozen=True)
class Code:
    """A code whose parameter files are converted.

    Attributes
    ----------
    name
        Of the code.
    knows
        Tells by its path whether a file is one of it.
    convert
        Writes the file anew as TOML, and accounts for its settings.
    """

    name: str
    knows: Callable[[Path], bool]
    convert: Callable[[Path], Conversion]


def codes() -> list[Code]:
    """List the codes beside CaNS, whose files octools.cans converts."""
    return [
        Code("RAMSES", ramses.is_namelist, ramses.convert),
        Code("Octo-Tiger", lambda path: path.suffix == ".ini", octotiger.convert),
        Code(
            "Athena",
            lambda path: path.suffix == ".athinput" or path.name.startswith("athinput."),
            athena.convert,
        ),
    ]


def convert(path: Path, output: Path) -> Conversion | None:
    """Convert a parameter file of a code that its name or contents tell.

    Returns
    -------
    Conversion
        What became of its settings; None if the file is of none of these codes.

    Raises
    ------
    OctoolsError
        If the file is damaged, or sets up what Octant cannot do.
    """
    if not path.is_file():
        raise OctoolsError(f"there is no parameter file {path}")
    for code in codes():
        if code.knows(path):
            done = code.convert(path)
            text = done.finish(code.name)
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(text)
            return done
    return None
