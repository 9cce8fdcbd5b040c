"""What a uniform gas does: fall freely, stream in and out, and stay cold."""

from pathlib import Path

import numpy as np
import pytest

from running import leaf_cells, run_well

UNIFORM = """
[problem]
name = "riemann"
left = [1.0, {speed}, 1.0]
right = [1.0, {speed}, 1.0]

[mesh]
base_cells = [8, 8, 8]
block_size = 4

[time]
end = 0.3
"""


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
def test_free_fall_changes_the_velocity_alone(tmp_path: Path, scheme: str) -> None:
    push = "hydro.acceleration=[0.5, -1.0, 2.0]"
    outcome = run_well(tmp_path / "run", UNIFORM.format(speed=0.0), push, f"hydro.scheme={scheme}")
    cells = leaf_cells(outcome.last_snapshot)
    # Velocities grow linearly and the work done is kinetic energy: every scheme has this exactly,
    # and some thirty steps add their round-off.
    for axis, acceleration in zip("xyz", (0.5, -1.0, 2.0), strict=True):
        assert np.abs(cells[f"velocity_{axis}"] - 0.3 * acceleration).max() < 1e-13
    assert np.abs(cells["density"] - 1.0).max() < 1e-13
    assert np.abs(cells["pressure"] - 1.0).max() < 1e-13


def test_a_stream_enters_and_leaves(tmp_path: Path) -> None:
    ends = 'mesh.boundary_x=["inflow", "outflow"]'
    dense = "problem.left=[2.0, 5.0, 1.0]"
    outcome = run_well(tmp_path / "run", UNIFORM.format(speed=5.0), ends, dense, "time.end=0.6")
    cells = leaf_cells(outcome.last_snapshot)
    # The contact crosses the box at t = 0.1, and its smeared rear falls off exponentially after it.
    assert np.abs(cells["density"] - 2.0).max() < 1e-6
    assert np.abs(cells["velocity_x"] - 5.0).max() < 1e-10
    assert np.abs(cells["pressure"] - 1.0).max() < 1e-10


def test_walls_keep_mass_and_energy(tmp_path: Path) -> None:
    implosion = """
        problem.name = "implosion"
        mesh.base_cells = [32, 32, 4]
        mesh.block_size = 4
        mesh.upper = [0.3, 0.3, 0.0375]
        mesh.boundary_x = ["reflecting", "reflecting"]
        mesh.boundary_y = ["reflecting", "reflecting"]
        time.end = 0.2
    """
    history = run_well(tmp_path / "run", implosion).history()
    for name in ("mass", "total_energy"):
        # Nothing crosses a wall, not even round-off: fluxes cancel in pairs.
        assert np.ptp(history[name]) <= 1e-13 * history[name][0]


def test_dual_energy_keeps_a_fast_stream_cold(tmp_path: Path) -> None:
    # At Mach 10^7 the internal energy is 10^-14 of the total: as total minus kinetic it is noise.
    stream = """
        problem.name = "sound_wave"
        problem.amplitude = 1e-3
        problem.velocity = [1e7, 0.0, 0.0]
        mesh.base_cells = [16, 16, 16]
        mesh.block_size = 4
        hydro.dual_energy = "on"
        time.end = 1e-7
    """
    outcome = run_well(tmp_path / "run", stream)
    pressure = leaf_cells(outcome.last_snapshot)["pressure"]
    # The wave itself is an amplitude of 1.4 x 10^-3, and a scheme only damps it.
    assert np.abs(pressure * 1.4 - 1.0).max() < 1.5e-3
    energy = outcome.history()["total_energy"]
    assert np.ptp(energy) <= 1e-12 * energy[0]


def test_cold_gas_falls_across_less_than_a_cell_in_a_step(tmp_path: Path) -> None:
    """Its signals alone would allow the whole run in one step."""
    cold = ("problem.left=[1.0, 0.0, 1e-12]", "problem.right=[1.0, 0.0, 1e-12]", "time.cfl=0.5")
    fall = ("hydro.acceleration=[0.0, -4.0, 3.0]", "time.end=1.0")
    setting = (*cold, *fall, 'mesh.boundary_y=["periodic", "periodic"]')
    periodic = (
        'mesh.boundary_x=["periodic", "periodic"]',
        'mesh.boundary_z=["periodic", "periodic"]',
    )
    outcome = run_well(tmp_path / "run", UNIFORM.format(speed=0.0), *setting, *periodic)
    history = outcome.history()
    speed, dt = 5.0 * history["time"], history["dt"]
    cell = 1 / 8
    assert np.all(speed[:-1] * dt[:-1] + 0.5 * 5.0 * dt[:-1] ** 2 < 0.5 * cell * (1 + 1e-6))
    assert history["momentum_y"][-1] == pytest.approx(-4.0, rel=1e-12)


@pytest.mark.parametrize("ranks", [1, 3])
def test_no_step_is_longer_than_the_largest(ranks: int, tmp_path: Path) -> None:
    setting = ("time.largest_step=0.004", "mesh.max_level=1", "refine.density=[0.5]")
    outcome = run_well(tmp_path / "run", UNIFORM.format(speed=0.0), *setting, ranks=ranks)
    assert outcome.history()["dt"][:-1] == pytest.approx(0.004)
