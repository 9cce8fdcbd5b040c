"""Plots, profiles, movies, comparisons and conversions of Octant runs.

``octools.load(PATH)`` gives a snapshot as arrays: see `octools.loading`.
``octools.write_initial(PATH, ...)`` writes arrays for a run to begin with: see `octools.initial`.
"""

from typing import Any

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import a function at its first use: commands start faster without."""
    if name == "load":
        from octools.loading import load

        return load
    if name in ("write_initial", "Grid"):
        from octools import initial

        return getattr(initial, name)
    raise AttributeError(f"module octools has no attribute {name}")
