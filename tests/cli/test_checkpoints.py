"""Files that no run can go on from, or that `octant info` cannot read, are named and refused."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import h5py
import pytest

from inputs import TINY_BLAST
from refusals import assert_refused
from running import (
    Outcome,
    octant,
    octant_command,
    octant_environment,
    run,
    run_well,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run something that leaves checkpoints and snapshots."""
    folder = tmp_path_factory.mktemp("written")
    return run_well(folder / "run", TINY_BLAST, "output.checkpoint_interval=1e-9")


def checkpoint_of(outcome: Outcome) -> Path:
    """Find the newest checkpoint of a run."""
    return sorted(outcome.directory.glob("checkpoint_*.h5"))[-1]


@pytest.fixture(
    params=["truncated", "cut_in_the_header", "empty", "text", "foreign", "folder", "missing"]
)
def unreadable(request: pytest.FixtureRequest, tmp_path: Path, written: Outcome) -> Path:
    """Name a file that is no whole file of Octant."""
    path = tmp_path / f"{request.param}.h5"
    whole = checkpoint_of(written).read_bytes()
    if request.param == "truncated":
        path.write_bytes(whole[: len(whole) // 2])
    elif request.param == "cut_in_the_header":
        path.write_bytes(whole[:40])
    elif request.param == "empty":
        path.touch()
    elif request.param == "text":
        path.write_text("step,time\n0,0\n")
    elif request.param == "folder":
        path.mkdir()
    elif request.param == "foreign":
        with h5py.File(path, "w") as file:
            file["temperature"] = [1.0, 2.0]
    return path


def test_a_restart_from_an_unreadable_file_is_refused(
    tmp_path: Path, unreadable: Path, ranks: int
) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, restart=unreadable, ranks=ranks)
    assert_refused(outcome, unreadable.name)


def test_info_refuses_an_unreadable_file(unreadable: Path, ranks: int) -> None:
    assert_refused(octant("info", unreadable, ranks=ranks), unreadable.name)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, written: Outcome) -> None:
    path = Path(shutil.copy(checkpoint_of(written), tmp_path / "forbidden.h5"))
    path.chmod(0)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = octant_command("info", path)
    environment = octant_environment()
    if os.geteuid() == 0:
        command = [*as_nobody, *command]
        # The worker's own folder is root's, and Open MPI makes one of the user's in it.
        environment["OMPI_MCA_orte_tmpdir_base"] = tempfile.gettempdir()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode in (126, 127):
        pytest.skip("nobody else may start the program here")
    text = done.stdout + done.stderr
    assert_refused(Outcome(done.returncode, text, tmp_path), path.name, "Permission denied")


def test_info_tells_what_a_file_holds(written: Outcome) -> None:
    for path in (checkpoint_of(written), written.last_snapshot):
        outcome = octant("info", path)
        assert outcome.code == 0, outcome.text
        for fact in ("sedov", "level 0: 8 blocks", "density"):
            assert fact in outcome.text


OTHER_RUNS = {
    "problem": (["problem.name=noh"], ["problem.name", "sedov", "noh"]),
    "block_size": (["mesh.block_size=8"], ["mesh.block_size", "4", "8"]),
    "base_cells": (["mesh.base_cells=[16, 16, 16]"], ["mesh.base_cells", "16"]),
    "domain": (["mesh.upper=[2, 2, 2]"], ["mesh.upper"]),
    "scalars": (["hydro.scalars=1"], ["hydro.scalars", "0", "1"]),
    "amount": (["problem.energy=2.0"], ["problem.energy = 1,", "has 2"]),
    "several": (
        ["hydro.gamma=1.5", 'mesh.boundary_x=["outflow", "outflow"]'],
        ["hydro.gamma", "1.5", "mesh.boundary_x", "outflow"],
    ),
}


@pytest.mark.parametrize("difference", OTHER_RUNS)
def test_a_checkpoint_of_another_run_is_refused(
    tmp_path: Path, written: Outcome, difference: str, ranks: int
) -> None:
    overrides, fragments = OTHER_RUNS[difference]
    checkpoint = checkpoint_of(written)
    outcome = run(tmp_path / "run", TINY_BLAST, *overrides, restart=checkpoint, ranks=ranks)
    assert_refused(outcome, checkpoint.name, *fragments)


def test_a_snapshot_is_not_a_checkpoint(tmp_path: Path, written: Outcome, ranks: int) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, restart=written.last_snapshot, ranks=ranks)
    assert_refused(outcome, written.last_snapshot.name, "snapshot", "checkpoint")


def test_latest_needs_a_checkpoint(tmp_path: Path, ranks: int) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, restart="latest", ranks=ranks)
    assert_refused(outcome, "latest", "no checkpoint")


def test_latest_takes_the_newest(tmp_path: Path, written: Outcome) -> None:
    shutil.copytree(written.directory, tmp_path / "run")
    more = "time.max_steps=3"
    outcome = run_well(tmp_path / "run", TINY_BLAST, more, restart="latest", ranks=3)
    assert list(outcome.history()["step"]) == [0, 1, 2, 3]


def test_a_restart_may_ask_for_more_snapshots(tmp_path: Path, written: Outcome) -> None:
    """The first of them would have been due before the checkpoint: time must not run backwards."""
    checkpoint = checkpoint_of(written)
    with h5py.File(checkpoint) as file:
        time = float(file["header"].attrs["time"])
    interval = f"output.snapshot_interval={0.9 * time}"
    steps = "time.max_steps=1000"
    outcome = run_well(
        tmp_path / "run", TINY_BLAST, interval, steps, f"time.end={2 * time}", restart=checkpoint
    )
    history = outcome.history()
    assert (history["dt"][:-1] > 0.0).all()
    assert outcome.last_snapshot.name >= "snap_00002.h5"
