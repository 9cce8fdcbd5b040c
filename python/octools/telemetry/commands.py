"""The commands that ask a run's telemetry."""

import re
from pathlib import Path
from typing import Annotated

import typer

from octools.errors import OctoolsError
from octools.options import Format
from octools.run import output_path

Run = Annotated[Path, typer.Argument(help="A run directory.")]


def sql(
    run: Run,
    query: Annotated[
        str | None, typer.Argument(help="One SQL query. Without it, the views are listed.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Of the answer.")] = Format.table,
) -> None:
    """Ask the telemetry of a run in SQL."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.sql import answer, overview

    with Telemetry(run) as telemetry:
        print(overview(telemetry) if query is None else answer(telemetry, query, form))


def diagnose(
    run: Run,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Name slow or starved ranks, late sends, spikes of waiting, imbalance and critical paths."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.diagnose import diagnose as examine

    with Telemetry(run) as telemetry:
        result = examine(telemetry)
    print(result.to_json() if as_json else result.to_text())


def report(
    run: Run,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. (default: RUN/report.html)"),
    ] = None,
) -> None:
    """Write a page with plots and findings."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.report import save_report

    destination = output or output_path(run, "report.html")
    with Telemetry(run) as telemetry:
        save_report(telemetry, run.resolve().name, destination)
    print(f"wrote {destination}")


def trace(
    run: Run,
    steps: Annotated[
        str | None, typer.Option(help="Only these, as FIRST:LAST or one number. (default: all)")
    ] = None,
    ranks: Annotated[str | None, typer.Option(help="Only these, likewise.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. (default: RUN/trace.json.gz)"),
    ] = None,
) -> None:
    """Write a trace for ui.perfetto.dev or chrome://tracing."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.trace import save_trace

    destination = output or output_path(run, "trace.json.gz")
    with Telemetry(run) as telemetry:
        count = save_trace(telemetry, _span("--steps", steps), _span("--ranks", ranks), destination)
    print(f"{count} events\nwrote {destination}")


def _span(option: str, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)(?::(\d+))?", text)
    if not match:
        raise OctoolsError(f"{option} {text}: expected FIRST:LAST or one number")
    return int(match[1]), int(match[2] or match[1])
