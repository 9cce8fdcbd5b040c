"""A call of the system fails on any file of a run, at any instant; or the disk is full."""

import errno
import random
import shutil
from pathlib import Path

import pytest
from disturbances import (
    OTHER_RANKS,
    Fault,
    Layer,
    Reference,
    assert_survives,
    chosen,
    lose_what_is_not_on_the_disk,
    start,
)

from refusals import small_disk

# The call that fails, and how: with an error, or, of a write, after half of its bytes.
CALLS = {
    "open": ("open", errno.EIO),
    "read": ("read", errno.EIO),
    "write": ("write", errno.EIO),
    "short_write": ("write", "short"),
    "truncate": ("truncate", errno.EIO),
    "fsync": ("sync", errno.EIO),
    "fsync_folder": ("sync_folder", errno.EIO),
    "close": ("close", errno.EIO),
    "rename": ("rename", errno.EACCES),
    "replace": ("replace", errno.EACCES),
    "remove": ("remove", errno.EACCES),
    "mkdir": ("mkdir", errno.EACCES),
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_fails(
    kind: str,
    instant: int,
    layer: Layer,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    name, action = CALLS[kind]
    goes_on, rank, number = chosen(reference.calls, name, chance)
    folder = reference.begin(tmp_path, goes_on)
    with layer.below(folder, Fault(name, str(action), number, rank)):
        outcome = start(reference.flow, folder, restart="latest" if goes_on else "")
    calls = layer.calls(folder)
    print([call for call in calls if call.result == "failed"], outcome.text)
    if name.startswith("sync"):
        lose_what_is_not_on_the_disk(folder, calls)
    assert_survives(reference, outcome, tmp_path, chance.choice(OTHER_RANKS))


def test_the_disk_is_full_for_a_rank(
    instant: int,
    layer: Layer,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    """A quota of one user, or a disk of one node."""
    folder = reference.begin(tmp_path, goes_on := chance.random() < 0.5)
    space = chance.randrange(100, reference.bytes // (2 if goes_on else 1))
    fault = Fault(rank=chance.randrange(2), space=space)
    with layer.below(folder, fault):
        outcome = start(reference.flow, folder, restart="latest" if goes_on else "")
    print(fault, outcome.text)
    assert_survives(reference, outcome, tmp_path, chance.choice(OTHER_RANKS))


def test_the_disk_is_full(
    instant: int,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    size = chance.randrange(64 << 10, reference.bytes)
    with small_disk(tmp_path / "disk", f"size={size}") as disk:
        outcome = start(reference.flow, disk / "run")
        print(f"{size} bytes", outcome.text)
        shutil.copytree(disk / "run", tmp_path / "left")
        assert_survives(reference, outcome, tmp_path, chance.choice(OTHER_RANKS))
