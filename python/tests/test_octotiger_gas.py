"""Octo-Tiger's boundaries and its equation of state of white dwarfs."""

import subprocess
from pathlib import Path

import pytest
from test_inputs import STAR, converted, statuses

from octools.errors import OctoolsError
from octools.inputs.conversion import CARRIED


@pytest.mark.parametrize(
    ("settings", "side"),
    [
        ("", "diode"),
        ("inflow_bc=off\n", "diode"),
        ("inflow_bc=on\n", "open"),
        ("inflow_bc=on\nreflect_bc=on\n", "reflecting"),
    ],
)
def test_gas_enters_through_boundaries_where_octo_tiger_lets_it(
    tmp_path: Path, settings: str, side: str
) -> None:
    _, found = converted(tmp_path / "sod.ini", f"problem=sod\nstop_time=0.1\n{settings}")
    assert {tuple(found["mesh"][f"boundary_{axis}"]) for axis in "xyz"} == {(side, side)}


DWARF = "problem=sod\nstop_time=0.1\nsod_gamma=1.66\neos=wd\n"
UNITS = "code_to_cm=1e9\ncode_to_g=1e33\ncode_to_s=2.0\n"


def test_white_dwarfs_of_octo_tiger_keep_their_constants(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "sod.ini", DWARF + UNITS)
    hydro = found["hydro"]
    assert hydro["equation_of_state"] == "white_dwarf"
    assert hydro["degeneracy_density"] == pytest.approx(1.962022e6 / 1e6)
    assert hydro["degeneracy_pressure"] == pytest.approx(6.0023e22 / (1e33 / (1e9 * 4.0)))
    assert hydro["dual_energy"] == "on"
    assert hydro["contact_steepening"] is False
    assert statuses(done)["eos"] == statuses(done)["code_to_g"] == CARRIED
    _, ideal = converted(tmp_path / "sod.ini", DWARF.replace("wd", "ideal"))
    assert "equation_of_state" not in ideal["hydro"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DWARF.replace("wd", "ztwd"), "eos = ztwd has no counterpart"),
        (STAR + "eos=wd\n", "not supported with rotating_star"),
        (DWARF + "radiation=on\n", "not supported with rotating_star or radiation"),
        (DWARF + "code_to_g=0\n", "must be above 0"),
    ],
)
def test_other_equations_of_state_of_octo_tiger_are_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(OctoolsError, match=message):
        converted(tmp_path / "a.ini", text)


def test_the_program_takes_white_dwarfs_of_octo_tiger(tmp_path: Path, program: str) -> None:
    done, _ = converted(tmp_path / "sod.ini", DWARF + UNITS)
    (tmp_path / "new.toml").write_text(done.finish("Octo-Tiger"))
    words = [program, "check", str(tmp_path / "new.toml")]
    checked = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr
