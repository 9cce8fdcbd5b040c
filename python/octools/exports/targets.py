"""Table of the export formats for snapshots."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from octools.errors import unknown_name
from octools.run import output_path, resolve, snapshots

# Each function takes the snapshots and a folder, and returns the files that it has written there.
TARGETS = {
    "gadget": "octools.exports.gadget:export",
    "hypertree": "octools.exports.hypertree:export",
    "ramses": "octools.exports.ramses:export",
    "silo": "octools.exports.silo:export",
    "vtkhdf": "octools.exports.vtkhdf:export",
}


def export(target: str, source: Path, number: int | None, output: Path | None) -> list[Path]:
    """Convert snapshots to a format of other programs.

    Parameters
    ----------
    target
        Name of the format, one of `TARGETS`.
    source
        Snapshot file, or run directory for all of its snapshots.
    number
        Number of a single snapshot of a run directory.
    output
        Output directory; by default a directory TARGET beside the snapshots.

    Returns
    -------
    list
        Paths of the files.

    Raises
    ------
    OctoolsError
        If the format or snapshot does not exist, or the snapshot has no data for the format.
    """
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS, "convert --to")
    whole_run = source.is_dir() and number is None
    paths = list(snapshots(source).values()) if whole_run else [resolve(source, number)]
    module, function = TARGETS[target].split(":")
    folder = output or output_path(source, target)
    return getattr(import_module(module), function)(paths, folder)
