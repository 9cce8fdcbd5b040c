"""Problems that a parameter file writes as expressions, against the same ones in C++.

Also what no compiled problem has: means over sub-samples, temperatures, refusals with a caret.
"""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from octools.expected.findings import Number
from octools.expected.gas import double_mach, two_blasts

from inputs import SMALL
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_run,
    differing,
    leaf_cells,
    run,
    run_well,
    uniform_grid,
)

# The first steps of examples, in a smaller domain, and what says the same in expressions.
AGAIN = {
    "sod": (
        ("mesh.base_cells=[64,8,8]", "mesh.upper=[1.0,0.125,0.125]"),
        """
        density = "x < 0.5 ? 1 : 0.125"
        pressure = "x < 0.5 ? 1 : 0.1"
        """,
    ),
    "kelvin_helmholtz": (
        ("mesh.base_cells=[32,32,4]", "mesh.upper=[1.0,1.0,0.125]"),
        """
        density = "1 + inside"
        velocity = ["0.5 - inside", "0.01*sin(2*pi*2*x)", "0"]
        pressure = "2.5"
        [problem.terms]
        outward = "abs(y - 0.5) - 0.25"
        half = "0.5*exp(-abs(outward)/0.025)"
        inside = "outward > 0 ? half : 1 - half"
        """,
    ),
    "gresho": (
        ("mesh.base_cells=[32,32,8]", "mesh.upper=[1.0,1.0,0.25]"),
        """
        density = "1"
        velocity = ["0 - spin*dy/s", "0 + spin*dx/s", "0"]
        pressure = "1/(gamma*mach*mach) - 0.5 + rise"
        [problem.constants]
        mach = 0.36
        [problem.terms]
        dx = "x - 0.5"
        dy = "y - 0.5"
        s = "sqrt(dx*dx + dy*dy)"
        spin = "s < 0.2 ? 5*s : s < 0.4 ? 2 - 5*s : 0"
        outer = "12.5*s*s + 4*(1 - 5*s + log(5*s))"
        rise = "s < 0.2 ? 12.5*s*s : s < 0.4 ? outer : 4*log(2) - 2"
        """,
    ),
    # The 160 cells of the finest level whose centres are within 3.5 cells of the middle; samples
    # give coarser cells their share.
    "sedov": (
        ("mesh.base_cells=[16,16,16]",),
        """
        density = "1"
        pressure = "1e-5 + (gamma - 1)/(160*cell*cell*cell)*(i*i + j*j + k*k <= 3.5*3.5)"
        samples = 4
        [problem.constants]
        cell = "1/64"
        [problem.terms]
        i = "rint(x/cell - 0.5) - 31.5"
        j = "rint(y/cell - 0.5) - 31.5"
        k = "rint(z/cell - 0.5) - 31.5"
        """,
    ),
}
# Sub-samples are added up and divided by their number.
SAME_TO_ROUNDING = ("sedov",)


def written_as_expressions(example: str) -> tuple[str, str]:
    """Give the text of an example, and the same with another section [problem]."""
    text = (ROOT / "examples" / f"{example}.toml").read_text()
    before, after = text.split("[problem]\n", 1)
    rest = after[after.index("\n[") :]
    return text, f'{before}[problem]\nname = "expression"\n{AGAIN[example][1]}\n{rest}'


@pytest.mark.parametrize("example", AGAIN)
def test_a_compiled_problem_is_met(tmp_path: Path, example: str) -> None:
    compiled, expressions = written_as_expressions(example)
    short = (*AGAIN[example][0], "time.max_steps=3")
    one = run_well(tmp_path / "compiled", compiled, *short)
    other = run_well(tmp_path / "expressions", expressions, *short)
    levels = 1 + tomllib.loads(compiled)["mesh"]["max_level"]
    for snapshot, reference in zip(other.snapshots, one.snapshots, strict=True):
        if example not in SAME_TO_ROUNDING:
            assert differing(snapshot, reference) == []
            continue
        found, expected = leaf_cells(snapshot), leaf_cells(reference)
        assert len(np.unique(expected.size)) == levels
        for field, values in expected.values.items():
            assert found[field] == pytest.approx(values, rel=1e-12, abs=1e-12)


# Sides of which no cell's is a power of two, so that sums of positions would round.
WAVES = """
[problem]
name = "expression"
density = "1 + 0.3*sin(7*x + 3*cos(5*y)) * exp(-r)"
velocity = ["-y", "x", "0.1*z^3"]
pressure = "ripple > 0 ? 1 + ripple : 1"
scalars = ["r < 0.7", "ripple^2"]
centre = [0.1, 0.2, 0.3]
[problem.terms]
ripple = "0.2*sin(11*x)*sin(9*y)*sin(5*z)"

[mesh]
base_cells = [32, 32, 16]
block_size = 8
lower = [-0.7, -0.7, 0.1]
upper = [0.7, 0.7, 0.8]

[hydro]
scalars = 2

[time]
max_steps = 2
"""
REFINED = ("mesh.max_level=1", 'refine.gradient_fields=["density"]', "refine.gradient=[0.08]")


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_several_ranks(tmp_path: Path, ranks: int, samples: int) -> None:
    how = (*REFINED, f"problem.samples={samples}")
    one = run_well(tmp_path / "one", WAVES, *how)
    levels = len(np.unique(leaf_cells(one.last_snapshot).size))
    assert levels == 2
    other = run_well(tmp_path / "other", WAVES, *how, ranks=ranks, threads=2)
    assert differing(other.last_snapshot, one.last_snapshot) == []


@pytest.mark.parametrize("block_size", [4, 16])
def test_the_same_bits_in_blocks_of_another_size(tmp_path: Path, block_size: int) -> None:
    one = run_well(tmp_path / "one", WAVES)
    other = run_well(tmp_path / "other", WAVES, f"mesh.block_size={block_size}")
    for snapshot, reference in zip(other.snapshots, one.snapshots, strict=True):
        for field in ("density", "velocity_x", "velocity_z", "pressure", "scalar_0", "scalar_1"):
            assert np.array_equal(uniform_grid(snapshot, field), uniform_grid(reference, field))


def test_every_variable_stands_for_what_it_says(tmp_path: Path) -> None:
    found = leaf_cells(run_well(tmp_path / "run", WAVES, "time.max_steps=0").last_snapshot)
    x, y, z = found.position.T
    r = np.sqrt((x - 0.1) ** 2 + (y - 0.2) ** 2 + (z - 0.3) ** 2)
    ripple = 0.2 * np.sin(11 * x) * np.sin(9 * y) * np.sin(5 * z)
    expected = {
        "density": 1 + 0.3 * np.sin(7 * x + 3 * np.cos(5 * y)) * np.exp(-r),
        "velocity_x": -y,
        "velocity_y": x,
        "velocity_z": 0.1 * z**3,
        "pressure": 1 + np.maximum(ripple, 0.0),
        "scalar_0": np.where(r < 0.7, 1.0, 0.0),
        "scalar_1": ripple**2,
    }
    for field, values in expected.items():
        assert found[field] == pytest.approx(values, rel=1e-13, abs=1e-13), field


def test_the_resolved_parameters_run_again_as_they_did(tmp_path: Path) -> None:
    one = run_well(tmp_path / "one", WAVES, "problem.constants={a=2, b='a/3'}")
    text = (one.directory / "run.toml").read_text()
    assert 'constants = ["a = 2.0", "b = a/3"]' in text
    other = run_well(tmp_path / "other", text)
    assert differing(other.last_snapshot, one.last_snapshot) == []


def test_a_cell_gets_the_mean_of_what_is_conserved(tmp_path: Path) -> None:
    # The plane x = 0.4375 halves a cell of 1/8: gas of density 1 at rest, of density 3 beyond it.
    one = run_well(
        tmp_path / "run",
        SMALL,
        "problem.density='x < 0.4375 ? 1 : 3'",
        "problem.velocity=['x < 0.4375 ? 0 : 4', '0', '0']",
        "problem.pressure='x < 0.4375 ? 2 : 6'",
        "problem.scalars=['x < 0.4375']",
        "problem.samples=4",
    )
    cells = leaf_cells(one.last_snapshot)
    mixed = np.abs(cells.position[:, 0] - 0.4375) < 0.01
    assert mixed.sum() == 64
    velocity = 3 * 4 / (1 + 3)
    energy = 0.5 * (2 + 6) / 0.5 + 0.5 * 0.5 * 3 * 4**2
    expected = {
        "density": 2.0,
        "velocity_x": velocity,
        "pressure": 0.5 * (energy - 0.5 * 2 * velocity**2),
        "scalar_0": 1 / (1 + 3),
    }
    for field, value in expected.items():
        assert cells[field][mixed] == pytest.approx(value, rel=1e-14), field
    assert set(cells["density"][~mixed]) == {1.0, 3.0}


@pytest.mark.parametrize("cells", [8, 16])
@pytest.mark.parametrize("levels", [0, 1])
def test_a_point_has_the_same_mass_at_all_resolutions(
    tmp_path: Path, cells: int, levels: int
) -> None:
    near = (
        f"max(0, 1 - abs({axis} - {at}) / cell_size)"
        for axis, at in zip("xyz", (0.3, 0.5, 0.61), strict=True)
    )
    one = run_well(
        tmp_path / "run",
        SMALL,
        f"problem.density='1 + 2 * {' * '.join(near)} / cell_size^3'",
        f"mesh.base_cells=[{cells},{cells},{cells}]",
        f"mesh.max_level={levels}",
        "refine.gradient_fields=['density']",
        "refine.gradient=[0.5]",
    )
    found = leaf_cells(one.last_snapshot)
    assert found.size.min() == 1 / (cells * 2**levels)
    assert np.sum(found["density"] * found.volume) == pytest.approx(1 + 2, rel=1e-12)


def test_cell_size_is_that_of_the_cells_beyond_an_inflow(tmp_path: Path) -> None:
    one = run_well(
        tmp_path / "run",
        SMALL,
        "mesh.boundary_x=['inflow','outflow']",
        "mesh.max_level=1",
        "refine.where='y < 0.5 ? 1 : 0'",
        "problem.density='1 + 2*cell_size'",
        "problem.velocity=['3', '0', '0']",
        "time.max_steps=3",
    )
    found = leaf_cells(one.last_snapshot)
    inside = np.abs(found.position[:, 1] - 0.25) < 0.05  # far from cells of the other size
    assert found["density"][inside] == pytest.approx(1 + 2 / 16, rel=1e-12)


def test_a_temperature_gives_the_pressure(tmp_path: Path) -> None:
    gas = ("problem.density='1 + x'", "problem.temperature='1e4*(2 - y)'")
    plain = leaf_cells(run_well(tmp_path / "plain", SMALL, *gas).last_snapshot)
    share = plain["pressure"] / plain["density"]
    assert share == pytest.approx(1e4 * (2 - plain.position[:, 1]), rel=1e-14)
    units = ("units.length=3.0857e21", "units.time=3.15576e13", "units.density=1e-24")
    found = leaf_cells(run_well(tmp_path / "units", SMALL, *gas, *units).last_snapshot)
    kelvin = (3.0857e21 / 3.15576e13) ** 2 * 1.67262192369e-24 / 1.380649e-16
    temperature = found["pressure"] / found["density"] * kelvin
    assert temperature == pytest.approx(1e4 * (2 - found.position[:, 1]), rel=1e-13)


BAD = {
    "unknown_name": (
        "problem.density='1 + 9*(radius < 0.15)'",
        ['problem.density: unknown name "radius"', "1 + 9*(radius < 0.15)", 7],
    ),
    "unclosed": (
        "problem.pressure='exp(-(x*x)'",
        ["problem.pressure: unbalanced parenthesis", "exp(-(x*x)", 10],
    ),
    "one_component": (
        "problem.velocity=['-y', 'x x', '0']",
        ['problem.velocity[1]: "x" is not valid here', "x x", 2],
    ),
    "assignment": (
        "problem.density='(x = 1)'",
        ['problem.density: assignments with "=" are not supported', "(x = 1)", 3],
    ),
    "constant_before_its_own": (
        "problem.constants={a='2*b', b=1}",
        ['problem.constants.a: unknown name "b"', "2*b", 2],
    ),
    "term_before_its_own": (
        "problem.terms={a='b + 1', b='x'}",
        ['problem.terms.a: unknown name "b"', "b + 1", 0],
    ),
}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", BAD)
def test_a_fault_is_shown_with_a_caret(tmp_path: Path, case: str, ranks: int) -> None:
    override, (message, expression, column) = BAD[case]
    outcome = run(tmp_path / "run", SMALL, override, ranks=ranks)
    assert outcome.code == 2
    assert not outcome.directory.exists()
    lines = outcome.text.splitlines()
    place = next(n for n, line in enumerate(lines) if message in line)
    assert lines[place + 1] == f"  {expression}"
    assert lines[place + 2] == " " * (2 + column) + "^"
    assert outcome.text.count(message) == 1


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("problem.density='x - 0.5'", 'problem.density = "x - 0.5" is -0.4375 at x = 0.0625'),
        # On the last rank alone.
        ("problem.pressure='0.9 - z'", 'problem.pressure = "0.9 - z" is -0.037'),
        (
            "problem.velocity=['0', '1/(x - 0.0625)', '0']",
            'problem.velocity[1] = "1/(x - 0.0625)" is',
        ),
    ],
)
def test_what_is_no_gas_is_refused_with_its_place(
    tmp_path: Path, override: str, message: str, ranks: int
) -> None:
    outcome = run(tmp_path / "run", SMALL, override, ranks=ranks)
    assert outcome.code == 2, outcome.text
    assert outcome.text.count(message) == 1, outcome.text
    assert outcome.snapshots == []


WITH_METALS = (
    "cooling.enabled=true",
    "cooling.method=original",
    "cooling.initial_metallicity=0.5",
    "units.length=3.0857e21",
    "units.time=3.15576e13",
    "units.density=1e-24",
)


@pytest.mark.parametrize("samples", [1, 4])
def test_metals_are_given_by_an_expression(tmp_path: Path, samples: int) -> None:
    gas = ("problem.density='x < 0.4375 ? 1 : 3'", f"problem.samples={samples}")
    # Half of the cell at x = 0.4375 has metals, of a quarter of its mass.
    metals = "problem.species={metals='x < 0.4375 ? 0.02 : 0'}"
    outcome = run_well(tmp_path / "run", SMALL, *gas, *WITH_METALS, metals)
    cells = leaf_cells(outcome.last_snapshot)
    mixed = np.abs(cells.position[:, 0] - 0.4375) < 0.01
    below = cells.position[:, 0] < 0.4
    assert cells["metals"][below] == pytest.approx(0.02, rel=1e-14)
    assert np.all(cells["metals"][~mixed & ~below] == 0.0)
    assert cells["metals"][mixed] == pytest.approx(0.0 if samples == 1 else 0.005, rel=1e-14)
    # Without the expression, all gas has what the process says.
    plain = leaf_cells(run_well(tmp_path / "plain", SMALL, *gas, *WITH_METALS).last_snapshot)
    assert plain["metals"] == pytest.approx(0.5 * 0.02, rel=1e-14)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((), "metals are added by [cooling]"),
        ((*WITH_METALS, "problem.species={dust='1'}"), 'variable "dust"; expected metals'),
        ((*WITH_METALS, "problem.species=['metals = 1', 'metals = 0']"), "given twice"),
    ],
)
def test_species_that_nothing_brings_are_refused(
    tmp_path: Path, settings: tuple[str, ...], message: str
) -> None:
    outcome = run(tmp_path / "run", SMALL, "problem.species={metals='1'}", *settings)
    assert outcome.code == 2
    assert message in outcome.text


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["problem.temperature='1'", "problem.pressure='1'"], "expected exactly one of the two"),
        (["problem.scalars=['1', '2']"], "there are 1 scalars"),
        (["problem.constants={x=1}"], 'problem.constants.x: the name "x" is already in use'),
        (
            ["problem.terms={sin='x'}"],
            'problem.terms.sin: the name "sin" is already in use by a function',
        ),
        (["problem.constants={b='1 + x'}"], "move it to problem.terms"),
        (["problem.constants=['a']"], 'problem.constants: "a": expected "name = expression"'),
        (["problem.velocity=['1']"], "expected 3 expressions, found 1"),
        (["problem.density=true"], "expected a string, found true"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, overrides: list[str], message: str) -> None:
    outcome = run(tmp_path / "run", SMALL, *overrides)
    assert outcome.code == 2
    assert message in outcome.text


# A wave that the gas carries in at constant pressure: the exact solution is the wave itself,
# beyond the boundaries too.
CARRIED = """
[problem]
name = "expression"
density = "1 + 0.3*sin(2*pi*(x - 0.3*y - t))"
velocity = ["1", "0", "0"]
[mesh]
base_cells = [32, 16, 8]
block_size = 4
upper = [2.0, 1.0, 0.5]
boundary_x = ["inflow", "inflow"]
boundary_y = ["inflow", "inflow"]
[hydro]
gamma = 1.4
[time]
end = 0.5
"""
CARRIED_REFINED = ("mesh.max_level=1", "refine.where='x < 1.0 + t'", "refine.interval=3")


def carried_error(outcome: Outcome) -> float:
    cells = leaf_cells(outcome.last_snapshot)
    x, y, _ = cells.position.T
    exact = 1 + 0.3 * np.sin(2 * np.pi * (x - 0.3 * y - cells.time))
    return float(np.average(np.abs(cells["density"] - exact), weights=cells.volume))


def test_what_flows_in_follows_place_and_time(tmp_path: Path) -> None:
    coarse = carried_error(run_well(tmp_path / "coarse", CARRIED))
    fine = carried_error(
        run_well(
            tmp_path / "fine",
            CARRIED,
            "mesh.base_cells=[64,32,4]",
            "mesh.upper=[2.0,1.0,0.125]",
        )
    )
    assert coarse < 0.02
    assert fine < coarse / 2.5, "of second order but for extrema that the limiter clips"


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk3"])
def test_moving_inflow_has_the_same_bits_on_ranks_and_after_a_restart(
    tmp_path: Path, scheme: str
) -> None:
    how = (*CARRIED_REFINED, f"hydro.scheme={scheme}", "time.max_steps=12", "time.end=9")
    one = run_well(tmp_path / "one", CARRIED, *how, *CHECKPOINT_EVERY_STEP)
    assert carried_error(one) < 0.01
    other = run_well(tmp_path / "other", CARRIED, *how, ranks=3, threads=2)
    assert_same_run(other, one)
    assert_goes_on(tmp_path / "again", one, 6, *how, ranks=2)


def test_moving_inflow_has_the_same_bits_in_blocks_of_another_size(tmp_path: Path) -> None:
    how = ("mesh.lower=[-0.7,-0.7,0.1]", "mesh.upper=[0.7,0.0,0.45]", "time.max_steps=3")
    one = run_well(tmp_path / "one", CARRIED, *how)
    other = run_well(tmp_path / "other", CARRIED, *how, "mesh.block_size=8")
    for field in ("density", "velocity_x", "pressure"):
        found, expected = (uniform_grid(run.last_snapshot, field) for run in (other, one))
        assert np.array_equal(found, expected), field


def test_what_flows_in_must_be_gas(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", CARRIED, "problem.density='1 - 3*t*(x < 0)'", ranks=2)
    assert outcome.code != 0
    assert 'problem.density = "1 - 3*t*(x < 0)" is -' in outcome.text


def test_a_double_mach_reflection_meets_its_shocks(tmp_path: Path) -> None:
    text = (ROOT / "examples/double_mach.toml").read_text()
    coarse = ("mesh.base_cells=[144,48,4]", "mesh.upper=[3.0,1.0,0.08333333333333333]")
    outcome = run_well(tmp_path / "double_mach", text, *coarse)
    for number in double_mach(outcome.directory):
        assert number.passes, str(number)


def test_two_blasts_meet_the_literature(tmp_path: Path) -> None:
    text = (ROOT / "examples/two_blasts.toml").read_text()
    outcome = run_well(tmp_path / "two_blasts", text)
    numbers = [item for item in two_blasts(outcome.directory) if isinstance(item, Number)]
    assert numbers
    for number in numbers:
        assert number.passes, str(number)
    mass = outcome.history()["mass"]
    assert mass == pytest.approx(mass[0], rel=1e-12)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("species={ionized_hydrogen='2*x'}", ("problem.species.ionized_hydrogen", "fraction")),
        ("species={ionized_hydrogen='-x'}", ("problem.species.ionized_hydrogen", "fraction")),
        ("fields={photon_density_0='x - 2'}", ("problem.fields.photon_density_0", "at least 0")),
        ("density='x - 2'", ("problem.density", "a positive number")),
    ],
)
def test_values_out_of_bounds_are_refused(
    tmp_path: Path, setting: str, message: tuple[str, ...]
) -> None:
    units = [f"units.{unit}=1e15" for unit in ("length", "time")]
    ions = ("ionization.enabled=true", "ionization.edges=[13.6]", "units.density=1e-24", *units)
    outcome = run(tmp_path / "run", SMALL, *ions, f"problem.{setting}", ranks=2)
    assert_refused(outcome, *message, "x = ")


MOVING = (
    "mesh.max_level=2",
    "refine.where='abs(x - 0.2 - t) < 0.15 && level < 1'",
    "refine.buffer=0",
    "problem.density='1 + 0.1*sin(2*pi*x)'",
    "time.end=0.4",
    "time.max_steps=1000",
)


@pytest.mark.parametrize("ranks", [1, 3])
def test_refine_where_follows_an_expression_of_place_time_and_level(
    tmp_path: Path, ranks: int
) -> None:
    outcome = run_well(tmp_path / "run", SMALL, *MOVING, ranks=ranks)
    for snapshot, centre in ((outcome.snapshots[0], 0.2), (outcome.last_snapshot, 0.6)):
        cells = leaf_cells(snapshot)
        away = np.abs(cells.position[:, 0] - centre)
        assert set(cells.size[away < 0.1]) == {1 / 16}
        assert set(cells.size[away > 0.4]) == {1 / 8}


def test_refine_where_is_shown_with_a_caret_if_it_is_no_expression(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", SMALL, "refine.where='x < 0.5 & y'")
    assert outcome.code == 2
    assert "refine.where: " in outcome.text
    assert "  x < 0.5 & y\n          ^" in outcome.text
