"""Blocks are placed by what they cost, and fields do not depend on where blocks are."""

from pathlib import Path

import pytest

from cases import DRIFTING_BLAST
from running import Outcome, differing, run_well
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
    assert differing(outcome.last_snapshot, reference.last_snapshot) == []
    if policy != "contiguous":
        assert ask_one(outcome, "select count(*) from placement") > 0
        assert ask_one(outcome, "select distinct policy from placement") == policy


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
