"""The table of invariance covers every example, and docs/invariance.md shows it."""

from cases import COLUMNS, EXPECTED, REASONS, WHY, bound_of
from invariance_page import PAGE, page
from projections import tolerance
from reference_bits import examples


def test_every_example_is_in_the_table() -> None:
    assert list(EXPECTED) == examples()


def test_every_reason_is_used() -> None:
    used = {
        entry if isinstance(entry, str) else entry[1]
        for expected in EXPECTED.values()
        for entry in (getattr(expected, column) for column in COLUMNS)
        if not isinstance(entry, float)
    }
    assert used == set(REASONS) | set(WHY)


def test_round_off_of_the_table_is_that_of_the_reference_test() -> None:
    for example, expected in EXPECTED.items():
        for column in ("mirror", "permute"):
            bound = bound_of(getattr(expected, column))
            assert bound is None or bound <= tolerance(example), example


def test_the_page_of_invariance_is_current() -> None:
    renew = ".octant/venv/bin/python tests/invariance_page.py"
    assert PAGE.read_text() == page(), f"to write it again: {renew}"
