"""Scripts that octant-python runs, the Python that has the package octant in it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, Outcome, octant_environment, program

Script = Callable[..., Outcome]


@pytest.fixture(scope="session")
def octant_python() -> Path:
    """Path of the program: OCTANT_PYTHON_PROGRAM, or what lies beside `octant`."""
    given = os.environ.get("OCTANT_PYTHON_PROGRAM")
    path = Path(given) if given else program().with_name("octant-python")
    if not path.is_file():
        pytest.skip(f"no {path}: ./octant test bindings builds it")
    return path


@pytest.fixture
def script(octant_python: Path, tmp_path: Path) -> Script:
    """Run a script on some ranks, in a folder of its own."""

    def run(text: str, *arguments: object, ranks: int = 1, timeout: float = 120) -> Outcome:
        file = tmp_path / "script.py"
        file.write_text(text)
        options = "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
        launcher = [] if ranks == 1 else ["mpirun", *options.split(), "-n", str(ranks)]
        found = subprocess.run(
            [*launcher, octant_python, file, *map(str, arguments)],
            env=octant_environment() | {"MPLBACKEND": "agg", "OCTANT_ROOT": str(ROOT)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
        return Outcome(found.returncode, found.stdout, tmp_path)

    return run
