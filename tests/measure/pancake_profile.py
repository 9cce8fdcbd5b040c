#!/usr/bin/env python3
"""Draws the gas of a pancake half way to its collapse beside the exact solution.

    tests/measure/pancake_profile.py [--output docs/pancake_profile.png]

Runs examples/pancake.toml without dark matter on 64 equal cells to z = 3, with PLM and with PPM,
and draws density, temperature and entropy of every cell. Prints the largest errors of each.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from octools.figure import INK, SERIES, STYLE
from octools.pancake import MOLECULAR_WEIGHT
from octools.profile import exact_solution, line_profile
from octools.snapshot import Snapshot

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, run_well

Array = NDArray[np.float64]
BOLTZMANN, PROTON_MASS = 1.380649e-16, 1.67262192369e-24  # cgs
SETTINGS = (
    "problem.dark_matter=false",
    "cosmology.snapshots=[]",
    'cosmology.end="z = 3"',
    "mesh.base_cells=[64, 8, 8]",
    "mesh.upper=[1.0, 0.125, 0.125]",
    "mesh.max_level=0",
    "refine.region_level=0",
    "output.pictures=[]",
    'hydro.dual_energy="overwrite"',
)
LABELS = ("density over the mean", "temperature [K]", "entropy over the mean's")


def quantities(density: Array, pressure: Array, kelvin: float) -> tuple[Array, Array, Array]:
    """Give density, temperature and entropy, the last over its value at the mean density."""
    entropy = pressure / density ** (5 / 3)
    return density, kelvin * pressure / density, entropy


def profiles(snapshot: Snapshot) -> tuple[Array, list[Array], Array, list[Array]]:
    """Give places and quantities of the cells, and places and quantities of the exact solution."""
    header = snapshot.header
    velocity = header.units["length"] / header.units["time"]
    kelvin = MOLECULAR_WEIGHT * PROTON_MASS / BOLTZMANN * velocity**2
    line = line_profile(snapshot, 0, header.lower + 1e-6, ["density", "pressure"])
    exact = exact_solution(header, "pancake", {})
    fine = np.linspace(0.0, 1.0, 2001)
    solutions = []
    for place in (fine, line.place):
        density, _, pressure = exact.at(place)
        solutions.append(quantities(density, pressure, kelvin))
    found = quantities(line.values["density"], line.values["pressure"], kelvin)
    mean = np.interp(1.0, *sorted_by_density(solutions[0]))
    scale = (1.0, 1.0, 1.0 / mean)
    curves, cells, expected = (
        [factor * values for factor, values in zip(scale, each, strict=True)]
        for each in (solutions[0], found, solutions[1])
    )
    for label, ours, theirs in zip(LABELS, cells, expected, strict=True):
        print(f"  {label}: largest error {100 * np.abs(ours / theirs - 1).max():.3f} %")
    return line.place, cells, fine, curves


def sorted_by_density(solution: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Give densities in ascending order, and the entropies there."""
    order = np.argsort(solution[0])
    return solution[0][order], solution[2][order]


def main() -> int:
    """Run and draw; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "docs/pancake_profile.png")
    options = parser.parse_args()
    parameters = (ROOT / "examples/pancake.toml").read_text()
    with mpl.rc_context(STYLE), tempfile.TemporaryDirectory() as scratch:
        figure = Figure(figsize=(6.4, 5.6), layout="constrained")
        panels = figure.subplots(3, 1, sharex=True)
        styles = {"plm": ("o", SERIES[0]), "ppm": ("x", SERIES[1])}
        for name, (marker, colour) in styles.items():
            how = f"hydro.reconstruction={name}"
            outcome = run_well(Path(scratch) / name, parameters, *SETTINGS, how)
            print(f"{name}:")
            with Snapshot(outcome.last_snapshot) as snapshot:
                place, cells, fine, curves = profiles(snapshot)
            for axes, ours, exact, label in zip(panels, cells, curves, LABELS, strict=True):
                if name == "plm":
                    axes.plot(fine, exact, color=INK, lw=0.9, label="exact")
                axes.plot(place, ours, marker, color=colour, ms=3.2, mew=0.8, label=name.upper())
                axes.set_ylabel(label)
                axes.spines[["top", "right"]].set_visible(False)
                axes.margins(x=0.01)
        panels[0].set_title("pancake of gas, 64 cells, z = 3, collapse at z = 1", loc="left")
        panels[0].legend(loc="upper right")
        panels[2].set_xlabel("place [box]")
        figure.align_ylabels(panels)
        figure.savefig(options.output, dpi=90)
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
