"""Constant fields: values whose differences are rounding errors, not to be magnified."""

from __future__ import annotations

import numpy as np

from octools.snapshot import Array

# Largest relative difference of values that count as equal: solvers leave some 1e-10 of noise in
# uniform gas, and waves are set up with amplitudes of 1e-8 or more.
NOISE = 1e-9


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
