"""The commands that ask a run's telemetry."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octools.errors import OctoolsError
from octools.options import Format, output_file
from octools.run import output_path

if TYPE_CHECKING:
    from octools.telemetry.database import Telemetry

Run = Annotated[Path, typer.Argument(help="A run directory.")]
Span = tuple[int, int] | None  # first and last


def sql(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [QUERY]",
            help="Run directories, and one SQL query; without a query, the views are listed.",
        ),
    ],
    form: Annotated[
        Format, typer.Option("--format", help="Output format of the result.")
    ] = Format.table,
) -> None:
    """Query the telemetry of a run in SQL; of several runs with a column `run` in every view."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.sql import answer, overview

    *paths, query = (*map(Path, runs[:-1]), runs[-1])
    if query and Path(query).exists():
        paths, query = [*paths, Path(query)], None
    elif not paths and " " not in query:  # a directory that is not there, and no query
        paths, query = [Path(query)], None
    if not paths:
        raise OctoolsError("expected a run directory before the query")
    if len(paths) == 1 or query is None:
        with Telemetry(paths[0]) as telemetry:
            print(overview(telemetry) if query is None else answer(telemetry, query, form))
        return
    from octools.telemetry.several import Runs

    with Runs(paths) as several:
        print(answer(several, query, form))


def scaling(
    runs: Annotated[list[Path], typer.Argument(help="Run directories.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Output file of the plot. (default: scaling.png, or scaling_model.png)",
            callback=output_file,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MACHINE",
            help="Predict scaling on a machine: name, TOML file, or output of `octant bench "
            "collectives --json`.",
        ),
    ] = None,
    ranks: Annotated[
        str, typer.Option(help="Numbers of ranks for which --model predicts scaling.")
    ] = "64,256,1024,4096,16384,65536,131072",
    updates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Cell updates per coarse step and rank, on the first of --ranks. (default: those "
            "of the run)",
        ),
    ] = None,
    fit_ranks: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of ranks of the runs to which the model is fitted; the others are "
            "compared with it. (default: all)",
        ),
    ] = None,
) -> None:
    """Report and plot scaling with ranks and threads, as a whole, by solver and by phase."""
    from octools.telemetry.several import Runs

    with Runs(runs) as several:
        if model is not None:
            from octools.scaling_model.command import predict

            predict(several, model, ranks, updates, fit_ranks, output or Path("scaling_model.png"))
            return
        from octools.telemetry.scaling import save_scaling
        from octools.telemetry.scaling import scaling as measure

        destination = output or Path("scaling.png")
        found = measure(several)
    print(found.to_text())
    save_scaling(found, destination)
    print(f"wrote {destination}")


def diagnose(
    run: Run,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Output file of a plot: communication time by messages and by rank.",
            callback=output_file,
        ),
    ] = None,
) -> None:
    """Diagnose slow ranks, late sends, waiting times, load imbalance and critical paths."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.diagnose import diagnose as examine
    from octools.telemetry.scatter import communication, save_scatter

    with Telemetry(run) as telemetry:
        result = examine(telemetry)
        points = communication(telemetry) if plot else None
    print(result.to_json() if as_json else result.to_text())
    if plot and points:
        save_scatter(points, plot)
        print(f"communication time and messages: {points}\nwrote {plot}", file=sys.stderr)


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Run directory, and others to compare with the first.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Output page. (default: RUN/report.html of one run; none of several)",
            callback=output_file,
        ),
    ] = None,
) -> None:
    """Write a performance report; for several runs, a comparison of where time is spent."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.report import save_comparison, save_report

    if len(runs) > 1:
        from octools.telemetry.several import Runs, what_became_slower

        with Runs(runs) as several:
            print(what_became_slower(several))
            if output is not None:
                save_comparison(several, output)
                print(f"wrote {output}")
        return
    destination = output or output_path(runs[0], "report.html")
    with Telemetry(runs[0]) as telemetry:
        save_report(telemetry, runs[0].resolve().name, destination)
    print(f"wrote {destination}")


def roofline(
    run: Run,
    machine: Annotated[
        Path | None,
        typer.Option(help="Machine limits from `octant bench health --json FILE`."),
    ] = None,
) -> None:
    """Report kernel times and their fraction of the memory and arithmetic limits."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.roofline import Machine
    from octools.telemetry.roofline import roofline as table

    limits = Machine.read(machine) if machine else None
    with Telemetry(run) as telemetry:
        print(table(telemetry, limits))


def trace(
    run: Run,
    steps: Annotated[
        str | None, typer.Option(help="Range of steps, FIRST:LAST or one number. (default: all)")
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(help="Range of ranks, FIRST:LAST or one number.")
    ] = None,
    tree: Annotated[
        bool,
        typer.Option(help="Plot the tree of tasks with times and counts instead (task_tree.png)."),
    ] = False,
    scatter: Annotated[
        bool,
        typer.Option(help="Plot durations of sampled tasks over time instead (durations.png)."),
    ] = False,
    counters: Annotated[
        bool,
        typer.Option(help="Plot processor use, memory and GPU use instead (counters.png)."),
    ] = False,
    otf2: Annotated[
        bool,
        typer.Option(
            help="Write an archive of the Open Trace Format 2 instead (requires the package otf2)."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write. (default: RUN/trace.json.gz; with --otf2, directory RUN/otf2)",
        ),
    ] = None,
) -> None:
    """Write a trace for ui.perfetto.dev or chrome://tracing, or plot tasks and counters."""
    from octools.telemetry.database import Telemetry
    from octools.telemetry.otf2_archive import save_otf2
    from octools.telemetry.trace import save_trace

    if tree + scatter + counters + otf2 > 1 and output is not None:
        raise OctoolsError(
            "--output is for one file; choose one of --tree, --scatter, --counters, --otf2"
        )
    if not otf2:
        output_file(output)
    spans = _span("--steps", steps), _span("--ranks", ranks)
    plots = (tree, scatter, counters)
    with Telemetry(run) as telemetry:
        if any(plots):
            _plots(telemetry, run, spans, plots, output)
        if otf2:
            save, destination = save_otf2, output or output_path(run, "otf2")
        elif any(plots):
            return
        else:
            save, destination = save_trace, output or output_path(run, "trace.json.gz")
        count = save(telemetry, *spans, destination)
    print(f"{count} events\nwrote {destination}")


def _plots(
    telemetry: "Telemetry",
    run: Path,
    spans: tuple[Span, Span],
    chosen: tuple[bool, bool, bool],
    output: Path | None,
) -> None:
    """Write plots of tasks, of sampled durations and of counters."""
    from octools.telemetry.task_tree import save_task_tree, task_tree
    from octools.telemetry.timelines import save_counters, save_scatter

    title = run.resolve().name
    names = ("task_tree.png", "durations.png", "counters.png")
    for kind, (name, is_chosen) in enumerate(zip(names, chosen, strict=True)):
        if not is_chosen:
            continue
        destination = output or output_path(run, name)
        if kind == 0:
            tasks = task_tree(telemetry, *spans)
            print(tasks.to_text())
            save_task_tree(tasks, title, destination)
        else:
            save = save_scatter if kind == 1 else save_counters
            save(telemetry, *spans, title, destination)
        print(f"wrote {destination}")


def _span(option: str, text: str | None) -> Span:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)(?::(\d+))?", text)
    if not match:
        raise OctoolsError(f"{option} {text}: expected FIRST:LAST or a single number")
    return int(match[1]), int(match[2] or match[1])
