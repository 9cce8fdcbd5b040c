"""A writer of small snapshots whose every cell is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array, Array, Array], Array]
Refine = Callable[[int, Array, Array], bool]


UNITS = {
    "density": "mass / length^3",
    "pressure": "mass / (length time^2)",
    **{f"velocity_{a}": "length / time" for a in "xyz"},
}


def zero(x: Array, y: Array, z: Array) -> Array:
    return 0.0 * (x + y + z)


def one(x: Array, y: Array, z: Array) -> Array:
    return 1.0 + 0.0 * (x + y + z)


def never(level: int, lower: Array, upper: Array) -> bool:
    return False


def around(centre: Sequence[float], radius: float, levels: int) -> Refine:
    """Refine octants that a ball touches, up to a level."""

    def refine(level: int, lower: Array, upper: Array) -> bool:
        nearest = np.clip(centre, lower, upper)
        return level < levels and bool(np.sum((nearest - centre) ** 2) < radius**2)

    return refine


@dataclass
class Node:
    """A block: corner cell on its level's grid as x, y, z; values as [k][j][i]."""

    level: int
    corner: NDArray[np.int64]
    children: dict[int, Node] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)

    @property
    def refined(self) -> int:
        return sum(1 << octant for octant in self.children)


@dataclass
class Synthetic:
    """A snapshot to be: an octree refined where `refine` says, filled from functions."""

    base_cells: tuple[int, int, int] = (16, 16, 16)
    block_size: int = 8
    lower: tuple[float, float, float] = (0.0, 0.0, 0.0)
    upper: tuple[float, float, float] = (1.0, 1.0, 1.0)
    refine: Refine = never
    fields: dict[str, Function] = field(default_factory=dict)
    time: float = 0.0
    parameters: str = ""
    gamma: float = 1.4

    def functions(self) -> dict[str, Function]:
        velocity = {f"velocity_{a}": zero for a in "xyz"}
        return {"density": one, **velocity, "pressure": one} | self.fields

    def cell_size(self, level: int) -> Array:
        size = np.array(self.upper) - np.array(self.lower)
        return size / (np.array(self.base_cells) * 2**level)

    def write(self, path: Path) -> Path:
        levels: list[list[Node]] = []
        grid = [range(0, n, self.block_size) for n in self.base_cells]
        for corner in np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 3):
            self._grow(Node(0, corner), levels)
        with h5py.File(path, "w") as file:
            self._write_header(file)
            for index, nodes in enumerate(levels):
                self._write_level(file, index, sorted(nodes, key=lambda n: morton(n, self)))
        return path

    def _grow(self, node: Node, levels: list[list[Node]]) -> None:
        if len(levels) == node.level:
            levels.append([])
        levels[node.level].append(node)
        n, dx = self.block_size, self.cell_size(node.level)
        for octant in range(8):
            half = np.array([octant & 1, octant >> 1 & 1, octant >> 2]) * (n // 2)
            lower = self.lower + (node.corner + half) * dx
            if self.refine(node.level, lower, lower + n // 2 * dx):
                node.children[octant] = Node(node.level + 1, 2 * (node.corner + half))
                self._grow(node.children[octant], levels)
        self._fill(node)

    def _fill(self, node: Node) -> None:
        n, dx = self.block_size, self.cell_size(node.level)
        x, y, z = (self.lower[a] + (node.corner[a] + np.arange(n) + 0.5) * dx[a] for a in range(3))
        for name, function in self.functions().items():
            values = np.array(function(x, y[:, None], z[:, None, None]), dtype=float)
            node.values[name] = np.broadcast_to(values, (n, n, n)).copy()
            for octant, child in node.children.items():
                i, j, k = (slice(s := (octant >> a & 1) * (n // 2), s + n // 2) for a in range(3))
                fine = child.values[name].reshape(n // 2, 2, n // 2, 2, n // 2, 2)
                node.values[name][k, j, i] = fine.mean(axis=(1, 3, 5))

    def _write_header(self, file: h5py.File) -> None:
        file.create_group("header").attrs.update(
            time=self.time,
            scale_factor=1.0,
            box_size=self.upper[0] - self.lower[0],
            lower=np.array(self.lower),
            upper=np.array(self.upper),
            base_cells=np.array(self.base_cells),
            block_size=self.block_size,
            gamma=self.gamma,
            unit_length=1.0,
            unit_mass=1.0,
            unit_time=1.0,
            parameters=self.parameters,
            git_revision="synthetic",
        )

    def _write_level(self, file: h5py.File, index: int, nodes: list[Node]) -> None:
        mesh = file.create_group(f"mesh/level_{index}")
        dx = self.cell_size(index)
        mesh.attrs["cell_size"] = dx[0]
        mesh["key"] = np.array([morton(node, self) for node in nodes], dtype=np.uint64)
        mesh["origin"] = np.array([self.lower + node.corner * dx for node in nodes])
        mesh["refined"] = np.array([node.refined for node in nodes], dtype=np.uint8)
        mesh["origin"].attrs["units"] = "length"
        mesh["owner"] = np.zeros(len(nodes), dtype=np.int32)
        for name in self.functions():
            values = np.stack([node.values[name] for node in nodes])
            data = file.create_dataset(f"hydro/level_{index}/{name}", data=values)
            data.attrs["units"] = UNITS.get(name, "1")


def morton(node: Node, snapshot: Synthetic) -> int:
    """Interleave the bits of a block's position, x lowest."""
    key = 0
    for a in range(3):
        position = int(node.corner[a]) // snapshot.block_size
        for bit in range(21):
            key |= (position >> bit & 1) << (3 * bit + a)
    return key


def add_particles(path: Path, kind: str, count: int, columns: Sequence[str] = ()) -> None:
    """Add particles at random places to a snapshot, with velocities, masses and some columns."""
    random = np.random.default_rng(7)
    with h5py.File(path, "r+") as file:
        lower, upper = (file["header"].attrs[name] for name in ("lower", "upper"))
        group = file.create_group(f"particles/{kind}")
        group["id"] = np.arange(count, dtype=np.uint64) + 10
        group["position"] = lower + (upper - lower) * random.random((count, 3))
        group["velocity"] = random.standard_normal((count, 3))
        for name in ("mass", *columns):
            group[name] = random.random(count)
        units = {"position": "length", "velocity": "length / time", "mass": "mass"}
        for name, text in units.items():
            group[name].attrs["units"] = text


def shell_of_blocks(path: Path, widths: Sequence[float], block_size: int = 4) -> int:
    """Write a large snapshot, refined about a sphere within a distance by level, and count blocks.

    The density of a cell is 1 plus its level, in single precision; there are no other fields.
    """
    position = np.stack(np.meshgrid(*[np.arange(16)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    cells, total = (16 * block_size,) * 3, 0
    with h5py.File(path, "w") as file:
        Synthetic(base_cells=cells, block_size=block_size)._write_header(file)
        for level in range(len(widths) + 1):
            position = position[np.argsort(interleaved(position))]
            size, refined, finer = 1 / (16 << level), np.zeros(len(position), dtype=np.uint8), []
            for octant in range(8 if level < len(widths) else 0):
                half = np.array([octant >> a & 1 for a in range(3)])
                centre = (position + 0.25 + 0.5 * half) * size - 0.5
                near = np.abs(np.linalg.norm(centre, axis=1) - 0.3) < widths[level]
                refined |= (near << octant).astype(np.uint8)
                finer.append((2 * position + half)[near])
            mesh = file.create_group(f"mesh/level_{level}")
            mesh["key"], mesh["refined"] = interleaved(position), refined
            mesh["origin"] = position * size
            mesh["owner"] = np.zeros(len(position), dtype=np.int32)
            shape = (len(position), *(block_size,) * 3)
            file[f"hydro/level_{level}/density"] = np.full(shape, 1.0 + level, dtype=np.float32)
            total += len(position)
            position = np.concatenate(finer) if finer else position
    return total


def interleaved(position: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Interleave the bits of positions, shape (blocks, 3), x lowest."""
    key = np.zeros(len(position), dtype=np.uint64)
    for a in range(3):
        for bit in range(10):
            key |= ((position[:, a] >> bit & 1) << (3 * bit + a)).astype(np.uint64)
    return key
