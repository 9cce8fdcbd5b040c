"""Bad parameters end before the first step, with one message that helps."""

from pathlib import Path

import pytest

from inputs import TINY_BLAST
from refusals import assert_refused
from running import octant, run

# What is added to the parameters as overrides, and what the message must say.
BAD_VALUES = {
    "misspelt_key": (["hydro.gama=1.4"], ["hydro.gama", "hydro.gamma"]),
    "misspelt_problem_key": (["problem.enrgy=1"], ["problem.enrgy", "problem.energy"]),
    "wrong_type": (["hydro.gamma=large"], ["hydro.gamma", "number"]),
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
    ],
    ids=["misspelt_key", "misspelt_section", "not_toml"],
)
def test_a_message_names_the_file_and_line(
    tmp_path: Path, text: str, fragments: list[str], ranks: int
) -> None:
    outcome = run(tmp_path / "run", text + TINY_BLAST, ranks=ranks)
    assert_refused(outcome, *fragments)


def test_a_missing_file_is_named(tmp_path: Path, ranks: int) -> None:
    outcome = octant("run", tmp_path / "nothing.toml", ranks=ranks)
    assert_refused(outcome, "nothing.toml", "No such file")


def test_what_is_no_parameter_file_is_named(tmp_path: Path, ranks: int) -> None:
    empty = tmp_path / "empty.toml"
    empty.touch()
    assert_refused(octant("run", empty, ranks=ranks), "empty.toml", "empty")
    assert_refused(octant("run", tmp_path, ranks=ranks), str(tmp_path), "folder")
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
    assert_refused(octant("run", file, "--set", where, option, ""), option, "nothing is given")


def test_the_file_may_follow_an_override(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(TINY_BLAST)
    outcome = octant("check", "--set", "time.cfl=0.5", "--set", "time.max_steps=1", file)
    assert outcome.code == 0, outcome.text


def test_an_unknown_command_is_refused(ranks: int) -> None:
    assert octant("rum", ranks=ranks).code == 2
