"""Gives tests a program that has one of the worked examples."""

from collections.abc import Callable, Iterator

import pytest

from running import program


def with_program(name: str) -> Callable[[], Iterator[None]]:
    """Make the fixture that lets a module's tests run the program of this name."""

    @pytest.fixture(scope="module", autouse=True)
    def extended_program() -> Iterator[None]:
        extended = program().parent / "tests/extending" / name
        if not extended.is_file():
            pytest.skip(f"no {extended}: tests were not built")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OCTANT_PROGRAM", str(extended))
            yield

    return extended_program
