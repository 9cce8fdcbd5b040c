"""A run is killed, or the power fails, at any instant."""

import os
import random
import signal
import time
from pathlib import Path

from disturbances import (
    OTHER_RANKS,
    Fault,
    Layer,
    Reference,
    assert_survives,
    begun,
    chosen,
    lose_what_is_not_on_the_disk,
    start,
)


def test_a_run_is_killed(
    instant: int,
    layer: Layer,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    """All processes at once, or one rank; some time after a random call."""
    goes_on = chance.random() < 0.5
    folder = reference.begin(tmp_path, goes_on)
    calls, delay = chance.randrange(len(reference.calls[goes_on])), 0.02 * chance.random()
    victim = chance.choice(["all", "rank 0", "rank 1"])
    how = {"restart": "latest"} if goes_on else {}
    with layer.below(folder), begun(reference.flow, folder, **how) as run:
        while run.process.poll() is None and layer.count(folder) < calls:
            time.sleep(0.001)
        time.sleep(delay)
        if victim == "all":
            run.kill()
        elif len(ranks := run.ranks()) == 2:
            os.kill(ranks[int(victim[-1])], signal.SIGKILL)
        outcome = run.end()
    print(f"{victim}, {delay} s after call {calls}", outcome.text)
    assert_survives(reference, outcome, tmp_path, chance.choice(OTHER_RANKS), killed=True)


def test_a_rank_is_killed_at_a_call(
    instant: int,
    layer: Layer,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    goes_on, rank, number = chosen(reference.calls, "any", chance)
    folder = reference.begin(tmp_path, goes_on)
    with layer.below(folder, Fault("any", "kill", number, rank)):
        outcome = start(reference.flow, folder, restart="latest" if goes_on else "")
    print(layer.calls(folder)[-1], outcome.text)
    assert_survives(reference, outcome, tmp_path, chance.choice(OTHER_RANKS), killed=True)


def test_the_power_fails(
    instant: int,
    layer: Layer,
    reference: Reference,
    chance: random.Random,
    tmp_path: Path,
) -> None:
    """What was not synchronised is lost; what was announced is not."""
    goes_on, rank, number = chosen(reference.calls, "any", chance)
    folder = reference.begin(tmp_path, goes_on)
    with layer.below(folder, Fault("any", "kill", number, rank)):
        outcome = start(reference.flow, folder, restart="latest" if goes_on else "")
    lose_what_is_not_on_the_disk(folder, layer.calls(folder))
    print(layer.calls(folder)[-1], outcome.text)
    assert_survives(reference, outcome, tmp_path, chance.choice(OTHER_RANKS), killed=True)
