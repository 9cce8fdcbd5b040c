"""Realistic namelists of RAMSES and cuRAMSES: the physics that they become."""

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from test_inputs import statuses

from octools.inputs import ramses
from octools.inputs.conversion import BY_HAND, CARRIED, CHANGED, LOST, NOT_USED, UNKNOWN, Conversion

NAMELISTS = Path(__file__).with_name("namelists")
NAMES = (
    "galaxy_old",
    "cosmology_curamses",
    "box_modern",
    "zoom_music",
    "disc_isolated",
    "turbulence_sinks",
)

GALAXY_OLD = {
    "mesh.base_cells": [32, 32, 32],
    "mesh.max_level": 2,
    "mesh.upper": [20.0, 20.0, 20.0],
    "mesh.boundary_z": ["diode", "diode"],
    "problem.density": "in_region_2 ? 10.0 : (0.001)",
    "problem.velocity": ["0.0", "in_region_2 ? 0.1 : (0.0)", "0.0"],
    "problem.pressure": "0.05",
    "problem.species.metals": "0.002",
    "time.end": 5.0,
    "time.cfl": 0.6,
    "output.snapshot_times": [1.0, 2.0],
    "output.history_interval": 5,
    "hydro.riemann": "hllc",
    "hydro.dual_energy": "on",
    "gravity.tolerance": 1e-5,
    "refine.mass": [8.0, 8.0],
    "refine.mass_unit": 1e-3,
    "refine.jeans": 4.0 * 1.6666667**0.5,
    "balance.decomposition": "ksection",
    "units.length": 3.0856776e21,
    "cooling.enabled": True,
    "cooling.method": "original",
    "cooling.uv_background": "none",
    "cooling.initial_metallicity": 0.0,  # z_ave is for cosmological runs; here, var_region
    "floor.kind": "polytrope",
    "floor.temperature": 1e4,
    "floor.density": 5.0,
    "floor.index": 1.6667,
    "stars.enabled": True,
    "stars.efficiency": 0.1635449 * 50.0**-0.5 / 3.0,  # of t_star
    "stars.density": 5.0,
    "stars.overdensity": 200.0,
    "stars.mass": 0.5 * 1e-3 * 6.77e-23 * 3.0856776e21**3 / 1.98841e33,
    "supernovae.mode": "kinetic",
    "supernovae.fraction": 0.1,
    "supernovae.yield": 0.1,
    "supernovae.delay": 5.0,
    "supernovae.kinetic_fraction": 0.5,
    "supernovae.radius": 2.0,
    "supernovae.least_radius": 150.0,
}

COSMOLOGY_CURAMSES = {
    "problem.name": "cosmology",
    "cosmology.omega_b": 0.047,
    "cosmology.w0": -0.9,
    "cosmology.wa": 0.1,
    "cosmology.end": "a = 0.5",
    "cosmology.snapshots": ["a = 0.1", "a = 0.2", "a = 0.3333", "a = 0.5"],
    "mesh.max_level": 7,
    "refine.mass": [8.0 * (1 - 0.047 / 0.3111)] * 7,
    "refine.gas_weight": 0.3111 / 0.047 - 1,
    "refine.holdback": True,
    "hydro.gamma": 5 / 3,
    "hydro.dual_energy": "overwrite",
    "balance.decomposition": "ksection",
    "balance.cost": "memory",
    "balance.time_alpha": 0.4,
    "balance.tolerance": 0.1,
    "balance.interval": 5,
    "comm.exchange": "auto",
    "execution.schedule": "auto",
    "gravity.base": "fft",
    "io.chunk_files": 64,
    "output.formats": ["octant"],
    "run.control_file": "control.toml",
    "run.walltime": 23.5 * 3600,
    "run.walltime_margin": 1200.0,
    "cooling.method": "exact",
    "cooling.uv_background": "own",
    "cooling.reionization": 10.0,
    "cooling.initial_metallicity": 1e-3,
    "cooling.solar_metallicity": 0.02,
    "floor.kind": "polytrope",
    "floor.index": 1.6,
    "stars.efficiency": 0.02,
    "stars.overdensity": 55.0,
    "supernovae.mode": "kinetic",
    "supernovae.energy": 1.5e51,
    "supernovae.kinetic_fraction": 1.0,
    "black_holes.enabled": True,
    "black_holes.seed_mass": 1e5,
    "black_holes.gas_density": 0.5,
    "black_holes.exclusion": 50.0,
    "black_holes.boost": 2.0,
    "black_holes.boost_density": 0.1,
    "black_holes.velocity_limit": 0.0,
    "black_holes.eddington": True,
    "black_holes.drag": True,
    "black_holes.merge_length": 4.0,
    "black_holes.merge_bound": True,
    "black_holes.spin": True,
    "agn.enabled": True,
    "agn.mad": True,
    "agn.radio_threshold": 0.01,
    "agn.maximum_temperature": 3e9,
    "agn.mass_loading": 100.0,
    "agn.jet_trigger": 0.0,
}

BOX_MODERN = {
    "problem.density": "1.0",
    "time.end": 0.5,
    "time.max_steps": 500,
    "output.snapshot_interval": 0.1,
    "hydro.riemann": "llf",
    "hydro.limiter": "mc",
    "refine.gradient": [0.2],
    "refine.jeans": 8.0 * 1.6666667**0.5,
    "units.time": 3.15576e13,
    "cooling.uv_background": "courty",
    "cooling.self_shielding": "none",
    "cooling.initial_metallicity": 1.0,
    "cooling.maximum_temperature": 1e9,
    "cooling.delayed": True,
    "cooling.delay_time": 10.0,
    "floor.kind": "jeans",
    "floor.jeans_cells": 4.0,
    "stars.model": "multi_freefall_km",
    "stars.efficiency": 0.01,
    "stars.density": 10.0,
    "stars.mass": 0.0,
    "supernovae.mode": "thermal",
    "supernovae.radius": 0.0,
    "supernovae.fraction": 0.2,
    "supernovae.yield": 0.0,  # metal = .false.
    "supernovae.delay": 20.0,
    "black_holes.enabled": True,
    "black_holes.seed_mass": 1e5,
    "black_holes.gas_density": 50.0,
    "black_holes.boost": 2.0,
    "black_holes.boost_density": 0.2,
    "black_holes.eddington": True,
    "black_holes.drag": False,
    "black_holes.spin": False,
    "agn.enabled": True,
    "agn.mad": False,
    "agn.radio_threshold": 0.0,  # no jets: AGN_fbk_frac_mom = 0
    "agn.thermal_efficiency": 0.15,
    "agn.heating_trigger": 1e7,
    "agn.maximum_temperature": 1e9,
}

ZOOM_MUSIC = {
    "mesh.base_cells": [32, 32, 32],
    "mesh.max_level": 4,
    "problem.name": "cosmology",
    "cosmology.omega_b": 0.045,
    "cosmology.end": "a = 1.0",
    "hydro.dual_energy": "overwrite",
    "hydro.density_floor": 1e-11,
    "hydro.scalars": 1,
    "refine.mass_scalar": 0,
    "refine.mass_scalar_above": 0.01,
    "refine.mass": [8.0 * (1 - 0.045 / 0.3111) / 64.0] * 4,  # of the finest cells of the files
    "refine.buffer": 4,
    "gravity.tolerance": 1e-5,
    "cooling.uv_background": "courty",
    "cooling.self_shielding": "exponential",
    "cooling.reionization": 10.0,
    "floor.index": 2.0,
    "stars.efficiency": 0.02,
    "stars.overdensity": 55.0,
    "supernovae.mode": "kinetic",
    "supernovae.fraction": 0.317,
    "supernovae.yield": 0.0,  # metal = .false.
    "supernovae.kinetic_fraction": 1.0,
    "black_holes.enabled": False,
}

DISC_ISOLATED = {
    "mesh.base_cells": [32, 32, 32],
    "mesh.max_level": 3,
    "mesh.upper": [100.0, 100.0, 100.0],
    "mesh.boundary_z": ["outflow", "outflow"],
    "problem.density": "in_region_2 ? 0.001 : (1e-06)",
    "problem.species.metals": "in_region_2 ? 0.01 : (0.0001)",
    "problem.particle_origin": [50.0, 50.0, 50.0],
    "output.snapshot_times": [0.0, 0.5],
    "time.end": 1.0,
    "time.subcycle": False,
    "refine.mass": [8.0, 8.0, 8.0],
    "refine.mass_unit": 1e-3,
    "refine.jeans": 4.0 * 1.66667**0.5,
    "units.time": 4.70430312423675e14,
    "cooling.uv_background": "none",
    "cooling.delayed": True,
    "floor.kind": "polytrope",
    "stars.efficiency": 0.01,
    "stars.mass": 0.0,
    "supernovae.mode": "thermal",
    "supernovae.yield": 0.1,
    "black_holes.enabled": False,
}

TURBULENCE_SINKS = {
    "mesh.upper": [4.0, 4.0, 4.0],
    "problem.density": "1.0",
    "time.end": 1.0,
    "time.subcycle": False,
    "hydro.riemann": "hll",
    "hydro.limiter": "mc",
    "hydro.equation_of_state": "isothermal",
    # Isothermal sound speed at 10 K with a mean molecular weight of 2.37, in code units.
    "hydro.sound_speed": (1.380649e-16 * 10 / (2.37 * 1.6605390666e-24)) ** 0.5
    * 1.97e14
    / 3.0857e18,
    "refine.jeans": 8.0,
    "turbulence.acceleration": 4.7,
    "turbulence.correlation_time": 2.5,
    "turbulence.solenoidal": 0.5,
    "turbulence.seed": 42,
    "black_holes.enabled": False,  # sinks that stand for stars
}

EXPECTED = {
    "galaxy_old": GALAXY_OLD,
    "cosmology_curamses": COSMOLOGY_CURAMSES,
    "box_modern": BOX_MODERN,
    "zoom_music": ZOOM_MUSIC,
    "disc_isolated": DISC_ISOLATED,
    "turbulence_sinks": TURBULENCE_SINKS,
}


@pytest.fixture
def converted(tmp_path: Path, reference: Path) -> Any:
    """Return a function that converts a namelist beside the files that it needs."""
    (tmp_path / "ic").symlink_to(reference.parent / "galaxy/b10_n032")
    (tmp_path / "zoom").symlink_to(reference.parent / "ics/b50_zoom_l5_l7/grafic")
    (tmp_path / "halo").mkdir()
    (tmp_path / "halo/ic_part").write_text("-3 0 1 0 0.2 0 0.5\n3 1 0 0 -0.2 0 0.5\n")
    shutil.copy(reference.parent / "cooling/CloudyData_UVB=HM2012.h5", tmp_path / "table.h5")

    def convert(name: str, **changes: str) -> tuple[Conversion, dict[str, Any], Path]:
        text = (NAMELISTS / f"{name}.nml").read_bytes().decode()  # with its ends of lines
        for old, new in changes.items():
            text = text.replace(old, new)
        (tmp_path / f"{name}.nml").write_bytes(text.encode())
        done = ramses.convert(tmp_path / f"{name}.nml")
        (tmp_path / "new.toml").write_text(done.finish("RAMSES"))
        return done, flat(tomllib.loads(done.finish("RAMSES"))), tmp_path / "new.toml"

    return convert


def flat(tables: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the parameters of a file by "section.key"."""
    found: dict[str, Any] = {}
    for key, value in tables.items():
        found |= (
            flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
        )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_realistic_namelists_keep_their_physics(converted: Any, name: str) -> None:
    done, found, _ = converted(name)
    for parameter, value in EXPECTED[name].items():
        if isinstance(value, float) or parameter == "refine.mass":
            assert found[parameter] == pytest.approx(value, rel=1e-5), parameter
        else:
            assert found[parameter] == value, parameter
    named = [row.setting.split(" = ")[0] for row in done.rows]
    assert sorted(named) == sorted(done.settings)
    assert [row for row in done.rows if row.status == UNKNOWN] == []


@pytest.mark.parametrize("name", NAMES)
def test_octant_accepts_the_converted_namelists(converted: Any, name: str, program: str) -> None:
    _, _, written = converted(name)
    checked = subprocess.run(
        [program, "check", written], capture_output=True, text=True, timeout=300
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


TABLE_F1 = {
    "ordering": CARRIED,
    "exchange_method": CARRIED,
    "memory_balance": CARRIED,
    "mem_weight_grid": CHANGED,
    "mem_weight_part": CHANGED,
    "mem_weight_sink": CHANGED,
    "time_balance_alpha": CARRIED,
    "gpu_hydro": CHANGED,
    "gpu_poisson": CHANGED,
    "gpu_fft": CARRIED,
    "gpu_sink": CHANGED,
    "gpu_auto_tune": CHANGED,
    "n_cuda_streams": LOST,
    "use_fftw": CARRIED,
    "informat": CARRIED,
    "outformat": CARRIED,
    "varcpu_chunk_nfile": CARRIED,
    "dump_pk": CARRIED,
    "jobcontrolfile": CHANGED,
    "walltime_hrs": CARRIED,
    "minutes_dump": CARRIED,
    "cooling_method": CARRIED,
    "grackle_table": CARRIED,
    "q_refine_holdback": CHANGED,
}


def test_every_setting_of_table_f1_is_converted_or_has_a_reason(converted: Any) -> None:
    done, _, _ = converted("cosmology_curamses")
    found = {name.partition("/")[2]: status for name, status in statuses(done).items()}
    assert len(TABLE_F1) == 24
    assert {name: found[name] for name in TABLE_F1} == TABLE_F1
    assert all(row.now for row in done.rows)


def test_what_is_left_to_do_is_named(converted: Any) -> None:
    done, _, _ = converted("cosmology_curamses")
    by_hand = [row for row in done.rows if row.status == BY_HAND]
    assert [row.setting.split(" = ")[0] for row in by_hand] == ["physics_params/yieldtablefilename"]
    assert "supernovae.table" in by_hand[0].now
    done, _, _ = converted("box_modern")
    found = {row.setting.split(" = ")[0]: row for row in done.rows}
    assert "infrared" in found["feedback_params/kappa_ir"].now
    assert "octools halos" in found["clumpfind_params/relevance_threshold"].now


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("box_modern", "jeans_ncells=4", "T2_star=0.", {"floor.kind": "none"}),
        ("box_modern", "haardt_madau=.true.", "", {"cooling.uv_background": "none"}),
        ("box_modern", "eta_sn=0.2", "", {"supernovae.mode": None}),
        (
            "box_modern",
            "delayed_cooling=.true.",
            "momentum_feedback=1",
            {"supernovae.mode": "mechanical", "cooling.delayed": False},
        ),
        ("box_modern", "smbh=.true.", "smbh=.false.", {"black_holes.enabled": False}),
        ("box_modern", "create_sinks=.true.", "", {"black_holes.seed_mass": 0.0}),
        ("box_modern", "units_", "!", {"cooling.enabled": False, "stars.enabled": False}),
        ("box_modern", "poisson=.true.", "", {"stars.enabled": False, "gravity.enabled": None}),
        ("galaxy_old", "t_star = 3.0", "eps_star=0.04", {"stars.efficiency": 0.04}),
        ("galaxy_old", "f_w = 1.0", "f_w=0", {"supernovae.mode": "thermal"}),
        ("cosmology_curamses", "levelmax=12", "levelmax=9", {"refine.holdback": False}),
        ("cosmology_curamses", "=.true.\nMseed", "=.false.\nMseed", {"agn.mad": False}),
        (
            "cosmology_curamses",
            "yieldtablefilename='yields.txt'",
            "eta_sn=0.2\nyield=0.05",
            {"supernovae.fraction": 0.2, "supernovae.yield": 0.05, "supernovae.population": None},
        ),
        ("cosmology_curamses", "ordering='ksection'", "", {"balance.cost": None}),
        ("cosmology_curamses", "_grid=0", "_grid=1500", {"balance.weight_grid": 1500.0 * 64}),
        ("cosmology_curamses", "_part=12", "_part=120", {"balance.weight_part": 120.0}),
        ("cosmology_curamses", "_sink=500", "_sink=4d3", {"balance.weight_sink": 4000.0}),
        ("cosmology_curamses", "_sink=500", "_sink=500.", {"balance.weight_sink": None}),
    ],
)
def test_settings_that_depend_on_each_other(
    converted: Any, name: str, old: str, new: str, expected: dict[str, Any]
) -> None:
    _, found, _ = converted(name, **{old: new})
    assert {parameter: found.get(parameter) for parameter in expected} == expected


def test_a_cosmological_namelist_without_its_files_says_what_is_missing(converted: Any) -> None:
    missing = {"'ic/level_005'": "'elsewhere/level_005'", "m_refine=7*8.": "m_refine=2*8."}
    done, found, _ = converted("cosmology_curamses", **missing)
    by_hand = {row.setting.split(" = ")[0]: row.now for row in done.rows if row.status == BY_HAND}
    assert "level_005" in by_hand["init_params/initfile"]
    assert "(1 - f)" in by_hand["refine_params/m_refine"]
    assert "mass_sph" in by_hand["physics_params/m_star"]
    assert found["refine.mass"] == [8.0, 8.0, *[1e30] * 5]


def test_units_are_not_written_in_cosmological_runs(converted: Any) -> None:
    done, found, _ = converted("cosmology_curamses", **{"z_reion": "units_length=3d21\nz_reion"})
    assert "units.length" not in found
    assert statuses(done)["physics_params/units_length"] == NOT_USED


def test_mass_units_follow_the_finest_level_of_zoom_files(reference: Path) -> None:
    done = ramses.convert(reference.parent / "ics/b50_zoom_l5_l7/grafic/ramses.nml")
    found = flat(tomllib.loads(done.finish("RAMSES")))
    share = found["cosmology.omega_b"] / found["cosmology.omega_m"]
    assert found["refine.mass"][0] == pytest.approx(8.0 * (1 - share) / 8.0**2, rel=1e-6)
    assert found["refine.mass_scalar"] == 0
    assert found["refine.mass_scalar_above"] == 0.01
    assert found["hydro.scalars"] == 1
    assert found["cosmology.omega_b"] == 0.045  # the default of RAMSES


WITH_PARTICLES = """&RUN_PARAMS
hydro=.true.
poisson=.true.
pic=.true.
nstepmax=10
/
&AMR_PARAMS
levelmin=4
levelmax=5
boxlen=2.0
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='ic'
nregion=2
region_type(1)='square'
region_type(2)='point'
x_center=1.0,1.0
y_center=1.0,1.0
z_center=1.0,1.0
length_x=10.0,1.0
length_y=10.0,1.0
length_z=10.0,1.0
exp_region=10.0,10.0
d_region=1.0,0.0
p_region=0.1,0.4
/
"""


@pytest.mark.parametrize(
    ("text", "is_there", "status", "words"),
    [
        (WITH_PARTICLES, True, CARRIED, "problem.particle_table"),
        (WITH_PARTICLES, False, BY_HAND, "ic/ic_part is missing"),
        (WITH_PARTICLES.replace("pic=.true.", "pic=.false."), True, NOT_USED, "pic = .true."),
    ],
)
def test_particles_beside_regions_of_gas(
    tmp_path: Path, text: str, is_there: bool, status: str, words: str
) -> None:
    """RAMSES counts the coordinates of ic_part from the centre of the box."""
    (tmp_path / "ic").mkdir()
    if is_there:
        (tmp_path / "ic/ic_part").write_text("0.5 0 0 0 0 0 1e-3\n")
    (tmp_path / "run.nml").write_text(text)
    done = ramses.convert(tmp_path / "run.nml")
    [row] = [row for row in done.rows if row.setting.startswith("init_params/initfile")]
    assert row.status == status
    assert words in row.now
    problem = tomllib.loads(done.finish("RAMSES"))["problem"]
    if status == NOT_USED:
        assert problem["name"] == "sedov"
        return
    assert problem["name"] == "expression"  # the blast wave has no particles
    assert ("particle_table" in problem) == is_there
    if not is_there:
        return
    assert problem["particle_table"].endswith("ic/ic_part")
    assert problem["particle_origin"] == [1.0, 1.0, 1.0]


def test_a_table_of_yields_without_stars_is_not_used(tmp_path: Path) -> None:
    """A run of cuRAMSES needs the file even without stars."""
    text = WITH_PARTICLES + "&PHYSICS_PARAMS\nyieldtablefilename='yield.txt'\n/\n"
    (tmp_path / "run.nml").write_text(text)
    done = ramses.convert(tmp_path / "run.nml")
    assert statuses(done)["physics_params/yieldtablefilename"] == NOT_USED
    assert "supernovae" not in tomllib.loads(done.finish("RAMSES"))
