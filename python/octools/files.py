"""Output files of octools, created exclusively and without following links.

All code in octools that writes a file does so here (``tests/style/check.py``).
``docs/own_files.md`` lists the places.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from octools.errors import OctoolsError

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
EXCLUSIVELY = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_file_name(name: object) -> bool:
    """Return true if a text is the name of a file in a folder, and leads to no other folder."""
    return isinstance(name, str) and FILE_NAME.fullmatch(name) is not None


@contextmanager
def whole_file(path: Path, ending: str = "") -> Iterator[Path]:
    """Return the name under which to write a file that gets its own when it is whole.

    Makes the folder. An empty file of the temporary name is there already. Where `path` is a link,
    the link is replaced, and what it leads to stays as it is.

    Parameters
    ----------
    path
        The file.
    ending
        What the temporary name ends with, for writers that choose a format by it.

    Raises
    ------
    OctoolsError
        If it cannot be written.
    """
    beside = path.with_name(f"{path.name}.part{ending}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        os.close(os.open(beside, EXCLUSIVELY, 0o666))
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    try:
        yield beside
        beside.replace(path)
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file as a whole, in place of an older one."""
    with whole_file(path) as beside:
        beside.write_text(text)


def write_new(path: Path, text: str, mode: int = 0o666) -> None:
    """Write a text file whose name must be free, also of a link that leads nowhere.

    The file appears with its whole content.

    Raises
    ------
    FileExistsError
        If something has the name.
    OSError
        If it cannot be written.
    """
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(beside, EXCLUSIVELY, mode), "w") as file:
            file.write(text)
        os.link(beside, path, follow_symlinks=False)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
