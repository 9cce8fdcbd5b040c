"""Gravity of isolated systems: open sides, regions without mass, rounding, symmetry planes."""

from pathlib import Path

import numpy as np
import pytest

from inputs import OPEN_ENDS
from running import LeafCells, assert_same_run, leaf_cells, run, run_well

# A ball in a box whose sides it may be near to, for its gravity alone.
BALL = f"""
[problem]
name = "expression"
density = "1e-8 + ((x-2.5)^2 + (y-1)^2 + (z-0.8)^2 < 0.25)"

[gravity]
enabled = true
tolerance = 1e-6

[mesh]
base_cells = [32, 16, 16]
block_size = 8
upper = [4.0, 2.0, 2.0]
{OPEN_ENDS}

[hydro]
gamma = 1.6666666666666667

[time]
end = 0.0
"""
PAIR = (
    "problem.density=1e-8 + ((x-0.6)^2 + (y-1)^2 + (z-1)^2 < 0.16)"
    " + ((x-3.4)^2 + (y-1)^2 + (z-1)^2 < 0.16)"
)
COLUMN = ("mesh.base_cells=[8, 8, 64]", "mesh.upper=[1.0, 1.0, 8.0]")


def field_of(path: Path, *overrides: str, **how: object) -> LeafCells:
    """Run for the gravity of the initial state."""
    return leaf_cells(run_well(path, BALL, *overrides, **how).last_snapshot, "gravity")


def acceleration(cells: LeafCells) -> np.ndarray:
    return np.stack([cells[f"acceleration_{axis}"] for axis in "xyz"], axis=-1)


def errors(cells: LeafCells, density: np.ndarray) -> np.ndarray:
    """Find the errors of the force of cells outside of the mass, relative to direct sums."""
    heavy = density > 1e-4
    mass = (density * cells.size**3)[heavy]
    away = cells.position[heavy][None, :, :] - cells.position[~heavy][:, None, :]
    distance = np.sqrt((away**2).sum(axis=-1))
    exact = (mass[None, :, None] * away / distance[..., None] ** 3).sum(axis=1)
    found = acceleration(cells)[~heavy]
    return np.linalg.norm(found - exact, axis=-1) / np.linalg.norm(exact, axis=-1)


BOXES = {
    "off_centre": (),
    "in_a_corner": ("problem.density=1e-8 + ((x-0.45)^2 + (y-0.45)^2 + (z-0.45)^2 < 0.16)",),
    "at_both_ends": (PAIR,),
    "in_a_column": (
        *COLUMN,
        "problem.density=1e-8 + ((x-0.5)^2 + (y-0.5)^2 + (z-1.2)^2 < 0.1)",
    ),
}


@pytest.mark.parametrize("name", BOXES)
def test_force_without_transforms_is_that_of_direct_sums(tmp_path: Path, name: str) -> None:
    found = {}
    for base in ("fft", "multigrid"):
        outcome = run_well(tmp_path / base, BALL, f"gravity.base={base}", *BOXES[name])
        cells = leaf_cells(outcome.last_snapshot, "gravity")
        found[base] = errors(cells, leaf_cells(outcome.last_snapshot)["density"])
    assert "estimated maximum force error at the boundary" in outcome.text
    assert np.median(found["multigrid"]) < 0.01
    # What is larger beside the coarse surface of a ball is the mesh's error, with transforms, too.
    most = {base: np.percentile(error, 99) for base, error in found.items()}
    assert most["multigrid"] < 1.1 * most["fft"] + 0.005


def test_force_without_transforms_has_the_same_bits_on_any_number_of_ranks(tmp_path: Path) -> None:
    overrides = ("gravity.base=multigrid", "mesh.max_level=1", "refine.density=[0.01]")
    alone = run_well(tmp_path / "alone", BALL, *overrides)
    for ranks in (2, 3):
        assert_same_run(run_well(tmp_path / f"{ranks}", BALL, *overrides, ranks=ranks), alone)


@pytest.mark.parametrize("base", ["fft", "multigrid"])
def test_refined_region_at_an_open_side_is_as_good_as_a_uniform_mesh(
    tmp_path: Path, base: str
) -> None:
    region = (
        "mesh.max_level=1",
        "refine.region_level=1",
        "refine.region_lower=[1.6, 0.0, 0.0]",
        "refine.region_upper=[3.4, 2.0, 1.5]",
    )
    outcome = run_well(tmp_path / "run", BALL, f"gravity.base={base}", *region)
    cells = leaf_cells(outcome.last_snapshot, "gravity")
    density = leaf_cells(outcome.last_snapshot)["density"]
    outside = density <= 1e-4
    x, size = cells.position[outside], cells.size[outside]
    beside = (x[:, 2] < 0.125) & (size < 0.1) & (x[:, 0] > 1.9) & (x[:, 0] < 3.1)
    found = errors(cells, density)
    assert np.median(found) < 0.01
    # 0.0043 on a mesh that is as fine everywhere; 0.06 if the coarse potential is extrapolated.
    assert np.percentile(found[beside], 99) < 0.0045


# A ball, and a refined region in the thin gas beside it.
THIN_REGION = f"""
[problem]
name = "evrard"
ambient_density = 1e-12

[gravity]
enabled = true

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 3
lower = [-4.0, -4.0, -4.0]
upper = [4.0, 4.0, 4.0]
{OPEN_ENDS}

[refine]
region_level = 3
region_lower = [2.0, 2.0, 2.0]
region_upper = [2.2, 2.2, 2.2]

[hydro]
gamma = 1.6666666666666667

[time]
max_steps = 1
"""


@pytest.mark.parametrize("base", ["fft", "multigrid"])
def test_refined_regions_need_no_mass(tmp_path: Path, base: str) -> None:
    outcome = run_well(tmp_path / "run", THIN_REGION, f"gravity.base={base}")
    assert "rounding" not in outcome.text
    cells = leaf_cells(outcome.last_snapshot, "gravity")
    fine = cells.size < 0.1
    distance = np.linalg.norm(cells.position[fine], axis=1)
    force = np.linalg.norm(acceleration(cells)[fine], axis=1)
    assert force == pytest.approx(1 / distance**2, rel=0.02)


@pytest.mark.parametrize("base", ["fft", "multigrid"])
def test_tolerance_below_rounding_is_warned_of_once(tmp_path: Path, base: str) -> None:
    outcome = run_well(
        tmp_path / "run", THIN_REGION, f"gravity.base={base}", "gravity.tolerance=1e-17"
    )
    assert outcome.text.count("round-off limits the relative residual") == 1


@pytest.mark.parametrize("solver", ["multigrid", "fmm"])
@pytest.mark.parametrize("axis", "xyz")
def test_symmetry_planes_are_refused(tmp_path: Path, solver: str, axis: str) -> None:
    plane = f'mesh.boundary_{axis}=["reflecting", "outflow"]'
    outcome = run(tmp_path / "run", BALL, f"gravity.solver={solver}", plane)
    assert outcome.code == 2
    assert f"mesh.boundary_{axis}" in outcome.text
    assert "gravity.beyond_walls" in outcome.text


def test_walls_around_the_whole_system_change_no_force(tmp_path: Path) -> None:
    walls = [f'mesh.boundary_{axis}=["reflecting", "reflecting"]' for axis in "xyz"]
    inside = field_of(tmp_path / "walls", *walls, "gravity.beyond_walls=vacuum")
    assert np.array_equal(acceleration(inside), acceleration(field_of(tmp_path / "open")))
