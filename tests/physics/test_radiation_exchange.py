"""Exchange of energy and momentum between gas and radiation: cells, waves, shocks and budgets."""

from pathlib import Path

import numpy as np
import pytest
from radiating_shock import RadiatingShock
from radiation_cell import Relaxation, drag
from radiation_m1 import hot_slab_m1, marshak_slab
from radiation_setups import Array, mean_error, profile, slab
from radiation_waves import RadiationWave

from running import leaf_cells, run_well

AT_REST = ("hydro.moves=false",)
GREY = ("radiation.planck_opacity=1", "radiation.rosseland_opacity=1")
# Erg, cm and s; those of the program.
LIGHT_SPEED, RADIATION_CONSTANT = 2.99792458e10, 7.565733250e-15
BOLTZMANN, PROTON_MASS = 1.380649e-16, 1.67262192369e-24


# --- uniform gas ----------------------------------------------------------------------------------


def relaxation(gas_energy: float, speed_ratio: float, absorption: float = 4e-8) -> Relaxation:
    """Return the second test of Turner & Stone (2001), in cgs: mean molecular weight 0.6."""
    heat = 1e-7 * BOLTZMANN * 1.5 / (0.6 * PROTON_MASS)
    light = (RADIATION_CONSTANT, absorption, LIGHT_SPEED)
    return Relaxation(gas_energy, 1e12, heat, *light, speed_ratio)


def relaxed(directory: Path, cell: Relaxation, end: float, substeps: int) -> tuple[float, float]:
    """Return the energy densities of gas and radiation of a run at `end`, in cgs.

    The size of the cells sets the number of substeps. The code unit of time is 1e-8 s.
    """
    dx = end / substeps * LIGHT_SPEED * cell.speed_ratio * 3.0**0.5 / 0.4
    text = slab(
        4,
        4 * dx * (1.0 + 1e-12),
        end * 1e8,
        energy=str(cell.radiation_energy * 1e-16),
        density="1e-7",
        pressure=repr(cell.gas_energy * 1e-16 / 1.5),
        light_speed=0.0,
        constant=0.0,
    )
    outcome = run_well(
        directory,
        text + "\n[units]\nlength = 1.0\ndensity = 1.0\ntime = 1e-8\n",
        f"hydro.gamma={5 / 3!r}",
        f"radiation.speed_ratio={cell.speed_ratio}",
        "radiation.molecular_weight=0.6",
        f"radiation.planck_opacity={cell.absorption / 1e-7!r} cm^2/g",
        f"radiation.rosseland_opacity={cell.absorption / 1e-7!r} cm^2/g",
    )
    found = profile(outcome.last_snapshot)
    return float(found["pressure"][0]) * 1.5e16, float(found["radiation_energy"][0]) * 1e16


@pytest.mark.parametrize("speed_ratio", [1.0, 0.1])
@pytest.mark.parametrize("gas_energy", [1e2, 1e10])
def test_gas_relaxes_to_the_temperature_of_the_radiation(
    tmp_path: Path, gas_energy: float, speed_ratio: float
) -> None:
    """From below and above, at first order in time; with huge steps, to equilibrium."""
    cell = relaxation(gas_energy, speed_ratio)
    end = 2e-8
    exact = cell.at(np.array([end]))[0][0]
    errors = []
    for substeps in (20, 40):
        energy, radiation = relaxed(tmp_path / str(substeps), cell, end, substeps)
        errors.append(abs(energy - exact) / exact)
        total = cell.radiation_energy + speed_ratio * cell.gas_energy
        assert radiation + speed_ratio * energy == pytest.approx(total, rel=1e-14)
    assert errors[1] <= 0.06
    assert 0.8 <= np.log2(errors[0] / errors[1]) <= 1.3, f"errors {errors}"
    energy = relaxed(tmp_path / "huge", cell, 1e-3, 2)[0]
    assert energy == pytest.approx(cell.equilibrium, rel=1e-6)


# Stiffness of a substep, 4 a T^3 / heat times c dt per mean free path in equilibrium, and the
# largest error in units of the initial distance from equilibrium.
STIFFNESS = {1e-3: 1.5e-3, 1e-1: 4e-3, 1.0: 1e-8, 1e2: 1e-12, 1e4: 1e-12, 1e6: 1e-12, 1e8: 1e-12}


@pytest.mark.parametrize("stiffness", STIFFNESS)
@pytest.mark.parametrize("gas_energy", [1e2, 1e10])
def test_gas_follows_the_exact_solution_at_any_stiffness(
    tmp_path: Path, gas_energy: float, stiffness: float
) -> None:
    """32 substeps of a gas that is far below or above the temperature of equilibrium."""
    substeps, end = 32, 2e-8
    cell = relaxation(gas_energy, 1.0)
    temperature = cell.equilibrium / cell.heat
    rate = LIGHT_SPEED * 4.0 * RADIATION_CONSTANT * temperature**3 / cell.heat
    cell = relaxation(gas_energy, 1.0, stiffness * substeps / (end * rate))
    exact = cell.at(np.array([end]))[0][0]
    energy, radiation = relaxed(tmp_path / "run", cell, end, substeps)
    assert abs(energy - exact) <= STIFFNESS[stiffness] * abs(gas_energy - cell.equilibrium)
    assert radiation + energy == pytest.approx(1e12 + gas_energy, rel=1e-14)


@pytest.mark.parametrize("speed_ratio", [1.0, 0.3])
def test_radiation_drags_gas(tmp_path: Path, speed_ratio: float) -> None:
    """A flux accelerates scattering gas until it moves at v = 3 F / (4 E)."""
    state = {"energy": 30.0, "extinction": 0.4, "density": 2.0, "light_speed": 10.0}
    errors = []
    for cells in (8, 16):
        text = slab(
            cells,
            4.0,
            0.4,
            energy="30",
            flux=("5", "0", "0"),
            density="2",
            pressure="1",
            light_speed=10.0,
            constant=1e-9,
        )
        outcome = run_well(
            tmp_path / str(cells),
            text,
            "radiation.scattering_opacity=0.2",
            f"radiation.speed_ratio={speed_ratio}",
        )
        found = profile(outcome.last_snapshot)
        velocity, _ = drag(0.4, 5.0, speed_ratio=speed_ratio, **state)
        errors.append(abs(found["velocity_x"][0] / velocity - 1.0))
        momentum = 2.0 * found["velocity_x"][0]
        momentum += found["radiation_flux_x"][0] / (speed_ratio * 10.0**2)
        assert momentum == pytest.approx(5.0 / (speed_ratio * 10.0**2), rel=1e-13)
    assert errors[1] <= 0.03
    assert np.log2(errors[0] / errors[1]) >= 0.8, f"errors {errors}"


# --- gas at rest ----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [1.0, 3.0])
def test_a_hot_slab_cools(tmp_path: Path, end: float) -> None:
    """Gas of the heat capacity of Su & Olson (1997), and E = 1 in |x| < 1/2 alone."""
    cells = 200
    text = slab(
        cells,
        4.0,
        end,
        energy="x < 0.5 ? 1 : 1e-12",
        pressure="1e-12",
        sides=("reflecting", "outflow"),
    )
    cubic = "radiation.cubic_heat_capacity=1"
    found = profile(run_well(tmp_path / "run", text, *AT_REST, *GREY, cubic).last_snapshot)
    exact = hot_slab_m1(end, 1200, 4.0)
    energy, emission = (
        field.reshape(cells, -1).mean(axis=1) for field in (exact.energy, exact.emission)
    )
    assert mean_error(found["radiation_energy"], energy) <= 0.01
    assert mean_error(found["pressure"] / 0.4, emission) <= 0.01


@pytest.mark.parametrize(("cells", "reference", "largest"), [(112, 112, 0.002), (224, 448, 0.005)])
def test_a_marshak_wave_heats_gas(
    tmp_path: Path, cells: int, reference: int, largest: float
) -> None:
    """Isotropic radiation E = 1 in the ghost cells at x = 0; c t = 10, epsilon = 0.1.

    The solution has `reference` cells. From 900 cells, the slope of the first cell, which the jump
    at the boundary steepens, causes waves of 2 % of E, in the solution as in Octant.
    """
    text = slab(
        cells,
        7.0,
        10.0,
        energy="x < 0 ? 1 : 1e-12",
        pressure="1e-12",
        sides=("inflow", "outflow"),
    )
    cubic = "radiation.cubic_heat_capacity=10"
    found = profile(run_well(tmp_path / "run", text, *AT_REST, *GREY, cubic).last_snapshot)
    exact = marshak_slab(1.0, 0.1, reference, np.sqrt(3.0) * 7.0, bath=True)
    energy, emission = (
        field.reshape(cells, -1).mean(axis=1) for field in (exact.energy, exact.emission)
    )
    assert mean_error(found["radiation_energy"], energy) <= largest
    assert mean_error(found["pressure"] / 4.0, emission) <= largest


# --- waves ----------------------------------------------------------------------------------------

# Radiation energy over pressure, absorption per wavelength, cells, largest error of the factor of
# one period. The speed of light is 100 times that of sound.
WAVES = {
    "isothermal": (0.3, 1.0, 24, 0.01),
    "damped": (0.1, 10.0, 16, 0.01),
    "trapped": (1.0, 1e4, 16, 0.05),
}


def wave_factors(directory: Path, case: str, cells: int) -> tuple[dict[str, complex], complex]:
    """Return the factors by which the fields of a sound wave change in one period.

    The second result is the exact factor.
    """
    radiation, absorption, *_ = WAVES[case]
    wave = RadiationWave(5 / 3, radiation, 100.0, absorption)
    omega, vector = wave.acoustic(1e-6)
    period = 2 * np.pi / omega.real
    fields = [f"({y.real!r} * cos(2*pi*x) - ({y.imag!r}) * sin(2*pi*x))" for y in vector.tolist()]
    text = slab(
        cells,
        1.0,
        period,
        density=f"1 + {fields[0]}",
        velocity=(fields[1], "0", "0"),
        pressure=f"{wave.pressure} + {fields[2]}",
        energy=f"{wave.energy} + {fields[3]}",
        flux=(fields[4], "0", "0"),
        light_speed=100.0,
        constant=wave.radiation_constant,
    )
    outcome = run_well(
        directory,
        text,
        f"hydro.gamma={5 / 3!r}",
        "hydro.scheme=rk3",
        "hydro.reconstruction=ppm",
        "hydro.limiter=huynh",
        f"radiation.planck_opacity={absorption}",
        f"radiation.rosseland_opacity={absorption}",
    )
    found = profile(outcome.last_snapshot)
    rest = {"density": 1.0, "velocity_x": 0.0, "pressure": wave.pressure}
    factors = {
        name: 2.0 * np.mean((found[name] - value) * np.exp(-2j * np.pi * found["x"])) / field
        for (name, value), field in zip(rest.items(), vector, strict=False)
    }
    return factors, np.exp(-1j * omega * period)


@pytest.mark.parametrize("case", WAVES)
def test_sound_in_radiating_gas_has_its_speed_and_damping(tmp_path: Path, case: str) -> None:
    *_, cells, largest = WAVES[case]
    factors, exact = wave_factors(tmp_path / "run", case, cells)
    for name, factor in factors.items():
        assert abs(factor) == pytest.approx(abs(exact), rel=largest), name
        assert abs(np.angle(factor / exact)) / (2 * np.pi) <= 0.01, name


# --- shocks ---------------------------------------------------------------------------------------


def shock_errors(
    directory: Path, mach: float, cells: int, ends: tuple[float, float], speed_ratio: float
) -> tuple[float, float]:
    """Hold a radiating shock in its frame until the gas has crossed the box once.

    Returns the relative errors of the temperatures of gas and radiation in L1, at the shift of up
    to two cells that fits best.
    """
    shock, light_speed, gamma = RadiatingShock(mach), 1e4, 5 / 3
    length = ends[1] - ends[0]
    dx = length / cells
    planck, rosseland = shock.extinctions(light_speed)
    x = np.unique(np.concatenate([np.linspace(*ends, 2000), np.linspace(-dx, dx, 400)]))
    exact = shock.at(x)
    energy = shock.radiation * exact["radiation_temperature"] ** 4
    tables = {
        "rho": exact["density"],
        "v": exact["velocity"],
        "p": exact["density"] * exact["temperature"] / gamma,
        "e": energy,
        "f": exact["energy_flux"] + 4.0 / 3.0 * exact["velocity"] * energy,
    }
    directory.parent.mkdir(parents=True, exist_ok=True)
    for name, values in tables.items():
        np.savetxt(directory.with_name(f"{name}.txt"), np.stack([x, values], axis=1), fmt="%.17g")
    files = ", ".join(f'{name} = "{directory.with_name(name)}.txt"' for name in tables)
    text = slab(
        cells,
        length,
        length / mach,
        lower=ends[0],
        density="rho(x)",
        velocity=("v(x)", "0", "0"),
        pressure="p(x)",
        energy="e(x)",
        flux=("f(x)", "0", "0"),
        light_speed=light_speed,
        constant=shock.radiation,
        sides=("inflow", "inflow"),
        samples=8,
    ).replace("[mesh]", f"tables = {{{files}}}\n[mesh]", 1)
    outcome = run_well(
        directory,
        text,
        f"hydro.gamma={gamma!r}",
        f"radiation.molecular_weight={gamma!r}",
        f"radiation.planck_opacity={planck!r}",
        f"radiation.rosseland_opacity={rosseland!r}",
        "radiation.opacity_density_exponent=-1",
        f"radiation.speed_ratio={speed_ratio}",
    )
    found = profile(outcome.last_snapshot)
    gas = found["pressure"] * gamma / found["density"]
    radiation = (found["radiation_energy"] / shock.radiation) ** 0.25
    parts = (np.arange(8) + 0.5) / 8 - 0.5
    candidates = []
    for shift in np.linspace(-2.0, 2.0, 41) * dx:
        state = shock.at((found["x"][:, None] + dx * parts - shift).ravel())
        gas_mean, radiation_mean = (
            state[name].reshape(cells, -1).mean(axis=1)
            for name in ("temperature", "radiation_temperature")
        )
        candidates.append((mean_error(gas, gas_mean), mean_error(radiation, radiation_mean)))
    return min(candidates, key=sum)


def test_a_radiating_shock_keeps_its_structure(tmp_path: Path) -> None:
    """Mach 2, with the radiative precursor of Lowrie & Edwards (2008)."""
    errors = shock_errors(tmp_path / "run", 2.0, 64, (-0.02, 0.012), 1e-3)
    assert max(errors) <= 0.005, f"errors {errors}"


# --- budgets --------------------------------------------------------------------------------------

MOVING = slab(
    16,
    1.0,
    0.03,
    across=(8, 8),
    density="1 + 0.8 * sin(2*pi*x) * cos(4*pi*y)",
    velocity=("sin(4*pi*y)", "cos(2*pi*x)", "0.5 * sin(2*pi*x)"),
    pressure="0.5",
    energy="0.1 + 10 * exp(-50 * ((x - 0.5)^2 + (y - 0.25)^2 + (z - 0.25)^2))",
    flux=("0.5", "0.2 * cos(2*pi*x)", "-0.1"),
    light_speed=20.0,
    constant=0.2,
)
ABSORBING = (
    "radiation.planck_opacity=3",
    "radiation.rosseland_opacity=30",
    "radiation.scattering_opacity=5",
    "radiation.opacity_density_exponent=1",
    "radiation.opacity_temperature_exponent=-0.5",
)
REFINED = (
    "mesh.max_level=1",
    "refine.gradient_fields=['radiation_energy']",
    "refine.gradient=[0.2]",
)
SCHEMES = {
    "muscl_hancock": ("hydro.scheme=muscl_hancock", "hydro.reconstruction=plm"),
    "rk2": ("hydro.scheme=rk2", "hydro.reconstruction=plm"),
    "rk3": ("hydro.scheme=rk3", "hydro.reconstruction=ppm"),
}


def conserved(history: dict[str, Array], speed_ratio: float) -> tuple[Array, Array]:
    """Return the energy, and the momentum of shape (3, rows), of gas and radiation."""
    energy = history["total_energy"] + history["radiation_energy"] / speed_ratio
    momentum = [history[f"momentum_{a}"] + history[f"radiation_momentum_{a}"] for a in "xyz"]
    return energy, np.array(momentum)


@pytest.mark.parametrize("dual_energy", ["off", "on"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_gas_and_radiation_conserve_energy_and_momentum(
    tmp_path: Path, scheme: str, dual_energy: str
) -> None:
    """Refined where the radiation changes, in moving gas that absorbs, emits and scatters."""
    speed_ratio = 0.5
    overrides = (*ABSORBING, *REFINED, *SCHEMES[scheme], f"hydro.dual_energy={dual_energy}")
    ratio = f"radiation.speed_ratio={speed_ratio}"
    outcome = run_well(tmp_path / "run", MOVING, *overrides, ratio, "output.history_interval=1")
    history = outcome.history()
    assert history["leaf_cells_1"].max() > 0
    assert len(history["time"]) > 3
    energy, momentum = conserved(history, speed_ratio)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    scale = history["absolute_momentum"][0]
    assert np.all(np.abs(momentum - momentum[:, :1]) <= 1e-13 * scale)
    # The energy that the radiation loses appears in the energy of the gas.
    assert np.ptp(history["total_energy"]) > 0.05 * history["total_energy"][0]
    assert history["floored_cells"][-1] == 0


def test_opaque_gas_and_radiation_share_one_temperature(tmp_path: Path) -> None:
    """Moving gas with 1e5 mean free paths per cell is in equilibrium with the radiation."""
    opaque = ("radiation.planck_opacity=1e7", "radiation.rosseland_opacity=1e7")
    outcome = run_well(tmp_path / "run", MOVING, *opaque)
    found = leaf_cells(outcome.last_snapshot)
    temperature = found["pressure"] / found["density"]
    # The energy density in the frame of the gas, where P = E / 3.
    square = sum(found[f"velocity_{axis}"] ** 2 for axis in "xyz")
    work = sum(found[f"velocity_{axis}"] * found[f"radiation_flux_{axis}"] for axis in "xyz")
    energy = found["radiation_energy"] * (1.0 + 4.0 / 3.0 * square / 20.0**2)
    energy -= 2.0 * work / 20.0**2
    np.testing.assert_allclose(energy, 0.2 * temperature**4, rtol=1e-3)
    energy, momentum = conserved(outcome.history(), 1.0)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    scale = outcome.history()["absolute_momentum"][0]
    assert np.all(np.abs(momentum - momentum[:, :1]) <= 1e-13 * scale)
