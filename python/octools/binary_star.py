"""Binary stars: masses by Roche lobe, orbital and spin angular momentum, and mass transfer.

A star is the gas in its Roche lobe (`octools.roche`). The passive scalars 0 and 1 are the mass
fractions of gas that belonged to the first and to the second star in the initial conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from octools.errors import OctoolsError
from octools.leaf_gas import (
    ACCELERATIONS,
    TRACERS,
    VELOCITIES,
    LeafGas,
    Moments,
    no_moments,
)
from octools.roche import LEAST_CELLS, Lobes, Pair, find_lobes, roche_radius
from octools.snapshot import AXES, Array, Snapshot

ITERATIONS = 200
TOLERANCE = 1e-10  # largest relative change of masses and positions that ends the iteration


@dataclass(frozen=True)
class Stars:
    """Gas in both Roche lobes.

    Attributes
    ----------
    lobes
        The Roche lobes.
    gas
        Sums over the gas in each lobe.
    tracers
        Mass of the gas of each star (rows) in each lobe (columns), shape (2, 2).
    """

    lobes: Lobes
    gas: tuple[Moments, Moments]
    tracers: Array

    @property
    def pair(self) -> Pair:
        """Masses, centres of mass and velocities of the gas in the lobes."""
        return as_pair(self.gas)


@dataclass(frozen=True)
class BinaryState:
    """Binary star at the time of a snapshot, in code units.

    Vectors are along the axes of the mesh, velocities are those of the inertial frame.

    Attributes
    ----------
    path, time
        The snapshot and its time.
    all_gas
        Sums over all gas, about the origin of coordinates.
    traced
        Sums over the gas that belonged to each star in the initial conditions.
    cores
        Both stars without Roche lobes: their gas, weighted with the density.
    stars
        Gas in the Roche lobes; None if the stars do not orbit each other or have merged, or if the
        masses in the lobes do not settle.
    rotation, rotation_centre
        Angle by which the mesh has turned about z, and position of its axis, shape (3,).
    """

    path: Path
    time: float
    all_gas: Moments
    traced: tuple[Moments, Moments]
    cores: Pair
    stars: Stars | None
    rotation: float
    rotation_centre: Array

    @property
    def pair(self) -> Pair:
        """Both stars, from the gas in the lobes if these exist."""
        return self.cores if self.stars is None else self.stars.pair

    def turned(self, vector: Array) -> Array:
        """Return a vector along the axes of the inertial frame, shape (..., 3)."""
        cosine, sine = np.cos(self.rotation), np.sin(self.rotation)
        return vector @ np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])

    def moved(self, place: Array) -> Array:
        """Return a position in the inertial frame, shape (..., 3)."""
        return self.rotation_centre + self.turned(place - self.rotation_centre)

    @property
    def angular_momentum(self) -> Array:
        """Angular momentum of all gas about the origin in the inertial frame, shape (3,)."""
        own = self.turned(self.all_gas.about(self.rotation_centre, np.zeros(3)))
        return own + np.cross(self.rotation_centre, self.turned(self.all_gas.momentum))

    def columns(self) -> dict[str, float]:
        """Return the quantities that depend on this snapshot only; NaN where there are no lobes."""
        turn = self.angular_momentum
        between = self.traced[1].place - self.traced[0].place
        found = {
            "time": self.time,
            **(dict.fromkeys(STAR_COLUMNS, np.nan) if self.stars is None else self._of_stars()),
            "tracer_separation": float(np.linalg.norm(between)),
            "tracer_1_mass": self.traced[0].mass,
            "tracer_2_mass": self.traced[1].mass,
            "mass": self.all_gas.mass,
        }
        return found | {f"angular_momentum_{a}": float(turn[d]) for d, a in enumerate(AXES)}

    def _of_stars(self) -> dict[str, float]:
        assert self.stars is not None
        pair, gas = self.stars.pair, self.stars.gas
        mass, separation, axis = pair.mass, pair.separation, pair.axis
        spins = [float(one.spin @ axis) for one in gas]
        orbital = float(pair.angular_momentum @ axis)
        everything = float(self.all_gas.about(pair.centre, pair.centre_velocity) @ axis)
        values = [
            separation,
            float(np.linalg.norm(pair.angular_velocity)),
            *(float(mass[s]) for s in range(2)),
            float(mass[1] / mass[0]),
            *(separation * roche_radius(mass[s] / mass[1 - s]) for s in range(2)),
            float(self.stars.tracers[0, 1]),
            float(self.stars.tracers[1, 0]),
            self.all_gas.mass - float(mass.sum()),
            orbital,
            *spins,
            everything - orbital - sum(spins),
            *(float(x) for s in range(2) for x in self.moved(pair.position[s])),
        ]
        return dict(zip(STAR_COLUMNS, values, strict=True))


STAR_COLUMNS = (
    "separation",
    "angular_velocity",
    "lobe_1_mass",
    "lobe_2_mass",
    "mass_ratio",
    "roche_radius_1",
    "roche_radius_2",
    "mass_from_1_to_2",
    "mass_from_2_to_1",
    "mass_outside",
    "orbital_angular_momentum",
    "spin_1",
    "spin_2",
    "angular_momentum_outside",
    *(f"lobe_{s}_{axis}" for s in (1, 2) for axis in AXES),
)


def as_pair(gas: Sequence[Moments]) -> Pair:
    """Return masses, centres of mass and velocities of two sets of cells."""
    return Pair(
        np.array([one.mass for one in gas]),
        np.stack([one.place for one in gas]),
        np.stack([one.velocity for one in gas]),
    )


def measure_binary(snapshot: Snapshot, with_potential: bool = True) -> BinaryState:
    """Measure a binary star in an open snapshot.

    Parameters
    ----------
    snapshot
        Snapshot with the passive scalars 0 and 1.
    with_potential
        Whether the Roche lobes follow from the gravitational potential of the run. Without it, and
        if the file does not contain it, they are those of two point masses.

    Raises
    ------
    OctoolsError
        If the file does not contain the gas of two stars of an isolated system.
    """
    header = snapshot.header
    with_potential = with_potential and has_potential(snapshot)
    check_snapshot(snapshot, with_potential)
    gas = LeafGas(snapshot, with_potential)
    origin = header.middle
    first, second = gas.total(lambda cells: cells.tracers, [origin, origin])
    if not (first.mass > 0.0 and second.mass > 0.0):
        star = 1 if not first.mass > 0.0 else 2
        raise OctoolsError(
            f"{snapshot.path}: there is no gas of star {star} (scalar_{star - 1} is 0 everywhere); "
            'expected a run with two stars, such as problem.name = "binary"'
        )
    (everything,) = gas.total(lambda cells: np.ones((len(cells.mass), 1)), [np.zeros(3)])
    dense = gas.total(
        lambda cells: cells.tracers * (cells.mass / cells.size.prod())[:, None], [origin, origin]
    )
    cores = replace(as_pair(dense), mass=np.array([first.mass, second.mass]))
    constant = None if with_potential else gravity_constant(snapshot)
    centre = header.parameter("frame.centre") or header.middle[:2]
    return BinaryState(
        path=snapshot.path,
        time=header.time,
        all_gas=everything,
        traced=(first, second),
        cores=cores,
        stars=_settled_stars(gas, cores, constant) if _revolve(snapshot, cores) else None,
        rotation=float(header.parameter("frame.angular_velocity", 0.0)) * header.time,
        rotation_centre=np.array([*centre, 0.0]),
    )


def _revolve(snapshot: Snapshot, pair: Pair) -> bool:
    """Return whether the angular velocity exceeds a millionth of that of a circular orbit."""
    constant = snapshot.file["header"].attrs.get("gravity_constant")
    if not pair.orbits or constant is None:
        return pair.orbits
    circular = np.sqrt(float(constant) * pair.mass.sum() / pair.separation**3)
    return bool(np.linalg.norm(pair.angular_velocity) > 1e-6 * circular)


def _settled_stars(gas: LeafGas, pair: Pair, constant: float | None) -> Stars | None:
    """Compute lobes and the masses in them alternately until the masses do not change any more."""
    for _ in range(ITERATIONS):
        stars = _stars_in_lobes(gas, pair, constant)
        if stars is None:
            return None
        found = stars.pair
        change = np.abs(found.mass - pair.mass).max() / found.mass.sum()
        shift = np.abs(found.position - pair.position).max() / found.separation
        pair = found
        if max(change, shift) < TOLERANCE:
            return stars
    return None


def _stars_in_lobes(gas: LeafGas, pair: Pair, constant: float | None) -> Stars | None:
    lobes = find_lobes(gas, pair, constant)
    if lobes is None:
        return None
    sums = [no_moments(place) for place in pair.position]
    tracers = np.zeros((2, 2))
    for cells in gas:
        fractions = lobes.fractions(cells)
        sums = [sums[s] + cells.moments(fractions[:, s], pair.position[s]) for s in range(2)]
        tracers += (cells.tracers * cells.mass[:, None]).T @ fractions
    if min(sums[0].mass, sums[1].mass) <= 0.0:
        return None
    return Stars(lobes, (sums[0], sums[1]), tracers)


def has_potential(snapshot: Snapshot) -> bool:
    """Return whether a snapshot contains the gravitational potential and acceleration."""
    return {"potential", *ACCELERATIONS} <= set(snapshot.levels[0].gravity)


def gravity_constant(snapshot: Snapshot) -> float:
    """Return Newton's constant in code units."""
    found = snapshot.file["header"].attrs.get("gravity_constant")
    if found is None:
        raise OctoolsError(
            f"{snapshot.path} contains neither the potential nor gravity_constant; the Roche lobes "
            "require a run with gravity.enabled = true"
        )
    return float(found)


def check_snapshot(snapshot: Snapshot, with_potential: bool) -> None:
    """Raise OctoolsError unless a snapshot contains the gas of an isolated pair of stars."""
    header = snapshot.header
    missing = [name for name in TRACERS if name not in snapshot.gas_fields]
    if missing:
        raise OctoolsError(
            f"{snapshot.path} has no {' and no '.join(missing)}; octools binary requires the "
            "passive scalars that mark the gas of both stars (hydro.scalars = 2), as in runs with "
            'problem.name = "binary"'
        )
    snapshot.require(["density", *VELOCITIES])
    if header.expands or header.periodic.any():
        raise OctoolsError(
            f"{snapshot.path}: the domain is periodic; octools binary requires an isolated system "
            '(mesh.boundary_x, mesh.boundary_y and mesh.boundary_z without "periodic")'
        )
    if not with_potential:
        gravity_constant(snapshot)


def binary_table(states: Sequence[BinaryState], average: float = 0.0) -> dict[str, Array]:
    """Return the quantities of a series of snapshots by name, each of shape (snapshots,).

    In addition to those of `BinaryState.columns`, ``orbits`` is the time since the first snapshot
    in units of its orbital period, ``mass_rate_1`` and ``mass_rate_2`` are the time derivatives of
    the masses in the lobes, and ``transfer_rate`` is that of the net mass of gas that has passed
    from star 1 to star 2: central differences of the snapshots, one-sided for the first and last.

    Parameters
    ----------
    states
        Measurements of the snapshots in the order of time.
    average
        Interval over which rates are averaged, in initial orbital periods; 0: that between the
        snapshots before and after.

    Raises
    ------
    OctoolsError
        If the stars of the first snapshot do not orbit each other.
    """
    rows = [state.columns() for state in states]
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    if states[0].stars is None:
        raise OctoolsError(
            f"{states[0].path}: the two stars do not orbit each other, or there is no inner "
            f"Lagrangian point between them (fewer than {LEAST_CELLS:g} cells apart, or merged); "
            "expected two stars in orbit in the first snapshot"
        )
    period = 2.0 * np.pi / table["angular_velocity"][0]
    table = {"time": table["time"], "orbits": (table["time"] - table["time"][0]) / period} | table
    passed = table["mass_from_1_to_2"] - table["mass_from_2_to_1"]
    rates = {"mass_rate_1": table["lobe_1_mass"], "mass_rate_2": table["lobe_2_mass"]}
    rates["transfer_rate"] = passed
    interval = average * period
    time = table["time"]
    return table | {name: mean_rate(values, time, interval) for name, values in rates.items()}


def mean_rate(values: Array, time: Array, interval: float) -> Array:
    """Return the mean time derivative of a series over an interval around each time.

    The derivative is the difference of the values, linear between the times, at the ends of the
    interval, divided by its length. Intervals are shortened to the range of the series. An interval
    of 0 gives central differences. The result is NaN where the value is, and if there is only one.
    """
    finite = np.isfinite(values)
    if finite.sum() < 2:
        return np.full(len(time), np.nan)
    if not interval > 0.0:
        return np.gradient(values, time)
    known_time, known = time[finite], values[finite]
    lower = np.maximum(time - 0.5 * interval, known_time[0])
    upper = np.minimum(time + 0.5 * interval, known_time[-1])
    change = np.interp(upper, known_time, known) - np.interp(lower, known_time, known)
    length = np.where(finite, upper - lower, np.nan)
    return change / length
