"""What is in files is in their manual."""

import re
from pathlib import Path

import h5py
import pytest

from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX
from running import CHECKPOINT_EVERY_STEP, ROOT, run_well


def names_in(path: Path) -> set[str]:
    """List the datasets of a file, levels as level_L, and the attributes of its groups."""
    names: set[str] = set()

    def note(name: str, found: h5py.Group | h5py.Dataset) -> None:
        if isinstance(found, h5py.Dataset):
            names.add("/" + re.sub(r"level_\d+", "level_L", name))
        else:
            names.update(found.attrs)

    with h5py.File(path) as file:
        file.visititems(note)
    return names


@pytest.mark.parametrize("case", [CLUMPY_BOX, SMALL_CHANNEL], ids=["amr", "dns"])
def test_the_manual_describes_all_that_files_hold(tmp_path: Path, case: str) -> None:
    manual = (ROOT / "docs/files.md").read_text()
    often = [*CHECKPOINT_EVERY_STEP, "time.max_steps=2"]
    if case == SMALL_CHANNEL:
        often.append("statistics.interval=1")
    outcome = run_well(tmp_path / "run", case, *often)
    checkpoint = sorted(outcome.directory.glob("checkpoint_*.h5"))[-1]
    for name in names_in(outcome.last_snapshot) | names_in(checkpoint):
        leaf = name.rpartition("/")[2]
        assert f"`{name}`" in manual or f"`{leaf}`" in manual, f"docs/files.md: no word of {name}"
