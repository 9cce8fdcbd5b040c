"""Whether a picture shows something: range and contrast of what a figure draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

LEAST_CONTRAST = 0.01  # root mean square of colours, in parts of the colour bar
LEAST_RANGE = 1e-6  # of values, relative to the largest


def faults_of_image(values: np.ndarray, norm: Callable[[np.ndarray], np.ndarray]) -> list[str]:
    """Say what keeps an image from showing something: its range, or its contrast."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return ["an image without values"]
    span, largest = float(np.ptp(finite)), float(np.abs(finite).max())
    if span <= LEAST_RANGE * largest:
        return [f"an image of {finite.min():.6g} to {finite.max():.10g}, which is constant"]
    colours = np.ma.filled(np.ma.masked_invalid(norm(values)), np.nan)
    contrast = float(np.nanstd(np.clip(colours, 0.0, 1.0)))
    return [] if contrast >= LEAST_CONTRAST else [f"an image with a contrast of {contrast:.2g}"]


def faults_of_lines(axes: Axes) -> list[str]:
    """Say that no line of a plot rises or falls, or that it has none."""
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
    lines = [y[np.isfinite(y)] for y in lines if len(y) > 2]
    if not lines:
        return []
    varies = (np.ptp(y) > LEAST_RANGE * np.abs(y).max() for y in lines if y.size)
    return [] if any(varies) else [f"flat lines of {axes.get_ylabel() or 'a plot'}"]


def faults(figure: Figure) -> list[str]:
    """List what is empty, constant or without contrast in a figure that is about to be saved."""
    found, shows = [], False
    for axes in figure.get_axes():
        images = [a for a in axes.get_children() if isinstance(a, AxesImage | QuadMesh)]
        if axes.get_label() == "<colorbar>" or getattr(axes, "_colorbar", None) is not None:
            continue
        for image in images:
            values = np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan)
            found += faults_of_image(values, image.norm)
            shows = True
        if not images and axes.get_lines():
            found += faults_of_lines(axes)
            shows = True
        shows = shows or bool(axes.patches) or bool(axes.collections)
    return found if shows else [*found, "no image and no line"]


class Gallery:
    """Figures that were saved while it watched, and what is wrong with them.

    Attributes
    ----------
    pictures
        Number of figures, frames of movies among them.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pictures = 0
        self._stills: list[str] = []
        self._frames: list[list[str]] = []
        save = Figure.savefig

        def savefig(figure: Figure, path: object, *words: object, **options: object) -> object:
            self.pictures += 1
            found = faults(figure)
            if isinstance(path, Path):
                self._stills += [f"{path.name}: {fault}" for fault in found]
            else:
                self._frames.append(found)
            return save(figure, path, *words, **options)

        monkeypatch.setattr(mpl.figure.Figure, "savefig", savefig)

    @property
    def wrong(self) -> list[str]:
        """Faults of figures by file, and of frames if none shows anything: the first may not."""
        frames = self._frames if self._frames and all(self._frames) else []
        return [*self._stills, *(f"frame: {fault}" for found in frames for fault in found)]
