"""Writing snapshots in forms that other programs read: the table of these forms."""

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
    """Write snapshots for other programs.

    Parameters
    ----------
    target
        One of `TARGETS`.
    source
        A snapshot, or a run directory, which stands for all of its snapshots.
    number
        Which snapshot of a run directory.
    output
        The folder to write to; TARGET beside the snapshots where left out.

    Returns
    -------
    list
        What was written.

    Raises
    ------
    OctoolsError
        If there is no such target or snapshot, or it holds nothing that the target has a place for.
    """
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS, "convert --to")
    whole_run = source.is_dir() and number is None
    paths = list(snapshots(source).values()) if whole_run else [resolve(source, number)]
    module, function = TARGETS[target].split(":")
    folder = output or output_path(source, target)
    return getattr(import_module(module), function)(paths, folder)
