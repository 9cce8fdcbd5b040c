"""Walls and diodes: what does not pass the sides of the domain, and gas at rest between them."""

from pathlib import Path

import numpy as np
import pytest

from running import Outcome, assert_same_run, differing, leaf_cells, run, run_well

SCHEMES = {
    "muscl": ("hydro.scheme=muscl_hancock",),
    "muscl_ppm": ("hydro.scheme=muscl_hancock", "hydro.reconstruction=ppm"),
    "rk2": ("hydro.scheme=rk2",),
    "rk3_ppm": ("hydro.scheme=rk3", "hydro.reconstruction=ppm"),
    "rk3_ppm26": ("hydro.scheme=rk3", "hydro.reconstruction=ppm26"),
    "llf": ("hydro.riemann=llf",),
    "dual_energy": ("hydro.dual_energy=on",),
}


def atmosphere(axis: int, cells: int = 32, across: int = 8, *, up: bool = False) -> str:
    """Give an isothermal atmosphere at rest between walls, four scale heights high."""
    x = "xyz"[axis]
    base = [across] * 3
    base[axis] = cells
    upper = [4.0 * n / cells for n in base]
    pull = [0.0] * 3
    pull[axis] = 1.0 if up else -1.0
    profile = f"exp({x} - 4)" if up else f"exp(-{x})"
    return f"""
[problem]
name = "expression"
density = "{profile}"
pressure = "{profile}"
[mesh]
base_cells = {base}
block_size = 8
upper = {upper}
boundary_{x} = ["reflecting", "reflecting"]
[hydro]
gamma = 1.4
acceleration = {pull}
scalars = 1
[time]
end = 34.0
"""


def drift(history: dict) -> float:
    """Give the largest change of the mass relative to the first."""
    mass = np.asarray(history["mass"])
    assert np.all(np.asarray(history["outflow_mass"]) == 0.0)
    return float(np.abs(mass / mass[0] - 1.0).max())


def fastest(snapshot: Path) -> float:
    """Give the largest velocity of a snapshot in units of the isothermal atmosphere's sound."""
    cells = leaf_cells(snapshot)
    return max(float(np.abs(cells[f"velocity_{x}"]).max()) for x in "xyz") / np.sqrt(1.4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_atmosphere_between_walls_keeps_its_mass(tmp_path: Path, scheme: str) -> None:
    outcome = run_well(tmp_path / "run", atmosphere(0), *SCHEMES[scheme])
    assert drift(outcome.history()) < 1e-13


@pytest.mark.parametrize(("axis", "up"), [(0, True), (1, False), (2, False)])
def test_mass_is_kept_along_every_axis(tmp_path: Path, axis: int, up: bool) -> None:
    outcome = run_well(tmp_path / "run", atmosphere(axis, up=up), "time.end=10")
    assert drift(outcome.history()) < 1e-13


@pytest.mark.parametrize("scheme", ["muscl", "rk2"])
def test_an_atmosphere_stays_at_rest(tmp_path: Path, scheme: str) -> None:
    outcome = run_well(tmp_path / "run", atmosphere(1, 64), *SCHEMES[scheme], "time.end=17")
    assert fastest(outcome.last_snapshot) < 1e-3


def test_mass_is_kept_where_cells_beside_walls_are_refined(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        atmosphere(1),
        "mesh.max_level=1",
        "refine.region_lower=[0,0,0]",
        "refine.region_upper=[0.3,0.7,1]",
        "refine.region_level=1",
        "time.end=10",
    )
    assert outcome.history()["blocks_1"][-1] > 0
    assert drift(outcome.history()) < 1e-13


def test_bits_between_walls_do_not_depend_on_blocks_and_schedule(tmp_path: Path) -> None:
    base = atmosphere(1, 16, 16)
    stir = ("problem.velocity=['0.3*sin(pi*x/2)','0.2*cos(pi*x/2)','0.1']", "time.max_steps=10")
    reference = run_well(tmp_path / "reference", base, *stir)
    many = run_well(tmp_path / "many", base, *stir, "execution.schedule=device", ranks=2)
    assert_same_run(many, reference)


REFINED = ("mesh.max_level=1", "refine.region_lower=[-1,-1,-1]", "refine.region_level=1")


def assert_refined(outcome: Outcome) -> None:
    """Check that level 1 has blocks."""
    assert outcome.history()["blocks_1"][-1] > 0


def pulled_by_sources(axis: int, *, up: bool = False) -> str:
    """Give the atmosphere with its weight in [sources] instead of hydro.acceleration."""
    pull = ["0"] * 3
    pull[axis] = "1" if up else "-1"
    lines = atmosphere(axis, up=up).splitlines()
    kept = [line for line in lines if not line.startswith("acceleration")]
    expressions = ", ".join(f'"{number}"' for number in pull)
    return "\n".join([*kept, "[sources]", f"acceleration = [{expressions}]", ""])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_forces_by_expressions_keep_the_mass_between_walls(tmp_path: Path, scheme: str) -> None:
    outcome = run_well(tmp_path / "run", pulled_by_sources(0), *SCHEMES[scheme], "time.end=5")
    assert drift(outcome.history()) < 1e-13


@pytest.mark.parametrize(("axis", "up"), [(0, True), (1, False), (2, False)])
def test_forces_by_expressions_keep_the_mass_along_every_axis(
    tmp_path: Path, axis: int, up: bool
) -> None:
    corner = ("refine.region_upper=[0.7,0.7,0.7]", "time.end=3")
    outcome = run_well(tmp_path / "run", pulled_by_sources(axis, up=up), *REFINED, *corner)
    assert_refined(outcome)
    assert drift(outcome.history()) < 1e-13


WITHIN_WALLS = """
[problem]
name = "expression"
density = "0.1 + exp(-2*((x - 0.1)^2 + y^2 + (z + 0.2)^2))"
pressure = "0.03 + 0.3*exp(-2*(x^2 + y^2 + z^2))"
[mesh]
base_cells = [16, 16, 16]
block_size = 8
lower = [-1.0, -1.0, -1.0]
upper = [1.0, 1.0, 1.0]
boundary_x = ["reflecting", "reflecting"]
boundary_y = ["reflecting", "reflecting"]
boundary_z = ["reflecting", "reflecting"]
[gravity]
enabled = true
beyond_walls = "vacuum"
[time]
end = 2.0
"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_self_gravity_keeps_the_mass_within_walls(tmp_path: Path, scheme: str) -> None:
    outcome = run_well(tmp_path / "run", WITHIN_WALLS, *SCHEMES[scheme])
    assert drift(outcome.history()) < 1e-13


def test_self_gravity_keeps_the_mass_of_refined_cells_beside_walls(tmp_path: Path) -> None:
    more = ("refine.region_upper=[0,0,1]", "hydro.acceleration=[0.3,-0.2,1]", "time.end=1")
    for solver in ("multigrid", "fmm"):
        options = (f"gravity.solver={solver}", *REFINED, *more)
        outcome = run_well(tmp_path / solver, WITHIN_WALLS, *options)
        assert_refined(outcome)
        assert drift(outcome.history()) < 1e-13


# Gas that is at rest against the stars, in a frame that turns about the axis between two walls.
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


def budget(outcome: Outcome) -> float:
    """Give the largest difference of the mass within, and of what left, from the first mass."""
    history = outcome.history()
    total = np.asarray(history["mass"]) + np.asarray(history["outflow_mass"])
    return float(np.abs(total / total[0] - 1.0).max())


@pytest.mark.parametrize("scheme", ["muscl", "rk3_ppm", "rk3_ppm26"])
def test_a_rotating_frame_keeps_the_mass_between_walls(tmp_path: Path, scheme: str) -> None:
    assert budget(run_well(tmp_path / "run", TURNING, *SCHEMES[scheme])) < 1e-13
    corner = ("refine.region_upper=[0.5,0.5,0.7]", "time.end=1")
    refined = run_well(tmp_path / "refined", TURNING, *SCHEMES[scheme], *REFINED, *corner)
    assert_refined(refined)
    assert budget(refined) < 1e-13


def test_walls_that_turn_are_refused(tmp_path: Path) -> None:
    text = TURNING.replace('boundary_x = ["inflow"', 'boundary_x = ["reflecting"')
    outcome = run(tmp_path / "run", text)
    assert outcome.code == 2
    assert 'mesh.boundary_x = "reflecting"' in outcome.text


EXPANDING = """
[problem]
name = "expression"
density = "1"
pressure = "1e-6"
[mesh]
base_cells = [8, 8, 8]
block_size = 8
boundary_y = ["reflecting", "reflecting"]
[hydro]
gamma = 1.6666666666666667
[gravity]
enabled = true
[cosmology]
enabled = true
"""


def test_walls_of_an_expanding_box_are_refused(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", EXPANDING)
    assert outcome.code == 2
    assert outcome.text.startswith("mesh.boundary_y: cosmology.enabled = true requires")


def test_rayleigh_taylor_keeps_its_mass(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[2] / "examples/rayleigh_taylor.toml").read_text()
    outcome = run_well(tmp_path / "run", text, "time.max_steps=40")
    assert drift(outcome.history()) < 1e-13


SELF_GRAVITY = """
[problem]
name = "expression"
density = "exp(-2*(x^2 + y^2 + z^2))"
pressure = "0.1*exp(-2*(x^2 + y^2 + z^2))"
[mesh]
base_cells = [16, 16, 16]
block_size = 8
lower = [-1.0, -1.0, -1.0]
upper = [1.0, 1.0, 1.0]
boundary_x = ["SIDES", "SIDES"]
boundary_y = ["SIDES", "SIDES"]
boundary_z = ["SIDES", "SIDES"]
[gravity]
enabled = true
[time]
end = 1.0
"""


@pytest.mark.parametrize("scheme", ["muscl", "rk2"])
def test_gas_that_falls_together_draws_none_in(tmp_path: Path, scheme: str) -> None:
    for sides in ("outflow", "diode"):
        text = SELF_GRAVITY.replace("SIDES", sides)
        outcome = run_well(tmp_path / sides, text, *SCHEMES[scheme])
        history = outcome.history()
        mass, left = np.asarray(history["mass"]), np.asarray(history["outflow_mass"])
        assert np.all(np.diff(left) >= 0.0)
        assert mass[-1] <= mass[0] * (1.0 + 1e-13)
        assert mass + left == pytest.approx(mass[0], rel=1e-12)
    assert differing(tmp_path / "outflow/snap_00001.h5", tmp_path / "diode/snap_00001.h5") == []
    drawn = run_well(tmp_path / "open", SELF_GRAVITY.replace("SIDES", "open"), *SCHEMES[scheme])
    assert drawn.history()["mass"][-1] > 1.001 * drawn.history()["mass"][0]


LEAVING = """
[problem]
name = "expression"
velocity = ["0.5 + x", "0", "0"]
density = "1 + 0.3*sin(2*pi*x)"
[mesh]
base_cells = [32, 8, 8]
block_size = 8
boundary_x = ["inflow", "SIDE"]
upper = [1.0, 0.25, 0.25]
[time]
end = 0.3
"""


def test_gas_leaves_through_a_diode_as_through_an_open_side(tmp_path: Path) -> None:
    diode = run_well(tmp_path / "diode", LEAVING.replace("SIDE", "diode"))
    opened = run_well(tmp_path / "open", LEAVING.replace("SIDE", "open"))
    outflow = run_well(tmp_path / "outflow", LEAVING.replace("SIDE", "outflow"))
    assert differing(opened.last_snapshot, outflow.last_snapshot) == []
    one, other = leaf_cells(diode.last_snapshot), leaf_cells(opened.last_snapshot)
    for name in ("density", "velocity_x", "pressure"):
        assert one[name] == pytest.approx(other[name], rel=1e-12)
