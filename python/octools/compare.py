"""Cell-by-cell comparison of two snapshots with any blocks and levels.

Where both have the same blocks, their cells are compared as they are stored, bit for bit.
Otherwise the domain is walked in regions of whole base blocks; in each region a leaf cell of
either side is compared with the leaf of the other side that has its size, or with the volume
average of the smaller ones inside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.snapshot import AXES, BATCH_CELLS, Array, Level, Snapshot

Index = NDArray[np.int64]


@dataclass
class Difference:
    """Differences of two snapshots in one field, in code units.

    Attributes
    ----------
    name
        Name of the field.
    largest
        Maximum absolute difference; infinite if one side is not a number.
    mean
        Mean absolute difference (L1), weighted by volume.
    scale
        Maximum absolute value of the field in both snapshots.
    where
        Centre of the cell with the maximum difference, shape (3,), code length.
    level
        Level of that cell, in the coarser base grid's count.
    identical
        Whether every stored value has the same bits; only the same blocks can be identical.
    """

    name: str
    largest: float = 0.0
    mean: float = 0.0
    scale: float = 0.0
    where: Array | None = None
    level: int = 0
    identical: bool = True


@dataclass(frozen=True)
class Comparison:
    """Differences of two snapshots in all compared fields.

    Attributes
    ----------
    same_layout
        True if both have the same blocks, refined in the same octants.
    times
        Times of both snapshots in code units.
    differences
        Difference of each field.
    """

    same_layout: bool
    times: tuple[float, float]
    differences: list[Difference]

    @property
    def identical(self) -> bool:
        """Return whether times, blocks and all compared fields are bitwise identical."""
        same_bits = all(d.identical for d in self.differences)
        return self.same_layout and same_bits and self.times[0] == self.times[1]


@dataclass(frozen=True)
class _Cells:
    """Leaf cells of one size, sorted by id; `values` has the shape (cells,)."""

    depth: int
    ids: Index
    values: Array


def compare(a: Snapshot, b: Snapshot, names: Sequence[str] = ()) -> Comparison:
    """Compare two snapshots of the same domain cell by cell.

    Parameters
    ----------
    a, b
        Open snapshots. Their base grids may differ by a power of two.
    names
        Names of stored fields; by default all common fields.

    Raises
    ------
    OctoolsError
        If the domains differ, or a field is missing.
    """
    _require_same_domain(a, b)
    names = list(names) or _common_fields(a, b)
    a.require(names)
    b.require(names)
    same = _same_layout(a, b)
    measure = _compare_stored if same else _compare_leaves
    differences = [measure(a, b, name) for name in names]
    return Comparison(same, (a.header.time, b.header.time), differences)


def _common_fields(a: Snapshot, b: Snapshot) -> list[str]:
    if a.stored_fields != b.stored_fields:
        only = sorted(set(a.stored_fields) ^ set(b.stored_fields))
        raise OctoolsError(
            f"{a.path} and {b.path} do not contain the same fields: only one has "
            f"{', '.join(only)}; use --fields to select the fields to compare"
        )
    return a.stored_fields


def _require_same_domain(a: Snapshot, b: Snapshot) -> None:
    same = np.allclose(a.header.lower, b.header.lower, rtol=1e-12, atol=0) and np.allclose(
        a.header.upper, b.header.upper, rtol=1e-12, atol=0
    )
    ratio = np.log2(a.header.base_cells / b.header.base_cells)
    if not same or np.any(ratio != ratio[0]) or ratio[0] != np.rint(ratio[0]):
        raise OctoolsError(
            f"{a.path} and {b.path} have different domains: {_domain(a)} and {_domain(b)}; the "
            "corners must agree, and the cell sizes must differ by a power of two"
        )


def _domain(snapshot: Snapshot) -> str:
    h = snapshot.header
    cells = " x ".join(map(str, h.base_cells))
    return f"{h.lower.tolist()} to {h.upper.tolist()} in {cells} cells"


def _same_layout(a: Snapshot, b: Snapshot) -> bool:
    if a.header.block_size != b.header.block_size or len(a.levels) != len(b.levels):
        return False
    if not np.array_equal(a.header.base_cells, b.header.base_cells):
        return False
    return all(
        np.array_equal(p.key, q.key) and np.array_equal(p.refined, q.refined)
        for p, q in zip(a.levels, b.levels, strict=True)
    )


def _compare_stored(a: Snapshot, b: Snapshot, name: str) -> Difference:
    """Compare the same blocks: bits of every cell, differences of the leaves."""
    result = Difference(name)
    for p, q in zip(a.levels, b.levels, strict=True):
        for left, right in zip(a.batches([name], p), b.batches([name], q), strict=True):
            u, v = left.values[name], right.values[name]
            result.scale = max(result.scale, _greatest(u), _greatest(v))
            if np.array_equal(u.view(np.uint64), v.view(np.uint64)):
                continue
            result.identical = False
            cells = np.argwhere(left.leaf)[:, [3, 2, 1]] + left.corner[np.nonzero(left.leaf)[0]]
            _account(result, u[left.leaf], v[left.leaf], cells, a, p.index)
    return result


def _compare_leaves(a: Snapshot, b: Snapshot, name: str) -> Difference:
    """Compare different blocks, region by region."""
    coarse = a if a.header.base_cells[0] <= b.header.base_cells[0] else b
    result = Difference(name, identical=False)
    depths = [_base_depth(s, coarse) for s in (a, b)]
    block = max(s.header.block_size >> d for s, d in zip((a, b), depths, strict=True))
    plans = [_blocks_by_region(s, d, max(block, 1)) for s, d in zip((a, b), depths, strict=True)]
    for regions in _region_groups(plans):
        left, right = (
            _leaves(s, name, plan, d, regions)
            for s, plan, d in zip((a, b), plans, depths, strict=True)
        )
        for ours, theirs, strict in ((left, right, False), (right, left, True)):
            for cells in ours:
                _compare_at_depth(result, cells, theirs, strict, coarse)
    return result


def _base_depth(snapshot: Snapshot, coarse: Snapshot) -> int:
    """Count how often the coarser base grid is halved to give this one."""
    return int(np.log2(snapshot.header.base_cells[0] // coarse.header.base_cells[0]))


@dataclass(frozen=True)
class _Plan:
    """Assignment of the blocks of a level to regions: `order` sorts them, `region` is sorted."""

    level: Level
    order: Index
    region: Index


def _blocks_by_region(snapshot: Snapshot, depth: int, block: int) -> list[_Plan]:
    """Sort each level's blocks by the cube of `block`^3 coarse base cells that they lie in."""
    plans = []
    for level in snapshot.levels:
        cube = (level.corner >> (level.index + depth)) // block
        region = _interleave(cube)
        order = np.argsort(region, kind="stable")
        plans.append(_Plan(level, order, region[order]))
    return plans


def _region_groups(plans: list[list[_Plan]]) -> Iterator[tuple[int, int]]:
    """Split all regions into ranges that hold a bounded number of cells on either side."""
    flat = [plan for side in plans for plan in side]
    sizes = [plan.level.snapshot.header.block_size**3 for plan in flat]
    regions = np.unique(np.concatenate([plan.region for plan in flat]))
    cells = np.zeros(len(regions), dtype=np.int64)
    for plan, size in zip(flat, sizes, strict=True):
        np.add.at(cells, np.searchsorted(regions, plan.region), size)
    group = np.cumsum(cells) // BATCH_CELLS
    for number in np.unique(group):
        members = regions[group == number]
        yield int(members[0]), int(members[-1])


def _leaves(
    snapshot: Snapshot, name: str, plans: list[_Plan], depth: int, regions: tuple[int, int]
) -> list[_Cells]:
    """Read the leaf cells of a range of regions, by size from the largest."""
    found = []
    for plan in plans:
        first = np.searchsorted(plan.region, regions[0], side="left")
        last = np.searchsorted(plan.region, regions[1], side="right")
        blocks = np.sort(plan.order[first:last])
        values = plan.level.read(name, blocks)
        leaf = plan.level.leaf_cells(blocks)
        index = np.argwhere(leaf)
        ids = _interleave(plan.level.corner[blocks][index[:, 0]] + index[:, [3, 2, 1]])
        order = np.argsort(ids)
        found.append(_Cells(plan.level.index + depth, ids[order], values[leaf][order]))
    return found


def _compare_at_depth(
    result: Difference, cells: _Cells, others: list[_Cells], strict: bool, coarse: Snapshot
) -> None:
    """Compare cells of one size with equal (unless `strict`) and smaller ones of the other side."""
    total = np.zeros(len(cells.ids))
    share = np.zeros(len(cells.ids))
    for other in others:
        finer = other.depth - cells.depth
        if finer < 0 or (strict and finer == 0) or not len(cells.ids):
            continue
        ancestor = other.ids >> (3 * finer)
        place = np.minimum(np.searchsorted(cells.ids, ancestor), len(cells.ids) - 1)
        inside = cells.ids[place] == ancestor
        np.add.at(total, place[inside], other.values[inside] * 0.125**finer)
        np.add.at(share, place[inside], 0.125**finer)
    matched = share == 1
    xyz = _deinterleave(cells.ids[matched])
    _account(result, cells.values[matched], total[matched], xyz, coarse, cells.depth)


def _account(
    result: Difference, u: Array, v: Array, cells: Index, base: Snapshot, level: int
) -> None:
    """Add the differences of some cells; `cells` has the shape (cells, 3) as x, y, z."""
    if not len(u):
        return
    with np.errstate(invalid="ignore"):
        difference = np.abs(u - v)
    both = (u == v) | (np.isnan(u) & np.isnan(v))
    difference = np.where(both, 0.0, np.where(np.isnan(difference), np.inf, difference))
    count = base.header.base_cells << level
    result.mean += float(difference.sum()) / float(np.prod(count, dtype=float))
    result.scale = max(result.scale, _greatest(u), _greatest(v))
    worst = int(np.argmax(difference))
    if difference[worst] > result.largest:
        result.largest, result.level = float(difference[worst]), level
        result.where = base.header.lower + (cells[worst] + 0.5) * base.header.size / count


def _greatest(values: Array) -> float:
    """Return the greatest finite absolute value."""
    return float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))


def vector_scales(differences: Sequence[Difference]) -> dict[str, float]:
    """Return each field's scale for relative differences; components of a vector share one."""
    stem = {
        d.name: d.name[:-2] if d.name[-2:] in {f"_{x}" for x in AXES} else d.name
        for d in differences
    }
    return {
        d.name: max(e.scale for e in differences if stem[e.name] == stem[d.name])
        for d in differences
    }


def _interleave(cells: Index) -> Index:
    """Interleave the bits of x, y and z, shape (cells, 3), into one Morton id per cell."""
    spread = cells & 0x1FFFFF
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        spread = (spread | (spread << shift)) & mask
    return spread[:, 0] | (spread[:, 1] << 1) | (spread[:, 2] << 2)


def _deinterleave(ids: Index) -> Index:
    """Undo `_interleave`: x, y and z, shape (cells, 3)."""
    bits = np.stack([ids, ids >> 1, ids >> 2], axis=-1) & 0x1249249249249249
    for shift, mask in (
        (2, 0x10C30C30C30C30C3),
        (4, 0x100F00F00F00F00F),
        (8, 0x1F0000FF0000FF),
        (16, 0x1F00000000FFFF),
        (32, 0x1FFFFF),
    ):
        bits = (bits | (bits >> shift)) & mask
    return bits
