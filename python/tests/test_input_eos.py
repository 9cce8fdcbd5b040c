"""Isothermal and barotropic gas in parameter files of other codes."""

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_inputs import converted, statuses

from octools.equation_of_state import Barotrope
from octools.errors import OctoolsError
from octools.inputs.conversion import BY_HAND, CARRIED, CHANGED, LOST, NOT_USED

LENGTH, DENSITY, TIME = 3e18, 1e-20, 3e13  # units in cgs
PER_KELVIN = 1.380649e-16 / 1.660539e-24 * (TIME / LENGTH) ** 2  # p/rho per T/mu

NAMELIST = f"""
&RUN_PARAMS
hydro=.true.
/
&AMR_PARAMS
levelmin=4, levelmax=4
/
&INIT_PARAMS
nregion=1, region_type='square', x_center=0.5, y_center=0.5, z_center=0.5
length_x=10., length_y=10., length_z=10., d_region=1., p_region=1.
/
&OUTPUT_PARAMS
tend=0.1
/
&HYDRO_PARAMS
gamma=1.4, riemann='llf', smallc=1e-8, pressure_fix=.true.
/
&UNITS_PARAMS
units_length={LENGTH}, units_density={DENSITY}, units_time={TIME}
/
&COOLING_PARAMS
cooling=.true.
SETTINGS
/
&SF_PARAMS
LEGACY
/
"""

NEW = "barotropic_eos=.true., T_eos=10., mu_gas=2.37, barotropic_eos_form="
KNEE = ", polytrope_rho=1d-18, polytrope_index="

ATHINPUT = """
<mesh>
nx1 = 64
x1min = -0.5
x1max = 0.5
ix1_bc = outflow
ox1_bc = outflow
nx2 = 8
x2min = -0.0625
x2max = 0.0625
nx3 = 8
x3min = -0.0625
x3max = 0.0625
<time>
integrator = rk2
cfl_number = 0.2
tlim = 0.1
<hydro>
iso_sound_speed = 0.7
rsolver = llf
pfloor = 1e-8
<problem>
pgen_name = shock_tube
dl = 1.0
dr = 0.125
pl = 1.0
pr = 0.1
"""

BLAST = """
<problem>
pgen_name = blast
inner_radius = 0.1
damb = 2.0
drat = 10.0
prat = 100.0
"""


def ramses(tmp_path: Path, settings: str, legacy: str = "") -> tuple[Any, Any]:
    text = NAMELIST.replace("SETTINGS", settings).replace("LEGACY", legacy)
    return converted(tmp_path / "run.nml", text)


def pressures(found: dict[str, Any], density: np.ndarray) -> np.ndarray:
    """Return the pressure of the converted equation of state."""
    hydro = found["hydro"]
    lists = (hydro.get(f"barotropic_{name}", []) for name in ("densities", "exponents"))
    return Barotrope.of_pieces(hydro["sound_speed"], *lists).pressure(density)


def test_isothermal_gas_of_ramses(tmp_path: Path) -> None:
    done, found = ramses(tmp_path, NEW + "'isothermal'")
    hydro = found["hydro"]
    assert hydro["equation_of_state"] == "isothermal"
    assert hydro["sound_speed"] == pytest.approx((PER_KELVIN * 10 / 2.37) ** 0.5, rel=1e-6)
    assert hydro["riemann"] == "hll"
    assert hydro["gamma"] == 1.4
    assert found["cooling"]["enabled"] is False
    unwanted = {"barotropic_densities", "barotropic_exponents", "pressure_floor", "dual_energy"}
    assert not unwanted & set(hydro)
    status = statuses(done)
    assert status["cooling_params/t_eos"] == status["cooling_params/mu_gas"] == CARRIED
    assert status["hydro_params/smallc"] == status["hydro_params/pressure_fix"] == LOST
    assert status["hydro_params/riemann"] == status["init_params/p_region"] == CHANGED
    assert sorted(status) == sorted(done.settings)


@pytest.mark.parametrize(
    ("form", "index", "formula", "tolerance"),
    [
        ("polytrope", 1.3, lambda x, n: x ** (n - 1), 1e-6),
        ("polytrope", 0.8, lambda x, n: x ** (n - 1), 1e-6),
        ("polytrope", 1.0, lambda x, n: x ** (n - 1), 1e-6),
        ("custom", 1.6, lambda x, n: np.where(x < 1, 1, x ** (n - 1)), 1e-6),
        ("double_polytrope", 1.4, lambda x, n: 1 + x ** (n - 1), 0.013),
        ("double_polytrope", 2.0, lambda x, n: 1 + x ** (n - 1), 0.013),
        ("double_polytrope", 0.5, lambda x, n: 1 + x ** (n - 1), 0.013),
        ("double_polytrope", 1.0, lambda x, n: 1 + x ** (n - 1), 1e-6),
    ],
)
def test_pressure_of_converted_gas_is_that_of_ramses(
    tmp_path: Path, form: str, index: float, formula: Any, tolerance: float
) -> None:
    _, found = ramses(tmp_path, f"{NEW}'{form}'{KNEE}{index}")
    knee = 1e-18 / DENSITY
    x = np.logspace(-9, 9, 500)
    expected = PER_KELVIN * 10 / 2.37 * formula(x, index) * knee * x
    assert pressures(found, knee * x) == pytest.approx(expected, rel=tolerance)
    assert found["hydro"]["gamma"] == max(1.4, index)


def test_gamma_is_raised_to_the_largest_exponent(tmp_path: Path) -> None:
    done, found = ramses(tmp_path, f"{NEW}'double_polytrope'{KNEE}1.666667")
    assert found["hydro"]["gamma"] == max(found["hydro"]["barotropic_exponents"]) == 1.666667
    assert statuses(done)["hydro_params/gamma"] == CHANGED
    assert statuses(done)["cooling_params/barotropic_eos_form"] == CHANGED


def test_isothermal_keyword_of_ramses_has_the_temperature_of_the_pressure_floor(
    tmp_path: Path,
) -> None:
    done, found = ramses(tmp_path, "isothermal=.true.", "T2_star=100., n_star=10., g_star=1.3")
    hydro = found["hydro"]
    knee = 10.0 * 1.660539e-24 / 0.76 / DENSITY
    assert hydro["barotropic_densities"] == [pytest.approx(knee, rel=1e-6)]
    assert hydro["barotropic_exponents"] == [1.3, 1.3]
    assert hydro["sound_speed"] == pytest.approx((100 * PER_KELVIN) ** 0.5, rel=1e-6)
    assert "floor" not in found
    for name in ("t2_star", "n_star", "g_star"):
        assert statuses(done)[f"sf_params/{name}"] == CARRIED, name
    _, found = ramses(tmp_path, "isothermal=.true.", "T2_star=100., g_star=1.")
    assert found["hydro"]["equation_of_state"] == "isothermal"
    done, found = ramses(tmp_path, NEW + "'isothermal'", "T2_star=100.")
    assert statuses(done)["sf_params/t2_star"] == NOT_USED


def test_custom_function_and_missing_units_of_ramses_are_set_by_hand(tmp_path: Path) -> None:
    done, _ = ramses(tmp_path, f"{NEW}'custom'{KNEE}1.4")
    assert statuses(done)["cooling_params/barotropic_eos_form"] == BY_HAND
    text = NAMELIST.replace("SETTINGS", f"{NEW}'isothermal'").replace("LEGACY", "")
    done, _ = converted(tmp_path / "run.nml", re.sub("units_.*", "", text))
    assert statuses(done)["cooling_params/t_eos"] == BY_HAND


def test_settings_of_barotropic_gas_without_it_are_not_used(tmp_path: Path) -> None:
    done, found = ramses(tmp_path, f"{NEW}'polytrope'{KNEE}1.4".replace(".true.", ".false."))
    assert "sound_speed" not in found["hydro"]
    status = statuses(done)
    for name in ("t_eos", "mu_gas", "polytrope_rho", "polytrope_index", "barotropic_eos_form"):
        assert status[f"cooling_params/{name}"] == NOT_USED, name
    text = NAMELIST.replace("SETTINGS", f"{NEW}'isothermal'").replace("LEGACY", "")
    text = text.replace("hydro=.true.", "hydro=.false.")
    done, found = converted(tmp_path / "run.nml", text)
    assert "equation_of_state" not in found["hydro"]
    assert statuses(done)["cooling_params/barotropic_eos"] == NOT_USED


def test_jeans_length_of_barotropic_gas_has_the_smallest_exponent(tmp_path: Path) -> None:
    text = NAMELIST.replace("SETTINGS", f"{NEW}'polytrope'{KNEE}1.21").replace("LEGACY", "")
    text = text.replace("hydro=.true.", "hydro=.true., poisson=.true.")
    text = text.replace("levelmax=4", "levelmax=5") + "&REFINE_PARAMS\njeans_refine=8.\n/\n"
    _, found = converted(tmp_path / "run.nml", text)
    assert found["refine"]["jeans"] == pytest.approx(8.8)


@pytest.mark.parametrize(
    ("settings", "legacy", "message"),
    [
        (NEW + "'tabulated'", "", "barotropic_eos_form = tabulated cannot.*double_polytrope"),
        (NEW.replace("10.", "0.") + "'isothermal'", "", "t_eos = 0 is not supported"),
        (f"{NEW}'polytrope'{KNEE}-0.5", "", "polytrope_index = -0.5 is not supported"),
        ("isothermal=.true.", "", "t2_star = 0 is not supported"),
        ("isothermal=.true.", "T2_star=10., jeans_ncells=4", "jeans_ncells"),
        (NEW + "'isothermal'", "eps_star=0.02", "star formation .eps_star"),
        (NEW + "'isothermal'\n/\n&EOS_PARAMS\neos_type='isothermal'", "", "EOS_PARAMS"),
        (NEW + "'isothermal'\n/\n&PHYSICS_PARAMS\nsink=.true.", "", "black holes"),
    ],
)
def test_barotropic_gas_that_octant_cannot_represent_is_refused(
    tmp_path: Path, settings: str, legacy: str, message: str
) -> None:
    with pytest.raises(OctoolsError, match=message):
        ramses(tmp_path, settings, legacy)


def test_cosmological_run_with_barotropic_gas_is_refused(tmp_path: Path) -> None:
    text = NAMELIST.replace("SETTINGS", f"{NEW}'isothermal'").replace("LEGACY", "")
    with pytest.raises(
        OctoolsError, match=r"barotropic_eos = \.true\. is not supported with cosmo"
    ):
        converted(tmp_path / "run.nml", text.replace("hydro=", "cosmo=.true., hydro="))


@pytest.mark.parametrize("added", ["", "eos = isothermal\n", "eos = isothermal\ngamma = 1.4\n"])
def test_isothermal_gas_of_athena(tmp_path: Path, added: str) -> None:
    text = ATHINPUT.replace("rsolver", added + "rsolver")
    done, found = converted(tmp_path / "athinput.tube", text)
    hydro = found["hydro"]
    assert hydro["equation_of_state"] == "isothermal"
    assert hydro["sound_speed"] == 0.7
    assert hydro["riemann"] == "hll"
    assert "pressure_floor" not in hydro
    assert found["problem"]["left"] == pytest.approx([1.0, 0.0, 0.49])
    assert found["problem"]["right"] == pytest.approx([0.125, 0.0, 0.06125])
    status = statuses(done)
    assert status["hydro/iso_sound_speed"] == CARRIED
    assert status["hydro/rsolver"] == CHANGED
    assert status["hydro/pfloor"] == status["problem/pl"] == NOT_USED
    assert status.get("hydro/gamma", NOT_USED) == NOT_USED
    assert sorted(status) == sorted(done.settings)


def test_athena_file_with_gamma_describes_an_ideal_gas(tmp_path: Path) -> None:
    done, found = converted(
        tmp_path / "athinput.tube", ATHINPUT.replace("rsolver", "gamma = 1.4\nrsolver")
    )
    assert "equation_of_state" not in found["hydro"]
    assert statuses(done)["hydro/iso_sound_speed"] == NOT_USED
    assert found["problem"]["left"] == [1.0, 0.0, 1.0]
    assert found["hydro"]["riemann"] == "llf"


def test_blast_of_athena_in_isothermal_gas_needs_no_pressure(tmp_path: Path) -> None:
    text = ATHINPUT.partition("<problem>")[0] + BLAST
    done, found = converted(tmp_path / "athinput.blast", text)
    assert found["problem"]["density"] == "2.0 * 10.0^inside"
    factor, _, rest = found["problem"]["pressure"].partition(" * ")
    assert float(factor) == pytest.approx(0.98)
    assert rest == "10.0^inside"
    assert statuses(done)["problem/prat"] == NOT_USED


def test_implosion_of_athena_in_isothermal_gas_has_pressures_of_its_densities(
    tmp_path: Path,
) -> None:
    text = ATHINPUT.partition("<problem>")[0] + "<problem>\nd_in = 0.1\nd_out = 1.0\np_in = 9\n"
    done, found = converted(tmp_path / "athinput.implode", text)
    assert found["problem"]["inner_pressure"] == pytest.approx(0.049)
    assert found["problem"]["outer_pressure"] == pytest.approx(0.49)
    assert statuses(done)["problem/d_in"] == CARRIED
    assert statuses(done)["problem/p_in"] == NOT_USED


def test_point_of_ramses_in_barotropic_gas_is_no_blast(tmp_path: Path) -> None:
    """RAMSES replaces the pressure of the point, too."""
    text = NAMELIST.replace("SETTINGS", f"{NEW}'isothermal'").replace("LEGACY", "")
    text = text.replace("nregion=1, region_type='square'", "nregion=2")
    text = text.replace(
        "d_region=1., p_region=1.",
        "d_region=1.,0., p_region=1.,9.\nregion_type(1)='square', region_type(2)='point'",
    )
    done, found = converted(tmp_path / "run.nml", text)
    assert found["problem"]["name"] == "expression"
    assert statuses(done)["init_params/p_region"] == CHANGED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("iso_sound_speed = 0.7", "eos = isothermal"), "requires iso_sound_speed"),
        (("iso_sound_speed = 0.7", ""), "neither gamma nor iso_sound_speed"),
        (("0.7", "-0.7"), "iso_sound_speed = -0.7 cannot"),
        (("rsolver", "eos = general\nrsolver"), "eos = general has no counterpart"),
    ],
)
def test_incomplete_equations_of_state_of_athena_are_refused(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(OctoolsError, match=message):
        converted(tmp_path / "athinput.tube", ATHINPUT.replace(*change))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.nml", NAMELIST.replace("SETTINGS", NEW + "'isothermal'")),
        ("run.nml", NAMELIST.replace("SETTINGS", f"{NEW}'double_polytrope'{KNEE}2.0")),
        ("run.nml", NAMELIST.replace("SETTINGS", f"{NEW}'custom'{KNEE}0.7")),
        ("run.nml", NAMELIST.replace("SETTINGS", "isothermal=.true.")),
        ("athinput.tube", ATHINPUT),
        ("athinput.blast", ATHINPUT.partition("<problem>")[0] + BLAST),
    ],
)
def test_octant_accepts_the_converted_equations_of_state(
    tmp_path: Path, name: str, text: str, program: str
) -> None:
    done, _ = converted(tmp_path / name, text.replace("LEGACY", "T2_star=1e4, haardt_madau=.true."))
    (tmp_path / "new.toml").write_text(done.finish("RAMSES"))
    words = [program, "check", str(tmp_path / "new.toml")]
    checked = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr
