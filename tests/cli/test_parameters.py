"""Bad parameters end before the first step, with one message that helps."""

import tomllib
from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from inputs import TINY_BLAST
from refusals import assert_refused
from running import ROOT, differing, octant, run, run_well

# What is added to the parameters as overrides, and what the message must say.
BAD_VALUES = {
    "misspelt_key": (["hydro.gama=1.4"], ["hydro.gama", "hydro.gamma"]),
    "misspelt_problem_key": (["problem.enrgy=1"], ["problem.enrgy", "problem.energy"]),
    "nothing_close": (["hydro.flux=1"], ["hydro.flux; octant params hydro lists"]),
    "magnetic_fields": (
        ["hydro.magnetic=true"],
        ["hydro.magnetic", "no magnetic fields; see Limitations"],
    ),
    "magnetic_solver": (["hydro.riemann=hlld"], ["hydro.riemann", "no magnetic fields"]),
    "wrong_type": (["hydro.gamma=large"], ["hydro.gamma", "number"]),
    "wrong_dimension": (
        ["units.length=1 kpc", "time.end=10 kpc"],
        ["time.end", "is a length; expected a time"],
    ),
    "unit_without_a_unit_system": (
        ["time.end=10 Myr"],
        ["time.end", "set units.length, units.density and units.time"],
    ),
    "two_units_of_three": (
        ["units.density=1e-24", "units.time=1e15"],
        ["units.density and units.time", "units.length is missing"],
    ),
    "unknown_unit": (["time.end=10 Myrs"], ["time.end", 'did you mean "Myr"?']),
    "expression_that_is_no_integer": (["mesh.max_level=7/2"], ["mesh.max_level", "3.5"]),
    "wrong_type_in_a_list": (
        ['refine.gradient=["steep"]'],
        ["refine.gradient", "list of numbers", "steep"],
    ),
    "text_that_would_be_cut": (['output.directory="a\\u0000b"'], ["output.directory", "U+0000"]),
    "nothing_at_all": (["hydro.enabled=false"], ["hydro.enabled", '"sedov"', "no particles"]),
    "nothing_that_attracts": (
        ["hydro.enabled=false", "gravity.enabled=true"],
        ["hydro.enabled", "no particles"],
    ),
    "out_of_range": (["hydro.gamma=0.5"], ["hydro.gamma", "0.5", "> 1"]),
    "unknown_choice": (["hydro.riemann=hlc"], ["hydro.riemann", '"hlc"', "hllc"]),
    "unknown_problem": (["problem.name=sedof"], ["problem.name", "sedof", "sedov"]),
    "malformed_override": (["hydro.gamma"], ["hydro.gamma", "section.key=value"]),
    "cells_that_blocks_do_not_divide": (
        ["mesh.base_cells=[10, 8, 8]"],
        ["mesh.base_cells", "10", "mesh.block_size"],
    ),
    "block_size_that_is_no_power_of_two": (["mesh.block_size=6"], ["mesh.block_size", "6", "8"]),
    "domain_inside_out": (["mesh.upper=[-1, 1, 1]"], ["mesh.upper", "mesh.lower"]),
    "cells_that_are_not_cubes": (["mesh.upper=[2, 1, 1]"], ["cubes", "mesh.base_cells"]),
    "half_a_periodic_boundary": (
        ['mesh.boundary_y=["periodic", "outflow"]'],
        ["mesh.boundary_y", "periodic"],
    ),
    "more_levels_than_keys_can_hold": (["mesh.max_level=40"], ["mesh.max_level"]),
    "blocks_smaller_than_the_stencil": (
        ["mesh.block_size=2", "hydro.reconstruction=ppm"],
        ["mesh.block_size", "hydro.reconstruction"],
    ),
    "opening_criterion_that_is_too_wide": (["gravity.theta=0.6"], ["gravity.theta", "0.6", "0.5"]),
    "multipoles_in_a_periodic_domain": (
        ["gravity.enabled=true", "gravity.solver=fmm"],
        ["gravity.solver", "fmm", "periodic", "outflow"],
    ),
    "infinite_time": (["time.end=inf"], ["time.end", "inf"]),
    "time_that_is_no_number": (["time.end=nan"], ["time.end", "nan"]),
    "infinite_energy": (["problem.energy=inf"], ["problem.energy", "inf"]),
    "key_of_endless_depth": (["a" + ".a" * 20_000 + "=1"], ["20000 dots"]),
    "centre_outside_the_domain": (["problem.centre=[0, 2, 0]"], ["problem.centre", "2"]),
    "limit_of_blocks_where_nobody_plans": (
        ["balance.most_blocks=5"],
        ["balance.most_blocks", "contiguous", "node"],
    ),
    "unknown_field_to_refine_by": (
        ["mesh.max_level=1", 'refine.gradient_fields=["densty"]', "refine.gradient=[0.1]"],
        ["densty", "density"],
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str, ranks: int) -> None:
    overrides, fragments = BAD_VALUES[case]
    outcome = run(tmp_path / "run", TINY_BLAST, *overrides, ranks=ranks)
    assert_refused(outcome, *fragments)
    assert outcome.snapshots == []


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("[hydro]\ngama = 1.4\n", ["run.toml:2", "hydro.gama", "hydro.gamma"]),
        ("\n\n[hydor]\n", ["run.toml:3", "hydor", "hydro"]),
        ("[hydro]\ngamma = \n", ["run.toml:2", "TOML"]),
        ("[hydro]\ngamma = 5/3\n", ["run.toml:2", 'require quotation marks: gamma = "5/3"']),
        ("[mhd]\n", ["run.toml:1", "mhd", "no magnetic fields; see Limitations"]),
    ],
    ids=["misspelt_key", "misspelt_section", "not_toml", "no_quotation_marks", "not_there"],
)
def test_a_message_names_the_file_and_line(
    tmp_path: Path, text: str, fragments: list[str], ranks: int
) -> None:
    outcome = run(tmp_path / "run", text + TINY_BLAST, ranks=ranks)
    assert_refused(outcome, *fragments)


def test_parameters_of_disabled_sections_are_named(tmp_path: Path) -> None:
    """Those with their default values, which run.toml contains, are not."""
    text = '[problem]\nname = "sedov"\n[floor]\ntemperature = 1e3\n[cooling]\ntable = "no.h5"\n'
    overrides = ("gravity.theta=0.35", "radiation.enabled=false", "time.max_steps=0")
    outcome = run_well(tmp_path / "run", text, *overrides)
    for parameter in ("cooling.table", "floor.temperature", "gravity.theta"):
        assert outcome.text.count(parameter) == 1, outcome.text
    again = run_well(tmp_path / "again", (outcome.directory / "run.toml").read_text())
    assert again.text.count("without effect") == 1
    plain = run_well(tmp_path / "plain", '[problem]\nname = "sedov"\n', "time.max_steps=0")
    text = (plain.directory / "run.toml").read_text()
    assert "without effect" not in run_well(tmp_path / "whole", text).text


def test_a_flow_has_no_unit_system_and_no_models(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", SMALL_CHANNEL, "time.end=10 s")
    assert_refused(outcome, "time.end", "a DNS has no physical units")
    outcome = run(tmp_path / "run", SMALL_CHANNEL, "dns.les=smagorinsky")
    assert_refused(outcome, "dns.les; Octant has no large-eddy or RANS turbulence models")
    assert "model = " not in outcome.text


# In units of kpc, Myr and hydrogen atoms per cubic centimetre.
WITH_UNITS = """
[units]
length = "1 kpc"
time = "1 Myr"
density = "1 m_H/cm^3"
[hydro]
gamma = "5/3"
[problem]
name = "expression"
density = "r < r0 ? 2 : 1"
pressure = "p0"
[problem.constants]
r0 = "300 pc"
p0 = "1e4 K * k_B * 1 cm^-3"
[mesh]
base_cells = ["2^3", 8, 8]
block_size = 4
lower = ["-2 kpc", "-2 kpc", "-2 kpc"]
upper = ["2 kpc", "2 kpc", "2 kpc"]
[time]
end = "0.1 Gyr"
max_steps = 0
[output]
snapshot_interval = "10 Myr"
[run]
walltime = "2 hour"
"""


def test_quantities_become_numbers_in_the_units_of_the_run(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", WITH_UNITS)
    resolved = tomllib.loads((outcome.directory / "run.toml").read_text())
    assert resolved["hydro"]["gamma"] == 5 / 3
    assert resolved["mesh"]["base_cells"] == [8, 8, 8]
    assert resolved["mesh"]["lower"] == [-2.0, -2.0, -2.0]
    assert resolved["time"]["end"] == 100.0
    assert resolved["output"]["snapshot_interval"] == 10.0
    assert resolved["run"]["walltime"] == 7200.0
    constants = dict(text.split(" = ") for text in resolved["problem"]["constants"])
    assert float(constants["r0"]) == pytest.approx(0.3, rel=1e-15)
    velocity = 3.0856775814913673e21 / 3.15576e13
    pressure = 1e4 * 1.380649e-16 / (1.6735328e-24 * velocity**2)
    assert float(constants["p0"]) == pytest.approx(pressure, rel=1e-14)
    # The resolved parameters are those of the same run.
    (tmp_path / "resolved").mkdir()
    again = run_well(tmp_path / "resolved/run", (outcome.directory / "run.toml").read_text())
    assert differing(again.last_snapshot, outcome.last_snapshot) == []


def test_other_units_of_the_run_change_no_quantity(tmp_path: Path) -> None:
    overrides = ["units.length=1 pc", "units.time=1 yr"]
    outcome = run_well(tmp_path / "run", WITH_UNITS, *overrides)
    resolved = tomllib.loads((outcome.directory / "run.toml").read_text())
    assert resolved["mesh"]["upper"] == [2000.0] * 3
    assert resolved["time"]["end"] == 1e8


def test_a_box_is_given_with_the_hubble_parameter(tmp_path: Path) -> None:
    file = ROOT / "examples/cosmology.toml"
    words = [
        ("cosmology.box=20 Mpc", "box = ", 20 * 0.7),
        ("cosmology.box=20 Mpc/h", "box = ", 20.0),
        ("cosmology.h=70 km/s/Mpc", "h = ", 0.7),
    ]
    for setting, key, value in words:
        overrides = ["--set", "cosmology.h=0.7", "--set", setting, "--set", "time.max_steps=0"]
        small = ["--set", "mesh.base_cells=[16,16,16]", "--set", "mesh.max_level=0"]
        where = ["--output", tmp_path / "run", "--overwrite"]
        outcome = octant("run", file, *overrides, *small, *where)
        assert outcome.code == 0, outcome.text
        resolved = tomllib.loads((tmp_path / "run/run.toml").read_text())
        assert resolved["cosmology"][key.split()[0]] == pytest.approx(value, rel=1e-15)
    outcome = octant("check", file, "--set", "refine.region_lower=['1 Mpc', 0, 0]")
    assert_refused(outcome, "refine.region_lower", "change with the scale factor")


def test_a_missing_file_is_named(tmp_path: Path, ranks: int) -> None:
    outcome = octant("run", tmp_path / "nothing.toml", ranks=ranks)
    assert_refused(outcome, "nothing.toml", "No such file")


def test_what_is_no_parameter_file_is_named(tmp_path: Path, ranks: int) -> None:
    empty = tmp_path / "empty.toml"
    empty.touch()
    assert_refused(octant("run", empty, ranks=ranks), "empty.toml", "empty")
    assert_refused(octant("run", tmp_path, ranks=ranks), str(tmp_path), "directory")
    deep = tmp_path / "deep.toml"
    deep.write_text("a" + ".a" * 100_000 + " = 1\n")
    assert_refused(octant("run", deep, ranks=ranks), "deep.toml:1", "100000 dots")


@pytest.mark.parametrize("threads", [513, 1000])
def test_more_threads_than_possible_are_refused(tmp_path: Path, threads: int, ranks: int) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, ranks=ranks, threads=threads)
    assert_refused(outcome, "OMP_NUM_THREADS", str(threads), "512")


def test_a_file_without_a_problem_is_refused(tmp_path: Path, ranks: int) -> None:
    assert_refused(run(tmp_path / "run", "[time]\nend = 1.0\n", ranks=ranks), "problem.name")


def test_check_refuses_what_run_refuses(tmp_path: Path) -> None:
    file = tmp_path / "blast.toml"
    file.write_text(TINY_BLAST)
    assert octant("check", file).code == 0
    assert_refused(octant("check", file, "--set", "hydro.gama=1"), "hydro.gama", "hydro.gamma")


@pytest.mark.parametrize("option", ["--restart", "--output"])
def test_an_option_that_is_left_empty_is_refused(tmp_path: Path, option: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text(TINY_BLAST)
    where = f"output.directory={tmp_path / 'run'}"
    assert_refused(octant("run", file, "--set", where, option, ""), option, "the name is missing")


def test_the_file_may_follow_an_override(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(TINY_BLAST)
    outcome = octant("check", "--set", "time.cfl=0.5", "--set", "time.max_steps=1", file)
    assert outcome.code == 0, outcome.text


@pytest.mark.parametrize("section", ["scalar", "statistics", "grid", "hydro", "output", "problem"])
def test_every_section_has_its_table(section: str) -> None:
    outcome = octant("params", section)
    assert outcome.code == 0, outcome.text
    assert f"`{section}." in outcome.text
    both = section in ("output", "problem")
    assert ("# model" in outcome.text) == both


def test_an_unknown_section_is_refused_with_those_of_both_models() -> None:
    assert_refused(octant("params", "hidro"), "[hidro]; did you mean hydro", "statistics", "mesh")
    assert_refused(octant("params", "mhd"), "no magnetic fields; see Limitations")


@pytest.mark.parametrize("word", ["restart", "resume", "continue"])
def test_a_command_that_goes_on_leads_to_the_option(word: str, ranks: int) -> None:
    outcome = octant(word, "run.toml", ranks=ranks)
    assert_refused(outcome, f"no command {word}", "--restart latest")


def test_an_unknown_command_is_refused(ranks: int) -> None:
    assert octant("rum", ranks=ranks).code == 2
