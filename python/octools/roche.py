"""Roche geometry of two stars: effective potential, inner Lagrangian point, lobes and their radii.

The effective potential in the frame that rotates with the stars about their centre of mass is
``phi - Omega^2 R^2 / 2`` with the gravitational potential phi and the distance R from the axis.
The Roche lobes are the parts of the volume inside the equipotential surface through the inner
Lagrangian point L1 that contain the stars; they touch at L1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from octools.snapshot import Array

FIT_RADIUS = 3.0  # radius, in cells, of the region around L1 in which the potential is fitted
LEAST_CELLS = 4.0  # smallest separation, in cells, of two stars
MONOMIALS = [  # exponents of a cubic polynomial of three variables
    (i, j, k) for i in range(4) for j in range(4) for k in range(4) if i + j + k <= 3
]


class Cells(Protocol):
    """Leaf cells of one size.

    Positions, density gradients divided by the density, and the gravitational field of the run if
    it is used.
    """

    size: Array
    position: Array
    slope: Array
    potential: Array | None
    acceleration: Array | None


@dataclass(frozen=True)
class Pair:
    """Masses, positions and velocities of two bodies.

    Attributes
    ----------
    mass
        Masses, shape (2,).
    position, velocity
        Centres of mass and their velocities, shape (2, 3).
    """

    mass: Array
    position: Array
    velocity: Array

    @property
    def relative(self) -> tuple[Array, Array]:
        """Position and velocity of the second body relative to the first one, shape (3,)."""
        return self.position[1] - self.position[0], self.velocity[1] - self.velocity[0]

    @property
    def separation(self) -> float:
        """Distance between the bodies."""
        return float(np.linalg.norm(self.relative[0]))

    @property
    def direction(self) -> Array:
        """Unit vector from the first body to the second one, shape (3,)."""
        return self.relative[0] / self.separation

    @property
    def angular_velocity(self) -> Array:
        """Angular velocity r x v / r^2 of the line between the bodies, shape (3,)."""
        place, velocity = self.relative
        return np.cross(place, velocity) / (place @ place)

    @property
    def axis(self) -> Array:
        """Unit vector normal to the orbital plane, shape (3,)."""
        turn = self.angular_velocity
        return turn / np.linalg.norm(turn)

    @property
    def orbits(self) -> bool:
        """Return whether the bodies are apart and revolve about each other."""
        if not self.separation > 0.0:
            return False
        place = self.relative[0]
        speeds = np.linalg.norm(self.velocity - self.centre_velocity, axis=1).sum()
        turn = np.linalg.norm(np.cross(*self.relative))
        return bool(turn > 1e-9 * np.linalg.norm(place) * speeds)

    @property
    def centre(self) -> Array:
        """Centre of mass, shape (3,)."""
        return self.mass @ self.position / self.mass.sum()

    @property
    def centre_velocity(self) -> Array:
        """Velocity of the centre of mass, shape (3,)."""
        return self.mass @ self.velocity / self.mass.sum()

    @property
    def angular_momentum(self) -> Array:
        """Orbital angular momentum about the centre of mass, shape (3,)."""
        place, velocity = self.relative
        return self.mass.prod() / self.mass.sum() * np.cross(place, velocity)


def roche_radius(mass_ratio: float) -> float:
    """Return the volume-equivalent radius of a Roche lobe in units of the separation.

    Eggleton (1983, ApJ 268, 368), equation 2; accurate to 1 per cent.

    Parameters
    ----------
    mass_ratio
        Mass of the star in the lobe divided by that of its companion.
    """
    cube_root = np.cbrt(mass_ratio)
    return float(0.49 * cube_root**2 / (0.6 * cube_root**2 + np.log1p(cube_root)))


def inner_lagrangian_point(mass_ratio: float) -> float:
    """Return the distance of L1 of two point masses from the first one in units of the separation.

    Parameters
    ----------
    mass_ratio
        Mass of the second body divided by that of the first one, on a circular orbit.
    """
    first, second = 1.0 / (1.0 + mass_ratio), mass_ratio / (1.0 + mass_ratio)
    lower, upper = 0.0, 1.0
    for _ in range(100):
        x = 0.5 * (lower + upper)
        force = -first / x**2 + second / (1.0 - x) ** 2 + (x - second)
        lower, upper = (x, upper) if force < 0.0 else (lower, x)
    return 0.5 * (lower + upper)


class EffectivePotential:
    """Effective potential of two stars.

    Parameters
    ----------
    pair
        The stars.
    gravity_constant
        Newton's constant, for the potential of two point masses on a circular orbit (Kepler's third
        law). None for the potential of the run and the measured angular velocity of the stars.
    """

    def __init__(self, pair: Pair, gravity_constant: float | None) -> None:
        self.pair = pair
        self.gravity_constant = gravity_constant
        turn = pair.angular_velocity
        self.rotation2 = float(turn @ turn)
        if gravity_constant is not None:
            self.rotation2 = gravity_constant * pair.mass.sum() / pair.separation**3

    def at(self, cells: Cells) -> tuple[Array, Array]:
        """Return the values, shape (cells,), and gradients, shape (cells, 3), at cell centres."""
        if self.gravity_constant is None:
            assert cells.potential is not None
            assert cells.acceleration is not None
            value, gradient = cells.potential.copy(), -cells.acceleration
        else:
            least = float(np.linalg.norm(cells.size))  # nearer cells: steep
            value, gradient = self._of_points(cells.position, least)
        return self._add_rotation(cells.position, value, gradient)

    def _add_rotation(self, position: Array, value: Array, gradient: Array) -> tuple[Array, Array]:
        from_axis = position - self.pair.centre
        from_axis -= (from_axis @ self.pair.axis)[:, None] * self.pair.axis
        value -= 0.5 * self.rotation2 * (from_axis**2).sum(axis=1)
        gradient -= self.rotation2 * from_axis
        return value, gradient

    def _of_points(self, position: Array, least: float) -> tuple[Array, Array]:
        assert self.gravity_constant is not None
        value, gradient = np.zeros(len(position)), np.zeros((len(position), 3))
        for mass, place in zip(self.pair.mass, self.pair.position, strict=True):
            away = position - place
            distance = np.maximum(np.linalg.norm(away, axis=1), least)
            value -= self.gravity_constant * mass / distance
            gradient += (self.gravity_constant * mass / distance**3)[:, None] * away
        return value, gradient

    def inner_point(self, gas: Iterable[Cells]) -> tuple[Array, float] | None:
        """Return position, shape (3,), and effective potential of the inner Lagrangian point.

        None if the effective potential of the run has no saddle point between the stars: they have
        merged, or are fewer than four cells apart.
        """
        pair = self.pair
        along = inner_lagrangian_point(pair.mass[1] / pair.mass[0])
        guess = pair.position[0] + along * pair.relative[0]
        if self.gravity_constant is None:
            return self._saddle_point(_near(gas, guess, 0.4 * pair.separation), guess)
        value, gradient = self._of_points(guess[None, :], 0.0)
        return guess, float(self._add_rotation(guess[None, :], value, gradient)[0][0])

    def _saddle_point(self, gas: Sequence[Cells], place: Array) -> tuple[Array, float] | None:
        """Move a position to the stationary point of cubic polynomials fitted around it."""
        pair = self.pair
        frame = np.stack([pair.direction, np.cross(pair.axis, pair.direction), pair.axis])
        cell = _cell_size(gas, place)
        if pair.separation < LEAST_CELLS * cell:
            return None
        for _ in range(50):
            fit = self._fitted(gas, place, FIT_RADIUS * cell, frame)
            if fit is None:
                return None
            value, slope, curvature = fit
            if not (curvature[0, 0] < 0.0 and (np.linalg.eigvalsh(curvature[1:, 1:]) > 0.0).all()):
                return None
            step = -np.linalg.solve(curvature, slope)
            step *= min(1.0, cell / np.linalg.norm(step)) if step.any() else 1.0
            place = place + step @ frame
            fraction = (place - pair.position[0]) @ pair.direction / pair.separation
            if not 0.0 < fraction < 1.0:
                return None
            if np.linalg.norm(step) < 1e-9 * pair.separation:
                return place, value
        return place, value

    def _fitted(
        self, gas: Sequence[Cells], place: Array, radius: float, frame: Array
    ) -> tuple[float, Array, Array] | None:
        """Fit a cubic polynomial to the cells around a position, with weights (1 - r^2 / R^2)^2.

        Returns
        -------
        tuple or None
            Value, gradient and second derivatives at the position along the rows of `frame`; None
            if there are too few cells.
        """
        offsets, values = [], []
        for cells in gas:
            near = ((cells.position - place) ** 2).sum(axis=1) < radius**2
            if near.any():
                part = _Part(cells, near)
                offsets.append((part.position - place) @ frame.T / radius)
                values.append(self.at(part)[0])
        if sum(map(len, values)) < 2 * len(MONOMIALS):
            return None
        offset, value = np.concatenate(offsets), np.concatenate(values)
        weight = 1.0 - (offset**2).sum(axis=1)
        terms = np.stack([np.prod(offset**power, axis=1) for power in MONOMIALS], axis=1)
        found = np.linalg.lstsq(terms * weight[:, None], value * weight, rcond=None)[0]
        known = dict(zip(MONOMIALS, found, strict=True))
        unit = np.eye(3, dtype=int)
        slope = np.array([known[tuple(unit[d])] for d in range(3)])
        curvature = np.array(
            [[known[tuple(unit[d] + unit[e])] * (1 + (d == e)) for e in range(3)] for d in range(3)]
        )
        return float(known[0, 0, 0]), slope / radius, curvature / radius**2


class _Part:
    """Selection of cells."""

    def __init__(self, cells: Cells, chosen: Array) -> None:
        self.size = cells.size
        self.position = cells.position[chosen]
        self.slope = cells.slope[chosen]
        self.potential = None if cells.potential is None else cells.potential[chosen]
        self.acceleration = None if cells.acceleration is None else cells.acceleration[chosen]


def _near(gas: Iterable[Cells], place: Array, radius: float) -> list[Cells]:
    """Select the cells in a ball, and as many around it as the fit at its edge takes."""
    found: list[Cells] = []
    for cells in gas:
        outer = radius + (FIT_RADIUS + 1.0) * cells.size.max()
        found.append(_Part(cells, ((cells.position - place) ** 2).sum(axis=1) < outer**2))
    return found


def _cell_size(gas: Iterable[Cells], place: Array) -> float:
    """Return the largest edge of the leaf cell that is nearest to a position."""
    best, size = np.inf, 0.0
    for cells in gas:
        distance = float((np.abs(cells.position - place) / cells.size).max(axis=1).min(initial=9.0))
        if distance < best:
            best, size = distance, float(cells.size.max())
    return size


@dataclass(frozen=True)
class Lobes:
    """Roche lobes of two stars.

    Attributes
    ----------
    potential
        Effective potential.
    point
        Inner Lagrangian point, shape (3,).
    value
        Effective potential there.
    """

    potential: EffectivePotential
    point: Array
    value: float

    @property
    def reach(self) -> Array:
        """Distances of the stars from the inner Lagrangian point, shape (2,).

        No point of a Roche lobe is farther from its star.
        """
        return np.linalg.norm(self.potential.pair.position - self.point, axis=1)

    def fractions(self, cells: Cells) -> Array:
        """Return which fraction of the mass of each cell is in each lobe, shape (cells, 2).

        Effective potential and density are linear within a cell. Gas is on a star's side of the
        plane through L1 perpendicular to the line between the stars, and not farther from the star
        than L1, because the effective potential decreases again outside the orbit.
        """
        value, gradient = self.potential.at(cells)
        inside = _part_below(value - self.value, gradient, cells)
        pair = self.potential.pair
        height = (cells.position - self.point) @ pair.direction
        first = _part_below(height, np.broadcast_to(pair.direction, gradient.shape), cells)
        found = np.stack([inside * first, inside * (1.0 - first)], axis=1)
        for star in range(2):
            distance = np.linalg.norm(cells.position - pair.position[star], axis=1)
            found[distance > self.reach[star] + cells.size.max(), star] = 0.0
        return found


def _part_below(value: Array, gradient: Array, cells: Cells) -> Array:
    """Return the fraction of the mass of each cell in which a linear function is negative.

    The part of a cell has the thickness of a slab perpendicular to the gradient with the same
    variance as the cell, and the density at its centre of volume. Shape (cells,).
    """
    steepness = np.maximum(np.linalg.norm(gradient, axis=1), np.finfo(float).tiny)
    normal = gradient / steepness[:, None]
    width = np.linalg.norm(normal * cells.size, axis=1)
    volume = np.clip(0.5 - value / steepness / np.maximum(width, np.finfo(float).tiny), 0.0, 1.0)
    shift = 0.5 * width * (volume - 1.0)  # along the gradient, of the centre of this part
    return np.clip(volume * (1.0 + shift * (cells.slope * normal).sum(axis=1)), 0.0, 1.0)


def find_lobes(gas: Iterable[Cells], pair: Pair, gravity_constant: float | None) -> Lobes | None:
    """Return the Roche lobes of two stars; None if they do not orbit each other or have merged.

    Parameters
    ----------
    gas
        Leaf cells, with the potential of the run unless the stars are taken for point masses.
    pair
        The stars.
    gravity_constant
        See `EffectivePotential`.
    """
    if not pair.orbits:
        return None
    potential = EffectivePotential(pair, gravity_constant)
    point = potential.inner_point(gas)
    return None if point is None else Lobes(potential, *point)
