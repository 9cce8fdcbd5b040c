"""Transport of radiation: free streaming, shadows, diffusion, moving gas, mesh and budgets."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from radiation_setups import Array, mean_error, profile, slab
from radiation_solutions import Medium, evolve_periodic

from running import Outcome, leaf_cells, run_well, uniform_grid

AT_REST = ("hydro.moves=false",)
GREY = ("radiation.planck_opacity=1", "radiation.rosseland_opacity=1")
MOMENTS = ("radiation_energy", "radiation_flux_x", "radiation_flux_y", "radiation_flux_z")


def total_energy(history: dict[str, Array], speed_ratio: float = 1.0) -> Array:
    """Return what gas, radiation and open boundaries have together, in each row of history.csv."""
    energy = history["total_energy"] + history["radiation_energy"] / speed_ratio
    for name, share in (("outflow_energy", 1.0), ("outflow_radiation", 1.0 / speed_ratio)):
        if name in history:
            energy = energy + share * history[name]
    return energy


# --- free streaming -------------------------------------------------------------------------------


def beam_error(directory: Path, cells: int, axes: str) -> float:
    """Give the relative error of a plane beam along an axis after a tenth of a wavelength."""
    wave, speed = "2 + sin(2*pi*x)", 3.0
    flux = (f"{speed} * ({wave})", "0", "0")
    text = slab(cells, 1.0, 0.1, axes=axes, energy=wave, flux=flux, light_speed=speed, samples=4)
    axis = "xyz".index(axes[0])
    found = profile(run_well(directory, text).last_snapshot, axis)
    # A beam carries the flux c E, and nothing across.
    np.testing.assert_allclose(
        found[f"radiation_flux_{axes[0]}"], speed * found["radiation_energy"], rtol=1e-14
    )
    assert not found[f"radiation_flux_{axes[1]}"].any()
    exact = 2.0 + np.sin(2 * np.pi * (found["x"] - 0.3)) * np.sinc(1.0 / cells)
    return mean_error(found["radiation_energy"], exact)


@pytest.mark.parametrize("axes", ["xyz", "yzx", "zxy"])
def test_beams_along_an_axis_converge_at_second_order(tmp_path: Path, axes: str) -> None:
    errors = [beam_error(tmp_path / str(n), n, axes) for n in (32, 64)]
    assert errors[1] <= 0.0013
    assert np.log2(errors[0] / errors[1]) >= 1.8, f"errors {errors}"


def test_beams_along_a_diagonal_converge(tmp_path: Path) -> None:
    errors = []
    for n in (16, 32):
        wave = "2 + sin(2*pi*(x + y))"
        flux = (f"sqrt(0.5) * ({wave})",) * 2 + ("0",)
        text = slab(n, 1.0, 0.2, across=(n, 4), energy=wave, flux=flux, samples=4)
        found = leaf_cells(run_well(tmp_path / str(n), text).last_snapshot)
        for axis in "xy":
            np.testing.assert_allclose(
                found[f"radiation_flux_{axis}"],
                np.sqrt(0.5) * found["radiation_energy"],
                rtol=1e-13,
            )
        phase = found.position[:, :2].sum(axis=1) - np.sqrt(2.0) * 0.2
        exact = 2.0 + np.sin(2 * np.pi * phase) * np.sinc(1.0 / n) ** 2
        errors.append(mean_error(found["radiation_energy"], exact))
    assert errors[1] <= 0.005
    assert np.log2(errors[0] / errors[1]) >= 1.6, f"errors {errors}"


def test_the_reduced_speed_of_light_slows_beams(tmp_path: Path) -> None:
    wave = "2 + sin(2*pi*x)"
    text = slab(32, 1.0, 1.0, energy=wave, flux=(f"3*({wave})", "0", "0"), light_speed=3.0)
    outcome = run_well(tmp_path / "run", text, "radiation.speed_ratio=0.1")
    found = profile(outcome.last_snapshot)
    exact = 2.0 + np.sin(2 * np.pi * (found["x"] - 0.3))
    assert mean_error(found["radiation_energy"], exact) <= 0.005
    np.testing.assert_allclose(
        found["radiation_flux_x"], 3.0 * found["radiation_energy"], rtol=1e-14
    )
    momentum = outcome.history()["radiation_momentum_x"]
    volume = 1.0 / 8**2
    np.testing.assert_allclose(momentum, 2.0 * volume / (3.0 * 0.1), rtol=1e-13)


# --- shadows and crossing beams -------------------------------------------------------------------

CLUMP = "(x-0.5)^2 + (y-0.5)^2 < 0.0625 ? {density} : 1e-8"


def beam_at_a_clump(density: float) -> str:
    """Return a beam that enters at x = 0 and meets a cylinder of a density, of opacity 1."""
    clump = CLUMP.format(density=density)
    return slab(
        32,
        2.0,
        2.5,
        across=(16, 4),
        density=clump,
        pressure=f"1e-6 * ({clump})",
        energy="x < 0 ? 1 : 1e-10",
        flux=("x < 0 ? 1 : 0", "0", "0"),
        sides=("inflow", "outflow"),
        constant=1e-30,
    )


def assert_casts_a_shadow(outcome: Outcome, tolerance: float) -> None:
    """Check that the shadow is dark, and that the rest of the beam is as it was."""
    found = leaf_cells(outcome.last_snapshot)
    energy, x = found["radiation_energy"], found.position[:, 0]
    distance = np.abs(found.position[:, 1] - 0.5)
    assert np.all(energy[(x > 0.8) & (distance < 0.15)] < 0.01)
    np.testing.assert_allclose(energy[distance > 0.3], 1.0, atol=tolerance)
    assert energy.min() >= 0.0
    assert energy.max() <= 1.0 + tolerance


@pytest.mark.parametrize("density", [14.0, 1e4, 1e8])
def test_an_opaque_clump_casts_a_shadow(tmp_path: Path, density: float) -> None:
    """The optical depth of a cell of the clump is 0.9 to 6e6."""
    outcome = run_well(tmp_path / "run", beam_at_a_clump(density), *AT_REST, *GREY)
    assert_casts_a_shadow(outcome, 1e-3)
    budget = total_energy(outcome.history())
    entered = -outcome.history()["outflow_radiation"][-1]
    np.testing.assert_allclose(budget, budget[0], atol=1e-13 * entered)


def test_a_refined_clump_casts_a_shadow(tmp_path: Path) -> None:
    """Light that meets the clump crosses coarse-fine boundaries on both of its sides."""
    refined = (
        "mesh.max_level=1",
        "refine.gradient_fields=['density']",
        "refine.gradient=[0.2]",
    )
    outcome = run_well(tmp_path / "run", beam_at_a_clump(1e3), *AT_REST, *GREY, *refined)
    assert outcome.history()["leaf_cells_1"][-1] > 0
    assert_casts_a_shadow(outcome, 0.01)
    budget = total_energy(outcome.history())
    entered = -outcome.history()["outflow_radiation"][-1]
    np.testing.assert_allclose(budget, budget[0], atol=1e-10 * entered)


def test_crossing_beams_merge_but_are_conserved(tmp_path: Path) -> None:
    """M1 has one direction in each cell: beams merge to one along the diagonal."""
    first, second = ("x < 0 && abs(y - 0.5) < 0.25", "y < 0 && abs(x - 0.5) < 0.25")
    text = slab(
        16,
        1.0,
        3.0,
        across=(16, 4),
        energy=f"({first}) || ({second}) ? 1 : 1e-8",
        flux=(f"({first}) ? 1 : 0", f"({second}) ? 1 : 0", "0"),
        sides=("inflow", "outflow"),
    ).replace("boundary_x", 'boundary_y = ["inflow", "outflow"]\nboundary_x')
    outcome = run_well(tmp_path / "run", text, *AT_REST)
    energy, *flux = (uniform_grid(outcome.last_snapshot, name)[0] for name in MOMENTS)
    np.testing.assert_allclose(energy, energy.T, rtol=1e-13)
    np.testing.assert_allclose(flux[0], flux[1].T, rtol=1e-13, atol=1e-15)
    assert np.all(np.hypot(flux[0], flux[1]) <= energy * (1.0 + 1e-14))
    # Beyond the crossing the flux is along the diagonal, where no beam would go.
    corner = (slice(-2, None),) * 2
    assert np.all(energy[corner] > 0.5)
    np.testing.assert_allclose(flux[1][corner], flux[0][corner], rtol=0.3)
    history = outcome.history()
    budget = total_energy(history)
    np.testing.assert_allclose(budget, budget[0], rtol=0, atol=1e-13)


# --- diffusion ------------------------------------------------------------------------------------


@dataclass
class PulseErrors:
    """Errors of a pulse: mean error, position, and growth of the variance (relative)."""

    mean: float
    position: float
    spread: float


def moments(field: Array, x: Array) -> tuple[float, float]:
    """Return the mean position and the variance of a narrow pulse in a periodic box around 0."""
    length = len(x) * (x[1] - x[0])
    centre = float(np.angle(np.sum(field * np.exp(2j * np.pi * x / length)))) * length / (2 * np.pi)
    distance = (x - centre + 0.5 * length) % length - 0.5 * length
    return centre, float(np.sum(field * distance**2) / np.sum(field))


def pulse_errors(
    directory: Path,
    cells: int,
    depth: float,
    end: float,
    *,
    velocity: float = 0.0,
    width: float = 1.0,
) -> PulseErrors:
    """Evolve a Gaussian pulse in scattering gas of the optical depth `depth` per cell of 64.

    The exact solution is that of P1, since the pulse is weak.
    """
    c, length, amplitude = 10.0, 20.0, 1e-3
    medium = Medium(0.0, depth * 64 / length, light_speed=c)
    gauss = f"exp(-0.5*(x/{width})^2)"
    diffusive = 0.0 if depth < 1.0 else medium.diffusivity * amplitude / width**2
    energy = f"1 + {amplitude} * {gauss}"
    flux = f"{diffusive} * x * {gauss} + 4/3 * {velocity} * ({energy})"
    text = slab(
        cells,
        length,
        end,
        lower=-0.5 * length,
        energy=energy,
        flux=(flux, "0", "0"),
        density="1e6",
        velocity=(str(velocity), "0", "0"),
        pressure="1e-6",
        light_speed=c,
        samples=4,
    )
    scattering = f"radiation.scattering_opacity={medium.scattering * 1e-6}"
    found = profile(run_well(directory, text, scattering).last_snapshot)
    x = (np.arange(1024) + 0.5) * length / 1024 - 0.5 * length
    pulse = amplitude * np.exp(-0.5 * (x / width) ** 2)
    f = diffusive / amplitude * x * pulse + 4.0 / 3.0 * velocity * (1.0 + pulse)
    exact = evolve_periodic(1.0 + pulse, f, 0.0 * x, length, end, medium, velocity=velocity)[0]
    exact = exact.reshape(cells, -1).mean(axis=1) - 1.0
    here = found["radiation_energy"] - 1.0
    (centre, variance), (right_centre, right) = (moments(q, found["x"]) for q in (here, exact))
    return PulseErrors(
        mean_error(here, exact), centre - right_centre, (variance - right) / (right - width**2)
    )


# Optical depth per cell of 64, time, largest mean error. At 1e2 and above, the pulse must stay.
PULSES = {"thin": (1e-2, 0.3, 0.03), "1": (1.0, 0.48, 0.02), "10": (10.0, 2.4, 0.015)}
PULSES |= {"1e2": (1e2, 3.0, 0.006), "1e4": (1e4, 3.0, 5e-4)}


@pytest.mark.parametrize("case", PULSES)
def test_a_pulse_spreads_as_in_diffusion(tmp_path: Path, case: str) -> None:
    depth, end, largest = PULSES[case]
    errors = pulse_errors(tmp_path / "run", 64, depth, end)
    assert errors.mean <= largest
    assert abs(errors.position) <= 1e-10
    # The diffusion coefficient, also where the pulse hardly changes.
    assert abs(errors.spread) <= (0.01 if depth <= 100.0 else 0.1)


def test_pulses_converge_at_second_order(tmp_path: Path) -> None:
    errors = [pulse_errors(tmp_path / str(n), n, 1e-2, 0.3).mean for n in (32, 64)]
    assert np.log2(errors[0] / errors[1]) >= 1.7, f"errors {errors}"


@pytest.mark.parametrize("case", PULSES)
def test_a_pulse_spreads_in_moving_gas(tmp_path: Path, case: str) -> None:
    """Gas with v / c = 0.02 moves by 0.2 to 2 cells."""
    depth, end, _ = PULSES[case]
    errors = pulse_errors(tmp_path / "run", 64, depth, end, velocity=0.2)
    assert errors.mean <= (0.04 if case == "thin" else 0.025)
    assert abs(errors.position) <= 0.005


@pytest.mark.parametrize("depth", [10.0, 500.0])
def test_moving_gas_carries_a_pulse(tmp_path: Path, depth: float) -> None:
    """Gas with v / c = 0.02, and up to 3200 mean free paths in a pulse: dynamic diffusion."""
    velocity, end = 0.2, 25.0
    errors = pulse_errors(tmp_path / "run", 32, depth, end, velocity=velocity, width=2.0)
    assert abs(errors.position) <= 0.01 * velocity * end
    assert errors.mean <= 0.06
    assert abs(errors.spread) <= 0.06


# --- refinement, symmetry, walls ------------------------------------------------------------------

REFINED = ("mesh.max_level=1", 'refine.where="x > 0.4 && x < 0.7 && y < 0.15"')
BALL = "1 + exp(-60 * ((x - 0.3)^2 + (y - 0.125)^2 + (z - 0.125)^2))"


@pytest.mark.parametrize("opacity", [0.0, 3.0, 1e4])
def test_refined_regions_conserve_radiation(tmp_path: Path, opacity: float) -> None:
    """A pulse of beams, or of radiation in scattering gas, passes refined cells."""
    runs = {}
    for name, cells, mesh in (("fine", 64, ()), ("refined", 32, REFINED), ("coarse", 32, ())):
        across = (cells // 4, cells // 4)
        flux = (BALL if opacity == 0.0 else "0", "0", "0")
        text = slab(cells, 1.0, 0.3, across=across, energy=BALL, flux=flux, samples=2)
        runs[name] = run_well(
            tmp_path / name,
            text,
            *AT_REST,
            *mesh,
            f"radiation.scattering_opacity={opacity}",
            "radiation.max_substeps=8",
        )
    history = runs["refined"].history()
    assert history["leaf_cells_1"][-1] > 0
    energy = history["radiation_energy"]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    fine, refined, coarse = (means_on_coarse_cells(runs[name]) for name in runs)
    # In opaque gas, what remains is the interpolation of ghost cells, of second order.
    largest = 5e-4 if opacity > 100.0 else np.abs(coarse - fine).mean()
    assert np.abs(refined - fine).mean() <= largest
    assert np.abs(refined - fine).max() <= 0.05


def means_on_coarse_cells(outcome: Outcome) -> Array:
    """Return the energy of radiation averaged over cells of 1/32, shape (8, 8, 32)."""
    cells = leaf_cells(outcome.last_snapshot)
    i, j, k = np.floor(cells.position * 32).astype(int).T
    total = np.zeros((8, 8, 32))
    np.add.at(total, (k, j, i), cells["radiation_energy"] * cells.volume * 32.0**3)
    return total


def test_mirrored_radiation_has_mirrored_bits(tmp_path: Path) -> None:
    def box(sign: int) -> str:
        # Positions from the centre of the box, so that mirrored expressions have the same bits.
        energy = f"2 + sin(3*{sign}*x) * cos(2*y + 1) + 0.3 * cos(5*z)"
        flux = (f"{0.3 * sign} * cos(4*{sign}*x + y)", "0.3 * sin(3*y)", f"0.2 * sin(2*{sign}*x)")
        density = f"1 + 0.5 * sin(2*{sign}*x + y)"
        return slab(
            8,
            2.0,
            0.4,
            lower=-1.0,
            across=(8, 8),
            energy=energy,
            flux=flux,
            density=density,
            velocity=(f"{0.1 * sign} * cos(x)", "0.2", "0"),
        )

    opacity = (
        "radiation.planck_opacity=2",
        "radiation.rosseland_opacity=20",
        "radiation.constant=0.5",
    )
    one, other = (run_well(tmp_path / str(s), box(s), *opacity) for s in (1, -1))
    for name in (*MOMENTS, "density", "pressure", "velocity_x"):
        sign = -1.0 if name.endswith("_x") else 1.0
        here, there = (uniform_grid(o.last_snapshot, name) for o in (one, other))
        assert np.array_equal(here, sign * there[:, :, ::-1]), name
    assert uniform_grid(one.last_snapshot, "radiation_energy").std() > 0.01


def test_permuted_axes_give_permuted_radiation(tmp_path: Path) -> None:
    """Sums over the three axes differ by round-off errors."""
    grids = {}
    for axes in ("xyz", "yzx", "zxy"):
        text = slab(
            8,
            1.0,
            0.3,
            across=(8, 8),
            axes=axes,
            energy="2 + sin(2*pi*x) * cos(2*pi*y) + 0.3 * cos(2*pi*z)",
            flux=("0.4 * cos(2*pi*x)", "0.4 * sin(2*pi*z)", "0.2 * sin(2*pi*x)"),
        )
        scattering = "radiation.scattering_opacity=20"
        outcome = run_well(tmp_path / axes, text, *AT_REST, scattering)
        order = [2 - axes.index(axis) for axis in "zyx"]
        names = [MOMENTS[0], *(f"radiation_flux_{axis}" for axis in axes)]
        grids[axes] = [
            np.transpose(uniform_grid(outcome.last_snapshot, name), np.argsort(order))
            for name in names
        ]
    for axes in ("yzx", "zxy"):
        for found, expected in zip(grids[axes], grids["xyz"], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-13)


def test_reflecting_walls_are_mirrors(tmp_path: Path) -> None:
    """Half of a symmetric box, which a wall bounds, has the bits of the half."""
    energy, flux = "1 + exp(-20*(abs(x) - 0.5)^2)", "-0.9 * sign(x)"
    scattering = "radiation.scattering_opacity=1.5"
    rest = {"energy": energy, "flux": (flux, "0", "0")}
    sides = ("reflecting", "reflecting")
    whole = run_well(
        tmp_path / "whole",
        slab(64, 2.0, 0.8, lower=-1.0, sides=sides, **rest),
        *AT_REST,
        scattering,
    )
    half = run_well(
        tmp_path / "half", slab(32, 1.0, 0.8, sides=sides, **rest), *AT_REST, scattering
    )
    found, expected = profile(half.last_snapshot), profile(whole.last_snapshot)
    for name in MOMENTS:
        np.testing.assert_allclose(found[name], expected[name][32:], atol=1e-13)
    energy_of_box = half.history()["radiation_energy"]
    np.testing.assert_allclose(energy_of_box, energy_of_box[0], rtol=1e-13)
    assert np.all(half.history()["outflow_radiation"] == 0.0)


@pytest.mark.parametrize("speed_ratio", [1.0, 0.2])
def test_open_boundaries_are_in_the_budget(tmp_path: Path, speed_ratio: float) -> None:
    """A beam of changing strength enters absorbing gas at x = 0, and leaves it at x = 1."""
    text = slab(
        32,
        1.0,
        2.0,
        energy="x < 0 ? 1 + 0.5 * sin(5*t) : 0.1",
        flux=("x < 0 ? 0.9 * (1 + 0.5 * sin(5*t)) : 0", "0", "0"),
        sides=("inflow", "outflow"),
        constant=0.01,
    )
    ratio = f"radiation.speed_ratio={speed_ratio}"
    short = "radiation.max_substeps=8"
    history = run_well(tmp_path / "run", text, *AT_REST, *GREY, ratio, short).history()
    budget = total_energy(history, speed_ratio)
    np.testing.assert_allclose(budget, budget[0], rtol=1e-13)
    assert np.ptp(history["internal"]) > 0.01 * history["internal"][0]
    assert np.abs(history["outflow_radiation"][-1]) > 1e-3


def test_a_beam_through_a_vacuum_fills_it_with_its_energy(tmp_path: Path) -> None:
    """In a steady beam F = c E everywhere, and as much leaves as enters."""
    text = slab(
        32,
        1.0,
        3.0,
        energy="x < 0 ? 2 : 1e-10",
        flux=("x < 0 ? 2 : 0", "0", "0"),
        sides=("inflow", "outflow"),
    )
    outcome = run_well(tmp_path / "run", text, *AT_REST)
    found = profile(outcome.last_snapshot)
    np.testing.assert_allclose(found["radiation_energy"], 2.0, rtol=1e-6)
    np.testing.assert_allclose(found["radiation_flux_x"], 2.0, rtol=1e-6)
    history = outcome.history()
    assert history["radiation_energy"][-1] == pytest.approx(2.0 / 8**2, rel=1e-6)
