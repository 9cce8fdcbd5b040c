"""What the tests of faults share: the seed, the preloaded layer, and the undisturbed runs."""

import functools
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from running import program

pytest.register_assert_rewrite("disturbances")
from disturbances import FLOWS, Layer, Network, Reference, undisturbed  # noqa: E402

SEED = "OCTANT_FAULTS_SEED"
SHORT, LONG = 1, 12
SHORT_SEED = 12  # the short form meets the same instants each time; `--all` looks for new ones


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help=f"{LONG} instants of each fault, not one")
    parser.addoption("--instants", type=int, help=f"instants of each fault, with --all; {LONG}")
    parser.addoption(
        "--seed", type=int, help="chooses the instants, as a run before has printed it"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed before the workers start, which inherit it."""
    if config.getoption("--seed") is not None:
        os.environ[SEED] = str(config.getoption("--seed"))
    any_seed = random.SystemRandom().randrange(1_000_000)
    os.environ.setdefault(SEED, str(any_seed if config.getoption("--all") else SHORT_SEED))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"faults: repeat these with --seed {os.environ[SEED]}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "instant" in metafunc.fixturenames:
        long = metafunc.config.getoption("--instants") or LONG
        instants = long if metafunc.config.getoption("--all") else SHORT
        metafunc.parametrize("instant", range(instants))


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """Give each test its own random numbers, which follow from the seed."""
    return random.Random(f"{os.environ[SEED]} {request.node.name}")


@pytest.fixture(scope="session")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Layer:
    """Compile the layer between the program and the disk."""
    return Layer(preloaded("faulty_disk", "cc", tmp_path_factory.mktemp("layer")))


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    """Compile the layer between the program and MPI."""
    return Network(preloaded("slow_network", "mpicc", tmp_path_factory.mktemp("network")))


def preloaded(name: str, compiler: str, folder: Path) -> Path:
    """Compile a library that is preloaded into the program."""
    if b"__asan_init" in program().read_bytes():
        pytest.skip("nothing can be preloaded ahead of the address sanitizer")
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    library, source = folder / f"{name}.so", Path(__file__).with_name(f"{name}.c")
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        pytest.skip(f"cannot compile {source.name} here: {done.stderr.splitlines()[0]}")
    return library


@pytest.fixture(scope="session")
def references(
    layer: Layer, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Reference]:
    """Give a function that returns the undisturbed runs of a flow, and makes them once."""
    return functools.cache(lambda name: undisturbed(name, layer, tmp_path_factory.mktemp(name)))


@pytest.fixture(params=FLOWS)
def reference(request: pytest.FixtureRequest, references: Callable[[str], Reference]) -> Reference:
    """Give the undisturbed runs of a flow, which its tests share."""
    return references(request.param)
