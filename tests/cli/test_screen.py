"""What a run shows on a terminal: colours and a status line, unless they are unwanted."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from inputs import TINY_BLAST
from running import octant_command, octant_environment


def shown_on_a_terminal(directory: Path, **environment: str) -> str:
    """Run a small case whose standard output is a terminal, and return what it wrote there."""
    file = directory / "blast.toml"
    file.write_text(TINY_BLAST)
    ours, its = pty.openpty()
    command = octant_command("run", file, "--output", directory / "run")
    full = {k: v for k, v in octant_environment().items() if k != "NO_COLOR"} | environment
    process = subprocess.Popen(command, env=full | {"TERM": "xterm"}, stdout=its)
    os.close(its)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
    assert process.wait(timeout=60) == 0
    return shown.decode()


@pytest.mark.parametrize(("no_color", "plain"), [("", False), ("1", True)])
def test_no_color_means_plain_lines_and_no_status(
    tmp_path: Path, no_color: str, plain: bool
) -> None:
    shown = shown_on_a_terminal(tmp_path, NO_COLOR=no_color)
    assert "done: time" in shown
    assert ("\x1b" not in shown) == plain
    assert ("M cells/s" not in shown) == plain
