"""Images of a snapshot as arrays: slices and projections along an axis, and block outlines.

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
    """Plane or line of sight, and extent, of an image.

    Attributes
    ----------
    axis
        Axis normal to the image: 0, 1 or 2.
    position
        Position of a slice along that axis, code length; None for a projection.
    window
        Lower and upper corner along both image axes, code length; None for the whole domain.
    """

    axis: int
    position: float | None
    window: tuple[tuple[float, float], tuple[float, float]] | None = None

    @property
    def across(self) -> tuple[int, int]:
        """The axes to the right and upwards: (x, y), (x, z) or (y, z)."""
        first, second = (a for a in range(3) if a != self.axis)
        return first, second


@dataclass(frozen=True)
class Image:
    """Field on a regular raster of pixels.

    Attributes
    ----------
    view
        Plane and extent.
    values
        Values of the pixels, shape (vertical, horizontal).
    extent
        Left, right, bottom and top, code length.
    """

    view: View
    values: Array
    extent: tuple[float, float, float, float]


@dataclass(frozen=True)
class Outlines:
    """Outlines of the blocks of one level in an image.

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


def make_view(
    snapshot: Snapshot,
    kind: str,
    axis: str,
    position: float | None,
    centre: tuple[float, float, float] | None = None,
    width: float | None = None,
) -> View:
    """Create the view of a slice or projection, and check its arguments.

    Parameters
    ----------
    snapshot
        Open snapshot.
    kind, axis, position
        ``slice`` or ``projection``; the axis normal to the image; the position of a slice, by
        default at the centre of the problem.
    centre
        Centre of the image in code length; by default that of the problem or of the domain.
    width
        Edge length of a square image in code length, limited to the domain; by default the
        whole domain.
    """
    if kind not in ("slice", "projection"):
        raise OctoolsError(f"unknown kind of plot '{kind}'; expected slice or projection")
    if axis not in AXES:
        raise OctoolsError(f"unknown axis '{axis}'; expected x, y or z")
    a = AXES.index(axis)
    header = snapshot.header
    middle = header.inner_centre if centre is None else np.array(centre)
    if header.plane is not None:
        if kind == "projection":
            raise OctoolsError(f"{snapshot.path} is a slice, which cannot be projected")
        a, position = header.plane
    window = _window(snapshot, a, middle, width)
    if kind == "projection":
        return View(a, None, window)
    place = float(middle[a]) if position is None else position
    if not header.lower[a] <= place <= header.upper[a]:
        raise OctoolsError(
            f"position {place:g} lies outside the domain, "
            f"{header.lower[a]:g} to {header.upper[a]:g} along {axis}"
        )
    return View(a, place, window)


def _window(
    snapshot: Snapshot, axis: int, middle: Array, width: float | None
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    if width is None:
        return None
    header, across = snapshot.header, [d for d in range(3) if d != axis]
    lower = np.maximum(middle - 0.5 * width, header.lower)[across]
    upper = np.minimum(middle + 0.5 * width, header.upper)[across]
    if not (upper - lower >= snapshot.finest_cell()[across]).all():
        raise OctoolsError(
            f"a plot of width {width:g} centred on {', '.join(f'{x:g}' for x in middle)} shows "
            "less than one cell of the domain"
        )
    return (float(lower[0]), float(lower[1])), (float(upper[0]), float(upper[1]))


def make_image(snapshot: Snapshot, field: Field, view: View, weight: Field | None = None) -> Image:
    """Compute a slice, an integral along the line of sight, or a weighted mean along it.

    Parameters
    ----------
    snapshot
        Open snapshot.
    field
        Field of the image.
    view
        A slice has the values at its position, a projection the integral over code length.
    weight
        In a projection, the mean of `field` with this weight replaces the integral.

    Returns
    -------
    Image
        Image with pixels of the finest leaf cell, or larger pixels if their number exceeds
        `MAX_PIXELS`; smaller cells are averaged.
    """
    if weight is None or view.position is not None:
        values = _paint(snapshot, [field], view)
    else:
        values = _paint(snapshot, [field, weight], view) / _paint(snapshot, [weight], view)
    base = _base_window(snapshot, view)
    header, across = snapshot.header, list(view.across)
    size = header.size[across] / header.base_cells[across]
    (left, low), (right, high) = (header.lower[across] + corner * size for corner in base)
    return Image(view, values, (float(left), float(right), float(low), float(high)))


def _base_window(snapshot: Snapshot, view: View) -> NDArray[np.int64]:
    """Return the base cells that are painted, as lower and upper corner, each right and upwards."""
    header, across = snapshot.header, list(view.across)
    cells = header.base_cells[across]
    if view.window is None:
        return np.array([[0, 0], cells])
    size = header.size[across] / cells
    lower, upper = ((np.array(corner) - header.lower[across]) / size for corner in view.window)
    return np.stack(
        [
            np.clip(np.floor(lower + 1e-9), 0, cells - 1).astype(np.int64),
            np.clip(np.ceil(upper - 1e-9), 1, cells).astype(np.int64),
        ]
    )


def _paint(snapshot: Snapshot, factors: list[Field], view: View) -> Array:
    """Paint the product of some fields; shape (upwards, right)."""
    base = _base_window(snapshot, view)
    top = _raster_level(snapshot, base)
    names = sorted({name for factor in factors for name in factor.needs})
    image = np.zeros((base[1] - base[0])[::-1])
    for level in snapshot.levels:
        if 0 < level.index <= top:
            image = image.repeat(2, axis=0).repeat(2, axis=1)
        blocks = _blocks_in_view(level, view, base)
        for batch in snapshot.batches(names, level, blocks):
            product = np.ones(batch.leaf.shape)
            for factor in factors:
                product = product * factor.compute(batch, snapshot.header)
            first = base[0] << min(level.index, top)
            _add(image, first, batch, product, view, level, max(0, level.index - top))
    return image


def _raster_level(snapshot: Snapshot, base: NDArray[np.int64]) -> int:
    """Choose the level whose cells are the pixels."""
    across = int((base[1] - base[0]).max())
    fits = int(np.log2(max(1.0, MAX_PIXELS / across)))
    return min(snapshot.levels[-1].index, fits)


def _blocks_in_view(
    level: Level, view: View, base: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    if view.position is None:
        blocks = np.arange(level.blocks)
    else:
        blocks = level.blocks_at(view.axis, view.position)
    if base is None or view.window is None:
        return blocks
    corner = level.corner[blocks][:, list(view.across)]
    lower, upper = base << level.index
    n = level.snapshot.header.block_size
    return blocks[((corner + n > lower) & (corner < upper)).all(axis=1)]


def _add(
    image: Array,
    first: NDArray[np.int64],
    batch: Batch,
    values: Array,
    view: View,
    level: Level,
    finer: int,
) -> None:
    """Add a batch of leaf cells that are 2**finer times smaller than the pixels from `first` on."""
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
    columns = ((batch.corner[:, u, None] + np.arange(n)) >> finer) - first[0]
    rows = ((batch.corner[:, v, None] + np.arange(n)) >> finer) - first[1]
    seen_rows = (rows >= 0) & (rows < image.shape[0])
    seen = seen_rows[:, :, None] & ((columns >= 0) & (columns < image.shape[1]))[:, None, :]
    pixels = rows[:, :, None] * image.shape[1] + columns[:, None, :]
    np.add.at(image.reshape(-1), pixels[seen], (flat * 0.25**finer)[seen])


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
