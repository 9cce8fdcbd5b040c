"""Self-gravity of the gas: waves, collapse, balance, momentum, and the same bits everywhere."""

from pathlib import Path

import numpy as np
import pytest
from octools.exact import IsothermalBall

from inputs import OPEN_ENDS, WITH_OPEN_ENDS, collapsing_ball
from reference_data import reference_path
from running import (
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run_well,
    uniform_grid,
)

AMPLITUDE = 1e-3
JEANS = f"""
[problem]
name = "jeans"
amplitude = {AMPLITUDE}

[gravity]
enabled = true
tolerance = 1e-6

[mesh]
base_cells = [32, 8, 8]
block_size = 8
upper = [1.0, 0.25, 0.25]

[hydro]
gamma = 1.6666666666666667
reconstruction = "ppm"
scheme = "rk3"
"""


def amplitude(outcome: Outcome, cells: int) -> float:
    """Amplitude of the density's first cosine along x, in units of the initial one."""
    density = uniform_grid(outcome.last_snapshot, "density").mean(axis=(0, 1))
    phase = 2 * np.pi * (np.arange(cells) + 0.5) / cells
    return 2 * float(np.mean(density * np.cos(phase))) / AMPLITUDE


def test_a_short_jeans_wave_oscillates(tmp_path: Path) -> None:
    omega = np.sqrt(4 * np.pi**2 - 4 * np.pi)
    # An eighth of a period after the first passage through zero: sensitive to the frequency.
    time = 0.375 * 2 * np.pi / omega
    outcome = run_well(tmp_path / "run", JEANS, f"time.end={time}")
    # The slope there is 1 / sqrt(2) per radian: 0.02 is an error of 1.2 % of the frequency.
    assert amplitude(outcome, 32) == pytest.approx(np.cos(omega * time), abs=0.02)


def test_a_long_jeans_wave_grows(tmp_path: Path) -> None:
    rate = np.sqrt(4 * np.pi - 4 * np.pi**2 * 0.3**2)
    time = 0.7
    outcome = run_well(tmp_path / "run", JEANS, f"time.end={time}", "problem.sound_speed=0.3")
    assert amplitude(outcome, 32) == pytest.approx(np.cosh(rate * time), rel=0.02)


# A ball off all symmetries of the grid in a periodic box.
BALL = """
[problem]
name = "evrard"
centre = [0.13, -0.21, 0.3]
thermal_energy = 0.3

[gravity]
enabled = true

[mesh]
base_cells = [32, 32, 32]
block_size = 8
lower = [-2.0, -2.0, -2.0]
upper = [2.0, 2.0, 2.0]

[hydro]
gamma = 1.6666666666666667
"""


def test_momentum_does_not_drift_on_a_uniform_grid(tmp_path: Path) -> None:
    # Fourier transforms solve the base level to rounding, and its force is antisymmetric.
    outcome = run_well(tmp_path / "run", BALL, "time.end=1", "time.max_steps=25")
    history = outcome.history()
    for axis in "xyz":
        drift = np.abs(history[f"momentum_{axis}"][-1] - history[f"momentum_{axis}"][0])
        assert drift < 1e-10 * history["absolute_momentum"][-1]


def test_momentum_of_an_isolated_system_does_not_drift(tmp_path: Path) -> None:
    # A base level padded with zeros has the forces of an endless grid, antisymmetric to rounding.
    # What is left, 5e-13 of it, is the thin gas that flows in through the boundary.
    domain = ("mesh.lower=[-3.0, -3.0, -3.0]", "mesh.upper=[3.0, 3.0, 3.0]")
    cold = ("problem.thermal_energy=0.05", "problem.ambient_density=1e-10")
    overrides = (*WITH_OPEN_ENDS, *domain, *cold, "hydro.density_floor=1e-16", "time.max_steps=40")
    history = run_well(tmp_path / "run", BALL, *overrides, "time.end=1").history()
    assert history["time"][-1] > 0.4  # of a free-fall time of 1.1
    for axis in "xyz":
        drift = np.abs(history[f"momentum_{axis}"][-1] - history[f"momentum_{axis}"][0])
        assert drift < 1e-11 * history["absolute_momentum"][-1]


def test_thin_cells_beside_a_finer_level_survive_a_long_step_from_rest(tmp_path: Path) -> None:
    # The ball's edge expands over coarse cells by the fluxes of the coarse level, fine cells draw
    # upon that as they fall in, and the flux correction takes it away.
    overrides = (
        "mesh.max_level=2",
        "problem.ambient_density=1e-5",
        "mesh.lower=[-4.0, -4.0, -4.0]",
        "mesh.upper=[4.0, 4.0, 4.0]",
        "refine.density=[0.02, 0.15]",
        "refine.buffer=1",
        "time.cfl=0.8",
        "time.max_steps=2",
        "output.pictures=[]",
    )
    text = (ROOT / "examples/evrard.toml").read_text()
    history = run_well(tmp_path / "run", text, *overrides).history()
    assert history["floored_cells"][-1] > 0
    # They lack pressure and not mass.
    assert history["floored_mass"][-1] == 0
    assert 0 < history["floored_energy"][-1] < 1e-6


def test_a_table_multiplies_the_waves_of_the_potential(tmp_path: Path) -> None:
    # Gravity of four times the strength lets a wave of this length grow.
    table = tmp_path / "transfer.txt"
    table.write_text("1.0\n1.0 4.0\n100.0 4.0\n")
    outcome = run_well(tmp_path / "run", JEANS, "time.end=0.4", f"gravity.transfer={table}")
    rate = np.sqrt(16 * np.pi - 4 * np.pi**2)
    assert amplitude(outcome, 32) == pytest.approx(np.cosh(rate * 0.4), rel=0.02)


def test_fourier_and_multigrid_runs_agree_to_the_tolerance(tmp_path: Path) -> None:
    runs = [
        run_well(
            tmp_path / base,
            BALL,
            f"gravity.base={base}",
            "gravity.tolerance=1e-8",
            "time.max_steps=5",
        )
        for base in ("fft", "multigrid")
    ]
    densities = [uniform_grid(run.last_snapshot, "density") for run in runs]
    difference = np.abs(densities[0] - densities[1]).max()
    assert 0 < difference < 1e-7 * densities[0].max()


def test_the_power_spectrum_beside_a_snapshot_is_that_of_its_density(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", BALL, "time.max_steps=2")
    density = uniform_grid(outcome.last_snapshot, "density")
    delta = np.fft.fftn(density / density.mean() - 1) / density.size
    index = np.fft.fftfreq(32, 1 / 32)
    k = np.sqrt(sum(n**2 for n in np.meshgrid(index, index, index)))
    name = outcome.last_snapshot.name.replace("snap", "power").replace(".h5", ".csv")
    table = np.genfromtxt(outcome.directory / name, delimiter=",", names=True)
    assert len(table) == 16
    for n, row in enumerate(table, start=1):
        inside = np.rint(k) == n
        assert row["modes"] == inside.sum()
        assert row["k_1length"] == pytest.approx(2 * np.pi / 4 * k[inside].mean())
        power = 4**3 * np.mean(np.abs(delta[inside]) ** 2)
        assert row["power_length3"] == pytest.approx(power)
        # Nothing was deposited as clouds.
        assert row["corrected_length3"] == pytest.approx(power)


def test_a_ball_in_balance_stays_still(tmp_path: Path) -> None:
    parameters = f"""
[problem]
name = "isothermal_ball"
radius = 0.3
extent = 3.0
contrast = 100

[gravity]
enabled = true
tolerance = 1e-5

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
{OPEN_ENDS}

[refine]
density = [0.1]

[hydro]
gamma = 1.6666666666666667
"""
    isothermal_speed = np.sqrt(4 * np.pi) * 0.3 / 3.0
    crossing = 0.3 / isothermal_speed
    outcome = run_well(tmp_path / "run", parameters, f"time.end={crossing}")
    cells = leaf_cells(outcome.last_snapshot)
    radius = np.linalg.norm(cells.position - 0.5, axis=1)
    density, _, pressure = IsothermalBall(1.0, 0.3, 3.0, 100.0).at(radius)
    speed = np.sqrt(sum(cells[f"velocity_{axis}"] ** 2 for axis in "xyz"))
    temperature = cells["pressure"] / cells["density"] / isothermal_speed**2
    # The thin gas around it falls in slowly and squeezes it, by 6 % of the pressure; without
    # pressure or without gravity it would move at about the speed of sound by now.
    assert np.sqrt(np.mean(speed[radius < 0.2] ** 2)) < 0.03 * isothermal_speed
    assert np.sqrt(np.mean(speed**2)) < 0.05 * isothermal_speed
    assert cells["pressure"] == pytest.approx(pressure, rel=0.1)
    # The surface is as wide as two coarse cells.
    for where, expected in ((radius < 0.25, 1.0), (radius > 0.4, 100.0)):
        assert temperature[where] == pytest.approx(expected, rel=0.05)
        assert cells["density"][where] == pytest.approx(density[where], rel=0.06)
    # It mixes little.
    begin = leaf_cells(outcome.snapshots[0])
    masses = [
        np.sum((c["density"] * c.volume)[c["density"] > 2 * c["pressure"] / pressure.max()])
        for c in (begin, cells)
    ]
    assert masses[1] == pytest.approx(masses[0], rel=0.03)


@pytest.fixture(scope="module")
def evrard(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the example past the bounce at 1.05, where energies are extreme."""
    return run_well(
        tmp_path_factory.mktemp("evrard") / "run",
        (ROOT / "examples/evrard.toml").read_text(),
        "output.pictures=[]",
        "time.end=1.12",
        timeout=600,
    )


def test_the_collapse_has_the_energies_of_the_spherical_reference(evrard: Outcome) -> None:
    path = reference_path("ref/evrard_energies_1d.csv")
    reference = np.genfromtxt(path, delimiter=",", names=True, skip_header=1)
    history = evrard.history()
    later = history["time"] >= reference["t"][0]
    for ours, theirs in (("kinetic", "E_kin"), ("internal", "E_th"), ("potential", "E_pot")):
        # At our times: those of the reference are closer together.
        expected = np.interp(history["time"][later], reference["t"], reference[theirs])
        assert np.abs(history[ours][later] - expected).max() < 0.03 * np.abs(expected).max(), ours


def test_the_bounce_conserves_total_energy(evrard: Outcome) -> None:
    energy = evrard.history()["total_energy"]
    # Work on the momentum of cells, instead of the mass that flows, drifts by 0.1.
    assert np.abs(energy - energy[0]).max() < 0.01 * np.abs(energy[0])


REST_OF_COLLAPSE = """
[gravity]
enabled = true
tolerance = 1e-4

[refine]
jeans = 4.0

[balance]
interval = 2

[time]
max_steps = 6
"""
COLLAPSE = collapsing_ball((0.0, 0.0, 0.0), 4, 2, REST_OF_COLLAPSE)
CHECKPOINTS = ("output.checkpoint_interval=1e-9", "output.checkpoint_keep=100")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the collapse on one rank."""
    return run_well(tmp_path_factory.mktemp("one_rank") / "run", COLLAPSE, *CHECKPOINTS)


@pytest.mark.parametrize(("ranks", "exchange"), [(2, "ksection"), (3, "p2p"), (4, "alltoall")])
def test_same_bits_on_several_ranks(
    tmp_path: Path, reference: Outcome, ranks: int, exchange: str
) -> None:
    assert reference.history()["leaf_cells_2"][-1] > 0
    outcome = run_well(tmp_path / "run", COLLAPSE, f"comm.exchange={exchange}", ranks=ranks)
    assert_same_run(outcome, reference)


def test_same_bits_across_a_restart(tmp_path: Path, reference: Outcome) -> None:
    assert_goes_on(tmp_path / "run", reference, 3, ranks=2)


def test_same_bits_on_two_threads(tmp_path: Path, reference: Outcome) -> None:
    outcome = run_well(tmp_path / "run", COLLAPSE, threads=2)
    assert_same_run(outcome, reference)
