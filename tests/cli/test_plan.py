"""`octant run --plan` prints the tasks of a coarse step in the order in which they run."""

from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from refusals import assert_refused
from running import ROOT, octant


def plan(example: str, *settings: str) -> list[tuple[str, str]]:
    """Return levels and tasks in their order."""
    overrides = [word for setting in settings for word in ("--set", setting)]
    outcome = octant("run", ROOT / f"examples/{example}.toml", "--plan", *overrides)
    assert outcome.code == 0, outcome.text
    rows = [line for line in outcome.text.splitlines() if line and line[0].isdigit()]
    return [(row[:7].strip(), row[7:52].strip()) for row in rows]


def test_finer_levels_advance_between_the_parts_of_the_coarser_ones() -> None:
    rows = plan("sedov", "mesh.max_level=1")
    names = [name for _, name in rows]
    assert rows[:2] == [("0-1", "clocks of all levels"), ("0", "gas")]
    assert ("1", "gas") in rows
    fine = rows.index(("1", "gas"))
    assert names.index("halo of the coarser level") < fine
    assert fine < names.index("refluxing and restriction")
    assert not any("kick" in name or "drift" in name for name in names), "no gravity, no particles"


def test_tasks_are_those_that_the_run_has() -> None:
    names = [name for _, name in plan("cosmology", "mesh.max_level=0")]
    order = ["kick, first half", "drift", "gas", "deposit", "potential", "kick, second half"]
    assert [name for name in names if name in order][: len(order)] == order


@pytest.mark.parametrize("subcycle", ["true", "false"])
def test_the_plan_says_how_many_substeps_there_are(subcycle: str) -> None:
    overrides = ["--set", f"time.subcycle={subcycle}"]
    text = octant("run", ROOT / "examples/sedov.toml", "--plan", *overrides).text
    assert ("in each of two substeps" in text) == (subcycle == "true")


def test_there_is_no_plan_for_a_channel(tmp_path: Path) -> None:
    file = tmp_path / "channel.toml"
    file.write_text(SMALL_CHANNEL)
    assert_refused(octant("run", file, "--plan"), "--plan", 'model = "amr"')
