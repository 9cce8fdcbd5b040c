"""Expected numbers for examples of incompressible flow."""

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
    """Compare velocities on the centre lines with those of a spectral calculation.

    The maximum differences are 0.022 (u) and 0.029 (w) with 48^3 cells, 0.013 and 0.021 with 64^3,
    and 0.009 and 0.012 with 80^3. The bound is 1.3 times that of 80^3 cells.
    """
    tables = [Path(f"albensoeder2005_{table}.csv") for table in ("T5", "T6")]
    found = snapshots(run)
    lines = centre_lines(FlowSnapshot.read(found[max(found)]))
    errors = centre_line_errors(lines, centre_line_references(tables))
    return [
        Number(f"{name} on the centre line, maximum difference", error, 0.0, 0.015)
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
    return [Number("ratio of maximum to mean velocity", float(middle / speed.mean()), 2.0963, 0.01)]


def couette(run: Path) -> Findings:
    """Compare the flow between sliding walls with the linear profile.

    What is left of its beginning falls as exp(-nu (pi / h)^2 t), 2 / pi of a wall's speed at first.
    """
    flow, z, velocity = middle_profile(run, "u")
    height = flow.size[2]
    exact, found = 2 * z / height - 1, velocity.mean(axis=1)
    # Only waves that are odd about the middle: the longest is one over the height.
    left = 2 / np.pi * float(np.exp(-flow.viscosity * (2 * np.pi / height) ** 2 * flow.time))
    worst = float(np.abs(found - exact).max())
    return [
        Number("velocity, maximum difference", worst, 0.0, 1.1 * left + 1e-12),
        Chart("z", "u", [Curve("Octant", z, found)], [Curve("exact", z, exact)]),
    ]


def developing_channel(run: Path) -> Findings:
    """Compare the outflow of a channel with the parabola, within second-order errors."""
    _, z, velocity = middle_profile(run, "u")
    found, exact = velocity[:, -1], 6 * z * (1 - z)
    spacing = float(np.diff(z).max())
    return [
        Number("velocity at the outlet, maximum difference", float(np.abs(found - exact).max()),
               0.0, 12 * spacing**2),
        Chart("z", "u at the outlet", [Curve("Octant", z, found)], [Curve("parabola", z, exact)]),
    ]  # fmt: skip


def taylor_green(run: Path) -> Findings:
    """Draw the kinetic energy per volume, and what is lost of it per time."""
    history = read_history(run)
    time = history["time"]
    energy = sum(history[f"kinetic_{axis}"] for axis in "uvw")
    loss = -np.gradient(energy, time)
    return [
        Chart("time", "kinetic energy", [Curve("Octant", time, energy)]),
        Chart("time", "dissipation rate of kinetic energy", [Curve("Octant", time, loss)]),
    ]


def half_channel(run: Path) -> Findings:
    """Compare the friction at a river bed with the driving force; means over the second half.

    The scatter of a mean is the one of four pieces of that time; three times as much passes.
    """
    history = read_history(run)
    time, friction = history["time"], history["wall_shear_lower"]
    late = time > 0.5 * time[-1]
    pieces = [piece.mean() for piece in np.array_split(friction[late], 4)]
    scatter = float(np.std(pieces, ddof=1) / np.sqrt(len(pieces)))
    return [
        Number(
            "ratio of bed friction to driving force", float(friction[late].mean()), 1.0, 3 * scatter
        ),
        Chart(
            "time",
            "bed friction",
            [Curve("Octant", time, friction)],
            [Curve("balance", time, np.ones_like(time))],
        ),
    ]


def vortices(run: Path) -> Findings:
    """Compare the decay of vortices with exp(-4 nu t).

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
        Number(
            "kinetic energy relative to the initial value",
            float(kept[-1]),
            float(exact[-1]),
            float(allowed),
        ),
        Chart(
            "time",
            "kinetic energy relative to the initial value",
            [Curve("Octant", time, kept)],
            [Curve("exp(-4 t / Re)", time, exact)],
        ),
    ]


def boundary_layer(run: Path) -> Findings:
    """Compare the flow above a sliding wall with erfc(z / sqrt(4 nu t)) (Stokes 1851).

    With 32 and 64 cells up to eight it errs by 4.1e-3 and 1.02e-3: second order. Half as much again
    passes.
    """
    flow, z, velocity = middle_profile(run, "u")
    found = velocity.mean(axis=1)
    exact = np.array([erfc(x) for x in z / np.sqrt(4 * flow.viscosity * flow.time)])
    return [
        Number("velocity, maximum difference", float(np.abs(found - exact).max()), 0.0, 1.5e-3),
        Chart("z", "u", [Curve("Octant", z, found)], [Curve("exact", z, exact)]),
    ]
