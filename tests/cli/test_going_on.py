"""A restarted run continues as if undisturbed: with its parameters, its history and its bits."""

from pathlib import Path

import pytest

from flows import SMALL_CAVITY, SMALL_CHANNEL, differing_fields
from inputs import CLUMPY_BOX, DRIFTING_BLAST, TINY_BLAST
from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, Outcome, contents, differing, run, run_well


@pytest.fixture
def old(tmp_path: Path) -> Outcome:
    """Run something for four steps, each with its checkpoint."""
    steps = ("time.max_steps=4", *CHECKPOINT_EVERY_STEP)
    return run_well(tmp_path / "run", TINY_BLAST, *steps)


def results(outcome: Outcome) -> dict[str, bytes]:
    """Read all files but the log, which tells of failing attempts."""
    found = contents(outcome.directory)
    return {name: found[name] for name in found.keys() - {"log.txt"}}


def test_another_problem_does_not_go_on_from_a_checkpoint(old: Outcome, ranks: int) -> None:
    before = results(old)
    change = ("problem.energy=0.5", "hydro.gamma=1.5", "time.max_steps=9")
    outcome = run(old.directory, TINY_BLAST, *change, restart="latest", ranks=ranks)
    assert_refused(outcome, "problem.energy = 1,", "0.5", "hydro.gamma = 1.4", "1.5")
    assert results(old) == before


def test_what_may_change_is_told(old: Outcome) -> None:
    change = ("time.cfl=0.5", "time.max_steps=5")
    outcome = run_well(old.directory, TINY_BLAST, *change, restart="latest")
    assert "time.cfl = 0.8, but this run has 0.5" in outcome.text


def test_a_scheme_that_reaches_farther_is_told(tmp_path: Path) -> None:
    run_well(tmp_path / "run", DRIFTING_BLAST, "time.max_steps=3")
    outcome = run(tmp_path / "run", DRIFTING_BLAST, "hydro.limiter=huynh", restart="latest")
    assert_refused(outcome, "its neighbour", "the stencil of the scheme or limiter is wider")


def test_an_older_checkpoint_of_a_folder_is_refused(old: Outcome, ranks: int) -> None:
    before = results(old)
    older = old.directory / "checkpoint_00001.h5"
    outcome = run(old.directory, TINY_BLAST, restart=older, ranks=ranks)
    assert_refused(outcome, older.name, "checkpoint_00003.h5", "--output", "--overwrite")
    assert results(old) == before


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_older_checkpoint_goes_on_elsewhere_with_all_of_its_history(
    old: Outcome, overwrite: bool, ranks: int
) -> None:
    place = old.directory if overwrite else old.directory.with_name("other")
    branch = run_well(
        place,
        TINY_BLAST,
        "time.max_steps=3",
        restart=old.directory / "checkpoint_00001.h5",
        overwrite=overwrite,
        ranks=ranks,
    )
    assert list(branch.history()["step"]) == [0, 1, 2, 3]
    assert [path.name for path in branch.snapshots] == ["snap_00001.h5"]


def test_snapshots_of_an_abandoned_course_are_not_shown_as_the_new_one(
    old: Outcome, ranks: int
) -> None:
    """A run is killed some time after its last checkpoint, and goes on to an earlier end."""
    for number in (2, 3):
        (old.directory / f"snap_{number:05d}.h5").write_text("written after the checkpoint")
    outcome = run_well(old.directory, TINY_BLAST, "time.max_steps=5", restart="latest", ranks=ranks)
    assert outcome.last_snapshot.name == "snap_00002.h5"
    assert outcome.last_snapshot.read_bytes() != b"written after the checkpoint"
    kept = sorted((outcome.directory / "snapshots.superseded-1").iterdir())
    assert [path.name for path in kept] == ["snap_00002.h5", "snap_00003.h5"]


def test_a_history_takes_further_levels(old: Outcome) -> None:
    deeper = ("mesh.max_level=1", "time.max_steps=5")
    history = run_well(old.directory, TINY_BLAST, *deeper, restart="latest").history()
    assert list(history["step"]) == [0, 1, 2, 3, 4, 5]
    assert list(history["blocks_1"][:4]) == [0, 0, 0, 0]


def test_a_piece_of_a_row_is_dropped(old: Outcome) -> None:
    """A full disk or a kill may leave one."""
    with (old.directory / "history.csv").open("a") as history:
        history.write("1")
    outcome = run_well(old.directory, TINY_BLAST, "time.max_steps=5", restart="latest")
    assert list(outcome.history()["step"]) == [0, 1, 2, 3, 4, 5]


def test_a_run_that_is_done_is_not_done_again(old: Outcome) -> None:
    before = [path.name for path in old.directory.glob("*.h5")]
    outcome = run_well(old.directory, TINY_BLAST, "time.max_steps=4", restart="latest")
    assert [path.name for path in old.directory.glob("*.h5")] == before
    assert list(outcome.history()["step"]) == [0, 1, 2, 3, 4]


def test_a_run_without_anything_to_do_says_why(old: Outcome) -> None:
    outcome = run_well(old.directory, TINY_BLAST, "time.max_steps=4", restart="latest")
    assert "nothing to do: the restart is at step 4, and time.max_steps = 4" in outcome.text
    late = ("time.max_steps=9", "time.end=1e-30")
    outcome = run_well(old.directory, TINY_BLAST, *late, restart="latest")
    assert "nothing to do: the restart is at time" in outcome.text
    outcome = run_well(old.directory, TINY_BLAST, "time.max_steps=5", restart="latest")
    assert "nothing to do" not in outcome.text


def test_a_checkpoint_that_is_not_there_is_answered_with_those_that_are(
    old: Outcome, tmp_path: Path, ranks: int
) -> None:
    there = ["checkpoint_00003.h5", "checkpoint_00002.h5"]
    for wrong in ("WRONG", old.directory / "checkpoint_00009.h5", old.directory):
        outcome = run(old.directory, TINY_BLAST, restart=wrong, ranks=ranks)
        assert_refused(outcome, f"--restart {wrong}", *there)
    outcome = run(tmp_path / "new", TINY_BLAST, restart="WRONG", ranks=ranks)
    assert_refused(outcome, "--restart WRONG", f"no checkpoint_*.h5 in {tmp_path / 'new'}")


def test_another_grid_leads_to_the_stored_flow(tmp_path: Path) -> None:
    run_well(tmp_path / "run", SMALL_CHANNEL, "time.max_steps=1")
    for setting in ("grid.cells=[24, 15, 26]", "grid.stretching=cosine"):
        outcome = run(tmp_path / "run", SMALL_CHANNEL, setting, restart="latest")
        assert_refused(outcome, setting.split("=")[0], 'problem.name = "stored_flow"')
    outcome = run(tmp_path / "run", SMALL_CHANNEL, "dns.viscosity=0.1", restart="latest")
    assert_refused(outcome, "dns.viscosity")
    assert "stored_flow" not in outcome.text


AMR = {"blast": DRIFTING_BLAST, "box": CLUMPY_BOX}
DNS = {"channel": SMALL_CHANNEL, "cavity": SMALL_CAVITY}


@pytest.mark.parametrize("case", [*AMR, *DNS])
def test_a_run_that_is_done_can_be_extended(case: str, tmp_path: Path, ranks: int) -> None:
    parameters = (AMR | DNS)[case]
    whole = run_well(tmp_path / "whole", parameters, "time.max_steps=8")
    for steps, restart in ((3, None), (5, "latest"), (8, "latest")):
        limit = f"time.max_steps={steps}"
        part = run_well(tmp_path / "run", parameters, limit, restart=restart, ranks=ranks)
    compare = differing if case in AMR else differing_fields
    assert compare(part.last_snapshot, whole.last_snapshot) == []
    histories = [(each.directory / "history.csv").read_text() for each in (part, whole)]
    assert histories[0] == histories[1]


def test_an_end_in_time_can_be_moved(tmp_path: Path, ranks: int) -> None:
    """The step before the first end is a shorter one, as before a snapshot."""
    steps = "time.max_steps=1000"
    there = "output.snapshot_times=[0.004]"
    whole = run_well(tmp_path / "whole", TINY_BLAST, steps, "time.end=0.01", there)
    run_well(tmp_path / "run", TINY_BLAST, steps, "time.end=0.004", ranks=ranks)
    part = run_well(
        tmp_path / "run", TINY_BLAST, steps, "time.end=0.01", restart="latest", ranks=ranks
    )
    assert differing(part.last_snapshot, whole.last_snapshot) == []
    assert part.history()["time"].tolist() == whole.history()["time"].tolist()


def test_the_last_checkpoint_can_be_left_out(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", TINY_BLAST, "output.final_checkpoint=false")
    assert not list(outcome.directory.glob("checkpoint_*.h5"))
