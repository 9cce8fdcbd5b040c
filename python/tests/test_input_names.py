"""Settings of other codes by name: typos, and those with and without counterpart."""

import re
from pathlib import Path

import pytest
from conftest import Call
from test_inputs import ATHINPUT, CANS, INI, NAMELIST, converted

from octools.inputs.conversion import CARRIED, CHANGED, LOST, NOT_USED, UNKNOWN
from octools.inputs.known import why_unknown
from octools.inputs.ramses_table import TOPICS, pages

GALAXY = """
&SF_PARAMS
eps_star=0.02
n_star=0.1
/
&FEEDBACK_PARAMS
yield=0.1
f_w=1.
/
&RUN_PARAM
verbose=.true.
/
&PHYSICS_PARAMS
units_length=3d21
/
"""


def test_typos_unsupported_settings_and_counterparts_are_told_apart(
    tmp_path: Path, octools: Call
) -> None:
    text = (
        NAMELIST.replace("nremap=7", "nremap=7\nnsubcylce=1,2\ngamma=1.4\nstatic=.true.") + GALAXY
    )
    done, found = converted(tmp_path / "run.nml", text)
    rows = {row.setting.split(" = ")[0]: row for row in done.rows}
    typos = {
        "run_params/nsubcylce": "did you mean nsubcycle?",
        "run_params/gamma": "in another group: hydro_params",
        "run_param/verbose": "did you mean run_params?",
    }
    for name, hint in typos.items():
        assert (rows[name].status, hint in rows[name].now) == (UNKNOWN, True), rows[name]
    assert rows["run_params/static"].status == LOST
    assert "always evolve" in rows["run_params/static"].now
    for name, now, status in (
        ("sf_params/eps_star", "stars.efficiency", CARRIED),
        ("sf_params/n_star", "stars.density", CARRIED),
        ("feedback_params/yield", "supernovae.yield", CHANGED),
        ("feedback_params/f_w", "supernovae.mode", CARRIED),
        ("cooling_params/cooling", "cooling.enabled", CARRIED),
    ):
        if name == "sf_params/eps_star":  # NAMELIST has no gravity
            status = "to set by hand"
        assert (rows[name].status, now in rows[name].now) == (status, True), rows[name]
    assert found["units"]["length"] == 3e21
    said = octools("convert", tmp_path / "run.nml").stdout
    assert "3 unknown setting: " in said
    assert "to set by hand: " in said


def test_groups_that_ramses_does_not_read_are_not_used(tmp_path: Path) -> None:
    text = NAMELIST.replace("levelmax=6", "levelmax=4") + "&AMR_PARAMS\nlevelmin=9\n/\n"
    done, found = converted(tmp_path / "run.nml", text)
    rows = {row.setting.split(" = ")[0]: row for row in done.rows}
    assert found["mesh"]["base_cells"] == [16, 16, 16]
    assert rows["amr_params (repeated)/levelmin"].status == NOT_USED
    assert rows["refine_params/err_grad_d"].status == NOT_USED
    assert "gradient" not in found["refine"]


@pytest.mark.parametrize(
    ("name", "text", "right", "wrong"),
    [
        ("input.nml", CANS, "visci", "viscy"),
        ("blast.ini", INI, "theta", "tetha"),
        ("athinput.blast", ATHINPUT, "cfl_number", "cfl_numbr"),
    ],
)
def test_typos_are_found_in_files_of_all_codes(
    tmp_path: Path, name: str, text: str, right: str, wrong: str
) -> None:
    done, _ = converted(tmp_path / name, text)
    assert [row for row in done.rows if row.status == UNKNOWN] == []
    line = next(line for line in text.splitlines() if line.startswith(right))
    done, _ = converted(tmp_path / name, text.replace(line, line + "\n" + wrong + " = 1"))
    unknown = [row for row in done.rows if row.status == UNKNOWN]
    assert [row.setting.split(" = ")[0].split("/")[-1] for row in unknown] == [wrong]
    assert f"did you mean {right}?" in unknown[0].now


def counterparts() -> dict[str, str]:
    """Return the parameters of Octant by setting of RAMSES, as the table of rules has them."""
    found: dict[str, str] = {}
    for topic in TOPICS:
        for rule in topic.rules:
            for name in rule.keys:
                found[name] = " ".join((found.get(name, ""), rule.octant, rule.remark))
    return found


def test_counterparts_are_those_of_the_manual() -> None:
    """Each RAMSES name in the tables of the manual has the parameter of its row."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    names = ("galaxy", "star_formation", "supernovae", "black_holes")
    page = "\n".join((docs / f"{name}.md").read_text() for name in names)
    rows = re.findall(r"^\| `([a-z_]+)\.([a-z_]+)`([^|]*)\|([^|]*)\|", page, re.MULTILINE)
    told: dict[str, set[str]] = {}
    for section, key, more, theirs in rows:
        keys = [key, *re.findall(r"`\.([a-z_]+)`", more)]
        for n, name in enumerate(re.findall(r"`([A-Za-z_0-9]+)`", theirs)):
            now = f"{section}.{keys[min(n, len(keys) - 1)]}"
            told.setdefault(name.lower(), set()).add(now)
    assert len(told) > 30
    found = counterparts()
    missing = {
        name: now for name, now in told.items() if not any(one in found[name] for one in now)
    }
    assert not missing


def test_the_manual_lists_the_rules() -> None:
    """The pages are what python -m octools.inputs.ramses_table prints."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    for file, text in pages().items():
        assert (docs / file).read_text() == text


def test_settings_that_are_converted_are_known() -> None:
    """No setting that a converter reads is called a typo."""
    for code, module in (("RAMSES", "ramses"), ("Athena", "athena")):
        source = Path(__file__).resolve().parents[1] / f"octools/inputs/{module}.py"
        for name in set(re.findall(r'"([a-z_]+/[a-z_0-9]+)"', source.read_text())):
            assert why_unknown(code, name) is None, name
