#!/usr/bin/env python3
"""Compares ionised regions around a source with spherical solutions, and draws their profiles.

    tests/measure/ionized_regions.py [--cells 16 32] [--output docs/ionized_regions.png]

Runs tests 1 and 2 of Iliev et al. (2006), test 2 also with helium, and test 5 of Iliev et al.
(2009), in octants of these numbers of cells: about half an hour on one core with 32. Prints radii
of fronts, their scatter with direction, and errors of temperature and density.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from octools.figure import STYLE

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "physics"))

from ionization_setups import (
    DENSITY,
    Profile,
    expected_profile,
    found_profile,
    front_scatter,
    photon_residual,
    region,
)
from ionized_atoms import black_body, monochromatic
from ionized_sphere import (
    KPC,
    LIGHT_SPEED,
    MYR,
    Delayed,
    cosmological_region,
    with_delayed_front,
    with_light_speed,
)

from running import ROOT, run_well

RATIO = 0.003  # reduced speed of light over the speed of light
EPOCHS = (10.0, 30.0, 100.0, 200.0, 500.0)  # Myr
GROUPS = (13.6, 24.59, 54.42)


@dataclass(frozen=True)
class Case:
    """One of the tests: its name, and how runs and solutions differ from test 1."""

    name: str
    helium: float = 0.0
    temperature: float = 0.0
    moves: bool = False
    size: float = 6.6  # of the octant in kpc

    @property
    def is_grey(self) -> bool:
        """Return whether photons have 13.6 eV."""
        return self.temperature > 0.0


CASES = (
    Case("test 1", temperature=1e4),
    Case("test 2"),
    Case("test 2, helium", helium=0.079),
    Case("test 5", moves=True, size=15.0),
)


def solution(case: Case, shells: int = 256) -> list[Delayed]:
    """Return the spherical solution at EPOCHS."""
    sphere = cosmological_region(
        shells,
        size=case.size,
        photons=monochromatic() if case.is_grey else black_body(GROUPS),
        helium=case.helium,
        temperature=case.temperature,
        moves=case.moves,
    )
    follow = with_delayed_front if case.moves else with_light_speed
    return follow(sphere, [epoch * MYR for epoch in EPOCHS], RATIO * LIGHT_SPEED)


def run_case(directory: Path, case: Case, cells: int) -> list[tuple[Path, Profile]]:
    """Run Octant; return snapshots with their profiles at EPOCHS."""
    text = region(
        cells,
        case.size,
        EPOCHS[-1],
        speed_ratio=RATIO,
        block=8,
        helium=case.helium,
        edges=(13.6,) if case.is_grey else GROUPS,
        spectrum="monochromatic" if case.is_grey else "black_body",
    )
    overrides = [
        f"output.snapshot_times={list(EPOCHS)}",
        f"ionization.temperature={case.temperature}",
    ]
    overrides += ["ionization.radiation_pressure=false", f"hydro.moves={str(case.moves).lower()}"]
    begin = time.monotonic()
    outcome = run_well(directory, text, *overrides, timeout=36000)
    history = outcome.history()
    print(
        f"{case.name}, {cells}^3: {time.monotonic() - begin:.0f} s, "
        f"error of the photon budget {photon_residual(history).max():.1e}, "
        f"unsolved cells {history['ionization_unsolved'][-1]:.0f}"
    )
    return [(path, found_profile(path, case.helium)) for path in outcome.snapshots[1:]]


def print_table(case: Case, found: list[tuple[Path, Profile]], states: list[Delayed]) -> None:
    """Print fronts, and mean errors of temperature and density behind them."""
    print("  Myr  front  exact  error  scatter  temperature  density  (HeI, HeIII fronts)")
    for epoch, (path, profile), exact in zip(EPOCHS, found, states, strict=True):
        expected = expected_profile(path, exact)
        front = expected.front()
        inside = (profile.radius > 0.1 * front) & (profile.radius < 0.85 * front)
        warm, dense = (
            np.mean(np.abs(profile[name] / expected[name] - 1.0)[inside])
            for name in ("temperature", "density")
        )
        error = profile.front() / front - 1.0
        row = f"{epoch:5.0f}  {profile.front():5.3f}  {front:5.3f}  {100 * error:+5.2f} %"
        row += f"  {100 * front_scatter(path):5.2f} %  {100 * warm:7.2f} %  {100 * dense:9.2f} %"
        for field in ("helium_atoms", "not_helium_three") if case.helium > 0.0 else ():
            pair = [p.front(field=field) for p in (profile, expected)]
            row += f"  {pair[0]:5.3f} {pair[1]:5.3f} ({100 * (pair[0] / pair[1] - 1):+.1f} %)"
        print(row)


def draw(panels: np.ndarray, results: dict) -> None:
    """Draw profiles of the finest runs of tests 2 and 5 over those of the solutions."""
    for row, name in zip(panels, ("test 2", "test 5"), strict=True):
        found, states = results[name]
        for n, epoch in enumerate(EPOCHS):
            if epoch in (30.0, 200.0):
                continue
            colour = f"C{n}"
            (_, profile), exact, radius = found[n], states[n], states[n].radius / KPC
            row[0].semilogy(radius, exact.neutral, colour, lw=1, label=f"{epoch:.0f} Myr")
            row[0].semilogy(profile.radius, profile["neutral"], colour + "o", ms=3)
            second = exact.temperature if name == "test 2" else exact.density / DENSITY
            row[1].plot(radius, second, colour, lw=1)
            field = "temperature" if name == "test 2" else "density"
            row[1].plot(profile.radius, profile[field], colour + "o", ms=3)
        row[0].set(title=name, xlabel="radius [kpc]", ylabel="neutral fraction", ylim=(1e-5, 2))
        unit = "temperature [K]" if name == "test 2" else "density / initial density"
        row[1].set(title=name, xlabel="radius [kpc]", ylabel=unit)
        row[1].set_xlim(0.0, row[0].get_xlim()[1])
        if name == "test 2":
            row[1].set_ylim(0.0, 3.5e4)
    panels[0, 0].legend(frameon=False)


def main() -> int:
    """Run, print and draw; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[16, 32])
    parser.add_argument("--cases", nargs="+", default=[case.name for case in CASES])
    parser.add_argument("--output", type=Path, default=ROOT / "docs/ionized_regions.png")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for case in (case for case in CASES if case.name in options.cases):
            states = solution(case)
            for cells in options.cells:
                directory = Path(scratch) / f"{case.name.replace(' ', '_')}_{cells}"
                found = run_case(directory, case, cells)
                print_table(case, found, states)
                sys.stdout.flush()
                results[case.name] = found, states
        if "test 2" in results and "test 5" in results:
            with mpl.rc_context(STYLE):
                figure = Figure(figsize=(6.6, 5.0), layout="constrained")
                draw(figure.subplots(2, 2), results)
                figure.savefig(options.output, dpi=90)
            print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
