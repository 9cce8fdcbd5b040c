"""Paths of the compiled parts of Octant and its examples, in a clone or an installed wheel."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of a clone
WHEEL = Path(__file__).resolve().parents[1] / "octant_program"  # of a wheel (packaging/wheel)


def is_wheel() -> bool:
    """Return whether this is a wheel that contains the program."""
    return (WHEEL / "octant").is_file()


def build_folder() -> Path:
    """Return the folder of the program: OCTANT_BUILD, which the launcher sets, comes first."""
    return Path(os.environ.get("OCTANT_BUILD") or (WHEEL if is_wheel() else ROOT / "build/release"))


def examples_folder() -> Path:
    """Return the folder of the example parameter files, which an octools alone does not have."""
    return (WHEEL if is_wheel() else ROOT) / "examples"
