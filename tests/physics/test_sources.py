"""Accelerations, heat and dye by expressions; driven turbulence; integrals in history.csv."""

from pathlib import Path

import numpy as np
import pytest
from octools.expected.gas import rayleigh_taylor

from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
    uniform_grid,
)

BOX = """
[problem]
name = "expression"
density = "1 + 0.2*sin(2*pi*x)"
[mesh]
base_cells = [16, 16, 8]
block_size = 4
lower = [-0.5, -0.5, 0.0]
upper = [0.5, 0.5, 0.5]
[hydro]
gamma = 1.5
scalars = 1
[time]
max_steps = 10
"""


def energy_error(outcome: Outcome, *accounts: str) -> float:
    """Give the drift of the energy less what processes added, over all that they added."""
    history = outcome.history()
    added = sum(np.asarray(history[name]) for name in accounts)
    left = np.asarray(history["total_energy"]) - added
    return float(np.abs(left - left[0]).max() / np.abs(added).max())


def test_gas_falls_as_its_acceleration_says(tmp_path: Path) -> None:
    pull = "sources.acceleration=['0.3', '0', '-2*exp(-t)']"
    outcome = run_well(tmp_path / "run", BOX, "problem.density='2'", pull, "time.largest_step=0.01")
    cells = leaf_cells(outcome.last_snapshot)
    assert cells["velocity_x"] == pytest.approx(0.3 * cells.time, rel=1e-12)
    assert cells["velocity_z"] == pytest.approx(-2 * (1 - np.exp(-cells.time)), rel=1e-5)
    history = outcome.history()
    assert history["sources_momentum_x"] == pytest.approx(history["momentum_x"], rel=1e-12)
    assert energy_error(outcome, "sources_work", "sources_heat") < 1e-13


def test_heat_and_dye_follow_place_time_and_state(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        BOX,
        "problem.density='2'",
        "sources.heating='rate*density*(1 + 2*t)'",
        "sources.scalars=['3*density*(1 - scalar_0)']",
        "sources.constants={rate=0.5}",
        "time.largest_step=0.01",
    )
    cells = leaf_cells(outcome.last_snapshot)
    time = cells.time
    heat = 0.5 * 2 * (time + time**2)
    assert cells["pressure"] == pytest.approx(1 + 0.5 * heat, rel=1e-12)
    assert cells["scalar_0"] == pytest.approx(1 - np.exp(-3 * time), rel=0.02)
    assert energy_error(outcome, "sources_work", "sources_heat") < 1e-12


VARIED = (
    "sources.acceleration=['-9*x', 'pull', '0.1*velocity_x']",
    "sources.heating='0.3*density^2*exp(-r^2/0.01) - 0.1*pressure'",
    "sources.scalars=['r < 0.2']",
    "sources.centre=[0.1, 0.0, 0.2]",
    "sources.terms={pull='-9*y*(1 + t)'}",
    "output.integrals={dense='density*(density > 1.05)', weighed='x*density', all='1'}",
)
REFINED = ("mesh.max_level=1", "refine.where='r < 0.25'")


def test_the_same_bits_on_ranks_and_after_a_restart(tmp_path: Path) -> None:
    one = run_well(tmp_path / "one", BOX, *VARIED, *REFINED, *CHECKPOINT_EVERY_STEP)
    assert energy_error(one, "sources_work", "sources_heat") < 1e-12
    other = run_well(tmp_path / "other", BOX, *VARIED, *REFINED, ranks=3, threads=2)
    assert_same_run(other, one)
    assert_goes_on(tmp_path / "again", one, 5, *VARIED, *REFINED, ranks=2)


def test_the_same_bits_in_blocks_of_another_size(tmp_path: Path) -> None:
    corner = ("mesh.lower=[-0.7,-0.7,0.1]", "mesh.upper=[0.7,0.7,0.8]")
    one = run_well(tmp_path / "one", BOX, *VARIED, *corner)
    other = run_well(tmp_path / "other", BOX, *VARIED, *corner, "mesh.block_size=8")
    for field in ("density", "velocity_x", "pressure", "scalar_0"):
        found, expected = (uniform_grid(run.last_snapshot, field) for run in (other, one))
        assert np.array_equal(found, expected), field
    for column in ("sources_work", "sources_heat", "dense", "weighed"):
        assert other.history()[column].tolist() == one.history()[column].tolist(), column


def test_integrals_are_columns_of_the_history(tmp_path: Path) -> None:
    history = run_well(tmp_path / "run", BOX, *VARIED, *REFINED, ranks=2).history()
    assert history["all"] == pytest.approx(0.5, rel=1e-14)
    outcome = run_well(
        tmp_path / "plain", BOX, "output.integrals={weight='density', push='density*velocity_x'}"
    )
    history = outcome.history()
    assert history["weight"] == pytest.approx(history["mass"], rel=1e-14)
    cells = leaf_cells(outcome.last_snapshot)
    push = np.sum(cells.volume * cells["density"] * cells["velocity_x"])
    assert history["push"][-1] == pytest.approx(push, abs=1e-14)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sources.acceleration=['1']", "expected 3 expressions, found 1"),
        ("sources.acceleration=['1', '2', 'q']", 'sources.acceleration[2]: unknown name "q"'),
        ("sources.scalars=['1', '2']", "the gas has 1 scalars"),
        (
            "output.integrals={mass='density'}",
            'output.integrals.mass: history.csv already has a column "mass"',
        ),
        ("output.integrals={a='densty'}", 'unknown name "densty"; did you mean "density"?'),
        ("turbulence.acceleration=-1", "turbulence.acceleration"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, override: str, message: str) -> None:
    outcome = run(tmp_path / "run", BOX, override)
    assert outcome.code == 2
    assert message in outcome.text


def test_a_broken_source_ends_the_run(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", BOX, "sources.heating='1/(x - x)'", ranks=2)
    assert outcome.code == 1
    assert 'sources.heating = "1/(x - x)" is' in outcome.text


STIRRED = """
[problem]
name = "expression"
[mesh]
base_cells = [16, 16, 16]
block_size = 8
upper = [2.0, 2.0, 2.0]
[turbulence]
acceleration = 3.0
from = 1
to = 2
correlation_time = 0.2
[time]
max_steps = 12
"""


def test_driving_is_what_was_asked_for(tmp_path: Path) -> None:
    """In a short first step gas from rest gets the acceleration times its length."""
    for share in (1.0, 0.0):
        outcome = run_well(
            tmp_path / f"run_{share}",
            STIRRED,
            f"turbulence.solenoidal={share}",
            "time.max_steps=1",
            "time.largest_step=1e-6",
        )
        velocity = [uniform_grid(outcome.last_snapshot, f"velocity_{a}") / 1e-6 for a in "xyz"]
        rms = np.sqrt(sum(np.mean(v**2) for v in velocity))
        assert rms == pytest.approx(3.0, rel=0.35)  # 16 waves or so, of 4 or 2 numbers each
        modes = [np.fft.fftn(v) / v.size for v in velocity]
        n = np.fft.fftfreq(16, 1 / 16)
        k = (n, n[:, None], n[:, None, None])
        size = np.sqrt(sum(np.square(part) for part in k))
        power = sum(np.abs(mode) ** 2 for mode in modes)
        assert power[(size < 0.9) | (size > 2.1)].sum() < 1e-9 * power.sum()
        along = np.abs(sum(part * mode for part, mode in zip(k, modes, strict=True))) ** 2
        expected = 0.0 if share == 1.0 else 1.0
        found = (along / np.maximum(size, 1) ** 2).sum() / power.sum()
        assert found == pytest.approx(expected, abs=1e-6)


def test_turbulence_has_the_same_bits_on_ranks_and_after_a_restart(tmp_path: Path) -> None:
    how = ("mesh.max_level=1", "refine.where='x < 1'", "time.largest_step=0.02")
    one = run_well(tmp_path / "one", STIRRED, *how, *CHECKPOINT_EVERY_STEP)
    assert energy_error(one, "turbulence_energy") < 1e-12
    other = run_well(tmp_path / "other", STIRRED, *how, ranks=3, threads=2)
    assert_same_run(other, one)
    assert_goes_on(tmp_path / "again", one, 7, *how, ranks=2)


def test_a_ripple_between_heavy_and_light_gas_grows_as_theory_says(tmp_path: Path) -> None:
    text = (ROOT / "examples/rayleigh_taylor.toml").read_text()
    short = (
        "mesh.base_cells=[32,96,4]",
        "mesh.upper=[0.25,0.75,0.0625]",
        "time.end=3.0",
    )
    outcome = run_well(tmp_path / "rayleigh_taylor", text, *short)
    rate, _ = rayleigh_taylor(outcome.directory)
    assert rate.passes, str(rate)
