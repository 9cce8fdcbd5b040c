"""Outputs of RAMSES that cannot be gone on from: one message, exit 2 on every rank, no file."""

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ramses_files import (
    NOTHING_MORE,
    OUTPUTS,
    SMALL,
    names_in,
    parameters,
    plain_with_dark_matter,
    read_info,
    refined_and_periodic,
    rewrite,
)
from refusals import assert_refused
from running import Outcome, run


# What spoils a folder, and what the one line of the message must name: the file, and the record
# where there is one.
def truncate(folder: Path, kind: str = "hydro") -> tuple[str, ...]:
    path = sorted(folder.rglob(f"{kind}_*.out*"))[-1]
    path.write_bytes(path.read_bytes()[:-100])
    return path.name, "record", "truncated"


def break_a_marker(folder: Path) -> tuple[str, ...]:
    path = sorted(folder.rglob("amr_*.out*"))[0]
    content = bytearray(path.read_bytes())
    content[8:12] = struct.pack("<i", 5)
    path.write_bytes(bytes(content))
    return path.name, "record 1 (ncpu)", "corrupt"


def swap_bytes(folder: Path, kind: str = "amr") -> tuple[str, ...]:
    path = sorted(folder.rglob(f"{kind}_*.out*"))[0]
    content = path.read_bytes()
    words = np.frombuffer(content[: len(content) // 4 * 4], "<u4").byteswap().tobytes()
    path.write_bytes(words)
    return path.name, "first record", "big-endian"


def swap_bytes_of_gas(folder: Path) -> tuple[str, ...]:
    return swap_bytes(folder, "hydro")


def lose_a_file(folder: Path, kind: str = "amr") -> tuple[str, ...]:
    path = sorted(folder.rglob(f"{kind}_*.out*"))[-1]
    path.unlink()
    return (path.name,)


def lose_the_gas_of_a_domain(folder: Path) -> tuple[str, ...]:
    return lose_a_file(folder, "hydro")


def lose_the_info(folder: Path) -> tuple[str, ...]:
    [path] = folder.rglob("info_*.txt")
    path.unlink()
    return (path.name,)


def put_nans(folder: Path) -> tuple[str, ...]:
    path = sorted(folder.rglob("hydro_*.out*"))[-1]
    nan = struct.pack("<d", float("nan"))
    rewrite(path, lambda n, record: [record if len(record) <= 8 else len(record) // 8 * nan])
    return path.name, "record"


def lengthen_a_file_of_particles(folder: Path) -> tuple[str, ...]:
    path = sorted(folder.rglob("part_*.out*"))[-1]
    path.write_bytes(path.read_bytes() + struct.pack("<3i", 4, 0, 4))
    return path.name, "record"


def truncate_a_file_of_particles(folder: Path) -> tuple[str, ...]:
    return truncate(folder, "part")


def swap_bytes_of_particles(folder: Path) -> tuple[str, ...]:
    return swap_bytes(folder, "part")


def lose_a_file_of_particles(folder: Path) -> tuple[str, ...]:
    return lose_a_file(folder, "part")


def lose_the_counts_of_particles(folder: Path) -> tuple[str, ...]:
    """Without them nobody would miss the particles."""
    [path] = folder.rglob("header_*.txt")
    path.unlink()
    return path.name, "is missing"


def count_no_families(folder: Path) -> tuple[str, ...]:
    """As before November 2017."""
    [path] = folder.rglob("header_*.txt")
    path.write_text(" Total number of particles\n 100\n")
    return path.name, "lists no families"


def assert_nothing_was_written(outcome: Outcome) -> None:
    """Neither snapshots nor checkpoints nor outputs."""
    assert not list(outcome.directory.rglob("*.h5"))
    assert not list(outcome.directory.glob("output_*"))


Spoil = Callable[[Path], tuple[str, ...]]


def assert_spoiled_is_refused(source: Path, spoil: Spoil, ranks: int, tmp_path: Path) -> None:
    """Spoil a copy of an output; nothing may go on from it."""
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    words = spoil(folder)
    outcome = run(
        tmp_path / "run", parameters(source, 4), NOTHING_MORE, restart=folder, ranks=ranks
    )
    assert_refused(outcome, *words)
    assert_nothing_was_written(outcome)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "spoil",
    [
        lengthen_a_file_of_particles,
        truncate_a_file_of_particles,
        swap_bytes_of_particles,
        lose_a_file_of_particles,
        lose_the_counts_of_particles,
        count_no_families,
    ],
)
def test_spoiled_particles_are_refused(spoil: Spoil, ranks: int, tmp_path: Path) -> None:
    assert_spoiled_is_refused(plain_with_dark_matter(), spoil, ranks, tmp_path)


def say_other_levels(folder: Path) -> tuple[str, ...]:
    """As if the gas came from another run."""
    path = sorted(folder.rglob("hydro_*.out*"))[0]
    content = bytearray(path.read_bytes())
    content[40:44] = struct.pack("<i", 9)
    path.write_bytes(bytes(content))
    return path.name, "record 4 (nlevelmax)"


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "spoil",
    [
        truncate,
        break_a_marker,
        swap_bytes,
        swap_bytes_of_gas,
        lose_a_file,
        lose_the_gas_of_a_domain,
        lose_the_info,
        put_nans,
        say_other_levels,
    ],
)
def test_spoiled_outputs_are_refused(spoil: Spoil, ranks: int, tmp_path: Path) -> None:
    assert_spoiled_is_refused(refined_and_periodic(), spoil, ranks, tmp_path)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kinds", [("amr", "hydro"), ("hydro",)], ids="+".join)
def test_files_of_two_outputs_are_not_mixed(
    kinds: tuple[str, ...], ranks: int, tmp_path: Path
) -> None:
    of_two = [f for f in OUTPUTS if read_info(f)["ncpu"] == 2 and not list(f.glob("group_*"))]
    if len(of_two) < 2:
        pytest.skip("needs two outputs of two domains")
    one, other = of_two[:2]
    folder = tmp_path / one.name
    shutil.copytree(one, folder)
    for kind in kinds:
        [path] = other.rglob(f"{kind}_*.out00002")
        shutil.copy(path, folder / f"{kind}_{one.name.split('_')[1]}.out00002")
    outcome = run(tmp_path / "run", parameters(one, 4), NOTHING_MORE, restart=folder, ranks=ranks)
    assert_refused(outcome, "_" + one.name.split("_")[1])
    assert_nothing_was_written(outcome)


@pytest.mark.parametrize("ranks", [1, 2])
def test_values_of_another_step_are_not_mixed(ranks: int, tmp_path: Path) -> None:
    """Trees and all numbers of octs are the same: copies of octs in other files tell."""
    one, other = (f for f in SMALL if f.parent.name == "a_step_apart")
    folder = tmp_path / one.name
    shutil.copytree(one, folder)
    numbers = [f.name.split("_")[1] for f in (one, other)]
    names = [f"hydro_{number}.out00002" for number in numbers]
    shutil.copy(other / names[1], folder / names[0])
    outcome = run(tmp_path / "run", parameters(one, 2), NOTHING_MORE, restart=folder, ranks=ranks)
    assert_refused(outcome, "differ from their copies", "different outputs are mixed")
    assert_nothing_was_written(outcome)


def test_values_of_another_tree_are_not_mixed(tmp_path: Path) -> None:
    """With one domain there are no copies, but a cell has the mean density of its octs."""
    [source] = (f for f in SMALL if f.parent.name == "equilibrium")
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    [path] = folder.glob("hydro_*.out00001")

    def in_other_order(_: int, record: bytes) -> list[bytes]:
        """Turn the octs of a list round; all that is no value of them has 8 bytes at most."""
        values = np.frombuffer(record, "<f8") if len(record) > 8 else None
        return [record if values is None else np.roll(values, len(values) // 3).tobytes()]

    rewrite(path, in_other_order)
    outcome = run(tmp_path / "run", parameters(source, 2), NOTHING_MORE, restart=folder)
    assert_refused(outcome, path.name, "the density of their parent cell")
    assert_nothing_was_written(outcome)


def share_an_identity(folder: Path) -> tuple[str, ...]:
    """As if a particle had gone to the other domain between the outputs of the files."""
    first, second = sorted(folder.rglob("part_*.out*"))
    identity = 8 + names_in(folder, "part_file_descriptor.txt").index("identity")
    records: list[bytes] = []

    def keep(_: int, record: bytes) -> list[bytes]:
        records.append(record)
        return [record]

    rewrite(first, keep)
    one = records[identity][:4]
    rewrite(second, lambda n, record: [one + record[4:] if n == identity else record])
    return "1 particles of family DM", "duplicate identities", "different outputs"


def count_other_stars(folder: Path) -> tuple[str, ...]:
    """All files say how many stars the run has formed."""
    _, second = sorted(folder.rglob("part_*.out*"))
    rewrite(second, lambda n, record: [struct.pack("<i", 7) if n == 4 else record])
    return "from 0 to 7", "files of different outputs are mixed"


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("spoil", [share_an_identity, count_other_stars])
def test_particles_of_another_step_are_not_mixed(spoil: Spoil, ranks: int, tmp_path: Path) -> None:
    """The numbers of particles agree."""
    [source] = (f for f in SMALL if f.parent.name == "gas_and_dark_matter")
    assert_spoiled_is_refused(source, spoil, ranks, tmp_path)


def test_files_that_are_not_read_are_named(tmp_path: Path) -> None:
    """Radiation, and columns of particles that no kind has."""
    source = plain_with_dark_matter()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    number = source.name.split("_")[1]
    (folder / f"rt_{number}.out00001").write_bytes(b"")
    (folder / f"clumps_{number}.csv").write_text("")
    fields = folder / "part_file_descriptor.txt"
    fields.write_text(fields.read_text().replace(" 9, levelp, i", " 9, dust, i"))
    outcome = run(tmp_path / "run", parameters(source, 4), NOTHING_MORE, restart=folder)
    assert outcome.code == 0, outcome.text
    assert "ignored files: clumps, rt" in outcome.text
    assert "ignored particle columns: dust" in outcome.text


@pytest.mark.parametrize("ranks", [1, 3])
def test_files_of_two_times_are_not_mixed(ranks: int, tmp_path: Path) -> None:
    """Of one run, so that nothing but the time tells them apart."""
    source = refined_and_periodic()
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    path = sorted(folder.rglob("amr_*.out*"))[-1]
    later = struct.pack("<d", 2.0 * read_info(source)["time"])
    rewrite(path, lambda n, record: [later if n == 11 else record])
    text = parameters(source, 4)
    outcome = run(tmp_path / "run", text, NOTHING_MORE, restart=folder, ranks=ranks)
    assert_refused(outcome, path.name, "record 12 (t)", "different outputs are mixed")
    assert_nothing_was_written(outcome)


@pytest.mark.parametrize(
    ("override", "word"),
    [
        ("hydro.gamma=1.3", "hydro.gamma"),
        ("mesh.max_level=0", "mesh.max_level must be at least"),
        ("mesh.base_cells=[64,64,64]", "mesh.base_cells"),
        ("mesh.upper=[2.0,2.0,2.0]", "mesh.upper"),
        ("hydro.scalars=9", "set hydro.scalars = "),
        ('mesh.boundary_y=["outflow","outflow"]', "mesh.boundary"),
        ("hydro.enabled=false", "hydro.enabled"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(override: str, word: str, tmp_path: Path) -> None:
    source = refined_and_periodic()
    outcome = run(tmp_path / "run", parameters(source, 4), NOTHING_MORE, override, restart=source)
    assert outcome.code == 2, outcome.text
    assert word in outcome.text
    assert not outcome.snapshots
