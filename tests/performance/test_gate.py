"""What the gate says and keeps, with counts that are made up."""

import json
from collections.abc import Iterator
from pathlib import Path

import benches
import counting
import gate
import pytest

KERNEL = "multigrid"
OTHER = "fluxes"
SAMPLE = """# callgrind format
events: Ir D1mr

fn=(1) main
0 10 1
cfn=(2) octant::solve(int)
calls=2 0
0 300 7

fn=(2)
0 200 5
cfn=(3) malloc
calls=3 0
0 100 2

fn=(3)
0 100 2

fn=(4) octant::solve(int)'2
0 40
"""


def test_costs_of_functions_are_added_up_once() -> None:
    profile = counting.read_profile(SAMPLE.splitlines(keepends=True))
    assert dict(profile.cost("^main$")) == {"Ir": 310, "D1mr": 8}
    assert profile.cost("^octant::solve")["Ir"] == 340
    assert profile.cost("^octant::solve", with_callees=False)["Ir"] == 240
    assert profile.cost("main|solve")["Ir"] == 350
    assert profile.cost("^main$", without="solve")["Ir"] == 10
    assert profile.cost("^main$", without="malloc")["Ir"] == 310
    assert profile.allocations() == 3


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, gate.Counts]]:
    """Make up the counts of a program, and an empty record."""
    made_up = {name: {"instructions": 1000, "data_misses": 50} for name in (KERNEL, OTHER)}
    monkeypatch.setattr(gate, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(gate, "count", made_up.__getitem__)
    monkeypatch.setattr(
        benches, "made_with", lambda: benches.MadeWith("GNU 12.2.0, AVX2", "Kokkos 4.5.1")
    )
    gate.recorded.cache_clear()
    yield made_up
    gate.recorded.cache_clear()  # other tests read the real record


def test_nothing_is_compared_without_a_record(counts: dict, capsys: pytest.CaptureFixture) -> None:
    assert gate.compare(list(counts)) == 0
    assert "no counts are recorded for GNU 12.2.0, AVX2" in capsys.readouterr().out


def test_renewal_keeps_the_reason_and_what_is_not_named(counts: dict) -> None:
    gate.renew(list(counts), "first record")
    counts[KERNEL] = {"instructions": 900, "data_misses": 50}
    counts[OTHER] = {"instructions": 900, "data_misses": 50}
    gate.renew([KERNEL], "one pass less")
    (part,) = json.loads(gate.RECORD.read_text()).values()
    assert part["reasons"][-1] == "multigrid: one pass less"
    assert part["kernels"][KERNEL]["instructions"] == 900
    assert part["kernels"][OTHER]["instructions"] == 1000


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_change_names_the_kernel_the_counts_and_the_remedy(counts: dict, factor: float) -> None:
    gate.renew(list(counts), "first record")
    found = {"instructions": round(1000 * factor), "data_misses": 50}
    wrong = gate.judge(KERNEL, found, gate.recorded())
    assert wrong.startswith(f"multigrid: instructions 1,000 before, {found['instructions']:,} now")
    assert f"({100 * (factor - 1):+.2f} %)" in wrong
    assert '--renew --reason "WHY" "multigrid"' in wrong


@pytest.mark.parametrize("found", [(1019, 50), (981, 50), (1000, 500)])
def test_small_changes_and_misses_of_caches_are_no_fault(
    counts: dict, found: tuple[int, int]
) -> None:
    gate.renew(list(counts), "first record")
    changed = dict(zip(("instructions", "data_misses"), found, strict=True))
    assert gate.judge(KERNEL, changed, gate.recorded()) == ""


def test_a_new_kernel_asks_for_its_record(counts: dict) -> None:
    gate.renew([KERNEL], "first record")
    assert "fluxes: has no record yet" in gate.judge(OTHER, counts[OTHER], gate.recorded())


def test_a_function_that_was_renamed_is_named() -> None:
    with pytest.raises(LookupError, match="multigrid: no function of the run matches"):
        benches.counts_of(KERNEL, counting.Profile())
