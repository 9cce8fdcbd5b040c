"""Settings of other codes by name: typos, those to set by hand, and those without counterpart."""

import re
from pathlib import Path

import pytest
from conftest import Call
from test_inputs import ATHINPUT, CANS, INI, NAMELIST, converted

from octools.inputs.conversion import BY_HAND, LOST, UNKNOWN
from octools.inputs.known import why_unknown
from octools.inputs.ramses import BY_HAND as COUNTERPARTS

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


def test_a_typo_an_unsupported_setting_and_one_to_set_by_hand_are_told_apart(
    tmp_path: Path, octools: Call
) -> None:
    text = NAMELIST.replace("nremap=7", "nremap=7\nnsubcylce=1,2\ngamma=1.4") + GALAXY
    done, found = converted(tmp_path / "run.nml", text)
    rows = {row.setting.split(" = ")[0]: row for row in done.rows}
    typos = {
        "run_params/nsubcylce": "did you mean nsubcycle?",
        "run_params/gamma": "in another group: hydro_params",
        "run_param/verbose": "did you mean run_params?",
    }
    for name, hint in typos.items():
        assert (rows[name].verdict, hint in rows[name].now) == (UNKNOWN, True), rows[name]
    assert rows["run_params/verbose"].verdict == LOST
    assert rows["feedback_params/f_w"].verdict == LOST
    for name, now in (
        ("sf_params/eps_star", "stars.efficiency"),
        ("sf_params/n_star", "stars.density"),
        ("feedback_params/yield", "supernovae.yield"),
        ("cooling_params/cooling", "cooling.enabled"),
    ):
        assert (rows[name].verdict, now in rows[name].now) == (BY_HAND, True), rows[name]
    assert found["units"]["length"] == 3e21
    said = octools("convert", tmp_path / "run.nml").stdout
    assert "3 unknown setting: " in said
    assert "4 to set by hand: " in said


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
    assert [row for row in done.rows if row.verdict == UNKNOWN] == []
    line = next(line for line in text.splitlines() if line.startswith(right))
    done, _ = converted(tmp_path / name, text.replace(line, line + "\n" + wrong + " = 1"))
    unknown = [row for row in done.rows if row.verdict == UNKNOWN]
    assert [row.setting.split(" = ")[0].split("/")[-1] for row in unknown] == [wrong]
    assert f"did you mean {right}?" in unknown[0].now


def test_counterparts_to_set_by_hand_are_those_of_the_manual() -> None:
    """Each RAMSES name in the tables of docs/galaxy.md has the parameter of its row."""
    page = (Path(__file__).resolve().parents[2] / "docs/galaxy.md").read_text()
    rows = re.findall(r"^\| `([a-z_]+)\.([a-z_]+)`([^|]*)\|([^|]*)\|", page, re.MULTILINE)
    told: dict[str, set[str]] = {}
    for section, key, more, theirs in rows:
        keys = [key, *re.findall(r"`\.([a-z_]+)`", more)]
        names = re.findall(r"`([A-Za-z_0-9]+)`", theirs)
        for n, name in enumerate(names):
            now = f"{section}.{keys[min(n, len(keys) - 1)]}"
            told.setdefault(name.lower(), set()).add(now)
    assert len(told) > 30
    missing = {
        name: now
        for name, now in told.items()
        if not any(one in COUNTERPARTS.get(name, "") for one in now)
    }
    assert not missing
    groups = ("cooling_params", "sf_params", "feedback_params", "sink_params", "physics_params",
              "run_params", "grackle_params")  # fmt: skip
    for name in COUNTERPARTS:
        assert any(why_unknown("RAMSES", f"{group}/{name}") is None for group in groups), name


def test_settings_that_are_converted_are_known() -> None:
    """No setting that a converter reads is called a typo."""
    for code, module in (("RAMSES", "ramses"), ("Athena", "athena")):
        source = Path(__file__).resolve().parents[1] / f"octools/inputs/{module}.py"
        for name in set(re.findall(r'"([a-z_]+/[a-z_0-9]+)"', source.read_text())):
            assert why_unknown(code, name) is None, name
