"""An independent reader of RAMSES output folders, for tests: leaf cells and particles as arrays."""

import struct
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reference_data import reference_files
from running import leaf_cells

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

    def numbers(self, kind: str, count: int) -> NDArray:
        """Read the next record as so many integers ("i") or reals ("f") of any precision."""
        record = self.next("u1")
        return np.frombuffer(record.tobytes(), f"<{kind}{len(record) // count if count else 4}")

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
    scalars
        Names of the fields beyond density, velocity and pressure.
    refined
        By level, how many cells are refined.
    particles
        By kind ("dark", "stars") and name: position, velocity, mass, id, ...; in the order of ids.
    """

    info: dict[str, float]
    gamma: float
    walls: tuple[bool, ...]
    level: NDArray[np.int64]
    place: NDArray[np.int64]
    fields: dict[str, Array]
    scalars: list[str]
    refined: dict[int, int]
    particles: dict[str, dict[str, NDArray]]

    @property
    def volume(self) -> Array:
        """Volumes of the leaf cells."""
        return (self.info["boxlen"] * 0.5**self.level) ** 3


def info_path(folder: Path) -> Path | None:
    """Find info_NNNNN.txt, which may lie in a group's folder."""
    return next(iter([*folder.glob("info_*.txt"), *folder.glob("group_*/info_*.txt")]), None)


def read_info(folder: Path) -> dict[str, float]:
    """Numbers of info_NNNNN.txt."""
    path = info_path(folder)
    assert path
    lines = [line.split("=") for line in path.read_text().splitlines() if line.count("=") == 1]
    return {key.strip(): float(value) for key, value in lines if "ordering" not in key}


def file_of(folder: Path, kind: str, number: int) -> Path:
    """Path of a domain's file, which may lie in a group's folder."""
    name = f"{kind}_{folder.name.split('_')[1]}.out{number:05d}"
    return next(folder.glob(f"group_*/{name}"), folder / name)


def names_in(folder: Path, descriptor: str) -> list[str]:
    """Names of columns that a descriptor has."""
    path = next(iter([*folder.glob(f"group_*/{descriptor}"), folder / descriptor]))
    lines = path.read_text().splitlines() if path.is_file() else []
    return [
        line.split(",")[1].strip() for line in lines if line.count(",") == 2 and "#" not in line
    ]


def variables_of(folder: Path) -> list[str]:
    """Names of the gas's variables, in their order."""
    return names_in(folder, "hydro_file_descriptor.txt")


def can_go_on(folder: Path) -> bool:
    """Whether an output holds gas and nothing that Octant cannot go on with."""
    names = variables_of(folder)
    return tuple(names[:5]) == FIELDS or (not names and file_of(folder, "hydro", 1).is_file())


def read_bounds(amr: Records) -> Array:
    """Read the bounds of domains along a curve; none of other orderings."""
    ordering = amr.next("S128")[0].strip()
    if ordering in (b"hilbert", b"planar", b"angular"):
        return np.frombuffer(amr.next("u1").tobytes(), "<f8")
    amr.skip(10 if ordering == b"ksection" else 5)
    return np.zeros(0)


def last_steps(folder: Path) -> Array:
    """Last steps of the levels, from level 1 on."""
    amr = Records(file_of(folder, "amr", 1))
    amr.skip(13)
    return amr.next("<f8")


def domain_levels(folder: Path, number: int, ncpu: int, kind: str = "hydro") -> Iterator[tuple]:
    """Give, level by level, the own octs of a domain: level, centres, sons, values.

    These are the gas's, or of kind "grav": potential and force.
    """
    amr = Records(file_of(folder, "amr", number))
    gas = Records(file_of(folder, kind, number))
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
    read_bounds(amr)
    amr.skip(3)
    gas.skip(1)
    variables = int(gas.next("<i4")[0])
    gas.skip(3 if kind == "hydro" else 2)
    gamma = float(gas.numbers("f", 1)[0]) if kind == "hydro" else 0.0
    for level in range(1, levels + 1):
        for which, count in enumerate([*own[level - 1], *beyond[level - 1]], start=1):
            gas.skip(2)
            if count == 0:
                continue
            amr.skip(3)
            centres = np.stack([amr.numbers("f", count) for _ in range(3)], axis=1).astype(float)
            amr.skip(7)
            sons = np.stack([amr.next("<i4") for _ in range(CELLS)], axis=1)
            amr.skip(2 * CELLS)
            values = np.stack([gas.numbers("f", count) for _ in range(CELLS * variables)])
            if which == number:
                shaped = values.reshape(CELLS, variables, count).astype(float)
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
    names = variables_of(folder) or [*FIELDS, *(f"scalar_{n}" for n in range(len(columns) - 5))]
    assert len(names) == len(columns)
    fields = dict(zip(names, columns, strict=True))
    raise_to_floor(fields, gamma)
    return RamsesState(
        info,
        gamma,
        walls,
        np.concatenate(level_list),
        np.concatenate(places),
        fields,
        [name for name in names if name not in FIELDS and not name.startswith("equilibrium_")],
        refined,
        read_particles(folder, ncpu),
    )


def read_forces(folder: Path) -> Array:
    """Read the forces in the leaf cells, in the order that these have in the state."""
    ncpu = int(read_info(folder)["ncpu"])
    forces = [
        values[cell, -3:, sons[:, cell] == 0]
        for number in range(1, ncpu + 1)
        for _, _, sons, values, *_ in domain_levels(folder, number, ncpu, "grav")
        for cell in range(CELLS)
    ]
    return np.concatenate(forces)


PRESSURE_FLOOR = 1e-30


def raise_to_floor(fields: dict[str, Array], gamma: float) -> None:
    """Give cells that RAMSES has left without any energy the pressure that Octant gives them.

    It is a little more than the floor, that rounding does not eat it up.
    """
    kinetic = 0.5 * fields["density"] * sum(fields[f"velocity_{axis}"] ** 2 for axis in "xyz")
    pressure = fields["pressure"]
    fields["pressure"] = np.where(
        pressure / (gamma - 1.0) + kinetic > 0.0, pressure, 1e-14 * (gamma - 1.0) * kinetic
    )


FAMILIES = {"dark": 1, "stars": 2}


def read_particles(folder: Path, ncpu: int) -> dict[str, dict[str, NDArray]]:
    """Read dark matter and stars of all domains, in the order of ids."""
    if not file_of(folder, "part", 1).is_file():
        return {}
    parts: dict[str, list[NDArray]] = {}
    for number in range(1, ncpu + 1):
        file = Records(file_of(folder, "part", number))
        file.skip(2)
        count = int(file.next("<i4")[0])
        file.skip(5)
        for name in names_in(folder, "part_file_descriptor.txt"):
            kind = {"family": "i", "tag": "i", "identity": "i", "levelp": "i", "partp": "i"}
            parts.setdefault(name, []).append(file.numbers(kind.get(name, "f"), count))
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    for vector in ("position", "velocity"):
        axes = [columns.pop(f"{vector}_{axis}") for axis in "xyz"]
        columns[vector] = np.stack(axes, axis=1).astype(float)
    columns["id"] = columns.pop("identity").astype(np.int64)
    kinds = {}
    for kind, family in FAMILIES.items():
        here = np.flatnonzero(columns["family"] == family)
        here = here[np.argsort(columns["id"][here])]
        if len(here):
            kinds[kind] = {name: column[here] for name, column in columns.items()}
    return kinds


@dataclass
class OctLists:
    """The whole tree that one domain's file holds, with all links.

    Attributes
    ----------
    lists
        By level and list (owner, or boundary beyond the last owner), both from 1: named columns of
        its octs: index, next, prev (octs,), centre (octs, 3), father (octs,), nbor (octs, 6), and
        son, owner, flag (octs, 8).
    heads, tails, counts
        By level and owner, shape (levels, domains), as the head of the file says.
    """

    domain: int
    domains: int
    coarse: tuple[int, ...]
    ngridmax: int
    ngrid_current: int
    total: NDArray[np.int64]
    free: NDArray[np.int64]
    bounds: Array
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    counts: NDArray[np.int64]
    lists: dict[tuple[int, int], dict[str, NDArray]]


def read_tree(folder: Path, number: int) -> OctLists:
    """Read the file of a domain's octs as a whole."""
    amr = Records(file_of(folder, "amr", number))
    ncpu = int(amr.next("<i4")[0])
    amr.skip(1)
    coarse = tuple(int(n) for n in amr.next("<i4"))
    levels, ngridmax, boundaries, current = (int(amr.next("<i4")[0]) for _ in range(4))
    amr.skip(12)
    head, tail, own = (amr.next("<i4").reshape(levels, ncpu) for _ in range(3))
    total = amr.numbers("i", 10 * levels).reshape(levels, 10)[:, 0]
    beyond = np.zeros((levels, 0), int)
    if boundaries:
        amr.skip(2)
        beyond = amr.next("<i4").reshape(levels, boundaries)
    free = amr.next("<i4")
    bounds = read_bounds(amr)
    amr.skip(3)
    lists = {}
    for level in range(1, levels + 1):
        for which, count in enumerate([*own[level - 1], *beyond[level - 1]], start=1):
            if count == 0:
                continue
            octs = {key: amr.next("<i4") for key in ("index", "next", "prev")}
            octs["centre"] = np.stack([amr.numbers("f", count) for _ in range(3)], axis=1)
            octs["father"] = amr.next("<i4")
            octs["nbor"] = np.stack([amr.next("<i4") for _ in range(6)], axis=1)
            for key in ("son", "owner", "flag"):
                octs[key] = np.stack([amr.next("<i4") for _ in range(CELLS)], axis=1)
            lists[level, which] = octs
    assert amr.at == len(amr.bytes)
    return OctLists(
        number,
        ncpu,
        coarse,
        ngridmax,
        current,
        total,
        free,
        bounds,
        head,
        tail,
        own,
        lists,
    )


def assert_links_are_whole(tree: OctLists) -> None:
    """Check all that RAMSES needs to go on: lists, fathers, neighbours, sons, owners, free octs."""
    coarse = int(np.prod(tree.coarse))
    cells = coarse + CELLS * tree.ngridmax + 1
    centre = np.full((cells, 3), np.nan)
    son, owner = np.zeros(cells, int), np.zeros(cells, int)
    place = np.arange(coarse)
    nx, ny, _ = tree.coarse
    centre[1 : coarse + 1] = 0.5 + np.stack([place % nx, place // nx % ny, place // (nx * ny)], 1)
    offset = np.array([[cell & 1, cell >> 1 & 1, cell >> 2] for cell in range(CELLS)]) - 0.5
    used = np.concatenate([octs["index"] for octs in tree.lists.values()])
    assert len(set(used.tolist())) == len(used)
    assert used.min() == 1
    assert used.max() == tree.ngrid_current
    assert tree.free[0] > used.max()
    assert tree.free[2] == tree.ngridmax - tree.free[0] + 1
    for (level, which), octs in tree.lists.items():
        for cell in range(CELLS):
            at = coarse + cell * tree.ngridmax + octs["index"]
            centre[at] = octs["centre"] + offset[cell] * 0.5**level
            son[at], owner[at] = octs["son"][:, cell], octs["owner"][:, cell]
        if which <= tree.domains:
            assert tree.counts[level - 1, which - 1] == len(octs["index"])
            assert tree.heads[level - 1, which - 1] == octs["index"][0]
            assert tree.tails[level - 1, which - 1] == octs["index"][-1]
        assert (octs["next"] == [*octs["index"][1:], 0]).all()
        assert (octs["prev"] == [0, *octs["index"][:-1]]).all()
    steps = np.repeat(np.eye(3), 2, axis=0) * np.tile([-1.0, 1.0], 3)[:, None]
    for (level, which), octs in tree.lists.items():
        father = octs["father"]
        assert (father > 0).all()
        assert (np.abs(centre[father] - octs["centre"]) < 1e-12).all()
        if level > 1:
            assert (son[father] == octs["index"]).all()
            assert (owner[father] == (which if which <= tree.domains else 0)).all()
        there = octs["nbor"] > 0
        if which == tree.domain or which > tree.domains:
            assert there.all()
        for face in range(6):
            near = there[:, face]
            expected = centre[father[near]] + steps[face] * 0.5 ** (level - 1)
            apart = np.abs(centre[octs["nbor"][near, face]] - expected)
            for axis in range(3):  # periodic ones wrap around
                apart[:, axis] = np.minimum(
                    apart[:, axis], np.abs(apart[:, axis] - tree.coarse[axis])
                )
            assert (apart < 1e-12).all()


def outputs_in(folder: Path) -> list[Path]:
    """All outputs below a folder of runs."""
    return sorted(path for path in folder.glob("*/output_*") if info_path(path))


# Small ones, of every kind; and those in OCTANT_DATA/ramses, or without them the small ones.
_unpacked = tempfile.TemporaryDirectory()
with tarfile.open(Path(__file__).parent / "data/ramses_outputs.tar.xz") as _archive:
    _archive.extractall(_unpacked.name, filter="data")
SMALL = outputs_in(Path(_unpacked.name))
GIVEN = [path for root in reference_files("ramses") for path in outputs_in(root)] or SMALL

OUTPUTS = [folder for folder in GIVEN if can_go_on(folder)]
KINDS = [folder for folder in {*GIVEN, *SMALL} if can_go_on(folder)]
KINDS.sort(key=lambda folder: (folder.parent.name, folder.name))
OTHERS = [folder for folder in sorted({*GIVEN, *SMALL}) if not can_go_on(folder)]
NOTHING_MORE = "time.max_steps=0"


def plain_with_dark_matter() -> Path:
    """Find an output that tests can rewrite: gas and dark matter, no walls, and nothing else."""
    for folder in OUTPUTS:
        state = read_ramses(folder)
        columns = names_in(folder, "part_file_descriptor.txt")
        is_plain = set(state.particles) == {"dark"} and len(columns) == 11 and not state.scalars
        curve = info_path(folder).read_text().split("ordering type=")[1].split()[0] == "hilbert"
        alone = not list(folder.glob("group_*")) and state.info["H0"] == 1.0
        if is_plain and curve and alone and not any(state.walls):
            return folder
    pytest.skip("needs an output with dark matter")


def refined_and_periodic() -> Path:
    """Find the last output without walls that has several levels and nothing but gas."""
    for folder in reversed(OUTPUTS):
        state = read_ramses(folder)
        levels = set(state.level)
        if not any(state.walls) and len(levels) > 1 and not state.particles:
            return folder
    pytest.skip("needs an output of gas in a periodic box, of several levels")


UNIVERSE = """
[cosmology]
enabled = true
omega_m = {omega_m}
omega_lambda = {omega_l}
omega_b = {omega_b}
h = {h}
box = {box}
start = "a = {start}"
end = "a = {end}"
"""


def parameters(folder: Path, block_size: int) -> str:
    """Parameters that agree with an output."""
    state = read_ramses(folder)
    return parameters_of(
        read_info(folder),
        finest=int(state.level.max()),
        gamma=state.gamma,
        scalars=len(state.scalars),
        block_size=block_size,
        walls=state.walls,
    )


def parameters_of(
    info: dict[str, float],
    finest: int,
    gamma: float,
    scalars: int,
    block_size: int,
    walls: tuple[bool, ...] = (False, False, False),
) -> str:
    """Parameters that agree with the numbers of info_NNNNN.txt and of the files of gas."""
    cells, length = 2 ** int(info["levelmin"]), info["boxlen"]
    sides = [
        f'boundary_{axis} = ["reflecting", "outflow"]'
        for axis, has_walls in zip("xyz", walls, strict=True)
        if has_walls
    ]
    expands = info["H0"] != 1.0 or info["aexp"] != 1.0
    megaparsecs = info["unit_l"] / info["aexp"] / 3.0856775814913673e24
    h = info["H0"] / 100.0
    universe = UNIVERSE.format(
        **info, h=h, box=megaparsecs * h, start=info["aexp"] / 2.0, end=min(1.0, 2 * info["aexp"])
    )
    return "\n".join(
        [
            "[problem]",
            'name = "cosmology"' if expands else 'name = "sedov"',
            universe if expands else "",
            "[mesh]",
            f"base_cells = [{cells}, {cells}, {cells}]",
            f"upper = [{length}, {length}, {length}]",
            f"block_size = {block_size}",
            f"max_level = {finest - int(info['levelmin'])}",
            *sides,
            "[hydro]",
            f"gamma = {gamma!r}",
            f"scalars = {scalars}",
            f"pressure_floor = {PRESSURE_FLOOR}",
            "[refine]",
            *(
                [f"mass = {[8.0] * (finest - int(info['levelmin']))}"]
                if expands
                else ['gradient_fields = ["density", "pressure"]', "gradient = [0.1, 0.1]"]
            ),
            "" if expands else f"[time]\nend = {10 * info['time']}",
            "[gravity]\nenabled = true" if expands else "",
        ]
    )


def places(snapshot: Path, folder: Path) -> tuple[NDArray, NDArray]:
    """Levels of RAMSES, and integer places there, of a snapshot's leaf cells."""
    cells, length = leaf_cells(snapshot), read_info(folder)["boxlen"]
    level = np.rint(np.log2(length / cells.size)).astype(np.int64)
    return level, np.floor(cells.position / cells.size[:, None]).astype(np.int64)


def code_of(level: NDArray, place: NDArray) -> NDArray:
    """One number for each cell."""
    x, y, z = place.T
    return ((level << 18 | x) << 18 | y) << 18 | z


def rewrite(path: Path, change: Callable[[int, bytes], list[bytes]]) -> None:
    """Pass the records of a file, numbered from 0, through a function, which gives the new ones."""
    records = Records(path)
    written = b""
    number = 0
    while records.at < len(records.bytes):
        for record in change(number, records.next("u1").tobytes()):
            marker = struct.pack("<i", len(record))
            written += marker + record + marker
        number += 1
    path.write_bytes(written)
