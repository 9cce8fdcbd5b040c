"""What the tests of the command line share."""

import pytest


@pytest.fixture(params=[1, 3], ids=["one_rank", "three_ranks"])
def ranks(request: pytest.FixtureRequest) -> int:
    """Give the number of ranks to run on: errors must reach all of them."""
    return int(request.param)
