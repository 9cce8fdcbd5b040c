"""Other codes' parameter files: what they say, what became of each setting, and what is refused."""

import os
import re
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Call

from octools.errors import OctoolsError
from octools.inputs.codes import codes, convert
from octools.inputs.conversion import BY_HAND, CARRIED, CHANGED, LOST, NOT_USED, Conversion

NAMELIST = """
Free text before the groups.
&RUN_PARAMS
hydro=.true.
nsubcycle=1,1,2
nremap=7
verbose=.true.
/
&AMR_PARAMS
levelmin=4, levelmax=6
ngridmax=1000
boxlen=2d0
/
&INIT_PARAMS
nregion=3
region_type(1)='square'
region_type(2)='square'
region_type(3)='square'
x_center=1.0,0.5,1.0
y_center=1.0,1.0,1.0
z_center=1.0,1.0,1.0
length_x=10.0,1.0,0.5
length_y=10.0,10.0,0.5
length_z=10.0,10.0,0.5
exp_region=3*10.0
exp_region(3)=2.0
d_region=1.0,2.0,3.0
u_region=0.0,-1.0,0.0
p_region=3*0.1
/
&OUTPUT_PARAMS
tout=0.1,0.2,0.5
tend=0.4
/
&HYDRO_PARAMS
gamma=1.6667
slope_type=2
riemann='acoustic'
smallr=1e-8
/
&REFINE_PARAMS
err_grad_d=0.1
jeans_refine=8.,4.,2.
x_refine=1.0
/
&BOUNDARY_PARAMS
nboundary=2
ibound_min=-1,+1
ibound_max=-1,+1
bound_type=1,2
/
&COOLING_PARAMS
cooling=.true.
/
"""

INI = """
problem=blast
odt=0.1
stop_time=0.01
gravity=off
max_level=3   # a comment
#unigrid=1
theta=0.35
"""

STAR = """
problem=rotating_star
xscale=2.0
odt=0.5
stop_time=100
max_level=4
min_level=2
theta=0.34
input_file=rotating_star.bin
n_species=5
rotating_star_x=0.033
correct_am_grav=on
silo_num_groups=8
"""

ATHINPUT = """
<comment>
problem = spherical blast wave
<job>
basename = Blast
<mesh>
nx1 = 64           # cells
x1min = -0.5
x1max = 0.5
ix1_bc = periodic
ox1_bc = periodic
nx2 = 96
x2min = -0.75
x2max = 0.75
ix2_bc = reflect
ox2_bc = outflow
nx3 = 1
x3min = -0.5
x3max = 0.5
<meshblock>
nx1 = 32
<mesh_refinement>
refinement = adaptive
num_levels = 3
dpres_max = 0.25
<time>
integrator = vl2
cfl_number = 0.2
tlim = 1.0
nlim = -1
<hydro>
eos = ideal
rsolver = hlle
reconstruct = ppmx
gamma = 1.4
<problem>
pgen_name = blast
pn_amb = 0.1
prat = 100.
inner_radius = 0.1
outer_radius = 0.2
<output1>
file_type = vtk
dt = 0.05
<output2>
file_type = hst
dt = 0.001
"""

CANS = """
&dns
ng(1:3) = 32, 16, 24
l(1:3) = 3.d0, 1.5d0, 1.d0
gtype = 1, gr = 2.d0
cfl = 0.95, dtmax = 1.e5, dt_f = -1.
visci = 1000.d0
inivel = 'poi'
is_wallturb = T
nstep = 50, time_max = 100., tw_max = 0.1
stop_type(1:3) = T, F, T
restart = T, is_overwrite_save = F, nsaves_max = 3
icheck = 10, iout0d = 20, iout1d = 10, iout2d = 0, iout3d = 1, isave = 50
cbcvel(0:1,1:3,1) = 'P','P',  'P','P',  'D','D'
cbcvel(0:1,1:3,2) = 'P','P',  'P','P',  'D','D'
cbcvel(0:1,1:3,3) = 'P','P',  'P','P',  'D','D'
cbcpre(0:1,1:3)   = 'P','P',  'P','P',  'N','N'
bcvel(0:1,1:3,1) =  0.,0.,   0.,0.,   0.,0.
bcpre(0:1,1:3)   =  0.,0.,   0.,0.,   0.,0.
bforce(1:3) = 0., 0., 0.
is_forced(1:3) = T, F, F
velf(1:3) = 1., 0., 0.
dims(1:2) = 2, 1, ipencil_axis = 1
/
&cudecomp
cudecomp_t_comm_backend = 0, cudecomp_is_t_enable_nccl = T
/
&numerics
is_impdiff = F, is_impdiff_1d = T
is_poisson_dtdma = F
/
&other_options
is_debug = T, is_timing = T
/
"""


def converted(path: Path, text: str) -> tuple[Conversion, dict[str, Any]]:
    """Convert a file, and read what it became."""
    path.write_text(text)
    code = next(code for code in codes() if code.knows(path))
    done = code.convert(path)
    return done, tomllib.loads(done.finish(code.name))


def statuses(done: Conversion) -> dict[str, str]:
    return {row.setting.split(" = ")[0]: row.status for row in done.rows}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.nml", NAMELIST),
        ("input.nml", CANS),
        ("blast.ini", INI),
        ("star.ini", STAR),
        ("athinput.blast", ATHINPUT),
    ],
)
def test_every_setting_is_accounted_for_once(tmp_path: Path, name: str, text: str) -> None:
    done, _ = converted(tmp_path / name, text)
    named = [row.setting.split(" = ")[0] for row in done.rows]
    assert sorted(named) == sorted(done.settings)


def test_regions_of_ramses_become_formulas(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "run.nml", NAMELIST)
    assert found["mesh"]["base_cells"] == [16, 16, 16]
    assert found["mesh"]["max_level"] == 2
    assert found["mesh"]["upper"] == [2.0, 2.0, 2.0]
    assert found["mesh"]["boundary_x"] == ["reflecting", "outflow"]
    assert found["mesh"]["boundary_y"] == ["periodic", "periodic"]
    problem = found["problem"]
    assert problem["name"] == "expression"
    assert problem["density"] == "in_region_3 ? 3.0 : (in_region_2 ? 2.0 : (1.0))"
    assert problem["velocity"][0] == "in_region_3 ? 0.0 : (in_region_2 ? -1.0 : (0.0))"
    assert problem["velocity"][1] == "0.0"
    assert problem["pressure"] == "0.1"
    sides = "abs(x - 0.5) * 2.0 < 1 && abs(y - 1.0) * 0.2 < 1 && abs(z - 1.0) * 0.2 < 1"
    assert problem["terms"]["in_region_2"] == sides
    assert problem["terms"]["in_region_3"].endswith(" + (abs(z - 1.0) * 4.0)^2.0 < 1")
    assert found["time"]["end"] == 0.4
    assert found["output"]["snapshot_times"] == [0.1, 0.2]
    assert found["hydro"]["riemann"] == "exact"
    assert found["hydro"]["limiter"] == "mc"
    assert found["balance"]["interval"] == 7
    status = statuses(done)
    assert status["hydro_params/smallr"] == CARRIED
    assert status["hydro_params/riemann"] == CHANGED
    assert status["run_params/verbose"] == status["refine_params/x_refine"] == LOST
    assert status["cooling_params/cooling"] == BY_HAND  # without units
    assert found["cooling"]["enabled"] is False


def test_jeans_lengths_of_ramses_begin_with_levelmin(tmp_path: Path) -> None:
    """RAMSES has the isothermal speed of sound, Octant the adiabatic one."""
    done, found = converted(tmp_path / "run.nml", NAMELIST)
    assert "jeans" not in found["refine"]
    assert statuses(done)["refine_params/jeans_refine"] == NOT_USED
    text = NAMELIST.replace("hydro=", "poisson=.true.\nhydro=")
    done, found = converted(tmp_path / "run.nml", text)
    assert found["refine"]["jeans"] == pytest.approx(8.0 * 1.6667**0.5, rel=1e-5)
    assert statuses(done)["refine_params/jeans_refine"] == CHANGED
    assert "the largest number" in next(r.now for r in done.rows if "jeans_refine" in r.setting)
    done, found = converted(tmp_path / "run.nml", text.replace("8.,4.,2.", "2*0.,8."))
    assert "jeans" not in found["refine"]  # 8 is the number of level 6, which is not refined


def test_a_point_of_ramses_becomes_a_blast(tmp_path: Path) -> None:
    text = NAMELIST.replace("nregion=3", "nregion=2")
    text = text.replace("(2)='square'", "(2)='point'").replace("u_region=0.0,-1.0,0.0", "")
    text = text.replace("d_region=1.0,2.0", "d_region=1.0,0.0").replace("3*0.1", "1e-5,0.4")
    _, found = converted(tmp_path / "run.nml", text)
    assert found["problem"]["name"] == "sedov"
    assert found["problem"]["energy"] == pytest.approx(0.4 / 0.6667)
    assert found["problem"]["centre"] == [0.5, 1.0, 1.0]


def test_points_of_ramses_with_mass_add_to_the_gas(tmp_path: Path) -> None:
    text = NAMELIST.replace("(2)='square'", "(2)='point'")
    _, found = converted(tmp_path / "run.nml", text)
    problem = found["problem"]
    assert problem["name"] == "expression"
    assert problem["terms"]["at_point_2"] == (
        "max(0, 1 - abs(x - 0.5) / cell_size) * max(0, 1 - abs(y - 1.0) / cell_size) * "
        "max(0, 1 - abs(z - 1.0) / cell_size)"
    )
    assert problem["density"] == "in_region_3 ? 3.0 : ((1.0) + 2.0 * at_point_2 / cell_size^3)"
    assert problem["velocity"][0] == "in_region_3 ? 0.0 : (-1.0 * at_point_2)"
    assert problem["pressure"] == "in_region_3 ? 0.1 : ((0.1) + 0.1 * at_point_2 / cell_size^3)"


def test_a_galactic_disc_of_ramses_pulls_as_kuijken_and_gilmore_found(tmp_path: Path) -> None:
    text = NAMELIST.replace("hydro=.true.", "hydro=.true.\npoisson=.true.")
    gravity = "&POISSON_PARAMS\ngravity_type=3\ngravity_params=1.42d-3,5.49d-4,0.18d3\n/\n"
    units = "&UNITS_PARAMS\nunits_length=3.0856775814913673d20\nunits_time=3.15576d13\n/\n"
    _, found = converted(tmp_path / "run.nml", text + gravity + units)
    x, y, force = found["sources"]["acceleration"]
    assert (x, y) == ("0", "0")
    z = 1.0 + 2.5  # the disc is in the middle of the box of 2; the unit of length is 100 pc
    value = eval(force.replace("^", "**"), {"z": z, "sqrt": np.sqrt})
    expected = -1.42e-3 * 0.25 / np.hypot(0.25, 0.18) - 5.49e-4 * 0.25  # kpc/Myr²
    assert value == pytest.approx(expected * 10, rel=1e-12)  # of 100 pc/Myr²


def test_boundaries_of_ramses_without_a_type_remain_periodic(tmp_path: Path) -> None:
    text = NAMELIST.replace("bound_type=1,2", "bound_type=0,0")
    _, found = converted(tmp_path / "run.nml", text)
    assert found["mesh"]["boundary_x"] == ["periodic", "periodic"]


def test_a_blast_of_octo_tiger(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "blast.ini", INI)
    assert found["problem"]["name"] == "sedov"
    assert found["mesh"]["base_cells"] == [16, 16, 16]
    assert found["mesh"]["max_level"] == 2
    assert found["mesh"]["lower"] == [-1.0, -1.0, -1.0]
    assert found["time"]["end"] == 0.01
    assert found["gravity"]["enabled"] is False
    assert found["hydro"]["contact_steepening"] is True  # unless cdisc_detect says no
    assert statuses(done)["theta"] == LOST


def test_an_oblique_tube_of_octo_tiger(tmp_path: Path) -> None:
    text = "problem = sod\nstop_time = 0.1\nsod_theta = 45\n"
    _, found = converted(tmp_path / "sod.ini", text)
    assert found["problem"]["density"] == "left ? 1.0 : 0.125"
    factors = [float(part.split("*")[0]) for part in found["problem"]["terms"]["left"].split(" + ")]
    assert factors == pytest.approx([0.5**0.5] * 2)
    _, straight = converted(tmp_path / "sod.ini", text.replace("45", "90"))
    assert straight["problem"]["name"] == "riemann"
    assert straight["problem"]["axis"] == "y"


def test_a_star_of_octo_tiger(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "star.ini", STAR)
    assert found["problem"]["name"] == "rotating_star"
    assert found["problem"]["centre"] == [0.033, 0.0, 0.0]
    assert found["mesh"]["base_cells"] == [32, 32, 32]
    assert found["refine"] == {"density": [1.25e-4, 1e-3]}  # of levels 2 and 3
    assert found["gravity"] == {"enabled": True, "solver": "fmm", "theta": 0.34}
    assert found["frame"]["angular_velocity"] == pytest.approx(0.5156, rel=1e-3)
    assert statuses(done)["theta"] == statuses(done)["correct_am_grav"] == CARRIED
    assert statuses(done)["silo_num_groups"] == LOST


def test_diodes_of_athenak_remain_diodes(tmp_path: Path) -> None:
    text = ATHINPUT.replace("ox2_bc = outflow", "ox2_bc = diode")
    _, found = converted(tmp_path / "athinput.blast", text)
    assert found["mesh"]["boundary_y"] == ["reflecting", "diode"]


def test_a_blast_of_athena_in_two_dimensions(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "athinput.blast", ATHINPUT)
    assert found["mesh"]["base_cells"] == [64, 96, 8]
    assert found["mesh"]["upper"] == [0.5, 0.75, -0.375]
    assert found["mesh"]["boundary_y"] == ["reflecting", "outflow"]
    assert found["mesh"]["max_level"] == 2
    problem = found["problem"]
    assert problem["pressure"] == "0.1 * 100.0^inside"
    assert problem["terms"]["radius"] == "sqrt((x - 0.0)^2 + (y - 0.0)^2)"
    assert list(problem["terms"]) == ["radius", "inside"]
    assert found["refine"]["gradient"] == [0.125]
    assert found["hydro"]["riemann"] == "hll"
    assert found["hydro"]["scheme"] == "muscl_hancock"
    assert found["time"]["cfl"] == pytest.approx(0.6)
    assert found["output"]["snapshot_interval"] == 0.05
    assert statuses(done)["time/integrator"] == CHANGED
    assert statuses(done)["job/basename"] == LOST


def test_a_channel_of_cans(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "input.nml", CANS)
    assert found["grid"]["cells"] == [32, 16, 24]
    assert found["time"] == {"end": 1e9, "max_steps": 50, "cfl": 0.95, "largest_step": 1e5}
    assert found["run"]["walltime"] == 360.0
    assert found["output"] == {"history_interval": 20, "checkpoint_keep": 3}
    status = statuses(done)
    assert status["bcvel_1"] == status["nsaves_max"] == CARRIED
    assert status["visci"] == status["cbcpre"] == CHANGED
    for lost in ("restart", "iout3d", "dims", "cudecomp_is_t_enable_nccl", "time_max"):
        assert status[lost] == LOST, lost


HEATED = (
    CANS.replace("'poi'", "'zer'")
    .replace("is_wallturb = T", "is_wallturb = F")
    .replace("is_forced(1:3) = T", "gacc(1:3) = 0., 0., -2., nscal = 1\nis_forced(1:3) = F")
    .replace("gr = 2.d0", "gr = 0.")
    + """
&scalar
iniscal(:) = 'cou'
alphai(:) = 800., beta = 1.5
cbcscal(0:1,1:3,:) = 'P','P', 'P','P', 'D','N'
bcscal(0:1,1:3,:) = 0.,0., 0.,0., 0.5,0.
ssource(:) = 0., is_sforced(:) = F, scalf(:) = 0.
is_boussinesq_buoyancy = T
/
"""
)


def test_a_scalar_of_cans(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "input.nml", HEATED)
    scalar = found["scalar"]
    assert scalar["diffusivity"] == 1 / 800.0
    assert scalar["buoyancy"] == 3.0  # what is warm rises against gravity
    assert scalar["boundary_z"] == ["value", "insulated"]
    assert scalar["values_z"] == [0.5, 0.0]
    assert found["problem"]["scalar"] == "0.5 + (0.0 - 0.5) * z / 1.0"
    assert statuses(done)["alphai"] == CHANGED
    for text, message in (
        ("ssource(:) = 0.", "sources of the scalar"),
        ("gacc(1:3) = 0.", "along z only"),
        ("0.5,0.", "a scalar flux"),
    ):
        with pytest.raises(OctoolsError, match=message):
            converted(tmp_path / "input.nml", HEATED.replace(text, text[:-2] + "7."))


def test_vortices_of_cans_decay_as_they_must(tmp_path: Path, octools: Call, program: str) -> None:
    """The energy of plane Taylor-Green vortices falls as exp(-4 nu t)."""
    text = CANS.replace("'poi'", "'tgw'").replace("is_wallturb = T", "is_wallturb = F")
    text = text.replace("32, 16, 24", "32, 32, 8").replace("gr = 2.d0", "gr = 0.")
    text = text.replace("3.d0, 1.5d0, 1.d0", "6.283185307179586, 6.283185307179586, 1.57")
    text = (
        text.replace("'D','D'", "'P','P'")
        .replace("'N','N'", "'P','P'")
        .replace("T, F, T", "F, T, F")
    )
    text = text.replace("1000.d0", "10.").replace("is_forced(1:3) = T", "is_forced(1:3) = F")
    text = text.replace("time_max = 100.", "time_max = 0.5").replace("iout0d = 20", "iout0d = 1")
    (tmp_path / "input.nml").write_text(text)
    assert octools("convert", tmp_path / "input.nml").returncode == 0
    settings = ["--set", "output.directory=run", "--set", "telemetry.enabled=false"]
    words = [program, "run", "input.toml", *settings]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = np.genfromtxt(tmp_path / "run/history.csv", delimiter=",", names=True)
    energy = rows["kinetic_u"] + rows["kinetic_v"]
    expected = energy[0] * np.exp(-0.4 * (rows["time"] - rows["time"][0]))
    assert energy == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.nml", NAMELIST.replace("acoustic", "roe"), "'roe' is a solver of magnetohydrodyn"),
        ("a.nml", NAMELIST.replace("acoustic", "hllx"), "expected llf, hll, hllc, exact, acoustic"),
        (
            "a.nml",
            NAMELIST.replace("bound_type=1,2", "bound_type=1,4"),
            "boundary 2 .*unknown type",
        ),
        ("a.nml", NAMELIST.replace("nregion=3", "nregion=0"), "neither gas regions"),
        ("a.nml", NAMELIST.replace("nboundary=2", "nboundary=1"), "only one x boundary"),
        ("a.nml", "&AMR_PARAMS\nlevelmin=\n", "not a complete namelist|neither gas regions"),
        ("a.ini", INI.replace("blast", "marshak"), "supported: sod, blast, rotating_star"),
        ("a.ini", "problem blast\n", "not a complete parameter file of Octo-Tiger"),
        ("a.athinput", ATHINPUT.replace("<hydro>", "<mhd>"), "<mhd> has no counterpart"),
        ("a.athinput", ATHINPUT.replace("= hlle", "= lhllc"), "rsolver = lhllc"),
        (
            "a.athinput",
            ATHINPUT.replace("nx2 = 96", "nx2 = 100"),
            "not a multiple of the block size, 8",
        ),
        ("a.athinput", ATHINPUT.replace("nx2 = 96", "nx2 = many"), "mesh/nx2 = many cannot"),
        ("a.nml", NAMELIST.replace("boxlen=2d0", "boxlen='2 m'"), "amr_params/boxlen = 2 m cannot"),
        ("a.nml", NAMELIST.replace("levelmax=6", "levelmax=("), "a.nml is not a complete namelist"),
        ("a.nml", CANS.replace("visci = ", "visci = 0 "), "visci = 0.* cannot be converted"),
        ("a.ini", re.sub("max_level *=.*", "max_level=fine", INI), "max_level = fine cannot"),
    ],
)
def test_what_has_no_counterpart_is_refused(
    tmp_path: Path, octools: Call, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    result = octools("convert", tmp_path / name)
    assert result.returncode == 2
    assert re.search(message, result.stderr), result.stderr
    assert not (tmp_path / "a.toml").exists()


def test_a_file_that_is_there_is_kept(tmp_path: Path, octools: Call) -> None:
    (tmp_path / "run.nml").write_text(NAMELIST)
    (tmp_path / "run.toml").write_text("tuned by hand")
    result = octools("convert", tmp_path / "run.nml")
    assert result.returncode == 2
    assert "run.toml already exists" in result.stderr
    assert (tmp_path / "run.toml").read_text() == "tuned by hand"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.nml", NAMELIST),
        ("input.nml", CANS),
        ("input.nml", HEATED),
        ("blast.ini", INI),
        ("star.ini", STAR),
        ("sod.ini", "problem=sod\nstop_time=0.1\nsod_theta=45"),
        ("athinput.blast", ATHINPUT),
        ("athinput.blast", ATHINPUT.replace("ox2_bc = outflow", "ox2_bc = diode")),
    ],
)
def test_octant_understands_what_was_converted(
    tmp_path: Path, octools: Call, name: str, text: str, program: str
) -> None:
    (tmp_path / name).write_text(text)
    result = octools("convert", tmp_path / name, "--output", tmp_path / "new.toml")
    assert result.returncode == 0
    assert "no counterpart" in (tmp_path / "new.toml").read_text() or name in (
        "sod.ini",
        "dwarf.ini",
    )
    words = [program, "check", str(tmp_path / "new.toml")]
    checked = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_inputs_of_real_runs_are_understood(tmp_path: Path, reference: Path) -> None:
    """Every key of each is in its table, and Octant takes the result, if it finds its files."""
    program = os.environ.get("OCTANT_PROGRAM")
    inputs = sorted(reference.parent.rglob("*.nml"))
    assert inputs
    for number, path in enumerate(inputs):
        new = tmp_path / f"{number}.toml"
        done = convert(path, new)
        named = sorted(row.setting.split(" = ")[0] for row in done.rows)
        assert named == sorted(done.settings), path
        if program and "the files are missing" not in new.read_text():
            checked = subprocess.run(
                [program, "check", str(new)], capture_output=True, text=True, timeout=120
            )
            assert checked.returncode == 0, f"{path}: {checked.stdout}{checked.stderr}"


def test_grafic_files_may_lie_with_their_namelist(tmp_path: Path, reference: Path) -> None:
    """The namelist that MUSIC writes beside its files is for a run above their folder."""
    source = reference.parent / "ics/b50_zoom_l5_l7/grafic/ramses.nml"
    convert(source, tmp_path / "new.toml")
    found = tomllib.loads((tmp_path / "new.toml").read_text())
    assert Path(found["initial"]["path"]) == source.parent.resolve()
    assert found["cosmology"]["box"] == pytest.approx(50.0, rel=1e-6)
    assert found["hydro"]["gamma"] == 5 / 3  # which RAMSES would take for 1.4


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("levelmax=1000000000*1", "1000000000 values"),
        ("levelmax=6\nexp_refine=99999999999999999999*1.", "values"),
        ("levelmax=6\nngrid(1:1000000000)=1", "1000000000 values"),
        ("levelmax=1000000000", "levelmax"),
        ("levelmax=-3", "levelmax"),
    ],
)
def test_lists_and_levels_of_any_size_are_refused_soon(
    tmp_path: Path, change: str, word: str
) -> None:
    path = tmp_path / "run.nml"
    path.write_text(NAMELIST.replace("levelmax=6", change))
    begin = time.process_time()
    with pytest.raises(OctoolsError, match=re.escape(word)):
        convert(path, tmp_path / "out.toml", None)
    assert time.process_time() - begin < 5.0
    assert not (tmp_path / "out.toml").exists()


def test_line_breaks_of_names_and_values_add_no_parameters(tmp_path: Path) -> None:
    name = CANS.replace("is_forced(1:3)", "is_forced(1:& = F\nvelf(1\n[output]\ndirectory")
    for text in (name, CANS + "\n&x\nanother = 'a\n[output]\ndirectory = 1\x07'\n/\n"):
        (tmp_path / "written.toml").unlink(missing_ok=True)
        (tmp_path / "input.nml").write_text(text)
        try:
            convert(tmp_path / "input.nml", tmp_path / "written.toml")
        except OctoolsError:
            continue
        found = tomllib.loads((tmp_path / "written.toml").read_text())
        assert "directory" not in found.get("output", {})


def test_many_groups_of_photons_are_refused(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "namelists" / "stromgren_rt.nml").read_text()
    (tmp_path / "run.nml").write_text(
        re.sub(r"(?im)^(rt_src_group.*=)\s*\d+", r"\g<1>999999999", text)
    )
    with pytest.raises(OctoolsError, match="999999999 groups of photons"):
        convert(tmp_path / "run.nml", tmp_path / "written.toml")
