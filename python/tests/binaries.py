"""Synthetic snapshots of two uniform stars in any orientation and frame, of known moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
from synthetic import Array, Synthetic, around

HALF_BOX = 1.5
SAMPLES = 2  # points per cell and axis
SPIN = 0.01  # specific angular momentum of gas about its cell centre
TRACERS = ("scalar_0", "scalar_1")
ISOLATED = "\n".join(f'boundary_{axis} = ["outflow", "outflow"]' for axis in "xyz")


def rotation(axis: Array, angle: float) -> Array:
    """Matrix of a rotation about an axis (Rodrigues)."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


@dataclass
class BinarySnapshot:
    """Two spheres of constant density in rigid rotation, on an orbit with G = M = a = 1.

    The first star is on the side of negative x in its own axes, where the orbit is about z.

    Attributes
    ----------
    ratio
        Mass of the second star divided by that of the first one.
    separation
        Distance between the centres.
    radii
        Radii of the stars.
    spin_rates
        Angular velocities of the stars.
    orbit_rate
        Angular velocity of the orbit.
    turn
        Rotation matrix from the axes of the orbit to those of the inertial frame.
    centre, drift
        Position and velocity of the centre of mass.
    mixed
        Fractions of the gas of each star that belonged to the other one.
    ambient
        Density of the gas around the stars, at rest relative to the centre of mass.
    frame
        Angular velocity of the mesh, about z through `frame_centre`.
    levels
        Levels that are refined around the stars.
    has_potential, has_spin, has_tracers
        Whether the file contains the potential of two point masses, intra-cell angular momentum
        and passive scalars.
    """

    ratio: float = 0.5
    separation: float = 1.0
    radii: tuple[float, float] = (0.25, 0.2)
    spin_rates: tuple[float, float] = (1.0, 1.0)
    orbit_rate: float = 1.0
    turn: Array = field(default_factory=lambda: np.eye(3))
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    drift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mixed: tuple[float, float] = (0.0, 0.0)
    ambient: float = 0.0
    frame: float = 0.0
    frame_centre: tuple[float, float] | None = None
    time: float = 0.0
    cells: int = 32
    levels: int = 0
    has_potential: bool = True
    has_spin: bool = False
    has_tracers: bool = True
    _last: tuple[object, Array] = (None, np.empty(0))

    @property
    def mass(self) -> Array:
        return np.array([1.0, self.ratio]) / (1.0 + self.ratio)

    @property
    def places(self) -> Array:
        """Centres of the stars in the inertial frame, shape (2, 3)."""
        along = self.separation * np.array([-self.mass[1], self.mass[0]])
        return np.array(self.centre) + along[:, None] * self.turn[:, 0]

    @property
    def velocities(self) -> Array:
        """Velocities of the stars in the inertial frame, shape (2, 3)."""
        axis = self.turn[:, 2]
        return np.array(self.drift) + self.orbit_rate * np.cross(axis, self.places - self.centre)

    @property
    def to_mesh(self) -> tuple[Array, Array]:
        """Matrix from the inertial frame to the axes of the mesh, and position of the axis."""
        axis = np.array([*(self.frame_centre or (0.0, 0.0)), 0.0])
        return rotation(np.array([0.0, 0.0, 1.0]), -self.frame * self.time), axis

    def on_mesh(self, places: Array) -> Array:
        matrix, axis = self.to_mesh
        return axis + (places - axis) @ matrix.T

    def write(self, path: Path) -> Path:
        """Write the snapshot."""
        parameters = f"[mesh]\n{ISOLATED}\n[frame]\nangular_velocity = {self.frame!r}\n"
        if self.frame_centre is not None:
            parameters += f"centre = {list(self.frame_centre)!r}\n"
        fields = {name: self._function(number) for number, name in enumerate(FIELDS)}
        snapshot = Synthetic(
            base_cells=(self.cells,) * 3,
            lower=(-HALF_BOX,) * 3,
            upper=(HALF_BOX,) * 3,
            refine=self._refine,
            fields=fields,
            time=self.time,
            parameters=parameters,
        )
        snapshot.write(path)
        with h5py.File(path, "r+") as file:
            file["header"].attrs["gravity_constant"] = 1.0
            for level in range(len(file["mesh"])):
                self._finish(file, file[f"hydro/level_{level}"], f"gravity/level_{level}")
        return path

    def _finish(self, file: h5py.File, gas: h5py.Group, gravity: str) -> None:
        """Divide densities by that of mass, and move the gravitational field to its group."""
        density = gas["density"][...]
        for name in FIELDS[1:9]:
            gas[name][...] /= np.maximum(density, 1e-300)
        unwanted = (() if self.has_spin else FIELDS[6:9]) + (() if self.has_tracers else TRACERS)
        for name in unwanted:
            del gas[name]
        for name in FIELDS[9:]:
            if self.has_potential:
                file.require_group(gravity)
                file.move(f"{gas.name}/{name}", f"/{gravity}/{name}")
            else:
                del gas[name]

    def _refine(self, level: int, lower: Array, upper: Array) -> bool:
        return any(
            around(place, radius, self.levels)(level, lower, upper)
            for place, radius in zip(self.on_mesh(self.places), self.radii, strict=True)
        )

    def _function(self, number: int) -> Callable[[Array, Array, Array], Array]:
        def values(x: Array, y: Array, z: Array) -> Array:
            key = (float(x.ravel()[0]), float(y.ravel()[0]), float(z.ravel()[0]), x.size)
            if self._last[0] != key:
                self._last = key, self._block(x.ravel(), y.ravel(), z.ravel())
            return self._last[1][..., number]

        return values

    def _block(self, x: Array, y: Array, z: Array) -> Array:
        """Return all fields of a block, shape (k, j, i, fields), from `SAMPLES`^3 points a cell."""
        size = x[1] - x[0]
        steps = size * ((np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5)
        points = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)
        offsets = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
        gas = np.mean([self._gas(points + offset) for offset in offsets], axis=0)
        return np.concatenate([gas, self._gravity(points)], axis=-1)

    def _inertial(self, points: Array) -> Array:
        matrix, axis = self.to_mesh
        return axis + (points - axis) @ matrix

    def _gas(self, points: Array) -> Array:
        """Return densities of mass, momentum, tracers and spin at points on the mesh."""
        inertial, matrix = self._inertial(points), self.to_mesh[0]
        density = np.full(points.shape[:-1], self.ambient)
        momentum = self.ambient * np.broadcast_to(np.array(self.drift), points.shape)
        tracers = np.zeros((*points.shape[:-1], 2))
        for star in range(2):
            away = inertial - self.places[star]
            inside = np.linalg.norm(away, axis=-1) < self.radii[star]
            own = np.where(inside, self._density(star), 0.0)
            velocity = self.velocities[star] + np.cross(
                self.spin_rates[star] * self.turn[:, 2], away
            )
            density = density + own
            momentum = momentum + own[..., None] * velocity
            tracers[..., star] += own * (1.0 - self.mixed[star])
            tracers[..., 1 - star] += own * self.mixed[star]
        spin = SPIN * density[..., None] * self.turn[:, 2]
        return np.concatenate(
            [density[..., None], momentum @ matrix.T, tracers, spin @ matrix.T], axis=-1
        )

    def _gravity(self, points: Array) -> Array:
        """Return potential and acceleration of two point masses at points on the mesh."""
        inertial = self._inertial(points)
        potential, pull = np.zeros(points.shape[:-1]), np.zeros(points.shape)
        for star in range(2):
            away = inertial - self.places[star]
            distance = np.maximum(np.linalg.norm(away, axis=-1), 1e-3)
            potential -= self.mass[star] / distance
            pull -= self.mass[star] * away / distance[..., None] ** 3
        return np.concatenate([potential[..., None], pull @ self.to_mesh[0].T], axis=-1)

    def _density(self, star: int) -> float:
        return float(self.mass[star] / (4.0 / 3.0 * np.pi * self.radii[star] ** 3))


FIELDS = (
    "density", "velocity_x", "velocity_y", "velocity_z", *TRACERS, "spin_x", "spin_y", "spin_z",
    "potential", "acceleration_x", "acceleration_y", "acceleration_z",
)  # fmt: skip
