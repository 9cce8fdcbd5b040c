"""Scaling of runs on different numbers of ranks and threads: speed-up, by solver and by phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError
from octools.telemetry.several import LEAST_SHARE, Pace, Runs, in_units, pace

# Runs whose updates differ by less do the same work.
SAME_WORK = 0.1


@dataclass(frozen=True)
class Scaling:
    """Scaling of a set of runs relative to the run with the fewest cores.

    Attributes
    ----------
    kind
        ``strong`` (the same work on all), ``weak`` (the same work per core), ``hybrid`` (the same
        work and number of cores, with different numbers of threads) or ``mixed``.
    paces
        By cores and threads, ascending.
    """

    kind: str
    paces: Sequence[Pace]

    @property
    def efficiencies(self) -> list[float]:
        """Updates per second and core, over those of the first: 1 is perfect."""
        return [each.speed / self.paces[0].speed for each in self.paces]

    @property
    def speedups(self) -> list[float]:
        """Updates per second over those of the first."""
        first = self.paces[0]
        return [
            each.speed * each.cores / (first.speed * first.cores) for each in self.paces
        ]  # fmt: skip

    def phases(self) -> dict[str, list[float]]:
        """Seconds of a step by phase, of each run: what grows, grows here."""
        names = {phase for each in self.paces for phase, _ in each.phases}
        table = {
            name: [
                sum(s for (phase, _), s in each.phases.items() if phase == name)
                for each in self.paces
            ]
            for name in names
        }
        least = LEAST_SHARE * max(each.step for each in self.paces)
        kept = {name: row for name, row in table.items() if max(row) >= least}
        return dict(sorted(kept.items(), key=lambda item: -max(item[1])))

    def solvers(self) -> dict[str, list[float]]:
        """Seconds of a step by solver, of each run; the longest of any run first."""
        names = {solver for each in self.paces for solver in each.solvers}
        table = {name: [each.solvers.get(name, 0.0) for each in self.paces] for name in names}
        least = LEAST_SHARE * max(each.step for each in self.paces)
        kept = {name: row for name, row in table.items() if max(row) >= least}
        return dict(sorted(kept.items(), key=lambda item: -max(item[1])))

    def solver_speedups(self) -> dict[str, list[float | None]]:
        """Work per second by solver, relative to the first run; None where no time is recorded."""
        work = [each.work / self.paces[0].work for each in self.paces]
        return {
            name: [
                each * row[0] / seconds if seconds and row[0] else None
                for each, seconds in zip(work, row, strict=True)
            ]
            for name, row in self.solvers().items()
        }

    def to_text(self) -> str:
        """Write a table for people."""
        lines = [
            f"{self.kind} scaling",
            f"{'run':<20}{'ranks':>7}{'threads':>9}{'cores':>7}{'nodes':>7}{'step':>12}"
            f"{'M updates/s':>13}{'core us':>10}{'speed-up':>10}{'efficiency':>12}",
        ]
        rows = zip(self.paces, self.speedups, self.efficiencies, strict=True)
        for each, speedup, efficiency in rows:
            lines.append(
                f"{each.name[:19]:<20}{each.ranks:>7}{each.threads:>9}{each.cores:>7}"
                f"{each.nodes:>7}{in_units(each.step):>12}"
                f"{1e-6 * each.updates / each.seconds:>13.4g}{each.cost:>10.3g}{speedup:>10.3g}"
                f"{100 * efficiency:>10.1f} %"
            )
        lines.append("core us: microseconds of all cores per cell update")
        speedups = self.solver_speedups()
        lines += ["", "time per step by solver with its waiting, on its slowest rank; speed-up"]
        lines.append(self._heading("solver"))
        for name, row in self.solvers().items():
            cells = zip(row, speedups[name], strict=True)
            lines.append(f"{name:<24}" + "".join(_time_and_speedup(*cell) for cell in cells))
        lines += ["", "time per step by phase, on the slowest rank of each phase"]
        lines.append(self._heading("phase"))
        for name, row in self.phases().items():
            cells = "".join(f"{in_units(seconds):>{_WIDTH}}" for seconds in row)
            lines.append(f"{name:<24}" + cells)
        return "\n".join(lines)

    def _heading(self, first: str) -> str:
        names = "".join(f"{each.name[: _WIDTH - 1]:>{_WIDTH}}" for each in self.paces)
        return f"{first:<24}" + names


# Columns of a run in the tables of solvers and phases.
_WIDTH = 24


def _time_and_speedup(seconds: float, speedup: float | None) -> str:
    ratio = "" if speedup is None else f" ({speedup:.3g})"
    return f"{in_units(seconds) + ratio:>{_WIDTH}}" if seconds else f"{'-':>{_WIDTH}}"


def scaling(runs: Runs) -> Scaling:
    """Measure how runs scale that differ in their ranks or threads."""
    paces = sorted(
        (pace(name, telemetry) for name, telemetry in runs.runs.items()),
        key=lambda each: (each.cores, each.threads),
    )
    if len(paces) < 2:
        raise OctoolsError("expected two or more runs with different numbers of ranks or threads")

    def is_same(values: list[float]) -> bool:
        return max(values) <= (1 + SAME_WORK) * min(values)

    kind = "mixed"
    if is_same([each.work for each in paces]):
        kind = "hybrid" if paces[0].cores == paces[-1].cores else "strong"
    elif is_same([each.work / each.cores for each in paces]):
        kind = "weak"
    return Scaling(kind, paces)


def save_scaling(found: Scaling, path: Path) -> None:
    """Plot speed-up and time of a step by solver, and the time of a step by phase."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from octools.figure import SERIES, STYLE, save

    colours = [*SERIES, "#9aa7b8", "#d9a441", "#7a9e7e", "#c98bb9"]
    hybrid = found.kind == "hybrid"
    axis = "threads per rank" if hybrid else "cores"
    counts = [each.threads if hybrid else each.cores for each in found.paces]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(13.0, 4.2), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        _plot_speedups(left, found, counts, colours)
        _plot_solvers(middle, found, counts, colours)
        _plot_phases(right, found, counts, colours)
        left.set_title(f"{found.kind} scaling", loc="left")
        left.legend(fontsize=7, loc="lower left")  # of both plots by solver
        right.legend(fontsize=7)
        for axes in (left, middle, right):
            axes.set_xlabel(axis)
            axes.spines[["top", "right"]].set_visible(False)
        save(figure, path)


def _plot_speedups(axes: Any, found: Scaling, counts: list[int], colours: list[str]) -> None:
    """Plot work per second relative to the first run: of the step, and of each solver."""
    from octools.figure import INK

    ideal = [each.cores / found.paces[0].cores for each in found.paces]
    axes.loglog(counts, ideal, color=INK, ls=":", lw=1, label="ideal")
    axes.loglog(counts, found.speedups, "o-", color=INK, ms=4, label="step")
    for n, speedup, share in zip(counts, found.speedups, found.efficiencies, strict=True):
        axes.annotate(
            f"{100 * share:.0f} %", (n, speedup), (4, -10), textcoords="offset points", fontsize=8
        )
    _plot_by_solver(axes, counts, found.solver_speedups(), colours)
    axes.set_ylabel("cell updates per second relative to the first run")
    _label_axes(axes, counts)


def _plot_solvers(axes: Any, found: Scaling, counts: list[int], colours: list[str]) -> None:
    """Plot seconds per step: of the step with its ideal, and of each solver."""
    from octools.figure import INK

    first = found.paces[0]
    ideal = [first.step * each.work / first.work * first.cores / each.cores for each in found.paces]
    axes.loglog(counts, ideal, color=INK, ls=":", lw=1, label="ideal")
    axes.loglog(counts, [each.step for each in found.paces], "o-", color=INK, ms=4, label="step")
    _plot_by_solver(axes, counts, found.solvers(), colours)
    axes.set_ylabel("seconds per step, on the slowest rank of each solver")
    _label_axes(axes, counts)


def _plot_by_solver(
    axes: Any, counts: list[int], rows: Mapping[str, Sequence[float | None]], colours: list[str]
) -> None:
    """Plot a curve for each solver, with gaps where a run has no value."""
    for number, (name, row) in enumerate(rows.items()):
        axes.loglog(
            counts, [value or float("nan") for value in row], ".-", lw=1, ms=4,
            color=colours[number % len(colours)], label=name,
        )  # fmt: skip


def _plot_phases(axes: Any, found: Scaling, counts: list[int], colours: list[str]) -> None:
    """Plot seconds per step by phase as stacked bars."""
    places = list(range(len(counts)))
    below = [0.0] * len(counts)
    for number, (name, row) in enumerate(found.phases().items()):
        colour = colours[number % len(colours)]
        axes.bar(places, row, bottom=below, color=colour, label=name, width=0.7)
        below = [a + b for a, b in zip(below, row, strict=True)]
    axes.set_xticks(places, [str(n) for n in counts])
    axes.set_ylabel("seconds per step, on the slowest rank of each phase")


def _label_axes(axes: Any, counts: list[int]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    axes.set_xticks(counts, [str(n) for n in counts], minor=False)
    axes.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
