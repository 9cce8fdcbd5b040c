"""Inputs and reference solutions made by other programs, in the folder that OCTANT_DATA names."""

import os
from pathlib import Path

import pytest


def reference_path(name: str) -> Path:
    """Give the path of a file or folder of the reference data, such as "galaxy/fof_summary.csv".

    Skips the test, or all tests of the fixture that calls this, where the data are absent.
    """
    path = Path(os.environ.get("OCTANT_DATA", "/nonexistent")) / name
    if not path.exists():
        pytest.skip(f"OCTANT_DATA names no folder with {name}")
    return path.resolve()  # what is read back from the program has no ".." either


def reference_files(pattern: str) -> list[Path]:
    """Find reference data by a pattern, sorted; none where they are absent: to parametrize tests.

    pytest skips a test without parameters.
    """
    return sorted(Path(os.environ.get("OCTANT_DATA", "/nonexistent")).glob(pattern))
