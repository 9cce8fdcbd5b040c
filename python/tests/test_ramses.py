"""Outputs of RAMSES: the built program writes them, and what it says is passed on."""

from pathlib import Path

import pytest
from conftest import Call, partly_refined

PROGRAM = """#!/bin/sh
[ "$1 $3 $4 $5" = "convert --to ramses --output" ] || exit 9
printf '\\033[33mparticles of the kind tracers are left out\\033[m\\n'
echo "wrote $6/output_00003"
"""


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "build"
    folder.mkdir()
    monkeypatch.setenv("OCTANT_BUILD", str(folder))
    return folder


def test_the_program_writes_them(tmp_path: Path, build: Path, octools: Call) -> None:
    partly_refined().write(tmp_path / "snap_00003.h5")
    (build / "octant").write_text(PROGRAM)
    (build / "octant").chmod(0o755)
    result = octools("convert", "--to", "ramses", tmp_path / "snap_00003.h5")
    assert result.returncode == 0, result.stderr
    assert "ramses/output_00003" in result.stdout.replace("\n", "")
    assert "particles of the kind tracers are left out\n" in result.stderr
    assert "\x1b" not in result.stderr


def test_what_it_refuses_is_said(tmp_path: Path, build: Path, octools: Call) -> None:
    partly_refined().write(tmp_path / "snap_00003.h5")
    result = octools("convert", "--to", "ramses", tmp_path / "snap_00003.h5")
    assert result.returncode != 0
    assert "./octant build" in result.stderr.replace("\n", " ")
    (build / "octant").write_text("#!/bin/sh\necho no power of two >&2\nexit 2\n")
    (build / "octant").chmod(0o755)
    result = octools("convert", "--to", "ramses", tmp_path / "snap_00003.h5")
    assert result.returncode != 0
    assert "no power of two" in result.stderr
