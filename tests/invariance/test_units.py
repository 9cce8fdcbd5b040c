"""Every example in units of length, mass and time that differ by powers of two."""

from collections.abc import Callable

import pytest
from checks import check
from runs import SCALES, Runs, scaled_differences
from scaling import VARIABLES, Scales, dimensions, substituted, units_of_parameters

from cases import selected


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "scaled" in metafunc.fixturenames:
        everything = metafunc.config.getoption("--all")
        columns = SCALES if everything else ["units"]
        cases = [(e, column) for column in columns for e, _ in selected(column, 1, everything)]
        metafunc.parametrize(("example", "scaled"), cases)


def test_scaled_by_powers_of_two(example: str, scaled: str, runs_of: Callable[[str], Runs]) -> None:
    check(example, scaled, scaled_differences(runs_of(example), SCALES[scaled]))


@pytest.mark.parametrize("model", ["amr", "dns"])
def test_every_unit_of_a_parameter_is_understood(model: str) -> None:
    units = units_of_parameters(model)
    assert units["time.end"] == "time"
    for unit in units.values():
        dimensions(unit)


def test_expressions_give_the_same_number_for_scaled_variables() -> None:
    scales = Scales(1, 0, -2)
    found = substituted("max(x, r2) + exp(-t)*x_1 - 1e-3*y", scales, VARIABLES)
    assert found == "max((x*0.5), r2) + exp(-(t*4.0))*x_1 - 1e-3*(y*0.5)"
