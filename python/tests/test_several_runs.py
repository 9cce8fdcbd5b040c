"""Several runs side by side: queries, what became slower, scaling."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Call
from made_up_run import MadeUpRun

from octools.errors import OctoolsError
from octools.telemetry.scaling import scaling
from octools.telemetry.several import Runs, as_text, differences, pace, what_became_slower


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a run, and one whose every kernel takes twice as long, by another compiler."""
    folder = tmp_path_factory.mktemp("runs")
    before = MadeUpRun(ranks=3, steps=20, circumstances={"built_with": "GNU 12", "machine": "a"})
    after = MadeUpRun(
        ranks=3, steps=20, slow=dict.fromkeys(range(3), 2.0), run_id="f" * 16,
        circumstances={"built_with": "GNU 14", "machine": "a"},
    )  # fmt: skip
    return before.write(folder / "before"), after.write(folder / "after")


def test_a_query_sees_both_runs(runs: tuple[Path, Path], octools: Call) -> None:
    query = "select run, sum(self_ns) / 1e9 as s from phases where phase = 'compute' group by run"
    result = octools("sql", *runs, f"{query} order by s", "--format", "csv")
    assert result.returncode == 0, result.stderr
    rows = [line.split(",") for line in result.stdout.split()[1:]]
    assert [row[0] for row in rows] == ["before", "after"]
    assert float(rows[1][1]) == pytest.approx(2 * float(rows[0][1]), rel=0.1)
    joined = "select count(*) from steps a join steps b using (step) where a.run < b.run"
    with Runs(runs) as several:
        assert several.rows(joined)[1] == [(20,)]
        for query in ("drop view steps", "copy steps to 'x'", "select 1; select 2"):
            with pytest.raises(OctoolsError, match="read-only"):
                several.rows(query)
        with pytest.raises(OctoolsError):
            several.rows(f"from '{runs[0]}/telemetry/*.parquet'")
        with pytest.raises(OctoolsError, match="no column"):
            several.rows("select dtt from steps")


def test_a_run_alone_is_asked_as_before(runs: tuple[Path, Path], octools: Call) -> None:
    assert "one row per" in octools("sql", runs[0]).stdout
    assert octools("sql", runs[0], "select count(*) from steps").stdout.count("20") == 1
    assert octools("sql", "select 1 from steps").returncode == 2
    assert octools("sql", runs[0] / "nowhere", "select 1").returncode == 2


def test_what_became_slower_is_named_first(runs: tuple[Path, Path], octools: Call) -> None:
    with Runs(runs) as several:
        text = what_became_slower(several)
        reverse = what_became_slower(Runs(runs[::-1]))
        same = what_became_slower(
            Runs([runs[0], MadeUpRun(ranks=3, steps=20).write(runs[0].parent / "again")])
        )
    lines = text.splitlines()
    assert lines[0].startswith("after compared with before")
    assert lines[3].startswith("compute")
    assert 1.9 < float(lines[3].split()[-3]) < 2.1
    assert "built_with: GNU 12 in before, GNU 14 in after" in text
    assert "machine" not in text.split("they differ in")[1]
    assert "before compared with after" in reverse
    assert "-" in reverse.splitlines()[3]
    assert "no phase changed" in same
    assert octools("report", *runs).stdout.strip() == text.strip()


def test_columns_of_any_width_stay_apart(runs: tuple[Path, Path]) -> None:
    """The whole names of runs stand above their columns, with two spaces between any two."""
    with Runs(runs) as several:
        found = differences(several)[0]
    long = replace(
        found,
        before=replace(found.before, name="a_run_with_a_long_name_on_one_node"),
        phases=[("compute a kernel with a name of more than 34 letters", 1e-3, 2e-3)],
    )
    lines = as_text(long).splitlines()
    columns = [re.split(r" {2,}", line.strip()) for line in lines[2:4]]
    assert columns[0] == ["phase", long.before.name, "after", "times", "of the step"]
    assert columns[1][:4] == [long.phases[0][0], "1 ms", "2 ms", "2"]
    assert len(lines[2]) == len(lines[3])


def test_what_became_slower_is_a_page_too(
    runs: tuple[Path, Path], octools: Call, tmp_path: Path
) -> None:
    page = tmp_path / "pages/slower.html"
    result = octools("report", *runs, "--output", page)
    assert result.returncode == 0, result.stderr
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "after compared with before: a step takes" in text
    rows = re.findall(r"<tr>(.*?)</tr>", text)
    assert "<td>compute" in rows[1]
    assert "GNU 12 → GNU 14" in text


def test_strong_and_weak_scaling(tmp_path: Path, octools: Call) -> None:
    def run(ranks: int, cells: int, threads: int = 1) -> Path:
        told = {"threads_per_rank": threads}
        name = f"r{ranks}c{cells}t{threads}"
        made = MadeUpRun(ranks=ranks, steps=10, cells=cells, run_id=name, circumstances=told)
        return made.write(tmp_path / name)

    strong = [run(ranks, 240_000 // ranks) for ranks in (4, 1, 2)]
    with Runs(strong) as several:
        found = scaling(several)
        assert pace("a", several.runs["r4c60000t1"]).cores == 4
    assert found.kind == "strong"
    assert [each.cores for each in found.paces] == [1, 2, 4]
    assert found.efficiencies[0] == 1.0
    assert all(0.5 < share < 1.05 for share in found.efficiencies)
    assert found.speedups == pytest.approx(
        [share * cores for share, cores in zip(found.efficiencies, (1, 2, 4), strict=True)]
    )
    weak = [run(ranks, 50_000) for ranks in (1, 2, 4)]
    assert scaling(Runs(weak)).kind == "weak"
    assert scaling(Runs([*weak, run(2, 240_000)])).kind == "mixed"
    assert [each.cores for each in scaling(Runs([weak[0], run(2, 50_000, 2)])).paces] == [1, 4]
    result = octools("scaling", *strong, "--output", tmp_path / "scaling.png")
    assert result.returncode == 0, result.stderr
    assert "strong scaling" in result.stdout
    assert (tmp_path / "scaling.png").is_file()
    assert octools("scaling", strong[0]).returncode == 2
    assert octools("scaling", strong[0], strong[0]).returncode == 2


def test_scaling_by_solver(tmp_path: Path, octools: Call) -> None:
    """Gravity scales, black holes do not; both are slowest on their slowest rank."""

    def run(ranks: int, threads: int = 1) -> Path:
        made = MadeUpRun(
            ranks=ranks, steps=4, cells=240_000 // ranks,
            parts={("gravity", 0): 8_000_000 // ranks, ("gravity", 1): 40_000_000 // ranks,
                   ("black_holes", 0): 6_000_000, ("flag cells", 0): 9_000_000,
                   ("transpose", 0): 2_000_000},
            run_id=f"{ranks}x{threads}", circumstances={"threads_per_rank": threads},
        )  # fmt: skip
        return made.write(tmp_path / f"{ranks}x{threads}")

    with Runs([run(ranks) for ranks in (4, 2, 1)]) as several:
        found = scaling(several)
    solvers, speedups = found.solvers(), found.solver_speedups()
    assert set(solvers) == {
        *("Godunov", "gravity, base level", "gravity, refined levels", "black holes")
    }
    assert solvers["gravity, refined levels"] == pytest.approx([0.040, 0.020, 0.010])
    assert speedups["gravity, base level"] == pytest.approx([1, 2, 4], rel=0.01)
    assert speedups["black holes"] == pytest.approx([1, 1, 1], rel=0.01)
    assert found.paces[0].cost == pytest.approx(1e6 * found.paces[0].step / found.paces[0].work)
    text = found.to_text()
    assert re.search(r"gravity, refined levels +40 ms \(1\) +20 ms \(2\) +10 ms \(4\)", text)
    hybrid = [run(ranks, 4 // ranks) for ranks in (1, 2, 4)]
    with Runs(hybrid) as several:
        found = scaling(several)
    assert found.kind == "hybrid"
    assert [each.threads for each in found.paces] == [1, 2, 4]
    result = octools("scaling", *hybrid, "--output", tmp_path / "hybrid.png")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "hybrid.png").is_file()
