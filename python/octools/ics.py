"""Initial conditions: grafic directories, and the first snapshots of runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.figure import SERIES, STYLE, save
from octools.linear import LinearTheory, Spectrum
from octools.snapshot import AXES, Array, Snapshot
from octools.units import PARSEC

HEADER = np.dtype(
    [
        ("before", "<i4"),
        ("cells", "<i4", 3),
        ("spacing", "<f4"),
        ("offset", "<f4", 3),
        ("scale_factor", "<f4"),
        ("omega_m", "<f4"),
        ("omega_lambda", "<f4"),
        ("hubble", "<f4"),
        ("after", "<i4"),
    ]
)

# The fields that the program reads; and scalars, by the beginning of their names.
VECTORS = ("velb", "velc", "posc")
FIELDS = {"deltab", "refmap", *(vector + axis for vector in VECTORS for axis in AXES)}
SCALAR = "pvar_"


@dataclass(frozen=True)
class Universe:
    """Cosmological parameters in the files of initial conditions.

    Attributes
    ----------
    scale_factor
        When they are.
    omega_m, omega_lambda
        Densities today in units of the critical one.
    h
        H0 / (100 km/s/Mpc).
    box
        Side of the whole box, comoving Mpc/h.
    """

    scale_factor: float
    omega_m: float
    omega_lambda: float
    h: float
    box: float

    @property
    def redshift(self) -> float:
        """Redshift of the scale factor."""
        return 1.0 / self.scale_factor - 1.0


class GraficLevel:
    """Directory ``level_NNN`` of files in the grafic2 format.

    Attributes
    ----------
    number
        NNN: 2^NNN of the level's cells make a side of the box.
    fields
        Names of its files, without ``ic_``.
    others
        Names of files that are no fields of initial conditions, such as ``particle_ids``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = int(folder.name.removeprefix("level_"))
        names = sorted(path.name.removeprefix("ic_") for path in folder.glob("ic_*"))
        self.fields = [name for name in names if name in FIELDS or name.startswith(SCALAR)]
        self.others = [name for name in names if name not in self.fields]
        if not self.fields:
            raise OctoolsError(f"{folder} contains no grafic files (ic_deltab, ic_velcx, ...)")
        self.header = self._header(self.fields[0])

    def _path(self, field: str) -> Path:
        return self.folder / f"ic_{field}"

    def _header(self, field: str) -> NDArray[np.void]:
        found = np.fromfile(self._path(field), HEADER, 1)
        if found.size < 1 or found["before"][0] != 44 or found["after"][0] != 44:
            raise OctoolsError(f"{self._path(field)} is not a little-endian grafic2 file")
        return found[0]

    @property
    def cells(self) -> tuple[int, int, int]:
        """Cells along x, y and z."""
        return tuple(map(int, self.header["cells"]))  # type: ignore[return-value]

    @property
    def origin(self) -> NDArray[np.int64]:
        """The lower corner in cells of this level, shape (3,) as x, y, z."""
        return np.rint(self.header["offset"] / self.header["spacing"]).astype(np.int64)

    @property
    def universe(self) -> Universe:
        """Cosmological parameters in the header; the box size from the spacing and the level."""
        h = float(self.header["hubble"]) / 100
        box = float(self.header["spacing"]) * 2**self.number * h
        numbers = [float(self.header[n]) for n in ("scale_factor", "omega_m", "omega_lambda")]
        return Universe(*numbers, h, box)

    def read(self, field: str) -> Array:
        """Read a field, shape (z, y, x)."""
        nx, ny, nz = map(int, self._header(field)["cells"])
        record = np.dtype([("before", "<i4"), ("plane", "<f4", (ny, nx)), ("after", "<i4")])
        planes = np.fromfile(self._path(field), record, offset=HEADER.itemsize)
        length = 4 * nx * ny
        if planes.size != nz or (planes["before"] != length).any():
            raise OctoolsError(f"{self._path(field)} is truncated or corrupt")
        return planes["plane"].astype(float)


def is_grafic(folder: Path) -> bool:
    """Return true if a folder holds levels of grafic files."""
    return folder.is_dir() and any(folder.glob("level_*"))


def read_levels(folder: Path) -> list[GraficLevel]:
    """Look at all levels of a folder, from the coarsest on."""
    found = [path for path in folder.glob("level_*") if re.fullmatch(r"level_\d+", path.name)]
    return sorted((GraficLevel(path) for path in found), key=lambda level: level.number)


def overdensity(level: GraficLevel, theory: LinearTheory) -> tuple[str, Array]:
    """Find the overdensity of the whole box, and tell of what it is.

    That is the baryons' where there are files of it, else minus the divergence of the displacements
    or of the velocities, to first order.
    """
    if "deltab" in level.fields:
        return "baryons", level.read("deltab")
    factor = 1.0
    name = "posc"
    if "poscx" not in level.fields:
        name = "velc"
        factor = theory.velocity_per_displacement(level.universe.scale_factor)
    n = level.cells[0]
    k = 2 * np.pi / level.universe.box * np.fft.fftfreq(n, 1 / n)
    k[n // 2 :][: 1 - n % 2] = 0.0
    along = {"x": k[: n // 2 + 1], "y": k[:, None], "z": k[:, None, None]}
    modes = sum(-1j * along[axis] * np.fft.rfftn(level.read(name + axis) / factor) for axis in AXES)
    return "dark matter", np.fft.irfftn(modes, (n, n, n), axes=(0, 1, 2))


def base_overdensity(snapshot: Snapshot) -> tuple[Universe, Array]:
    """Assemble the gas's overdensity on the base grid of a cosmological snapshot."""
    header = snapshot.header
    if not header.parameter("cosmology.enabled", False):
        raise OctoolsError(
            f"{snapshot.path} is not from a cosmological run (cosmology.enabled = true), "
            "which linear theory requires"
        )
    names = ("cosmology.omega_m", "cosmology.omega_lambda", "cosmology.h")
    omega_m, omega_lambda, h = (header.parameter(name) for name in names)
    if omega_m is None or omega_lambda is None or h is None:
        raise OctoolsError(f"{snapshot.path} is not from a cosmological run: {names[0]} is missing")
    if len(set(header.base_cells)) != 1:
        raise OctoolsError(f"{snapshot.path}: the base grid is not a cube")
    density = np.empty(tuple(header.base_cells[::-1]))
    n = header.block_size
    for batch in snapshot.batches(["density"], snapshot.levels[0]):
        for (x, y, z), values in zip(batch.corner, batch.values["density"], strict=True):
            density[z : z + n, y : y + n, x : x + n] = values
    box = header.size[0] * header.units["length"] / header.scale_factor / (1e6 * PARSEC) * h
    universe = Universe(header.scale_factor, omega_m, omega_lambda, h, float(box))
    return universe, density / density.mean() - 1.0


def moments(level: GraficLevel) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield name, mean, standard deviation, least and greatest value of each field."""
    for field in level.fields:
        values = level.read(field)
        yield field, *(float(f(values)) for f in (np.mean, np.std, np.min, np.max))


def save_spectrum(spectrum: Spectrum, title: str, path: Path) -> None:
    """Draw P(k) with its linear theory, and their ratio with its cosmic variance."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 5.4), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        top.loglog(spectrum.k, spectrum.expected, color=SERIES[0], lw=1.1, label="linear theory")
        top.loglog(spectrum.k, spectrum.power, "o", color=SERIES[1], ms=3.5, label="measured")
        top.set(ylabel="P(k)  [(Mpc/h)³]")
        top.set_title(title, loc="left")
        top.legend()
        scatter = np.sqrt(2 / spectrum.modes)
        bottom.fill_between(
            spectrum.k, 1 - scatter, 1 + scatter, color=SERIES[0], alpha=0.2, lw=0,
            label="cosmic variance",
        )  # fmt: skip
        bottom.plot(spectrum.k, spectrum.power / spectrum.expected, "o", color=SERIES[1], ms=3.5)
        bottom.set(ylabel="measured / linear", xlabel="k  [h/Mpc]")
        bottom.legend(loc="lower right")
        bottom.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        bottom.xaxis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:g}"))
        bottom.xaxis.set_minor_formatter(NullFormatter())
        for axes in (top, bottom):
            axes.spines[["top", "right"]].set_visible(False)
        save(figure, path)
