#!/usr/bin/env python3
"""Compares mass-transfer rates of runs of a binary at equal masses of the donor.

    tests/measure/transfer_rates.py RUN RUN [...] [--figure FILE.png] [--panels 0 1.5 2.5]

Reads binary.csv of runs that differ in resolution, which `octools binary RUN --average 0.5` wrote.
The donor is the second star. Prints, for each mass of the donor that all runs reach, the time, the
rate at which gas of the donor arrives in the lobe of the accretor, and the rate at which the donor
loses mass, in initial masses per initial orbital period, and the ratio of the rates of the first
two runs. The figure shows separations, masses and rates, and the density of the last run at the
times of --panels in orbital periods.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from octools.binary_figure import Scales, density_limits, draw_orbital_plane, orbital_image
from octools.binary_star import measure_binary
from octools.figure import SERIES, STYLE
from octools.run import snapshots
from octools.snapshot import Snapshot

Array = NDArray[np.float64]
STEP = 0.01  # of the donor's mass in the table
PIXELS = 200  # along an edge of a density panel


class Transfer:
    """Masses and rates of a run until the stars merge, in units of the initial binary."""

    def __init__(self, run: Path) -> None:
        table = np.genfromtxt(run / "binary.csv", delimiter=",", names=True)
        table = table[np.isfinite(table["lobe_2_mass"])]
        whole = table["lobe_1_mass"][0] + table["lobe_2_mass"][0]
        per_period = 2.0 * np.pi / table["angular_velocity"][0] / whole
        self.name = run.name
        self.orbits: Array = table["orbits"]
        self.separation: Array = table["separation"]
        self.donor: Array = table["lobe_2_mass"] / whole
        self.arrival: Array = -per_period * table["transfer_rate"]
        self.loss: Array = -per_period * table["mass_rate_2"]

    def at(self, mass: float, values: Array) -> float:
        """Interpolate to the last time at which the donor has a mass; NaN if it never has."""
        later = np.flatnonzero((self.donor[:-1] >= mass) & (self.donor[1:] < mass))
        if len(later) == 0:
            return float("nan")
        n = later[-1]
        share = (self.donor[n] - mass) / (self.donor[n] - self.donor[n + 1])
        return float((1.0 - share) * values[n] + share * values[n + 1])


def print_table(runs: list[Transfer]) -> None:
    """Print times and rates at equal masses of the donor."""
    print("donor   " + "".join(f"{run.name:>10}: orbits  arrival     loss" for run in runs))
    for mass in np.arange(0.33, 0.05, -STEP):
        rows = [[run.at(mass, v) for v in (run.orbits, run.arrival, run.loss)] for run in runs]
        if not np.isfinite(rows).all():
            continue
        line = "".join(f"{'':11}{r[0]:7.2f} {r[1]:8.4f} {r[2]:8.4f}" for r in rows)
        ratios = f"  ratio {rows[0][1] / rows[1][1]:.2f} {rows[0][2] / rows[1][2]:.2f}"
        print(f"{mass:.2f}    {line}{ratios if len(rows) > 1 else ''}")


def draw_panels(panels: list[mpl.axes.Axes], run: Path, times: list[float]) -> None:
    """Draw the density of a run in the orbital plane at times in orbital periods."""
    paths = list(snapshots(run).values())
    with Snapshot(paths[0]) as snapshot:
        first = measure_binary(snapshot)
    period = 2.0 * np.pi / first.columns()["angular_velocity"]
    scales = Scales(first.time, first.columns()["separation"], period)
    images = []
    for time in times:
        found = []
        for path in paths:
            with Snapshot(path) as snapshot:
                found.append(abs((snapshot.header.time - first.time) / period - time))
        with Snapshot(paths[int(np.argmin(found))]) as snapshot:
            images.append(orbital_image(snapshot, measure_binary(snapshot), 1.2, PIXELS))
    for axes, image in zip(panels, images, strict=True):
        draw_orbital_plane(axes, image, scales, density_limits(images))
        axes.set_xlabel("line of the stars [$a_0$]")
        axes.set_ylabel("along the orbit [$a_0$]" if axes is panels[0] else "")


def draw(runs: list[Transfer], last: Path, times: list[float], path: Path) -> None:
    """Draw curves of all runs and the density of the last one."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 5.4), layout="constrained")
        upper, lower = figure.subfigures(2, 1, height_ratios=[1.0, 1.05])
        panels = upper.subplots(1, 3)
        for run, colour in zip(runs, SERIES, strict=False):
            panels[0].plot(run.orbits, run.separation, color=colour, label=run.name)
            panels[1].plot(run.orbits, run.donor, color=colour)
            panels[2].plot(run.donor, run.arrival, color=colour)
            panels[2].plot(run.donor, run.loss, color=colour, ls=":")
        panels[0].legend(fontsize=8)
        panels[0].set(xlabel="time [$P_0$]", ylabel="separation [$a_0$]")
        panels[1].set(xlabel="time [$P_0$]", ylabel="mass of the donor [$M_0$]")
        panels[2].set(
            xlabel="mass of the donor [$M_0$]",
            ylabel="arrival, loss (dots) [$M_0/P_0$]",
            yscale="log",
            ylim=(1e-3, 1.0),
        )
        panels[2].invert_xaxis()
        draw_panels(list(lower.subplots(1, len(times))), last, times)
        figure.savefig(path, dpi=100)


def main() -> None:
    """Compare the runs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--panels", nargs="+", type=float, default=[0.0, 1.0, 2.0, 2.5])
    arguments = parser.parse_args()
    runs = [Transfer(run) for run in arguments.runs]
    print_table(runs)
    if arguments.figure:
        draw(runs, arguments.runs[-1], arguments.panels, arguments.figure)


if __name__ == "__main__":
    main()
