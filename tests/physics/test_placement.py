"""Blocks are placed by what they cost, and fields do not depend on where blocks are."""

from pathlib import Path

import pytest

from inputs import CLUMPY_BOX, DRIFTING_BLAST
from refusals import assert_refused
from running import Outcome, assert_same_run, differing, run, run_well
from telemetry_tables import ask_one

MEASURED = "balance.cost=measured"


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    return run_well(tmp_path_factory.mktemp("one_rank") / "run", DRIFTING_BLAST)


@pytest.mark.parametrize(
    ("policy", "cost", "ranks"),
    [
        ("baseline", "time", 2),
        ("exact", "measured", 3),
        ("lpt", "measured", 4),
        ("cdp", "measured", 2),
        ("cdp_general", "measured", 4),
        ("cdp_chunked", "time", 3),
        ("cplx", "measured", 4),
        ("node", "measured", 4),
        ("zonal", "memory", 3),
        ("auto", "measured", 4),
        ("contiguous", "measured", 3),
    ],
)
def test_fields_are_the_same_under_every_policy(
    tmp_path: Path, reference: Outcome, policy: str, cost: str, ranks: int
) -> None:
    overrides = (f"balance.policy={policy}", f"balance.cost={cost}", "balance.cplx_x=50")
    nodes = "debug.ranks_per_node=2"
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *overrides, nodes, ranks=ranks)
    assert_same_run(outcome, reference)
    if policy != "contiguous":
        assert ask_one(outcome, "select count(*) from placement") > 0
        assert ask_one(outcome, "select distinct policy from placement") == policy


@pytest.mark.parametrize("exchange", ["p2p", "alltoall", "ksection"])
def test_fields_are_the_same_whether_messages_travel_during_work_or_not(
    tmp_path: Path, reference: Outcome, exchange: str
) -> None:
    overrides = (f"comm.exchange={exchange}", "comm.overlap=false")
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *overrides, ranks=3)
    assert_same_run(outcome, reference)


def test_blocks_cost_more_where_gravity_and_particles_are(tmp_path: Path) -> None:
    """Sweeps alone would be a small part of what a coarse step with gravity costs."""
    outcome = run_well(tmp_path / "run", CLUMPY_BOX, "time.max_steps=6", ranks=2)
    costs = ask_one(outcome, "select sum(cost_ns) from blocks")
    sweeps = ask_one(outcome, "select sum(cpu_ns) from phases where name = 'sweep'")
    assert costs > 1.2 * sweeps


# Block 0 is so dear that its rank would have it alone, and the other one all 26 others.
ONE_DEAR_BLOCK = (
    *("refine.gradient=[1e9]", 'debug.synthetic_load=["0:0:50"]', MEASURED),
    "balance.policy=lpt",
)
MOST_BLOCKS = "select max(blocks) from ranks where step > 4"


@pytest.fixture(scope="module")
def unlimited(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run with one dear block and any number of blocks on a rank."""
    directory = tmp_path_factory.mktemp("unlimited") / "run"
    return run_well(directory, DRIFTING_BLAST, *ONE_DEAR_BLOCK, ranks=2)


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ("balance.most_blocks=15", 15),
        (
            "balance.rank_memory=0.101",
            14,
        ),  # a block has 4^3 cells, 6 variables, 2 states, and tables
    ],
)
def test_a_rank_owns_no_more_blocks_than_it_has_memory_for(
    tmp_path: Path, unlimited: Outcome, limit: str, most: int
) -> None:
    assert ask_one(unlimited, MOST_BLOCKS) > 20  # of 27
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *ONE_DEAR_BLOCK, limit, ranks=2)
    assert ask_one(outcome, MOST_BLOCKS) == most
    assert differing(outcome.last_snapshot, unlimited.last_snapshot) == []


def test_all_levels_share_the_memory_of_a_rank(tmp_path: Path) -> None:
    """Each level by itself would give the first rank one block more than others."""
    # With this solver the blast has numbers of blocks that no policy divides evenly.
    even = ("balance.policy=lpt", "refine.interval=2", "hydro.riemann=hllc")
    most = "select max(blocks) from ranks where step >= 2 and step % 2 = 0"  # just redistributed
    free = run_well(tmp_path / "free", DRIFTING_BLAST, *even, ranks=4)
    limit = -(-ask_one(free, "select max(blocks) from steps") // 4)
    assert ask_one(free, most) > limit
    tight = run_well(
        tmp_path / "tight", DRIFTING_BLAST, *even, f"balance.most_blocks={limit}", ranks=4
    )
    assert ask_one(tight, most) == limit
    assert differing(tight.last_snapshot, free.last_snapshot) == []


def test_blocks_that_fit_nowhere_end_a_run(tmp_path: Path) -> None:
    limit = ("balance.policy=lpt", "balance.most_blocks=3")
    outcome = run(tmp_path / "run", DRIFTING_BLAST, *limit, ranks=2)
    assert_refused(outcome, "27 blocks do not fit on 2 ranks", "balance.most_blocks", code=1)


# A blast with one block in ten that takes sixteen times as long. A tile is a block: where a tile
# joins small ones, scattered blocks cost more.
LOADED_BLAST = """
[problem]
name = "sedov"
radius_cells = 5

[mesh]
base_cells = [64, 64, 64]
block_size = 16
max_level = 1

[refine]
gradient_fields = ["pressure"]
gradient = [0.2]

[balance]
interval = 2

[debug]
synthetic_load = ["random:0.1:16"]

[time]
max_steps = 12
"""

# Ranks meet after every sub-step of every level: the loads of levels do not make up for each other.
MAKESPAN = """
    select sum(most) / sum(mean) from
      (select step, level, max(work) as most, sum(work) / 8 as mean from
         (select step, level, rank, sum(work) as work from blocks group by all)
       where step >= 6 group by step, level)"""


def test_measured_costs_even_out_the_work_of_eight_ranks(tmp_path: Path) -> None:
    makespans = {}
    for policy in ("contiguous", "cplx"):
        overrides = (f"balance.policy={policy}", "balance.cplx_x=50")
        if policy == "cplx":
            overrides += (MEASURED,)
        outcome = run_well(tmp_path / policy, LOADED_BLAST, *overrides, ranks=8)
        makespans[policy] = ask_one(outcome, MAKESPAN)
    assert makespans["cplx"] < 0.75 * makespans["contiguous"], makespans
