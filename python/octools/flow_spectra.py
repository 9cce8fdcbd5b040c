"""Spectra of a flow along its periodic axes, from its statistics."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import h5py
import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from octools.errors import OctoolsError, reading
from octools.figure import INK, SERIES, STYLE, save
from octools.flow import COMPONENTS
from octools.snapshot import Array

# Of the spectrum along the direction of a velocity, E11 = C1 e^(2/3) k^(-5/3) (Pope 2000, p. 231).
KOLMOGOROV = 0.49
LEAST_FALL = 1e3  # from the largest to the smallest wave, of a resolved flow


@dataclass(frozen=True)
class Spectra:
    """One-dimensional energy spectra of an incompressible flow, in code units.

    Attributes
    ----------
    name
        Name of the run.
    values
        Energy per wavenumber by velocity component and axis, such as ``("u", "x")``, shape
        (planes, waves), without the mean flow (wavenumber 0).
    waves
        Wavenumbers by axis, shape (waves,).
    planes
        z coordinates of the planes.
    dissipation
        Mean dissipation rate of kinetic energy per mass.
    """

    name: str
    values: dict[tuple[str, str], Array]
    waves: dict[str, Array]
    planes: Array
    dissipation: float

    def numbers(self) -> list[str]:
        """Describe the resolution along each axis, by the decrease of the spectrum of u."""
        lines = [f"dissipation {self.dissipation:.5g}"]
        for axis, waves in self.waves.items():
            least = min(float(row.max() / max(row[-2], 1e-300)) for row in self.values["u", axis])
            word = "PASS" if least >= LEAST_FALL else "COARSE"
            lines.append(
                f"{word:<9} waves along {axis}, up to k = {waves[-1]:.4g}: the spectrum of u "
                f"falls by a factor of {least:.2g} or more; required: {LEAST_FALL:g}"
            )
        return lines


def read_spectra(run: Path) -> Spectra:
    """Read the spectra of a run directory from ``statistics.h5``.

    With walls, the spectra of four planes are returned, otherwise the mean over all planes.

    Raises
    ------
    OctoolsError
        If the run has no statistics.
    """
    path = run / "statistics.h5"
    if not path.is_file():
        raise OctoolsError(
            f"{run} contains no statistics.h5 because the run has not sampled statistics; set "
            "statistics.interval and statistics.start"
        )
    with reading(path, "file of statistics"), h5py.File(path) as file:
        stored, z = file["spectra"], file["grid/z"][...]
        parameters = _parameters(run)
        size, walls = parameters["grid"]["size"], _has_walls(parameters)
        heights = np.geomspace(0.03, 1.0, 4) * 0.5 * (z[0] + z[-1])
        chosen = [int(np.abs(z - height).argmin()) for height in heights]
        values, waves = {}, {}
        for number, axis in enumerate("xy"):
            if f"spectrum_u_{axis}" not in stored:
                continue
            first = 2 * np.pi / float(size[number])
            for component in COMPONENTS:
                table = stored[f"spectrum_{component}_{axis}"][:, 1:] / first
                rows = table[chosen] if walls else table.mean(axis=0, keepdims=True)
                values[component, axis] = np.asarray(rows, dtype=float)
            waves[axis] = first * np.arange(1, 1 + rows.shape[1])
        squares = _mean(file["centres/gradients"][...], file["grid/z_face"][...])
        faces = file["faces/gradients_face"][...]
        squares += _mean(0.5 * (faces[1:] + faces[:-1]), file["grid/z_face"][...])
        dissipation = float(file["header"].attrs["viscosity"]) * squares
    planes = z[chosen] if walls else np.empty(0)
    return Spectra(run.resolve().name, values, waves, planes, dissipation)


def _parameters(run: Path) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = tomllib.loads((run / "run.toml").read_text())
    return found


def _has_walls(parameters: dict[str, dict[str, list[float]]]) -> bool:
    return parameters.get("dns", {}).get("boundary_z", ["wall"])[0] != "periodic"


def _mean(values: Array, faces: Array) -> float:
    return float(np.average(values, weights=np.diff(faces)))


def save_spectra(spectra: Spectra, path: Path) -> None:
    """Draw the spectra, a panel per axis: of each component, or of u at several heights."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(spectra.waves), 4.4), layout="constrained")
        panels = figure.subplots(1, len(spectra.waves), squeeze=False, sharey=True)[0]
        for axes, (axis, k) in zip(panels, spectra.waves.items(), strict=True):
            if len(spectra.planes):
                for z, row, colour in zip(
                    spectra.planes, spectra.values["u", axis], SERIES, strict=False
                ):
                    axes.loglog(k[:-1], row[:-1], color=colour, label=f"u at z = {z:.3g}")
            else:
                for component, colour in zip(COMPONENTS, SERIES, strict=False):
                    row = spectra.values[component, axis][0]
                    axes.loglog(k[:-1], row[:-1], color=colour, label=component)
            law = KOLMOGOROV * spectra.dissipation ** (2 / 3) * k ** (-5 / 3)
            label = r"$0.49\,\varepsilon^{2/3} k^{-5/3}$"
            axes.loglog(k, law, color=INK, ls=":", lw=1.0, label=label)
            axes.set(xlabel=f"wavenumber along {axis}")
            axes.legend(fontsize=8.5)
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set(ylabel="energy per wavenumber")
        panels[0].set_title(spectra.name.replace("_", " "), loc="left")
        save(figure, path)
