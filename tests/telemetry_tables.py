"""Reads what the recorder of a run wrote."""

from pathlib import Path
from typing import Any

import duckdb

from running import Outcome

TABLES = (
    "steps", "ranks", "phases", "kernels", "launches", "samples", "messages", "copies", "blocks",
    "placement", "events",
)  # fmt: skip


def tables(run: Outcome | Path) -> duckdb.DuckDBPyConnection:
    """Connect to the records of a run: one view per table."""
    directory = run if isinstance(run, Path) else run.directory
    connection = duckdb.connect()
    for table in TABLES:
        files = f"{directory}/telemetry/{table}-*.parquet"
        if list((directory / "telemetry").glob(f"{table}-*.parquet")):
            connection.sql(f"create view {table} as select * from '{files}'")
    return connection


def ask(run: Outcome | Path, question: str) -> list[tuple[Any, ...]]:
    """Give the rows that answer a question in SQL."""
    return tables(run).sql(question).fetchall()


def ask_one(run: Outcome | Path, question: str) -> Any:
    """Give the only value of the only row."""
    ((value,),) = ask(run, question)
    return value
