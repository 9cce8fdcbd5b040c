"""Advected fractions keep their bounds and their sum, with every scheme and across level jumps."""

from pathlib import Path

import numpy as np
import pytest

from running import Outcome, assert_same_run, leaf_cells, run_well

# A dense ball, marked by a dye, in gas that a pressure step drives through it.
BALL = """
model = "amr"
[problem]
name = "expression"
density = "1 + 9*(r < 0.2)"
velocity = ["1", "0.5", "0.25"]
pressure = "1 + 5*((x - 0.2)^2 + (y - 0.3)^2 < 0.01)"
scalars = ["r < 0.2"]
centre = [0.5, 0.5, 0.5]
[mesh]
base_cells = [16, 16, 16]
block_size = 8
[refine]
gradient_fields = ["density", "pressure"]
gradient = [0.1, 0.1]
[hydro]
scalars = 1
[time]
end = 0.15
max_steps = 12
"""

# Three species whose sum is 1, in a shear layer.
SPECIES = """
model = "amr"
[problem]
name = "expression"
density = "1 + (abs(y - 0.5) < 0.25)"
velocity = ["abs(y - 0.5) < 0.25 ? 0.5 : -0.5", "0.1*sin(4*pi*x)", "0"]
pressure = "2.5"
scalars = ["g1/(g1 + g2 + g3)", "g2/(g1 + g2 + g3)", "g3/(g1 + g2 + g3)"]
[problem.terms]
g1 = "exp(-((x - 0.3)^2 + (y - 0.4)^2)/0.005) + 1e-6"
g2 = "exp(-((x - 0.5)^2 + (y - 0.6)^2)/0.005) + 1e-6"
g3 = "exp(-((x - 0.7)^2 + (y - 0.5)^2)/0.005) + 1e-6"
[mesh]
base_cells = [32, 32, 8]
block_size = 8
upper = [1.0, 1.0, 0.25]
[hydro]
scalars = 3
[refine]
curvature_fields = ["scalar_0"]
curvature = [0.3]
[time]
end = 0.5
max_steps = 40
"""

# Two streams that leave a vacuum between them.
STREAMS = """
model = "amr"
[problem]
name = "expression"
density = "1"
velocity = ["{axis} < 0.5 ? -20 : 20", "0", "0"]
pressure = "0.4"
scalars = ["0.25", "0.75"]
[mesh]
base_cells = [128, 8, 8]
block_size = 8
upper = [1.0, 0.0625, 0.0625]
boundary_x = ["outflow", "outflow"]
[hydro]
scalars = 2
dimensions = 1
[time]
end = 0.015
""".format(axis="x")

SCHEMES = {
    "muscl_hancock": (),
    "huynh": ("hydro.limiter=huynh",),
    "ppm": ("hydro.reconstruction=ppm",),
    "rk2": ("hydro.scheme=rk2",),
    "rk3_ppm": ("hydro.scheme=rk3", "hydro.reconstruction=ppm", "hydro.contact_steepening=true"),
    "ppm26": ("hydro.scheme=rk2", "hydro.reconstruction=ppm26"),
    "ppm26_published": ("hydro.scheme=rk2", "hydro.reconstruction=ppm26_published"),
}
RK2_PPM = ("hydro.scheme=rk2", "hydro.reconstruction=ppm")


def assert_bounded(outcome: Outcome, names: list[str]) -> None:
    """No fraction leaves the range that it has in the initial state."""
    first, last = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    for name in names:
        assert last[name].min() >= first[name].min() - 1e-14
        assert last[name].max() <= first[name].max() + 1e-14


def sum_of(cells: object, names: list[str]) -> np.ndarray:
    return sum(cells[name] for name in names)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_dye_stays_in_bounds(tmp_path: Path, scheme: str) -> None:
    assert_bounded(run_well(tmp_path / "run", BALL, *SCHEMES[scheme]), ["scalar_0"])


# Schemes, finest levels and the axes that x, y, z of the ball become: (scheme, level, order).
JUMPS = [
    ("muscl_hancock", 1, "xyz"),
    ("rk2", 1, "xyz"),
    ("rk2_ppm", 1, "yzx"),
    ("rk3_ppm", 1, "xyz"),
    ("rk3_ppm", 1, "zxy"),
    ("muscl_hancock", 2, "xyz"),
    ("rk2_ppm", 2, "xyz"),
    ("rk3_ppm", 2, "xyz"),
]


def turned_ball(order: str) -> tuple[str, ...]:
    """Options with which the ball's x, y, z are these axes."""
    velocity = dict(zip(order, ("1", "0.5", "0.25"), strict=True))
    x, y = order[0], order[1]
    return (
        f"problem.velocity={[velocity[axis] for axis in 'xyz']}".replace("'", '"'),
        f'problem.pressure="1 + 5*(({x} - 0.2)^2 + ({y} - 0.3)^2 < 0.01)"',
    )


@pytest.mark.parametrize(("scheme", "level", "order"), JUMPS)
def test_a_dye_stays_in_bounds_across_level_jumps(
    tmp_path: Path, scheme: str, level: int, order: str
) -> None:
    options = (SCHEMES | {"rk2_ppm": RK2_PPM})[scheme] + turned_ball(order)
    levels = (f"mesh.max_level={level}", f"time.max_steps={8 // level}", "mesh.block_size=4")
    outcome = run_well(tmp_path / "run", BALL, *options, *levels)
    first, last = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    assert len(set(last.size)) == level + 1
    assert_bounded(outcome, ["scalar_0"])
    masses = [np.sum(of["density"] * of["scalar_0"] * of.volume) for of in (first, last)]
    assert abs(masses[1] / masses[0] - 1.0) < 1e-13


def test_a_mixture_keeps_bounds_and_sum_across_level_jumps_however_it_is_run(
    tmp_path: Path,
) -> None:
    species = (
        "hydro.scalars=3",
        'problem.scalars=["0.7*(r < 0.2)", "0.3*(r < 0.2)", "1 - (r < 0.2)"]',
        "mesh.max_level=1",
        "mesh.block_size=4",
        "time.max_steps=6",
    )
    outcomes = [
        run_well(tmp_path / f"run{ranks}", BALL, *SCHEMES["rk3_ppm"], *species, *how, ranks=ranks)
        for ranks, how in ((1, ()), (3, ("execution.schedule=device",)))
    ]
    names = [f"scalar_{n}" for n in range(3)]
    assert_bounded(outcomes[0], names)
    assert np.abs(sum_of(leaf_cells(outcomes[0].last_snapshot), names) - 1.0).max() < 1e-13
    assert_same_run(outcomes[1], outcomes[0])


def test_bounds_need_not_be_zero_and_one(tmp_path: Path) -> None:
    dye = 'problem.scalars=["r < 0.2 ? -3 : 5"]'
    assert_bounded(run_well(tmp_path / "run", BALL, dye), ["scalar_0"])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_species_of_a_mixture_keep_their_sum(tmp_path: Path, scheme: str) -> None:
    outcome = run_well(tmp_path / "run", SPECIES, *SCHEMES[scheme])
    names = [f"scalar_{n}" for n in range(3)]
    assert_bounded(outcome, names)
    assert np.abs(sum_of(leaf_cells(outcome.last_snapshot), names) - 1.0).max() < 1e-13


def test_species_keep_their_sum_across_level_jumps_on_any_number_of_ranks(tmp_path: Path) -> None:
    levels = ("mesh.max_level=1", "mesh.block_size=4", "time.max_steps=10")
    names = [f"scalar_{n}" for n in range(3)]
    outcomes = [
        run_well(tmp_path / f"run{ranks}", SPECIES, *levels, *how, ranks=ranks)
        for ranks, how in ((1, ()), (3, ("execution.schedule=device",)))
    ]
    assert_bounded(outcomes[0], names)
    assert np.abs(sum_of(leaf_cells(outcomes[0].last_snapshot), names) - 1.0).max() < 1e-13
    assert_same_run(outcomes[1], outcomes[0])


def test_a_declared_mixture_keeps_its_sum_beside_a_dye(tmp_path: Path) -> None:
    scalars = 'problem.scalars=["g1/(g1 + g2 + g3)", "1 - g1/(g1 + g2 + g3)", "x < 0.5"]'
    outcome = run_well(
        tmp_path / "run", SPECIES, scalars, "hydro.fraction_groups=[2]", "time.max_steps=20"
    )
    cells = leaf_cells(outcome.last_snapshot)
    assert np.abs(cells["scalar_0"] + cells["scalar_1"] - 1.0).max() < 1e-13
    assert_bounded(outcome, ["scalar_0", "scalar_1", "scalar_2"])


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk3_ppm"])
def test_floored_cells_keep_their_fractions(tmp_path: Path, scheme: str) -> None:
    """Where the floors hold up the gas, fractions are those of the gas that was there."""
    outcome = run_well(
        tmp_path / "run", STREAMS, *SCHEMES[scheme], "hydro.density_floor=1e-3", "time.max_steps=30"
    )
    assert outcome.history()["floored_cells"][-1] > 0
    cells = leaf_cells(outcome.last_snapshot)
    assert np.abs(cells["scalar_0"] - 0.25).max() < 1e-12
    assert np.abs(cells["scalar_1"] - 0.75).max() < 1e-12


def test_a_smooth_dye_moves_with_second_order(tmp_path: Path) -> None:
    """The bounds cost no accuracy in smooth flow, but for the limiter's at crests."""
    wave = """
model = "amr"
[problem]
name = "expression"
velocity = ["1", "1", "0"]
scalars = ["0.5 + 0.4*sin(2*pi*(x + y))"]
[mesh]
base_cells = [{n}, {n}, 8]
block_size = 8
upper = [1.0, 1.0, {depth}]
[hydro]
scalars = 1
dimensions = 2
[time]
end = 0.5
"""
    errors = []
    for n in (16, 32):
        outcome = run_well(tmp_path / f"run{n}", wave.format(n=n, depth=8 / n))
        cells = leaf_cells(outcome.last_snapshot)
        phase = 2 * np.pi * (cells.position[:, 0] + cells.position[:, 1])
        mean = np.sinc(1 / n) ** 2
        errors.append(np.abs(cells["scalar_0"] - 0.5 - 0.4 * mean * np.sin(phase)).mean())
    assert errors[1] < 0.3 * errors[0]
