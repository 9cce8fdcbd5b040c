"""Exact solutions against independent tables, and against laws that they must obey."""

from pathlib import Path

import numpy as np
import pytest

from octools.errors import OctoolsError
from octools.exact import Noh, Riemann, Sedov


@pytest.mark.parametrize(("gamma", "alpha"), [(1.4, 0.85107185), (5 / 3, 0.49359015)])
def test_sedov_constant_is_the_published_one(gamma: float, alpha: float) -> None:
    assert Sedov(1.0, 1.0, gamma).alpha == pytest.approx(alpha, rel=2e-6)


@pytest.mark.parametrize(("gamma", "name"), [(1.4, "1.4"), (5 / 3, "1.6667")])
def test_sedov_profile_agrees_with_the_closed_form(
    reference: Path, gamma: float, name: str
) -> None:
    table = np.loadtxt(reference / f"sedov3d_gamma{name}.csv", delimiter=",", skiprows=4)
    blast, time = Sedov(2.0, 3.0, gamma), 0.7
    speed = blast.speed(time)
    inside = table[:, 0] * (1 - 1e-14)  # the last row is the shock itself
    density, velocity, pressure = blast.at(inside * blast.radius(time), time)
    shock = 2 / (gamma + 1)
    assert density / (3 * (gamma + 1) / (gamma - 1)) == pytest.approx(table[:, 1], abs=1e-6)
    assert velocity / (shock * speed) == pytest.approx(table[:, 2], abs=1e-6)
    assert pressure / (3 * shock * speed**2) == pytest.approx(table[:, 3], abs=1e-6)


def test_sedov_blast_holds_its_energy_and_swept_mass() -> None:
    blast, time = Sedov(energy=1.7, density=0.6, gamma=1.4), 0.3
    radius = blast.radius(time)
    edges = radius * np.linspace(0, 1, 20001)
    r = 0.5 * (edges[1:] + edges[:-1])
    shell = 4 / 3 * np.pi * np.diff(edges**3)
    density, velocity, pressure = blast.at(r, time)
    energy = np.sum(shell * (0.5 * density * velocity**2 + pressure / 0.4))
    assert energy == pytest.approx(1.7, rel=1e-5)
    assert np.sum(shell * density) == pytest.approx(0.6 * 4 / 3 * np.pi * radius**3, rel=1e-5)


def test_sedov_gas_outside_the_shock_is_undisturbed() -> None:
    blast = Sedov(1.0, 2.5, 1.4)
    density, velocity, pressure = blast.at(np.array([1.001]) * blast.radius(0.1), 0.1)
    assert (density[0], velocity[0], pressure[0]) == (2.5, 0.0, 0.0)


TUBES = {
    "sod_gamma1.4": Riemann((1, 0, 1), (0.125, 0, 0.1), 1.4, 0.5),
    "sod_gamma1.6667": Riemann((1, 0, 1), (0.125, 0, 0.1), 5 / 3, 0.5),
    "toro2_123": Riemann((1, -2, 0.4), (1, 2, 0.4), 1.4, 0.5),
    "toro3_strong": Riemann((1, 0, 1000), (1, 0, 0.01), 1.4, 0.5),
    "toro4_collision": Riemann((5.99924, 19.5975, 460.894), (5.99242, -6.19633, 46.095), 1.4, 0.4),
}
TIMES = dict(zip(TUBES, (0.2, 0.2, 0.15, 0.012, 0.035), strict=True))


@pytest.mark.parametrize("name", TUBES)
def test_riemann_solution_agrees_with_the_table(reference: Path, name: str) -> None:
    table = np.loadtxt(reference / f"riemann_{name}.csv", delimiter=",", skiprows=3)
    solution = TUBES[name].at(table[:, 0], TIMES[name])
    for values, column in zip(solution, table[:, 1:].T, strict=True):
        assert values == pytest.approx(column, abs=1e-6 * np.abs(column).max())


@pytest.mark.parametrize("name", TUBES)
def test_mirrored_riemann_problem_has_the_mirrored_solution(name: str) -> None:
    tube, time = TUBES[name], TIMES[name]
    flipped = [(rho, -u, p) for rho, u, p in (tube.right, tube.left)]
    mirror = Riemann(flipped[0], flipped[1], tube.gamma, 1 - tube.position)
    x = np.linspace(0.0013, 0.9987, 301)
    density, velocity, pressure = tube.at(x, time)
    other = mirror.at(1 - x, time)
    assert other[0] == pytest.approx(density, rel=1e-10)
    assert other[1] == pytest.approx(-velocity, rel=1e-10, abs=1e-10)
    assert other[2] == pytest.approx(pressure, rel=1e-10)


def test_states_that_open_a_vacuum_are_refused() -> None:
    with pytest.raises(OctoolsError, match="vacuum"):
        _ = Riemann((1, -20, 0.4), (1, 20, 0.4), 1.4, 0.5).star


def test_noh_shock_obeys_the_jump_of_mass() -> None:
    noh, time = Noh(5 / 3, density=2.0, speed=3.0), 0.6
    radius = noh.radius(time)
    inner, outer = (noh.at(np.array([radius * f]), time) for f in (1 - 1e-9, 1 + 1e-9))
    speed = radius / time
    assert inner[0][0] == pytest.approx(2 * 64)
    assert inner[2][0] == pytest.approx(2 * 9 * 64 / 3)
    assert inner[0][0] * speed == pytest.approx(outer[0][0] * (speed + 3), rel=1e-6)
