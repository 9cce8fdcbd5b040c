"""A scalar that the flow carries, and the convection that its buoyancy drives."""

from pathlib import Path

import numpy as np
import pytest

from flows import DIFFUSIONS, differing_fields, fields
from running import run_well

# Two plates at the distance 1, in units of the free-fall velocity; one wave of the critical length.
CONVECTION = """
model = "dns"
[problem]
name = "rayleigh_benard"
noise = 0.001
[grid]
cells = [16, 3, 12]
size = [2.016, 1.0, 1.0]
[dns]
diffusion = "implicit_z"
[scalar]
enabled = true
buoyancy = 1.0
values_z = [0.5, -0.5]
[time]
end = 40.0
step = 0.1
"""


def energy(directory: Path, rayleigh: float) -> tuple[float, float]:
    diffusivity = rayleigh**-0.5
    run = run_well(
        directory,
        CONVECTION,
        f"dns.viscosity={diffusivity}",
        f"scalar.diffusivity={diffusivity}",
    )
    history = run.history()
    middle = int(np.argmin(np.abs(history["time"] - 20.0)))
    return history["kinetic_w"][middle], history["kinetic_w"][-1]


def test_convection_sets_in_at_the_critical_rayleigh_number(tmp_path: Path) -> None:
    """Theory says 1708; on this coarse grid it is within a tenth of that."""
    before, after = energy(tmp_path / "below", 1550)
    assert after < before
    before, after = energy(tmp_path / "above", 1870)
    assert after > before


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_plates_and_insulated_sides_leave_conduction_alone(diffusion: str, tmp_path: Path) -> None:
    run = run_well(
        tmp_path / "run",
        CONVECTION,
        "problem.noise=0.0",
        f"dns.diffusion={diffusion}",
        'dns.boundary_x=["free_slip", "free_slip"]',  # no wall that the first pressure misses
        'scalar.boundary_x=["insulated", "insulated"]',
        "scalar.diffusivity=0.1",
        "dns.viscosity=0.1",
        "time.step=0.01",
        "time.max_steps=50",
    )
    t = fields(run.last_snapshot)["t"]
    z = (np.arange(12) + 0.5) / 12
    assert t == pytest.approx(np.broadcast_to((0.5 - z)[:, None, None], t.shape), abs=1e-12)
    history = run.history()
    assert history["max_w"][-1] < 1e-12
    for side in ("lower", "upper"):
        assert history[f"scalar_flux_{side}"][-1] == pytest.approx(0.1, rel=1e-10)


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_the_mean_of_an_insulated_scalar_is_conserved(diffusion: str, tmp_path: Path) -> None:
    run = run_well(
        tmp_path / "run",
        CONVECTION,
        "problem.noise=0.5",
        "problem.lower=1.0",
        'scalar.boundary_z=["insulated", "insulated"]',
        f"dns.diffusion={diffusion}",
        "time.step=0.02",
        "time.max_steps=40",
    )
    history = run.history()
    assert history["max_w"][-1] > 0.01
    # From rest. Where the first velocities are not solenoidal, as random ones are, the first step
    # shifts it: the scalar is carried half in the form that keeps its mean, half in the one that
    # keeps it uniform, which are the same only between solenoidal velocities.
    assert np.abs(history["scalar_mean"] - history["scalar_mean"][0]).max() < 1e-14


def test_a_carried_scalar_has_the_same_bits_on_any_process_grid(tmp_path: Path) -> None:
    setting = ["time.max_steps=12", "problem.noise=0.5", "grid.cells=[16, 9, 12]"]
    alone = run_well(tmp_path / "1", CONVECTION, *setting)
    other = run_well(tmp_path / "4", CONVECTION, *setting, "grid.process_grid=2x2", ranks=4)
    assert differing_fields(alone.last_snapshot, other.last_snapshot) == []
    history = [(r.directory / "history.csv").read_text() for r in (alone, other)]
    assert history[0] == history[1]


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_a_carried_scalar_has_the_same_bits_after_a_restart(diffusion: str, tmp_path: Path) -> None:
    setting = ["problem.noise=0.5", "grid.cells=[16, 9, 12]", f"dns.diffusion={diffusion}"]
    setting += ["time.step=0.0", "time.end=100.0"]
    whole = run_well(tmp_path / "whole", CONVECTION, *setting, "time.max_steps=12")
    cut = ("time.max_steps=6", "output.checkpoint_interval=1e-9")
    run_well(tmp_path / "cut", CONVECTION, *setting, *cut)
    setting += ["time.max_steps=12", "grid.process_grid=1x3"]
    second = run_well(tmp_path / "cut", CONVECTION, *setting, restart="latest", ranks=3)
    assert "at step 6" in second.text
    assert differing_fields(second.last_snapshot, whole.last_snapshot) == []
    history = [(r.directory / "history.csv").read_text() for r in (second, whole)]
    assert history[0] == history[1]
