"""Write what a run with massive neutrinos reads, from linear theory by CAMB (pip install camb).

    python massive_neutrinos.py [--masses 0.3] [--start 30] FOLDER
    ./octant run FOLDER/neutrinos.toml

Particles stand for all matter and move as cold dark matter and baryons do. Neutrinos cluster less
on small scales: with the fraction f of the matter and the overdensities d_n of neutrinos and d_c of
the rest, the potential has 1 - f + f d_n / d_c times the waves that particles alone would give
(Brandbyge & Hannestad 2009, JCAP 05, 002: neutrinos by linear theory on the mesh of the long-range
force). FOLDER gets these factors (gravity.transfer), the spectrum of the rest at the start
(initial.table), and the parameters.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
OMEGA_M, OMEGA_B, OMEGA_R, H = 0.3111, 0.049, 5.4e-5, 0.6766  # radiation: photons
INDEX, AMPLITUDE = 0.9665, 2.105e-9
SCALE_FACTORS = np.array([0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.45, 0.65, 0.85, 1.0])
WAVENUMBERS = np.geomspace(2e-3, 5.0, 24)  # h/Mpc

PARAMETERS = """# Dark matter in a box of 512 Mpc/h with neutrinos of {masses} eV.
model = "amr"

[problem]
name = "cosmology"

[cosmology]
enabled = true
omega_m = {omega_m}
omega_lambda = {omega_lambda}
omega_radiation = {omega_r}
omega_b = {omega_b}
h = {h}
box = 512.0
start = "z = {start}"
end = "z = 0"

[initial]
kind = "generate"
transfer = "table"
table = "{folder}/spectrum.txt"
sigma_8 = {sigma_8:.5f}       # linear growth from the start to today as without neutrinos
seed = 1

[hydro]
enabled = false

[gravity]
enabled = true
transfer = "{folder}/factors.txt"

[mesh]
base_cells = [128, 128, 128]
block_size = 16

[output]
directory = "{folder}/output"
"""


@dataclass(frozen=True)
class LinearTheory:
    """Overdensities of neutrinos and of the rest, shape (scale factors, wavenumbers)."""

    fraction: float  # of neutrinos in the matter
    rest: Array
    neutrinos: Array

    @property
    def factors(self) -> Array:
        """The waves of the potential over those that the rest alone would give."""
        return 1 - self.fraction + self.fraction * self.neutrinos / self.rest


def solve(masses: float, scale_factors: Array) -> LinearTheory:
    """Let CAMB solve linear theory for three neutrinos of equal mass, `masses` eV in all."""
    import camb
    from camb import model

    fraction = masses / 93.14 / H**2 / OMEGA_M
    cold = OMEGA_M * (1 - fraction) - OMEGA_B
    given = camb.set_params(
        H0=100 * H,
        ombh2=OMEGA_B * H**2,
        omch2=cold * H**2,
        mnu=masses,
        num_massive_neutrinos=3,
        neutrino_hierarchy="degenerate",
        As=AMPLITUDE,
        ns=INDEX,
    )
    given.set_matter_power(redshifts=list(1 / scale_factors[::-1] - 1)[::-1], kmax=10.0)
    transfer = camb.get_results(given).get_matter_transfer_data()
    waves = transfer.transfer_data  # CAMB lists the earliest epoch first

    def at_wavenumbers(variable: int) -> Array:
        k = waves[model.Transfer_kh - 1, :, 0]
        rows = [
            np.interp(np.log(WAVENUMBERS), np.log(k), column) for column in waves[variable - 1].T
        ]
        return np.array(rows)

    cdm, gas, light = map(at_wavenumbers, (model.Transfer_cdm, model.Transfer_b, model.Transfer_nu))
    return LinearTheory(fraction, (cold * cdm + OMEGA_B * gas) / (cold + OMEGA_B), light)


def growth_without_neutrinos(start: float) -> float:
    """Linear growth from a scale factor to today where all matter clusters, by Runge and Kutta."""

    def rates(log_a: float, state: Array) -> Array:
        matter, radiation = OMEGA_M * np.exp(-3 * log_a), OMEGA_R * np.exp(-4 * log_a)
        energy = matter + radiation + 1 - OMEGA_M - OMEGA_R
        slowing = 2 - (3 * matter + 4 * radiation) / (2 * energy)
        return np.array([state[1], 1.5 * matter / energy * state[0] - slowing * state[1]])

    steps = 2000
    state, step = np.array([1.0, 1.0]), -np.log(start) / steps
    for n in range(steps):
        log_a = np.log(start) + n * step
        middle = state + 0.5 * step * rates(log_a, state)
        state = state + step * rates(log_a + 0.5 * step, middle)
    return float(state[0])


def sigma_8(k: Array, power: Array) -> float:
    """Root mean square overdensity in spheres of 8 Mpc/h."""
    x = 8 * k
    window = 3 * (np.sin(x) - x * np.cos(x)) / x**3
    return float(np.sqrt(np.trapezoid(power * window**2 * k**3 / (2 * np.pi**2), np.log(k))))


def write(folder: Path, masses: float, redshift: float) -> None:
    """Write factors, spectrum and parameters into a folder."""
    theory = solve(masses, SCALE_FACTORS)
    rows = np.column_stack([WAVENUMBERS, theory.factors.T])
    first = " ".join(f"{a:g}" for a in SCALE_FACTORS)
    np.savetxt(folder / "factors.txt", rows, fmt="%.6f", header=first, comments="")

    start = 1 / (1 + redshift)
    rest = solve(masses, np.array([start, 1.0])).rest[0]
    # CAMB's overdensities are per k^2 of the primordial curvature, with k in 1/Mpc.
    k = WAVENUMBERS * H
    primordial = AMPLITUDE * (k / 0.05) ** (INDEX - 1)
    power = 2 * np.pi**2 * k * primordial * rest**2 * H**3
    np.savetxt(folder / "spectrum.txt", np.column_stack([WAVENUMBERS, power]), fmt="%.6e")
    fine = np.geomspace(WAVENUMBERS[0], WAVENUMBERS[-1], 2000)
    smooth = np.exp(np.interp(np.log(fine), np.log(WAVENUMBERS), np.log(power)))
    text = PARAMETERS.format(
        masses=masses,
        omega_m=OMEGA_M,
        omega_lambda=round(1 - OMEGA_M - OMEGA_R, 6),
        omega_r=OMEGA_R,
        omega_b=OMEGA_B,
        h=H,
        start=redshift,
        folder=folder,
        sigma_8=sigma_8(fine, smooth) * growth_without_neutrinos(start),
    )
    (folder / "neutrinos.toml").write_text(text)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", type=Path)
    words.add_argument("--masses", type=float, default=0.3, help="sum of the masses in eV")
    words.add_argument("--start", type=float, default=30.0, help="redshift of the start")
    chosen = words.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    write(chosen.folder, chosen.masses, chosen.start)
