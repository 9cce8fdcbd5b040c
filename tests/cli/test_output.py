"""Places that cannot be written end a run with one message, and nothing hangs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cases import TINY_BLAST
from refusals import assert_refused, small_disk
from running import Outcome, differing, octant, run, run_well


@contextmanager
def forbidden_directory(place: Path) -> Iterator[Path]:
    """Make a directory in which this user may not write."""
    if os.geteuid() == 0:  # permissions do not stop root, but a read-only disk does
        with small_disk(place, "ro,size=1m") as disk:
            yield disk
    else:
        place.mkdir(mode=0o555)
        yield place


def fill(disk: Path) -> None:
    """Write a file until there is no space left."""
    with (disk / "ballast").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def run_into(output: Path, elsewhere: Path, ranks: int) -> Outcome:
    """Run with a parameter file that lies on another disk than the results."""
    file = elsewhere / "blast.toml"
    file.write_text(TINY_BLAST)
    return octant("run", file, "--output", output, ranks=ranks)


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path, ranks: int) -> None:
    (tmp_path / "run").write_text("not a folder")
    assert_refused(run(tmp_path / "run", TINY_BLAST, ranks=ranks), "output.directory", "run")


def test_a_directory_without_write_permission_is_refused(tmp_path: Path, ranks: int) -> None:
    with forbidden_directory(tmp_path / "forbidden") as forbidden:
        outcome = run_into(forbidden / "run", tmp_path, ranks)
        assert_refused(outcome, "output.directory", str(forbidden))


def test_a_disk_that_is_full_at_the_start_is_refused(tmp_path: Path, ranks: int) -> None:
    with small_disk(tmp_path / "disk", "size=64k") as disk:
        (disk / "run").mkdir()
        fill(disk)
        assert_refused(run_into(disk / "run", tmp_path, ranks), "output.directory", "space")


def test_a_disk_that_fills_up_ends_the_run(tmp_path: Path, ranks: int) -> None:
    # Enough for the parameters and the log, but not for a snapshot of 8^3 cells.
    with small_disk(tmp_path / "disk", "size=32k") as disk:
        outcome = run_into(disk / "run", tmp_path, ranks)
        assert_refused(outcome, "snap_00000.h5", "No space left", code=1)
        assert list((disk / "run").glob("*.h5*")) == [], "a broken file was left behind"


def test_more_ranks_than_blocks_is_legal(tmp_path: Path) -> None:
    one_block = "mesh.block_size=8"
    one = run_well(tmp_path / "one", TINY_BLAST, one_block)
    three = run_well(tmp_path / "three", TINY_BLAST, one_block, ranks=3)
    assert "idle" in three.text
    assert differing(three.last_snapshot, one.last_snapshot) == []
