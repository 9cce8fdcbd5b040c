"""Adaptive meshes as VTKHDF HyperTreeGrid, the octree itself; requires VTK 9.7 or newer.

Each cell of the base grid is the root of a tree; the children of a cell are in the order of x, y
and z, x fastest. Values go tree by tree, and in a tree level by level, in Morton order on a level.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.files import whole_file
from octools.snapshot import AXES, Level, Snapshot

Indices = NDArray[np.int64]
VERSION = (2, 8)


def export(paths: list[Path], folder: Path) -> list[Path]:
    """Write the mesh of each snapshot to NAME.vtkhdf in a folder; one field is in memory at a time.

    Raises
    ------
    OctoolsError
        If a snapshot contains no fields of cells.
    """
    written = []
    for path in paths:
        with Snapshot(path) as snapshot:
            if not snapshot.cell_fields:
                raise OctoolsError(f"{path} contains no cell fields")
            written.append(folder / f"{path.stem}.vtkhdf")
            write_trees(snapshot, written[-1])
    return written


def write_trees(snapshot: Snapshot, path: Path) -> None:
    """Write all cells of gas and gravity; inner cells of the trees hold the means of finer ones."""
    header = snapshot.header
    trees = int(header.base_cells.prod())
    roots, orders, counts = [], [], []
    for level in snapshot.levels:
        root, order = _sorted_cells(level)
        roots.append(root)
        orders.append(order)
        counts.append(np.bincount(root, minlength=trees))
    number = np.stack(counts)  # of cells, by level and tree
    depth = np.count_nonzero(number, axis=0)
    ends = np.cumsum(number.T.ravel()).reshape(trees, -1).T
    places = [
        _places(root, end, count) for root, end, count in zip(roots, ends, number, strict=True)
    ]
    cells = int(number.sum())
    refined, inner = np.zeros(cells, dtype=bool), np.zeros(cells, dtype=bool)
    for level, root, order, place in zip(snapshot.levels, roots, orders, places, strict=True):
        refined[place] = ~level.leaf_cells(slice(None)).ravel()[order]
        inner[place] = level.index < depth[root] - 1
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        group = file.create_group("VTKHDF")
        group.attrs["Version"] = np.array(VERSION)
        group.attrs["Type"] = np.bytes_("HyperTreeGrid")
        group.attrs["BranchFactor"] = 2
        group.attrs["Dimensions"] = (header.base_cells + 1).astype(np.int32)
        for a, axis in enumerate(AXES):
            edges = np.linspace(header.lower[a], header.upper[a], header.base_cells[a] + 1)
            group[f"{axis.upper()}Coordinates"] = edges
        group["TreeIds"] = np.arange(trees)
        group["DepthPerTree"] = depth
        group["NumberOfTrees"] = np.array([trees])
        group["NumberOfCells"] = np.array([cells])
        group["NumberOfDepths"] = np.array([depth.sum()])
        group["NumberOfCellsPerTreeDepth"] = number.T[number.T > 0]
        group["Descriptors"] = np.packbits(refined[inner])
        group["DescriptorsSize"] = np.array([np.count_nonzero(inner)])
        for name in snapshot.cell_fields:
            values = np.empty(cells, dtype=snapshot.levels[0].dataset(name).dtype)
            for level, order, place in zip(snapshot.levels, orders, places, strict=True):
                values[place] = level.read(name, slice(None)).ravel()[order]
            group[f"CellData/{name}"] = values


def _sorted_cells(level: Level) -> tuple[Indices, Indices]:
    """Sort the cells of a level by tree and Morton key: their trees, and their rows in the file."""
    header = level.snapshot.header
    n = np.arange(header.block_size)
    root = np.zeros((level.blocks, *header.block_shape), dtype=np.int64)
    morton = np.zeros_like(root)
    stride = 1
    for a in range(3):
        shape = [level.blocks, *(len(n) if d == 2 - a else 1 for d in range(3))]
        index = (level.corner[:, a, None] + n).reshape(shape)
        root += stride * (index >> level.index)
        stride *= int(header.base_cells[a])
        for bit in range(level.index):
            morton |= (index >> bit & 1) << (3 * bit + a)
    order = np.lexsort((morton.ravel(), root.ravel()))
    return root.ravel()[order], order


def _places(root: Indices, end: Indices, count: Indices) -> Indices:
    """Return the indices of a level's sorted cells among all cells of their trees."""
    first = np.cumsum(count) - count
    return (end - count)[root] + np.arange(len(root)) - first[root]
