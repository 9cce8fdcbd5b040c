"""Plots over the time of a run: durations of sampled tasks and kernels, and counters of its use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.telemetry.database import Column, Telemetry
from octools.telemetry.task_tree import condition

MOST_DOTS = 20_000  # of steps in full detail, chosen at random
MOST_NAMES = 10  # with a colour of their own
MANY = 1_000  # dots: more of them are small
MOST_BINS = 1_000  # more steps than this are drawn as means of several
Span = tuple[int, int] | None

# Single executions: all of steps in full detail, and samples of all others.
_EXECUTIONS = """
with executions as (
  select 'task' as kind, name, start_ns, duration_ns from raw.events where peer < 0{chosen}
  union all
  select 'kernel', name, start_ns, duration_ns from raw.launches where true{chosen}),
detailed as (select * from executions using sample reservoir({most} rows) repeatable (1))
from detailed union all
select kind, name, start_ns, duration_ns from raw.samples
where step not in (select step from raw.events){chosen}
order by start_ns
"""


def executions(telemetry: Telemetry, steps: Span = None, ranks: Span = None) -> dict[str, Column]:
    """Return kind (task or kernel), name, start and duration (ns) of recorded executions."""
    chosen = condition("step", steps) + condition("rank", ranks)
    found = telemetry.columns(_EXECUTIONS.format(chosen=chosen, most=MOST_DOTS))
    if not len(found["name"]):
        raise OctoolsError(
            f"{telemetry.files.directory} has no samples of these steps and ranks, of which one in "
            "a hundred executions is recorded; choose more steps, or record all with "
            "telemetry.detail = full"
        )
    return found


def save_scatter(
    telemetry: Telemetry, steps: Span, ranks: Span, title: str, path: Path
) -> dict[str, Column]:
    """Plot the durations of sampled tasks and kernels over their starts; return what is drawn."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from octools.figure import STYLE, save

    found = executions(telemetry, steps, ranks)
    kinds = [kind for kind in ("task", "kernel") if (found["kind"] == kind).any()]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 0.6 + 3.1 * len(kinds)), layout="constrained")
        panels = np.atleast_1d(figure.subplots(len(kinds), sharex=True))
        for axes, kind in zip(panels, kinds, strict=True):
            _scatter(axes, {key: column[found["kind"] == kind] for key, column in found.items()})
            axes.set_ylabel(f"duration of {kind}s [ms]")
        panels[0].set_title(f"{title}   {len(found['name'])} executions", loc="left")
        panels[-1].set_xlabel("time since the start of the run [s]")
        save(figure, path)
    return found


def _scatter(axes: Any, found: dict[str, Column]) -> None:
    """Draw a dot per execution, coloured by the names that took most time."""
    from octools.figure import SERIES

    start, duration = found["start_ns"] / 1e9, np.maximum(found["duration_ns"], 1) / 1e6
    names, number = np.unique(found["name"], return_inverse=True)
    order = np.argsort(-np.bincount(number, weights=duration))
    colours = [*SERIES, "#d9a441", "#4cc3ff", "#c98bb9", "#7a9e7e"]
    size = 6 if len(start) < MANY else 3
    for place, colour in zip(order[:MOST_NAMES], colours, strict=False):
        shown = number == place
        axes.plot(start[shown], duration[shown], ".", ms=size, color=colour, label=names[place])
    others = np.isin(number, order[MOST_NAMES:])
    if others.any():
        axes.plot(start[others], duration[others], ".", ms=size, color="#b8bec6", label="others")
    axes.set_yscale("log")
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=7,
        markerscale=8 / size,
        handlelength=1,
    )
    axes.spines[["top", "right"]].set_visible(False)


@dataclass(frozen=True)
class Counter:
    """A quantity over the time of a run.

    Attributes
    ----------
    name
        Name with unit.
    most, mean
        Largest value and mean of the ranks, for each time.
    """

    name: str
    most: NDArray[np.float64]
    mean: NDArray[np.float64]


_COUNTERS = """
with busy as (
  select step, rank, sum(duration_ns) as kernel_ns from raw.kernels group by step, rank),
rows as (
  select step // {width} as bin, r.start_ns, r.end_ns - r.start_ns as duration_ns, cpu_ns,
    coalesce(kernel_ns, 0) as kernel_ns, memory_bytes, coalesce(device_bytes, 0) as device_bytes,
    rank
  from raw.ranks r left join busy using (step, rank) where true{chosen}),
ranks_of_bin as (
  select bin, rank, min(start_ns) as start_ns, sum(cpu_ns) / sum(duration_ns) as processors,
    100 * sum(kernel_ns) / sum(duration_ns) as kernels, max(memory_bytes) / 1e9 as memory,
    max(device_bytes) / 1e9 as device from rows group by bin, rank)
select min(start_ns) / 1e9 as time, max(processors) as processors_most,
  avg(processors) as processors_mean, max(memory) as memory_most, avg(memory) as memory_mean,
  max(kernels) as kernels_most, avg(kernels) as kernels_mean, max(device) as device_most,
  avg(device) as device_mean
from ranks_of_bin group by bin order by bin
"""


def counters(
    telemetry: Telemetry, steps: Span = None, ranks: Span = None
) -> tuple[NDArray[np.float64], list[Counter]]:
    """Return times (s), and processors in use, memory, kernel time and device memory per rank.

    Kernel time and device memory are left out where kernels run on the host.
    """
    telemetry.require_steps()
    chosen = condition("step", steps) + condition("rank", ranks)
    query = f"select count(distinct step) from raw.ranks where true{chosen}"
    count = telemetry.value(query)
    if not count:
        raise OctoolsError(f"{telemetry.files.directory} has no rows for these steps and ranks")
    query = _COUNTERS.format(width=-(-count // MOST_BINS), chosen=chosen)
    found = telemetry.columns(query)
    shown = {"processors": "processors in use", "memory": "resident memory [GB]"}
    if telemetry.files.metadata.get("gpu") or found["device_most"].any():
        shown |= {
            "kernels": "kernel time [%]",
            "device": "device memory [GB]",
        }
    return found["time"], [
        Counter(text, found[f"{name}_most"], found[f"{name}_mean"]) for name, text in shown.items()
    ]


def save_counters(
    telemetry: Telemetry, steps: Span, ranks: Span, title: str, path: Path
) -> Sequence[Counter]:
    """Plot counters over time; return them."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from octools.figure import SERIES, STYLE, save

    time, found = counters(telemetry, steps, ranks)
    several = telemetry.value("select count(distinct rank) from raw.ranks") > 1
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 0.6 + 2.0 * len(found)), layout="constrained")
        for axes, counter in zip(figure.subplots(len(found), sharex=True), found, strict=True):
            style = {"marker": "."} if len(time) < 2 else {}
            if several:
                axes.plot(time, counter.most, color=SERIES[1], lw=1, label="largest", **style)
            label = "mean of the ranks" if several else None
            axes.plot(time, counter.mean, color=SERIES[0], lw=1, label=label, **style)
            axes.set_ylabel(counter.name, fontsize=8)
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        figure.axes[0].set_title(f"{title}   per rank", loc="left")
        if several:
            figure.axes[0].legend(fontsize=8)
        figure.axes[-1].set_xlabel("time since the start of the run [s]")
        save(figure, path)
    return found
