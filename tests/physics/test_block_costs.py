"""Costs of blocks by component, and load balancing by them."""

from pathlib import Path

import pytest

from galaxies import PROTON, X
from inputs import CLUMPY_BOX, GALAXIES_IN_A_BOX
from refusals import assert_refused
from running import assert_same_run, run, run_well
from telemetry_tables import ask, ask_one

# Gas at rest: that of the lower half cools, and that of the upper half may not for a long time.
# Units of 10 pc, n_H = 10 and 0.1 Myr.
COOLING_HALF = f"""
[problem]
name = "expression"
temperature = "2e5"
species = {{delayed = "z < 0.5 ? 0 : 1"}}

[units]
length = 3.0857e19
density = {10.0 * PROTON / X!r}
time = 3.15576e12

[cooling]
enabled = true
method = "original"
delayed = true
delay_time = 1e6

[mesh]
base_cells = [32, 32, 32]
block_size = 4

[balance]
interval = 2

[time]
max_steps = 8
"""
# The lower half of the box has the 256 lowest Morton keys; there are 512 blocks.
COOLING = "key < 256"


def test_cooling_costs_where_gas_cools(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", COOLING_HALF)
    # The least of all steps: what a busy machine adds to a step is not in it.
    least = f"select {COOLING} as cools, min(cells_ns) as cost from blocks where step > 0"
    medians = f"select median(cost) from ({least} group by key) group by cools order by cools"
    (delayed,), (cooling,) = ask(outcome, medians)
    assert cooling > 2.0 * delayed


def test_components_of_a_cost_add_up(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", GALAXIES_IN_A_BOX, "time.max_steps=12", ranks=2)
    rest, *parts = ask(
        outcome,
        "select sum(cost_ns - gravity_ns - cells_ns - particles_ns - interactions_ns),"
        " sum(gravity_ns), sum(cells_ns), sum(particles_ns), sum(interactions_ns) from blocks",
    )[0]
    assert min(parts) > 0.0
    sweeps = ask_one(outcome, "select sum(cpu_ns) from phases where name = 'sweep'")
    assert rest == pytest.approx(sweeps, rel=0.3)


@pytest.mark.parametrize(
    "costs", [("balance.cost=measured",), ("balance.cost=time", "balance.time_alpha=1.0")]
)
def test_ranks_share_the_cooling_gas(tmp_path: Path, costs: tuple[str, ...]) -> None:
    """Equal numbers of blocks per rank would leave the first rank with all of it."""
    along_curve = "balance.decomposition=morton"
    even = run_well(tmp_path / "even", COOLING_HALF, along_curve, ranks=2)
    outcome = run_well(tmp_path / "run", COOLING_HALF, along_curve, *costs, ranks=2)
    # The median of the steps: a rank that lost the processor for a while cost more in that step.
    first_rank = f"""select median(cooling) from
        (select step, count(*) filter ({COOLING}) as cooling from blocks
         where rank = 0 and step >= 4 group by step)"""
    assert ask_one(even, first_rank) == 256
    assert ask_one(outcome, first_rank) < 230
    assert_same_run(outcome, even)


@pytest.mark.parametrize(("threshold", "redistributes"), [(1.2, True), (5.0, False), (0.0, False)])
def test_a_threshold_starts_a_redistribution(
    tmp_path: Path, threshold: float, redistributes: bool
) -> None:
    settings = (
        "balance.interval=0",
        "balance.decomposition=morton",
        "balance.cost=measured",
        f"balance.imbalance_threshold={threshold}",
    )
    outcome = run_well(tmp_path / "run", COOLING_HALF, *settings, ranks=2)
    moved = ask_one(outcome, "select count(*) from steps where rebalanced")
    assert (moved > 0) == redistributes


def test_a_threshold_below_one_is_refused(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", COOLING_HALF, "balance.imbalance_threshold=0.1")
    assert_refused(outcome, "balance.imbalance_threshold = 0.1", "ratio of maximum to mean")


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_share_the_memory_of_fields_and_particles(tmp_path: Path, ranks: int) -> None:
    settings = ("balance.cost=memory", "balance.policy=exact", "time.max_steps=11")
    outcome = run_well(tmp_path / "run", CLUMPY_BOX, *settings, ranks=ranks)
    # Step 10 begins with a redistribution.
    most, least = ask(
        outcome, "select max(data_bytes), min(data_bytes) from ranks where step = 10"
    )[0]
    assert most < 1.1 * least


# A curve is divided between groups of eight blocks at best, k-section between layers of blocks.
@pytest.mark.parametrize(("decomposition", "bound"), [("ksection", 1.05), ("hilbert", 1.02)])
def test_a_smaller_tolerance_balances_better(
    tmp_path: Path, decomposition: str, bound: float
) -> None:
    settings = (
        "balance.cost=memory",
        "time.max_steps=11",
        f"balance.decomposition={decomposition}",
    )
    ratios, outcomes = [], []
    for tolerance in ("0.0", "1.0"):
        outcome = run_well(
            tmp_path / tolerance, CLUMPY_BOX, *settings, f"balance.tolerance={tolerance}", ranks=3
        )
        bytes_of = "select max(data_bytes) / min(data_bytes) from ranks where step = 10"
        ratios.append(ask_one(outcome, bytes_of))
        outcomes.append(outcome)
    assert ratios[0] < bound < ratios[1]
    assert_same_run(*outcomes)


def test_heavy_particles_spread_over_ranks(tmp_path: Path) -> None:
    """With weightless blocks, ranks have equal numbers of particles."""
    settings = ("balance.cost=memory", "balance.policy=exact", "time.max_steps=11")
    light = run_well(tmp_path / "light", CLUMPY_BOX, *settings, ranks=2)
    heavy = run_well(tmp_path / "heavy", CLUMPY_BOX, *settings, "balance.weight_part=1e9", ranks=2)
    blocks = "select max(blocks) - min(blocks) from ranks where step = 10"
    assert ask_one(heavy, blocks) != ask_one(light, blocks)
    assert_same_run(heavy, light)
