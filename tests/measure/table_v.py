#!/usr/bin/env python3
"""Measures the density errors of rotating stars beside table V of Diehl et al. (2021).

    tests/measure/table_v.py [--cells 8 16] [--levels 0 1] [--forms ppm ppm26] [--theta 0.5 0.35]
                             [--axis-ratios 0.75 0.6667] [--dynamical-times 10]

Evolves examples/rotating_star.toml for ten dynamical times, 1 / sqrt(G mean density), with each
combination of forms, opening angles, axis ratios, cells per polar radius and levels. The mesh
rotates with the star. With one or more levels, the finest of them, which has this number of cells
per radius, covers the star, and coarser ones the ambient gas. ppm uses riemann = "hll", the
central-upwind flux of the others. Prints the density error at the end and its mean over time, and
the errors of the paper. A star with 8 cells per polar radius takes two minutes on one core; the
time increases with the fourth power of the number of cells.
"""

import argparse
import itertools
import math
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import ROOT, run_well

FORMS = ("ppm", "ppm26", "ppm26_published")
BLOCK = 8
LEAST_BOX = 2.5  # equatorial radii
SURFACE = 1e-4  # density, mass / radius^3, above which the finest level covers the gas
# Opening angle, and errors of the old and the new hydrodynamics on levels 6 and 7.
PAPER = {
    0.5: ((2.41e-3, 1.45e-3), (2.52e-3, 1.51e-3)),
    0.35: ((5.22e-4, 3.59e-4), (4.49e-4, 2.78e-4)),
}


def first_match(pattern: str, text: str) -> float:
    """Return the number that the first match of a pattern in the log contains."""
    match = re.search(pattern, text)
    assert match, f"no match of {pattern!r} in the log:\n{text}"
    return float(match[1])


def star(scratch: Path, ratio: float) -> tuple[float, float]:
    """Return the angular velocity of a star and its dynamical time."""
    text = run_well(
        scratch / f"model_{round(1000 * ratio)}",
        (ROOT / "examples/rotating_star.toml").read_text(),
        f"problem.axis_ratio={ratio}",
        "mesh.base_cells=[16, 16, 16]",
        "time.max_steps=1",
        "output.pictures=[]",
    ).text
    number = r"([0-9.e+-]+)"
    volume = first_match(f"star of mass 1 and volume {number}", text)
    return first_match(f"angular velocity {number};", text), volume**0.5


def mesh(ratio: float, cells: float, levels: int) -> dict[str, object]:
    """Return parameters of a mesh with a number of the finest cells per polar radius."""
    whole = BLOCK << levels
    finest = math.ceil(LEAST_BOX * cells / ratio / whole - 1e-9) * whole
    half = 0.5 * finest * ratio / cells
    base = finest >> levels
    return {
        "mesh.base_cells": [base] * 3,
        "mesh.lower": [-half] * 3,
        "mesh.upper": [half] * 3,
        "mesh.max_level": levels,
        "refine.density": [SURFACE] * levels,
    }


def errors(directory: Path, overrides: dict[str, object]) -> tuple[float, float]:
    """Evolve a star; return the density error at the end and its mean over time."""
    parameters = (ROOT / "examples/rotating_star.toml").read_text()
    given = [f"{key}={value}" for key, value in overrides.items()]
    outcome = run_well(directory, parameters, *given, timeout=None)
    rows = np.genfromtxt(outcome.directory / "history.csv", delimiter=",", names=True)
    error, time = rows["relative_density_error"], rows["time"]
    mean = np.sum(0.5 * (error[1:] + error[:-1]) * np.diff(time)) / (time[-1] - time[0])
    return float(error[-1]), float(mean)


def measure(scratch: Path, options: argparse.Namespace, ratio: float) -> None:
    """Evolve the stars of an axis ratio and print a row for each."""
    velocity, dynamical_time = star(scratch, ratio)
    cases = itertools.product(options.theta, options.cells, options.levels, options.forms)
    of_ppm: dict[tuple[float, float, int], float] = {}
    for number, (theta, cells, levels, form) in enumerate(cases):
        overrides = mesh(ratio, cells, levels) | {
            "problem.axis_ratio": ratio,
            "frame.angular_velocity": velocity,
            "gravity.theta": theta,
            "hydro.reconstruction": form,
            "hydro.riemann": "hll",
            "time.end": options.dynamical_times * dynamical_time,
            "output.snapshot_interval": 0,
            "output.pictures": [],
        }
        end, mean = errors(scratch / f"star_{round(1000 * ratio)}_{number}", overrides)
        if form == "ppm":
            of_ppm[theta, cells, levels] = end
        reference = of_ppm.get((theta, cells, levels))
        share = f"{end / reference:.2f}" if reference else "-"
        base = overrides["mesh.base_cells"][0]
        print(
            f"{ratio:<6.3f} {theta:<6} {cells:<13.4g} {base:<5} {levels:<7} {form:<17} "
            f"{end:.2e}  {mean:.2e}  {share}",
            flush=True,
        )


def main() -> int:
    """Run all stars and print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=float, nargs="+", default=[8], help="per polar radius")
    parser.add_argument("--levels", type=int, nargs="+", default=[0], help="refined levels")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument("--theta", type=float, nargs="+", default=[0.5, 0.35])
    parser.add_argument("--axis-ratios", type=float, nargs="+", default=[0.75, 2 / 3])
    parser.add_argument("--dynamical-times", type=float, default=10)
    options = parser.parse_args()
    head = "ratio  theta  cells/R_pole  base  levels  form              error     mean      / ppm"
    print(head)
    with tempfile.TemporaryDirectory() as scratch:
        for ratio in options.axis_ratios:
            measure(Path(scratch), options, ratio)
    for theta, levels in PAPER.items():
        for level, (old, new) in zip((6, 7), levels, strict=True):
            print(f"paper  {theta:<6} level {level}: old {old:.2e}, new {new:.2e}, {new / old:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
