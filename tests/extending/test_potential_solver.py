"""The potential solver of docs/extending.md: one file and one word in the list."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from extended import with_program
from inputs import DRIFTING_BLAST, OPEN_ENDS, WITH_OPEN_ENDS
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    leaf_cells,
    octant,
    run,
    run_well,
)

extended_program = with_program("octant_with_a_potential_solver")

# Two bodies on one circle around the mass, which do not attract each other; half of it is refined.
CIRCLE = f"""
[problem]
name = "two_body"
mass = 0.5
companion_mass = 0.5
separation = 0.5
centre = [0.5, 0.5, 0.5]

[gravity]
enabled = true
solver = "fixed_mass"

[fixed_mass]
mass = 0.125
position = [0.5, 0.5, 0.5]

[hydro]
enabled = false

[mesh]
base_cells = [32, 32, 32]
block_size = 8
max_level = 1
{OPEN_ENDS}
[refine]
region_lower = [0.0, 0.6, 0.0]
region_upper = [1.0, 1.0, 1.0]
region_level = 1

[time]
cfl = 0.5
"""
# Gas that falls.
FALLING = f"""{DRIFTING_BLAST}
[gravity]
enabled = true
solver = "fixed_mass"

[fixed_mass]
mass = 0.5
position = [0.3, 0.4, 0.6]
softening = 0.05
"""


def positions(path: Path) -> np.ndarray:
    """Give the places of all bodies."""
    with h5py.File(path) as file:
        return file["particles/dark/position"][...]


@pytest.fixture(scope="module")
def falling(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the gas on one rank."""
    directory = tmp_path_factory.mktemp("one_rank") / "run"
    return run_well(directory, FALLING, *WITH_OPEN_ENDS, *CHECKPOINT_EVERY_STEP)


def test_potential_and_force_are_those_of_the_mass_on_all_levels(falling: Outcome) -> None:
    cells = leaf_cells(falling.last_snapshot, "gravity")
    assert len(np.unique(cells.volume)) > 1
    away = cells.position - [0.3, 0.4, 0.6]
    distance = np.sqrt((away**2).sum(axis=1) + 0.05**2)
    assert cells["potential"] == pytest.approx(-0.5 / distance, rel=1e-13)
    for axis, name in enumerate("xyz"):
        force = -0.5 * away[:, axis] / distance**3
        assert cells[f"acceleration_{name}"] == pytest.approx(force, rel=1e-12, abs=1e-13)


def test_bodies_come_back_after_a_period(tmp_path: Path) -> None:
    period = 2 * np.pi * np.sqrt(0.25**3 / 0.125)
    outcome = run_well(tmp_path / "run", CIRCLE, f"time.end={period}")
    first, last = (positions(path) for path in (outcome.snapshots[0], outcome.last_snapshot))
    # Forces between cells are interpolated: second order in cells of an eighth of the radius.
    assert last == pytest.approx(first, abs=0.03 * 0.25)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, falling: Outcome, ranks: int) -> None:
    assert_goes_on(tmp_path / "run", falling, 5, *WITH_OPEN_ENDS, ranks=ranks)


def test_multigrid_is_what_the_program_takes_by_itself() -> None:
    text = octant("params", "gravity").text
    assert '"multigrid" or "fmm" or "fixed_mass"' in text
    assert "fixed_mass.softening" in octant("params", "fixed_mass").text


def test_it_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", FALLING)
    assert outcome.code == 2
    assert "periodic" in outcome.text
    outcome = run(tmp_path / "other", FALLING, *WITH_OPEN_ENDS, "gravity.transfer=table.txt")
    assert outcome.code == 2
