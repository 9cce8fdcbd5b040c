"""Copies of outputs of cuRAMSES, changed as other builds and runs of it would write them.

A change works on a folder and returns what the folder contains then, or the words of a refusal.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray
from test_curamses_files import CLOUD, DARK, STAR, Output

from ramses_files import Records, rewrite

FIRST_SINK = 1


@dataclass
class Contents:
    """What a variant must contain.

    Attributes
    ----------
    kept
        Particles of the original that remain; None: all.
    sinks
        Whether each sink of the original remains; None: all.
    without
        Columns of particles that are left out.
    is_single
        True if particles have single precision.
    words
        Those of the message, if the variant is to be refused.
    """

    kept: NDArray | None = None
    sinks: NDArray | None = None
    without: tuple[str, ...] = ()
    is_single: bool = False
    words: tuple[str, ...] = ()


def h5(folder: Path) -> h5py.File:
    return h5py.File(next(folder.glob("*.h5")), "a")


def with_type(file: h5py.File, name: str, dtype: str) -> None:
    """Store a dataset with another type."""
    values = file[name][...].astype(dtype)
    del file[name]
    file[name] = values


# --- HDF5 -----------------------------------------------------------------------------------------


def scalars_as_attributes(folder: Path, _: Output) -> Contents:
    """Store attributes without dimensions, as other writers of HDF5 do."""
    with h5(folder) as file:
        attributes = file["header"].attrs
        for name, value in list(attributes.items()):
            if np.shape(value) == (1,):
                attributes.create(name, value[0])
    return Contents()


def chunked_and_compressed(folder: Path, _: Output) -> Contents:
    with h5(folder) as file:
        for name in ("mass", "identity", "x_1"):
            values = file["particles"][name][...]
            del file["particles"][name]
            file["particles"].create_dataset(name, data=values, chunks=(100,), compression="gzip")
    return Contents()


def narrow_identities(folder: Path, _: Output) -> Contents:
    """Store identities of four bytes, as a build without -DLONGINT."""
    with h5(folder) as file:
        with_type(file, "particles/identity", "<i4")
    return Contents()


def single_precision(folder: Path, _: Output) -> Contents:
    """Store particles in single precision, as a build with NPRE = 4."""
    with h5(folder) as file:
        for name, data in list(file["particles"].items()):
            if data.dtype == np.float64:
                with_type(file, f"particles/{name}", "<f4")
    return Contents(is_single=True)


def more_domains(folder: Path, _: Output) -> Contents:
    """Divide the output into five domains, two of them without octs and particles."""
    with h5(folder) as file:
        domains = 5
        file["header"].attrs["ncpu"] = np.array([domains], "<i4")
        counts = [(level, "ngrid_per_cpu") for level in file["amr"].values()]
        for group, name in [*counts, (file["particles"], "npart_per_cpu")]:
            total = int(group[name][...].sum())
            shares = np.array([total // 2, 0, total // 3, 0, 0])
            shares[4] = total - shares.sum()
            del group[name]
            group[name] = shares.astype("<i4")
    change_info(folder, "ncpu", "5")
    return Contents()


def more_levels(folder: Path, _: Output) -> Contents:
    """Allow four levels more, without octs there."""
    with h5(folder) as file:
        attributes = file["header"].attrs
        attributes["nlevelmax"] = np.array([10], "<i4")
        for name in ("dtold", "dtnew"):
            attributes[name] = np.concatenate([attributes[name], np.zeros(4)])
        finest = max(int(level.split("_")[1]) for level in file["amr"])
        empty = file.create_group(f"amr/level_{finest + 1}")
        empty.attrs["ngrid_total"] = np.array([0], "<i4")
        empty["ngrid_per_cpu"] = np.zeros(3, "<i4")
        for name, dtype in (
            ("xg_1", "<f8"), ("xg_2", "<f8"), ("xg_3", "<f8"), ("son_flag", "<i4"),
        ):  # fmt: skip
            empty[name] = np.zeros(0, dtype)
        gas = file.create_group(f"hydro/level_{finest + 1}")
        for n in range(1, int(attributes["nvar"][0]) + 1):
            gas[f"uold_{n}"] = np.zeros(0)
    change_info(folder, "levelmax", "10")
    return Contents()


def without_gravity(folder: Path, _: Output) -> Contents:
    with h5(folder) as file:
        del file["gravity"]
    return Contents()


def without_levels_of_particles(folder: Path, _: Output) -> Contents:
    with h5(folder) as file:
        del file["particles/levelp"]
    return Contents()


def keep(folder: Path, output: Output, kept: NDArray, sinks: NDArray) -> Contents:
    """Leave some particles and sinks only, in the data and in the numbers of the header."""
    assert output.particles
    with h5(folder) as file:
        group = file["particles"]
        counts = group["npart_per_cpu"][...]
        ends = np.cumsum(counts)
        begins = ends - counts
        for name, data in list(group.items()):
            if len(data) == len(kept):
                values = data[...][kept]
                del group[name]
                group[name] = values
        group["npart_per_cpu"][...] = [kept[a:b].sum() for a, b in zip(begins, ends, strict=True)]
        group.attrs["npart_total"] = np.array([kept.sum()])
        keep_sinks(file, sinks)
    types = np.where(output.particles["id"] < 0, CLOUD, output.particles["t"])[kept]
    numbers = [len(types), *(int((types == t).sum()) for t in (DARK, STAR)), int(sinks.sum())]
    change_header(folder, [*numbers, int((types == CLOUD).sum())])
    return Contents(kept, sinks)


def keep_sinks(file: h5py.File, sinks: NDArray) -> None:
    group = file["sinks"]
    for name, data in list(group.items()):
        values = data[...][sinks]
        del group[name]
        if len(values):
            group[name] = values
    group.attrs["nsink"] = np.array([sinks.sum()], "<i4")


def owner_of(output: Output) -> NDArray:
    """Sink of each cloud particle, 0 of other particles."""
    assert output.particles
    return np.where(output.particles["id"] < 0, -output.particles["id"], 0)


def one_sink(folder: Path, output: Output) -> Contents:
    assert output.sinks
    kept = np.isin(owner_of(output), (0, FIRST_SINK))
    return keep(folder, output, kept, output.sinks["id"] == FIRST_SINK)


def no_sinks(folder: Path, output: Output) -> Contents:
    """Leave attributes alone in the group of sinks: none has formed."""
    assert output.sinks
    kept = owner_of(output) == 0
    return keep(folder, output, kept, np.zeros(len(output.sinks["id"]), bool))


def sinks_switched_off(folder: Path, output: Output) -> Contents:
    contents = no_sinks(folder, output)
    with h5(folder) as file:
        del file["sinks"]
    return contents


def stars_alone(folder: Path, output: Output) -> Contents:
    assert output.particles
    assert output.sinks
    kept = (owner_of(output) == 0) & (output.particles["t"] == STAR)
    return keep(folder, output, kept, np.zeros(len(output.sinks["id"]), bool))


def dark_matter_alone(folder: Path, output: Output) -> Contents:
    """Leave out birth times and metallicities, as a run without stars and sinks."""
    assert output.particles
    assert output.sinks
    kept = (owner_of(output) == 0) & (output.particles["t"] == DARK)
    contents = keep(folder, output, kept, np.zeros(len(output.sinks["id"]), bool))
    with h5(folder) as file:
        del file["particles/birth_epoch"], file["particles/metallicity"], file["sinks"]
    return replace(contents, without=("birth_time", "metallicity"))


def no_particles(folder: Path, output: Output) -> Contents:
    assert output.particles
    assert output.sinks
    kept = np.zeros(len(output.particles["id"]), bool)
    contents = keep(folder, output, kept, np.zeros(len(output.sinks["id"]), bool))
    with h5(folder) as file:
        del file["particles"], file["sinks"]
    return contents


def without_types(folder: Path, _: Output) -> Contents:
    """Let birth times tell stars from dark matter, as in older layouts."""
    with h5(folder) as file:
        del file["particles/ptypep"]
    return Contents()


def another_order_of_variables(folder: Path, _: Output) -> Contents:
    path = folder / "hydro_file_descriptor.txt"
    text = path.read_text()
    path.write_text(text.replace("2: velocity_x", "2: velocity_y").replace(
        "3: velocity_y", "3: velocity_x"))  # fmt: skip
    return Contents(words=("velocity_y, velocity_x", "velocity_x, velocity_y"))


def an_unknown_column(folder: Path, _: Output) -> Contents:
    with h5(folder) as file:
        del file["particles/mass"]
    return Contents(words=("/particles", "mass"))


def one_level_lost(folder: Path, _: Output) -> Contents:
    """Lose the finest level, although cells of the level above have children."""
    with h5(folder) as file:
        finest = max(file["amr"], key=lambda name: int(name.split("_")[1]))
        for group in ("amr", "hydro", "gravity"):
            del file[group][finest]
    return Contents(words=("0 octs of level 6",))


# --- binary ---------------------------------------------------------------------------------------


NPART, NSTAR, NSINK, POSITION, MASS = 2, 4, 7, 8, 14  # numbers of records
IDENTITY, LEVELS, TYPES, PHI = 15, 16, 17, 18
BIRTH, METAL = 19, 20


def parts_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("part_*"))


def records_of(path: Path) -> list[bytes]:
    file = Records(path)
    records = []
    while file.at < len(file.bytes):
        records.append(file.next("u1").tobytes())
    return records


def rewrite_parts(folder: Path, change: Callable[[int, bytes], list[bytes]]) -> None:
    for path in parts_of(folder):
        rewrite(path, change)


def without_potential(folder: Path, _: Output) -> Contents:
    """Leave out the potential, as a build without -DOUTPUT_PARTICLE_POTENTIAL."""
    rewrite_parts(folder, lambda n, record: [] if n == PHI else [record])
    path = folder / "header_00002.txt"
    path.write_text(path.read_text().replace(" phi", ""))
    return Contents()


def narrow_integers(folder: Path, _: Output) -> Contents:
    """Store identities and counters of four bytes, as a build without -DLONGINT."""

    def narrowed(n: int, record: bytes) -> list[bytes]:
        is_wide = n in (NSTAR, IDENTITY)
        return [np.frombuffer(record, "<i8").astype("<i4").tobytes() if is_wide else record]

    rewrite_parts(folder, narrowed)
    total = 20  # numbtot, the minima, maxima and averages of the octs of levels

    def narrowed_octs(n: int, record: bytes) -> list[bytes]:
        return [np.frombuffer(record, "<i8").astype("<i4").tobytes() if n == total else record]

    for path in folder.glob("amr_*"):
        rewrite(path, narrowed_octs)
    return Contents()


def keys_of_eight_bytes(folder: Path, _: Output) -> Contents:
    """Store keys of domains of eight bytes, as a build without -DQUADHILBERT."""

    def narrowed(n: int, record: bytes) -> list[bytes]:
        if n == keys:
            return [record[: len(record) // 2]]  # their values are not read
        return [record]

    for path in folder.glob("amr_*"):
        keys = record_after_ordering(path)
        rewrite(path, narrowed)
    return Contents()


def record_after_ordering(path: Path) -> int:
    return next(n for n, record in enumerate(records_of(path)) if record.strip() == b"hilbert") + 1


def particles_of_single_precision(folder: Path, _: Output) -> Contents:
    reals = {*range(POSITION, MASS + 1), *range(PHI, 30)} - {IDENTITY, LEVELS, TYPES}

    def narrowed(n: int, record: bytes) -> list[bytes]:
        return [np.frombuffer(record, "<f8").astype("<f4").tobytes() if n in reals else record]

    rewrite_parts(folder, narrowed)
    return Contents(is_single=True)


def masses_before_positions(folder: Path, _: Output) -> Contents:
    """Change the order of the columns, in files and header alike."""
    for path in parts_of(folder):
        mass = records_of(path)[MASS]

        def reordered(n: int, record: bytes, mass: bytes = mass) -> list[bytes]:
            return [mass, record] if n == POSITION else [] if n == MASS else [record]

        rewrite(path, reordered)
    path = folder / "header_00002.txt"
    path.write_text(path.read_text().replace("pos vel mass", "mass pos vel"))
    return Contents()


def sinks_in_text_alone(folder: Path, _: Output) -> Contents:
    """Lose sink_NNNNN.out: sinks have the eleven digits of the table."""
    (folder / "sink_00002.out").unlink()
    return Contents()


def no_metals(folder: Path, _: Output) -> Contents:
    """List the column of metals in the header, but not write it, as a run without metals."""
    rewrite_parts(folder, lambda n, record: [] if n == METAL else [record])
    return Contents(without=("metallicity",))


def without_gravity_files(folder: Path, _: Output) -> Contents:
    for path in folder.glob("grav_*"):
        path.unlink()
    return Contents()


def a_domain_is_missing(folder: Path, _: Output) -> Contents:
    parts_of(folder)[-1].unlink()
    return Contents(words=("part_00002.out00002",))


def keep_in_files(folder: Path, output: Output, stays: Callable[..., NDArray]) -> Contents:
    """Leave the particles for whose identities and types `stays` is true."""
    assert output.particles
    for path in parts_of(folder):
        of_file = records_of(path)
        count = int(np.frombuffer(of_file[NPART], "<i4")[0])
        kept = stays(np.frombuffer(of_file[IDENTITY], "<i8"), np.frombuffer(of_file[TYPES], "i1"))

        def shortened(n: int, record: bytes, count: int = count, kept: NDArray = kept) -> list:
            if n == NPART:
                return [np.array([kept.sum()], "<i4").tobytes()]
            rows = np.frombuffer(record, "u1").reshape(count, -1) if n >= POSITION else None
            return [record if rows is None else rows[kept].tobytes()]

        rewrite(path, shortened)
    particles = output.particles
    kept = stays(particles["id"], particles["t"])
    types = np.where(particles["id"] < 0, CLOUD, particles["t"])[kept]
    numbers = [len(types), *(int((types == t).sum()) for t in (DARK, STAR))]
    sinks = output.sinks["id"] if output.sinks else np.zeros(0, int)
    there = np.isin(sinks, -particles["id"][kept])
    change_header(folder, [*numbers, int(there.sum()), int((types == CLOUD).sum())])
    return Contents(kept, there)


def one_sink_in_files(folder: Path, output: Output) -> Contents:
    """Leave one sink in all files: its line in the table is the only one."""
    path = folder / "sink_00002.csv"
    path.write_text(path.read_text().splitlines()[FIRST_SINK - 1] + "\n")

    def first(n: int, record: bytes) -> list[bytes]:
        if n == 0:
            return [np.array([1], "<i4").tobytes()]
        return [record if n == 1 else record[: len(record) // 3]]

    rewrite(folder / "sink_00002.out", first)

    def only_one(n: int, record: bytes) -> list[bytes]:
        return [np.array([1], "<i4").tobytes() if n == NSINK else record]

    rewrite_parts(folder, only_one)
    return keep_in_files(folder, output, lambda ids, _: (ids > 0) | (ids == -FIRST_SINK))


def dark_matter_alone_in_files(folder: Path, output: Output) -> Contents:
    """Leave the columns that a run without stars and sinks writes."""
    contents = keep_in_files(folder, output, lambda ids, types: (ids > 0) & (types == DARK))
    rewrite_parts(folder, lambda n, record: [] if n > PHI else [record])
    path = folder / "header_00002.txt"
    path.write_text(path.read_text().replace(" tform metal propertime initialmass", ""))
    for path in folder.glob("sink_*"):
        path.unlink()
    return replace(contents, without=("birth_time", "metallicity"))


# --- texts ----------------------------------------------------------------------------------------


def change_info(folder: Path, name: str, value: str) -> None:
    path = folder / "info_00002.txt"
    path.write_text(re.sub(rf"^({name}\s*=).*$", rf"\1 {value}", path.read_text(), flags=re.M))


def change_header(folder: Path, numbers: list[int]) -> None:
    """Replace the total numbers: of all particles, dark matter, stars, sinks and clouds."""
    path = folder / "header_00002.txt"
    lines = path.read_text().splitlines()
    given = iter(numbers)
    for n, line in enumerate(lines):
        if line.strip().isdigit():
            lines[n] = f" {next(given)}"
    path.write_text("\n".join(lines) + "\n")
