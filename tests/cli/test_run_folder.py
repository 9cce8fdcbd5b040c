"""A run that is in a folder is neither replaced nor mixed with another one by a slip."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from inputs import TINY_BLAST
from refusals import assert_refused
from running import Outcome, contents, octant_command, octant_environment, run, run_well

MODELS = pytest.mark.parametrize("model", [TINY_BLAST, SMALL_CHANNEL], ids=["amr", "dns"])
SHORT = "time.max_steps=2"
ENDLESS = ("time.max_steps=1000000", "time.end=1000", "debug.step_seconds=0.05")


def beside(folder: Path) -> list[str]:
    """Name the folders that runs made beside a folder."""
    return sorted(path.name for path in folder.parent.glob(f"{folder.name}.*-*"))


@pytest.fixture
def old(tmp_path: Path) -> Outcome:
    """Run something that later runs may meet."""
    return run_well(tmp_path / "run", TINY_BLAST, "time.max_steps=3")


@MODELS
def test_a_folder_that_holds_a_run_is_refused(model: str, tmp_path: Path, ranks: int) -> None:
    old = run_well(tmp_path / "run", model, SHORT)
    before = contents(old.directory)
    outcome = run(old.directory, model, ranks=ranks)
    assert_refused(outcome, "contains a run", "--restart latest", "--overwrite", "--output")
    assert contents(old.directory) == before


@MODELS
def test_overwriting_moves_the_old_run_aside_whole(model: str, tmp_path: Path, ranks: int) -> None:
    old = run_well(tmp_path / "run", model, SHORT)
    for count in (1, 2):
        before = contents(old.directory)
        steps = f"time.max_steps={2 + count}"
        new = run_well(old.directory, model, steps, overwrite=True, ranks=ranks)
        assert contents(tmp_path / f"run.old-{count}") == before
        assert list(new.history()["step"]) == list(range(3 + count))
        assert [path.name for path in new.snapshots] == ["snap_00000.h5", "snap_00001.h5"]
        assert f"run.old-{count}" in (new.directory / "log.txt").read_text()
    assert beside(old.directory) == ["run.old-1", "run.old-2"]
    telemetry = {path.parent for path in tmp_path.rglob("*.parquet")}
    assert telemetry == {
        tmp_path / name / "telemetry" for name in ("run", "run.old-1", "run.old-2")
    }


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (("problem.name=cosmology", "initial.path=missing"), 2),  # before the first step
        (("hydro.acceleration=[1e200, 0, 0]",), 1),  # in it
    ],
)
def test_a_run_that_does_not_come_to_stand_leaves_the_old_one(
    old: Outcome, fault: tuple[str, ...], code: int, ranks: int
) -> None:
    before = contents(old.directory)
    outcome = run(old.directory, TINY_BLAST, *fault, overwrite=True, ranks=ranks)
    assert outcome.code == code, outcome.text
    assert contents(old.directory) == before
    assert beside(old.directory) == []


def test_missing_initial_conditions_leave_a_folder_that_can_be_used(tmp_path: Path) -> None:
    missing = ("initial.kind=grafic", f"initial.path={tmp_path / 'missing'}")
    text = (Path(__file__).parents[2] / "examples/cosmology.toml").read_text()
    assert_refused(run(tmp_path / "run", text, *missing), "missing")
    run_well(tmp_path / "run", TINY_BLAST)


def test_what_else_lies_in_a_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "run/telemetry").mkdir(parents=True)
    names = ("notes.txt", "mesh.h5", "telemetry/thoughts.txt")
    for name in names:
        (tmp_path / "run" / name).write_text(name)
    outcome = run_well(tmp_path / "run", TINY_BLAST)
    for name in names:
        assert (outcome.directory / name).read_text() == name
    assert outcome.snapshots


def test_a_linked_folder_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "scratch")
    run_well(tmp_path / "link", TINY_BLAST, SHORT)
    run_well(tmp_path / "link", TINY_BLAST, SHORT, overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert beside(tmp_path / "scratch") == ["scratch.old-1"]


def test_a_run_killed_while_it_replaces_another_leaves_both_whole(tmp_path: Path) -> None:
    place, fresh = tmp_path / "run", tmp_path / "run.new-1"
    old = contents(run_well(place, TINY_BLAST, SHORT).directory)
    killed_before = killed_after = 0
    for delay in (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.3):
        with started(place, "--overwrite", overrides=ENDLESS):
            wait_for(fresh / "snap_00000.h5")
            time.sleep(delay)
        aside = tmp_path / "run.old-1"
        if aside.exists():
            killed_after += 1
            assert contents(aside) == old
            assert (place / "snap_00000.h5").exists()
            assert (place / "history.csv").read_text().startswith("step,")
            shutil.rmtree(place)
            aside.rename(place)
        else:
            killed_before += 1
            assert contents(place) == old
            shutil.rmtree(fresh)
    assert killed_before and killed_after


@contextmanager
def started(
    place: Path, *options: str, overrides: tuple[str, ...] = (), ranks: int = 1
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a run, and kill it in the end."""
    file = place.with_suffix(".toml")
    file.write_text(TINY_BLAST)
    words = [word for override in overrides for word in ("--set", override)]
    process = subprocess.Popen(
        octant_command("run", file, "--output", place, *options, *words, ranks=ranks),
        env=octant_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path}"
        time.sleep(0.02)


@MODELS
def test_a_second_run_in_a_folder_ends_with_the_name_of_the_first(
    model: str, tmp_path: Path, ranks: int
) -> None:
    place = tmp_path / "run"
    with started(place, overrides=ENDLESS) as first:
        wait_for(place / "snap_00000.h5")
        for how in ({}, {"overwrite": True}, {"restart": "latest"}):
            second = run(place, model, ranks=ranks, **how)
            assert_refused(second, f"process {first.pid} on {socket.gethostname()}", "--output")
        assert first.poll() is None
    # The lock ends with its process, however that ends.
    run_well(place, model, SHORT, overwrite=True, ranks=ranks)
