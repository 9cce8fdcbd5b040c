"""tests/device/run.sh keeps what was found, goes on where it was, and knows what is wanted."""

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# A replacement of Octant: every benchmark has the same rows, but those of multigrid fail while
# there is a file `broken`.
PROGRAM = """#!/usr/bin/env bash
here=$(dirname "$0")
echo "$*" >> "$here/asked"
[[ $1 == --version ]] && echo "octant" && exit
if [[ $2 == poisson && -e $here/broken ]]; then echo "no memory" >&2; exit 1; fi
while [[ $1 != --json ]]; do shift; done
echo '[{"block_size": 8, "cell_updates_per_second": 2e9, "cycles": 5, "base_cells": 256,
  "share_of_triad": 0.2}]' > "$2"
"""


def measure(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Run the script: its exit code and results."""
    program = folder / "octant"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    file = folder / "device.json"
    command = [ROOT / "tests/device/run.sh", "--program", program, "--json", file, *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return ended.returncode, json.loads(file.read_text())


def asked(folder: Path) -> str:
    """Give all words that the program was called with."""
    return (folder / "asked").read_text()


def test_numbers_stand_beside_those_that_are_wanted(tmp_path: Path) -> None:
    code, found = measure(tmp_path, "gas", "grids")
    assert code == 0
    goals = found["goals"]
    assert goals["muscl_hancock, blocks of 8^3"] == {
        **{"wanted": 1e9, "found": 2e9, "unit": "cells/s", "reached": True},
    }
    assert goals["muscl_hancock, blocks of 16^3"]["found"] is None
    assert goals["V-cycles on 256^3"]["reached"] is False
    assert "--block-size 16,8" in asked(tmp_path)


def test_what_failed_is_tried_again_and_what_went_well_is_not(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    code, found = measure(tmp_path, "gas", "grids")
    assert code == 1
    assert found["benches"]["multigrid"]["status"] == "FAILED with 1: no memory"
    assert asked(tmp_path).count("poisson --case uniform") == 1
    (tmp_path / "broken").unlink()
    code, found = measure(tmp_path, "gas", "grids")
    assert code == 0
    assert found["benches"]["multigrid"]["rows"][0]["cycles"] == 5
    assert asked(tmp_path).count("--scheme rk2") == 1


def test_nothing_is_begun_when_no_time_is_left(tmp_path: Path) -> None:
    code, found = measure(tmp_path, "--minutes", "0", "gas")
    assert code == 0
    assert found["benches"] == {}
    assert all(goal["found"] is None for goal in found["goals"].values())
    assert asked(tmp_path) == "--version\n"
