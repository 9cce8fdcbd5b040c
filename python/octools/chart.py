"""Charts of results of a run with reference values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from octools.constant import name_constants
from octools.figure import INK, SERIES, STYLE, label_logarithms, save
from octools.snapshot import Array

MANY = 40  # points: more of them are drawn without a line between


@dataclass(frozen=True)
class Curve:
    """Points or a line.

    Attributes
    ----------
    name
        What the legend says.
    x, y
        The points, each of shape (points,).
    """

    name: str
    x: Array
    y: Array


@dataclass(frozen=True)
class Chart:
    """Panel of a chart: results of a run against time or position.

    Attributes
    ----------
    x, y
        What the axes say, with units.
    found
        Drawn as points, or as wide lines where there are many.
    expected
        Drawn as dark lines, thin enough to leave what is found beside them to be seen.
    log, log_x
        A logarithmic scale upwards, and along.
    """

    x: str
    y: str
    found: Sequence[Curve]
    expected: Sequence[Curve] = ()
    log: bool = False
    log_x: bool = False


def save_charts(charts: Sequence[Chart], title: str, path: Path) -> None:
    """Draw charts below each other."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 0.9 + 3.1 * len(charts)), layout="constrained")
        panels = figure.subplots(len(charts), 1, squeeze=False)[:, 0]
        for axes, chart in zip(panels, charts, strict=True):
            for curve in chart.expected:
                axes.plot(curve.x, curve.y, color=INK, lw=1.0, label=curve.name, zorder=3)
            for curve, colour in zip(chart.found, SERIES, strict=False):
                many = len(curve.x) > MANY
                wide = 3.0 if chart.expected else 1.5
                how = (
                    {"lw": wide, "alpha": 0.6} if many else {"ls": "none", "marker": "o", "ms": 4.0}
                )
                axes.plot(curve.x, curve.y, color=colour, label=curve.name, **how)
            if chart.log:
                axes.set_yscale("log")
                label_logarithms(axes.yaxis)
            elif not chart.expected:
                name_constants(axes)
            if chart.log_x:
                axes.set_xscale("log")
                label_logarithms(axes.xaxis)
            axes.set(xlabel=chart.x, ylabel=chart.y)
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.02)
            if len(chart.found) + len(chart.expected) > 1:
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8.5)
        panels[0].set_title(title, loc="left")
        figure.align_ylabels(panels)
        save(figure, path)
