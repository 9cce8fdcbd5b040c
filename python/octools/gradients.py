"""Derived fields from velocity gradients in a slice: vorticity, divergence, Q."""

from __future__ import annotations

import numpy as np

from octools.errors import OctoolsError
from octools.fields import VELOCITY, find_field
from octools.raster import Image, View, make_image
from octools.snapshot import AXES, Array, Snapshot

# Components and size of the vorticity, and Q = (|rotation|^2 - |strain|^2) / 2, positive in
# vortices (Hunt, Wray & Moin 1988); with a divergence, after Jeong & Hussain (1995), eq. 6.
GRADIENTS = ("vorticity_x", "vorticity_y", "vorticity_z", "vorticity", "divergence", "q_criterion")
SIGNED = tuple(name for name in GRADIENTS if name != "vorticity")

Matrix = list[list[Array]]


def from_gradient(name: str, g: Matrix) -> Array:
    """Derive one of `GRADIENTS` from g[i][j], the derivative of component i along axis j."""
    if name == "divergence":
        return g[0][0] + g[1][1] + g[2][2]
    if name == "q_criterion":
        twist = sum(g[i][j] * g[j][i] for i in range(3) for j in range(3))
        return 0.5 * ((g[0][0] + g[1][1] + g[2][2]) ** 2 - twist)
    curl = [g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1]]
    if name == "vorticity":
        return np.sqrt(sum(component**2 for component in curl))
    return curl[AXES.index(name[-1])]


def gradient_image(snapshot: Snapshot, name: str, view: View) -> Image:
    """Paint one of `GRADIENTS` in a slice.

    Differences are taken between the cells on both sides of each leaf cell, at the distance of its
    own size: of second order within a level, and of first order where levels meet.

    Raises
    ------
    OctoolsError
        In projections, and of slices: they contain no neighbours.
    """
    if view.position is None:
        raise OctoolsError(f"{name} can only be plotted in slices; omit --kind projection")
    if snapshot.header.plane is not None:
        raise OctoolsError(f"{snapshot.path} is a slice, but {name} requires a full snapshot")
    snapshot.require(VELOCITY)
    levels = make_image(snapshot, find_field(snapshot, "level"), view)
    level = levels.values.round().astype(int)
    g: Matrix = [[np.zeros(level.shape) for _ in AXES] for _ in AXES]
    right, up = view.across
    for component in range(3):
        values = _velocity(snapshot, component, view)
        for present in np.unique(level):
            here = level == present
            cell = snapshot.levels[0].cell_size / 2.0**present
            g[component][view.axis][here] = _across(snapshot, component, view, cell)[here]
            for axis, along in ((right, 1), (up, 0)):
                g[component][axis][here] = _within(snapshot, values, levels, along, axis, cell)[
                    here
                ]
    return Image(view, from_gradient(name, g), levels.extent)


def _velocity(snapshot: Snapshot, component: int, view: View) -> Array:
    return make_image(snapshot, find_field(snapshot, VELOCITY[component]), view).values


def _across(snapshot: Snapshot, component: int, view: View, cell: Array) -> Array:
    """Differentiate along the line of sight, a cell to each side; one-sided beside boundaries."""
    header, axis = snapshot.header, view.axis
    assert view.position is not None
    sides, places = [], []
    for step in (-cell[axis], cell[axis]):
        place = view.position + step
        wrapped = header.lower[axis] + (place - header.lower[axis]) % header.size[axis]
        inside = float(wrapped if header.periodic[axis] else view.position)
        if header.lower[axis] <= place < header.upper[axis]:
            inside = place
        sides.append(_velocity(snapshot, component, View(axis, inside, view.window)))
        places.append(place if inside == place or header.periodic[axis] else view.position)
    difference: Array = sides[1] - sides[0]
    return difference / (places[1] - places[0])


def _within(
    snapshot: Snapshot, values: Array, image: Image, along: int, axis: int, cell: Array
) -> Array:
    """Differentiate along a side of the picture; one-sided at edges that are not periodic."""
    left, right, low, high = image.extent
    count = values.shape[along]
    pixel = ((right - left) if along == 1 else (high - low)) / count
    step = max(1, round(cell[axis] / pixel))
    if count == 1:
        return np.zeros_like(values)
    place = np.arange(count)
    before, after = place - step, place + step
    if image.view.window is None and snapshot.header.periodic[axis]:
        span = np.full(count, 2 * step)
    else:
        before, after = np.maximum(before, 0), np.minimum(after, count - 1)
        span = after - before
    difference = np.take(values, after % count, along) - np.take(values, before % count, along)
    return difference / (np.expand_dims(span, 1 - along) * pixel)
