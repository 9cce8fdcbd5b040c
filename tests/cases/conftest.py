"""What the tests of the trouble cases share: a copy of the inputs of one case."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

CASES = Path(os.environ.get("OCTANT_CASES", "/nonexistent"))


@pytest.fixture
def case(tmp_path: Path) -> Callable[[str], Path]:
    """Give a function that copies the folder of a case, such as "R15", and returns the copy.

    Cases are inputs that users of other codes reported as trouble. Where OCTANT_CASES does not name
    the folder that holds them, the test is skipped.
    """

    def copy(name: str) -> Path:
        if not (CASES / name).is_dir():
            pytest.skip(f"OCTANT_CASES names no folder with the case {name}")
        return Path(shutil.copytree(CASES / name, tmp_path / name))

    return copy
