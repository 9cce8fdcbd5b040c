"""Well-balanced schemes: hydrostatic equilibrium is kept to rounding, and small waves in it."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from octools.initial import write_initial

from refusals import assert_refused
from running import Outcome, assert_same_run, leaf_cells, run, run_well

GAMMA = 1.4
ISOTHERMAL = "hydro.well_balanced=isothermal"
SCHEMES = {
    "muscl": (),
    "muscl_ppm": ("hydro.reconstruction=ppm",),
    "muscl_huynh": ("hydro.limiter=huynh",),
    "rk2": ("hydro.scheme=rk2", "hydro.limiter=van_leer"),
    "rk3_ppm": ("hydro.scheme=rk3", "hydro.reconstruction=ppm", "hydro.contact_steepening=true"),
    "dual_energy": ("hydro.dual_energy=on", "hydro.scalars=2"),
}


def box(axis: int, cells: int, *, up: bool = False, lid: str = "reflecting") -> str:
    """Give the parameters of a column between walls, four long, without what fills it.

    `lid` is the side that the gas hangs from.
    """
    x = "xyz"[axis]
    base = [8, 8, 8]
    base[axis] = cells
    pull = [0.0, 0.0, 0.0]
    pull[axis] = 1.0 if up else -1.0
    sides = [lid, "reflecting"] if up else ["reflecting", lid]
    return f"""
[mesh]
base_cells = {base}
block_size = 8
upper = {[4.0 * n / cells for n in base]}
boundary_{x} = {sides}
[hydro]
gamma = {GAMMA}
acceleration = {pull}
[time]
end = 10.0
[problem]
""".replace("'", '"')


def atmosphere(axis: int, cells: int = 32, *, up: bool = False, lid: str = "reflecting") -> str:
    """Give an isothermal atmosphere at rest, four scale heights high."""
    x = "xyz"[axis]
    profile = f"exp({x} - 4)" if up else f"exp(-{x})"
    gas = f'name = "expression"\ndensity = "{profile}"\npressure = "{profile}"\n'
    return box(axis, cells, up=up, lid=lid) + gas


def fastest(outcome: Outcome) -> float:
    """Give the largest velocity in units of the speed of sound."""
    cells = leaf_cells(outcome.last_snapshot)
    sound = np.sqrt(GAMMA * cells["pressure"] / cells["density"])
    return max(float(np.abs(cells[f"velocity_{x}"] / sound).max()) for x in "xyz")


def run_balanced(directory: Path, text: str, *overrides: str, **how: object) -> Outcome:
    """Run with the option on."""
    return run_well(directory, text, ISOTHERMAL, *overrides, **how)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_isothermal_atmosphere_stays_at_rest(tmp_path: Path, scheme: str) -> None:
    outcome = run_balanced(tmp_path / "run", atmosphere(0), *SCHEMES[scheme])
    assert fastest(outcome) < 1e-12
    history = outcome.history()
    assert np.abs(np.asarray(history["mass"]) / history["mass"][0] - 1.0).max() < 1e-13


@pytest.mark.parametrize("riemann", ["llf", "hll", "hllc", "hllc_low_mach", "exact"])
def test_every_riemann_solver_keeps_it_at_rest(tmp_path: Path, riemann: str) -> None:
    outcome = run_balanced(tmp_path / "run", atmosphere(0), f"hydro.riemann={riemann}")
    assert fastest(outcome) < 1e-12


@pytest.mark.parametrize(("axis", "up"), [(0, True), (1, False), (1, True), (2, False)])
def test_an_atmosphere_stays_at_rest_along_every_axis(tmp_path: Path, axis: int, up: bool) -> None:
    outcome = run_balanced(tmp_path / "run", atmosphere(axis, up=up))
    assert fastest(outcome) < 1e-12


def test_an_oblique_atmosphere_stays_at_rest(tmp_path: Path) -> None:
    text = atmosphere(0, 16).replace("[-1.0, 0.0, 0.0]", "[-1.0, 0.5, -0.25]")
    text = text.replace("[4.0, 2.0, 2.0]", "[4.0, 4.0, 4.0]").replace("exp(-x)", "exp(-x+y/2-z/4)")
    walls = [f'mesh.boundary_{axis}=["reflecting","reflecting"]' for axis in "yz"]
    outcome = run_balanced(tmp_path / "run", text, *walls, "mesh.base_cells=[16,16,16]")
    assert fastest(outcome) < 1e-12


@pytest.mark.parametrize("cells", [8, 64])
def test_coarse_and_fine_atmospheres_stay_at_rest(tmp_path: Path, cells: int) -> None:
    outcome = run_balanced(tmp_path / "run", atmosphere(2, cells))
    assert fastest(outcome) < 1e-12


def test_nothing_leaves_an_atmosphere_below_a_diode(tmp_path: Path) -> None:
    outcome = run_balanced(tmp_path / "run", atmosphere(1, lid="diode"))
    assert fastest(outcome) < 1e-12
    assert abs(outcome.history()["outflow_mass"][-1]) < 1e-13


def balanced_column(cells: int, temperature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give means of density and pressure whose pressures at faces are alike on both sides."""
    s = -0.5 * (4.0 / cells) / temperature
    mean = s / np.tanh(s)
    pressure = np.ones(cells)
    for n in range(1, cells):
        pressure[n] = pressure[n - 1] * (mean[n - 1] + s[n - 1]) / (mean[n] - s[n])
    return pressure / temperature, pressure


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_stratification_in_discrete_balance_stays_at_rest(
    tmp_path: Path, scheme: str
) -> None:
    cells, axis = 32, 1
    temperature = np.random.default_rng(3).uniform(0.5, 2.0, cells)
    density, pressure = (
        q[None, :, None] * np.ones((8, 1, 8)) for q in balanced_column(cells, temperature)
    )
    file = write_initial(
        tmp_path / "gas.h5", {"density": density, "pressure": pressure}, upper=(1.0, 4.0, 1.0)
    )
    text = box(axis, cells) + f'name = "file"\npath = "{file}"\n'
    outcome = run_balanced(tmp_path / "run", text, *SCHEMES[scheme], "time.end=5")
    assert fastest(outcome) < 1e-12
    found = leaf_cells(outcome.last_snapshot)
    order = np.argsort(found.position[:, axis], kind="stable")
    assert found["density"][order] == pytest.approx(np.repeat(density[0, :, 0], 64), rel=1e-11)


REFINED = (
    "mesh.max_level=1",
    "refine.region_lower=[0,0.5,0]",
    "refine.region_upper=[0.5,1.9,1]",
    "refine.region_level=1",
)


@pytest.mark.parametrize("scheme", ["muscl", "rk3_ppm", "dual_energy"])
def test_an_atmosphere_stays_at_rest_across_levels(tmp_path: Path, scheme: str) -> None:
    y = (np.arange(64) + 0.5) / 16
    profile = np.exp(-y)[None, :, None] * np.ones((32, 1, 32))
    gas = {"density": profile, "pressure": profile}
    file = write_initial(tmp_path / "gas.h5", gas, upper=(2.0, 4.0, 2.0))
    text = (
        box(1, 32)
        .replace("[8, 32, 8]", "[16, 32, 16]")
        .replace("[1.0, 4.0, 1.0]", "[2.0, 4.0, 2.0]")
    )
    text += f'name = "file"\npath = "{file}"\n'
    more = (*REFINED, *SCHEMES[scheme], "time.end=3")
    outcome = run_balanced(tmp_path / "run", text, *more)
    assert outcome.history()["blocks_1"][-1] > 0
    assert fastest(outcome) < 1e-12
    rough = run_well(tmp_path / "rough", text, *more)
    assert fastest(rough) > 1e-5


def test_new_cells_are_in_equilibrium(tmp_path: Path) -> None:
    text = (
        atmosphere(1)
        .replace("[8, 32, 8]", "[16, 32, 16]")
        .replace("[1.0, 4.0, 1.0]", "[2.0, 4.0, 2.0]")
    )
    where = "refine.where=t > 0.2 && t < 1 && x < 1 && y > 0.5 && y < 2"
    outcome = run_balanced(tmp_path / "run", text, "mesh.max_level=1", where, "time.end=2")
    blocks = np.asarray(outcome.history()["blocks_1"])
    assert blocks[0] == 0
    assert blocks.max() > 0
    assert blocks[-1] == 0
    assert fastest(outcome) < 1e-12


def test_bits_do_not_depend_on_blocks_ranks_and_schedule(tmp_path: Path) -> None:
    text = (
        atmosphere(1, 16)
        .replace("[8, 16, 8]", "[16, 16, 16]")
        .replace("[2.0, 4.0, 2.0]", "[4.0] * 3")
    )
    text = text.replace("[4.0] * 3", "[4.0, 4.0, 4.0]")
    stir = ("problem.velocity=['0.3*sin(pi*x/2)','0.2*cos(pi*x/2)','0.1']", "time.max_steps=10")
    for scheme in ("muscl_ppm", "rk2"):
        options = (*stir, *SCHEMES[scheme], *REFINED)
        reference = run_balanced(tmp_path / f"{scheme}", text, *options)
        many = run_balanced(
            tmp_path / f"{scheme}_many", text, *options, "execution.schedule=device", ranks=2
        )
        assert_same_run(many, reference)
        three = run_balanced(tmp_path / f"{scheme}_three", text, *options, ranks=3)
        assert_same_run(three, reference)


def bump(directory: Path, height: float, *overrides: str) -> np.ndarray:
    """Give velocities over the height of a small bump of the pressure, where it has gone."""
    text = atmosphere(1, 64)
    lump = f"exp(-y)*(1 + {height}*exp(-100*(y - 1)^2))"
    text = text.replace('pressure = "exp(-y)"', f'pressure = "{lump}"')
    outcome = run_well(directory, text, "time.end=0.8", "output.fields=[]", *overrides)
    cells = leaf_cells(outcome.last_snapshot)
    first = (cells.position[:, 0] < cells.size) & (cells.position[:, 2] < cells.size)
    return cells["velocity_y"][first][np.argsort(cells.position[first, 1])] / height


@pytest.mark.parametrize("scheme", ["muscl", "rk3_ppm"])
def test_small_waves_are_those_of_larger_ones(tmp_path: Path, scheme: str) -> None:
    small = bump(tmp_path / "small", 1e-8, ISOTHERMAL, *SCHEMES[scheme])
    large = bump(tmp_path / "large", 1e-3, ISOTHERMAL, *SCHEMES[scheme])
    assert np.abs(large).max() > 0.05
    assert np.abs(small - large).max() < 0.02 * np.abs(large).max()
    lost = bump(tmp_path / "lost", 1e-8, *SCHEMES[scheme])
    assert np.abs(lost).max() > 100 * np.abs(large).max()


def test_cold_gas_falls_as_without_the_option(tmp_path: Path) -> None:
    """Gas whose scale height is less than a cell has no profile to be balanced with."""
    text = box(0, 16).replace('["reflecting", "reflecting"]', '["periodic", "periodic"]')
    text += 'name = "expression"\ndensity = "1 + 0.3*sin(pi*x/2)"\npressure = "1e-2"\n'
    balanced = leaf_cells(run_balanced(tmp_path / "on", text, "time.end=0.5").last_snapshot)
    plain = leaf_cells(run_well(tmp_path / "off", text, "time.end=0.5").last_snapshot)
    assert plain["velocity_x"] == pytest.approx(-0.5, rel=1e-3)
    assert balanced["velocity_x"] == pytest.approx(plain["velocity_x"], rel=1e-12)


@pytest.mark.parametrize("scheme", ["muscl", "rk3_ppm"])
def test_the_scheme_stays_of_second_order(tmp_path: Path, scheme: str) -> None:
    """A wave of finite amplitude in the atmosphere converges to that of other schemes."""

    def velocities(cells: int, *overrides: str) -> np.ndarray:
        text = atmosphere(0, cells)
        wave = "exp(-x)*(1 + 0.05*exp(-8*(x - 1.6)^2))"
        text = text.replace('pressure = "exp(-x)"', f'pressure = "{wave}"\nsamples = 4')
        name = f"{cells}{len(overrides)}"
        outcome = run_well(tmp_path / name, text, *SCHEMES[scheme], *overrides, "time.end=0.8")
        found = leaf_cells(outcome.last_snapshot)
        first = (found.position[:, 1] < found.size) & (found.position[:, 2] < found.size)
        return found["velocity_x"][first][np.argsort(found.position[first, 0])]

    def halved(fine: np.ndarray) -> np.ndarray:
        return 0.5 * (fine[::2] + fine[1::2])

    runs = [velocities(cells, ISOTHERMAL) for cells in (32, 64, 128)]
    differences = [np.abs(halved(b) - a).mean() for a, b in itertools.pairwise(runs)]
    assert math.log2(differences[0] / differences[1]) > 1.6
    rough = velocities(128)
    assert np.abs(rough - runs[-1]).mean() < differences[1]


TURNING = """
[problem]
name = "expression"
density = "exp(-z)"
pressure = "exp(-z)"
[mesh]
base_cells = [8, 8, 32]
block_size = 8
lower = [-0.5, -0.5, 0.0]
upper = [0.5, 0.5, 4.0]
boundary_x = ["inflow", "inflow"]
boundary_y = ["inflow", "inflow"]
boundary_z = ["reflecting", "reflecting"]
[frame]
angular_velocity = 0.5
[hydro]
acceleration = [0.0, 0.0, -1.0]
[time]
end = 3.0
"""


def test_an_atmosphere_stays_at_rest_in_a_rotating_frame(tmp_path: Path) -> None:
    outcome = run_balanced(tmp_path / "run", TURNING)
    assert fastest(outcome) < 1e-12
    mass = np.asarray(outcome.history()["mass"])
    assert np.abs(mass / mass[0] - 1.0).max() < 1e-12


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (("hydro.acceleration=[0,0,0]",), ("requires a non-zero hydro.acceleration",)),
        (("hydro.reconstruction=ppm26", "hydro.scheme=rk3"), ('"ppm26"', "plm or ppm")),
        (("hydro.dual_energy=overwrite",), ('hydro.dual_energy = "overwrite"',)),
        (("gravity.enabled=true", "gravity.beyond_walls=vacuum"), ("gravity.enabled = true",)),
        (("sources.acceleration=['0','0','x']",), ("sources.acceleration",)),
    ],
)
def test_what_is_not_balanced_is_refused(
    tmp_path: Path, overrides: tuple[str, ...], words: tuple[str, ...]
) -> None:
    outcome = run(tmp_path / "run", atmosphere(0), ISOTHERMAL, *overrides)
    assert_refused(outcome, "hydro.well_balanced", *words)


@pytest.mark.parametrize("scheme", ["muscl", "rk3_ppm"])
def test_a_mixture_keeps_its_bounds_and_sum_beside_dual_energy(tmp_path: Path, scheme: str) -> None:
    """A light bubble rises in a balanced, refined atmosphere of three species."""
    bubble = "((x - 0.5)^2 + (y - 1)^2 + (z - 0.5)^2 < 0.1)"
    outcome = run_balanced(
        tmp_path / "run",
        atmosphere(1),
        *SCHEMES[scheme],
        "hydro.dual_energy=on",
        "hydro.scalars=3",
        f'problem.density="exp(-y)*(1 - 0.8*{bubble})"',
        f'problem.scalars=["{bubble}", "0.3*(1 - {bubble})", "0.7*(1 - {bubble})"]',
        "mesh.max_level=1",
        'refine.gradient_fields=["scalar_0"]',
        "refine.gradient=[0.1]",
        "time.max_steps=12",
    )
    first, last = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    assert len(set(last.size)) == 2
    assert fastest(outcome) > 1e-3
    names = [f"scalar_{n}" for n in range(3)]
    for name in names:
        assert last[name].min() >= first[name].min() - 1e-14
        assert last[name].max() <= first[name].max() + 1e-14
    assert np.abs(sum(last[name] for name in names) - 1.0).max() < 1e-13
    history = outcome.history()
    assert np.abs(np.asarray(history["mass"]) / history["mass"][0] - 1.0).max() < 1e-13
