"""Compressible examples that are mirrored, turned, moved and boosted."""

from collections.abc import Callable

import numpy as np
import pytest
from checks import check
from geometry import Domain, Motion, compared, moved_parameters
from runs import MOTIONS, Runs, begin, initial_state, is_flow, parameters_of, shift_of

from cases import selected
from running import Outcome, uniform_grid

MIRRORS = [name for name in MOTIONS if name.startswith("mirror")]
PERMUTATIONS = [name for name in MOTIONS if name not in MIRRORS]


def compressible(column: str, forms: int, everything: bool) -> list[tuple[str, int]]:
    return [(e, form) for e, form in selected(column, forms, everything) if not is_flow(e)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everything = metafunc.config.getoption("--all")
    if "motion" in metafunc.fixturenames:
        cases = [(e, "mirror", MIRRORS[n]) for e, n in compressible("mirror", 3, everything)]
        cases += [
            (e, "permute", PERMUTATIONS[n]) for e, n in compressible("permute", 2, everything)
        ]
        # The short form has one of both for each example.
        if not everything:
            examples = sorted({example for example, _, _ in cases})
            wanted = {e: ("mirror", "permute")[n % 2] for n, e in enumerate(examples)}
            have = {(e, column) for e, column, _ in cases}
            cases = [c for c in cases if wanted[c[0]] == c[1] or (c[0], wanted[c[0]]) not in have]
        metafunc.parametrize(("example", "column", "motion"), cases)
    for column in ("translate", "boost", "particles"):
        if metafunc.function.__name__.endswith(column):
            cases = [example for example, _ in compressible(column, 1, everything)]
            metafunc.parametrize("example", cases)


def test_mirror_or_permute(
    example: str, column: str, motion: str, runs_of: Callable[[str], Runs]
) -> None:
    runs = runs_of(example)
    parameters, state = parameters_of(runs.plain(0)), initial_state(runs)
    reference = begin(runs, f"{column}_reference_{motion}".replace(" ", "_"), state, parameters)
    mapping = MOTIONS[motion]
    mapped = moved_parameters(parameters, mapping)
    other = begin(runs, motion.replace(" ", "_"), state.moved(mapping), mapped)
    check(example, column, compared(other.last_snapshot, reference.last_snapshot, mapping))


def test_translate(example: str, runs_of: Callable[[str], Runs]) -> None:
    runs = runs_of(example)
    parameters = parameters_of(runs.plain(0))
    domain = Domain.of(parameters)
    motion = Motion(blocks=shift_of(domain))
    assert any(motion.blocks)
    state = initial_state(runs, whole=tuple(int(d) for d in np.flatnonzero(domain.periodic)))
    reference = begin(runs, "resting", state, parameters)
    moved = moved_parameters(parameters, motion)
    other = begin(runs, "translated", state.moved(motion), moved)
    check(example, "translate", compared(other.last_snapshot, reference.last_snapshot, motion))


def test_particles(example: str, runs_of: Callable[[str], Runs]) -> None:
    runs = runs_of(example)
    parameters, state = parameters_of(runs.plain(0)), initial_state(runs)
    reference = begin(runs, "in_order", state, parameters)
    other = begin(runs, "reversed", state.with_particles_reversed(), parameters)
    found = compared(other.last_snapshot, reference.last_snapshot, Motion(), reversed_ids=True)
    check(example, "particles", found)


# The boosted state moves by one cell along x, in steps of the same length.
BOOST_STEPS = 8
LARGEST_BOOST_ERROR = 0.03  # of the density, in L1


def test_boost(example: str, runs_of: Callable[[str], Runs]) -> None:
    runs = runs_of(example)
    one_level = ("mesh.max_level=0",)
    parameters = parameters_of(runs.plain(0, *one_level))
    domain = Domain.of(parameters)
    state = initial_state(runs, *one_level)
    cell = (domain.upper - domain.lower) / domain.base_cells
    step = float(runs.plain(1, *one_level).history()["dt"][0]) / 4.0
    time = {"max_steps": BOOST_STEPS, "largest_step": step}
    velocity = np.array([cell[0] / (BOOST_STEPS * step), 0.0, 0.0])
    resting = begin(runs, "unboosted", state, parameters, **time)
    moving = begin(runs, "boosted", state.boosted(velocity), parameters, **time)
    check(example, "boost", boosted_totals(resting, moving, velocity))
    density, moved = (uniform_grid(o.last_snapshot, "density") for o in (resting, moving))
    error = np.abs(np.roll(moved, -1, axis=2) - density).mean() / density.mean()
    print(f"MEASURED {example} boost L1 {error:.1e}")
    assert error < LARGEST_BOOST_ERROR


def boosted_totals(resting: Outcome, moving: Outcome, velocity: np.ndarray) -> dict[str, float]:
    """Compare the conserved totals of the boosted run with those that Galilei's law gives."""
    one, other = ({n: q[-1] for n, q in o.history().items()} for o in (resting, moving))
    momentum = np.array([one[f"momentum_{axis}"] for axis in "xyz"])
    energy = one["total_energy"] + momentum @ velocity + 0.5 * one["mass"] * velocity @ velocity
    found = np.array([other[f"momentum_{axis}"] for axis in "xyz"])
    scale = one["mass"] * np.abs(velocity).max() + np.abs(momentum).max()
    return {
        "time": abs(other["time"] / one["time"] - 1.0),
        "mass": abs(other["mass"] / one["mass"] - 1.0),
        "momentum": float(np.abs(found - momentum - one["mass"] * velocity).max() / scale),
        "energy": abs(other["total_energy"] / energy - 1.0),
    }
