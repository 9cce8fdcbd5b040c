"""Pictures of a snapshot as arrays: slices and projections along an axis, and block outlines.

A leaf cell is painted on the grid of its own level; levels are then laid over each other from the
coarsest to the finest, so that work and memory follow the picture's size, not the domain's.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.fields import Field
from octools.snapshot import AXES, Array, Batch, Level, Snapshot

MAX_PIXELS = 1536


@dataclass(frozen=True)
class View:
    """Where a picture looks.

    Attributes
    ----------
    axis
        The axis that is looked along: 0, 1 or 2.
    position
        Where a slice cuts that axis, code length; None for a projection.
    """

    axis: int
    position: float | None

    @property
    def across(self) -> tuple[int, int]:
        """The axes to the right and upwards: (x, y), (x, z) or (y, z)."""
        first, second = (a for a in range(3) if a != self.axis)
        return first, second


@dataclass(frozen=True)
class Image:
    """A picture as an array.

    Attributes
    ----------
    view
        Where it looks.
    values
        Shape (upwards, right).
    extent
        Left, right, bottom and top, code length.
    """

    view: View
    values: Array
    extent: tuple[float, float, float, float]


@dataclass(frozen=True)
class Outlines:
    """The outlines of one level's blocks in a picture.

    Attributes
    ----------
    level
        The level.
    lower, upper
        Opposite corners, shape (blocks, 2) as right, upwards, code length.
    """

    level: int
    lower: Array
    upper: Array


def make_view(snapshot: Snapshot, kind: str, axis: str, position: float | None) -> View:
    """Check a request for a picture; a slice without a position cuts the problem's centre."""
    if kind not in ("slice", "projection"):
        raise OctoolsError(f"no kind of picture '{kind}'; there are: slice, projection")
    if axis not in AXES:
        raise OctoolsError(f"no axis '{axis}'; there are: x, y, z")
    a = AXES.index(axis)
    header = snapshot.header
    if header.plane is not None:
        if kind == "projection":
            raise OctoolsError(f"{snapshot.path} is a slice: there is nothing to project")
        return View(*header.plane)
    if kind == "projection":
        return View(a, None)
    place = float(header.centre[a]) if position is None else position
    if not header.lower[a] <= place <= header.upper[a]:
        raise OctoolsError(
            f"position {place:g} lies outside the domain, "
            f"{header.lower[a]:g} to {header.upper[a]:g} along {axis}"
        )
    return View(a, place)


def make_image(snapshot: Snapshot, field: Field, view: View, weight: Field | None = None) -> Image:
    """Paint a slice, an integral along the line of sight, or a weighted mean along it.

    Parameters
    ----------
    snapshot
        Where the cells are.
    field
        What to paint.
    view
        A slice holds the values at its position; a projection the integral over the code length.
    weight
        In a projection: paint the mean of `field` weighted by this one instead of the integral.

    Returns
    -------
    Image
        As fine as the finest leaf cell where that takes at most `MAX_PIXELS` pixels; smaller cells
        are averaged over a pixel.
    """
    if weight is None or view.position is not None:
        values = _paint(snapshot, [field], view)
    else:
        values = _paint(snapshot, [field, weight], view) / _paint(snapshot, [weight], view)
    header = snapshot.header
    u, v = view.across
    extent = (header.lower[u], header.upper[u], header.lower[v], header.upper[v])
    return Image(view, values, tuple(float(e) for e in extent))  # type: ignore[arg-type]


def _paint(snapshot: Snapshot, factors: list[Field], view: View) -> Array:
    """Paint the product of some fields; shape (upwards, right)."""
    top = _raster_level(snapshot, view)
    u, v = view.across
    names = sorted({name for factor in factors for name in factor.needs})
    shape = snapshot.header.base_cells[[v, u]]
    image = np.zeros(shape)
    for level in snapshot.levels:
        if 0 < level.index <= top:
            image = image.repeat(2, axis=0).repeat(2, axis=1)
        blocks = _blocks_in_view(level, view)
        for batch in snapshot.batches(names, level, blocks):
            product = np.ones(batch.leaf.shape)
            for factor in factors:
                product = product * factor.compute(batch, snapshot.header)
            _add(image, batch, product, view, level, max(0, level.index - top))
    return image


def _raster_level(snapshot: Snapshot, view: View) -> int:
    """Choose the level whose cells are the pixels."""
    across = int(snapshot.header.base_cells[list(view.across)].max())
    fits = int(np.log2(max(1.0, MAX_PIXELS / across)))
    return min(snapshot.levels[-1].index, fits)


def _blocks_in_view(level: Level, view: View) -> NDArray[np.int64]:
    if view.position is None:
        return np.arange(level.blocks)
    return level.blocks_at(view.axis, view.position)


def _add(image: Array, batch: Batch, values: Array, view: View, level: Level, finer: int) -> None:
    """Add a batch of leaf cells that are 2**finer times smaller than the pixels."""
    n = level.snapshot.header.block_size
    u, v = view.across
    masked = np.where(batch.leaf, values, 0.0)
    along = 3 - view.axis  # arrays are [block][k][j][i]
    if view.position is None:
        flat = masked.sum(axis=along) * level.cell_size[view.axis]
    else:
        cell = level.cell_at(view.axis, view.position) - batch.corner[:, view.axis]
        cell %= batch.leaf.shape[along]  # of a slice there is but one
        select = np.expand_dims(cell, (1, 2, 3))
        flat = np.take_along_axis(masked, select, axis=along).squeeze(axis=along)
    columns = (batch.corner[:, u, None] + np.arange(n)) >> finer
    rows = (batch.corner[:, v, None] + np.arange(n)) >> finer
    pixels = rows[:, :, None] * image.shape[1] + columns[:, None, :]
    np.add.at(image.reshape(-1), pixels.ravel(), (flat * 0.25**finer).ravel())


def block_outlines(snapshot: Snapshot, view: View) -> list[Outlines]:
    """Outline the blocks that own leaf cells in a picture, level by level."""
    return [_level_outlines(level, view) for level in snapshot.levels]


def _level_outlines(level: Level, view: View) -> Outlines:
    header = level.snapshot.header
    n = header.block_size
    across = list(view.across)
    blocks = _blocks_in_view(level, view)
    octants = np.arange(8)
    if view.position is None:
        seen = np.ones((len(blocks), 8), dtype=bool)
    else:
        upper_half = (
            (level.cell_at(view.axis, view.position) - level.corner[blocks, view.axis]) * 2 // n
        )
        seen = ((octants >> view.axis) & 1) == upper_half[:, None]
    unrefined = (level.refined[blocks, None] >> octants) & 1 == 0
    blocks = blocks[(seen & unrefined).any(axis=1)]
    corner = np.unique(level.corner[blocks][:, across], axis=0)
    size = level.cell_size[across]
    lower = header.lower[across] + corner * size
    return Outlines(level.index, lower, lower + n * size)
