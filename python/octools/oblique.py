"""Stored fields on a square of pixels in any plane, from the leaf cells that contain the pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octools.snapshot import Array, Level, Snapshot


@dataclass(frozen=True)
class ObliquePlane:
    """Square region of a plane.

    Attributes
    ----------
    centre
        Centre of the square, shape (3,), code length.
    right, up
        Perpendicular unit vectors in the plane, shape (3,).
    half_width
        Half the edge length, code length.
    pixels
        Number of pixels along an edge.
    """

    centre: Array
    right: Array
    up: Array
    half_width: float
    pixels: int

    @property
    def ticks(self) -> Array:
        """Distances of the middles of the pixels from the centre along an edge, shape (pixels,)."""
        steps = (np.arange(self.pixels) + 0.5) / self.pixels
        return self.half_width * (2.0 * steps - 1.0)

    @property
    def positions(self) -> Array:
        """Positions of the middles of the pixels, shape (pixels, pixels, 3) as up, right."""
        along, upwards = self.ticks[None, :, None], self.ticks[:, None, None]
        return self.centre + along * self.right + upwards * self.up


def sample_plane(snapshot: Snapshot, plane: ObliquePlane, names: Sequence[str]) -> dict[str, Array]:
    """Return the values of stored fields at the pixels of a plane.

    Returns
    -------
    dict
        Values of the leaf cell that contains the middle of each pixel, shape (pixels, pixels) as
        up, right; NaN outside the domain. ``x``, ``y`` and ``z`` are the centres of the cells.
    """
    points = plane.positions.reshape(-1, 3)
    found = {name: np.full(len(points), np.nan) for name in (*names, "x", "y", "z")}
    for level in snapshot.levels:
        inside, blocks, cell = _leaf_cells_at(level, points)
        needed, row = np.unique(blocks, return_inverse=True)
        i, j, k = cell.T
        for name in names:
            if len(needed):
                found[name][inside] = level.read(name, needed)[row, k, j, i]
        centre = snapshot.header.lower + (level.corner[blocks] + cell + 0.5) * level.cell_size
        for d, name in enumerate("xyz"):
            found[name][inside] = centre[:, d]
    return {name: values.reshape(plane.pixels, plane.pixels) for name, values in found.items()}


def _leaf_cells_at(
    level: Level, points: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find the points in leaf cells of a level.

    Returns
    -------
    tuple
        Indices of these points, their blocks, and their cells within the blocks, shape (n, 3).
    """
    header, n = level.snapshot.header, level.snapshot.header.block_size
    cells = header.base_cells << level.index
    index = np.floor((points - header.lower) / level.cell_size).astype(np.int64)
    inside = np.flatnonzero(((index >= 0) & (index < cells)).all(axis=1))
    strides = np.cumprod([1, *(cells // n)[:2]])
    numbers = (level.corner // n) @ strides
    order = np.argsort(numbers)
    wanted = (index[inside] // n) @ strides
    at = np.minimum(np.searchsorted(numbers[order], wanted), len(order) - 1)
    blocks = order[at]
    cell = index[inside] % n
    octant = (cell * 2 // n) @ np.array([1, 2, 4])
    leaf = (numbers[blocks] == wanted) & (level.refined[blocks] >> octant & 1 == 0)
    return inside[leaf], blocks[leaf], cell[leaf]
