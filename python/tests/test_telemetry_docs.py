"""What the documentation says about telemetry is so: its columns, its queries, its recipe."""

import re
from pathlib import Path
from typing import Any

import pytest
from made_up_run import MadeUpRun

from octools.telemetry.database import Telemetry
from octools.telemetry.schema import TABLES

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCHEMA, TOOLS = (DOCS / "telemetry.md").read_text(), (DOCS / "tools_runs.md").read_text()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run with everything that a query must leave out: a leftover file, a repeated step."""
    path = tmp_path_factory.mktemp("asked")
    MadeUpRun(ranks=6, steps=40, window=40, slow={2: 2.0}).write(path)
    MadeUpRun(ranks=6, steps=40, window=8, slow={2: 2.0}).write(path)
    return MadeUpRun(ranks=6, steps=48, window=10, seed=2).write(path, first=32, segment=1)


@pytest.mark.parametrize("table", TABLES)
def test_schema_page_names_every_column(table: str) -> None:
    assert f"### {table}:" in SCHEMA
    for column in TABLES[table]:
        assert f"`{column}`" in SCHEMA, column


def asked() -> list[str]:
    section = SCHEMA.split("## Queries")[1].split("\n## ")[0]
    return re.findall(r'octools sql DIR "([^"]+)"', section) + re.findall(r"\| `(.+)` \|", section)


@pytest.mark.parametrize("query", asked())
def test_query_of_the_tutorial_answers(run: Path, query: str) -> None:
    with Telemetry(run) as telemetry:
        _, rows = telemetry.rows(query.replace("812", "12"))
    assert rows


def test_tutorial_has_queries() -> None:
    assert len(asked()) == 11


def test_clickhouse_agrees_with_duckdb(run: Path) -> None:
    """The recipe gives the numbers of the view, to the last digit that it prints."""
    chdb: Any = pytest.importorskip("chdb", reason="no ClickHouse; pip install chdb")
    recipe = TOOLS.split("## ClickHouse")[1].split("```sql")[1].split("```")[0]
    answer = str(chdb.query(recipe.replace("DIR", str(run)), "CSV"))
    theirs = [line.replace('"', "").split(",") for line in answer.splitlines()]
    query = """
    select rank, phase, name, sum(self_ns) / 1e6 as ms from phases group by rank, phase, name
    order by ms desc, rank, phase, name"""
    with Telemetry(run) as telemetry:
        ours = telemetry.rows(query)[1]
    assert len(ours) == 6 * 9
    assert [(int(rank), phase, name) for rank, phase, name, _ in theirs] == [r[:3] for r in ours]
    assert [float(row[3]) for row in theirs] == [row[3] for row in ours]
