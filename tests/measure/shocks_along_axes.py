#!/usr/bin/env python3
"""Draws Sedov's blast and Noh's implosion with HLLC and with the default Riemann solver.

    tests/measure/shocks_along_axes.py [--output docs/shocks_along_axes.png]

Runs examples/sedov.toml and examples/noh.toml with both solvers, about three minutes on one core,
and draws the density of one quarter of the plane z = centre. Prints the density behind the shock
on the axis and on the diagonal of the plane.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from octools.fields import find_field
from octools.figure import STYLE
from octools.raster import Image, make_image, make_view
from octools.snapshot import Snapshot

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, run_well

# Corner of the quarter, its width, and the largest density of the colour bar.
QUARTERS = {"sedov": (0.5, 0.5, 4.0), "noh": (0.0, 0.3, 70.0)}
SOLVERS = ("hllc", "hllc_hybrid")


def quarter(snapshot_path: Path, corner: float, width: float) -> Image:
    """Paint the density of the quarter right of and above the centre."""
    middle = corner + 0.5 * width
    with Snapshot(snapshot_path) as snapshot:
        view = make_view(snapshot, "slice", "z", corner + 1e-6, (middle, middle, corner), width)
        return make_image(snapshot, find_field(snapshot, "density"), view)


def along(image: Image, diagonal: bool) -> np.ndarray:
    """Give the densities along the lower side of a quarter, or along its diagonal."""
    values = image.values
    n = min(values.shape)
    return np.diagonal(values)[:n] if diagonal else values[0]


def main() -> int:
    """Run and draw; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "docs/shocks_along_axes.png")
    options = parser.parse_args()
    with mpl.rc_context(STYLE), tempfile.TemporaryDirectory() as scratch:
        figure = Figure(figsize=(6.6, 6.0), layout="constrained")
        panels = figure.subplots(2, 2)
        for row, (name, (corner, width, largest)) in zip(panels, QUARTERS.items(), strict=True):
            parameters = (ROOT / f"examples/{name}.toml").read_text()
            for axes, solver in zip(row, SOLVERS, strict=True):
                more = (f"hydro.riemann={solver}", "output.pictures=[]")
                outcome = run_well(Path(scratch) / f"{name}_{solver}", parameters, *more)
                image = quarter(outcome.last_snapshot, corner, width)
                for diagonal in (False, True):
                    densest = along(image, diagonal).max()
                    where = "diagonal" if diagonal else "axis"
                    print(f"{name}, {solver}: largest density on the {where} {densest:.3f}")
                drawn = axes.imshow(
                    image.values, origin="lower", extent=image.extent, vmin=0.0, vmax=largest
                )
                axes.set_title(f"{name}, {solver}", loc="left")
                axes.set_aspect("equal")
            figure.colorbar(drawn, ax=list(row), label="density", shrink=0.9)
        figure.savefig(options.output, dpi=90)
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
