#!/usr/bin/env python3
"""Compares ionised regions of cosmological sources at several resolutions, and draws them.

    tests/measure/cosmological_regions.py [--cells 32 64] [--output docs/cosmological_regions.png]

Runs examples/cosmological_hii.toml, the set-up of test 4 of Iliev et al. (2006), with these
numbers of cells: a quarter of a minute of one core with 32, four minutes with 64. Prints ionised
fractions, and where the photons are: emitted = absorbed + in the box + left. Returns 1 if the
ionised mass or the absorbed photons of the two finest runs differ by more than 1 % at the end.
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

from ionization_setups import photon_residual

from running import ROOT, Outcome, leaf_cells, run_well, uniform_grid

SAMPLES = 64  # points per axis at which the density is sampled, at all resolutions up to this
TOLERANCE = 0.01
HEIGHT = 46.0  # of the slices, kpc
LINES = (":", "--", "-")
NAMES = ("volume", "mass", "absorbed", "stored", "left")


@dataclass(frozen=True)
class State:
    """Ionised fractions of volume and mass, and parts of the emitted photons, at a time in Myr."""

    time: float
    values: dict[str, float]


def follow(directory: Path, cells: int) -> Outcome:
    """Run the example with a number of cells along each axis."""
    text = (ROOT / "examples/cosmological_hii.toml").read_text()
    overrides = (
        f"mesh.base_cells=[{cells}, {cells}, {cells}]",
        f"problem.samples={max(SAMPLES // cells, 1)}",
        "output.pictures=[]",
    )
    begin = time.monotonic()
    outcome = run_well(directory, text, *overrides, timeout=36000)
    history = outcome.history()
    print(
        f"{cells}^3: {time.monotonic() - begin:.0f} s, error of the photon budget "
        f"{photon_residual(history).max():.1e}, "
        f"unsolved cells {history['ionization_unsolved'][-1]:.0f}"
    )
    return outcome


def states(outcome: Outcome) -> list[State]:
    """Return the fractions at the times of the snapshots."""
    history, found = outcome.history(), []
    for path in outcome.snapshots[1:]:
        cells = leaf_cells(path)
        row = int(np.argmin(np.abs(history["time"] - cells.time)))
        emitted = history["ionization_injected"][row]
        stored = sum(history[f"photons_{g}"][row] for g in range(3))
        ions, volume = cells["ionized_hydrogen"], cells.volume
        values = (
            np.average(ions, weights=volume),
            np.average(ions, weights=cells["density"] * volume),
            history["ionization_absorbed"][row] / emitted,
            stored / emitted,
            history["outflow_photons"][row] / emitted,
        )
        found.append(State(cells.time, dict(zip(NAMES, map(float, values), strict=True))))
    return found


def print_table(found: list[State]) -> None:
    """Print fractions by time."""
    print("  Myr  " + "  ".join(f"{name:>8}" for name in NAMES))
    for state in found:
        print(f"{state.time:5.2f}  " + "  ".join(f"{state.values[name]:8.4f}" for name in NAMES))


def differences(coarse: list[State], fine: list[State]) -> bool:
    """Print relative differences of two runs; return whether the last ones are in the tolerance."""
    print("differences in per cent")
    for one, other in zip(coarse, fine, strict=True):
        parts = {name: 100.0 * (one.values[name] / other.values[name] - 1.0) for name in NAMES}
        print(f"{one.time:5.2f}  " + "  ".join(f"{parts[name]:8.2f}" for name in NAMES))
    return all(abs(parts[name]) <= 100.0 * TOLERANCE for name in ("mass", "absorbed"))


def draw(panels: np.ndarray, outcome: Outcome, found: dict[int, list[State]]) -> None:
    """Draw a slice of the finest run, and the fractions of all runs over time."""
    size = leaf_cells(outcome.last_snapshot).position.max()
    fields = (("density", "log10 density / mean"), ("ionized_hydrogen", "log10 neutral fraction"))
    for panel, (name, label) in zip(panels[:2], fields, strict=True):
        grid = uniform_grid(outcome.last_snapshot, name)
        grid = 1.0 - grid if name == "ionized_hydrogen" else grid
        plane = grid[int(HEIGHT / size * (len(grid) - 0.5))]
        values = np.log10(np.maximum(plane, 1e-5))
        image = panel.imshow(
            values, origin="lower", extent=(0, size, 0, size), cmap="viridis", aspect="equal"
        )
        panel.figure.colorbar(image, ax=panel, label=label, orientation="horizontal")
        panel.set(xlabel="x [kpc]", ylabel="y [kpc]")
    shown = sorted(found.items())[-len(LINES) :]
    for style, (cells, run) in zip(LINES[-len(shown) :], shown, strict=True):
        times = [0.0, *(state.time for state in run)]
        for colour, name in (("C0", "mass"), ("C1", "volume")):
            panels[2].plot(
                times,
                [0.0, *(s.values[name] for s in run)],
                colour + style,
                label=f"{name}, {cells}³",
            )
    panels[2].set(xlabel="time [Myr]", ylabel="ionised fraction", ylim=(0, None))
    panels[2].legend(frameon=False)


def main() -> int:
    """Run, print and draw; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--output", type=Path, default=ROOT / "docs/cosmological_regions.png")
    options = parser.parse_args()
    found: dict[int, list[State]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for cells in sorted(options.cells):
            outcome = follow(Path(scratch) / str(cells), cells)
            found[cells] = states(outcome)
            print_table(found[cells])
            sys.stdout.flush()
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(9.0, 3.6), layout="constrained")
            draw(figure.subplots(1, 3), outcome, found)
            figure.savefig(options.output, dpi=90)
    print(f"wrote {options.output}")
    finest = sorted(found)[-2:]
    agrees = len(finest) < 2 or differences(*(found[cells] for cells in finest))
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
