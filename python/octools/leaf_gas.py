"""Gas of two marked stars in leaf cells, and sums over it: mass, momentum, angular momentum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from octools.snapshot import AXES, Array, Batch, Level, Snapshot

VELOCITIES = tuple(f"velocity_{axis}" for axis in AXES)
SPINS = tuple(f"spin_{axis}" for axis in AXES)
ACCELERATIONS = tuple(f"acceleration_{axis}" for axis in AXES)
TRACERS = ("scalar_0", "scalar_1")
KEPT_CELLS = 4_000_000  # leaf cells that are kept in memory; larger files are read repeatedly


@dataclass(frozen=True)
class GasCells:
    """Leaf cells of one level, in code units along the axes of the mesh.

    Attributes
    ----------
    size
        Edge lengths of a cell, shape (3,).
    position, velocity
        Cell centres and velocities, shape (cells, 3).
    mass
        Masses, shape (cells,).
    slope
        Limited gradient of the density divided by the density, shape (cells, 3).
    tracers
        Mass fractions of the gas of both stars, shape (cells, 2).
    spin
        Specific angular momentum about the cell centre, shape (cells, 3); None if the run has none.
    potential, acceleration
        Gravitational field, shapes (cells,) and (cells, 3); None if it is not used.
    """

    size: Array
    position: Array
    velocity: Array
    mass: Array
    slope: Array
    tracers: Array
    spin: Array | None
    potential: Array | None
    acceleration: Array | None

    def moments(self, weight: Array, origin: Array) -> Moments:
        """Return the sums over the cells with a weight per cell, shape (cells,)."""
        mass = self.mass * weight
        away = self.position - origin
        own = 0.0 if self.spin is None else mass @ self.spin
        turn = mass @ np.cross(away, self.velocity) + own
        return Moments(float(mass.sum()), mass @ away, mass @ self.velocity, turn, origin)


@dataclass(frozen=True)
class Moments:
    """Mass, first moment, momentum and angular momentum of gas about an origin."""

    mass: float
    moment: Array
    momentum: Array
    angular_momentum: Array
    origin: Array

    def __add__(self, other: Moments) -> Moments:
        """Return the sums over both sets of cells, which have the same origin."""
        return Moments(
            self.mass + other.mass,
            self.moment + other.moment,
            self.momentum + other.momentum,
            self.angular_momentum + other.angular_momentum,
            self.origin,
        )

    @property
    def place(self) -> Array:
        """Centre of mass, shape (3,)."""
        return self.origin + self.moment / self.mass

    @property
    def velocity(self) -> Array:
        """Velocity of the centre of mass, shape (3,)."""
        return self.momentum / self.mass

    @property
    def spin(self) -> Array:
        """Angular momentum about the centre of mass, shape (3,)."""
        return self.about(self.place, self.velocity)

    def about(self, place: Array, velocity: Array) -> Array:
        """Return the angular momentum about a point that moves with a velocity, shape (3,)."""
        shift = place - self.origin
        turn = self.angular_momentum - np.cross(shift, self.momentum)
        return turn - np.cross(self.moment - self.mass * shift, velocity)


def no_moments(origin: Array) -> Moments:
    """Return sums over no cells."""
    return Moments(0.0, np.zeros(3), np.zeros(3), np.zeros(3), origin)


class LeafGas:
    """Gas of a snapshot by level, kept in memory unless it has too many cells.

    Parameters
    ----------
    snapshot
        Open snapshot with the passive scalars 0 and 1.
    with_potential
        Whether the gravitational field of the run is read, too.
    """

    def __init__(self, snapshot: Snapshot, with_potential: bool) -> None:
        self.snapshot = snapshot
        stored = snapshot.cell_fields
        self.spins = SPINS if set(SPINS) <= set(stored) else ()
        self.field = ("potential", *ACCELERATIONS) if with_potential else ()
        self.kept: list[GasCells] | None = None

    def __iter__(self) -> Iterator[GasCells]:
        """Return the leaf cells in parts of bounded size."""
        if self.kept is not None:
            yield from self.kept
            return
        parts: list[GasCells] | None = []
        for level in self.snapshot.levels:
            names = ("density", *VELOCITIES, *TRACERS, *self.spins, *self.field)
            for batch in self.snapshot.batches(names, level):
                cells = self._cells(batch, level)
                if parts is not None and sum(len(p.mass) for p in parts) < KEPT_CELLS:
                    parts.append(cells)
                else:
                    parts = None
                yield cells
        self.kept = parts

    def _cells(self, batch: Batch, level: Level) -> GasCells:
        leaf, lower = batch.leaf, self.snapshot.header.lower

        def column(name: str) -> Array:
            return batch.values[name][leaf]

        def columns(names: Sequence[str]) -> Array:
            return np.stack([column(name) for name in names], axis=1)

        block, k, j, i = np.nonzero(leaf)
        index = batch.corner[block] + np.stack([i, j, k], axis=1) + 0.5
        size = level.cell_size
        return GasCells(
            size=size,
            position=lower + index * size,
            velocity=columns(VELOCITIES),
            mass=column("density") * size.prod(),
            slope=relative_slopes(batch.values["density"], size)[leaf],
            tracers=columns(TRACERS),
            spin=columns(self.spins) if self.spins else None,
            potential=column("potential") if self.field else None,
            acceleration=columns(ACCELERATIONS) if self.field else None,
        )

    def total(
        self, weights: Callable[[GasCells], Array], origins: Sequence[Array]
    ) -> list[Moments]:
        """Sum the gas with several weights per cell, each with its own origin."""
        sums = [no_moments(origin) for origin in origins]
        for cells in self:
            columns = weights(cells).T
            sums = [
                known + cells.moments(weight, origin)
                for known, weight, origin in zip(sums, columns, origins, strict=True)
            ]
        return sums


def relative_slopes(density: Array, size: Array) -> Array:
    """Return limited gradients of a density divided by the density.

    Differences of the cells of a block are limited by minmod and such that the density is positive
    in the whole cell; at its edges they are one-sided.

    Parameters
    ----------
    density
        Cell values, shape (blocks, k, j, i).
    size
        Edge lengths of a cell along x, y and z, shape (3,).

    Returns
    -------
    Array
        Components along x, y and z, shape (blocks, k, j, i, 3), in 1 / length.
    """
    found = np.zeros((*density.shape, 3))
    for d in range(3):
        along = 3 - d
        jump = np.diff(density, axis=along)
        first, last = np.take(jump, [0], axis=along), np.take(jump, [-1], axis=along)
        lower = np.concatenate([first, jump], axis=along)
        upper = np.concatenate([jump, last], axis=along)
        same = lower * upper > 0.0
        found[..., d] = np.where(same, np.sign(lower) * np.minimum(abs(lower), abs(upper)), 0.0)
    found = np.divide(
        found, density[..., None], out=np.zeros_like(found), where=density[..., None] > 0.0
    )
    largest = 0.5 * np.abs(found).sum(axis=-1, keepdims=True)
    return found / np.maximum(largest, 1.0) / size
