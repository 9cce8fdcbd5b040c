"""Universes without baryons, with dark energy that is no constant, and with radiation."""

from pathlib import Path

import numpy as np
import pytest
from octools.ics import base_overdensity
from octools.linear import LinearTheory, other_energies, power_spectrum
from octools.snapshot import Snapshot

from refusals import assert_refused
from running import run, run_well

BOX = """
[problem]
name = "cosmology"

[cosmology]
enabled = true
omega_m = 0.3111
omega_lambda = 0.6889
omega_b = 0.047
h = 0.6766
box = 200.0
start = "z = 29.5"
end = "z = 0"

[initial]
kind = "generate"
seed = 12345
sigma_8 = 0.81
spectral_index = 0.967

[gravity]
enabled = true

[mesh]
base_cells = [16, 16, 16]
block_size = 8

[hydro]
gamma = 1.6666666666666667
dual_energy = "overwrite"

[time]
max_steps = 1
"""
NO_GAS = ("hydro.enabled=false", "cosmology.omega_b=0.0")


def test_dark_matter_alone_needs_no_baryons(tmp_path: Path) -> None:
    """It has the spectrum that a trace of baryons hardly changes."""
    spectra = []
    for omega_b in (0.0, 1e-6):
        overrides = (*NO_GAS, f"cosmology.omega_b={omega_b}")
        outcome = run_well(tmp_path / f"{omega_b}", BOX, *overrides)
        table = np.loadtxt(outcome.directory / "power_00000.csv", delimiter=",", skiprows=1)
        assert np.isfinite(table[:, 1]).all()
        spectra.append(table[:, 1])
    assert spectra[0] == pytest.approx(spectra[1], rel=1e-4)


def test_gas_without_baryons_is_refused_by_name(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", BOX, "cosmology.omega_b=0.0")
    assert_refused(outcome, "cosmology.omega_b = 0")


def test_linear_theory_without_baryons_is_the_limit_of_few() -> None:
    k = np.geomspace(1e-3, 10.0, 50)
    none, few = (LinearTheory(0.3, 0.7, omega_b, 0.7, 0.8, 0.96) for omega_b in (0.0, 1e-7))
    assert none.power(k) == pytest.approx(few.power(k), rel=1e-4)


OTHERS = {
    "thawing": {"w0": -0.7},
    "changing": {"w0": -0.9, "wa": 0.4},
    "radiation": {"w0": -1.0, "omega_radiation": 5e-3, "omega_lambda": 0.6839},
}


@pytest.mark.parametrize("universe", OTHERS)
def test_spectra_begin_as_theory_says_of_dark_energy_and_radiation(
    tmp_path: Path, universe: str
) -> None:
    """The same waves grow by other factors until today, and so begin with other amplitudes."""
    found, expected = [], []
    for name, changes in (("constant", {}), (universe, OTHERS[universe])):
        overrides = [f"cosmology.{parameter}={value}" for parameter, value in changes.items()]
        outcome = run_well(tmp_path / name, BOX, *overrides)
        with Snapshot(outcome.snapshots[0]) as data:
            cosmos, delta = base_overdensity(data)
            theory = LinearTheory(
                cosmos.omega_m, cosmos.omega_lambda, 0.047, cosmos.h, 0.81, 0.967,
                **other_energies(data.header),
            )  # fmt: skip
        spectrum = power_spectrum(delta, cosmos.box, theory, cosmos.scale_factor)
        found.append(spectrum.power)
        expected.append(spectrum.expected)
    ratio, theory_ratio = found[1] / found[0], expected[1] / expected[0]
    assert np.abs(theory_ratio - 1.0).min() > 0.02
    assert ratio == pytest.approx(theory_ratio, rel=0.003)
