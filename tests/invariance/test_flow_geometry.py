"""Incompressible examples that are mirrored, turned and moved."""

from collections.abc import Callable

import pytest
from checks import check
from flow_geometry import FlowMotion, compared_flows, moved_flow, moved_flow_parameters
from runs import FLOW_MOTIONS, Runs, begin_flow, is_flow, parameters_of

from cases import selected

COLUMNS = {"mirror": 3, "permute": 1, "translate": 1}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everything = metafunc.config.getoption("--all")
    names = list(FLOW_MOTIONS)
    cases = []
    for column, forms in COLUMNS.items():
        motions = {"mirror": names[:3], "permute": names[3:], "translate": ["translate"]}[column]
        chosen = [(e, n) for e, n in selected(column, forms, everything) if is_flow(e)]
        cases += [(example, column, motions[n]) for example, n in chosen]
    metafunc.parametrize(("example", "column", "motion"), cases)


def test_flow(example: str, column: str, motion: str, runs_of: Callable[[str], Runs]) -> None:
    runs = runs_of(example)
    first = runs.plain()
    parameters = parameters_of(first)
    periodic = [parameters["dns"][f"boundary_{axis}"][0] == "periodic" for axis in "xyz"]
    moved = FlowMotion(cells=tuple(3 if p else 0 for p in periodic))
    mapping = FLOW_MOTIONS.get(motion, moved)
    flow = moved_flow(first.last_snapshot, parameters, FlowMotion())
    name = f"{column} {motion}".replace(" ", "_")
    reference = begin_flow(runs, f"reference_{name}", flow, parameters)
    mapped = moved_flow_parameters(parameters, mapping)
    other_flow = moved_flow(first.last_snapshot, parameters, mapping)
    other = begin_flow(runs, name, other_flow, mapped)
    snapshots = [o.last_snapshot for o in (other, reference)]
    check(example, column, compared_flows(*snapshots, parameters, mapping))
