"""Output files of octools, created exclusively and without following links.

All code in octools that writes a file does so here (``tests/style/check.py``).
``docs/own_files.md`` lists the places.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from octools.errors import OctoolsError
from octools.file_kinds import kind_of

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
EXCLUSIVELY = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_file_name(name: object) -> bool:
    """Return true if a text is the name of a file in a folder, and leads to no other folder."""
    return isinstance(name, str) and FILE_NAME.fullmatch(name) is not None


def require_file(path: Path) -> None:
    """Refuse a name under which no file can be written: of a folder, a device or a pipe.

    Raises
    ------
    OctoolsError
        If something has the name that is neither a regular file nor a link to one.
    """
    try:
        if path.is_dir() or not path.name:
            raise OctoolsError(f"cannot write {path}: it is a directory; give the name of a file")
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise OctoolsError(f"cannot write {path}: it is not a regular file; choose another name")


def _require_replaceable(path: Path, beside: Path) -> None:
    """Refuse to replace a file by one of another kind. Links are replaced, not followed."""
    if path.is_symlink() or not path.is_file():
        return
    old, new = kind_of(path), kind_of(beside)
    if old is not None and new is not None and old != new:
        raise OctoolsError(
            f"{path} exists and is {old}, not {new}; octools replaces only older files with such "
            "contents: remove or rename the file, or choose another name"
        )


@contextmanager
def whole_file(path: Path, ending: str = "") -> Iterator[Path]:
    """Return the name under which to write a file that gets its own when it is whole.

    Makes the folder. An empty file of the temporary name is there already. An older file is
    replaced if it is of the same kind (`octools.file_kinds`). Where `path` is a link, the link is
    replaced, and what it leads to stays as it is.

    Parameters
    ----------
    path
        The file.
    ending
        What the temporary name ends with, for writers that choose a format by it.

    Raises
    ------
    OctoolsError
        If it cannot be written, or if there is a file of another kind.
    """
    require_file(path)
    beside = path.with_name(f"{path.name}.part{ending}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        os.close(os.open(beside, EXCLUSIVELY, 0o666))
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    try:
        yield beside
        _require_replaceable(path, beside)
        beside.replace(path)
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file as a whole, in place of an older one of the same kind."""
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
