"""An independent reader of RAMSES output folders, for tests: leaf cells and particles as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CELLS = 8  # of an oct
FIELDS = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure")


class Records:
    """The records of a Fortran file, one after the other."""

    def __init__(self, path: Path) -> None:
        self.bytes = path.read_bytes()
        self.at = 0

    def next(self, dtype: str) -> NDArray:
        """Read the next record as numbers of a type."""
        length = int(np.frombuffer(self.bytes, "<i4", 1, self.at)[0])
        record = np.frombuffer(self.bytes[self.at + 4 : self.at + 4 + length], dtype)
        self.at += length + 8
        return record

    def skip(self, count: int) -> None:
        """Leave out some records."""
        for _ in range(count):
            self.next("u1")


@dataclass
class RamsesState:
    """What a folder holds.

    Attributes
    ----------
    level, place
        Of each leaf cell: its level, and its integer coordinates there, shape (n, 3).
    fields
        By name, the primitive values of the leaf cells.
    refined
        By level, how many cells are refined.
    particles
        By name: position, velocity, mass, id; empty without particles.
    """

    info: dict[str, float]
    gamma: float
    walls: tuple[bool, ...]
    level: NDArray[np.int64]
    place: NDArray[np.int64]
    fields: dict[str, Array]
    refined: dict[int, int]
    particles: dict[str, NDArray]

    @property
    def volume(self) -> Array:
        """Volumes of the leaf cells."""
        return (self.info["boxlen"] * 0.5**self.level) ** 3


def read_info(folder: Path) -> dict[str, float]:
    """Numbers of info_NNNNN.txt."""
    [path] = folder.glob("info_*.txt")
    lines = [line.split("=") for line in path.read_text().splitlines() if line.count("=") == 1]
    return {key.strip(): float(value) for key, value in lines if "ordering" not in key}


def domain_levels(folder: Path, number: int, ncpu: int) -> Iterator[tuple]:
    """Give, level by level, the own octs of a domain: level, centres, sons, values."""
    name = folder.name.split("_")[1]
    amr = Records(folder / f"amr_{name}.out{number:05d}")
    gas = Records(folder / f"hydro_{name}.out{number:05d}")
    amr.skip(2)
    coarse = amr.next("<i4")
    levels = int(amr.next("<i4")[0])
    amr.skip(1)
    boundaries = int(amr.next("<i4")[0])
    amr.skip(15)
    own = amr.next("<i4").reshape(levels, ncpu)
    amr.skip(1)
    beyond = np.zeros((levels, 0), int)
    if boundaries:
        amr.skip(2)
        beyond = amr.next("<i4").reshape(levels, boundaries)
    amr.skip(1)
    bisection = amr.next("S128")[0].strip() == b"bisection"
    amr.skip(5 if bisection else 1)
    amr.skip(3)
    gas.skip(1)
    variables = int(gas.next("<i4")[0])
    gas.skip(3)
    gamma = float(gas.next("<f8")[0])
    for level in range(1, levels + 1):
        for which, count in enumerate([*own[level - 1], *beyond[level - 1]], start=1):
            gas.skip(2)
            if count == 0:
                continue
            amr.skip(3)
            centres = np.stack([amr.next("<f8") for _ in range(3)], axis=1)
            amr.skip(7)
            sons = np.stack([amr.next("<i4") for _ in range(CELLS)], axis=1)
            amr.skip(2 * CELLS)
            values = np.stack([gas.next("<f8") for _ in range(CELLS * variables)])
            if which == number:
                shaped = values.reshape(CELLS, variables, count)
                yield level, centres, sons, shaped, gamma, coarse


def read_ramses(folder: Path) -> RamsesState:
    """Read a whole output."""
    info = read_info(folder)
    ncpu = int(info["ncpu"])
    level_list, places, values, refined = [], [], [], {}
    gamma, walls = 0.0, (False, False, False)
    for number in range(1, ncpu + 1):
        for level, centres, sons, shaped, found_gamma, coarse in domain_levels(
            folder, number, ncpu
        ):
            gamma, walls = found_gamma, tuple(bool(n > 1) for n in coarse)
            octs = np.floor((centres - np.floor(centres)) * 2 ** (level - 1)).astype(np.int64)
            refined[level] = refined.get(level, 0) + int((sons > 0).sum())
            for cell in range(CELLS):
                leaf = sons[:, cell] == 0
                offset = np.array([cell & 1, cell >> 1 & 1, cell >> 2])
                places.append(2 * octs[leaf] + offset)
                level_list.append(np.full(leaf.sum(), level))
                values.append(shaped[cell][:, leaf])
    columns = np.concatenate(values, axis=1)
    return RamsesState(
        info,
        gamma,
        walls,
        np.concatenate(level_list),
        np.concatenate(places),
        dict(zip(FIELDS, columns, strict=False)),
        refined,
        read_particles(folder, ncpu),
    )


def read_particles(folder: Path, ncpu: int) -> dict[str, NDArray]:
    """Read the dark matter of all domains, in the order of ids."""
    name = folder.name.split("_")[1]
    if not (folder / f"part_{name}.out00001").is_file():
        return {}
    parts = []
    for number in range(1, ncpu + 1):
        file = Records(folder / f"part_{name}.out{number:05d}")
        file.skip(8)
        x = np.stack([file.next("<f8") for _ in range(3)], axis=1)
        v = np.stack([file.next("<f8") for _ in range(3)], axis=1)
        mass, identity = file.next("<f8"), file.next("<i4")
        file.skip(1)
        dark = file.next("i1") == 1
        parts.append((x[dark], v[dark], mass[dark], identity[dark]))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[3])
    names = ("position", "velocity", "mass", "id")
    return {key: column[order] for key, column in zip(names, columns, strict=True)}
