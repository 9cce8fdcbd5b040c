"""Functions in the expressions of a problem: random fields and tables."""

from pathlib import Path

import numpy as np
import pytest

from inputs import SMALL
from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, leaf_cells, run, run_well, uniform_grid

SPECTRUM = """
[problem]
name = "expression"
density = "1 + ripple"
[problem.random]
ripple = "seed 7, from 2, to 4, slope -3, rms 0.05"
[mesh]
base_cells = [32, 32, 32]
block_size = 8
[time]
max_steps = 0
"""


def test_random_fields_have_their_spectrum(tmp_path: Path) -> None:
    one = run_well(tmp_path / "one", SPECTRUM)
    ripple = uniform_grid(one.last_snapshot, "density") - 1.0
    assert np.sqrt(np.mean(ripple**2)) == pytest.approx(0.05, rel=1e-12)
    power = np.abs(np.fft.fftn(ripple) / ripple.size) ** 2
    n = np.fft.fftfreq(32, 1 / 32)
    k = np.sqrt(n[:, None, None] ** 2 + n[:, None] ** 2 + n**2)
    outside = (k < 2 - 1e-9) | (k > 4 + 1e-9)
    assert power[outside].max() < 1e-25
    low, high = (power[(k >= a) & (k <= b)].mean() for a, b in ((2, 2.5), (3.5, 4)))
    assert 0.5 < low / high / (3.75 / 2.25) ** 3 < 2
    other = run_well(tmp_path / "other", SPECTRUM, "mesh.block_size=16", ranks=2)
    assert np.array_equal(uniform_grid(other.last_snapshot, "density") - 1.0, ripple)
    another = SPECTRUM.replace("seed 7", "seed 8")
    found = uniform_grid(run_well(tmp_path / "another", another).last_snapshot, "density")
    assert abs(np.corrcoef((found - 1).ravel(), ripple.ravel())[0, 1]) < 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed 7, to 4", 'cannot parse "sed 7"'),
        ("to", 'cannot parse "to"'),
        ("from 3, to 2", "expected wavenumbers"),
        ("from 1.1, to 1.2", "no modes in this range of wavenumbers"),
    ],
)
def test_random_fields_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    outcome = run(tmp_path / "run", SMALL, f"problem.random={{f='{text}'}}")
    assert outcome.code == 2
    assert message in outcome.text


def test_a_table_is_a_function(tmp_path: Path) -> None:
    table = tmp_path / "profile.txt"
    table.write_text("# r  density\n0.1 5\n0.4, 2\n0.9 1\n")
    gas = (f"problem.tables={{profile='{table}'}}", "problem.density='profile(r) + profile(0.25)'")
    found = leaf_cells(run_well(tmp_path / "run", SMALL, *gas).last_snapshot)
    r = np.linalg.norm(found.position, axis=1)
    expected = np.interp(r, [0.1, 0.4, 0.9], [5.0, 2.0, 1.0]) + 3.5
    assert found["density"] == pytest.approx(expected, rel=1e-14)


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "profile.txt"
    table.write_text("0.1 5\n0.4 2\n0.3 1\n")
    for path, message in ((table, f"{table}:3: "), (tmp_path / "no", "cannot read the table")):
        outcome = run(tmp_path / "run", SMALL, f"problem.tables={{f='{path}'}}", ranks=2)
        assert outcome.code == 2
        assert outcome.text.count(message) == 1, outcome.text


def test_a_restart_with_other_contents_of_a_table_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "profile.txt"
    table.write_text("0.1 5\n0.9 1\n")
    gas = (f"problem.tables={{f='{table}'}}", "problem.density='f(r)'", *CHECKPOINT_EVERY_STEP)
    checkpoint = run_well(tmp_path / "run", SMALL, *gas).directory / "checkpoint_00000.h5"
    run_well(tmp_path / "same", SMALL, *gas, restart=checkpoint)
    table.write_text("0.1 5\n0.9 2\n")
    outcome = run(tmp_path / "changed", SMALL, *gas, restart=checkpoint, ranks=2)
    assert_refused(outcome, "checkpoint_00000.h5", "problem.tables", "have changed")
