"""Detection of constant fields and curves, whose variations are rounding errors."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from octools.snapshot import Array

# Largest relative difference of values that count as equal: solvers leave some 1e-10 of noise in
# uniform gas, and waves are set up with amplitudes of 1e-8 or more.
NOISE = 1e-9
ROUND_OFF = 1e-14  # of the largest value of a plot: what is smaller is zero


def constant_value(values: Array, scale: float = 0.0) -> float | None:
    """Return the value of a constant field, or None if the field varies or has no values.

    Parameters
    ----------
    values
        The field, any shape; what is not finite is left out.
    scale
        Size that differences are compared with where it exceeds the values themselves: a velocity
        of 1e-17 is zero in gas whose sound speed is 1.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return None
    low, high = float(finite.min()), float(finite.max())
    largest = max(abs(low), abs(high))
    if high - low > NOISE * max(largest, scale):
        return None
    return 0.0 if largest <= NOISE * scale else 0.5 * (low + high)


def range_text(values: Array, scale: float = 0.0) -> str:
    """Describe the values of a field: the least and the greatest, or the one of a constant."""
    low, high = np.nanmin(values), np.nanmax(values)
    value = constant_value(values, scale)
    if value is None:
        return f"{low:.6g} to {high:.6g}"
    difference = f", to {high - low:.2g}" if high > low else ""
    return f"{value:.6g} everywhere (constant{difference})"


def name_constants(axes: Axes) -> None:
    """Draw constant lines of a plot without their rounding errors, and give their values as text.

    The plot has its lines, and not yet its legend.
    """
    lines = [line for line in axes.get_lines() if len(np.asarray(line.get_ydata())) > 1]
    values = [np.asarray(line.get_ydata(), dtype=float) for line in lines]
    finite = np.concatenate([y[np.isfinite(y)] for y in values]) if values else np.empty(0)
    if finite.size == 0:
        return
    least = ROUND_OFF * float(np.abs(finite).max())
    constants = [
        0.0 if np.nanmax(np.abs(y), initial=0.0) <= least else constant_value(y) for y in values
    ]
    for line, y, value in zip(lines, values, constants, strict=True):
        if value is None:
            continue
        line.set_ydata(np.where(np.isfinite(y), value, np.nan))
        label = str(line.get_label())
        if not label.startswith("_"):
            line.set_label(f"{label}: constant, {value:.6g}" if label else f"constant, {value:.6g}")
    found = [value for value in constants if value is not None]
    if len(found) < sum(y[np.isfinite(y)].size > 0 for y in values):
        return
    margin = 0.1 * (max(abs(value) for value in found) or 1.0)
    axes.set_ylim(min(found) - margin, max(found) + margin)
    if len(found) == 1:
        text = f"constant: {found[0]:.6g}"
        axes.text(0.5, 0.62, text, transform=axes.transAxes, ha="center", fontsize=9)
