"""Stored fields at any points, and on a square of pixels in any plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octools.snapshot import AXES, Array, Level, Snapshot


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


def sample_points(snapshot: Snapshot, points: Array, names: Sequence[str]) -> dict[str, Array]:
    """Return the values of stored fields in the leaf cells that contain some points.

    Parameters
    ----------
    snapshot
        Open snapshot.
    points
        Positions, shape (points, 3), code length.
    names
        Stored fields.

    Returns
    -------
    dict
        Values by name, shape (points,); NaN outside the domain. ``position`` and ``size`` are the
        centres and edge lengths of the cells, shape (points, 3).
    """
    found = {name: np.full(len(points), np.nan) for name in names}
    found |= {name: np.full(points.shape, np.nan) for name in ("position", "size")}
    for level in snapshot.levels:
        inside, blocks, cell = _leaf_cells_at(level, points)
        if len(inside) == 0:
            continue
        needed, row = np.unique(blocks, return_inverse=True)
        i, j, k = cell.T
        for name in names:
            found[name][inside] = level.read(name, needed)[row, k, j, i]
        index = level.corner[blocks] + cell + 0.5
        found["position"][inside] = snapshot.header.lower + index * level.cell_size
        found["size"][inside] = level.cell_size
    return found


def sample_plane(snapshot: Snapshot, plane: ObliquePlane, name: str) -> Array:
    """Return a stored field at the pixels of a plane, shape (pixels, pixels) as up, right.

    Each pixel has the value of the leaf cell that contains its middle; NaN outside the domain.
    """
    values = sample_points(snapshot, plane.positions.reshape(-1, 3), [name])[name]
    return values.reshape(plane.pixels, plane.pixels)


def interpolated_potential(snapshot: Snapshot, points: Array) -> Array:
    """Interpolate the gravitational potential with the accelerations of the eight nearest cells.

    Trilinear weights of ``phi - a (x - x_cell) / 2`` are exact for quadratic functions where cells
    have the same size. Shape (points,); NaN outside the domain.
    """
    names = ("potential", *(f"acceleration_{axis}" for axis in AXES))
    size = sample_points(snapshot, points, [])["size"]
    total, weights = np.zeros(len(points)), np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        cells = sample_points(snapshot, points + (np.array(corner) - 0.5) * size, names)
        away = points - cells["position"]
        weight = np.maximum(1.0 - np.abs(away) / size, 0.0).prod(axis=1)
        pull = np.stack([cells[name] for name in names[1:]], axis=1)
        value = cells["potential"] - 0.5 * (pull * away).sum(axis=1)
        known = np.isfinite(value)
        total[known] += (weight * value)[known]
        weights[known] += weight[known]
    return np.divide(total, weights, out=np.full(len(points), np.nan), where=weights > 0.0)


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
    place = (points - header.lower) / level.cell_size
    index = np.floor(np.where(np.isfinite(place), place, -1.0)).astype(np.int64)
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
