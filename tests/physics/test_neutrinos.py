"""Massive neutrinos as factors of the potential: growth as CAMB gives it."""

import runpy

import numpy as np
import pytest
from test_cosmology import band_powers

from running import ROOT, Outcome, run_well

DATA = ROOT / "tests/physics/neutrinos"
EXAMPLE = runpy.run_path(str(ROOT / "examples/python/massive_neutrinos.py"))
OMEGA_M, OMEGA_R = EXAMPLE["OMEGA_M"], EXAMPLE["OMEGA_R"]
BOX = 1000.0
UNIVERSE = f"""
[problem]
name = "cosmology"

[cosmology]
enabled = true
omega_m = {OMEGA_M}
omega_lambda = {1 - OMEGA_M - OMEGA_R}
omega_radiation = {OMEGA_R}
omega_b = 0.049
h = 0.6766
box = {BOX}
start = "z = 30"
end = "z = 0"

[initial]
kind = "generate"
transfer = "table"
table = "{DATA}/spectrum.txt"
sigma_8 = 0.1
seed = 7

[hydro]
enabled = false

[gravity]
enabled = true

[mesh]
base_cells = [32, 32, 32]
block_size = 16
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Run the same waves with and without the factors."""
    folder = tmp_path_factory.mktemp("neutrinos")
    factors = f"gravity.transfer={DATA}/factors.txt"
    return {
        "massive": run_well(folder / "massive", UNIVERSE, factors),
        "massless": run_well(folder / "massless", UNIVERSE),
    }


def test_waves_grow_as_camb_gives_it(grown: dict[str, Outcome]) -> None:
    """Growth with neutrinos over growth without, where errors of mesh and steps cancel.

    The generator's velocities are those without neutrinos: the growing mode begins 0.7 % higher.
    """
    massive, massless = (
        np.sqrt(band_powers(grown[name].last_snapshot)) for name in ("massive", "massless")
    )
    k, growth = np.loadtxt(DATA / "growth.csv", delimiter=",", skiprows=1).T
    bands = 2 * np.pi / BOX * np.arange(1, 6)
    expected = np.interp(np.log(bands), np.log(k), growth) / EXAMPLE["growth_without_neutrinos"](
        1 / 31
    )
    assert expected.min() < 0.98
    excess = massive / massless / expected - 1
    assert excess[0] == pytest.approx(0.004, abs=0.004)
    assert excess[1:] == pytest.approx(0.006, abs=0.003)
