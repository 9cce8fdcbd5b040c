"""The commands that ask a run's telemetry."""

from pathlib import Path
from typing import Annotated

import typer

from octools.telemetry.database import Telemetry
from octools.telemetry.diagnose import diagnose as examine
from octools.telemetry.sql import Format, answer, overview

Run = Annotated[Path, typer.Argument(help="A run directory.")]


def sql(
    run: Run,
    query: Annotated[
        str | None, typer.Argument(help="One SQL query. Without it, the views are listed.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Of the answer.")] = Format.table,
) -> None:
    """Ask the telemetry of a run in SQL."""
    with Telemetry(run) as telemetry:
        print(overview(telemetry) if query is None else answer(telemetry, query, form))


def diagnose(
    run: Run,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Name slow ranks and nodes, late sends, spikes of waiting, imbalance and critical paths."""
    with Telemetry(run) as telemetry:
        result = examine(telemetry)
    print(result.to_json() if as_json else result.to_text())


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (sql, diagnose):
        app.command()(command)
