"""Mirrors, turns and translates the state and the parameters of a compressible run.

The initial state of an example becomes arrays on nested grids, which `problem.name = "file"` reads.
The run from these arrays is compared with the run from the transformed arrays.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import octools
from numpy.typing import NDArray

from running import Array, leaf_cells

AXES = "xyz"
VECTORS = (
    "velocity",
    "acceleration",
    "momentum",
    "radiation_flux",
    *(f"photon_flux_{group}" for group in range(3)),
    "spin",
)
AXIAL = ("spin",)  # vectors that keep their components along a mirrored axis


@dataclass(frozen=True)
class Motion:
    """A mapping of the domain onto itself, or onto one whose axes are permuted.

    Attributes
    ----------
    axes
        The axis of the old domain that becomes x, y and z.
    mirrored
        Whether the new x, y and z are mirrored at the middle of the domain.
    blocks
        By how many blocks of the base grid the state moves along the old x, y and z.
    """

    axes: tuple[int, int, int] = (0, 1, 2)
    mirrored: tuple[bool, bool, bool] = (False, False, False)
    blocks: tuple[int, int, int] = (0, 0, 0)

    def vector(self, values: Array) -> Array:
        """Map vectors, of which the last axis counts components."""
        return np.stack(
            [-values[..., a] if m else values[..., a] for a, m in self.pairs()], axis=-1
        )

    def point(self, values: Array, domain: "Domain") -> Array:
        """Map points, of which the last axis counts components."""
        moved = values + domain.shift(self.blocks)
        lower, size = domain.lower, domain.upper - domain.lower
        moved = np.where(domain.periodic, lower + (moved - lower) % size, moved)
        total = domain.lower + domain.upper
        return np.stack(
            [total[a] - moved[..., a] if m else moved[..., a] for a, m in self.pairs()], axis=-1
        )

    def array(self, values: Array) -> Array:
        """Map a field [k][j][i], apart from its motion by whole blocks."""
        turned = values.transpose([2 - a for a in reversed(self.axes)])
        return np.flip(turned, [2 - d for d in range(3) if self.mirrored[d]])

    def pairs(self) -> list[tuple[int, bool]]:
        """Give the old axis of each new one, and whether it is mirrored."""
        return list(zip(self.axes, self.mirrored, strict=True))

    def sign(self, stem: str, axis: int) -> float:
        """Give the factor of the component of a vector along a new axis."""
        permutation = np.linalg.det(np.eye(3)[list(self.axes)])
        parity = permutation * (-1.0) ** sum(self.mirrored) if stem in AXIAL else 1.0
        return float(np.rint(parity)) * (-1.0 if self.mirrored[axis] else 1.0)

    def reverses_rotation(self) -> bool:
        """Whether rotation about z, which stays the axis z, has the other sense."""
        return (sum(self.mirrored[:2]) + (self.axes == (1, 0, 2))) % 2 == 1


@dataclass(frozen=True)
class Domain:
    """The domain of a run and its base grid."""

    lower: Array
    upper: Array
    base_cells: NDArray[np.int64]
    block_size: int
    periodic: NDArray[np.bool_]

    @staticmethod
    def of(parameters: Mapping[str, Any]) -> "Domain":
        """Read the domain of a run.toml."""
        mesh = parameters["mesh"]
        return Domain(
            np.array(mesh["lower"]),
            np.array(mesh["upper"]),
            np.array(mesh["base_cells"]),
            mesh["block_size"],
            np.array([mesh[f"boundary_{a}"][0] == "periodic" for a in AXES]),
        )

    def shift(self, blocks: tuple[int, int, int]) -> Array:
        """Give the way that whole blocks of the base grid make."""
        cell = (self.upper - self.lower) / self.base_cells
        return np.array(blocks) * self.block_size * cell


@dataclass(frozen=True)
class Box:
    """Fields [k][j][i] of a box of cells of one level; `first` is its first cell."""

    first: NDArray[np.int64]
    fields: dict[str, Array]

    @property
    def cells(self) -> NDArray[np.int64]:
        """How many cells it has along x, y, z."""
        return np.array(next(iter(self.fields.values())).shape[::-1])


@dataclass(frozen=True)
class State:
    """Gas on nested boxes, coarse to fine, and particles by kind."""

    domain: Domain
    boxes: list[Box]
    particles: dict[str, dict[str, Array]]
    scale_factor: float | None

    def write(self, path: Path) -> None:
        """Write the file that a run begins from."""
        domain, grids = self.domain, []
        for level, box in enumerate(self.boxes):
            size = (domain.upper - domain.lower) / (domain.base_cells * 2**level)
            lower = domain.lower + box.first * size
            upper = domain.lower + (box.first + box.cells) * size
            grids.append(octools.Grid(box.fields, lower, upper))
        octools.write_initial(
            path,
            grids or None,
            particles=self.particles,
            lower=domain.lower,
            upper=domain.upper,
            scale_factor=self.scale_factor,
        )

    def with_particles_reversed(self) -> "State":
        """Give the particles in the reverse order, and so with other ids."""
        particles = {
            kind: {name: values[::-1] for name, values in columns.items()}
            for kind, columns in self.particles.items()
        }
        return replace(self, particles=particles)

    def boosted(self, velocity: Array) -> "State":
        """Add a velocity to everything."""
        boxes = [
            replace(
                box,
                fields=box.fields
                | {
                    f"velocity_{a}": box.fields[f"velocity_{a}"] + velocity[d]
                    for d, a in enumerate(AXES)
                },
            )
            for box in self.boxes
        ]
        return replace(self, boxes=boxes)

    def moved(self, motion: Motion) -> "State":
        """Map the state."""
        domain = replace(
            self.domain,
            lower=self.domain.lower[list(motion.axes)],
            upper=self.domain.upper[list(motion.axes)],
            base_cells=self.domain.base_cells[list(motion.axes)],
            periodic=self.domain.periodic[list(motion.axes)],
        )
        boxes = [
            moved_box(box, self.domain, 2**level, motion) for level, box in enumerate(self.boxes)
        ]
        particles = {
            kind: columns
            | {
                "position": motion.point(columns["position"], self.domain),
                "velocity": motion.vector(columns["velocity"]),
            }
            for kind, columns in self.particles.items()
        }
        return State(domain, boxes, particles, self.scale_factor)


def moved_box(box: Box, domain: Domain, refinement: int, motion: Motion) -> Box:
    steps = np.array(motion.blocks) * domain.block_size * refinement
    rolled = {name: np.roll(q, steps[::-1], (0, 1, 2)) for name, q in box.fields.items()}
    for d in range(3):
        whole = box.cells[d] == domain.base_cells[d] * refinement
        assert whole or steps[d] == 0, "boxes that move span the domain"
    first = [
        domain.base_cells[a] * refinement - box.first[a] - box.cells[a] if m else box.first[a]
        for a, m in motion.pairs()
    ]
    return Box(np.array(first), moved_fields(rolled, motion))


def moved_fields(fields: Mapping[str, Array], motion: Motion) -> dict[str, Array]:
    """Map scalars and the components of vectors, named `velocity_x` and so on."""
    result = {}
    for name, values in fields.items():
        stem, _, axis = name.rpartition("_")
        if stem in VECTORS and axis in AXES:
            d = motion.axes.index(AXES.index(axis))
            result[f"{stem}_{AXES[d]}"] = motion.sign(stem, d) * motion.array(values)
        else:
            result[name] = motion.array(values)
    return result


def read_state(path: Path, whole: tuple[int, ...], kinds: tuple[str, ...]) -> State:
    """Read a snapshot; the boxes of finer levels span the whole domain along some axes."""
    with h5py.File(path) as file:
        parameters = tomllib.loads(file["header"].attrs["parameters"])
        domain = Domain.of(parameters)
        boxes: list[Box] = []
        for level in range(len(file["mesh"])):
            if "hydro" in file:
                boxes.append(read_box(file, f"level_{level}", 2**level, domain, boxes, whole))
        particles = {}
        for kind in kinds:
            columns = file[f"particles/{kind}"]
            order = np.argsort(columns["id"][...], kind="stable")
            particles[kind] = {n: q[...][order] for n, q in columns.items() if n != "id"}
        expands = parameters["cosmology"]["enabled"]
        a = float(file["header"].attrs["scale_factor"]) if expands else None
    return State(domain, boxes, particles, a)


def read_box(
    file: h5py.File,
    level: str,
    refinement: int,
    domain: Domain,
    coarser: list[Box],
    whole: tuple[int, ...],
) -> Box:
    """Read the blocks of a level; what they leave of the box around them has coarser values."""
    size = (domain.upper - domain.lower) / (domain.base_cells * refinement)
    origin = file[f"mesh/{level}/origin"][...]
    corner = np.rint((origin - domain.lower) / size).astype(int)
    n = domain.block_size
    first, last = corner.min(axis=0), corner.max(axis=0) + n
    for d in whole:
        first[d], last[d] = 0, domain.base_cells[d] * refinement
    result = {}
    for name, data in file[f"hydro/{level}"].items():
        if name == "entropy":
            continue
        if coarser:
            outer = coarser[-1]
            fine = outer.fields[name]
            for axis in range(3):
                fine = fine.repeat(2, axis=axis)
            begin = first - 2 * outer.first
            end = last - 2 * outer.first
            values = fine[begin[2] : end[2], begin[1] : end[1], begin[0] : end[0]].copy()
        else:
            values = np.empty((last - first)[::-1])
        for block, (i, j, k) in zip(data[...], corner - first, strict=True):
            values[k : k + n, j : j + n, i : i + n] = block
        result[name] = values
    return Box(first, result)


def moved_parameters(parameters: dict[str, Any], motion: Motion) -> dict[str, Any]:
    """Map all parameters that have directions or positions."""
    domain = Domain.of(parameters)
    result = {
        section: dict(values) if isinstance(values, dict) else values
        for section, values in parameters.items()
    }
    mesh, refine, hydro = result["mesh"], result["refine"], result["hydro"]
    for key in ("base_cells", "lower", "upper"):
        mesh[key] = [parameters["mesh"][key][a] for a in motion.axes]
    for d, (a, mirrored) in enumerate(motion.pairs()):
        sides = parameters["mesh"][f"boundary_{AXES[a]}"]
        mesh[f"boundary_{AXES[d]}"] = sides[::-1] if mirrored else sides
    if motion.axes != (0, 1, 2):
        hydro["dimensions"] = 3  # the axis along which nothing changes is not z any more
    hydro["acceleration"] = motion.vector(np.array(hydro["acceleration"])).tolist()
    if refine["region_level"]:
        corners = [np.array(refine[f"region_{side}"]) for side in ("lower", "upper")]
        corners = [motion.point(corner, replace(domain, periodic=False)) for corner in corners]
        refine["region_lower"] = np.minimum(*corners).tolist()
        refine["region_upper"] = np.maximum(*corners).tolist()
    ionization = result.get("ionization", {})
    if ionization.get("source_rates"):
        places = np.array([ionization[f"source_{a}"] for a in AXES]).T
        for a, values in zip(AXES, motion.point(places, domain).T, strict=True):
            ionization[f"source_{a}"] = values.tolist()
    if motion.reverses_rotation():
        result["frame"]["angular_velocity"] *= -1.0
    return result


def compared(
    path: Path, reference: Path, motion: Motion, *, reversed_ids: bool = False
) -> dict[str, float]:
    """Compare a state with the mapped reference: largest differences over the scales of fields.

    Vectors have one scale for all components. The scale of velocities is the speed of sound where
    that is larger, and the scale of pressures the kinetic energy density: a pressure is what the
    kinetic leaves of the total energy.
    """
    with h5py.File(reference) as file:
        parameters = tomllib.loads(file["header"].attrs["parameters"])
        groups = [group for group in ("hydro", "gravity") if group in file]
    domain = Domain.of(parameters)
    gamma = parameters["hydro"]["gamma"]
    result: dict[str, float] = {}
    for group in groups:
        found, expected = (leaf_cells(p, group) for p in (path, reference))
        mapped = moved_fields_of_cells(expected.values, motion)
        order = cell_order(found.position, found.size)
        places = motion.point(expected.position, domain)
        other = cell_order(places, expected.size)
        assert len(order) == len(other), "another mesh"
        width = found.size[order]
        assert np.allclose(width, expected.size[other], rtol=1e-12), "another mesh"
        off = np.abs(found.position[order] - places[other]).max(axis=1)
        assert (off < 1e-6 * width).all(), "another mesh"
        scales = {n: np.abs(q).max() for n, q in mapped.items()}
        for name, scale in scales.items():
            stem = name.rpartition("_")[0]
            if stem in VECTORS:
                scale = max(s for n, s in scales.items() if n.startswith(stem))
            if stem == "velocity":
                scale = max(scale, np.sqrt(gamma * mapped["pressure"] / mapped["density"]).max())
            if name == "pressure":
                scale = max(scale, kinetic_energy(mapped).max())
            difference = np.abs(found[name][order] - mapped[name][other]).max()
            result[name] = float(difference / scale) if difference else 0.0
    return result | compared_particles(path, reference, motion, domain, reversed_ids)


def kinetic_energy(fields: Mapping[str, Array]) -> Array:
    """Kinetic energy density."""
    return 0.5 * fields["density"] * sum(fields[f"velocity_{axis}"] ** 2 for axis in AXES)


def moved_fields_of_cells(fields: Mapping[str, Array], motion: Motion) -> dict[str, Array]:
    """Map the components of vectors of cells whose order does not matter."""
    result = {}
    for name, values in fields.items():
        stem, _, axis = name.rpartition("_")
        if stem in VECTORS and axis in AXES:
            d = motion.axes.index(AXES.index(axis))
            result[f"{stem}_{AXES[d]}"] = motion.sign(stem, d) * values
        else:
            result[name] = values
    return result


def cell_order(position: Array, size: Array) -> NDArray[np.int64]:
    place = np.rint(4 * (position - position.min(axis=0)) / size.min()).astype(np.int64)
    return np.lexsort((*place.T, size))


def compared_particles(
    path: Path, reference: Path, motion: Motion, domain: Domain, reversed_ids: bool
) -> dict[str, float]:
    """Compare particles by their ids, or by ids in the reverse order."""
    result = {}
    with h5py.File(path) as one, h5py.File(reference) as other:
        for kind in other.get("particles", {}):
            a, b = (
                {
                    n: q[...][np.argsort(f[f"particles/{kind}/id"][...], kind="stable")]
                    for n, q in f[f"particles/{kind}"].items()
                }
                for f in (one, other)
            )
            if not len(b["id"]):
                continue
            assert np.array_equal(a["id"], b["id"]), "other particles"
            if reversed_ids:
                a = {name: values[::-1] for name, values in a.items()}
            size = np.array(domain.upper - domain.lower)[list(motion.axes)]
            away = a["position"] - motion.point(b["position"], domain)
            away -= np.rint(away / size) * size * domain.periodic[list(motion.axes)]
            result[f"{kind} position"] = float(np.abs(away / size).max())
            speed = np.abs(b["velocity"]).max()
            away = np.abs(a["velocity"] - motion.vector(b["velocity"])).max()
            result[f"{kind} velocity"] = float(away / speed) if away else 0.0
    return result
