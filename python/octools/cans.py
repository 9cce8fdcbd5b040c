"""Reader of fields of CaNS (https://github.com/CaNS-World/CaNS), and differences from a flow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from octools.errors import OctoolsError
from octools.flow import COMPONENTS, FlowSnapshot
from octools.snapshot import Array

FIELDS = (*COMPONENTS, "p")


def load(folder: Path, name: str, moment: str = "final") -> Array:
    """Read a field that was stored as [i][j][k], and give it as [k][j][i]."""
    path = folder / f"{name}_{moment}.npy"
    try:
        return np.ascontiguousarray(np.load(path).transpose(2, 1, 0))
    except (OSError, ValueError) as cause:
        raise OctoolsError(f"{path} is not a CaNS field file: {cause}") from cause


@dataclass(frozen=True)
class FieldDifference:
    """Largest absolute difference between a field and that of CaNS, and its index [k, j, i].

    The pressure has an arbitrary constant: means are taken off.
    """

    name: str
    largest: float
    where: tuple[int, int, int]
    scale: float


def is_cans_folder(path: Path) -> bool:
    """Return true if a folder holds fields of CaNS."""
    return all((path / f"{name}_final.npy").is_file() for name in FIELDS)


def compare(snapshot: FlowSnapshot, folder: Path) -> list[FieldDifference]:
    """Compare a snapshot with the final fields in a folder.

    Raises
    ------
    OctoolsError
        If the grids differ, or the snapshot is of another step than the folder's history ends with.
    """
    steps = _last_step(folder)
    if steps is not None and steps != snapshot.step:
        raise OctoolsError(
            f"{snapshot.path} is from step {snapshot.step}, but {folder} from step {steps}"
        )
    differences = []
    for name in FIELDS:
        ours, theirs = snapshot.load(name), load(folder, name)
        if ours.shape != theirs.shape:
            raise OctoolsError(
                f"{snapshot.path} has {ours.shape} planes, rows and cells, {folder} {theirs.shape}"
            )
        if name == "p":
            ours, theirs = ours - ours.mean(), theirs - theirs.mean()
        difference = np.abs(ours - theirs)
        worst = int(difference.argmax())
        where = tuple(int(n) for n in np.unravel_index(worst, difference.shape))
        differences.append(
            FieldDifference(name, float(difference.flat[worst]), where, float(np.abs(theirs).max()))
        )
    return differences


def _last_step(folder: Path) -> int | None:
    path = folder / "history.csv"
    if not path.is_file():
        return None
    return int(path.read_text().strip().splitlines()[-1].split(",")[0])
