"""Pictures, profiles, films, comparisons and conversions of Octant runs.

``octools.load(PATH)`` gives a snapshot as arrays: see `octools.loading`.
"""

from typing import Any

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import `load` when it is asked for: commands start faster without."""
    if name == "load":
        from octools.loading import load

        return load
    raise AttributeError(f"module octools has no attribute {name}")
