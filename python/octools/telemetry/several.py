"""Queries over several runs, and comparison of their speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from octools.errors import OctoolsError
from octools.telemetry.database import (
    Telemetry,
    define_views,
    explained,
    literal,
    lock,
    select_statement,
)
from octools.telemetry.views import VIEWS

# What costs less than this share of a step is not listed.
LEAST_SHARE = 0.005


class Runs:
    """Views of several runs as one: each has a column `run` in front."""

    def __init__(self, paths: Sequence[Path]) -> None:
        names = [path.resolve().name for path in paths]
        if len(set(names)) < len(names):
            names = [str(path) for path in paths]
        if len(set(names)) < len(names):
            raise OctoolsError("the same run is given twice; expected different runs")
        self.runs = {name: Telemetry(path) for name, path in zip(names, paths, strict=True)}

    def __enter__(self) -> Self:
        """Use the runs in a ``with`` statement."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the runs."""
        for telemetry in self.runs.values():
            telemetry.__exit__(kind, error, trace)

    def rows(self, query: str) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
        """Run a query that selects; return names and types of its columns, and its rows."""
        statement = select_statement(query)
        with duckdb.connect(":memory:") as database:
            self._define(database)
            try:
                cursor = database.execute(statement)
                return [(c[0], str(c[1])) for c in cursor.description or []], cursor.fetchall()
            except duckdb.Error as cause:
                raise explained(cause) from cause

    def _define(self, database: duckdb.DuckDBPyConnection) -> None:
        """Define the views of each run in a catalog of its own, and those of all runs."""
        catalogs = {f"run_{n}": name for n, name in enumerate(self.runs)}
        for catalog, name in catalogs.items():
            database.execute(f"attach ':memory:' as {catalog}")
            database.execute(f"use {catalog}")
            define_views(database, self.runs[name].files)
        database.execute("use memory")
        for view in VIEWS:
            of_runs = " union all by name ".join(
                f"select {literal(name)} as run, * from {catalog}.{view}"
                for catalog, name in catalogs.items()
            )
            database.execute(f"create view {view} as {of_runs}")
        lock(database, [file for run in self.runs.values() for file in run.files.files])


# Of each run: seconds of a step in a phase, on the rank where it took longest over the run.
_PHASES = """
with per_rank as (
  select phase, name, rank, sum(self_ns) / 1e9 as seconds from phases group by all)
select phase, name, max(seconds) / (select count(*) from steps) as seconds
from per_rank group by all"""

# Parts of the program by model and solver. A part of an adaptive run includes the waiting and the
# collective calls within it. No part of a list contains another one, so that times can be added.
SOLVERS = {
    "amr": {
        "Godunov": ("sweep", "ghost data", "level coupling", "validation of a sweep"),
        "particles": ("particles",),
        "cooling and heating": ("cooling", "heating", "sources", "source", "turbulence"),
        "star formation": ("stars",),
        "supernovae": ("supernovae",),
        "black holes": ("black_holes",),
        "regridding": ("regrid",),
        "load balance": ("rebalance",),
        "diagnostics": ("measure",),
        "I/O": ("output", "telemetry"),
    },
    "dns": {
        "momentum": ("momentum", "scalar"),
        "implicit diffusion": ("diffusion",),
        "Poisson": ("poisson",),
        "correction": ("correction",),
        "transposes": ("transpose",),
        "diagnostics": ("measuring", "statistics"),
        "I/O": ("output", "telemetry"),
    },
}


def _solvers_query(model: str) -> str:
    """Return the query for seconds of a step by solver, on the rank where it took longest.

    Gravity of the base level, which may use Fourier transforms, and of refined levels are two.
    """
    cases = " ".join(
        f"when name in ({', '.join(map(repr, parts))}) then '{solver}'"
        for solver, parts in SOLVERS.get(model, {}).items()
    )
    gravity = "if(level > 0, 'gravity, refined levels', 'gravity, base level')"
    return f"""
with per_rank as (
  select case when name = 'gravity' then {gravity} {cases} end as solver, rank,
    sum(total_ns) / 1e9 as seconds
  from phases group by all)
select solver, max(seconds) / (select count(*) from steps) as seconds
from per_rank where solver is not null group by all order by 2 desc"""


_STEPS = """
select count(*), sum(duration_ns) / 1e9, sum(updates), max(leaf_cells) from steps"""


@dataclass(frozen=True)
class Pace:
    """Speed of a run.

    Attributes
    ----------
    name
        Of the run.
    ranks, threads
        Ranks, and threads of each.
    nodes
        That they ran on.
    steps, seconds, updates
        Coarse steps, the time that they took, and the cells that were updated in them.
    phases
        Seconds per step by phase and name, of the rank where they are longest.
    solvers
        Seconds per step by solver, of the rank where they are longest.
    """

    name: str
    ranks: int
    threads: int
    nodes: int
    steps: int
    seconds: float
    updates: float
    phases: dict[tuple[str, str], float]
    solvers: dict[str, float]

    @property
    def cores(self) -> int:
        """Threads of all ranks."""
        return self.ranks * self.threads

    @property
    def step(self) -> float:
        """Seconds of a step."""
        return self.seconds / self.steps

    @property
    def work(self) -> float:
        """Updates in a step."""
        return self.updates / self.steps

    @property
    def speed(self) -> float:
        """Updates per second and core."""
        return self.updates / self.seconds / self.cores

    @property
    def cost(self) -> float:
        """Microseconds of all cores per update."""
        return 1e6 / self.speed


def pace(name: str, telemetry: Telemetry) -> Pace:
    """Measure a run's pace; its first step counts like any other."""
    telemetry.require_steps()
    steps, seconds, updates, _ = telemetry.rows(_STEPS)[1][0]
    about = telemetry.files.metadata
    phases = {(phase, what): each for phase, what, each in telemetry.rows(_PHASES)[1]}
    nodes = telemetry.value("select count(distinct node) from ranks")
    threads = int(about.get("threads_per_rank", "1"))
    solvers = dict(telemetry.rows(_solvers_query(about.get("model", "")))[1])
    return Pace(
        name, int(about["ranks"]), threads, nodes, steps, seconds, float(updates), phases, solvers
    )  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """Difference in speed between a run and an earlier one.

    Attributes
    ----------
    before, after
        The paces.
    phases
        Phase, seconds of a step before and after, in the order of what they add to a step; without
        what adds or saves less than `LEAST_SHARE` of one.
    circumstances
        What differs between the machines and the programs: its name, before and after.
    """

    before: Pace
    after: Pace
    phases: list[tuple[str, float, float]]
    circumstances: list[tuple[str, str, str]]

    def headline(self) -> str:
        """Say in a sentence by how much a step became slower."""
        a, b = self.before, self.after
        return (
            f"{b.name} compared with {a.name}: a step takes {in_units(b.step)} instead of "
            f"{in_units(a.step)}, {b.step / a.step:.3g} times as long, for {b.work / a.work:.3g} "
            f"times the cell updates, on {b.cores} core(s) instead of {a.cores}"
        )

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Write phase, both times, their ratio, and the change as a share of the first's step."""
        return [
            (name, in_units(old), in_units(new), f"{new / old:.3g}" if old else "new",
             f"{100 * (new - old) / self.before.step:+.1f} %")
            for name, old, new in self.phases
        ]  # fmt: skip


def differences(runs: Runs) -> list[Difference]:
    """Compare the second run, and those after it, with the first."""
    (first_name, first), *others = runs.runs.items()
    a = pace(first_name, first)
    found = []
    for name, telemetry in others:
        b = pace(name, telemetry)
        phases = [
            (" ".join(key).strip(), a.phases.get(key, 0.0), b.phases.get(key, 0.0))
            for key in {*a.phases, *b.phases}
        ]
        kept = [row for row in phases if abs(row[2] - row[1]) >= LEAST_SHARE * a.step]
        kept.sort(key=lambda row: -abs(row[2] - row[1]))
        found.append(Difference(a, b, kept, _circumstances(first, telemetry)))
    return found


def _circumstances(first: Telemetry, other: Telemetry) -> list[tuple[str, str, str]]:
    own = ("run", "start_unix_ns", "segment", "clock_error_ns", "events_dropped", "schema")
    old, new = first.files.metadata, other.files.metadata
    return [
        (key, str(old.get(key, "unknown")), str(new.get(key, "unknown")))
        for key in sorted({*old, *new})
        if key not in own and old.get(key) != new.get(key)
    ]


NOTHING_CHANGED = f"no phase changed by {100 * LEAST_SHARE:g} % of a step or more"


def what_became_slower(runs: Runs) -> str:
    """Write the differences as tables for people."""
    return "\n\n".join(as_text(difference) for difference in differences(runs))


def as_text(found: Difference) -> str:
    """Write a difference as a table for people."""
    a, b = found.before.name, found.after.name
    table = [("phase", a, b, "times", "of the step"), *found.rows()]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [found.headline(), ""]
    for name, *numbers in table:
        cells = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=True)]
        lines.append("  ".join([f"{name:<{widths[0]}}", *cells]))
    if not found.phases:
        lines.append(NOTHING_CHANGED)
    if found.circumstances:
        lines += ["", "they differ in"]
        lines += [f"  {key}: {old} in {a}, {new} in {b}" for key, old, new in found.circumstances]
    return "\n".join(lines)


def in_units(seconds: float) -> str:
    """Write a time with its unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} us"
