"""Orders of accuracy in space and time, and flows that are known exactly."""

import math
from pathlib import Path

import h5py
import numpy as np
import pytest

from flows import (
    DIFFUSIONS,
    SMALL_CAVITY,
    SMALL_CHANNEL,
    SMALL_DUCT,
    SMALL_FOUNTAIN,
    SMALL_VORTICES,
    fields,
    largest_difference,
)
from running import run_well

PLANE_VORTICES = """
model = "dns"
[problem]
name = "taylor_green"
dimensions = 2
[grid]
size = [6.283185307179586, 6.283185307179586, 1.0]
[dns]
viscosity = 0.1
boundary_z = ["periodic", "periodic"]
[time]
end = 0.5
step = 0.0125
"""


def errors_of_plane_vortices(directory: Path, cells: int) -> tuple[float, float]:
    """Largest errors of the velocities, and of the pressure."""
    outcome = run_well(directory, PLANE_VORTICES, f"grid.cells=[{cells}, {cells}, 3]")
    face = 2 * math.pi * (np.arange(cells) + 1) / cells
    centre = 2 * math.pi * (np.arange(cells) + 0.5) / cells
    decay = np.exp(-0.2 * 0.5)
    found = fields(outcome.last_snapshot)
    u = found["u"] - decay * np.sin(face) * np.cos(centre)[:, None]
    v = found["v"] + decay * np.cos(centre) * np.sin(face)[:, None]
    p = decay**2 / 4 * (np.cos(2 * centre) + np.cos(2 * centre)[:, None])
    velocity = max(float(np.abs(q).max()) for q in (u, v, found["w"]))
    return velocity, float(np.abs(found["p"] - found["p"].mean() - p).max())


def test_decaying_vortices_converge_at_second_order_in_space(tmp_path: Path) -> None:
    coarse = errors_of_plane_vortices(tmp_path / "coarse", 16)
    fine = errors_of_plane_vortices(tmp_path / "fine", 32)
    assert coarse[0] < 2e-3
    assert math.log2(coarse[0] / fine[0]) == pytest.approx(2.0, abs=0.1)
    assert coarse[1] < 0.015  # of 0.4
    assert math.log2(coarse[1] / fine[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_velocity_is_second_and_pressure_first_order_in_time(
    diffusion: str, tmp_path: Path
) -> None:
    # From a solenoidal state: where the first one is not, its projection costs an order.
    begin = run_well(tmp_path / "begin", SMALL_CHANNEL, "problem.noise=0.0", "dns.viscosity=0.02")
    flow = SMALL_CHANNEL.replace('name = "channel"', 'name = "stored_flow"\npath = "{}"')
    flow = flow.replace("rolls = 0.2\nnoise = 0.2\n", "").format(begin.last_snapshot)
    results = []
    for halvings in range(3):
        steps = 10 * 2**halvings
        outcome = run_well(
            tmp_path / str(halvings),
            flow,
            f"dns.diffusion={diffusion}",
            "dns.viscosity=0.02",
            f"time.max_steps={steps}",
            f"time.step={0.4 / steps}",
        )
        results.append(fields(outcome.last_snapshot))
    for names, least in (("uvw", 1.9), ("p", 0.9)):
        first = largest_difference(results[0], results[1], names)
        second = largest_difference(results[1], results[2], names)
        assert math.log2(first / second) >= least, (names, first, second)


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
@pytest.mark.parametrize(
    "flow", [SMALL_CHANNEL, SMALL_CAVITY, SMALL_VORTICES, SMALL_DUCT, SMALL_FOUNTAIN]
)
def test_velocity_is_solenoidal_after_every_step(flow: str, diffusion: str, tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", flow, f"dns.diffusion={diffusion}")
    rows = outcome.history()
    speed = np.maximum.reduce([rows["max_u"], rows["max_v"], rows["max_w"]])
    # A cell's extent is at most 0.7 in these flows.
    assert np.all(rows["divergence"][1:] <= 1e-12 * speed[1:] / 0.7 + 1e-300)
    assert speed[-1] > 0.05


def test_bulk_velocity_is_kept(tmp_path: Path) -> None:
    for diffusion in DIFFUSIONS:
        run = run_well(tmp_path / diffusion, SMALL_CHANNEL, f"dns.diffusion={diffusion}")
        # Friction at the new time is not known yet where it is implicit: as in CaNS.
        error = 1e-15 if diffusion == "explicit" else 1e-9
        assert run.history()["mean_u"][1:] == pytest.approx(1.0, abs=error), diffusion


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_a_pressure_gradient_makes_the_parabola_of_poiseuille(
    diffusion: str, tmp_path: Path
) -> None:
    run = run_well(
        tmp_path / "run",
        SMALL_CHANNEL,
        f"dns.diffusion={diffusion}",
        "problem.rolls=0.0",
        "problem.noise=0.0",
        "dns.viscosity=0.5",
        "dns.forcing=pressure_gradient",
        "dns.pressure_gradient=1.5",
        "grid.cells=[4, 4, 16]",
        "grid.stretching=uniform",
        "time.step=0.005",
        "time.max_steps=2400",  # what is left of the beginning is exp(-pi^2 / 4 * 6)
    )
    z = (np.arange(16) + 0.5) / 8
    # The discrete parabola is exact but for what the walls' ghosts leave: nu u'' dz^2 / 4.
    exact = 1.5 / (2 * 0.5) * z * (2 - z) + 1.5 / 0.5 / 4 / 64 / 2
    u = fields(run.last_snapshot)["u"]
    assert u == pytest.approx(np.broadcast_to(exact[:, None, None], u.shape), rel=1e-6)
    assert not np.any(fields(run.last_snapshot)["v"])
    history = run.history()
    assert history["wall_shear_lower"][-1] == pytest.approx(1.5, rel=1e-6)
    assert history["wall_shear_upper"][-1] == pytest.approx(-1.5, rel=1e-6)


@pytest.mark.parametrize("diffusion", ["implicit_z", "implicit"])
def test_sliding_walls_make_a_linear_profile(diffusion: str, tmp_path: Path) -> None:
    flow = SMALL_CHANNEL.replace('name = "channel"', 'name = "couette"\nat_rest = true')
    flow = flow.replace("rolls = 0.2\n", "").replace("noise = 0.2\n", "")
    run = run_well(
        tmp_path / "run",
        flow,
        "dns.forcing=none",
        f"dns.diffusion={diffusion}",
        "dns.velocity_z_lower=[-1.0, 0.0, 0.0]",
        "dns.velocity_z_upper=[1.0, 0.5, 0.0]",
        "dns.viscosity=1.0",
        "grid.cells=[4, 4, 13]",
        "time.step=0.05",
        "time.max_steps=200",
    )
    end = fields(run.last_snapshot)
    with h5py.File(run.last_snapshot) as file:
        height = file["grid/z"][...][:, None, None] / 2
    assert np.abs(end["u"] - (2 * height - 1)).max() < 1e-10
    assert np.abs(end["v"] - 0.5 * height).max() < 1e-10


def test_what_enters_a_duct_leaves_it(tmp_path: Path) -> None:
    run = run_well(tmp_path / "run", SMALL_DUCT, "time.max_steps=100")
    u = fields(run.last_snapshot)["u"]
    through = u.mean(axis=(0, 1))  # uniform cells: the flow rate through every face along x
    assert through == pytest.approx(1.0, abs=1e-12)
    assert u[5, 4, -1] > 1.05 > 0.8 > u[0, 4, -1]  # faster half-way, slower at the walls
