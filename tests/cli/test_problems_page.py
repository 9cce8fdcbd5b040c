"""docs/problems.md lists the examples and problems that there are."""

from problems_page import PAGE, page


def test_the_page_of_all_problems_is_current() -> None:
    renew = ".octant/venv/bin/python tests/problems_page.py"
    assert PAGE.read_text() == page(), f"to write it again: {renew}"
