"""Messages start late, overtake each other and leave in bursts, and ranks stall: the same bits."""

import random
from pathlib import Path

from disturbances import FLOWS, Network, Reference, differing, results, start

EXCHANGES = ("p2p", "alltoall", "ksection")  # of blocks; flows on pencils have one


def test_an_irregular_network_changes_no_bit(
    instant: int, network: Network, reference: Reference, chance: random.Random, tmp_path: Path
) -> None:
    seed, ranks = chance.randrange(2**32), chance.choice((2, 3))
    goes_on = chance.random() < 0.25
    overrides = []
    if reference.flow is not FLOWS["dns"]:
        overrides.append(f"comm.exchange={chance.choice(EXCHANGES)}")
    folder = reference.begin(tmp_path, goes_on)
    with network.of(seed, folder):
        outcome = start(
            reference.flow,
            folder,
            *overrides,
            ranks=ranks,
            restart="latest" if goes_on else "",
        )
    print(f"NETWORK_SEED={seed}, {ranks} ranks", *overrides, outcome.text)
    assert outcome.code == 0
    assert differing(results(folder), reference.results) == []
    counts = network.counts(folder, ranks)
    print(counts)
    assert min(count["late"] for count in counts) > 0
    for count in counts:
        assert count["completed"] == count["begun"]
        assert count["unreceived"] == 0
