"""Messages start late, overtake each other and leave in bursts, and ranks stall: the same bits."""

import random
import subprocess
from pathlib import Path

from disturbances import FLOWS, Network, Reference, differing, results, start

from running import launch_options, octant_environment

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


def test_the_network_exposes_a_wrong_program(network: Network, tmp_path: Path) -> None:
    """A message that overtakes another one, and one that is neither completed nor received."""
    source, program = Path(__file__).with_name("impatient.c"), tmp_path / "impatient"
    subprocess.run(["mpicc", "-o", program, source], check=True)
    wrong = []
    for seed in range(5):
        with network.of(seed, tmp_path / "run"):
            done = subprocess.run(
                ["mpirun", *launch_options(), "-n", "2", program],
                env=octant_environment(),
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
        wrong.append(int(done.stdout.split()[-1]))
        sender, receiver = network.counts(tmp_path / "run", 2)
        assert sender["completed"] == sender["begun"] - 1
        assert receiver["unreceived"] == 1
    assert max(wrong) > 0, wrong
