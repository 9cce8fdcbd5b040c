"""Outputs that cuRAMSES wrote, binary and HDF5, against an independent reader and its summaries."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from ramses_files import NOTHING_MORE, code_of, parameters_of, places, read_info, rewrite
from reference_data import reference_files, reference_path
from refusals import assert_refused
from running import leaf_cells, run, run_well

QUICKLY = ("telemetry.enabled=false", "output.final_checkpoint=false")
CASES = [path.parent for path in reference_files("curamses/*/check.json")]
FIRST_STAR = 1 << 62  # IDs of kinds begin at multiples of this number
DARK, STAR, CLOUD = 0, 1, 2


@cache
def reader() -> ModuleType:
    """Load the independent reader, which lies beside the data."""
    spec = importlib.util.spec_from_file_location(
        "rdcuramses", reference_path("curamses/rdcuramses.py")
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Output:
    """What a case contains, as the independent reader finds it.

    Attributes
    ----------
    codes, density, pressure, scalars
        Of the leaf cells, sorted by code: level and place, and values.
    particles, sinks
        Columns by name; None where there are none.
    """

    folder: Path
    summary: dict
    codes: NDArray
    density: NDArray
    pressure: NDArray
    scalars: NDArray
    particles: dict | None
    sinks: dict | None

    @property
    def parameters(self) -> str:
        """Parameters that agree with the output."""
        return parameters_of(
            read_info(self.folder),
            finest=max(int(level) for level in self.summary["leaf_cells_by_level"]),
            gamma=self.summary["gamma"],
            scalars=self.summary["nvar"] - 5,
            block_size=2,
        )


@cache
def read_case(case: Path) -> Output:
    """Read a case by the independent reader."""
    [folder] = case.glob("output_*")
    return read_output(folder, json.loads((case / "check.json").read_text()))


def read_output(folder: Path, summary: dict) -> Output:
    """Read an output by the independent reader."""
    read = reader()
    number, info = read.info(str(folder))
    of_format = read.read_hdf5 if list(folder.glob("*.h5")) else read.read_binary
    _, cells, density, _, _, pressure, scalars, _, particles, sinks = of_format(
        str(folder), number, info
    )
    leaf = cells[4] == 0
    level = cells[0][leaf].astype(np.int64)
    place = np.floor(cells[1:4, leaf] / float(info["boxlen"]) * 2.0**level).astype(np.int64).T
    codes = code_of(level, place)
    order = np.argsort(codes)
    return Output(
        folder,
        summary,
        codes[order],
        density[leaf][order],
        pressure[leaf][order],
        scalars[:, leaf][:, order],
        particles,
        sinks,
    )


# Every case on three ranks; those with particles of all kinds also on fewer and more ranks than
# domains.
READINGS = [(case, 3) for case in CASES] + [
    (case, ranks) for case in CASES if case.name.startswith("sinks") for ranks in (1, 5)
]


def case_named(name: str) -> Output:
    return read_case(reference_path(f"curamses/{name}"))


def assert_gas(snapshot: Path, output: Output) -> None:
    """Compare the leaf cells: their places and densities to the bit, the other values closely."""
    cells = leaf_cells(snapshot)
    level, place = places(snapshot, output.folder)
    codes = code_of(level, place)
    order = np.argsort(codes)
    found = {str(n): int((level == n).sum()) for n in np.unique(level)}
    assert found == output.summary["leaf_cells_by_level"]
    assert (codes[order] == output.codes).all()
    assert (cells["density"][order] == output.density).all()
    # The pressure is computed from the stored total energy and inherits its rounding error.
    speed2 = sum(cells[f"velocity_{axis}"][order] ** 2 for axis in "xyz")
    error = np.abs(cells["pressure"][order] - output.pressure)
    assert (error <= 1e-14 * (output.pressure + output.density * speed2)).all()
    mass = (cells["density"] * cells.volume).sum()
    np.testing.assert_allclose(mass, output.summary["mass"], rtol=1e-12)
    for n, density in enumerate(output.scalars):
        scalar = cells["density"] * cells[f"scalar_{n}"]
        np.testing.assert_allclose(scalar[order], density, rtol=1e-12)
        np.testing.assert_allclose(
            (scalar * cells.volume).sum(), output.summary["scalar_masses"][n], rtol=1e-12
        )


def columns_of(snapshot: Path, kind: str) -> dict[str, NDArray]:
    """Columns of the particles of a kind in the order of their ids, which count from 0 or more."""
    with h5py.File(snapshot) as file:
        group = file.get(f"particles/{kind}", {})
        columns = {name: data[...] for name, data in group.items()}
    if columns:
        columns["id"] = (columns["id"] % np.uint64(FIRST_STAR)).astype(np.int64)
        order = np.argsort(columns["id"])
        columns = {name: values[order] for name, values in columns.items()}
    return columns


def assert_columns(found: dict, ids: NDArray, expected: dict[str, NDArray]) -> None:
    """Compare columns of particles to the bit."""
    order = np.argsort(ids)
    assert (found["id"] == ids[order]).all()
    for name, values in expected.items():
        assert (found[name] == values[order]).all(), name


def assert_particles(snapshot: Path, output: Output) -> None:
    """Compare dark matter and stars, column by column, and their numbers with the summary."""
    particles = output.particles
    for kind, summary, type_ in (("dark", "dark", DARK), ("stars", "star", STAR)):
        expected = output.summary.get("particles", {}).get(summary)
        found = columns_of(snapshot, kind)
        if expected is None or particles is None:
            assert not found
            continue
        own = (particles["id"] >= 0) & (particles["t"] == type_)
        assert own.sum() == expected["count"] == len(found["id"])
        assert int(found["id"].sum()) == expected["id_sum"]
        np.testing.assert_allclose(found["mass"].sum(), expected["mass"], rtol=1e-12)
        columns = {
            "position": particles["x"][:, own].T,
            "velocity": particles["v"][:, own].T,
            "mass": particles["m"][own],
        }
        if kind == "stars":
            columns["birth_time"] = particles["birth"][own]
            columns["metallicity"] = particles["metal"][own]
            columns["initial_mass"] = particles.get("initial_mass", particles["m"])[own]
        assert_columns(found, particles["id"][own], columns)


def assert_sinks(snapshot: Path, output: Output) -> None:
    found = columns_of(snapshot, "sinks")
    if not output.sinks:
        assert not found
        assert "sinks" not in output.summary
        return
    sinks = output.sinks
    assert len(found["id"]) == len(output.summary["sinks"])
    columns = {
        "position": sinks["x"].T,
        "velocity": sinks["v"].T,
        "mass": sinks["m"],
        "birth_time": sinks["t"],
    }
    assert_columns(found, sinks["id"], columns)


def name_of(parameter: Path | int | None) -> str:
    return parameter.name if isinstance(parameter, Path) else str(parameter)


@pytest.mark.parametrize(("case", "ranks"), READINGS or [(None, 1)], ids=name_of)
def test_outputs_are_read(case: Path | None, ranks: int, tmp_path: Path) -> None:
    """Leaf cells, particles by kind, and sinks."""
    output = read_case(case or reference_path("curamses"))
    outcome = run_well(
        tmp_path / "run",
        output.parameters,
        NOTHING_MORE,
        *QUICKLY,
        restart=output.folder,
        ranks=ranks,
    )
    assert_gas(outcome.last_snapshot, output)
    assert_particles(outcome.last_snapshot, output)
    assert_sinks(outcome.last_snapshot, output)
    rows = outcome.history()
    assert rows["step"][0] == output.summary["nstep"][1]
    np.testing.assert_allclose(rows["time"][0], output.summary["time"], rtol=1e-5)


@pytest.mark.parametrize("name", ["sinks_binary_hilbert_np2", "sinks_hdf5_ksection_np3"])
def test_sinks_accrete(name: str, tmp_path: Path) -> None:
    """A run that goes on: its sinks gain mass, and gas and sinks together keep theirs."""
    output = case_named(name)
    info = read_info(output.folder)
    units = {"length": info["unit_l"], "density": info["unit_d"], "time": info["unit_t"]}
    overrides = [f"units.{name}={value!r}" for name, value in units.items()]
    outcome = run_well(
        tmp_path / "run",
        output.parameters,
        *QUICKLY,
        *overrides,
        "gravity.enabled=true",
        "black_holes.enabled=true",
        "black_holes.seed_mass=0",
        "black_holes.merge_length=0",
        f"time.max_steps={output.summary['nstep'][1] + 2}",
        restart=output.folder,
        ranks=2,
    )
    assert output.sinks
    sinks = columns_of(outcome.last_snapshot, "sinks")
    assert (sinks["mass"] > output.sinks["m"][np.argsort(output.sinks["id"])]).all()
    assert (sinks["swallowed"] > 0.0).all()


# Changes to a copy of an output that must be refused. Each function makes one and returns the words
# that the error message must contain.
def take_excited_dark_matter(folder: Path) -> tuple[str, ...]:
    with h5py.File(next(folder.glob("*.h5")), "a") as file:
        types = file["particles/ptypep"]
        types[np.flatnonzero(types[...] == DARK)[-1]] = 10
    return "data_00002.h5", "type 10", "ptypep"


def take_a_type_of_another_code(folder: Path) -> tuple[str, ...]:
    path = sorted(folder.glob("part_*"))[-1]

    def with_other_type(number: int, record: bytes) -> list[bytes]:
        return [bytes([20]) + record[1:] if number == TYPES else record]

    rewrite(path, with_other_type)
    return path.name, "type 20", "ptypep"


TYPES = 17  # number of their record, from 0


def lose_types(folder: Path) -> tuple[str, ...]:
    """One column fewer: what remains does not agree with the header."""
    path = sorted(folder.glob("part_*"))[-1]
    rewrite(path, lambda n, record: [] if n in (TYPES, TYPES + 1, TYPES + 2) else [record])
    return path.name, "columns follow", "header_00002.txt"


def lose_units(folder: Path) -> tuple[str, ...]:
    (folder / "info_00002.txt").unlink()
    return "info_00002.txt", "is missing"


def lose_the_header(folder: Path) -> tuple[str, ...]:
    (folder / "header_00002.txt").unlink()
    return "header_00002.txt", "is missing"


def lose_names_of_variables(folder: Path) -> tuple[str, ...]:
    (folder / "hydro_file_descriptor.txt").unlink()
    return "hydro_file_descriptor.txt is missing", "6 variables"


def name_fewer_variables(folder: Path) -> tuple[str, ...]:
    path = folder / "hydro_file_descriptor.txt"
    path.write_text(path.read_text().replace("variable # 6: passive_scalar_1\n", ""))
    return "nvar", "6 variables", "lists 5"


def add_an_unknown_field(folder: Path) -> tuple[str, ...]:
    path = folder / "header_00002.txt"
    path.write_text(path.read_text().replace(" tform", " dust tform"))
    return path.name, "unknown particle field 'dust'"


def count_other_stars(folder: Path) -> tuple[str, ...]:
    path = folder / "header_00002.txt"
    path.write_text(path.read_text().replace(" 459\n", " 458\n"))
    return "star", "459", "458"


def lose_sinks(folder: Path) -> tuple[str, ...]:
    (folder / "sink_00002.csv").unlink()
    return "cloud particles of sinks", "sink_00002.csv"


def write_other_columns_of_sinks(folder: Path) -> tuple[str, ...]:
    path = folder / "sink_00002.csv"
    path.write_text("".join(f"{line}, 0.0\n" for line in path.read_text().splitlines()))
    return path.name, "11 columns", "does not name them"


def count_other_sinks(folder: Path) -> tuple[str, ...]:
    with h5py.File(next(folder.glob("*.h5")), "a") as file:
        file["sinks"].attrs["nsink"] = np.array([5], "<i4")
    return "data_00002.h5", "/sinks/msink", "nsink"


BINARY, HDF5 = "sinks_binary_hilbert_np2", "sinks_hdf5_ksection_np3"


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        (BINARY, take_a_type_of_another_code),
        (BINARY, lose_types),
        (BINARY, lose_the_header),
        (BINARY, lose_names_of_variables),
        (BINARY, add_an_unknown_field),
        (BINARY, count_other_stars),
        (BINARY, lose_sinks),
        (BINARY, write_other_columns_of_sinks),
        (HDF5, take_excited_dark_matter),
        (HDF5, lose_units),
        (HDF5, lose_names_of_variables),
        (HDF5, name_fewer_variables),
        (HDF5, count_other_stars),
        (HDF5, count_other_sinks),
    ],
)
def test_what_is_not_understood_is_refused(
    name: str, spoil: Callable[[Path], tuple[str, ...]], tmp_path: Path
) -> None:
    """In a message that contains its name; nothing is written."""
    output = case_named(name)
    folder = tmp_path / output.folder.name
    shutil.copytree(output.folder, folder)
    words = spoil(folder)
    outcome = run(tmp_path / "run", output.parameters, NOTHING_MORE, *QUICKLY, restart=folder)
    assert_refused(outcome, *words)
    assert not list(outcome.directory.rglob("*.h5"))


def test_non_thermal_pressures_are_refused(tmp_path: Path) -> None:
    """By name: the fifth variable is not the thermal pressure."""
    folder = reference_path("curamses/nener_binary_hilbert_np1/output_00002")
    text = parameters_of(read_info(folder), finest=6, gamma=1.4, scalars=1, block_size=2)
    outcome = run(tmp_path / "run", text, NOTHING_MORE, *QUICKLY, restart=folder)
    assert_refused(outcome, "non_thermal_pressure_1, pressure")


def test_hdf5_output_is_read_by_the_independent_reader(tmp_path: Path) -> None:
    """An output in three domains from two ranks: cells, particles and sinks as in the snapshot."""
    output = case_named(HDF5)
    as_hdf5 = ('output.formats=["octant", "ramses"]', 'ramses.layout="hdf5"', "ramses.domains=3")
    how = ("gravity.enabled=true", NOTHING_MORE, *QUICKLY)
    written = run_well(
        tmp_path / "written", output.parameters, *how, *as_hdf5, restart=output.folder, ranks=2
    )
    [folder] = written.directory.glob("output_*")
    found = read_output(folder, reader().check(str(folder)))
    assert (found.codes == output.codes).all()
    assert (found.density == output.density).all()
    for name in ("leaf_cells", "leaf_volume", "energy", "scalar_masses", "max_density_position"):
        np.testing.assert_allclose(found.summary[name], output.summary[name], rtol=1e-13)
    for kind in ("dark", "star"):
        assert (
            found.summary["particles"][kind]["count"] == output.summary["particles"][kind]["count"]
        )
    found.summary["leaf_cells_by_level"] = output.summary["leaf_cells_by_level"]
    assert_gas(written.last_snapshot, found)
    assert_sinks(written.last_snapshot, found)
    assert found.particles
    assert output.particles
    for columns, type_ in ((found.particles, DARK), (output.particles, DARK)):
        columns["own"] = (columns["id"] >= 0) & (columns["t"] == type_)
    one, other = (
        columns["x"][:, columns["own"]][:, np.argsort(columns["id"][columns["own"]])]
        for columns in (found.particles, output.particles)
    )
    assert (one == other).all()
    back = run_well(tmp_path / "back", output.parameters, *how, restart=folder, ranks=3)
    assert_gas(back.last_snapshot, found)
    assert_sinks(back.last_snapshot, found)


# What cuRAMSES reads in a restart, also if there are no stars or sinks yet.
READ_IN_A_RESTART = {
    "header": "ncpu time nstep nstep_coarse noutput iout ifout tout aout dtold dtnew const"
    " mass_tot_0 rho_tot omega_m omega_l omega_k omega_b h0 aexp_ini boxlen_ini aexp hexp aexp_old"
    " epot_tot_int epot_tot_old mass_sph ordering",
    "particles": "npart_total nstar_tot mstar_tot mstar_lost npart_per_cpu x_1 x_2 x_3 v_1 v_2 v_3"
    " mass identity levelp ptypep birth_epoch metallicity",
    "sinks": "nsink nindsink",
}
READ_OF_SINKS = (
    "idsink msink tsink dMsmbh dMBH_coarse dMEd_coarse Esave spinmag eps_sink"
    " xsink_1 vsink_2 jsink_3 bhspin_1 sink_stat_1_4 sink_stat_7_6"
)


@pytest.mark.parametrize("name", [HDF5, "cosmo_hdf5_hilbert_np2"])
def test_hdf5_output_has_all_that_a_restart_of_curamses_reads(name: str, tmp_path: Path) -> None:
    output = case_named(name)
    as_hdf5 = ('output.formats=["ramses"]', 'ramses.layout="hdf5"', "ramses.domains=2")
    how = ("gravity.enabled=true", NOTHING_MORE, *QUICKLY, *as_hdf5)
    written = run_well(tmp_path / "run", output.parameters, *how, restart=output.folder)
    [path] = written.directory.glob("output_*/data_*.h5")
    with h5py.File(path) as file:
        for group, names in READ_IN_A_RESTART.items():
            missing = set(names.split()) - {*file[group], *file[group].attrs}
            assert not missing, group
        if output.sinks:
            assert not set(READ_OF_SINKS.split()) - set(file["sinks"])
        header = file["header"].attrs
        # Fortran reads texts of fixed length.
        assert header["ordering"].dtype == np.dtype("S7")
        assert header["ordering"].tolist() == [b"hilbert"]
        # RAMSES stops unless the sum is 1 to the bit.
        omegas = [float(header[f"omega_{n}"][0]) for n in "mlk"]
        assert omegas[0] + omegas[1] + omegas[2] == 1.0
        births = file["particles/birth_epoch"][...]
        assert ((births != 0.0) == (file["particles/ptypep"][...] == STAR)).all()


def test_walls_have_no_hdf5_output(tmp_path: Path) -> None:
    output = case_named(HDF5)
    outcome = run(
        tmp_path / "run",
        output.parameters,
        NOTHING_MORE,
        'output.formats=["ramses"]',
        'ramses.layout="hdf5"',
        'mesh.boundary_x=["outflow", "outflow"]',
    )
    assert_refused(outcome, 'ramses.layout = "hdf5" requires periodic boundaries')
