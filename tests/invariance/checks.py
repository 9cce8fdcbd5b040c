"""Compares what was found with what cases.py expects."""

from cases import EXPECTED, bound_of


def check(example: str, column: str, found: dict[str, float]) -> None:
    """Fail where a field of an example differs by more than it may."""
    bound = bound_of(getattr(EXPECTED[example], column))
    assert found, "nothing was compared"
    assert bound is not None
    worst = max(found, key=found.__getitem__)
    print(f"MEASURED {example} {column} {worst} {found[worst]:.1e}")
    wrong = {name: value for name, value in found.items() if not value <= bound}
    assert not wrong, f"{example}: {column}: differences above {bound}: {wrong}"
