"""Instruction counts of hot kernels stay within 2 % of the record of this compiler."""

import counting
import gate
import pytest
from benches import names, run_of


@pytest.mark.parametrize(
    "kernel", [pytest.param(name, marks=pytest.mark.xdist_group(run_of(name))) for name in names()]
)
def test_kernel_costs_what_it_did(kernel: str) -> None:
    if counting.valgrind() is None:
        pytest.skip("valgrind is not installed: no instructions are counted")
    expected = gate.recorded()
    if not expected:
        pytest.skip(gate.no_record())
    wrong = gate.judge(kernel, gate.count(kernel), expected)
    assert not wrong, wrong
