"""Tables and plots of the performance model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from octools.scaling_model.machine import Machine
from octools.scaling_model.model import Curve, Program, total
from octools.scaling_model.recorded import Recorded
from octools.telemetry.several import in_units

# Components below this fraction of a step on the first number of ranks are not listed.
LEAST_FRACTION = 0.005


def listed(curve: Curve) -> list[str]:
    """Return the components that take a noticeable part of a step, the longest first."""
    seconds = {
        name: max(sum(each[name].values()) / total(each) for each in curve.predictions)
        for name in curve.predictions[0]
    }
    return sorted(
        (name for name, fraction in seconds.items() if fraction >= LEAST_FRACTION),
        key=lambda name: -seconds[name],
    )


def fit_table(program: Program) -> str:
    """Return a table of the fitted coefficients and counts of all components."""
    lines = [
        "fitted components, per coarse step and rank",
        f"{'component':<24}{'ns/update':>11}{'ns/surface':>12}{'fixed':>11}{'kernels':>9}"
        f"{'exchanges':>11}{'reductions':>12}{'tree rounds':>13}",
    ]
    for each in program.components:
        calls = sum(exchange.calls for exchange in each.exchanges)
        lines.append(
            f"{each.name:<24}{1e9 * each.per_update:>11.4g}{1e9 * each.per_surface:>12.4g}"
            f"{in_units(each.fixed):>11}{each.launches:>9.4g}{calls:>11.4g}"
            f"{each.reductions:>12.4g}{each.routes:>13.4g}"
        )
    return "\n".join(lines)


def validation_table(program: Program, runs: Sequence[Recorded]) -> str:
    """Compare predicted and recorded busy times of the mean rank, bytes and messages."""
    lines = [
        "predicted over recorded, mean rank: busy time, messages and bytes",
        f"{'run':<20}{'ranks':>7}{'recorded':>12}{'predicted':>12}{'busy':>8}{'messages':>10}"
        f"{'bytes':>8}",
    ]
    for run in runs:
        predicted = predicted_busy(program, run)
        lines.append(
            f"{run.name[:19]:<20}{run.ranks:>7}{in_units(run.busy):>12}"
            f"{in_units(predicted):>12}{predicted / run.busy:>8.3f}"
            f"{_ratio(*messages(program, run)):>10}{_ratio(*sent_bytes(program, run)):>8}"
        )
    return "\n".join(lines)


def predicted_busy(program: Program, run: Recorded) -> float:
    """Return the predicted busy seconds of the mean rank of a run."""
    return sum(each.busy(run.ranks, run.updates_per_rank) for each in program.components)


def messages(program: Program, run: Recorded) -> tuple[float, float]:
    """Return predicted and recorded messages of exchanges of the mean rank."""
    predicted = sum(
        exchange.messages_sent(run.ranks)
        for each in program.components
        for exchange in each.exchanges
    )
    recorded = sum(
        sent.messages for counts in run.components.values() for sent in counts.exchanges.values()
    )
    return predicted, recorded


def sent_bytes(program: Program, run: Recorded) -> tuple[float, float]:
    """Return predicted and recorded bytes of exchanges of the mean rank."""
    predicted = sum(
        exchange.bytes_sent(run.ranks, run.updates_per_rank)
        for each in program.components
        for exchange in each.exchanges
    )
    recorded = sum(
        sent.bytes for counts in run.components.values() for sent in counts.exchanges.values()
    )
    return predicted, recorded


def _ratio(predicted: float, recorded: float) -> str:
    return f"{predicted / recorded:.3f}" if recorded else "-"


def curve_table(curve: Curve, machine: Machine) -> str:
    """Write the time of a step, efficiencies by component, and where each stops to scale."""
    heads = "".join(f"{n:>10}" for n in curve.ranks)
    lines = [f"{curve.kind} scaling on {machine.name}: efficiency by number of ranks"]
    lines.append(f"{'component':<24}{heads}  efficiency below 1/2 at")
    lines.append(_curve_row("whole step", curve, None))
    lines += [_curve_row(name, curve, name) for name in listed(curve)]
    times = "".join(f"{in_units(total(each)):>10}" for each in curve.predictions)
    return "\n".join([*lines, f"{'time of a step':<24}{times}"])


def _curve_row(label: str, curve: Curve, component: str | None) -> str:
    numbers = "".join(f"{value:>10.3f}" for value in curve.efficiencies(component))
    stop = curve.stop(component)
    where = f"{stop.ranks} ranks: {stop.cause}" if stop.ranks else f"nowhere (most: {stop.cause})"
    return f"{label:<24}{numbers}  {where}"


def save_curves(curves: Sequence[Curve], machine: Machine, path: Path) -> None:
    """Plot the efficiencies of a step and of its components."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from octools.figure import STYLE, save

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.0 * len(curves), 4.0), layout="constrained")
        for axes, each in zip(figure.subplots(1, len(curves), squeeze=False)[0], curves,
                              strict=True):  # fmt: skip
            _plot(axes, each)
            axes.set_title(f"{each.kind} scaling on {machine.name}", loc="left")
        save(figure, path)


def _plot(axes: Any, curve: Curve) -> None:
    from octools.figure import INK, SERIES

    colours = [*SERIES, "#9aa7b8", "#d9a441", "#7a9e7e", "#c98bb9"]
    axes.semilogx(curve.ranks, curve.efficiencies(), "o-", color=INK, ms=3, label="whole step")
    for number, name in enumerate(listed(curve)):
        axes.semilogx(
            curve.ranks, curve.efficiencies(name), ".-", lw=1, ms=4,
            color=colours[number % len(colours)], label=name,
        )  # fmt: skip
    axes.axhline(0.5, color=INK, ls=":", lw=1)
    axes.set_xlabel("ranks")
    axes.set_ylabel("parallel efficiency")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=7, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
