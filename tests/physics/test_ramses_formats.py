"""All that a run can go on from: both formats of RAMSES's family, universes, stars and sinks."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from inputs import CLUMPY_BOX
from ramses_files import (
    FIELDS,
    NOTHING_MORE,
    OTHERS,
    code_of,
    parameters,
    places,
    plain_with_dark_matter,
    read_info,
    read_particles,
    read_ramses,
    rewrite,
    variables_of,
)
from ramses_hdf5 import write_hdf5
from refusals import assert_refused
from running import bits, leaf_cells, run, run_well

BOTH_FORMATS = ('output.formats=["octant", "ramses"]',)
QUICKLY = (NOTHING_MORE, "telemetry.enabled=false", "output.final_checkpoint=false")
SINKS = """ # id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform
 # 1,m,l,l,l,l t**-1,l t**-1,l t**-1,m l**2 t**-1,m l**2 t**-1,m l**2 t**-1,t
         7, 2.5E-03, 2.5E-01, 5.0E-01, 7.5E-01, 1.0E-01,-2.0E-01, 0.0E+00, 0.0, 0.0, 0.0, 1.0E-02
         9, 1.5E-03, 1.5E-01, 5.5E-01, 7.0E-01, 0.0E+00, 0.0E+00, 3.0E-01, 0.0, 0.0, 0.0, 2.0E-02
"""


DOMAINS = (1, 2, 3)  # of files
KINDS_OF_FILES = ("binary", "hdf5")
ORDERS = ("hilbert", "ksection")
Table = dict[tuple[str, str, int], Path]


def say_ksection(folder: Path) -> None:
    """Give binary files the ordering of cuRAMSES, with its ten records of walls."""

    def ksection(number: int, record: bytes) -> list[bytes]:
        if number == 24:
            return [b"ksection".ljust(128)]
        return [b"\0" * 8] * 10 if number == 25 else [record]

    for path in sorted(folder.glob("amr_*.out*")):
        rewrite(path, ksection)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Make one state in both formats, by Hilbert order and by k-section, in 1, 2, 3 domains.

    That of two domains is RAMSES's own; it was also rewritten in one and in three.
    """
    source, place = plain_with_dark_matter(), tmp_path_factory.mktemp("table")
    own = int(read_info(source)["ncpu"])
    folders = {}
    for domains in DOMAINS:
        of_ramses = source
        if domains != own:
            written = run_well(
                place / f"in_{domains}",
                parameters(source, 4),
                *QUICKLY,
                *BOTH_FORMATS,
                f"ramses.domains={domains}",
                restart=source,
            )
            [of_ramses] = written.directory.glob("output_*")
        for kind in KINDS_OF_FILES:
            for order in ORDERS:
                folder = place / kind / order / str(domains) / of_ramses.name
                folders[kind, order, domains] = folder
                if kind == "hdf5":
                    write_hdf5(of_ramses, folder, order)
                    continue
                shutil.copytree(of_ramses, folder)
                if order == "ksection":
                    say_ksection(folder)
    return folders


@pytest.fixture(scope="module")
def reference(table: Table, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple, Path]:
    """Read both formats on two ranks: the snapshots of what was read."""
    text, place = parameters(plain_with_dark_matter(), 4), tmp_path_factory.mktemp("reference")
    return {
        (kind, domains): run_well(
            place / f"{kind}_{domains}",
            text,
            *QUICKLY,
            restart=table[kind, "hilbert", domains],
            ranks=2,
        ).last_snapshot
        for kind in KINDS_OF_FILES
        for domains in DOMAINS
    }


def test_the_number_of_domains_does_not_matter(reference: dict[tuple, Path]) -> None:
    """One and three domains, which were written from one state, hold the same bits.

    RAMSES's own two domains hold the same tree, particles and densities.
    """
    for kind in KINDS_OF_FILES:
        one, two, three = (bits(reference[kind, domains]) for domains in DOMAINS)
        assert one == three
        kept = [key for key in one if key.endswith("/density") or not key.startswith("hydro")]
        kept = [key for key in kept if key.startswith(("hydro", "mesh", "particles"))]
        assert len(kept) > 10
        assert [key for key in kept if one[key] != two[key]] == []


# Ranks that read, and domains in the file: all of both, fewer, as many and more than the others.
READERS = ((1, 1), (1, 3), (3, 2), (3, 3), (5, 1), (5, 3))


@pytest.mark.parametrize("run_order", ORDERS)
@pytest.mark.parametrize("file_order", ORDERS)
@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_all_rows_of_the_paper_s_table_2(
    table: Table,
    reference: dict[tuple, Path],
    kind: str,
    file_order: str,
    run_order: str,
    tmp_path: Path,
) -> None:
    """Files of either format and order, runs of either decomposition, any number of ranks."""
    text = parameters(plain_with_dark_matter(), 4)
    decomposition = f'balance.decomposition="{run_order}"'
    for ranks, domains in READERS:
        outcome = run_well(
            tmp_path / f"on_{ranks}_from_{domains}",
            text,
            *QUICKLY,
            decomposition,
            "io.chunk_files=1",
            restart=table[kind, file_order, domains],
            ranks=ranks,
        )
        assert bits(outcome.last_snapshot) == bits(reference[kind, domains])


def test_hdf5_has_the_same_state_to_the_bit(table: Table, tmp_path: Path) -> None:
    """Conserved variables are stored as they are; all else is that of the binary files."""
    text = parameters(plain_with_dark_matter(), 2)
    folder = table["hdf5", "ksection", 2]
    hdf5 = run_well(tmp_path / "hdf5", text, NOTHING_MORE, restart=folder, ranks=3)
    binary = run_well(
        tmp_path / "binary", text, NOTHING_MORE, restart=table["binary", "hilbert", 2]
    )
    one, other = bits(hdf5.last_snapshot), bits(binary.last_snapshot)
    assert one.keys() == other.keys()
    exact = [key for key in one if key.endswith("/density") or not key.startswith("hydro")]
    assert exact
    assert [key for key in exact if one[key] != other[key]] == []
    cells = leaf_cells(hdf5.last_snapshot)
    level, place = places(hdf5.last_snapshot, plain_with_dark_matter())
    own = {code: n for n, code in enumerate(code_of(level, place).tolist())}
    gamma = read_ramses(plain_with_dark_matter()).gamma
    compared = 0
    with h5py.File(next(folder.glob("data_*.h5"))) as file:
        for group, amr in file["amr"].items():
            number = int(group.split("_")[1])
            centre = np.stack([amr[f"xg_{axis}"][...] for axis in (1, 2, 3)], axis=1)
            octs = np.floor(centre * 2 ** (number - 1)).astype(np.int64)
            for cell in range(8):
                offset = np.array([cell & 1, cell >> 1 & 1, cell >> 2])
                codes = code_of(np.full(len(octs), number), 2 * octs + offset).tolist()
                found = np.array([own.get(code, -1) for code in codes])
                leaf = found >= 0
                compared += leaf.sum()
                stored = [file[f"hydro/{group}/uold_{n}"][...][cell::8][leaf] for n in range(1, 6)]
                density, *momentum, energy = stored
                velocity = [component * (1.0 / density) for component in momentum]
                twice = [u * v for u, v in zip(momentum, velocity, strict=True)]
                pressure = (gamma - 1.0) * (energy - 0.5 * (twice[0] + twice[1] + twice[2]))
                for name, values in zip(FIELDS, (density, *velocity, pressure), strict=True):
                    assert (cells[name][found[leaf]] == values).all(), name
    assert compared > 0.9 * len(own)


def cut_hdf5(path: Path) -> tuple[str, ...]:
    path.write_bytes(path.read_bytes()[:-1000])
    return (path.name,)


def write_over_hdf5(path: Path) -> tuple[str, ...]:
    content = bytearray(path.read_bytes())
    content[:64] = bytes(range(64))
    path.write_bytes(bytes(content))
    return (path.name,)


def finest_of(file: h5py.File) -> str:
    return max(file["amr"], key=lambda name: int(name.split("_")[1]))


def put_nan(path: Path) -> tuple[str, ...]:
    with h5py.File(path, "a") as file:
        name = f"/hydro/{finest_of(file)}/uold_1"
        file[name][-1] = np.nan
    return path.name, name, "nan"


def lose_a_dataset(path: Path) -> tuple[str, ...]:
    with h5py.File(path, "a") as file:
        name = f"/hydro/{finest_of(file)}/uold_3"
        del file[name]
    return path.name, name


def lose_a_domain(path: Path) -> tuple[str, ...]:
    """Its octs are still there, but nobody's."""
    with h5py.File(path, "a") as file:
        name = f"/amr/{finest_of(file)}"
        file[f"{name}/ngrid_per_cpu"][-1] = 0
    return path.name, f"{name}/xg_1", "rows"


def take_other_gas(path: Path) -> tuple[str, ...]:
    """As if a variable came from another run, which had more octs on this level."""
    with h5py.File(path, "a") as file:
        name = f"/hydro/{finest_of(file)}/uold_5"
        values = file[name][...]
        del file[name]
        file[name] = np.concatenate([values, values])
    return path.name, name, "rows"


def take_other_particles(path: Path) -> tuple[str, ...]:
    with h5py.File(path, "a") as file:
        values = file["particles/mass"][...]
        del file["particles/mass"]
        file["particles/mass"] = values[:-10]
    return path.name, "/particles/mass", "rows"


def lose_particles_of_a_domain(path: Path) -> tuple[str, ...]:
    with h5py.File(path, "a") as file:
        file["particles/npart_per_cpu"][-1] = 0
    return path.name, "/particles/x_1", "rows"


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "spoil",
    [
        cut_hdf5,
        write_over_hdf5,
        put_nan,
        lose_a_dataset,
        lose_a_domain,
        take_other_gas,
        take_other_particles,
        lose_particles_of_a_domain,
    ],
)
def test_spoiled_hdf5_is_refused(table: Table, spoil, ranks: int, tmp_path: Path) -> None:
    """In one message, which names file and dataset; nothing is written."""
    folder = tmp_path / table["hdf5", "hilbert", 2].name
    shutil.copytree(table["hdf5", "hilbert", 2], folder)
    words = spoil(next(folder.glob("data_*.h5")))
    text = parameters(plain_with_dark_matter(), 4)
    outcome = run(tmp_path / "run", text, *QUICKLY, restart=folder, ranks=ranks)
    assert_refused(outcome, *words)
    assert not list(outcome.directory.rglob("*.h5"))


def test_hdf5_of_other_byte_orders_is_read(
    table: Table, reference: dict[tuple, Path], tmp_path: Path
) -> None:
    """Datasets say which they have: there is nothing to refuse."""
    folder = tmp_path / table["hdf5", "hilbert", 2].name
    shutil.copytree(table["hdf5", "hilbert", 2], folder)
    with h5py.File(next(folder.glob("data_*.h5")), "a") as file:
        names: list[str] = []
        file.visititems(lambda n, item: names.append(n) if isinstance(item, h5py.Dataset) else None)
        for name in names:
            values = file[name][...]
            del file[name]
            file[name] = values.astype(values.dtype.newbyteorder(">"))
    text = parameters(plain_with_dark_matter(), 4)
    outcome = run_well(tmp_path / "run", text, *QUICKLY, restart=folder, ranks=3)
    assert bits(outcome.last_snapshot) == bits(reference["hdf5", 2])


def test_stars_and_sinks_come_along(tmp_path: Path) -> None:
    """From the text beside binary files, and from HDF5."""
    source = plain_with_dark_matter()
    binary, hdf5 = tmp_path / "binary" / source.name, tmp_path / "hdf5" / source.name
    number = source.name.split("_")[1]
    shutil.copytree(source, binary)
    (binary / f"sink_{number}.csv").write_text(SINKS)
    write_hdf5(source, hdf5, birth=0.01)
    with h5py.File(hdf5 / f"data_{number}.h5", "a") as file:
        sinks = file.create_group("sinks")
        sinks["idsink"] = np.array([7, 9], "<i4")
        sinks["msink"], sinks["tsink"] = [2.5e-3, 1.5e-3], [0.01, 0.02]
        for axis, values in enumerate(([0.25, 0.15], [0.5, 0.55], [0.75, 0.7]), start=1):
            sinks[f"xsink_{axis}"] = values
        for axis, values in enumerate(([0.1, 0.0], [-0.2, 0.0], [0.0, 0.3]), start=1):
            sinks[f"vsink_{axis}"] = values
    found = {}
    for name, folder in (("binary", binary), ("hdf5", hdf5)):
        text = parameters(source, 4)
        outcome = run_well(tmp_path / f"state_{name}", text, NOTHING_MORE, restart=folder, ranks=2)
        with h5py.File(outcome.last_snapshot) as file:
            found[name] = {
                kind: {column: data[...] for column, data in group.items()}
                for kind, group in file["particles"].items()
            }
    done = int(read_info(source)["nstep_coarse"])
    for steps, begin in ((1, hdf5), (2, "latest")):
        more = run_well(
            tmp_path / "run", text, f"time.max_steps={done + steps}", restart=begin, ranks=steps
        )
        with h5py.File(more.last_snapshot) as file:
            assert len(file["particles/sinks/id"]) == 2
    written = run_well(
        tmp_path / "written", text, NOTHING_MORE, *BOTH_FORMATS, restart=hdf5, ranks=2
    )
    [again] = written.directory.glob("output_*")
    back = run_well(tmp_path / "back", text, NOTHING_MORE, restart=again, ranks=3)
    with h5py.File(written.last_snapshot) as one, h5py.File(back.last_snapshot) as other:
        for column in ("id", "mass", "position", "velocity", "birth_time"):
            values = (file[f"particles/sinks/{column}"][...] for file in (other, one))
            np.testing.assert_allclose(*values, rtol=1e-14)
    widths = [
        len(word) for word in (again / "sink_00000.csv").read_text().splitlines()[2].split(",")
    ]
    assert widths == [10, *[21] * 21, 10]
    first, second = found["binary"]["sinks"], found["hdf5"]["sinks"]
    assert (first["position"] == [[0.25, 0.5, 0.75], [0.15, 0.55, 0.7]]).all()
    assert (first["mass"] == [2.5e-3, 1.5e-3]).all()
    for column in first:
        assert (first[column] == second[column]).all(), column
    all_of_them = read_ramses(source).particles["dark"]
    stars, dark = found["hdf5"]["stars"], found["hdf5"]["dark"]
    assert (stars["birth_time"] == 0.01).all()
    assert (stars["position"] == all_of_them["position"][::4]).all()
    assert len(stars["id"]) + len(dark["id"]) == len(all_of_them["id"])


def test_dark_matter_alone_is_read(tmp_path: Path) -> None:
    """Where there are no files of gas: and a run with gas refuses it."""
    source = plain_with_dark_matter()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    for path in folder.glob("hydro_*"):
        path.unlink()
    text = parameters(source, 4)
    refused = run(tmp_path / "gas", text, NOTHING_MORE, restart=folder, ranks=2)
    assert_refused(refused, "hydro.enabled", "no gas")
    alone = ("hydro.enabled=false", "gravity.enabled=true", "hydro.scalars=0")
    text = text.replace("gradient_fields", "# ").replace("gradient =", "# ")
    one = run_well(tmp_path / "one", text, *alone, NOTHING_MORE, restart=folder)
    other = run_well(tmp_path / "other", text, *alone, NOTHING_MORE, restart=folder, ranks=3)
    assert bits(one.last_snapshot) == bits(other.last_snapshot)
    with h5py.File(one.last_snapshot) as file:
        found, expected = file["particles/dark"], read_ramses(source).particles["dark"]
        assert (found["position"][...] == expected["position"]).all()
        assert "hydro" not in file


GASLESS = [folder for folder in OTHERS if not variables_of(folder)]


@pytest.mark.parametrize("source", GASLESS, ids=lambda folder: folder.parent.name)
def test_outputs_without_gas_are_read(source: Path, tmp_path: Path) -> None:
    """As RAMSES itself writes them, on any number of ranks."""
    info = read_info(source)
    cells, length = int(2 ** info["levelmin"]), info["boxlen"]
    text = f"""
[problem]
name = "sedov"
[mesh]
base_cells = [{cells}, {cells}, {cells}]
upper = [{length}, {length}, {length}]
block_size = 2
max_level = {int(info["levelmax"] - info["levelmin"])}
[hydro]
enabled = false
[gravity]
enabled = true
"""
    expected = read_particles(source, int(info["ncpu"]))["dark"]
    for ranks in (1, 3):
        outcome = run_well(
            tmp_path / f"on_{ranks}", text, NOTHING_MORE, restart=source, ranks=ranks
        )
        with h5py.File(outcome.last_snapshot) as file:
            found = file["particles/dark"]
            assert (found["id"][...] == expected["id"].astype(np.uint64)).all()
            for name in ("position", "velocity", "mass"):
                assert (found[name][...] == expected[name]).all(), name


@pytest.fixture(scope="module")
def universe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let a small universe be written as RAMSES has it, in three domains."""
    outcome = run_well(
        tmp_path_factory.mktemp("universe") / "run",
        CLUMPY_BOX,
        'output.formats=["octant", "ramses"]',
        "time.max_steps=8",
        "ramses.domains=3",
        ranks=2,
    )
    return sorted(outcome.directory.glob("output_*"))[-1]


def test_universes_go_on(universe: Path, tmp_path: Path) -> None:
    """With time and scale factor, in both formats; RAMSES's times are not as exact as aexp."""
    hdf5 = tmp_path / "hdf5" / universe.name
    write_hdf5(universe, hdf5)
    with h5py.File(next(hdf5.glob("data_*.h5")), "a") as file:
        file["header"].attrs["time"] *= 1.0 + 1e-7
    info = read_info(universe)
    for name, folder in (("binary", universe), ("hdf5", hdf5)):
        outcome = run_well(
            tmp_path / name / "run", CLUMPY_BOX, "time.max_steps=9", restart=folder, ranks=3
        )
        rows = outcome.history()
        assert rows["step"][0] == 8
        assert abs(rows["time"][0] / info["time"] - 1.0) < 1e-10
        assert abs(rows["a"][0] / info["aexp"] - 1.0) < 1e-10
        assert np.abs(rows["mass"] / rows["mass"][0] - 1.0).max() < 1e-12


@pytest.mark.parametrize(
    ("override", "word"),
    [
        ("cosmology.omega_m=0.2", "omega_m"),
        ("cosmology.box=7.0", "cosmology.box"),
        ("cosmology.h=0.7", "cosmology.h"),
    ],
)
def test_other_universes_are_refused(
    universe: Path, override: str, word: str, tmp_path: Path
) -> None:
    outcome = run(tmp_path / "run", CLUMPY_BOX, NOTHING_MORE, override, restart=universe)
    assert outcome.code == 2, outcome.text
    assert word in outcome.text
    assert not outcome.snapshots
