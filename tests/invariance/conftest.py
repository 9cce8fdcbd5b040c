"""What the tests of invariance share."""

from collections.abc import Callable
from functools import cache

import pytest
from runs import Runs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all",
        action="store_true",
        help="test every transformation of every example, not one of each kind",
    )


@pytest.fixture(scope="session")
def runs_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Runs]:
    """Give the runs of an example, which its tests share."""
    return cache(lambda example: Runs(example, tmp_path_factory.mktemp(example)))
