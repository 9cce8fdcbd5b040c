"""Static equilibrium of gas and radiation pressure in opaque gas with a constant flux."""

from pathlib import Path

import numpy as np
from radiation_setups import mean_error, profile, slab
from radiation_tube import PressureTube

from running import run_well


def test_the_reference_solution_satisfies_its_equations() -> None:
    tube = PressureTube()
    x = np.linspace(0.0, 1.0, 2001)
    state = tube.at(x)
    np.testing.assert_allclose(state["temperature"][[0, -1]], [1.0, tube.cold], rtol=1e-12)
    np.testing.assert_allclose(state["density"] * state["temperature"], state["pressure"])
    slope = np.gradient(state["energy"], x, edge_order=2)
    flux = -tube.light_speed / (3.0 * tube.opacity * state["density"]) * slope
    np.testing.assert_allclose(flux[1:-1], tube.flux, rtol=1e-5)
    np.testing.assert_allclose(state["pressure"] + state["energy"] / 3.0, tube.total, rtol=1e-14)
    assert state["density"].max() > 1.9 * state["density"].min()


def tube_errors(directory: Path, cells: int, end: float) -> dict[str, float]:
    """Return the mean errors of a run that begins with the exact solution, and its speeds.

    Density, temperature and energy are relative; the speeds and the differences of the flux are
    the largest, in units of the speed of sound and of the flux.
    """
    tube = PressureTube()
    beyond = 3.0 / cells
    x = np.linspace(-beyond, 1.0 + beyond, 4001)
    exact = tube.at(x)
    directory.mkdir(parents=True)
    tables = {"rho": exact["density"], "p": exact["pressure"], "e": exact["energy"]}
    for name, values in tables.items():
        np.savetxt(directory / f"{name}.txt", np.stack([x, values], axis=1), fmt="%.17g")
    files = ", ".join(f'{name} = "{directory / name}.txt"' for name in tables)
    text = slab(
        cells,
        1.0,
        end,
        density="rho(x)",
        pressure="p(x)",
        energy="e(x)",
        flux=(str(tube.flux), "0", "0"),
        light_speed=tube.light_speed,
        constant=tube.radiation_constant,
        sides=("inflow", "inflow"),
        samples=8,
    ).replace("[mesh]", f"tables = {{{files}}}\n[mesh]", 1)
    outcome = run_well(
        directory / "run",
        text,
        f"hydro.gamma={5 / 3!r}",
        f"radiation.planck_opacity={tube.opacity}",
        f"radiation.rosseland_opacity={tube.opacity}",
    )
    found = profile(outcome.last_snapshot)
    parts = (np.arange(8) + 0.5) / 8 - 0.5
    state = tube.at((found["x"][:, None] + parts / cells).ravel())
    means = {name: values.reshape(cells, 8).mean(axis=1) for name, values in state.items()}
    sound = np.sqrt(5 / 3 * means["pressure"] / means["density"])
    return {
        "density": mean_error(found["density"], means["density"]),
        "temperature": mean_error(found["pressure"] / found["density"], means["temperature"]),
        "energy": mean_error(found["radiation_energy"], means["energy"]),
        "speed": float(np.abs(found["velocity_x"] / sound).max()),
        "flux": float(np.abs(found["radiation_flux_x"] / tube.flux - 1.0).max()),
    }


def test_gas_and_radiation_pressure_balance(tmp_path: Path) -> None:
    """Held for the time that sound needs to cross the tube, and radiation to diffuse through it."""
    coarse, fine = (tube_errors(tmp_path / str(cells), cells, 0.6) for cells in (8, 16))
    largest = {"density": 7e-4, "temperature": 1e-4, "energy": 3e-4, "speed": 3e-4, "flux": 1e-2}
    for name, bound in largest.items():
        assert fine[name] <= bound, (name, coarse, fine)
    for name in ("temperature", "energy", "speed"):
        assert np.log2(coarse[name] / fine[name]) >= 1.5, (name, coarse, fine)
