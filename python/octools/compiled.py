"""Compiled functions of the build of Octant that are faster than NumPy, if there is a build."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.installation import build_folder


@functools.cache
def load_friends() -> ctypes.CDLL | None:
    """Load the library beside the program `octant`; None if there is none."""
    try:
        return ctypes.CDLL(str(build_folder() / "liboctant_friends.so"))
    except OSError:
        return None


def friends_of_friends(
    position: NDArray[np.float64], period: NDArray[np.float64], length: float
) -> NDArray[np.int64] | None:
    """Return every point the number of the first one in its group, shape (points,).

    Parameters
    ----------
    position
        Shape (points, 3); along a periodic axis within one period.
    period
        Shape (3,); infinite along axes that are not periodic.
    length
        The greatest distance of two friends.

    Returns
    -------
    The groups, or None if there is no library.
    """
    loaded = load_friends()
    if loaded is None:
        return None
    position = np.ascontiguousarray(position, dtype=np.float64)
    period = np.ascontiguousarray(period, dtype=np.float64)
    group = np.empty(len(position), dtype=np.int32)
    failed = loaded.octant_friends_of_friends(
        position.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_int64(len(position)),
        ctypes.c_double(length),
        period.ctypes.data_as(ctypes.c_void_p),
        group.ctypes.data_as(ctypes.c_void_p),
    )
    if failed:
        raise OctoolsError(
            "friends-of-friends linking failed: some coordinates are not finite, or there are "
            "too many points"
        )
    return group.astype(np.int64)
