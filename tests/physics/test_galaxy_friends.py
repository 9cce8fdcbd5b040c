"""Friends of friends: the groups of reference sets, by every method and on several ranks."""

import csv
import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reference_data import reference_files, reference_path
from running import octant

Points = NDArray[np.float64]
Labels = NDArray[np.int64]

GENERATED = re.compile(
    r"generated n=(?P<n>\d+) seed=(?P<seed>\d+) clusters=(?P<clusters>\d+) spread=(?P<spread>\S+)"
)
HASH_MODULUS = 2**61


def splitmix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers (Steele, Lea & Flood 2014); arithmetic modulo 2^64."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def generated(n: int, seed: int, clusters: int, spread: float) -> Points:
    """Make up points around cluster centres, shape (n, 3), as the README of the data says."""

    def uniform(k: NDArray[np.uint64], c: int) -> Points:
        offset = np.uint64((c + seed * 2**40) % 2**64)
        return (splitmix(np.uint64(16) * k + offset) >> np.uint64(11)) * 2.0**-53

    row = np.arange(n, dtype=np.uint64)
    cluster = row % np.uint64(clusters) + np.uint64(2**32)
    points = np.empty((n, 3))
    for axis in range(3):
        w = uniform(row, 8 + axis) - 0.5
        x = uniform(cluster, axis) + spread * ((w * w) * w)
        points[:, axis] = x - np.floor(x)
    return points


def hash_of(labels: Labels) -> int:
    """Hash labels as the header of fof_summary.csv says."""
    return functools.reduce(lambda h, g: (h * 1000003 + g) % HASH_MODULUS, labels.tolist(), 0)


@dataclass(frozen=True)
class Reference:
    """A row of fof_summary.csv."""

    name: str
    points: int
    length: float
    groups: int
    groups_of_two: int
    largest: int
    hash: int | None
    x1: float | None

    def positions(self) -> Points:
        """Read or make the points, shape (points, 3)."""
        made_up = GENERATED.fullmatch(self.name)
        if made_up is None:
            return table(self.name)[:, :3]
        points = generated(
            *(int(made_up[key]) for key in ("n", "seed", "clusters")), float(made_up["spread"])
        )
        assert points[1, 0] == self.x1
        return points


def table(name: str) -> Points:
    """Read the columns x, y, z and group of a set."""
    with reference_path(f"galaxy/fof_{name}.csv").open() as file:
        rows = [line for line in file if not line.startswith("#")]
    return np.array([[float(word) for word in row] for row in csv.reader(rows[1:])])


def references() -> list[Reference]:
    """Read all rows of fof_summary.csv."""
    found = reference_files("galaxy/fof_summary.csv")
    lines = [line for path in found for line in path.read_text().splitlines()]
    return [
        Reference(
            row["set"], int(row["points"]), float(row["b"]), int(row["groups"]),
            int(row["groups_of_2_or_more"]), int(row["largest"]),
            int(row["hash"]) if row["hash"] else None,
            float(row["x1"]) if row["x1"] else None,
        )
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    ]  # fmt: skip


def labels_of(folder: Path, points: Points, length: float, period: float, ranks: int) -> Labels:
    """Let `octant bench fof` find groups by all methods, which must agree."""
    np.savetxt(folder / "points.csv", points, fmt="%.17g", delimiter=",")
    options = ["--file", folder / "points.csv", "--length", repr(length), "--period", repr(period)]
    options += ["--groups", folder / "groups.txt", "--brute", 10000, "--repeats", 1]
    outcome = octant("bench", "fof", *options, ranks=ranks, threads=2 if ranks == 1 else 1)
    assert outcome.code == 0, outcome.text
    methods = ["distributed"] if ranks > 1 else ["octree", "octree_threads", "cells", "distributed"]
    for method in methods + ["brute"] * (ranks == 1 and len(points) <= 10000):
        assert f" {method} " in outcome.text
    return np.loadtxt(folder / "groups.txt", dtype=np.int64, ndmin=1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("reference", references(), ids=lambda reference: reference.name)
def test_groups_are_those_of_the_reference(
    tmp_path: Path, reference: Reference, ranks: int
) -> None:
    points = reference.positions()
    assert len(points) == reference.points
    labels = labels_of(tmp_path, points, reference.length, 1.0, ranks)
    sizes = np.bincount(labels)
    assert np.count_nonzero(sizes) == reference.groups
    assert np.count_nonzero(sizes > 1) == reference.groups_of_two
    assert sizes.max() == reference.largest
    if reference.hash is not None:
        assert hash_of(labels) == reference.hash
    if reference_files(f"galaxy/fof_{reference.name}.csv"):
        assert (labels == table(reference.name)[:, 3]).all()


def test_every_file_of_points_is_in_the_summary() -> None:
    stems = {path.stem.removeprefix("fof_") for path in reference_files("galaxy/fof_*.csv")}
    names = stems - {"summary"}
    assert names <= {reference.name for reference in references()}


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_chain_is_one_group_whatever_its_order(tmp_path: Path, ranks: int) -> None:
    n = 100_000
    along = (np.random.default_rng(1).permutation(n) + 0.5) / n
    labels = labels_of(tmp_path, np.stack([along] * 3, axis=1), 1.8 / n, 0.0, ranks)
    assert (labels == 0).all()


def test_one_point_is_a_group(tmp_path: Path) -> None:
    assert labels_of(tmp_path, np.array([[0.3, 0.2, 0.1]]), 0.1, 1.0, 2).tolist() == [0]
