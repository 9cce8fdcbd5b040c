"""Files whose bits have changed since they were written are told from whole ones, and not used."""

import shutil
from pathlib import Path

import h5py
import pytest

from damage import edit_by_hand, flip_bit
from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX, TINY_BLAST
from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, Outcome, octant, run, run_well

CASES = {"blast": TINY_BLAST, "box": CLUMPY_BOX, "channel": SMALL_CHANNEL}
STEPS = "time.max_steps=3"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Run every model for three steps, with checkpoints."""
    folder = tmp_path_factory.mktemp("runs")
    statistics = {"channel": ["statistics.interval=1"]}
    return {
        name: run_well(
            folder / name, text, STEPS, *CHECKPOINT_EVERY_STEP, *statistics.get(name, [])
        )
        for name, text in CASES.items()
    }


def file_of(outcome: Outcome, kind: str) -> Path:
    """Find the first file of a kind: checkpoint or snap."""
    return min(outcome.directory.glob(f"{kind}_*.h5"))


def place_of(path: Path, dataset: str) -> int:
    """Where the rows of a dataset begin, in bits."""
    with h5py.File(path) as file:
        return 8 * file[dataset].id.get_offset()


def stored_flow() -> str:
    """Parameters of a channel that begins with stored fields."""
    return SMALL_CHANNEL.replace("channel", "stored_flow").replace("rolls = 0.2\nnoise = 0.2", "")


@pytest.mark.parametrize("kind", ["checkpoint", "snap"])
@pytest.mark.parametrize("case", CASES)
def test_a_whole_file_agrees_with_its_checksums(
    runs: dict[str, Outcome], case: str, kind: str, ranks: int
) -> None:
    path = file_of(runs[case], kind)
    verified = octant("info", "--verify", path, ranks=ranks)
    assert verified.code == 0, verified.text
    assert "of the metadata match" in verified.text
    assert "with checksums" in octant("info", path).text


DAMAGED = {
    "density": ("blast", "/hydro/level_0/density"),
    "keys": ("blast", "/mesh/level_0/key"),
    "masks": ("box", "/mesh/level_0/refined"),
    "owners": ("box", "/mesh/level_0/owner"),
    "potential": ("box", "/gravity/level_0/previous_potential"),
    "ids": ("box", "/particles/dark/id"),
    "positions": ("box", "/particles/dark/position"),
    "pressure": ("channel", "/fields/p"),
    "heights": ("channel", "/grid/z"),
    "sums": ("channel", "/statistics/sums"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_restart_from_a_damaged_checkpoint_is_refused(
    runs: dict[str, Outcome], damage: str, tmp_path: Path, ranks: int
) -> None:
    case, dataset = DAMAGED[damage]
    path = Path(shutil.copy(file_of(runs[case], "checkpoint"), tmp_path / "damaged.h5"))
    flip_bit(path, place_of(path, dataset) + 71)
    statistics = ["statistics.interval=1"] if case == "channel" else []
    outcome = run(tmp_path / "run", CASES[case], *statistics, restart=path, ranks=ranks)
    assert_refused(outcome, path.name, "is corrupt", f"{dataset}: rows 0 to ", "batch 1 of")
    verified = octant("info", "--verify", path, ranks=ranks)
    assert verified.code == 1, verified.text
    assert f"  {dataset}: rows 0 to " in verified.text


def test_a_damaged_text_is_told_before_anything_is_read(
    runs: dict[str, Outcome], tmp_path: Path, ranks: int
) -> None:
    path = Path(shutil.copy(file_of(runs["blast"], "checkpoint"), tmp_path / "damaged.h5"))
    flip_bit(path, 8 * path.read_bytes().index(b"mass density of the gas"))
    outcome = run(tmp_path / "run", TINY_BLAST, restart=path, ranks=ranks)
    assert_refused(outcome, path.name, "is corrupt", "the metadata")
    assert_refused(octant("info", path, ranks=ranks), path.name, "the metadata")


def test_the_oldest_checkpoint_has_none_before_it(runs: dict[str, Outcome], tmp_path: Path) -> None:
    oldest = Path(shutil.copy(file_of(runs["blast"], "checkpoint"), tmp_path))
    flip_bit(oldest, place_of(oldest, "/hydro/level_0/density"))
    outcome = run(tmp_path / "run", TINY_BLAST, restart=oldest)
    assert_refused(outcome, oldest.name, "is corrupt")
    assert "before it" not in outcome.text


def test_a_flow_does_not_begin_with_a_damaged_snapshot(
    runs: dict[str, Outcome], tmp_path: Path
) -> None:
    path = Path(shutil.copy(file_of(runs["channel"], "snap"), tmp_path / "damaged.h5"))
    flip_bit(path, place_of(path, "/fields/v"))
    outcome = run(tmp_path / "run", stored_flow(), f'problem.path="{path}"')
    assert_refused(outcome, path.name, "is corrupt", "/fields/v")


def test_a_file_without_checksums_is_read_with_a_warning(
    runs: dict[str, Outcome], tmp_path: Path, ranks: int
) -> None:
    path = Path(shutil.copy(file_of(runs["blast"], "checkpoint"), tmp_path / "old.h5"))
    edit_by_hand(path, lambda file: None)
    outcome = run_well(tmp_path / "run", TINY_BLAST, restart=path, ranks=ranks)
    assert "has no checksums" in outcome.text
    assert "without checksums" in octant("info", path).text
    assert_refused(octant("info", "--verify", path, ranks=ranks), path.name, "no checksums")


def test_a_file_that_was_changed_by_hand_says_so(
    runs: dict[str, Outcome], tmp_path: Path, ranks: int
) -> None:
    path = Path(shutil.copy(file_of(runs["blast"], "checkpoint"), tmp_path / "edited.h5"))
    with h5py.File(path, "r+") as file:
        file["hydro/level_0/density"][0] *= 1.01
    outcome = run(tmp_path / "run", TINY_BLAST, restart=path, ranks=ranks)
    assert_refused(outcome, path.name, "modified or truncated after it was written")
    assert "modified after it was written" in octant("info", path).text


def test_a_flow_may_begin_with_a_snapshot_that_was_changed_by_hand(
    runs: dict[str, Outcome], tmp_path: Path
) -> None:
    path = Path(shutil.copy(file_of(runs["channel"], "snap"), tmp_path / "edited.h5"))
    with h5py.File(path, "r+") as file:
        file["fields/v"][...] *= 1.01
    outcome = run_well(tmp_path / "run", stored_flow(), f'problem.path="{path}"', STEPS)
    assert "its integrity cannot be verified" in outcome.text


def places_of_texts(data: bytes) -> list[int]:
    """Find where an HDF5 file refers to its texts of variable length, and their heaps."""
    places, heap = [], data.find(b"GCOL\x01")
    while heap >= 0:
        address = heap.to_bytes(8, "little")
        place = data.find(address)
        while place >= 0:
            places.append(place - 4)  # a length, this address, a number
            place = data.find(address, place + 1)
        places.append(heap + 16)  # of the first text: number, uses, zeros, size
        heap = data.find(b"GCOL\x01", heap + 1)
    return places


@pytest.mark.parametrize("case", ["blast", "channel"])
def test_damaged_texts_without_checksums_are_an_error(
    runs: dict[str, Outcome], tmp_path: Path, case: str
) -> None:
    """In files of other programs, and of those that lost their checksums."""
    path = tmp_path / "texts.h5"
    shutil.copy(file_of(runs[case], "snap"), path)
    with h5py.File(path, "r+") as file:
        file.attrs["title"] = "M\u2609"
    assert "checksums" in octant("info", path).text
    data = path.read_bytes()
    places = places_of_texts(data)
    assert len(places) > 10
    found = set()
    # A reference and a heap; tests/unit/io/hdf5_file_mpi.cpp flips the bits of all of them.
    for place in (places[0], places[-1]):
        for byte in (3, 10, 12):
            damaged = bytearray(data)
            damaged[place + byte] ^= 0x01
            path.write_bytes(damaged)
            outcome = octant("info", path)
            assert outcome.code in (0, 2), f"byte {place + byte}: {outcome}"
            found.add(outcome.code)
    assert 2 in found
