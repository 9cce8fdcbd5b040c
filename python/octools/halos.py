"""Halo finder: friends-of-friends groups of particles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from octools import compiled
from octools.errors import OctoolsError, reading, unknown_name
from octools.fields import with_units
from octools.figure import INK, SERIES, STYLE, save
from octools.files import whole_file
from octools.linear import CRITICAL_DENSITY, LinearTheory, other_energies
from octools.snapshot import AXES, Array, Header, Snapshot
from octools.table import write_table
from octools.units import SOLAR_MASS

Indices = NDArray[np.int64]
KILOMETRE = 1e5  # cm
BATCH_PAIRS = 4_000_000
PICTURE_PIXELS = 512
MANY_HALOS = 4  # of fewer no mass function is drawn


@dataclass(frozen=True)
class Particles:
    """Particles of one type in a snapshot, in code units.

    Attributes
    ----------
    position, velocity
        Shape (particles, 3).
    mass
        Shape (particles,).
    lower, size
        Lower corner and edge lengths of the domain, shape (3,).
    periodic
        Whether each axis is periodic, shape (3,).
    """

    position: Array
    velocity: Array
    mass: Array
    lower: Array
    size: Array
    periodic: NDArray[np.bool_]

    @property
    def separation(self) -> float:
        """Mean separation of the particles of the lowest mass."""
        return float(np.cbrt(self.size.prod() * self.mass.min() / self.mass.sum()))


@dataclass(frozen=True)
class Halos:
    """Halo catalogue in code units, most massive halo first.

    Attributes
    ----------
    number
        Number of particles, shape (halos,).
    mass
        Total mass, shape (halos,).
    centre, velocity
        Centre of mass and its velocity, shape (halos, 3).
    radius
        Root-mean-square distance from the centre, weighted by mass, shape (halos,).
    dispersion
        Standard deviation of the velocity along one axis, shape (halos,).
    linking_length
        Linking length of the friends-of-friends algorithm.
    """

    number: Indices
    mass: Array
    centre: Array
    velocity: Array
    radius: Array
    dispersion: Array
    linking_length: float


def read_particles(snapshot: Snapshot, kind: str = "dark") -> Particles:
    """Read the particles of a type from an open snapshot; positions lie inside the domain."""
    with reading(snapshot.path, "Octant snapshot"):
        return _read_particles(snapshot, kind)


def _read_particles(snapshot: Snapshot, kind: str) -> Particles:
    kinds = snapshot.particle_kinds
    if not kinds:
        raise OctoolsError(f"{snapshot.path} contains no particles")
    if kind not in kinds:
        raise unknown_name("kind of particles", kind, kinds, str(snapshot.path))
    group, header = snapshot.file["particles"][kind], snapshot.header
    if "mass" not in group:
        raise OctoolsError(
            f"{snapshot.path}: {kind} particles have no mass: halos require massive particles"
        )
    mass = np.asarray(group["mass"][...], dtype=float)
    if mass.size == 0:
        raise OctoolsError(f"{snapshot.path} contains no particles of type {kind}")
    if not mass.min() > 0:
        raise OctoolsError(f"{snapshot.path}: {kind} particles have no mass and cannot form halos")
    position = np.asarray(group["position"][...], dtype=float)
    velocity = np.asarray(group["velocity"][...], dtype=float)
    if not all(np.isfinite(values).all() for values in (mass, position, velocity)):
        raise OctoolsError(
            f"{snapshot.path}: some {kind} particles have non-finite values; the file may "
            "be corrupt"
        )
    return Particles(position, velocity, mass, header.lower, header.size, header.periodic)


def find_halos(particles: Particles, linking: float = 0.2, least: int = 20) -> Halos:
    """Find halos with the friends-of-friends algorithm (Davis et al. 1985).

    Parameters
    ----------
    particles
        Particles, as from `read_particles`.
    linking
        Linking length in units of the mean particle separation.
    least
        Minimum number of particles of a halo.
    """
    length = linking * particles.separation
    if not 0 < length < 0.25 * particles.size.min():
        raise OctoolsError(
            f"a linking length of {length:g} is too large for a domain of size "
            f"{particles.size.min():g}"
        )
    group = friends_of_friends(particles, length)
    number = np.bincount(group)
    members = np.flatnonzero(number[group] >= least)
    if members.size == 0:
        empty = np.empty(0)
        return Halos(members, empty, *np.empty((2, 0, 3)), empty, empty, length)
    _, group, number = np.unique(group[members], return_inverse=True, return_counts=True)
    return _measure(particles, members, group, number, length)


def friends_of_friends(particles: Particles, length: float) -> Indices:
    """Return the number of the group of each particle, shape (particles,).

    `length` is the linking length in code length. The compiled library of Octant is used if it
    is available; it is ten times faster.
    """
    offset = particles.position - particles.lower
    offset = np.where(particles.periodic, offset % particles.size, offset)
    period = np.where(particles.periodic, particles.size, np.inf)
    group = compiled.friends_of_friends(offset, period, length)
    return _link_cells(particles, offset, length) if group is None else group


def _link_cells(particles: Particles, offset: Array, length: float) -> Indices:
    """Find groups among particles at an offset from the lower corner.

    Particles are sorted into cells whose diagonal is at most the linking length: all particles of
    a cell are friends. Only pairs in different cells that are not linked yet are looked at, so
    that dense halos cost no more than others, and memory is proportional to the particles.
    """
    cells = np.maximum(1, np.ceil(particles.size * np.sqrt(3) / length)).astype(np.int64)
    side = particles.size / cells
    place = np.clip((offset / side).astype(np.int64), 0, cells - 1)
    key = (place[:, 2] * cells[1] + place[:, 1]) * cells[0] + place[:, 0]
    del place
    order = np.argsort(key, kind="stable")
    occupied, first, count = np.unique(key[order], return_index=True, return_counts=True)
    offset = offset[order]
    parent = np.arange(len(occupied))
    for step in _steps(side, length):
        a, b = _neighbours(occupied, cells, step, particles.periodic)
        apart = parent[a] != parent[b]
        a, b = a[apart], b[apart]
        linked = _touch(offset, particles, (first[a], count[a]), (first[b], count[b]), length)
        parent = _unite(parent, a[linked], b[linked])
    group = np.empty(len(key), dtype=np.int64)
    group[order] = np.repeat(parent, count)
    return group


def _steps(side: Array, length: float) -> list[tuple[int, int, int]]:
    """List half of the cells that may hold friends of a cell's particles, the nearest first."""
    reach = [range(-int(length // s) - 1, int(length // s) + 2) for s in side]
    found = []
    for step in product(*reach):
        gap = np.maximum(np.abs(step) - 1, 0) * side
        if step > (0, 0, 0) and np.sum(gap**2) <= length**2:
            found.append((float(np.sum((np.array(step) * side) ** 2)), step))
    return [step for _, step in sorted(found)]


def _neighbours(
    occupied: Indices, cells: Indices, step: tuple[int, int, int], periodic: NDArray[np.bool_]
) -> tuple[Indices, Indices]:
    """Pair occupied cells, by index in the sorted keys, with those one step away."""
    x, rest = occupied % cells[0], occupied // cells[0]
    place = [x + step[0], rest % cells[1] + step[1], rest // cells[1] + step[2]]
    inside = np.ones(len(occupied), dtype=bool)
    for axis in range(3):
        if periodic[axis]:
            place[axis] %= cells[axis]
        else:
            inside &= (place[axis] >= 0) & (place[axis] < cells[axis])
    target = ((place[2] * cells[1] + place[1]) * cells[0] + place[0])[inside]
    source = np.flatnonzero(inside)
    found = np.minimum(np.searchsorted(occupied, target), len(occupied) - 1)
    there = (occupied[found] == target) & (found != source)
    return source[there], found[there]


def _touch(
    offset: Array,
    particles: Particles,
    a: tuple[Indices, Indices],
    b: tuple[Indices, Indices],
    length: float,
) -> NDArray[np.bool_]:
    """Return for each pair of cells (first particle, count) whether they contain friends."""
    pairs = a[1] * b[1]
    touches = np.zeros(len(pairs), dtype=bool)
    for part in _batches(pairs):
        many = pairs[part]
        cell = np.repeat(np.arange(part.start, part.stop), many)
        n = np.arange(len(cell)) - np.repeat(np.cumsum(many) - many, many)
        apart = offset[a[0][cell] + n // b[1][cell]] - offset[b[0][cell] + n % b[1][cell]]
        wraps = np.rint(apart / particles.size) * particles.periodic
        apart -= wraps * particles.size
        near = np.einsum("nd,nd->n", apart, apart) <= length**2
        touches[cell[near]] = True
    return touches


def _batches(sizes: Indices) -> Iterator[slice]:
    """Cut a list into slices of bounded total size, or of one element."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        limit = BATCH_PAIRS + (ends[begin - 1] if begin else 0)
        end = max(begin + 1, int(np.searchsorted(ends, limit, side="right")))
        yield slice(begin, end)
        begin = end


def _unite(parent: Indices, a: Indices, b: Indices) -> Indices:
    """Join the groups of cells a and b; a group's number is its least cell, for every cell."""
    while len(a):
        low, high = np.minimum(parent[a], parent[b]), np.maximum(parent[a], parent[b])
        np.minimum.at(parent, high, low)
        while not np.array_equal(grandparent := parent[parent], parent):
            parent = grandparent
        apart = parent[a] != parent[b]
        a, b = a[apart], b[apart]
    return parent


def _measure(
    particles: Particles, members: Indices, group: Indices, number: Indices, length: float
) -> Halos:
    halos = len(number)
    mass = particles.mass[members]
    total = np.bincount(group, mass, halos)

    def mean(values: Array) -> Array:
        columns = values.reshape(len(members), -1).T
        sums = [np.bincount(group, mass * column, halos) for column in columns]
        return np.stack(sums, axis=-1).reshape(halos, *values.shape[1:]) / total.reshape(
            -1, *(1 for _ in values.shape[1:])
        )

    # Relative to some member, so that a halo across a periodic boundary is whole.
    anchor = np.empty(halos, dtype=np.int64)
    anchor[group] = members
    origin = particles.position[anchor]
    apart = particles.position[members] - origin[group]
    apart -= np.rint(apart / particles.size) * particles.periodic * particles.size
    shift = mean(apart)
    centre = origin + shift - particles.lower
    centre = particles.lower + np.where(particles.periodic, centre % particles.size, centre)
    velocity = mean(particles.velocity[members])
    square = mean(np.sum((apart - shift[group]) ** 2, axis=1))
    scatter = mean(np.sum((particles.velocity[members] - velocity[group]) ** 2, axis=1))
    order = np.lexsort((anchor, -total))
    return Halos(
        number[order],
        total[order],
        centre[order],
        velocity[order],
        np.sqrt(square[order]),
        np.sqrt(scatter[order] / 3),
        length,
    )


def catalogue(halos: Halos) -> dict[str, tuple[NDArray[Any], str, str]]:
    """Return the columns of a catalogue by name: values, units and meaning."""
    number = "1"
    return {
        "halo": (
            np.arange(len(halos.mass)),
            number,
            "number of the halo, in order of decreasing mass",
        ),
        "particles": (halos.number, number, "number of particles"),
        "mass": (halos.mass, "mass", "sum of the masses of the particles"),
        **{axis: (halos.centre[:, n], "length", "centre of mass") for n, axis in enumerate(AXES)},
        **{
            f"velocity_{axis}": (
                halos.velocity[:, n],
                "length / time",
                "velocity of the centre of mass",
            )
            for n, axis in enumerate(AXES)
        },
        "radius": (halos.radius, "length", "root-mean-square distance from the centre"),
        "dispersion": (halos.dispersion, "length / time", "velocity dispersion along one axis"),
    }


def write_catalogue(halos: Halos, path: Path) -> None:
    """Write a table, one row per halo."""
    write_table({name: values for name, (values, *_) in catalogue(halos).items()}, path)


def write_catalogue_hdf5(halos: Halos, header: Header, path: Path) -> None:
    """Write the columns as datasets of /halos with units, and what they are of as /header."""
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        file.create_group("header").attrs.update(
            {
                "kind": "halos",
                "time": header.time,
                "scale_factor": header.scale_factor,
                "lower": header.lower,
                "upper": header.upper,
                "linking_length": halos.linking_length,
                **{f"unit_{name}": value for name, value in header.units.items()},
            }
        )
        for name, (values, units, description) in catalogue(halos).items():
            file[f"halos/{name}"] = values
            file[f"halos/{name}"].attrs.update(units=units, description=description)


@dataclass(frozen=True)
class Shown:
    """Units of halos in a plot, and the prediction for them.

    Attributes
    ----------
    length, mass, velocity
        Size of a code unit in the units shown.
    length_units, mass_units, velocity_units
        Names of these units; no names of masses and velocities in units of the code.
    mass_label
        Label of an axis of masses.
    heavier
        Gives the expected number of halos heavier than masses, per volume; None without a theory.
    """

    length: float = 1.0
    mass: float = 1.0
    velocity: float = 1.0
    length_units: str = ""
    mass_units: str = ""
    velocity_units: str = ""
    mass_label: str = "mass M  [code mass]"
    heavier: Callable[[Array], Array] | None = None


def shown_units(header: Header, kind: str, units: str) -> Shown:
    """Return comoving Mpc/h, Msun/h and km/s where space expands, and astronomers' units elsewhere.

    Runs whose units are not known in cgs keep their own. Where space expands, velocities are
    peculiar.

    The mass of halos of dark matter is then that of all matter, with baryons in the same proportion
    as everywhere; how many halos there should be is known if the run knows its initial spectrum.
    """
    if not header.expands and not header.has_units:
        return Shown(length_units=units)
    if not header.expands:
        length, size = header.shown_lengths
        mass, speed = header.units["mass"] / SOLAR_MASS, code_velocity(header)
        return Shown(size, mass, speed, length, "Msun", "km/s", mass_label="mass M  [M$_\\odot$]")
    names = ("omega_m", "omega_lambda", "omega_b", "h", "box")
    m, vacuum, b, h, box = (float(header.parameter(f"cosmology.{name}")) for name in names)
    energies = other_energies(header)
    has_gas = kind == "dark" and header.parameter("hydro.enabled", True)
    mass = CRITICAL_DENSITY * m * box**3 / ((m - b) / m if has_gas else 1.0)
    sigma_8, index = (header.parameter(f"initial.{n}") for n in ("sigma_8", "spectral_index"))
    heavier = None
    if kind == "dark" and sigma_8 is not None and index is not None:
        theory = LinearTheory(m, vacuum, b, h, float(sigma_8), float(index), **energies)

        def heavier(masses: Array) -> Array:
            return theory.heavier_halos(masses, header.scale_factor)

    label = "mass M of all matter  [M$_\\odot$/h]"
    length, size = header.shown_lengths
    speed, of_speed = code_velocity(header), "km/s" if header.has_units else ""
    return Shown(size, mass, speed, length, "Msun/h", of_speed, label, heavier)


def code_velocity(header: Header) -> float:
    """Size of a code unit of velocity in km/s, peculiar ones where space expands; 1 if unknown."""
    if not header.has_units:
        return 1.0
    return header.units["length"] / header.units["time"] / KILOMETRE


def save_picture(particles: Particles, halos: Halos, shown: Shown, title: str, path: Path) -> None:
    """Draw the mass along z with circles around halos, and how many are heavier than a mass."""
    lower = particles.lower * shown.length
    upper = lower + particles.size * shown.length
    place = particles.position * shown.length
    pixels = int(np.clip(4 * np.cbrt(len(place)), 64, PICTURE_PIXELS))
    edges = [np.linspace(lower[n], upper[n], pixels + 1) for n in range(2)]
    image, *_ = np.histogram2d(place[:, 0], place[:, 1], bins=edges, weights=particles.mass)
    with mpl.rc_context(STYLE):
        many = len(halos.mass) >= MANY_HALOS
        figure = Figure(figsize=(10.4 if many else 5.6, 5.0), layout="constrained")
        left = figure.add_subplot(1, 2 if many else 1, 1)
        left.imshow(
            np.where(image > 0, image, np.nan).T,
            origin="lower",
            extent=(lower[0], upper[0], lower[1], upper[1]),
            norm=LogNorm(),
            cmap="Greys",
        )
        width = 4 * halos.radius * shown.length
        circles = EllipseCollection(
            width, width, np.zeros_like(width), units="xy",
            offsets=halos.centre[:, :2] * shown.length, offset_transform=left.transData,
            facecolors="none", edgecolors=SERIES[1], lw=0.7,
        )  # fmt: skip
        left.add_collection(circles)
        units = shown.length_units
        left.set(xlabel=with_units("x", units), ylabel=with_units("y", units))
        left.set_title(title, loc="left")
        if many:
            _draw_mass_function(figure.add_subplot(1, 2, 2), halos, shown, (upper - lower).prod())
        save(figure, path)


def _draw_mass_function(right: Axes, halos: Halos, shown: Shown, volume_of_box: float) -> None:
    """Draw how many halos are heavier than a mass, beside theory where there is one."""
    mass = halos.mass * shown.mass
    heavier = np.arange(1, len(mass) + 1) / volume_of_box
    right.loglog(mass, heavier, drawstyle="steps-post", color=SERIES[0], lw=1.1, label="Octant")
    volume = "code volume"
    if shown.heavier is not None and len(mass):
        line = np.geomspace(mass.min(), 2 * mass.max(), 60)
        right.loglog(line, shown.heavier(line), color=INK, ls=":", label="Sheth & Tormen 1999")
        right.set_ylim(bottom=0.5 * heavier[0])
        right.legend(fontsize=8.5)
    if shown.length != 1.0:
        volume = "(Mpc/h)$^3$"
    right.set(xlabel=shown.mass_label, ylabel=f"halos heavier than M per {volume}")
    right.spines[["top", "right"]].set_visible(False)
