"""Finding the snapshots of a run."""

import re
from pathlib import Path

from octools.errors import OctoolsError


def snapshots(run: Path) -> dict[int, Path]:
    """List the snapshots of a run directory by number, in ascending order."""
    if not run.is_dir():
        raise OctoolsError(f"there is no run directory {run}")
    found = {}
    for path in run.glob("snap_*.h5"):
        if match := re.fullmatch(r"snap_(\d+)\.h5", path.name):
            found[int(match[1])] = path
    if not found:
        raise OctoolsError(f"{run} holds no snapshots (snap_NNNNN.h5); has the run written any?")
    return dict(sorted(found.items()))


def resolve(target: Path, number: int | None = None) -> Path:
    """Find the file that a snapshot's path or a run directory stands for.

    Parameters
    ----------
    target
        A snapshot or checkpoint, or a run directory.
    number
        Which snapshot of a run directory; the newest where left out.
    """
    if target.is_file():
        if number is not None:
            raise OctoolsError(f"{target} is one file; --snapshot chooses from a run directory")
        return target
    if not target.exists():
        raise OctoolsError(f"there is no snapshot or run directory {target}")
    found = snapshots(target)
    if number is None:
        return found[max(found)]
    if number not in found:
        raise OctoolsError(f"{target} has no snapshot {number}; it has {_ranges(list(found))}")
    return found[number]


def output_path(target: Path, name: str) -> Path:
    """Place a picture beside the data: in the run directory that holds or is `target`."""
    return (target if target.is_dir() else target.parent) / name


def _ranges(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    if len(numbers) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, numbers))
