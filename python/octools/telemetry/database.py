"""A run's telemetry as a database that can only be read."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError, unknown_name
from octools.telemetry.files import RunFiles, TelemetryFile, find_files
from octools.telemetry.schema import TABLES
from octools.telemetry.views import VIEWS

Column = NDArray[Any]
BATCH = 10_000  # rows


class Telemetry:
    """Tables and views of the telemetry of a run in an embedded, read-only DuckDB database.

    The database itself is empty and in memory. It may read the run's files and nothing else: no
    other file, no network, no extension.

    Attributes
    ----------
    files
        The files that count, with what they say about the run.
    """

    def __init__(self, run: Path) -> None:
        self.files: RunFiles = find_files(run)
        self._database = duckdb.connect(":memory:")
        define_views(self._database, self.files)
        lock(self._database, self.files.files)

    def __enter__(self) -> Self:
        """Use the telemetry in a ``with`` statement."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the database."""
        self._database.close()

    def rows(self, query: str) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
        """Run a SELECT query; return names and types of its columns, and its rows."""
        cursor = self._run(query)
        try:
            names = [(column[0], str(column[1])) for column in cursor.description or []]
            return names, cursor.fetchall()
        except duckdb.Error as cause:
            raise explained(cause) from cause

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Run a SELECT query; yield its rows, with a bounded number in memory."""
        cursor = self._run(query)
        try:
            while rows := cursor.fetchmany(BATCH):
                yield from rows
        except duckdb.Error as cause:
            raise explained(cause) from cause

    def columns(self, query: str) -> dict[str, Column]:
        """Run a SELECT query; return its columns as arrays, with NaN for NULL in numbers."""
        cursor = self._run(query)
        try:
            found = cursor.fetchnumpy()
        except duckdb.Error as cause:
            raise explained(cause) from cause
        return {name: _plain(values) for name, values in found.items()}

    def value(self, query: str) -> Any:
        """Run a SELECT query with a single value as its result."""
        return self.rows(query)[1][0][0]

    def require_steps(self) -> None:
        """Raise OctoolsError if the run has no recorded step yet."""
        if not self.value("select count(*) from raw.steps"):
            raise OctoolsError(
                f"{self.files.directory} has no per-step table yet; "
                "it is first written after telemetry.window steps"
            )

    def _run(self, query: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._database.cursor().execute(select_statement(query))
        except duckdb.Error as cause:
            raise explained(cause) from cause


def define_views(database: duckdb.DuckDBPyConnection, files: RunFiles) -> None:
    """Define tables and views of a run's files in the current catalog of a database."""
    try:
        database.execute("create schema raw")
        for table in TABLES:
            database.execute(f"create view raw.{table} as {_source(database, files, table)}")
        _define_live_steps(database, files)
        database.execute(
            "create table raw.places as select distinct segment, rank, node from raw.ranks"
        )
        database.execute("create table raw.about (key varchar, value varchar)")
        database.executemany("insert into raw.about values (?, ?)", list(files.metadata.items()))
        for name, view in VIEWS.items():
            database.execute(f"create view {name} as {view.sql}")
    except duckdb.Error as cause:
        raise explained(cause) from cause


def _source(database: duckdb.DuckDBPyConnection, files: RunFiles, table: str) -> str:
    """Select the columns of a table; files of older versions lack some, which are then null."""
    stored, rows = set(), "where false"
    if paths := files.of(table):
        listed = ", ".join(literal(str(path)) for path in paths)
        rows = f"from read_parquet([{listed}], union_by_name = true)"
        stored = {name for name, *_ in database.execute(f"describe {rows}").fetchall()}
    columns = ", ".join(
        name if name in stored else f"null::{kind} as {name}"
        for name, (kind, _) in TABLES[table].items()
    )
    return f"select {columns} {rows}"


def _define_live_steps(database: duckdb.DuckDBPyConnection, files: RunFiles) -> None:
    """Leave out steps that a later segment made again."""
    if len(files.segments) < 2:
        return
    database.execute(
        "create table raw.live as select step, max(segment)::smallint as segment from "
        "(select step, segment from raw.steps union select step, segment from raw.ranks) "
        "group by step"
    )
    for table in TABLES:
        database.execute(
            f"create or replace view raw.{table} as select t.* "
            f"from ({_source(database, files, table)}) t semi join raw.live using (step, segment)"
        )


def lock(database: duckdb.DuckDBPyConnection, files: Sequence[TelemetryFile]) -> None:
    """Let a database read the given files and nothing else."""
    database.execute("set allowed_paths = ?", [[str(file.path) for file in files]])
    for setting in (
        "temp_directory = ''",
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        database.execute(f"set {setting}")


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def select_statement(query: str) -> duckdb.Statement:
    """Parse a query, and refuse what does more than to select."""
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as cause:
        raise explained(cause) from cause
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise OctoolsError(
            "telemetry is read-only: expected one query that begins with SELECT, FROM, WITH, "
            "DESCRIBE, SHOW or SUMMARIZE"
        )
    return statements[0]


def _plain(values: Any) -> Column:
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind in "iuf":
            return values.astype(float).filled(np.nan)
        return values.filled("" if values.dtype.kind == "U" else None)
    return np.asarray(values)


def explained(cause: duckdb.Error) -> OctoolsError:
    """Describe an error of DuckDB in one line, with the nearest names where one is unknown."""
    text = str(cause)
    if match := re.search(r"Table with name (\S+) does not exist", text):
        return unknown_name("view", match[1], VIEWS, "the telemetry")
    if match := re.search(r'(?:Referenced column|column named) "?([^"\s]+)"? ', text):
        return _unknown_column(match[1], text)
    if match := re.search(r'does not have a column named "([^"]+)"', text):
        return _unknown_column(match[1], text)
    if match := re.search(r'Cannot access file "([^"]+)"', text):
        return OctoolsError(f"queries can read only the telemetry of the run, not {match[1]}")
    first = text.split("\n\nLINE")[0]
    return OctoolsError("SQL: " + " ".join(first.split()))


def _unknown_column(name: str, text: str) -> OctoolsError:
    candidates = re.findall(r'"([^"]+)"', text.partition("Candidate bindings")[2].split("\n")[0])
    known: Sequence[str] = [column for view in VIEWS.values() for column in view.columns]
    return unknown_name("column", name, candidates or known, "the tables of the query")
