"""Boxes of neighbouring blocks, for readers that are slow with one grid per block.

Boxes are put together of tiles. A tile is a whole block, or one octant of a block where finer cells
cover others of its octants and only leaves are wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octools.snapshot import Array, Level

Indices = NDArray[np.int64]
BOX_CELLS = 128**3  # most cells of a box
BATCH_CELLS = 4_000_000  # most cells of some boxes that are read together


@dataclass(frozen=True)
class Box:
    """Neighbouring tiles of a level that fill a box.

    Attributes
    ----------
    corner
        Index of its first cell on the level's grid, shape (3,) as x, y, z.
    tiles
        Numbers of its tiles, shape (n_z, n_y, n_x): rows of blocks in the file, or 8 times these
        plus the octant ix + 2 iy + 4 iz.
    tile_size
        Cells along one edge of a tile.
    """

    corner: Indices
    tiles: Indices
    tile_size: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells along z, y and x."""
        k, j, i = (n * self.tile_size for n in self.tiles.shape)
        return k, j, i

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.tiles.size * self.tile_size**3

    def assemble(self, values: NDArray[Any], tiles: Indices) -> NDArray[Any]:
        """Put values of some tiles, shape (tiles, k, j, i), in their places, shape (k, j, i).

        `tiles` are their ascending numbers; all of the box are among them.
        """
        own = values[np.searchsorted(tiles, self.tiles)]
        return own.transpose(0, 3, 1, 4, 2, 5).reshape(self.shape)


def boxes(level: Level) -> list[Box]:
    """Merge the blocks of a level into boxes, exactly: no cell is in two, none is added.

    Blocks that follow each other along an axis become rows, rows that lie side by side become
    planes, and these become boxes; of the orders of axes the one that ends with fewest boxes is
    taken. Boxes of more than `BOX_CELLS` cells are cut up. They come in the order of their first
    blocks, so that the blocks of neighbours in the list lie near to each other in the file.
    """
    n = level.snapshot.header.block_size
    return _boxes(level.corner // n, np.arange(level.blocks), n)


def leaf_boxes(level: Level) -> list[Box]:
    """Merge the leaf cells of a level into boxes, as `boxes` does with all; there may be none."""
    half = level.snapshot.header.block_size // 2
    row, octant = np.nonzero((level.refined[:, None] >> np.arange(8)) & 1 == 0)
    offset = octant[:, None] >> np.arange(3) & 1
    return _boxes(level.corner[row] // half + offset, 8 * row + octant, half)


def _boxes(position: Indices, tiles: Indices, size: int) -> list[Box]:
    """Merge tiles at some positions, shape (tiles, 3) in sizes of a tile."""
    if len(position) == 0:
        return []
    found = min((_merge(position, order) for order in permutations(range(3))), key=len)
    order = np.lexsort(position.T)
    sizes = position.max(axis=0) + 1
    keys = _flat(position[order], sizes)
    result = []
    for place in found:
        x, y, z = (place[a] + np.arange(place[a + 3]) for a in range(3))
        key = (z[:, None, None] * sizes[1] + y[:, None]) * sizes[0] + x
        own = tiles[order[np.searchsorted(keys, key)]]
        result += _cut(Box(place[:3] * size, own, size))
    return sorted(result, key=lambda box: int(box.tiles.min()))


def _cut(box: Box) -> list[Box]:
    """Halve a box across its longest edge until no part has more than `BOX_CELLS` cells."""
    if box.cells <= BOX_CELLS or box.tiles.size == 1:
        return [box]
    axis = int(np.argmax(box.tiles.shape))
    lower, upper = np.array_split(box.tiles, 2, axis=axis)
    n = box.tile_size
    shift = np.zeros(3, dtype=np.int64)
    shift[2 - axis] = lower.shape[axis] * n
    return _cut(Box(box.corner, lower, n)) + _cut(Box(box.corner + shift, upper, n))


def _flat(position: Indices, sizes: Indices) -> Indices:
    return (position[:, 2] * sizes[1] + position[:, 1]) * sizes[0] + position[:, 0]


def _merge(position: Indices, order: tuple[int, ...]) -> Indices:
    """Merge blocks at some positions along each axis in turn, shape (boxes, corner and extent)."""
    found = np.concatenate([position, np.ones_like(position)], axis=1)
    before = len(found) + 1
    while len(found) < before:
        before = len(found)
        for axis in order:
            found = _merge_along(found, axis)
    return found


def _merge_along(found: Indices, axis: int) -> Indices:
    others = [c for c in range(6) if c not in (axis, axis + 3)]
    found = found[np.lexsort((found[:, axis], *found[:, others].T))]
    first = found[:, axis]
    follows = (found[1:, others] == found[:-1, others]).all(axis=1)
    follows &= first[1:] == first[:-1] + found[:-1, axis + 3]
    begin = np.concatenate([[0], np.flatnonzero(~follows) + 1])
    merged = found[begin]
    merged[:, axis + 3] = np.add.reduceat(found[:, axis + 3], begin)
    return merged


@dataclass(frozen=True)
class BoxData:
    """Values in some boxes of a level.

    Attributes
    ----------
    boxes
        These boxes.
    tiles
        Numbers of their tiles, ascending, and perhaps of some others.
    values
        Fields of these tiles, each of shape (tiles, k, j, i).
    leaf
        Which cells are leaves, shape (tiles, k, j, i).
    """

    boxes: list[Box]
    tiles: Indices
    values: dict[str, Array]
    leaf: NDArray[np.bool_]

    def one_after_the_other(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the tiles box after box, x fastest, shape (cells,)."""
        return np.concatenate([box.assemble(values, self.tiles).ravel() for box in self.boxes])


def read_boxes(level: Level, some: list[Box], names: list[str]) -> Iterator[BoxData]:
    """Read fields of boxes in their order, a bounded number of cells (or one box) at a time."""
    for part in _parts(some):
        along = level.snapshot.header.block_size // part[0].tile_size
        rows = np.unique(np.concatenate([box.tiles.ravel() for box in part]) // along**3)
        values = {name: _tiles(level.read(name, rows), along) for name in names}
        tiles = (rows[:, None] * along**3 + np.arange(along**3)).ravel()
        yield BoxData(part, tiles, values, _tiles(level.leaf_cells(rows), along))


def _tiles(values: NDArray[Any], along: int) -> NDArray[Any]:
    """Cut blocks, shape (rows, k, j, i), into tiles, so many along each edge of a block."""
    if along == 1:
        return values
    n = values.shape[1] // along
    cut = values.reshape(-1, along, n, along, n, along, n)
    return cut.transpose(0, 1, 3, 5, 2, 4, 6).reshape(-1, n, n, n)


def _parts(some: list[Box]) -> Iterator[list[Box]]:
    """Cut a list of boxes into lists of bounded size, or of one box."""
    ends = np.cumsum([box.cells for box in some])
    begin = 0
    while begin < len(some):
        limit = BATCH_CELLS + (ends[begin - 1] if begin else 0)
        end = max(begin + 1, int(np.searchsorted(ends, limit, side="right")))
        yield some[begin:end]
        begin = end
