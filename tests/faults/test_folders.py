"""Bits flip, links lie in the folder of a run, and a second run wants it."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from disturbances import (
    OTHER_RANKS,
    Layer,
    Reference,
    assert_complete,
    assert_explained,
    assert_goes_on,
    begun,
    command,
    start,
)

from damage import chosen_bits, flip_bit
from running import octant

FLIPS = 4


@pytest.mark.parametrize("kind", ["snap", "slice_z0.5", "checkpoint"])
def test_bits_flip(
    kind: str,
    instant: int,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    """The file is named and not used; the checkpoint before is gone on from."""
    folder = reference.begin(tmp_path, goes_on=True)
    path = sorted(folder.glob(f"{kind}_*.h5"))[-1]
    for bit in chosen_bits(path, FLIPS, chance):
        flip_bit(path, bit)
        verified = octant("info", "--verify", path)
        assert verified.code in (1, 2), f"bit {bit}: {verified.text}"
        assert str(path) in verified.text
        flip_bit(path, bit)
    assert octant("info", "--verify", path).code == 0
    if kind == "checkpoint":
        flip_bit(path, bit)
        outcome = start(reference.flow, folder, restart="latest")
        assert_explained(outcome)
        assert "rename the corrupt one, and continue with --restart latest" in outcome.text
        path.rename(tmp_path / "damaged.h5")
        assert_goes_on(reference, folder, tmp_path, chance.choice(OTHER_RANKS))


def test_two_runs_want_one_folder(
    instant: int,
    layer: Layer,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    """The second one is refused as long as the first one is there, however slow that is."""
    goes_on = chance.random() < 0.5
    folder = reference.begin(tmp_path, goes_on)
    calls = [call.path.name for call in reference.calls[goes_on]]
    locked = calls.index("run.lock") + 4  # opened, emptied and signed
    instant_of_stop = chance.randrange(locked, locked + len(calls) // 2)
    how = chance.choice([{}, {"restart": "latest"}, {"overwrite": True}])
    restart = "latest" if goes_on else ""
    with layer.below(folder), begun(reference.flow, folder, restart=restart) as first:
        while layer.count(folder) < instant_of_stop:
            assert first.process.poll() is None
            time.sleep(0.001)
        first.signal_ranks(signal.SIGSTOP)
        second = octant(*command(reference.flow, folder, **how))
        first.signal_ranks(signal.SIGCONT)
        outcome = first.end()
    print(how, second.text, outcome.text)
    assert second.code == 2
    assert f'"{folder}": another run is writing to it' in second.text
    assert "wait until that run ends, stop it" in second.text
    assert_complete(reference, outcome)


def test_links_are_not_followed(
    instant: int,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    """Files that a run writes are links to files elsewhere; the history was moved there."""
    goes_on = chance.random() < 0.5
    folder = reference.begin(tmp_path, goes_on)
    folder.mkdir(exist_ok=True)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    if goes_on:
        shutil.move(folder / "history.csv", tmp_path / "history.csv")
        (folder / "history.csv").symlink_to(tmp_path / "history.csv")
    history = (tmp_path / "history.csv").read_bytes() if goes_on else b""
    links = 0
    for name in reference.written(goes_on):
        would_be_a_run = name.suffix in (".h5", ".parquet") or name.name == "history.csv"
        if (folder / name).exists() or (would_be_a_run and not goes_on):
            continue
        if name.name.startswith("checkpoint_") and name.suffix == ".h5":
            continue  # which would be the newest one
        (folder / name).parent.mkdir(exist_ok=True)
        link = chance.choice([os.symlink, os.link])
        link(victim, folder / name)
        links += 1
    assert links > 5
    outcome = start(reference.flow, folder, restart="latest" if goes_on else "")
    assert_complete(reference, outcome)
    assert victim.read_text() == "precious"
    assert not goes_on or (tmp_path / "history.csv").read_bytes() == history
