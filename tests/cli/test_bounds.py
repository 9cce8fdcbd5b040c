"""Inputs at the bounds of what numbers and parsers hold: answered soon, or refused by name."""

import json
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from flows import SMALL_CHANNEL
from inputs import TINY_BLAST
from refusals import assert_refused
from running import Outcome, octant, octant_command, octant_environment, run, run_well

ONE_STEP = ("time.max_steps=1",)

# --- lengths -------------------------------------------------------------------------------------


def domain(lower: float, upper: float) -> tuple[str, str]:
    return f"mesh.lower={[lower] * 3}", f"mesh.upper={[upper] * 3}"


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0.0, 1e300), (-1e200, 0.0), (0.0, 1e-300), (0.0, 1e60), (1e16, 1e16 + 8), (-1e12, -1e12 + 8)],
)
def test_domains_that_numbers_do_not_resolve_are_refused(
    tmp_path: Path, lower: float, upper: float
) -> None:
    outcome = run(tmp_path / "run", TINY_BLAST, *ONE_STEP, *domain(lower, upper))
    words = (
        ("lower", "floating-point numbers have a spacing")
        if abs(lower) > upper - lower
        else ("lengths",)
    )
    assert_refused(outcome, "mesh.", *words)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 3e27), (1e6, 1e6 + 8), (-1e-20, 1e-20)])
def test_domains_of_all_usual_units_are_accepted(
    tmp_path: Path, lower: float, upper: float
) -> None:
    blast = (
        f"problem.energy={(upper - lower) ** 3}",
        f"problem.centre={[(lower + upper) / 2] * 3}",
    )
    outcome = run_well(tmp_path / "run", TINY_BLAST, *ONE_STEP, *domain(lower, upper), *blast)
    mass = outcome.history()["mass"]
    assert mass == pytest.approx((upper - lower) ** 3, rel=1e-9)


SIZES = {
    "tiny": ("grid.size=[1e-200, 1e-200, 1e-200]",),
    "huge": ("grid.size=[1e200, 1e200, 1e200]",),
    "long": ("grid.size=[1e10, 1.0, 1.0]",),
    "flat": ("grid.size=[1.0, 1.0, 1e-12]",),
    "thin": ("grid.size=[1.0, 1e-100, 1.0]",),
    "lower wall": ("grid.stretching=tanh_lower", "grid.stretching_factor=20"),
    "upper wall": ("grid.stretching=tanh_upper", "grid.stretching_factor=20"),
    "walls": ("grid.cells=[8, 8, 1024]", "grid.stretching=tanh", "grid.stretching_factor=20"),
}


@pytest.mark.parametrize("what", SIZES)
def test_grids_that_numbers_do_not_resolve_are_refused(tmp_path: Path, what: str) -> None:
    for outcome in (
        run(tmp_path / "run", SMALL_CHANNEL, *ONE_STEP, *SIZES[what]),
        octant("check", tmp_path / "run.toml", *(w for s in SIZES[what] for w in ("--set", s))),
    ):
        assert_refused(outcome, "grid.size", "expected")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("size", ["[1e5, 1.0, 1.0]", "[1e-20, 1e-20, 1e-20]", "[1.0, 1.0, 1e5]"])
def test_grids_of_all_usual_units_are_accepted(tmp_path: Path, size: str) -> None:
    settings = (f"grid.size={size}", "grid.stretching=uniform", "time.step=1e-60")
    outcome = run_well(tmp_path / "run", SMALL_CHANNEL, *ONE_STEP, *settings, "time.end=1e-59")
    assert np.isfinite(outcome.history()["kinetic_u"]).all()


MANY = "[1048576, 1048576, 1048576]"


@pytest.mark.parametrize(
    ("command", "cells", "ranks"),
    [("run", MANY, 1), ("run", "[65536, 65536, 4096]", 3), ("check", MANY, 1)],
)
def test_more_cells_than_memory_are_refused_before_memory_is_taken(
    tmp_path: Path, command: str, cells: str, ranks: int
) -> None:
    (tmp_path / "in.toml").write_text(
        SMALL_CHANNEL.replace("[24, 15, 13]", cells).replace("tanh", "uniform")
    )
    words = ["--output", tmp_path / "run"] if command == "run" else []
    outcome = octant(command, tmp_path / "in.toml", *words, ranks=ranks, timeout=60)
    assert_refused(outcome, "not enough memory", "grid.cells")


# --- conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "code"), [("0/0", 2), ("0/(x - x)", 1), ("sqrt(-1 - x)", 1), ("log(-1)", 2)]
)
def test_a_condition_that_is_no_number_is_refused(
    tmp_path: Path, condition: str, code: int, ranks: int
) -> None:
    settings = (f'refine.where="{condition}"', "mesh.max_level=1")
    outcome = run(tmp_path / "run", TINY_BLAST, *ONE_STEP, *settings, ranks=ranks)
    assert outcome.code == code, outcome.text
    assert "refine.where" in outcome.text and "not a number" in outcome.text


# --- expressions ---------------------------------------------------------------------------------

GAS = """
[problem]
name = "expression"
density = {density}
pressure = "1"
{terms}
[mesh]
base_cells = [4, 4, 4]
block_size = 4
[time]
max_steps = 0
"""


def gas(density: str, terms: list[str] | None = None) -> str:
    table = "" if terms is None else f"terms = {json.dumps(terms)}"
    return GAS.format(density=json.dumps(density), terms=table)


def seconds_of(tmp_path: Path, text: str) -> tuple[float, Outcome]:
    """Run, and measure the processor time, which does not depend on what else runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = run(tmp_path / "run", text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, outcome


LONG = {
    "parentheses": gas("1 + " + 1000 * "(" + "x" + 1000 * ")"),
    "parentheses of less": gas("1 + y*" + 1000 * "(x + " + "x" + 1000 * ")"),
    "terms of a sum": gas("+".join(["x"] * 3000)),
    "numbers": gas("1 + " + "+".join(["0.5*(x)"] * 2000)),
    "definitions": gas(
        "a2999", [f"a{n} = " + ("x" if n == 0 else f"a{n - 1} + 1") for n in range(3000)]
    ),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_expressions_take_little_time(tmp_path: Path, kind: str) -> None:
    seconds, outcome = seconds_of(tmp_path, LONG[kind])
    assert outcome.code == 0, outcome.text[-1000:]
    assert seconds < 30.0  # minutes if parsing repeats itself


def test_parentheses_change_nothing(tmp_path: Path) -> None:
    found = []
    for density in ("1 + sin(y)*(x + 2)", "1 + " + 300 * "(" + "sin(y)*((x + 2))" + 300 * ")"):
        outcome = run_well(tmp_path / f"run{len(found)}", gas(density))
        found.append(outcome.history()["mass"])
    assert np.array_equal(*found)


@pytest.mark.parametrize(
    ("density", "word"),
    [
        (2001 * "(" + "1" + 2001 * ")", "parentheses are nested too deep"),
        ("1 + " + "+".join(["x"] * 20000), "too long"),
        (1000 * "(" + "1", "parenthesis"),
    ],
)
def test_endless_expressions_are_refused(tmp_path: Path, density: str, word: str) -> None:
    outcome = run(tmp_path / "run", gas(density))
    assert outcome.code == 2
    assert "problem.density" in outcome.text and word in outcome.text
    assert len(outcome.text) < 5000


# --- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [TINY_BLAST, SMALL_CHANNEL], ids=["amr", "dns"])
@pytest.mark.parametrize("end", ["1e12", "1e18"])
def test_a_run_of_few_steps_may_have_a_distant_end(tmp_path: Path, model: str, end: str) -> None:
    outcome = run_well(tmp_path / "run", model, f"time.end={end}", "time.max_steps=5")
    assert list(outcome.history()["step"]) == list(range(6))


def test_an_end_that_no_number_of_steps_reaches_is_an_error(tmp_path: Path) -> None:
    settings = ("time.end=1e20", "time.max_steps=1000000000000000000")
    assert run(tmp_path / "run", TINY_BLAST, *settings).code == 1


# --- signals of writes ---------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["PIPE", "XFSZ"])
def test_signals_of_writes_end_nothing(tmp_path: Path, number: str, ranks: int) -> None:
    """Sent to the program at any time."""
    (tmp_path / "in.toml").write_text(TINY_BLAST)
    words = ["run", tmp_path / "in.toml", "--output", tmp_path / "run"]
    words += ["--set", "time.max_steps=20", "--set", "debug.step_seconds=0.05"]
    process = subprocess.Popen(
        octant_command(*words, ranks=ranks),
        env=octant_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    history = tmp_path / "run/history.csv"
    deadline = time.monotonic() + 60
    while not history.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    subprocess.run(["kill", f"-{number}", str(process.pid)], check=True)
    text, _ = process.communicate(timeout=100)
    assert process.returncode == 0, text
    assert octant("info", tmp_path / "run/snap_00000.h5").code == 0
