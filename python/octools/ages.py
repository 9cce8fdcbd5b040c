"""Times in seconds: of files, and of the formation of their stars and black holes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from octools.errors import OctoolsError
from octools.snapshot import Array, Header


class Cosmology(Protocol):
    """Source of cosmological parameters: the header of a file, or the parameters of a run."""

    @property
    def cosmology(self) -> Mapping[str, float]:
        """Attributes of a file's header that describe the universe; may be empty."""

    def parameter(self, name: str, default: Any = None) -> Any:
        """Look up ``section.key`` in the run's parameters."""


HUBBLE_TIME = 3.0856775814913673e17  # s, for h = 1


def cosmic_time(scale_factor: Array, header: Cosmology) -> Array:
    """Find the age of the universe in s at scale factors, by a file's header or parameters."""
    names = ("omega_m", "omega_lambda", "omega_radiation", "w0", "wa", "h")
    defaults = (None, None, 0.0, -1.0, 0.0, None)
    values = [
        header.cosmology.get(name, header.parameter(f"cosmology.{name}", default))
        for name, default in zip(names, defaults, strict=True)
    ]
    if any(value is None for value in values):
        raise OctoolsError("the file has no cosmological parameters (cosmology.omega_m, ...)")
    matter, dark_energy, radiation, w0, wa, h = (float(value) for value in values)
    curvature = 1.0 - matter - dark_energy - radiation
    # dt = a / sqrt(...) dx with x = sqrt(a): smooth from a = 0 on.
    x = np.linspace(0.0, np.sqrt(max(float(np.max(scale_factor, initial=0.0)), 1e-4)), 20001)
    a = x**2
    with np.errstate(divide="ignore"):
        growth = np.where(a > 0, a, 1.0) ** (-3.0 * (1.0 + w0 + wa)) * np.exp(-3.0 * wa * (1.0 - a))
    rate = matter * a + radiation + curvature * a**2 + dark_energy * a**4 * growth
    slope = np.zeros_like(x)
    slope[1:] = 2.0 * x[1:] * a[1:] / np.sqrt(rate[1:])
    time = np.concatenate([[0.0], np.cumsum(0.5 * (slope[1:] + slope[:-1]) * np.diff(x))])
    return np.interp(np.sqrt(scale_factor), x, time) * HUBBLE_TIME / h


def formation_times(columns: Mapping[str, Array], header: Header) -> Array:
    """Find when particles formed, in s: since the run began, or since the universe did.

    Parameters
    ----------
    columns
        ``birth_time`` in code units, and ``birth_scale_factor`` where space expands.
    header
        That of the file.
    """
    if header.cosmology:
        return cosmic_time(columns["birth_scale_factor"], header)
    return columns["birth_time"] * header.units["time"]


def present_time(header: Header) -> float:
    """Return the time of a file in s: since the run began, or since the universe did."""
    if header.cosmology:
        return float(cosmic_time(np.array([header.scale_factor]), header)[0])
    return header.time * header.units["time"]
