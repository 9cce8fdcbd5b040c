"""Finding the snapshots of a run, and the pictures that it asks for."""

import re
import shlex
import tomllib
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


def picture_commands(run: Path) -> list[list[str]]:
    """Read which pictures a run's parameter file asks for.

    Parameters
    ----------
    run
        A run directory; its ``run.toml`` says ``output.pictures``.

    Returns
    -------
    list of list of str
        The words of each command: its name, the run directory, then its options.
    """
    path = run / "run.toml"
    try:
        wanted = tomllib.loads(path.read_text()).get("output", {}).get("pictures", [])
    except OSError as cause:
        raise OctoolsError(f"{run} is no run directory: {path} cannot be read") from cause
    except tomllib.TOMLDecodeError as cause:
        raise OctoolsError(f"{path} is broken: {cause}") from cause
    return [_picture_command(text, run) for text in wanted]


def _picture_command(text: str, run: Path) -> list[str]:
    try:
        name, *options = shlex.split(text)
    except ValueError as cause:
        raise OctoolsError(f"output.pictures: '{text}' is no command") from cause
    if name == "pictures":
        raise OctoolsError("output.pictures: 'pictures' cannot ask for itself")
    return [name, str(run), *options]


def _ranges(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    if len(numbers) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, numbers))
