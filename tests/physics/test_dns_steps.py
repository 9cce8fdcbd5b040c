"""Steps are short enough for what will move, also where nothing moves yet."""

import math
from pathlib import Path

import numpy as np
import pytest

from flows import DIFFUSIONS, differing_fields, fields
from running import Array, Outcome, run_well

CFL = 0.8
LIMIT = math.sqrt(3.0) * CFL  # of the Courant number

AT_REST = """
model = "dns"
[problem]
name = "cavity"
[grid]
cells = [12, 10, 8]
size = [1.2, 1.0, 0.8]
[dns]
viscosity = 0.01
[time]
end = 1e6
max_steps = 20
"""
SPACING = 0.1

CLOSED = ('dns.boundary_x=["wall", "wall"]', 'dns.boundary_y=["wall", "wall"]')
DRIVEN = {
    "lid": (*CLOSED, "dns.velocity_z_upper=[1.0, 0.0, 0.0]"),
    # Nine tenths of a long side enter through the floor and leave through the narrow end.
    "inflow": (
        'dns.boundary_x=["wall", "outflow"]',
        'dns.boundary_z=["inflow", "wall"]',
        "dns.velocity_z_lower=[0.0, 0.0, 1.0]",
    ),
    "pressure gradient": ("dns.forcing=pressure_gradient", "dns.pressure_gradient=-3.0"),
    "bulk velocity": ("dns.forcing=bulk_velocity", "dns.bulk_velocity=-2.0"),
}

CONVECTION = """
model = "dns"
[problem]
name = "rayleigh_benard"
noise = 0.05
[grid]
cells = [16, 3, 12]
size = [2.0, 1.0, 1.0]
[dns]
viscosity = 0.001
[scalar]
enabled = true
buoyancy = 1.0
diffusivity = 0.001
values_z = [0.5, -0.5]
[time]
end = 20.0
"""


def courant(history: dict[str, Array]) -> Array:
    """Of every step, with the largest velocities along each axis before and after it."""
    rate = sum(history[f"max_{component}"] for component in "uvw") / SPACING
    return history["dt"][:-1] * np.maximum(rate[:-1], rate[1:])


def growth(outcome: Outcome) -> Array:
    dt = outcome.history()["dt"][:-1]
    return dt[1:] / dt[:-1]


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
@pytest.mark.parametrize("drive", DRIVEN)
def test_a_fluid_at_rest_begins_with_steps_for_what_will_drive_it(
    drive: str, diffusion: str, tmp_path: Path
) -> None:
    run = run_well(tmp_path / "run", AT_REST, f"dns.diffusion={diffusion}", *DRIVEN[drive])
    history = run.history()
    assert history["max_u"][0] == 0.0
    assert history["max_w"][0] == (1.0 if drive == "inflow" else 0.0)  # on the side, not inside
    # Amid a channel, and beside the edge of an inflow, fluid is faster than on average.
    faster = {"bulk velocity": 1.05, "inflow": 1.5}.get(drive, 1.0 + 1e-9)
    assert np.all(courant(history)[:2] < LIMIT * faster)
    assert history["divergence"][-1] < 1e-12 / SPACING


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_a_lid_gives_no_more_energy_than_its_own(diffusion: str, tmp_path: Path) -> None:
    setting = (f"dns.diffusion={diffusion}", *DRIVEN["lid"], "time.end=4.0", "time.max_steps=1000")
    history = run_well(tmp_path / "run", AT_REST, *setting).history()
    assert len(history["dt"]) > 4.0 / (LIMIT * SPACING)
    energy = sum(history[f"kinetic_{component}"] for component in "uvw")
    assert 0.01 < energy[-1] < 0.5
    assert history["max_u"].max() < 1.0


def test_a_fluid_at_rest_that_nothing_drives_stays_so_in_one_step(tmp_path: Path) -> None:
    setting = ("dns.diffusion=implicit", "time.end=7.0")
    run = run_well(tmp_path / "run", AT_REST, *setting)
    assert run.history()["dt"].tolist() == [7.0, 0.0]
    assert not np.any(fields(run.last_snapshot)["u"])


@pytest.mark.parametrize("reference", [0.0, 100.0])
@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_convection_between_plates_stays_between_their_temperatures(
    diffusion: str, reference: float, tmp_path: Path
) -> None:
    """The first step is that of a free fall, wherever the scale of temperatures begins."""
    setting = (f"dns.diffusion={diffusion}", f"scalar.reference={reference}")
    run = run_well(tmp_path / "run", CONVECTION, *setting)
    history = run.history()
    assert 0.5 < history["dt"][0] / math.sqrt(LIMIT / 12) <= 1.0 + 1e-12
    t = fields(run.last_snapshot)["t"]
    assert np.abs(t).max() < 0.52
    assert history["max_w"].max() < 1.0  # of the free fall


def test_steps_grow_by_a_fifth_at_most(tmp_path: Path) -> None:
    """Vortices that lose half of their speed in every step."""
    run = run_well(tmp_path / "run", DECAYING)
    assert growth(run).max() == pytest.approx(1.2, rel=1e-12)


DECAYING = """
model = "dns"
[problem]
name = "taylor_green"
[grid]
cells = [8, 8, 8]
size = [6.283185307179586, 6.283185307179586, 6.283185307179586]
[dns]
viscosity = 0.5
diffusion = "implicit"
boundary_z = ["periodic", "periodic"]
[time]
end = 1e6
max_steps = 12
"""


@pytest.mark.parametrize("processes", ["1x1", "1x3", "2x2"])
def test_steps_that_grow_are_the_same_after_a_restart(processes: str, tmp_path: Path) -> None:
    whole = run_well(tmp_path / "whole", DECAYING)
    cut = ("time.max_steps=6", "output.checkpoint_interval=1e-9")
    run_well(tmp_path / "cut", DECAYING, *cut)
    y, z = map(int, processes.split("x"))
    grid = f"grid.process_grid={processes}"
    second = run_well(tmp_path / "cut", DECAYING, grid, restart="latest", ranks=y * z)
    assert "at step 6" in second.text
    assert second.history()["dt"].tolist() == whole.history()["dt"].tolist()
    assert growth(whole)[4] == pytest.approx(1.2, rel=1e-12)
    assert differing_fields(second.last_snapshot, whole.last_snapshot) == []


def test_a_step_that_is_cut_for_a_snapshot_does_not_shorten_those_behind_it(tmp_path: Path) -> None:
    lid = (*DRIVEN["lid"], "dns.diffusion=implicit", "time.end=1.0", "time.max_steps=100")
    whole = run_well(tmp_path / "whole", AT_REST, *lid)
    longest = whole.history()["dt"][0]
    cut = run_well(tmp_path / "cut", AT_REST, *lid, f"output.snapshot_times=[{1.001 * longest}]")
    dt = cut.history()["dt"]
    assert dt[1] == pytest.approx(0.001 * longest)
    assert dt[2] == pytest.approx(longest, rel=0.01)


@pytest.mark.parametrize("ranks", [1, 3])
def test_no_step_is_longer_than_the_largest(ranks: int, tmp_path: Path) -> None:
    setting = ("dns.diffusion=implicit", "time.largest_step=0.01")
    run = run_well(tmp_path / "run", AT_REST, *setting, *DRIVEN["lid"], ranks=ranks)
    assert run.history()["dt"][:-1] == pytest.approx(0.01)
