"""Numbers of examples of incompressible flow."""

from math import erfc
from pathlib import Path

import numpy as np

from octools.chart import Chart, Curve
from octools.expected.findings import Findings, Number, middle_profile
from octools.flow import FlowSnapshot
from octools.flow_figures import centre_line_errors, centre_line_references, centre_lines
from octools.history import read_history
from octools.run import snapshots


def heated_cavity(run: Path) -> Findings:
    """Measure the heat through a cavity at a Rayleigh number of 10^5 (de Vahl Davis 1983)."""
    return [Number("Nusselt number", nusselt(run), 4.519, 0.05)]


def nusselt(run: Path) -> float:
    """Measure the mean heat flux through a cavity of unit sides and difference, over conduction's.

    By diffusion at the warm wall: values half a cell from it fall to those at the wall.
    """
    import h5py

    found = snapshots(run)
    with h5py.File(found[max(found)]) as file:
        scalar = file["fields/t"][...]
        heights = np.diff(file["grid/z_face"][...], prepend=0.0)
    cells = scalar.shape[2]
    # Of second order: a parabola through the wall and two cells.
    slope = (8 * 0.5 - 9 * scalar[:, :, 0] + scalar[:, :, 1]) * cells / 3
    return float(np.average(slope.mean(axis=1), weights=heights))


def cavity(run: Path) -> Findings:
    """Hold velocities on the centre lines against those of a spectral calculation.

    With 16, 24 and 48 cells along a side u is off by 0.055, 0.052 and 0.022, w by 0.15, 0.10 and
    0.029: a third more passes.
    """
    tables = [Path(f"albensoeder2005_{table}.csv") for table in ("T5", "T6")]
    found = snapshots(run)
    lines = centre_lines(FlowSnapshot.read(found[max(found)]))
    errors = centre_line_errors(lines, centre_line_references(tables))
    return [
        Number(f"{name} on the centre line, largest difference", error, 0.0, 0.038)
        for name, error in errors.items()
    ]


def square_duct(run: Path) -> Findings:
    """Measure laminar flow in a square duct: largest over mean velocity (White 2006)."""
    import h5py

    found = snapshots(run)
    with h5py.File(found[max(found)]) as file:
        speed = file["fields/u"][...]
    # The largest is between the four cells in the middle.
    k, j = speed.shape[0] // 2, speed.shape[1] // 2
    middle = speed[k - 1 : k + 1, j - 1 : j + 1].mean()
    return [Number("largest velocity over the mean", float(middle / speed.mean()), 2.0963, 0.01)]


def couette(run: Path) -> Findings:
    """Hold a fluid between sliding walls against a straight line.

    What is left of its beginning falls as exp(-nu (pi / h)^2 t), 2 / pi of a wall's speed at first.
    """
    flow, z, velocity = middle_profile(run, "u")
    height = flow.size[2]
    exact, found = 2 * z / height - 1, velocity.mean(axis=1)
    # Only waves that are odd about the middle: the longest is one over the height.
    left = 2 / np.pi * float(np.exp(-flow.viscosity * (2 * np.pi / height) ** 2 * flow.time))
    worst = float(np.abs(found - exact).max())
    return [
        Number("velocity, largest difference", worst, 0.0, 1.1 * left + 1e-12),
        Chart("z", "u", [Curve("Octant", z, found)], [Curve("exact", z, exact)]),
    ]


def developing_channel(run: Path) -> Findings:
    """Hold what leaves a channel against the parabola; second-order errors of its cells pass."""
    _, z, velocity = middle_profile(run, "u")
    found, exact = velocity[:, -1], 6 * z * (1 - z)
    spacing = float(np.diff(z).max())
    return [
        Number("velocity where it leaves, largest difference", float(np.abs(found - exact).max()),
               0.0, 12 * spacing**2),
        Chart("z", "u where it leaves", [Curve("Octant", z, found)], [Curve("parabola", z, exact)]),
    ]  # fmt: skip


def taylor_green(run: Path) -> Findings:
    """Draw the kinetic energy per volume, and what is lost of it per time."""
    history = read_history(run)
    time = history["time"]
    energy = sum(history[f"kinetic_{axis}"] for axis in "uvw")
    loss = -np.gradient(energy, time)
    return [
        Chart("time", "kinetic energy", [Curve("Octant", time, energy)]),
        Chart("time", "loss of kinetic energy", [Curve("Octant", time, loss)]),
    ]


def half_channel(run: Path) -> Findings:
    """Hold the friction at a river's bed against what drives it, the mean of its second half.

    The scatter of a mean is the one of four pieces of that time; three times as much passes.
    """
    history = read_history(run)
    time, friction = history["time"], history["wall_shear_lower"]
    late = time > 0.5 * time[-1]
    pieces = [piece.mean() for piece in np.array_split(friction[late], 4)]
    scatter = float(np.std(pieces, ddof=1) / np.sqrt(len(pieces)))
    return [
        Number("friction over what drives it", float(friction[late].mean()), 1.0, 3 * scatter),
        Chart(
            "time",
            "friction at the bed",
            [Curve("Octant", time, friction)],
            [Curve("balance", time, np.ones_like(time))],
        ),
    ]


def vortices(run: Path) -> Findings:
    """Hold the decay of vortices against exp(-4 nu t).

    Centred differences take a share (k h)^2 / 12 from the decay of a wave of number k; twice that
    passes.
    """
    history = read_history(run)
    found = snapshots(run)
    flow = FlowSnapshot.read(found[max(found)])
    time, energy = history["time"], sum(history[f"kinetic_{axis}"] for axis in "uvw")
    decay = 4 * flow.viscosity * time
    spacing = float(np.diff(flow.centres[0])[0])
    exact = np.exp(-decay)
    allowed = 2 * decay[-1] * spacing**2 / 12 * exact[-1]
    kept = energy / energy[0]
    return [
        Number("kinetic energy, over the first", float(kept[-1]), float(exact[-1]), float(allowed)),
        Chart(
            "time",
            "kinetic energy, over the first",
            [Curve("Octant", time, kept)],
            [Curve("exp(-4 t / Re)", time, exact)],
        ),
    ]


def boundary_layer(run: Path) -> Findings:
    """Hold a fluid above a wall that slides against erfc(z / sqrt(4 nu t)) (Stokes 1851).

    With 32 and 64 cells up to eight it errs by 4.1e-3 and 1.02e-3: second order. Half as much again
    passes.
    """
    flow, z, velocity = middle_profile(run, "u")
    found = velocity.mean(axis=1)
    exact = np.array([erfc(x) for x in z / np.sqrt(4 * flow.viscosity * flow.time)])
    return [
        Number("velocity, largest difference", float(np.abs(found - exact).max()), 0.0, 1.5e-3),
        Chart("z", "u", [Curve("Octant", z, found)], [Curve("exact", z, exact)]),
    ]
