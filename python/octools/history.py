"""History of a run: conservation, mesh size, and time step."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from octools.constant import name_constants
from octools.errors import OctoolsError, reading, unknown_name
from octools.figure import LEVELS, SERIES, STYLE, save
from octools.snapshot import Array

ROUND_OFF = 1e-17  # lower limit of the axis of errors
CONSERVED = 5e-13  # largest relative change of a quantity that counts as constant


@dataclass(frozen=True)
class History:
    """Time series in ``history.csv``, with one row per coarse step.

    ``history[name]`` returns a column.

    Attributes
    ----------
    path
        Path of the file.
    columns
        Columns by name, each of shape (rows,), in code units.
    """

    path: Path
    columns: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        """Return a column, shape (rows,), in code units.

        Raises
        ------
        OctoolsError
            If there is no such column; the message names similar columns.
        """
        if name not in self.columns:
            raise unknown_name("column", name, self.columns, str(self.path))
        return self.columns[name]

    def per_level(self, what: str) -> dict[int, Array]:
        """Return the columns of a number per level, ``blocks`` or ``leaf_cells``, by level."""
        found = {}
        for name, column in self.columns.items():
            if match := re.fullmatch(rf"{what}_(\d+)", name):
                found[int(match[1])] = column
        return dict(sorted(found.items()))


def read_history(run: Path) -> History:
    """Read ``history.csv``, given a run directory or the file.

    An incomplete last row, as left by an interrupted run, is omitted.

    Raises
    ------
    OctoolsError
        If the file does not exist, has no rows or is damaged.
    """
    path = run / "history.csv" if run.is_dir() else run
    if not path.is_file():
        raise OctoolsError(f"the history file {path} does not exist")
    with reading(path, "history"), path.open(newline="") as file:
        try:
            rows = list(csv.reader(file))
        except csv.Error as cause:
            raise ValueError(cause) from cause
    if len(rows) < 2:
        raise OctoolsError(f"{path} has no rows yet")
    names = [name.strip().lstrip("# ") for name in rows[0]]
    body = [row for row in rows[1:] if row]
    if not body:
        raise OctoolsError(f"{path} has no rows yet")
    if len(body[-1]) < len(names):
        body.pop()
    if not body:
        raise OctoolsError(f"{path} has no rows yet")
    with reading(path, "history"):
        table = np.array([[float(cell or "nan") for cell in row] for row in body])
    if table.shape != (len(body), len(names)):
        raise OctoolsError(f"{path} is not a complete history file: its rows differ in length")
    return History(path, dict(zip(names, table.T, strict=True)))


def drifts(history: History) -> dict[str, Array]:
    """Return the relative errors of conservation since the first row.

    These are the changes of mass, momentum and energy of gas and particles that no account of
    ``history.csv`` explains (`octools.ledger`): heating, cooling, radiation, floors, sources and
    the flow through boundaries are no errors. Mass and energy are relative to their first value or
    to the largest entry of an account, momentum to the maximum of the sum of ``|rho v|`` over all
    cells. Quantities without such a scale are omitted. In cosmological runs, the error of the
    Layzer-Irvine equation relative to the potential energy replaces that of the energy.
    """
    from octools.ledger import books_in_code_units

    expands = "econs" in history.columns
    books = books_in_code_units(history, with_energy=not expands)
    errors = {"energy (Layzer-Irvine)": history["econs"]} if expands else {}
    return {book.name: book.rest for book in books} | errors


def save_history(history: History, title: str, path: Path) -> None:
    """Draw conservation, blocks per level and the time step against time."""
    from octools.time_axis import draw_redshifts, time_axis

    axis = time_axis(history)
    time = axis.values
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 7.0), layout="constrained")
        top, middle, bottom = figure.subplots(3, 1, sharex=True)
        _draw_drifts(top, time, drifts(history))
        top.set_title(title, loc="left")
        blocks = history.per_level("blocks")
        if blocks:
            middle.stackplot(
                time,
                *blocks.values(),
                labels=[f"level {n}" for n in blocks],
                colors=[LEVELS[n % len(LEVELS)] for n in blocks],
                edgecolor="white",
                linewidth=0.3,
            )
            _outside_legend(middle)
        middle.set_ylabel("blocks")
        # The last row has no step yet.
        bottom.plot(time[:-1], history["dt"][:-1], color=SERIES[0], lw=1.1)
        name_constants(bottom)
        unit = " [code]" if axis.label != "time" else ""
        bottom.set(ylabel=f"coarse time step{unit}", xlabel=axis.label)
        for axes in (top, middle, bottom):
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.01)
        if axis.redshift is not None:
            draw_redshifts(top, time, axis.redshift)
        save(figure, path)


def _draw_drifts(axes: Axes, time: Array, curves: Mapping[str, Array]) -> None:
    for (name, values), colour in zip(curves.items(), SERIES, strict=False):
        label, largest = name.replace("_", " "), float(np.nanmax(np.abs(values), initial=0.0))
        if largest <= CONSERVED:
            axes.plot([], [], color=colour, lw=1.1, label=f"{label}: constant to {largest:.1g}")
        else:
            axes.plot(time, np.abs(values), color=colour, lw=1.1, label=label)
    if curves and not any(len(np.asarray(line.get_xdata())) for line in axes.get_lines()):
        axes.text(0.5, 0.5, "constant", transform=axes.transAxes, ha="center", fontsize=9)
        axes.set_yticks([])
    elif any(np.nanmax(np.abs(values), initial=0.0) > 0 for values in curves.values()):
        axes.set_yscale("log", nonpositive="mask")
        if axes.get_ylim()[0] < ROUND_OFF:
            axes.set_ylim(bottom=ROUND_OFF, top=max(axes.get_ylim()[1], 10 * ROUND_OFF))
    axes.set_ylabel("relative error")
    if curves:
        _outside_legend(axes)


def _outside_legend(axes: Axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8.5)
