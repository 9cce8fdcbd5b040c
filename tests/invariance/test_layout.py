"""Compressible examples on blocks of another size, on two threads and by the device's schedule.

Ranks: tests/physics/test_reference_bits.py runs all examples on 1, 2 and 3.
"""

from collections.abc import Callable

import h5py
import numpy as np
import pytest
from checks import check
from runs import Runs, is_flow, parameters_of, relative

from cases import selected
from reference_bits import differences, digest
from running import leaf_cells


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everything = metafunc.config.getoption("--all")
    column = metafunc.function.__name__.removeprefix("test_")
    cases = [example for example, _ in selected(column, 1, everything)]
    if not everything and column == "schedule":
        cases = cases[::3]
    metafunc.parametrize("example", cases)


def test_blocks(example: str, runs_of: Callable[[str], Runs]) -> None:
    runs = runs_of(example)
    parameters = parameters_of(runs.plain(0))
    mesh = parameters["mesh"]
    cells = np.array(mesh["base_cells"])
    lower, upper = np.array(mesh["lower"]), np.array(mesh["upper"])
    sizes = (8, 16) if parameters["gravity"]["solver"] == "fmm" else (4, 8)
    # A slab becomes twice as thick where that lets the larger blocks fit in.
    thin = cells % sizes[1] != 0
    upper = np.where(thin, lower + 2 * (upper - lower), upper)
    cells = np.where(thin, 2 * cells, cells)
    how = (
        "mesh.max_level=0",
        "refine.region_level=0",
        f"mesh.base_cells={cells.tolist()}",
        f"mesh.upper={upper.tolist()}",
        "hydro.dimensions=3",  # there are several blocks along each axis
    )
    paths = [runs.plain(3, *how, f"mesh.block_size={size}").last_snapshot for size in sizes]
    with h5py.File(paths[0]) as file:
        groups = [group for group in ("hydro", "gravity") if group in file]
    found = {}
    for group in groups:
        small, large = (leaf_cells(path, group) for path in paths)
        orders = [np.lexsort(np.rint(c.position / c.size[:, None] * 2).T) for c in (small, large)]
        assert np.allclose(small.position[orders[0]], large.position[orders[1]])
        for name, values in large.values.items():
            found[name] = relative(small[name][orders[0]], values[orders[1]])
    check(example, "blocks", found)


def test_schedule(example: str, runs_of: Callable[[str], Runs]) -> None:
    runs = runs_of(example)
    schedule = "dns.schedule=batches" if is_flow(example) else "execution.schedule=device"
    reference, other = runs.plain(), runs.plain(3, schedule, threads=2)
    assert differences(digest(other), digest(reference)) == []
