"""Outputs of RAMSES: runs go on from them, with what an independent reader finds in them."""

import itertools
import json
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from ramses_files import (
    FIELDS,
    KINDS,
    NOTHING_MORE,
    OTHERS,
    OUTPUTS,
    SMALL,
    RamsesState,
    Records,
    code_of,
    parameters,
    places,
    plain_with_dark_matter,
    read_info,
    read_ramses,
    refined_and_periodic,
    rewrite,
    variables_of,
)
from refusals import assert_refused
from running import LeafCells, bits, leaf_cells, run, run_well


@pytest.fixture(params=OUTPUTS, ids=lambda folder: folder.parent.name)
def output(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(params=KINDS, ids=lambda folder: folder.parent.name)
def kind(request: pytest.FixtureRequest) -> Path:
    """Give an output, small ones of all kinds included."""
    return request.param


def means_in_cells_of(state: RamsesState, snapshot: Path, folder: Path) -> dict[str, NDArray]:
    """Mean density, momenta and energy of a snapshot in the leaf cells of an output."""
    cells = leaf_cells(snapshot)
    level, place = places(snapshot, folder)
    own = {code: n for n, code in enumerate(code_of(state.level, state.place).tolist())}
    target = np.full(level.size, -1)
    for up in range(int(level.max() - state.level.min()) + 1):
        codes = code_of(level - up, place >> up)
        found = np.array([own.get(code, -1) for code in codes.tolist()])
        target = np.where((target < 0) & (level >= up), found, target)
    assert (target >= 0).all()
    conserved = conserved_of({name: cells[name] for name in FIELDS}, state.gamma)
    return {
        name: np.bincount(target, values * cells.volume) / state.volume
        for name, values in conserved.items()
    }


def conserved_of(fields: dict[str, NDArray], gamma: float) -> dict[str, NDArray]:
    """Densities of mass, momentum and energy."""
    rho = fields["density"]
    momentum = {f"momentum_{axis}": rho * fields[f"velocity_{axis}"] for axis in "xyz"}
    kinetic = 0.5 * rho * sum(fields[f"velocity_{axis}"] ** 2 for axis in "xyz")
    return {"density": rho, **momentum, "energy": fields["pressure"] / (gamma - 1.0) + kinetic}


@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_blocks_of_two_cells_hold_the_octs(kind: Path, ranks: int, tmp_path: Path) -> None:
    output = kind
    outcome = run_well(
        tmp_path / "run", parameters(output, 2), NOTHING_MORE, restart=output, ranks=ranks
    )
    state = read_ramses(output)
    cells = leaf_cells(outcome.last_snapshot)
    # Where the universe expands, RAMSES's table of times is less exact than its scale factor.
    expands = state.info["aexp"] != 1.0
    assert abs(cells.time - state.info["time"]) <= (1e-5 * abs(cells.time) if expands else 0.0)
    own = {code: n for n, code in enumerate(code_of(state.level, state.place).tolist())}
    codes = code_of(*places(outcome.last_snapshot, output)).tolist()
    found = np.array([own.get(code, -1) for code in codes])
    same = found >= 0
    # Every leaf of the file is one of the mesh, unless something around it needed it refined.
    beyond = int(outcome.text.split(" cells that were leaves in RAMSES")[0].split()[-1])
    assert len(own) - same.sum() == beyond
    there = {name: values[found[same]] for name, values in state.fields.items()}
    assert (cells["density"][same] == there["density"]).all()
    for axis in "xyz":
        velocity = cells[f"velocity_{axis}"][same]
        np.testing.assert_array_max_ulp(velocity, there[f"velocity_{axis}"], 1)
    energy = conserved_of(there, state.gamma)["energy"]
    difference = np.abs(cells["pressure"][same] - there["pressure"])
    assert (difference <= 4e-16 * energy).all()
    shown = {name: cells[name][same] for name in FIELDS}
    assert_as_the_file_where_possible(shown, there, state.gamma)
    if ranks == 1:
        assert_check_values(output, cells, state)
    for n, name in enumerate(state.scalars):
        np.testing.assert_array_max_ulp(cells[f"scalar_{n}"][same], there[name], 1)


def nearby(guess: NDArray, reach: int) -> Iterator[NDArray]:
    """Give doubles around others, each as many places away."""
    for toward in (np.inf, -np.inf):
        values = guess
        for _ in range(reach + 1):
            yield values
            values = np.nextafter(values, toward)


def assert_as_the_file_where_possible(
    shown: dict[str, NDArray], there: dict[str, NDArray], gamma: float
) -> None:
    """Check that primitive values differ only where no conserved ones are shown as the file's.

    There are fewer momenta than velocities where rounding takes two of these to one: no state of
    conserved variables has all velocities and pressures.
    """
    names = [f"velocity_{axis}" for axis in "xyz"]
    rho, specific_volume = there["density"], 1.0 / there["density"]
    for name in names:
        momenta = nearby(rho * there[name], 8)
        exists = np.any([m * specific_volume == there[name] for m in momenta], axis=0)
        assert (shown[name] == there[name])[exists].all(), name
    off = shown["pressure"] != there["pressure"]
    rho, specific_volume, pressure = rho[off], specific_volume[off], there["pressure"][off]
    velocity = [shown[name][off] for name in names]
    momenta = [list(nearby(rho * there[name][off], 1)) for name in names]
    energy = conserved_of({name: there[name][off] for name in FIELDS}, gamma)["energy"]
    for momentum in itertools.product(*momenta):
        found = [m * specific_volume for m in momentum]
        possible = np.all([u == v for u, v in zip(found, velocity, strict=True)], axis=0)
        x, y, z = (m * v for m, v in zip(momentum, velocity, strict=True))
        for tried in nearby(energy, 2):
            shows = (gamma - 1.0) * (tried - 0.5 * (x + y + z)) == pressure
            assert not (possible & shows).any()


def assert_check_values(output: Path, cells: LeafCells, state: RamsesState) -> None:
    """Compare a snapshot with what other readers found, in check.json beside the output."""
    path = output.parent / "check.json"
    if not path.is_file():
        return
    check = json.loads(path.read_text())["independent_reader"]
    volume, rho = cells.volume, cells["density"]
    speed2 = sum(cells[f"velocity_{axis}"] ** 2 for axis in "xyz")
    found = {
        "time": cells.time,
        "leaf_volume": volume.sum(),
        "total_mass": (rho * volume).sum(),
        "kinetic_energy": (0.5 * rho * speed2 * volume).sum(),
        "internal_energy": (cells["pressure"] * volume).sum() / (state.gamma - 1.0),
        "max_density": rho.max(),
        "min_density": rho.min(),
        "max_pressure": cells["pressure"].max(),
    }
    assert {name: value for name, value in found.items() if name in check} == pytest.approx(
        {name: check[name] for name in found if name in check}, rel=1e-12
    )


BLOCKS_OF = [
    pytest.param(folder, block_size, id=f"{folder.parent.name}-{block_size}")
    for folder in KINDS
    for block_size in ((4,) if folder in SMALL else (2, 4, 8))
]


@pytest.mark.parametrize(("output", "block_size"), BLOCKS_OF)
def test_means_in_the_cells_of_the_file_are_kept(
    output: Path, block_size: int, tmp_path: Path
) -> None:
    outcome = run_well(
        tmp_path / "run", parameters(output, block_size), NOTHING_MORE, restart=output, ranks=2
    )
    state = read_ramses(output)
    expected = conserved_of(state.fields, state.gamma)
    found = means_in_cells_of(state, outcome.last_snapshot, output)
    speed = np.sqrt(expected["energy"] / expected["density"])
    for name, values in expected.items():
        scale = expected["density"] * speed if name.startswith("momentum") else values
        assert np.abs(found[name] - values).max() <= 1e-14 * np.abs(scale).max(), name
        assert (np.abs(found[name] - values) <= 1e-13 * scale).all(), name


WITH_PARTICLES = [folder for folder in KINDS if read_ramses(folder).particles]


@pytest.mark.parametrize("output", WITH_PARTICLES, ids=lambda folder: folder.parent.name)
def test_particles_are_there_once(output: Path, tmp_path: Path) -> None:
    particles = read_ramses(output).particles
    outcome = run_well(
        tmp_path / "run", parameters(output, 4), NOTHING_MORE, restart=output, ranks=3
    )
    with h5py.File(outcome.last_snapshot) as file:
        for kind, expected in particles.items():
            found = file["particles"][kind]
            columns = [
                "velocity",
                "mass",
                *(["birth_time", "metallicity"] if kind == "stars" else []),
            ]
            for name in set(columns) & set(expected):
                assert (found[name][...] == expected[name]).all(), name
            # One on the upper face of a periodic box is one on the lower.
            length = read_info(output)["boxlen"]
            apart = found["position"][...] - expected["position"]
            assert ((apart == 0.0) | (expected["position"] == length)).all()
            first = 1 << 62 if kind == "stars" else 0
            assert (found["id"][...] == expected["id"].astype(np.uint64) + np.uint64(first)).all()
        for path in output.rglob("sink_*.csv"):
            sinks = np.atleast_2d(np.loadtxt(path, delimiter=",", comments=" #"))
            assert (file["particles/sinks/mass"][...] == sinks[:, 1]).all()
            assert (file["particles/sinks/position"][...] == sinks[:, 2:5]).all()
            assert (file["particles/sinks/velocity"][...] == sinks[:, 5:8]).all()


def test_ranks_and_chunks_do_not_matter(output: Path, tmp_path: Path) -> None:
    text = parameters(output, 4)
    alone = run_well(tmp_path / "alone", text, NOTHING_MORE, restart=output)
    for ranks, chunk in ((2, 1), (3, 0), (5, 2)):
        other = run_well(
            tmp_path / f"on_{ranks}",
            text,
            NOTHING_MORE,
            f"io.chunk_files={chunk}",
            restart=output,
            ranks=ranks,
        )
        assert bits(alone.last_snapshot) == bits(other.last_snapshot)


def test_runs_go_on_and_restart_from_their_own_checkpoints(output: Path, tmp_path: Path) -> None:
    """Also with particles that the problem does not have."""
    text = parameters(output, 4)
    done = int(read_info(output)["nstep_coarse"])
    at_once = run_well(tmp_path / "once", text, f"time.max_steps={done + 4}", restart=output)
    run_well(tmp_path / "parts", text, f"time.max_steps={done + 2}", restart=output, ranks=2)
    parts = run_well(
        tmp_path / "parts", text, f"time.max_steps={done + 4}", restart="latest", ranks=3
    )
    assert bits(at_once.last_snapshot) == bits(parts.last_snapshot)
    history = at_once.history()
    mass = history["mass"]
    if not any(read_ramses(output).walls):
        assert np.abs(mass / mass[0] - 1.0).max() < 1e-13


def shock_of(snapshot: Path) -> tuple[float, float]:
    """Radius at which the shells' mean density has fallen half-way, and the largest mean."""
    cells = leaf_cells(snapshot)
    radius = np.sqrt(((cells.position - 0.5) ** 2).sum(axis=1))
    width = cells.size.min()
    shell = (radius / width).astype(int)
    volume = np.bincount(shell, cells.volume)
    density = np.bincount(shell, cells["density"] * cells.volume) / np.where(volume > 0, volume, 1)
    peak = int(density.argmax())
    half = 0.5 * (density[peak] + 1.0)
    outer = peak + int(np.argmax(density[peak:] < half))
    part = (density[outer - 1] - half) / (density[outer - 1] - density[outer])
    return (outer - 0.5 + part) * width, float(density[peak])


def test_a_blast_of_ramses_goes_on_as_ones_own(tmp_path: Path) -> None:
    """It ends about as near to a run from the start as the codes were when it changed hands."""
    blasts = [folder for folder in OUTPUTS if folder.parent.name.startswith("sedov")]
    if not blasts:
        pytest.skip("needs the output of a blast of energy 1 in the middle of a periodic box")
    info = read_info(blasts[0])
    text = parameters(blasts[0], 4)
    text = text.replace('"sedov"', '"sedov"\nradius_cells = 1.0\nambient_pressure = 1e-5')
    text = text.replace("[hydro]", '[hydro]\nlimiter = "minmod"\nriemann = "hllc"')
    end = f"time.end={2 * info['time']}"
    theirs = run_well(tmp_path / "theirs", text, NOTHING_MORE, restart=blasts[0])
    ours = run_well(tmp_path / "ours", text, f"time.end={info['time']}")
    from_theirs = run_well(tmp_path / "from_theirs", text, end, restart=blasts[0])
    from_start = run_well(tmp_path / "from_start", text, end)
    before = np.subtract(shock_of(theirs.last_snapshot), shock_of(ours.last_snapshot))
    after = np.subtract(shock_of(from_theirs.last_snapshot), shock_of(from_start.last_snapshot))
    assert abs(before[0]) < 1e-4
    assert abs(after[0]) <= abs(before[0])
    assert abs(after[1]) <= 2.0 * abs(before[1]) < 2e-4


def test_other_precisions_orderings_and_columns_are_read(tmp_path: Path) -> None:
    """Single precision, a scalar, bisection, ids of 64 bits, and stars with their births."""
    source = plain_with_dark_matter()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    ncpu = int(read_info(source)["ncpu"])
    of_cell = 0

    def with_scalar(number: int, record: bytes) -> list[bytes]:
        # Each cell's pressure is followed by the scalar; values become single precision.
        nonlocal of_cell
        if number == 1:
            return [struct.pack("<i", 6)]
        if number < 6 or len(record) == 4:
            of_cell = 0
            return [record]
        values = np.frombuffer(record, "<f8")
        of_cell += 1
        single = values.astype("<f4").tobytes()
        return [single, single] if of_cell % 5 == 0 else [single]

    def bisected(number: int, record: bytes) -> list[bytes]:
        if number == 24:
            assert record.strip() == b"hilbert"
            return [b"bisection".ljust(128)]
        if number == 25:
            return [b"\0" * 8] * 5
        is_place = number >= 29 and (number - 29) % 37 in (3, 4, 5)
        if number in (7, *range(9, 14), *range(15, 19)) or is_place:
            with np.errstate(over="ignore"):
                return [np.frombuffer(record, "<f8").astype("<f4").tobytes()]
        return [record]

    def with_stars(number: int, record: bytes) -> list[bytes]:
        if number == 15:
            return [np.frombuffer(record, "<i4").astype("<i8").tobytes()]
        if number == 17:
            family = np.frombuffer(record, "i1").copy()
            family[::4] = 2
            return [family.tobytes()]
        if number == 18:
            count = len(record)
            births = np.linspace(0.0, 0.01, count)
            return [record, births.tobytes(), (births * 2.0).tobytes()]
        return [record]

    for path in sorted(folder.rglob("hydro_*.out*")):
        of_cell = 0
        rewrite(path, with_scalar)
    for path in sorted(folder.rglob("amr_*.out*")):
        rewrite(path, bisected)
    stars = 0
    for path in sorted(folder.rglob("part_*.out*")):
        rewrite(path, with_stars)
        file = Records(path)
        file.skip(17)
        stars += int((file.next("i1") == 2).sum())
    [header] = folder.rglob("header_*.txt")
    dark = len(read_ramses(source).particles["dark"]["id"]) - stars
    text = re.sub(r"(?m)^( *star +)0$", rf"\g<1>{stars}", header.read_text())
    header.write_text(re.sub(r"(?m)^( *DM +)\d+", rf"\g<1>{dark}", text))
    with (folder / "hydro_file_descriptor.txt").open("a") as file:
        file.write(" 6, scalar_00, d\n")
    with (folder / "part_file_descriptor.txt").open("a") as file:
        file.write("12, birth_time, d\n13, metallicity, d\n")
    outcome = run_well(
        tmp_path / "run",
        parameters(source, 2),
        NOTHING_MORE,
        "hydro.scalars=1",
        restart=folder,
        ranks=ncpu + 1,
    )
    state = read_ramses(source)
    cells = leaf_cells(outcome.last_snapshot)
    own = {code: n for n, code in enumerate(code_of(state.level, state.place).tolist())}
    found = np.array([own[c] for c in code_of(*places(outcome.last_snapshot, source)).tolist()])
    density = state.fields["density"][found].astype(np.float32)
    pressure = state.fields["pressure"][found].astype(np.float32)
    assert (cells["density"] == density).all()
    np.testing.assert_allclose(cells["scalar_0"], pressure, rtol=3e-16)
    with h5py.File(outcome.last_snapshot) as file:
        assert len(file["particles/dark/id"]) == dark
        assert len(file["particles/stars/id"]) == stars
        np.testing.assert_array_equal(
            file["particles/stars/metallicity"][...], 2.0 * file["particles/stars/birth_time"][...]
        )


def test_levels_without_octs_do_not_matter(tmp_path: Path) -> None:
    """A run may have been allowed more levels than it used, and than the mesh has."""
    source = refined_and_periodic()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    ncpu, levels = int(read_info(source)["ncpu"]), int(read_info(source)["levelmax"])

    def with_more_levels(number: int, record: bytes) -> list[bytes]:
        if number == 3:
            return [struct.pack("<i", levels + 2)]
        more = {12: 16, 13: 16, 21: 8 * ncpu}  # steps of the levels, and octs on them
        return [record + bytes(more.get(number, 0))]

    for path in sorted(folder.rglob("amr_*.out*")):
        rewrite(path, with_more_levels)
    for path in sorted(folder.rglob("hydro_*.out*")):
        rewrite(path, lambda n, record: [struct.pack("<i", levels + 2) if n == 3 else record])
        for level in (levels + 1, levels + 2):
            with path.open("ab") as file:
                file.write(struct.pack("<6i", 4, level, 4, 4, 0, 4) * ncpu)
    text = parameters(source, 4)
    one = run_well(tmp_path / "one", text, NOTHING_MORE, restart=source)
    other = run_well(tmp_path / "other", text, NOTHING_MORE, restart=folder, ranks=2)
    assert bits(one.last_snapshot) == bits(other.last_snapshot)


WITH_OTHER_GAS = [folder for folder in OTHERS if variables_of(folder)]


@pytest.mark.parametrize("source", WITH_OTHER_GAS, ids=lambda folder: folder.parent.name)
def test_what_octant_has_no_physics_for_is_refused(source: Path, tmp_path: Path) -> None:
    """Magnetic fields, or pressures beside the gas's."""
    names = variables_of(source)
    info = read_info(source)
    cells, length = int(2 ** info["levelmin"]), info["boxlen"]
    text = f"[problem]\nname = 'sedov'\n[mesh]\nbase_cells = [{cells}, {cells}, {cells}]\n"
    text += f"upper = [{length}, {length}, {length}]\nblock_size = 2\n"
    outcome = run(tmp_path / "run", text, NOTHING_MORE, restart=source, ranks=2)
    assert_refused(outcome, names[4])


def test_other_variables_are_refused(tmp_path: Path) -> None:
    """Their names say that the fifth is not the pressure, or that there is something else."""
    source = refined_and_periodic()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    [descriptor] = folder.rglob("hydro_file_descriptor.txt")
    text = descriptor.read_text()
    descriptor.write_text(text.replace("pressure", "non_thermal_energy_00"))
    outcome = run(tmp_path / "run", parameters(source, 4), NOTHING_MORE, restart=folder, ranks=3)
    assert_refused(outcome, "non_thermal_energy_00")
    assert not outcome.snapshots


def grouped(source: Path, folder: Path, size: int) -> None:
    """Copy an output into groups of files, the first with the texts, as IOGROUPSIZEREP does."""
    for path in source.rglob("*"):
        if not path.is_file():
            continue
        ending = path.suffix.removeprefix(".out")
        group = (int(ending) - 1) // size + 1 if path.suffix != ending and ending.isdigit() else 1
        (folder / f"group_{group:05d}").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / f"group_{group:05d}" / path.name)


@pytest.mark.parametrize("size", [1, 4])
def test_files_may_lie_in_groups(size: int, tmp_path: Path) -> None:
    source = OUTPUTS[0]
    folder = tmp_path / "grouped" / source.name
    grouped(source, folder, size)
    text = parameters(source, 4)
    one = run_well(tmp_path / "one", text, NOTHING_MORE, restart=source)
    other = run_well(tmp_path / "other", text, NOTHING_MORE, restart=folder, ranks=2)
    assert bits(one.last_snapshot) == bits(other.last_snapshot)


def test_cold_gas_without_energy_is_raised_to_the_floor(tmp_path: Path) -> None:
    """RAMSES floors pressures when it reads them, and writes less energy than none."""
    source = refined_and_periodic()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    path = sorted(folder.rglob("hydro_*.out*"))[0]
    names, of_cell = variables_of(source), 0

    def in_the_red(number: int, record: bytes) -> list[bytes]:
        nonlocal of_cell
        if number < 6 or len(record) <= 4:
            of_cell = 0
            return [record]
        of_cell += 1
        lacks = (of_cell - 1) % len(names) == 4 and len(record) >= 8 * 16
        return [struct.pack("<d", -1e6) + record[8:] if lacks else record]

    rewrite(path, in_the_red)
    text = parameters(source, 2)
    one = run_well(tmp_path / "one", text, NOTHING_MORE, restart=folder)
    other = run_well(tmp_path / "other", text, NOTHING_MORE, restart=folder, ranks=3)
    assert "cells without positive total energy to hydro.pressure_floor" in one.text
    assert bits(one.last_snapshot) == bits(other.last_snapshot)
    pressure = leaf_cells(one.last_snapshot)["pressure"]
    assert pressure.min() > 0.0
    assert (pressure < 1e-8).sum() > 0
