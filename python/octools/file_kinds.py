"""Kinds of files by their contents: octools replaces only files of the kind that it writes."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

BEGINNING = 4096  # bytes that tell the kind
SIGNATURES = {
    b"\x89PNG": "a PNG picture",
    b"%PDF": "a PDF document",
    b"%!PS": "a PostScript document",
    b"GIF8": "a GIF picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"RIFF": "a WebP picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
}
HDF5 = b"\x89HDF\r\n\x1a\n"
COORDINATES = ("radius", "x", "y", "z")  # first columns of profiles
NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?", re.IGNORECASE)


def kind_of(path: Path) -> str | None:
    """Describe what a file contains; None for an empty file, which may be replaced by all kinds.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as file:
        beginning = file.read(BEGINNING)
    if beginning.startswith(HDF5):
        return _kind_of_hdf5(path)
    if beginning.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(path) as packed:
                return f"a compressed file: {_kind_of_bytes(packed.read(BEGINNING))}"
        except (OSError, EOFError):
            return "a damaged compressed file"
    return _kind_of_bytes(beginning)


def _kind_of_hdf5(path: Path) -> str:
    """Describe an HDF5 file by the members of its root group that all files of a kind have."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "format" in file.attrs:
                return f"an HDF5 file of the format {file.attrs['format']!r}"
            names = set(file)
    except (OSError, RuntimeError, ValueError):
        return "a damaged HDF5 file"
    if "mesh" in names:
        return "a snapshot or checkpoint of Octant"
    for name in ("VTKHDF", "Header", "halos", "fields"):
        if name in names:
            return f"an HDF5 file with the group /{name}"
    return "an HDF5 file with other contents"


def _kind_of_bytes(beginning: bytes) -> str | None:
    if not beginning:
        return None
    for signature, kind in SIGNATURES.items():
        if beginning.startswith(signature):
            return kind
    if beginning[4:8] == b"ftyp":
        return "an MP4 movie"
    try:
        text = beginning.decode(errors="strict" if len(beginning) < BEGINNING else "ignore")
    except UnicodeDecodeError:
        return "a binary file"
    return "a binary file" if "\0" in text else _kind_of_text(text.lstrip())


def _kind_of_text(text: str) -> str:
    """Describe a text; tables by their first column, and JSON by its first key."""
    line = text.split("\n", 1)[0].strip()
    if line.lower().startswith(("<!doctype html", "<html")):
        return "a web page"
    if "<svg" in text or line.startswith("<?xml"):
        return "an SVG or XML document"
    if found := re.match(r'\{\s*"([^"]*)"', text):
        return f'a JSON file with the first key "{found[1]}"'
    columns = [name.strip(" #") for name in line.split(",")]
    if len(columns) > 1 and all(columns) and not NUMBER.fullmatch(columns[0]) and "=" not in line:
        return (
            "a profile"
            if columns[0] in COORDINATES
            else f'a table with the first column "{columns[0]}"'
        )
    return "a text file"
