"""Places that cannot be written end a run with one message, and nothing hangs."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inputs import TINY_BLAST
from refusals import assert_refused, small_disk
from running import (
    Outcome,
    differing,
    octant,
    octant_command,
    octant_environment,
    run,
    run_well,
)


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


def test_a_history_waits_for_space(tmp_path: Path, ranks: int) -> None:
    """The disk fills up, and is emptied, while the run continues."""
    with small_disk(tmp_path / "disk", "size=1m") as disk:
        settings = ("telemetry.enabled=false", "debug.step_seconds=0.02", "time.max_steps=60")
        file = tmp_path / "blast.toml"
        file.write_text(TINY_BLAST)
        words = [word for setting in settings for word in ("--set", setting)]
        process = subprocess.Popen(
            octant_command("run", file, "--output", disk / "run", *words, ranks=ranks),
            env=octant_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        history, log = disk / "run/history.csv", disk / "run/log.txt"
        while not history.exists() or history.read_text().count("\n") < 3:
            time.sleep(0.01)
        fill(disk)
        while "rows of the history are kept in memory" not in log.read_text():
            assert process.poll() is None
            time.sleep(0.01)
        (disk / "ballast").unlink()
        text, _ = process.communicate(timeout=60)
        assert process.returncode == 0, text
        steps = [line.split(",")[0] for line in history.read_text().splitlines()[1:]]
    assert steps == [str(step) for step in range(61)]
    assert text.count("rows of the history are kept in memory") == 1


def test_a_log_that_cannot_be_written_does_not_end_the_run(tmp_path: Path, ranks: int) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/log.txt").symlink_to("/dev/full")
    outcome = run_well(tmp_path / "run", TINY_BLAST, ranks=ranks)
    assert outcome.text.count("some lines could not be written to the log file") == 1


def test_more_ranks_than_blocks_is_legal(tmp_path: Path) -> None:
    one_block = "mesh.block_size=8"
    one = run_well(tmp_path / "one", TINY_BLAST, one_block)
    three = run_well(tmp_path / "three", TINY_BLAST, one_block, ranks=3)
    assert "idle" in three.text
    assert differing(three.last_snapshot, one.last_snapshot) == []
