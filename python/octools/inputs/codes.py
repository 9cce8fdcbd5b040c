"""Codes whose parameter files are converted, and detection of the code of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from octools.errors import OctoolsError
from octools.files import write_text
from octools.inputs import athena, cans, octotiger, ramses
from octools.inputs.conversion import Conversion


@dataclass(frozen=True)
class Code:
    """Code whose parameter files are converted.

    Attributes
    ----------
    name
        Of the code.
    knows
        Tells by its path whether a file is one of it.
    convert
        Writes the file as TOML, and accounts for its settings.
    """

    name: str
    knows: Callable[[Path], bool]
    convert: Callable[[Path], Conversion]


def codes() -> list[Code]:
    """List these codes; a namelist that is not RAMSES's is taken for CaNS's."""
    return [
        Code("RAMSES", ramses.is_namelist, ramses.convert),
        Code("CaNS", lambda path: path.suffix == ".nml", cans.convert),
        Code("Octo-Tiger", lambda path: path.suffix == ".ini", octotiger.convert),
        Code(
            "Athena",
            lambda path: path.suffix == ".athinput" or path.name.startswith("athinput."),
            athena.convert,
        ),
    ]


def convert(path: Path, output: Path, initial: Path | None = None) -> Conversion:
    """Convert a parameter file of a code that its name or contents tell.

    Parameters
    ----------
    path
        The parameter file.
    output
        The TOML file to write.
    initial
        Of CaNS: a folder with initial fields; that of `path` where left out and it has some. They
        are written beside `output` as HDF5.

    Returns
    -------
    Conversion
        What became of its settings.

    Raises
    ------
    OctoolsError
        If the file is of no such code, is damaged, or sets up what Octant cannot do.
    """
    if not path.is_file():
        raise OctoolsError(f"the parameter file {path} does not exist")
    code = next((code for code in codes() if code.knows(path)), None)
    if code is None:
        names = ", ".join(code.name for code in codes())
        raise OctoolsError(
            f"{path} is not named like a parameter file of {names}; to convert a snapshot, use --to"
        )
    done = _with_fields(path, output, initial) if code.name == "CaNS" else code.convert(path)
    write_text(output, done.finish(code.name))
    return done


def _with_fields(path: Path, output: Path, initial: Path | None) -> Conversion:
    """Convert a file of CaNS, with the fields that its run begins with."""
    if initial is None and cans.has_initial(path.parent):
        initial = path.parent
    done = cans.convert(path, initial)
    if initial is not None:
        fields = output.with_name(f"{output.stem}_initial.h5")
        cans.write_initial(initial, fields)
        done.put("problem.path", str(fields.resolve()))
    return done
