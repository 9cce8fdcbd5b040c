"""Gas whose sound speed depends on the position: equilibria, order, bits, files and refusals."""

from pathlib import Path

import numpy as np
import pytest
from gas_setups import SCHEMES, scheme_of
from numpy.typing import NDArray

from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_same_bits,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
)

Array = NDArray[np.float64]
LOCAL = ("hydro.equation_of_state=locally_isothermal", "hydro.sound_speed=1")
# Temperature proportional to 1 / sqrt(R^2 + s^2), as in a disc of constant opening angle.
COOLER_OUTSIDE = (*LOCAL, "hydro.sound_speed_exponent=-0.5", "hydro.sound_speed_radius=1")
SOFTENED = (*COOLER_OUTSIDE, "hydro.sound_speed_softening=0.7")

# --- gas at rest ----------------------------------------------------------------------------------

PULL = 1.5
# c^2 = 1 / x, so that d(c^2 rho) / dx = -PULL rho has the solution p = exp(-PULL (x^2 - 1) / 2).
ATMOSPHERE = f"""
[problem]
name = "expression"
density = "x * exp(-{PULL} * (x^2 - 1) / 2)"
pressure = "1"

[mesh]
base_cells = [{{cells}}, 4, 4]
lower = [1.0, 0.0, 0.0]
upper = [2.0, {{width}}, {{width}}]
block_size = 4
boundary_x = ["reflecting", "reflecting"]

[hydro]
dimensions = 1
acceleration = [-{PULL}, 0.0, 0.0]
sound_speed_centre = [0.0, 0.0, 0.0]
sound_speed_axis = "z"

[time]
end = 1.0
"""


def rest_error(directory: Path, cells: int, *overrides: str) -> float:
    """Give the mean of |rho - exact mean over the cell| in an atmosphere after a sound crossing."""
    parameters = ATMOSPHERE.format(cells=cells, width=4 / cells)
    outcome = run_well(directory, parameters, *COOLER_OUTSIDE, *overrides)
    mass = outcome.history()["mass"]
    assert np.abs(mass / mass[0] - 1).max() <= 1e-13
    found = leaf_cells(outcome.last_snapshot)
    x = found.position[:, :1] + found.size[:, None] * ((np.arange(16) + 0.5) / 16 - 0.5)
    exact = (x * np.exp(-PULL * (x**2 - 1) / 2)).mean(axis=1)
    return float(np.abs(found["density"] - exact).mean())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_atmosphere_of_varying_temperature_stays_at_rest(
    tmp_path: Path, scheme: tuple[str, str]
) -> None:
    errors = [rest_error(tmp_path / str(n), n, *scheme_of(scheme)) for n in (32, 64)]
    print(scheme, errors, np.log2(errors[0] / errors[1]))
    assert errors[1] <= 2e-4
    assert np.log2(errors[0] / errors[1]) >= 1.8, f"errors {errors}"


def test_the_time_step_uses_the_largest_sound_speed(tmp_path: Path) -> None:
    parameters = ATMOSPHERE.format(cells=32, width=4 / 32)
    outcome = run_well(
        tmp_path / "run",
        parameters,
        *COOLER_OUTSIDE,
        "time.max_steps=1",
        "hydro.acceleration=[0,0,0]",
        "time.cfl=0.5",
    )
    warmest = 1 / np.sqrt(1 + 0.5 / 32)
    assert outcome.history()["time"][1] == pytest.approx(0.5 / 32 / (3 * warmest), rel=1e-12)


# --- gas in rotation ------------------------------------------------------------------------------

# v^2 / R = d(c^2 rho) / dR / rho with rho = exp(3 R^2 / 2) and c^2 = (R^2 + 1/2)^(-1/2).
VORTEX = """
[problem]
name = "expression"
density = "exp(1.5 * square)"
velocity = ["-y * turn", "x * turn", "0"]
pressure = "1"

[problem.terms]
square = "x^2 + y^2"
turn = "sqrt((3 - 1 / (square + 0.5)) / sqrt(square + 0.5))"

[mesh]
base_cells = [{cells}, {cells}, 8]
lower = [-0.5, -0.5, 0.0]
upper = [0.5, 0.5, {height}]
block_size = 8
boundary_x = ["inflow", "inflow"]
boundary_y = ["inflow", "inflow"]

[hydro]
dimensions = 2
sound_speed_softening = 0.70710678118654752

[time]
end = 0.5
"""


def vortex_error(directory: Path, cells: int, *overrides: str) -> float:
    """Give the mean error of density and velocities in a rotating ring."""
    parameters = VORTEX.format(cells=cells, height=8 / cells)
    found = leaf_cells(run_well(directory, parameters, *COOLER_OUTSIDE, *overrides).last_snapshot)
    nodes = np.sqrt(3 / 5) / 2 * np.array([-1, 0, 1])
    weights = np.outer([5, 8, 5], [5, 8, 5]) / 324
    x = found.position[:, 0, None, None] + found.size[:, None, None] * nodes[None, :, None]
    y = found.position[:, 1, None, None] + found.size[:, None, None] * nodes[None, None, :]
    square = x**2 + y**2
    turn = np.sqrt((3 - 1 / (square + 0.5)) / np.sqrt(square + 0.5))
    density = np.exp(1.5 * square)

    def mean(values: Array) -> Array:
        return (values * weights).sum(axis=(1, 2))

    exact = {"density": mean(density)}
    exact["velocity_x"] = mean(-y * turn * density) / exact["density"]
    exact["velocity_y"] = mean(x * turn * density) / exact["density"]
    errors = [np.average(np.abs(found[n] - q), weights=found.volume) for n, q in exact.items()]
    return float(max(errors))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_rotating_ring_is_in_equilibrium(tmp_path: Path, scheme: tuple[str, str]) -> None:
    errors = [vortex_error(tmp_path / str(n), n, *scheme_of(scheme)) for n in (32, 64)]
    print(scheme, errors, np.log2(errors[0] / errors[1]))
    assert errors[1] <= 3e-4
    assert np.log2(errors[0] / errors[1]) >= 1.8, f"errors {errors}"


# --- other flows ----------------------------------------------------------------------------------

WAVES = """
[problem]
name = "expression"
density = "1 + 0.5 * exp(-40 * (x^2 + y^2 + z^2))"
velocity = ["0.4", "0.3 * cos(pi * x)", "0.1"]
pressure = "1"

[mesh]
base_cells = [16, 16, 16]
lower = [-0.5, -0.5, -0.5]
upper = [0.5, 0.5, 0.5]
block_size = 8
max_level = 2
boundary_x = ["reflecting", "reflecting"]
boundary_y = ["reflecting", "reflecting"]

[refine]
gradient_fields = ["density"]
gradient = [0.02]

[time]
end = 1.0
max_steps = 8
"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_budget_counts_the_exchanged_energy(tmp_path: Path, scheme: tuple[str, str]) -> None:
    """Refinement follows the waves; mass is conserved, and energy with the exchange."""
    overrides = (*SOFTENED, *scheme_of(scheme), "time.max_steps=20")
    history = run_well(tmp_path / "run", WAVES, *overrides).history()
    assert history["leaf_cells_2"][-1] > 0
    energy = history["total_energy"] - history["exchanged_energy"]
    assert np.abs(history["exchanged_energy"][-1]) > 1e-5 * energy[0]
    for conserved in (history["mass"], energy):
        np.testing.assert_allclose(conserved, conserved[0], rtol=1e-13)


@pytest.mark.parametrize("exponent", ["uniform", "zero"])
def test_a_uniform_sound_speed_gives_the_bits_of_isothermal_gas(
    tmp_path: Path, exponent: str
) -> None:
    isothermal = ("hydro.equation_of_state=isothermal", "hydro.sound_speed=1")
    for scheme in (("muscl_hancock", "plm"), ("rk3", "ppm")):
        overrides = scheme_of(scheme)
        one = run_well(tmp_path / f"{scheme[1]}_one", WAVES, *isothermal, *overrides)
        local = (*LOCAL, *(("hydro.sound_speed_exponent=0",) if exponent == "zero" else ()))
        other = run_well(tmp_path / f"{scheme[1]}_other", WAVES, *local, *overrides)
        for name in ("density", "velocity_x", "velocity_y", "velocity_z", "pressure"):
            of_one, of_other = (leaf_cells(of.last_snapshot)[name] for of in (one, other))
            assert np.array_equal(of_one, of_other)


@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm")])
def test_bits_depend_neither_on_ranks_nor_threads_nor_schedule(
    tmp_path: Path, scheme: tuple[str, str]
) -> None:
    overrides = (*SOFTENED, *scheme_of(scheme))
    one = run_well(tmp_path / "one", WAVES, *overrides)
    assert one.history()["leaf_cells_2"][-1] > 0
    assert_same_bits(tmp_path, one, *overrides)


def test_bits_survive_a_restart(tmp_path: Path) -> None:
    one = run_well(tmp_path / "one", WAVES, *SOFTENED, *CHECKPOINT_EVERY_STEP)
    checkpoint = one.directory / "checkpoint_00004.h5"
    other = run_well(tmp_path / "b", WAVES, *SOFTENED, ranks=2, restart=checkpoint)
    assert_same_run(other, one, first_step=5)


def test_files_have_the_local_sound_speed(tmp_path: Path) -> None:
    """On all levels, with the profile of a disc around an axis along y."""
    disc = (
        *SOFTENED,
        "hydro.sound_speed_axis=y",
        "hydro.sound_speed_radius=2",
        "hydro.sound_speed_centre=[0.1, 0, 0.2]",
        "mesh.boundary_z=['outflow', 'outflow']",
    )
    outcome = run_well(tmp_path / "run", WAVES, *disc)
    found = leaf_cells(outcome.last_snapshot)
    x, _, z = found.position.T
    square = (((x - 0.1) ** 2 + (z - 0.2) ** 2 + 0.49) / 4) ** -0.5
    np.testing.assert_allclose(found["pressure"] / found["density"], square, rtol=1e-12)


# --- a ring on a refined mesh ---------------------------------------------------------------------

# A rotating ring whose pressure drives it inwards and outwards; the mesh refines its edges. The
# walls are square: quarter turns about the axis map the flow onto itself.
RING = """
[problem]
name = "expression"
density = "0.05 + exp(-((sqrt(x^2 + y^2) - 0.55) / 0.1)^2)"
velocity = ["-y", "x", "0"]
pressure = "1"

[mesh]
base_cells = [64, 64, 4]
lower = [-1.0, -1.0, 0.0]
upper = [1.0, 1.0, 0.125]
block_size = 4
max_level = 2
boundary_x = ["reflecting", "reflecting"]
boundary_y = ["reflecting", "reflecting"]

[refine]
gradient_fields = ["density"]
gradient = [0.4]

[hydro]
dimensions = 2

[time]
end = 1.0
max_steps = 8
"""
RING_GAS = (*SOFTENED, "hydro.sound_speed=0.5")


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    outcome = run_well(tmp_path_factory.mktemp("ring") / "run", RING, *RING_GAS)
    for level in range(3):
        assert outcome.history()[f"leaf_cells_{level}"][-1] > 0
    return outcome


def test_a_ring_keeps_its_mass_and_the_local_energy_on_all_levels(ring: Outcome) -> None:
    history = ring.history()
    energy = history["total_energy"] - history["exchanged_energy"]
    assert np.abs(history["exchanged_energy"][-1]) > 1e-4 * energy[0]
    for conserved in (history["mass"], energy):
        np.testing.assert_allclose(conserved, conserved[0], rtol=1e-13)
    found = leaf_cells(ring.last_snapshot)
    x, y, _ = found.position.T
    square = 0.25 * (x**2 + y**2 + 0.49) ** -0.5
    for size in np.unique(found.size):
        level = found.size == size
        pressure = (found["density"] * square)[level]
        np.testing.assert_allclose(found["pressure"][level], pressure, rtol=1e-12)
    speed = found["velocity_x"] ** 2 + found["velocity_y"] ** 2
    internal = found["density"] * square / (1.4 - 1)
    total = ((internal + 0.5 * found["density"] * speed) * found.volume).sum()
    assert total == pytest.approx(history["total_energy"][-1], rel=1e-12)


def test_a_ring_keeps_its_symmetry_on_a_refined_mesh(ring: Outcome) -> None:
    """A rotation by 90 degrees about z maps (x, y) to (-y, x), and velocities accordingly."""
    found = leaf_cells(ring.last_snapshot)
    x, y, z = found.position.T
    here, turned = np.lexsort((x, y, z)), np.lexsort((-y, x, z))
    for mine, other in (("density", found["density"]), ("velocity_y", found["velocity_x"])):
        np.testing.assert_allclose(found[mine][here], other[turned], rtol=1e-10, atol=1e-10)


def test_a_ring_has_the_same_bits_on_any_ranks(tmp_path: Path, ring: Outcome) -> None:
    assert_same_bits(tmp_path, ring, *RING_GAS)


# --- refusals -------------------------------------------------------------------------------------

BAD_VALUES = {
    "no_sound_speed": (["hydro.sound_speed=0"], ["hydro.sound_speed > 0"]),
    "periodic": (
        ["mesh.boundary_x=['periodic', 'periodic']"],
        ["locally_isothermal", "mesh.boundary_x", "periodic", '"outflow"'],
    ),
    "no_softening": (
        ["hydro.sound_speed_softening=0"],
        ["hydro.sound_speed_softening = 0", "infinite", "softening length"],
    ),
    "negative_softening": (["hydro.sound_speed_softening=-1"], ["softening", "-1", ">= 0"]),
    "no_radius": (["hydro.sound_speed_radius=0"], ["hydro.sound_speed_radius > 0", "-0.5"]),
    "steep": (["hydro.sound_speed_exponent=9"], ["hydro.sound_speed_exponent", "9", "<= 4"]),
    "centre": (["hydro.sound_speed_centre=[1, 2]"], ["sound_speed_centre", "three"]),
    "axis": (["hydro.sound_speed_axis=w"], ["hydro.sound_speed_axis", '"w"']),
    "axis_without_variation": (
        [
            "hydro.sound_speed_axis=x",
            "hydro.dimensions=1",
            "mesh.boundary_y=['periodic', 'periodic']",
            "mesh.base_cells=[16, 8, 8]",
            "mesh.upper=[0.5, 0, 0]",
        ],
        ["hydro.sound_speed_axis", "hydro.dimensions = 1", "another axis"],
    ),
    "exact_solver": (["hydro.riemann=exact"], ["hydro.riemann", "exact", "hllc_hybrid"]),
    "ppm26": (["hydro.reconstruction=ppm26", "hydro.scheme=rk2"], ["ppm26", '"ppm"']),
    "dual_energy": (["hydro.dual_energy=on"], ["hydro.dual_energy", "locally_isothermal"]),
    "cooling": (["cooling.enabled=true"], ["[cooling]", "internal energy"]),
    "balance": (
        ["hydro.well_balanced=isothermal", "hydro.acceleration=[0, 0, -1]"],
        ["hydro.well_balanced", "locally_isothermal"],
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    overrides, fragments = BAD_VALUES[case]
    assert_refused(run(tmp_path / "run", WAVES, *SOFTENED, *overrides), *fragments)


@pytest.mark.parametrize(
    "override",
    [
        "hydro.sound_speed_exponent=-0.5",
        "hydro.sound_speed_radius=2",
        "hydro.sound_speed_softening=1",
        "hydro.sound_speed_centre=[0, 0, 0]",
        "hydro.sound_speed_axis=x",
    ],
)
def test_unused_parameters_are_refused(tmp_path: Path, override: str) -> None:
    isothermal = ("hydro.equation_of_state=isothermal", "hydro.sound_speed=1")
    name = override.split("=")[0]
    outcome = run(tmp_path / "run", WAVES, *isothermal, override)
    assert_refused(outcome, name, "locally_isothermal")
