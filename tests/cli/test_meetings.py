"""How often all ranks of a run meet (docs/scaling.md)."""

from pathlib import Path

import pytest

from inputs import GALAXIES_IN_A_BOX
from running import run_well
from telemetry_tables import ask

NESTED_BOXES = """
[problem]
name = "sound_wave"
wave = [1, 1, 1]
amplitude = 0.1
velocity = [0.3, 0.2, 0.1]

[mesh]
base_cells = [16, 16, 16]
block_size = 4

[refine]
region_lower = [0.4, 0.4, 0.4]
region_upper = [0.6, 0.6, 0.6]

[time]
end = 1.0
max_steps = 3
"""

# By what ranks meet for and level, in the last step; measures of the new state have no level.
MEETINGS = """
    select name, level, sum(calls) from phases
    where phase = 'collective' and level >= 0 and rank = 0 and step = 2 group by name, level"""


@pytest.mark.parametrize("finest", [1, 2, 3])
def test_ranks_go_on_before_they_know_whether_a_sweep_broke_cells(
    tmp_path: Path, finest: int
) -> None:
    levels = (f"mesh.max_level={finest}", f"refine.region_level={finest}")
    run = run_well(tmp_path / "run", NESTED_BOXES, *levels, "comm.exchange=p2p", ranks=2)
    meetings = {(name, level): calls for name, level, calls in ask(run, MEETINGS)}
    # Of two steps of the finest level the next ghosts follow one; the other ends a coarser step.
    steps = [2**level for level in range(finest)] + [2 ** (finest - 1)]
    in_passing = {("validation of a sweep", level): steps[level] for level in range(finest + 1)}
    assert meetings == in_passing | {("wait for all ranks", finest): 2 ** (finest - 1)}


# All reductions and other collective calls of a step.
COLLECTIVES = """
    select step, sum(calls) from phases
    where phase = 'collective' and rank = 0 and step between 10 and 18 group by step"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_step_of_a_box_of_galaxies_takes_few_reductions(tmp_path: Path, ranks: int) -> None:
    quiet = ("output.snapshot_interval=0", "output.final_checkpoint=false")
    run = run_well(tmp_path / "run", GALAXIES_IN_A_BOX, *quiet, ranks=ranks)
    calls = dict(ask(run, COLLECTIVES))
    assert len(calls) == 9
    # Two levels with two steps of the finer one; stars form, and the mesh changes in most steps.
    assert max(calls.values()) <= 45
