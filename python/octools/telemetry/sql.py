"""Output of query results, and restrictions of queries."""

import csv
import json
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any, Protocol

from octools.options import Format
from octools.telemetry.database import Telemetry
from octools.telemetry.schema import TABLES
from octools.telemetry.views import VIEWS

Row = Sequence[Any]


class Askable(Protocol):
    """Source of query results: one run or several."""

    def rows(self, query: str) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
        """Return names and types of columns, and rows."""
        ...


def answer(telemetry: Askable, query: str, form: Format) -> str:
    """Run a query and write its rows as a table to read, as CSV, or as a JSON array of objects."""
    columns, rows = telemetry.rows(query)
    names = [name for name, _ in columns]
    if form is Format.csv:
        return _csv(names, rows)
    if form is Format.json:
        objects = (dict(zip(names, row, strict=True)) for row in rows)
        return "[" + ",\n ".join(json.dumps(each, default=str) for each in objects) + "]"
    count = f"({len(rows)} row{'' if len(rows) == 1 else 's'})"
    return "\n".join([*_aligned(names, rows), count])


def overview(telemetry: Telemetry) -> str:
    """List the views, what a row of each is, and their columns."""
    about = telemetry.files.metadata
    ranks, detail = about.get("ranks", "?"), about.get("detail", "?")
    lines = [f"run {about['run']}: {ranks} rank(s), detail {detail}"]
    for name, view in VIEWS.items():
        count = ""
        if name in TABLES:
            count = f"; {telemetry.value(f'select count(*) from raw.{name}')} rows"
        lines += ["", f"{name}: one row per {view.row}{count}"]
        width = max(map(len, view.columns))
        lines += [
            f"  {column:<{width}}  {kind:<9} {meaning}"
            for column, (kind, meaning) in view.columns.items()
        ]
    return "\n".join(lines)


def _csv(names: Row, rows: Iterable[Row]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


def _aligned(names: Sequence[str], rows: Sequence[Row]) -> list[str]:
    texts = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    numbers = [
        all(isinstance(row[n], int | float) or row[n] is None for row in rows)
        for n in range(len(names))
    ]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(cells, widths, numbers, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [line(names), line(["-" * width for width in widths]), *map(line, texts)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
