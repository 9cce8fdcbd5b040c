"""Snapshots as outputs of RAMSES, which the program octant writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from octools.errors import OctoolsError
from octools.installation import build_folder


def export(snapshots: list[Path], folder: Path) -> list[Path]:
    """Write snapshots as folders output_NNNNN of one domain.

    Several domains, and several ranks: see docs/ramses.md.

    Raises
    ------
    OctoolsError
        If there is no program, or it says what is wrong with a snapshot.
    """
    program = build_folder() / "octant"
    if not program.is_file():
        raise OctoolsError(f"{program}, which writes RAMSES files, is missing; run ./octant build")
    written = []
    for snapshot in snapshots:
        command = [program, "convert", snapshot, "--to", "ramses", "--output", folder]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise OctoolsError(_lines(done.stderr or done.stdout)[-1])
        *said, wrote = _lines(done.stdout)
        for line in [*_lines(done.stderr), *said]:
            print(line, file=sys.stderr)  # of units that were changed, and what was left out
        written.append(Path(wrote.removeprefix("wrote ")))
    return written


def _lines(text: str) -> list[str]:
    """Split what the program says into lines, without colours."""
    return [line for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines() if line.strip()]
