"""Zel'dovich's pancake against tables, and the integration along a line against itself."""

from pathlib import Path

import numpy as np
import pytest

from octools.linear import LinearTheory
from octools.pancake import GAMMA, Line, Pancake

EINSTEIN_DE_SITTER = LinearTheory(1.0, 0.0, 0.1, 0.5, 1.0, 1.0)


def pancake(gas_share: float = 1.0) -> Pancake:
    return Pancake(EINSTEIN_DE_SITTER, 1 / 101, 0.5, 100.0, gas_share, 64.0)


def test_before_the_collapse_it_is_the_exact_wave(reference: Path) -> None:
    table = np.loadtxt(reference / "zeldovich_pancake.csv", delimiter=",", skiprows=4)
    epochs = np.unique(table[:, 0])
    assert len(epochs[epochs > 1.1]) > 3
    for z in epochs[epochs > 1.1]:
        _, q, x, density, velocity, _ = table[(table[:, 0] == z) & (table[:, 1] < 0.5)].T
        a = 1 / (1 + z)
        place, motion = pancake().places(q, a)
        assert place == pytest.approx(x, abs=1e-7)
        # Peculiar velocities are those of the code over a.
        assert motion / a == pytest.approx(velocity, rel=1e-5)
        exact = pancake().exact(a, 20_000)
        assert np.interp(x, exact.place, exact.density) == pytest.approx(density, rel=1e-4)


def test_gas_heats_and_cools_with_its_volume() -> None:
    late, early = pancake().exact(0.3), pancake().exact(1 / 101)
    heat = early.pressure / early.density
    assert heat == pytest.approx(heat[0])
    # 100 K in a universe of 64 Mpc/h: k T / (mu m v^2) with v = H0 box / a.
    assert heat[0] == pytest.approx(100 / 1.22 * 1.380649e-16 / 1.67262e-24 / (6.4e8 * 101) ** 2)
    entropy = early.pressure / early.density**GAMMA
    assert late.pressure / late.density**GAMMA == pytest.approx(entropy)


@pytest.mark.parametrize("gas_share", [1.0, 0.1])
def test_the_line_follows_the_wave_until_it_collapses(gas_share: float) -> None:
    line = Line(pancake(gas_share), 0.2, cells=200)
    found, exact = line.state(0.4), pancake(gas_share).exact(0.4, 200)
    assert found.place == pytest.approx(exact.place, abs=2e-4)
    assert found.density == pytest.approx(exact.density, rel=0.01)


def test_the_shock_is_one_between_cold_gas_and_gas_at_rest() -> None:
    found = Line(pancake(), 0.45, cells=400).state(0.6)
    shock = int(np.argmin(np.diff(found.velocity)))
    before, behind = shock + 8, shock - 6
    jump = found.velocity[before] - found.velocity[behind]
    # Strong: momentum flows in at 4/3 of the jump of the velocity (Rankine, Hugoniot).
    assert jump < -0.1
    strong = 4 / 3 * found.density[before] * jump**2
    assert found.pressure[behind] == pytest.approx(strong, rel=0.1)
    assert found.pressure[before] < 0.01 * strong
