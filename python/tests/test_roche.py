"""Roche geometry: Lagrangian points, radii of lobes, and lobes on meshes."""

from pathlib import Path

import numpy as np
import pytest
from binaries import BinarySnapshot, rotation

from octools.binary_star import measure_binary
from octools.leaf_gas import LeafGas
from octools.roche import (
    EffectivePotential,
    Lobes,
    Pair,
    find_lobes,
    inner_lagrangian_point,
    roche_radius,
)
from octools.snapshot import Array, Snapshot

TILT = rotation(np.array([1.0, 2.0, 0.5]), 0.8)
RATIOS = (0.01, 0.1, 0.5, 1.0, 3.0, 50.0)


def circular(ratio: float, separation: float = 1.0) -> Pair:
    """Two point masses of total mass 1 on a circular orbit, with G = 1."""
    mass = np.array([1.0, ratio]) / (1.0 + ratio)
    x = separation * np.array([-mass[1], mass[0]])
    turn = separation**-1.5
    zero = np.zeros(2)
    return Pair(mass, np.stack([x, zero, zero], 1), np.stack([zero, turn * x, zero], 1))


@pytest.mark.parametrize("ratio", RATIOS)
def test_gravity_balances_the_centrifugal_force_at_the_inner_point(ratio: float) -> None:
    x, second = inner_lagrangian_point(ratio), ratio / (1.0 + ratio)
    force = -(1.0 - second) / x**2 + second / (1.0 - x) ** 2 + (x - second)
    assert abs(force) < 1e-9 * (1.0 - second) / x**2
    assert x + inner_lagrangian_point(1.0 / ratio) == pytest.approx(1.0, rel=1e-12)


def test_published_lagrangian_points_and_radii_are_reproduced() -> None:
    # Equal masses: by symmetry. Earth and Moon, q = 0.0121506: L1 at 0.8491 from the Earth
    # (Murray & Dermott 1999, section 3.7).
    assert inner_lagrangian_point(1.0) == pytest.approx(0.5, rel=1e-12)
    assert inner_lagrangian_point(0.0121506 / 0.9878494) == pytest.approx(0.8491, abs=1e-4)
    # Table 1 of Eggleton (1983), whose fit is accurate to 1 per cent.
    for ratio, radius in ((1.0, 0.3799), (10.0, 0.5803), (0.1, 0.2054), (0.01, 0.1012)):
        assert roche_radius(ratio) == pytest.approx(radius, rel=0.011), ratio


def lobe_volumes(pair: Pair, cells: int) -> Array:
    """Sum the volume of both lobes of point masses on a uniform grid of cubes."""

    class Grid:
        size = np.full(3, 3.0 / cells)
        position = np.stack(
            np.meshgrid(*[(np.arange(cells) + 0.5) * 3.0 / cells - 1.5] * 3), axis=-1
        ).reshape(-1, 3)
        slope = np.zeros_like(position)
        potential = None
        acceleration = None

    lobes = find_lobes([Grid()], pair, 1.0)
    assert lobes is not None
    return lobes.fractions(Grid()).sum(axis=0) * Grid.size.prod()


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0])
def test_the_volume_of_lobes_is_that_of_eggletons_radii(ratio: float) -> None:
    """A lobe that leaks, or ends before its surface, has another volume."""
    radii = np.cbrt(3.0 / (4.0 * np.pi) * lobe_volumes(circular(ratio), 96))
    assert radii[0] == pytest.approx(roche_radius(1.0 / ratio), rel=0.011)
    assert radii[1] == pytest.approx(roche_radius(ratio), rel=0.011)


def test_volumes_of_lobes_converge() -> None:
    fine = lobe_volumes(circular(0.5), 160)
    errors = [np.abs(lobe_volumes(circular(0.5), n) / fine - 1.0).max() for n in (20, 40, 80)]
    assert errors[0] < 0.05
    assert errors[2] < errors[0] / 8.0


@pytest.mark.parametrize("of_run", [True, False], ids=["run", "points"])
def test_gradients_are_those_of_the_values(of_run: bool, tmp_path: Path) -> None:
    path = BinarySnapshot(ratio=0.4, cells=64, turn=TILT).write(tmp_path / "snap.h5")
    with Snapshot(path) as snapshot:
        state = measure_binary(snapshot, of_run)
        (gas,) = LeafGas(snapshot, with_potential=True)
    potential = EffectivePotential(state.pair, None if of_run else 1.0)
    values, gradients = potential.at(gas)
    place = np.rint((gas.position + 1.5) / gas.size - 0.5).astype(int)
    far = np.linalg.norm(gas.position[:, None] - state.pair.position, axis=2).min(axis=1) > 0.35
    for d in range(3):
        grid = np.full((64, 64, 64), np.nan)
        grid[tuple(place.T)] = values
        slope = np.gradient(grid, gas.size[d], axis=d)[tuple(place.T)]
        inner = far & (place[:, d] > 0) & (place[:, d] < 63)
        assert gradients[inner, d] == pytest.approx(slope[inner], abs=0.12)


@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_the_inner_point_is_found_in_the_potential_of_the_run(ratio: float, tmp_path: Path) -> None:
    """Point masses again, but from values and derivatives stored in cells."""
    errors = []
    for cells in (32, 64):
        path = BinarySnapshot(ratio=ratio, cells=cells).write(tmp_path / f"snap_{cells}.h5")
        with Snapshot(path) as snapshot:
            gas = LeafGas(snapshot, with_potential=True)
            pair = circular(ratio)
            stored = EffectivePotential(pair, None).inner_point(gas)
            exact = EffectivePotential(pair, 1.0).inner_point(gas)
        assert stored is not None
        assert exact is not None
        errors.append(np.linalg.norm(stored[0] - exact[0]))
        assert abs(stored[1] - exact[1]) < 0.01, cells
    assert errors[0] < 0.03
    assert errors[1] < max(errors[0] / 2.5, 1e-12)


def test_both_potentials_give_the_same_lobes(tmp_path: Path) -> None:
    path = BinarySnapshot(ratio=0.5, cells=64, ambient=0.01).write(tmp_path / "snap.h5")
    with Snapshot(path) as snapshot:
        run, points = (measure_binary(snapshot, of_run).columns() for of_run in (True, False))
    for name in ("lobe_1_mass", "lobe_2_mass", "separation"):
        assert run[name] == pytest.approx(points[name], rel=2e-3), name
    assert run["lobe_1_mass"] > 2.0 / 3.0 + 0.003  # some of the ambient gas


def test_bodies_that_do_not_revolve_have_no_lobes() -> None:
    pair = circular(0.5)
    falling = Pair(pair.mass, pair.position, -0.3 * pair.position)
    assert find_lobes([], falling, 1.0) is None
    assert find_lobes([], Pair(pair.mass, pair.position, np.ones((2, 3))), 1.0) is None
    together = Pair(pair.mass, np.zeros((2, 3)), pair.velocity)
    assert find_lobes([], together, 1.0) is None
    assert isinstance(find_lobes([], pair, 1.0), Lobes)
