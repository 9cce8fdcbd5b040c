"""Namelists of RAMSES-RT: the ionising radiation that they become, and runs of it."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_inputs import statuses
from test_ramses_namelists import NAMELISTS, flat

from octools.errors import OctoolsError
from octools.inputs import ramses
from octools.inputs.conversion import (
    BY_HAND,
    CARRIED,
    CHANGED,
    LOST,
    NOT_USED,
    UNKNOWN,
    Conversion,
)
from octools.inputs.ramses_spectra import black_body, temperature_of

STROMGREN = (NAMELISTS / "stromgren_rt.nml").read_text()
EXPECTED = {
    "ionization.enabled": True,
    "ionization.edges": [13.6, 24.59, 54.42],
    "ionization.spectrum": "black_body",
    "ionization.spectrum_temperature": 1e5,
    "ionization.hydrogen_fraction": 0.76,
    "ionization.on_the_spot": False,
    "ionization.temperature": 0.0,
    "ionization.radiation_pressure": True,
    "ionization.source_x": [0.0],
    "ionization.source_y": [0.0],
    "ionization.source_z": [0.0],
    "ionization.source_rates": [5e48],
    "radiation.speed_ratio": 0.01,
    "radiation.cfl": 0.46188,
    "radiation.max_substeps": 4,
    "hydro.moves": False,
    "cooling.enabled": False,
    "problem.species.ionized_hydrogen": "0.0012",
    "problem.species.ionized_helium": "1e-06",
    "problem.species.doubly_ionized_helium": "0.0",
    "refine.gradient_fields": ["ionized_hydrogen"],
    "refine.gradient": [0.4],
    "refine.floor": 0.1,
    "mesh.boundary_x": ["reflecting", "outflow"],
    "units.length": 3.0857e21,
}
# Averages over a black body of 1e5 K in the namelists of RAMSES-RT, in cm^2 and eV.
OF_RAMSES = (
    (18.85, (3.007e-18, 0.0, 0.0)),
    (35.079, (5.687e-19, 4.478e-18, 0.0)),
    (65.666, (7.889e-20, 1.197e-18, 1.055e-18)),
)


def converted(folder: Path, changes: dict[str, str]) -> tuple[Conversion, dict[str, Any], str]:
    text = STROMGREN
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "run.nml").write_text(text)
    done = ramses.convert(folder / "run.nml")
    written = done.finish("RAMSES")
    return done, flat(tomllib.loads(written)), written


def remarks(done: Conversion, status: str) -> dict[str, str]:
    return {
        row.setting.split(" = ")[0].partition("/")[2]: row.now
        for row in done.rows
        if row.status == status
    }


def test_averages_over_a_black_body_are_those_of_ramses() -> None:
    groups = black_body([13.6, 24.59, 54.42], 1e5)
    for group, (energy, sections) in zip(groups, OF_RAMSES, strict=True):
        assert group.energy == pytest.approx(energy, rel=2e-4)
        assert group.sections == pytest.approx(sections, rel=1e-3, abs=3e-21)
    # The photons of 5e48 per second in test 2 of Iliev et al. (2006) for RAMSES-RT.
    shares = [5.0 * group.photons for group in groups]
    assert shares == pytest.approx([2.235, 2.47, 0.295], abs=0.004)


def test_the_temperature_follows_from_the_mean_energies() -> None:
    edges = [13.6, 24.59, 54.42]
    for temperature in (2e4, 4e4, 2e5):
        energies = [group.energy for group in black_body(edges, temperature)]
        assert temperature_of(edges, energies) == pytest.approx(temperature, rel=0.002)


def test_an_ionised_sphere_keeps_its_physics(tmp_path: Path) -> None:
    done, found, _ = converted(tmp_path, {})
    assert {name: found.get(name) for name in EXPECTED} == EXPECTED
    named = [row.setting.split(" = ")[0] for row in done.rows]
    assert sorted(named) == sorted(done.settings)
    assert not remarks(done, UNKNOWN)
    assert not remarks(done, BY_HAND)
    changed = remarks(done, CHANGED)
    assert "He II, group 3: 1.056e-18 instead of 1.06e-18" in changed["group_csn"]
    assert "in RAMSES 0.448, 0.494, 0.058" in changed["rt_n_source"]
    assert "divided by √3" in changed["rt_courant_factor"]
    assert all(row.now for row in done.rows)


def test_the_photons_of_a_converted_source_are_those_of_ramses(
    tmp_path: Path, program: str
) -> None:
    _, found, written = converted(tmp_path, {})
    (tmp_path / "run.toml").write_text(written)
    settings = ["time.max_steps=4", "telemetry.enabled=false", "output.directory=run"]
    words = [program, "run", "run.toml", *(w for one in settings for w in ("--set", one))]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = np.genfromtxt(tmp_path / "run/history.csv", delimiter=",", names=True)
    assert rows.size == 5
    # An eighth of the source is in the octant. Its photons are absorbed, or on their way.
    photons = 5e48 / 8 * found["units.time"] * rows["time"][-1]
    assert rows["ionization_injected"][-1] == pytest.approx(photons, rel=1e-6)
    on_their_way = sum(rows[f"photons_{group}"][-1] for group in range(3))
    left = photons + rows["ionization_recombined"][-1] - rows["ionization_absorbed"][-1]
    assert on_their_way == pytest.approx(left, rel=1e-3)
    # The step of RAMSES on level 5: rt_nsubcycle f dx / (3 c'), with at most four substeps.
    steps = np.diff(rows["time"])
    longest = 4 * 0.8 * found["units.length"] * 6.6 / 32 / (3 * 2.99792458e8) / found["units.time"]
    assert steps[-1] == pytest.approx(longest, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"rt_otsa=.false.": ""}, {"ionization.on_the_spot": True}),
        ({"X=0.76\nY=0.24": "X=1.0\nY=0.0"}, {"ionization.hydrogen_fraction": 1.0}),
        ({"rt_smooth=.true.": "rt_Tconst=1d4"}, {"ionization.temperature": 1e4}),
        ({"rt_smooth=.true.": "rt_pressBoost=0."}, {"ionization.radiation_pressure": False}),
        ({"rt_nsubcycle=8": ""}, {"radiation.max_substeps": 1}),
        ({"levelmax=5": "levelmax=4"}, {"radiation.max_substeps": 8}),
        ({"rt_c_fraction=0.01": "rt_c_fraction=0.1,0.01"}, {"radiation.speed_ratio": 0.1}),
        ({"rt_courant_factor=0.8": "rt_courant_factor=3."}, {"radiation.cfl": 1.0}),
        (
            {"rt_is_init_xion=.false.": ""},
            {"problem.species.ionized_hydrogen": None, "ionization.initial_ions": None},
        ),
        (
            {"rt_src_x_center=3*0.0": "rt_src_x_center=0.0,1.0,0.0"},
            {
                "ionization.source_x": [0.0, 1.0],
                "ionization.source_y": [0.0, 0.0],
                "ionization.source_rates": [2.53e48, 2.47e48],
            },
        ),
        (
            {"rt_source_type=3*'point'": "rt_source_type='point','shell'"},
            {"ionization.source_rates": [2.24e48]},
        ),
        ({"static=.true.\n": ""}, {"hydro.moves": None}),
        (
            {"rt=.true.\nstatic": "static_gas"},
            {"hydro.moves": False, "ionization.enabled": None, "cooling.enabled": True},
        ),
        ({"units_": "!"}, {"ionization.enabled": False, "ionization.source_rates": None}),
        (
            {"group_egy=18.85,35.08,65.67": "group_egy=17.38,28.95,58.3"},
            {"ionization.spectrum_temperature": 4.00e4},
        ),
    ],
)
def test_settings_of_radiation_that_depend_on_each_other(
    tmp_path: Path, changes: dict[str, str], expected: dict[str, Any]
) -> None:
    _, found, _ = converted(tmp_path, changes)
    assert {parameter: found.get(parameter) for parameter in expected} == expected


MONOCHROMATIC = {
    "X=0.76\nY=0.24": "X=1.0\nY=0.0\nrt_Tconst=1d4",
    STROMGREN[STROMGREN.index("rt_nsource=3") : STROMGREN.index("&REFINE")]: (
        "rt_nsource=1\nrt_source_type(1)='point'\nrt_n_source=5d48\n/\n&RT_GROUPS\n"
        "group_csn=6.3d-18,0.,0.\ngroup_cse=6.3d-18,0.,0.\ngroup_egy=13.6d0\n/\n"
    ),
}


def test_a_group_of_equal_photons_is_monochromatic(tmp_path: Path) -> None:
    done, found, _ = converted(tmp_path, MONOCHROMATIC)
    assert found["ionization.edges"] == [13.6]
    assert found["ionization.spectrum"] == "monochromatic"
    assert "ionization.spectrum_temperature" not in found
    assert found["ionization.source_rates"] == [5e48]
    assert "6.346e-18 instead of 6.3e-18" in remarks(done, CHANGED)["group_csn"]
    assert "problem.scalars" not in found
    assert "problem.species.ionized_helium" not in found  # there is none
    assert found["problem.species.ionized_hydrogen"] == "0.0012"


@pytest.mark.parametrize(
    ("changes", "name", "status", "words"),
    [
        ({"rt_smooth=.true.": "rt_star=.true."}, "rt_star", BY_HAND, "ionization.star_table"),
        ({"rt_smooth=.true.": "rt_AGN=.true."}, "rt_agn", LOST, "black holes"),
        ({"rt_smooth=.true.": "rt_isIR=.true."}, "rt_isir", LOST, "infrared"),
        ({"rt_smooth=.true.": "rt_pressBoost=3."}, "rt_pressboost", BY_HAND, "= 3"),
        ({"rt_smooth=.true.": "rt_u_source=3*1."}, "rt_n_source", BY_HAND, "source 1 is isotr"),
        ({"3*'point'": "3*'square'"}, "rt_n_source", BY_HAND, "inflow boundaries"),
        ({"'glf'": "'hll'"}, "rt_flux_scheme", LOST, "'hll' is not available"),
        ({"4.48d-18": "4.48d-17"}, "group_csn", BY_HAND, "He I, group 2: 4.478e-18 instead"),
        ({"groupL0=13.60,": "groupL0=1.0,"}, "groupl0", BY_HAND, r"group\(s\) 1 are not"),
        ({"54.42,0.0": "54.42,100.0"}, "groupl1", CHANGED, "infinity instead of groupL1 = 100"),
        ({"2.24d48,2.47d48": "4.71d48,0.0"}, "rt_n_source", BY_HAND, "in RAMSES 0.942, 0.000"),
        ({"cooling=.true.": "cooling=.false."}, "cooling", CHANGED, "always has the cooling"),
        ({"rt_is_init_xion=.false.": "rt_is_init_xion=.true."}, "rt_is_init_xion", BY_HAND,
         "collisional equilibrium"),
        ({"units_": "!"}, "rt", BY_HAND, "requires units.length"),
        ({"rt=.true.": "rt=.false."}, "rt_c_fraction", NOT_USED, "rt = .false."),
        ({"rt=.true.": "aton=.true."}, "aton", LOST, r"\[ionization\]"),
    ],
)  # fmt: skip
def test_what_differs_is_named(
    tmp_path: Path, changes: dict[str, str], name: str, status: str, words: str
) -> None:
    done, _, _ = converted(tmp_path, changes)
    found = remarks(done, status)
    assert name in found, statuses(done)
    assert re.search(words, found[name]), found[name]


def test_cross_sections_may_be_in_the_order_of_fortran(tmp_path: Path) -> None:
    begin, end = STROMGREN.index("group_csn(1,:)"), STROMGREN.index("group_cse(1,:)")
    flat_values = "group_csn=3.00d-18,5.69d-19,7.89d-20,0.,4.48d-18,1.20d-18,2*0.,1.06d-18\n"
    in_order, _, _ = converted(tmp_path, {STROMGREN[begin:end]: flat_values})
    by_group, _, _ = converted(tmp_path, {})
    given = remarks(in_order, CHANGED)["group_csn"]
    assert given == remarks(by_group, CHANGED)["group_csn"]
    assert "0.41 %" in given


def test_ionised_gas_has_no_floor_of_cooling_gas(tmp_path: Path) -> None:
    floor = "&REFINE_PARAMS", "&SF_PARAMS\nT2_star=100.\n/\n&REFINE_PARAMS"
    done, found, _ = converted(tmp_path, dict([floor]))
    assert found["floor.temperature"] == 100.0
    assert "only with cooling.enabled = true" in remarks(done, CHANGED)["t2_star"]


def test_no_setting_says_that_ionising_radiation_is_missing() -> None:
    rules = [rule for topic in ramses.TOPICS for rule in topic.rules]
    assert not [rule.names for rule in rules if "radiation is not available" in rule.remark]


def test_no_group_ionises(tmp_path: Path) -> None:
    with pytest.raises(OctoolsError, match=r"groupl0 = 1.0, 2.0, 3.0 .*groupL0 >= 13.6"):
        converted(tmp_path, {"groupL0=13.60,24.59,54.42": "groupL0=1.,2.,3."})


def test_settings_of_radiation_are_carried_over(tmp_path: Path) -> None:
    done, _, _ = converted(tmp_path, {})
    same = ("rt_c_fraction", "rt_otsa", "x", "y", "rt_nsource", "rt_src_y_center", "groupl0")
    assert set(same) <= set(remarks(done, CARRIED))


def test_photons_of_a_cosmological_box(tmp_path: Path) -> None:
    text = (NAMELISTS / "cosmology_curamses.nml").read_text()
    (tmp_path / "run.nml").write_text(
        text.replace("cosmo=.true.", "cosmo=.true.\nrt=.true.")
        + "\n&RT_PARAMS\nrt_c_fraction=0.05\n/\n"
    )
    done = ramses.convert(tmp_path / "run.nml")
    found = flat(tomllib.loads(done.finish("RAMSES")))
    assert found["ionization.enabled"] is True
    assert found["radiation.speed_ratio"] == 0.05
    assert found["cooling.enabled"] is False
    assert found["ionization.hydrogen_fraction"] == 0.76
    assert found["refine.holdback"] is True  # as without photons


@pytest.mark.parametrize(
    ("criteria", "fields", "thresholds", "floor", "status"),
    [
        (
            "rt_err_grad_n=0.3",
            [f"photon_density_{n}" for n in range(3)],
            [0.3] * 3,
            None,
            {"rt_err_grad_n": CHANGED},
        ),
        (
            "rt_err_grad_n=0.3\nrt_floor_n=1d-3\nrt_err_grad_xHII=0.4\nrt_floor_xHII=0.1",
            ["ionized_hydrogen", *(f"photon_density_{n}" for n in range(3))],
            [0.4, 0.3, 0.3, 0.3],
            None,
            {"rt_floor_n": BY_HAND, "rt_floor_xhii": BY_HAND, "rt_err_grad_n": CHANGED},
        ),
        ("rt_err_grad_n=-1.0\nrt_err_grad_cn=0.1", None, None, None, {"rt_err_grad_cn": LOST}),
    ],
)
def test_gradients_of_photons_are_refined(
    tmp_path: Path,
    criteria: str,
    fields: list[str] | None,
    thresholds: list[float] | None,
    floor: float | None,
    status: dict[str, str],
) -> None:
    done, found, _ = converted(tmp_path, {"rt_err_grad_xHII=0.4\nrt_floor_xHII=0.1": criteria})
    assert found.get("refine.gradient_fields") == fields
    assert found.get("refine.gradient") == thresholds
    assert found.get("refine.floor") == floor
    given = statuses(done)
    assert {name: given[f"rt_params/{name}"] for name in status} == status


@pytest.mark.parametrize(
    ("criteria", "floor", "status"),
    [
        ("err_grad_d=0.2\nfloor_d=1d-4", 1e-4, CARRIED),
        ("err_grad_p=0.2\nfloor_p=1d-4", 1e-4, CARRIED),
        ("err_grad_d=0.2\nerr_grad_p=0.1\nfloor_d=1d-4", None, BY_HAND),
    ],
)
def test_the_floor_of_the_only_gradient_is_carried_over(
    tmp_path: Path, criteria: str, floor: float | None, status: str
) -> None:
    changes = {
        "rt_err_grad_xHII=0.4\nrt_floor_xHII=0.1\n": "",
        "interpol_type=1": f"interpol_type=1\n{criteria}",
    }
    done, found, _ = converted(tmp_path, changes)
    assert found.get("refine.floor") == floor
    name = "floor_p" if "floor_p" in criteria else "floor_d"
    assert statuses(done)[f"refine_params/{name}"] == status


def test_refinement_by_photons_is_accepted(tmp_path: Path, program: str) -> None:
    changes = {"rt_err_grad_xHII=0.4\nrt_floor_xHII=0.1": "rt_err_grad_n=0.3"}
    _, found, written = converted(tmp_path, changes)
    assert found["mesh.max_level"] > 0
    (tmp_path / "new.toml").write_text(written)
    result = subprocess.run(
        [program, "check", str(tmp_path / "new.toml")], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("setting", "group", "parameter"),
    [
        ("eos_params=1.4,6d8", "material_params", "p_inf of the stiffened gas"),
        ("eos_type='x'", "material_params", "white_dwarf, gas_radiation or table"),
        ("eos=.true.", "hydro_params", "table by hand"),
        ("eos_name='stiffened gas'", "hydro_params", "stiffened by hand"),
    ],
)
def test_equations_of_state_with_a_counterpart_are_named(
    tmp_path: Path, setting: str, group: str, parameter: str
) -> None:
    new = "&MATERIAL_PARAMS\n" + setting + "\n/\n\n&REFINE_PARAMS"
    changes = {"&REFINE_PARAMS": new}
    if group == "hydro_params":
        changes = {"&HYDRO_PARAMS": f"&HYDRO_PARAMS\n{setting}"}
    done, _, _ = converted(tmp_path, changes)
    (row,) = [row for row in done.rows if row.setting.startswith(f"{group}/eos")]
    assert row.status == BY_HAND
    assert parameter in row.now
