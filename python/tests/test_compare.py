"""Comparing snapshots: nothing may be missed, nothing invented."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import partly_refined
from synthetic import Array, Synthetic, around

from octools import compare as module
from octools.compare import Comparison, _deinterleave, _interleave, compare
from octools.errors import OctoolsError
from octools.snapshot import Snapshot


def linear(x: Array, y: Array, z: Array) -> Array:
    return 1 + x + 2 * y + 4 * z


def both(a: Path, b: Path, *names: str) -> Comparison:
    with Snapshot(a) as left, Snapshot(b) as right:
        return compare(left, right, names)


def change(path: Path, level: int, cell: tuple[int, ...], by: float) -> None:
    with h5py.File(path, "r+") as file:
        file[f"hydro/level_{level}/density"][cell] += by


def leaf_of(path: Path, level: int) -> tuple[int, ...]:
    """Pick the last leaf cell of a level, as block, k, j, i."""
    with Snapshot(path) as snapshot:
        one = snapshot.levels[level]
        return tuple(int(n) for n in np.argwhere(one.leaf_cells(slice(None)))[-1])


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    first, second = (partly_refined().write(tmp_path / f"{n}.h5") for n in "ab")
    return first, second


def test_same_files_are_identical(pair: tuple[Path, Path]) -> None:
    result = both(*pair)
    assert result.identical
    assert len(result.differences) == 5


@pytest.mark.parametrize("level", [0, 1, 2])
def test_one_changed_cell_is_found_where_it_is(pair: tuple[Path, Path], level: int) -> None:
    block, k, j, i = leaf_of(pair[1], level)
    change(pair[1], level, (block, k, j, i), 0.5)
    result = both(*pair)
    found = next(d for d in result.differences if d.name == "density")
    with Snapshot(pair[1]) as snapshot:
        where = snapshot.levels[level].mesh["origin"][block]
        where = where + (np.array([i, j, k]) + 0.5) * snapshot.levels[level].cell_size
    assert not result.identical
    assert found.largest == pytest.approx(0.5)
    assert found.mean == pytest.approx(0.5 / (16 * 2**level) ** 3)
    assert found.level == level
    assert found.where == pytest.approx(where)
    assert all(d.identical for d in result.differences if d.name != "density")


def test_one_changed_bit_in_a_covered_cell_is_not_identical(pair: tuple[Path, Path]) -> None:
    with h5py.File(pair[1], "r+") as file:
        block = int(np.flatnonzero(file["mesh/level_0/refined"][...])[0])
        octant = int(file["mesh/level_0/refined"][block]).bit_length() - 1
        cell = (block, *(4 * (octant >> a & 1) for a in (2, 1, 0)))
        data = file["hydro/level_0/density"]
        data[cell] = np.nextafter(data[cell], 9.0)
    result = both(*pair)
    assert not result.identical
    assert max(d.largest for d in result.differences) == 0  # every leaf is the same


def test_sign_of_zero_is_a_bit(pair: tuple[Path, Path]) -> None:
    with h5py.File(pair[1], "r+") as file:
        file["hydro/level_0/velocity_x"][0, 0, 0, 0] = -0.0
    result = both(*pair)
    assert not result.identical
    assert max(d.largest for d in result.differences) == 0


def test_value_that_is_not_a_number_is_infinitely_different(pair: tuple[Path, Path]) -> None:
    change(pair[1], 0, leaf_of(pair[1], 0), np.nan)
    assert max(d.largest for d in both(*pair).differences) == np.inf


def test_another_time_is_not_identical(tmp_path: Path) -> None:
    a = partly_refined(time=1.0).write(tmp_path / "a.h5")
    b = partly_refined(time=2.0).write(tmp_path / "b.h5")
    result = both(a, b)
    assert not result.identical
    assert all(d.identical for d in result.differences)


@pytest.mark.parametrize(
    "other",
    [
        {"block_size": 4},
        {"block_size": 2},
        {"block_size": 16},
        {"refine": around((0.7, 0.6, 0.4), 0.2, levels=1)},
        {"base_cells": (32, 32, 32), "refine": around((0.6, 0.4, 0.4), 0.2, levels=1)},
        {"base_cells": (32, 32, 32), "block_size": 4},
    ],
)
def test_linear_field_is_the_same_in_any_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, object]
) -> None:
    monkeypatch.setattr(module, "BATCH_CELLS", 2000)  # several groups of regions
    fields = {"density": linear}
    a = partly_refined(fields=fields).write(tmp_path / "a.h5")
    b = partly_refined(**({"fields": fields} | other)).write(tmp_path / "b.h5")
    for result in (both(a, b), both(b, a)):
        assert not result.same_layout
        assert max(d.largest for d in result.differences) < 1e-14


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("block_size", [4, 16])
def test_one_changed_cell_is_found_in_another_layout(
    tmp_path: Path, level: int, block_size: int
) -> None:
    fields = {"density": linear}
    a = partly_refined(fields=fields, block_size=block_size).write(tmp_path / "a.h5")
    b = partly_refined(fields=fields).write(tmp_path / "b.h5")
    assert max(d.largest for d in both(a, b).differences) < 1e-14
    change(b, level, leaf_of(b, level), 0.5)
    for result in (both(a, b), both(b, a)):
        found = next(d for d in result.differences if d.name == "density")
        # At least the share of the cell in the coarser one that it is averaged over.
        assert 0.5 / 8**2 - 1e-12 <= found.largest <= 0.5 + 1e-12
        assert found.mean == pytest.approx(0.5 / (16 * 2**level) ** 3, rel=1e-9)


def test_every_volume_is_compared_once(tmp_path: Path) -> None:
    a = partly_refined(fields={"density": linear}).write(tmp_path / "a.h5")
    shifted = {"density": lambda x, y, z: linear(x, y, z) + 0.25}
    refine = around((0.45, 0.5, 0.5), 0.2, levels=2)
    b = partly_refined(fields=shifted, block_size=4, refine=refine).write(tmp_path / "b.h5")
    found = next(d for d in both(a, b).differences if d.name == "density")
    assert found.mean == pytest.approx(0.25, rel=1e-12)
    assert found.largest == pytest.approx(0.25, rel=1e-12)


def test_other_domains_and_fields_are_refused(tmp_path: Path) -> None:
    a = Synthetic().write(tmp_path / "a.h5")
    longer = Synthetic(upper=(2.0, 1.0, 1.0)).write(tmp_path / "b.h5")
    with pytest.raises(OctoolsError, match="different domains"):
        both(a, longer)
    scalar = Synthetic(fields={"scalar_0": linear}).write(tmp_path / "c.h5")
    with pytest.raises(OctoolsError, match="only one has scalar_0"):
        both(a, scalar)
    assert both(a, scalar, "density", "pressure").identical
    with pytest.raises(OctoolsError, match="no field 'scalar_0'"):
        both(a, scalar, "scalar_0")


def test_interleaving_is_undone() -> None:
    cells = np.random.default_rng(1).integers(0, 2**21, (1000, 3))
    assert np.array_equal(_deinterleave(_interleave(cells)), cells)
    assert _interleave(np.array([[1, 2, 4]])).tolist() == [0b100010001]
