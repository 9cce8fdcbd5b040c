"""Tables as CSV files: a line of names, and a row per item."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.files import whole_file


def write_table(columns: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write columns of equal length as CSV: integers in full, other numbers with 11 digits.

    Parameters
    ----------
    columns
        Columns by name, each of shape (rows,).
    path
        Path of the file; its directory is created.

    Raises
    ------
    OctoolsError
        If the file cannot be written.
    """
    formats = [
        "%d" if np.issubdtype(column.dtype, np.integer) else "%.10e" for column in columns.values()
    ]
    try:
        with whole_file(path) as beside, beside.open("w") as file:
            np.savetxt(
                file,
                np.column_stack(list(columns.values())),
                delimiter=",",
                fmt=formats,
                header=",".join(columns),
                comments="",
            )
    except OSError as cause:
        raise OctoolsError(f"cannot write {path}: {cause}") from cause
