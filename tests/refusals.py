"""What a refusal looks like, and disks that cause one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from running import Outcome


def assert_refused(outcome: Outcome, *fragments: str, code: int = 2) -> None:
    """Check the exit code, and that exactly one line says all of these things."""
    assert outcome.code == code, outcome.text
    lines = [line for line in outcome.text.splitlines() if all(f in line for f in fragments)]
    assert len(lines) == 1, f"expected one line with {fragments} in:\n{outcome.text}"


@contextmanager
def small_disk(place: Path, options: str) -> Iterator[Path]:
    """Mount a file system in memory, or skip the test where that is not allowed."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("only root may mount a small disk, and not in every container")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
