"""Flows: CaNS's parameter files and fields, wall units, centre lines."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call
from PIL import Image

from octools import cans
from octools.errors import OctoolsError
from octools.flow import FlowSnapshot, is_flow
from octools.flow_figures import (
    FlowSlice,
    centre_lines,
    channel_errors,
    flow_title,
    in_wall_units,
    read_reference,
    read_table,
    save_channel,
    save_slice,
    slice_limits,
)
from octools.inputs import codes
from octools.inputs.conversion import LOST
from octools.movie import save_flow_movie

NAMELIST = """
&dns
ng(1:3) = 8, 4, 6
l(1:3) = 3.d0, 1.5d0, 1.d0   ! a comment, with gr = 7.
gtype = 1, gr = 2.d0
cfl = 0.95, dtmax = 1.e5, dt_f = 5.d-3
visci = 1000.d0
inivel = 'poi'
is_wallturb = T
nstep = 50, time_max = 100., tw_max = 0.1
stop_type(1:3) = T, F, F
cbcvel(0:1,1:3,1) = 'P','P',  'P','P',  'D','D'
cbcvel(0:1,1:3,2) = 'P','P',  'P','P',  'D','D'
cbcvel(0:1,1:3,3) = 'P','P',  'P','P',  'D','D'
bcvel(0:1,1:3,1) =  0.,0.,   0.,0.,   0.,1.
is_forced(1:3) = T, F, F
velf(1:3) = 1., 0., 0.
/
&numerics
is_impdiff = F, is_impdiff_1d = T
/
"""


def write_flow(path: Path, shape: tuple[int, int, int] = (6, 4, 8)) -> FlowSnapshot:
    """Write a snapshot whose u rises linearly with z, and w with x."""
    nz, ny, nx = shape
    axes = {"x": nx, "y": ny, "z": nz}
    with h5py.File(path, "w") as file:
        header = file.create_group("header").attrs
        header.update(model="dns", time=1.5, step=50, viscosity=0.01)
        header["box_size"] = [1.0, 1.0, 1.0]
        header["parameters"] = '[dns]\nboundary_x = ["wall", "wall"]\nboundary_y = ["wall", "wall"]'
        for name, n in axes.items():
            file[f"grid/{name}"] = (np.arange(n) + 0.5) / n
            file[f"grid/{name}_face"] = (np.arange(n) + 1.0) / n
        z = np.broadcast_to(file["grid/z"][...][:, None, None], shape)
        x = np.broadcast_to(file["grid/x"][...], shape)
        for name, values in (("u", z), ("v", 0 * z), ("w", x), ("p", x * z)):
            file[f"fields/{name}"] = values
    return FlowSnapshot.read(path)


def test_what_leaves_through_a_lower_side_counts_in_the_cells_beside_it(tmp_path: Path) -> None:
    flow = write_flow(tmp_path / "snap_00000.h5")
    with h5py.File(flow.path, "r+") as file:
        text = '[dns]\nboundary_x = ["outflow", "wall"]\nboundary_y = ["wall", "wall"]'
        file["header"].attrs["parameters"] = text
        file["lower_faces/u"] = np.full((6, 4, 1), -3.0)
    u = FlowSnapshot.read(flow.path).at_centres("u")
    z = flow.centres[2][:, None]
    assert u[:, :, 0] == pytest.approx(np.broadcast_to(0.5 * (z - 3.0), (6, 4)))
    assert u[:, :, 1] == pytest.approx(np.broadcast_to(z, (6, 4)))


def test_a_parameter_file_is_converted(tmp_path: Path) -> None:
    source = tmp_path / "input.nml"
    source.write_text(NAMELIST)
    codes.convert(source, tmp_path / "case.toml")
    text = (tmp_path / "case.toml").read_text()
    for line in (
        "cells = [8, 4, 6]",
        'stretching = "tanh"',
        "stretching_factor = 2.0",
        "viscosity = 0.001",
        'diffusion = "implicit_z"',
        'boundary_x = ["periodic", "periodic"]',
        'boundary_z = ["wall", "wall"]',
        "velocity_z_upper = [1.0, 0.0, 0.0]",
        'forcing = "bulk_velocity"',
        "max_steps = 50",
        "step = 0.005",
        "largest_step = 100000.0",
        'name = "channel"',
    ):
        assert line in text.splitlines(), line


def test_what_is_not_carried_over_is_named(tmp_path: Path) -> None:
    source = tmp_path / "input.nml"
    source.write_text(NAMELIST.replace("nstep = 50", "nstep = 50, icheck = 10, isave = 100"))
    done = codes.convert(source, tmp_path / "case.toml")
    lost = [row.setting for row in done.rows if row.status == LOST]
    assert lost == ["time_max = 100.0", "tw_max = 0.1", "isave = 100", "icheck = 10"]


def test_a_side_of_no_gradients_becomes_an_outflow(tmp_path: Path) -> None:
    source = tmp_path / "input.nml"
    source.write_text(NAMELIST.replace("'D','D'", "'N','D'"))
    codes.convert(source, tmp_path / "case.toml")
    text = (tmp_path / "case.toml").read_text()
    assert 'boundary_z = ["outflow", "wall"]' in text.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gtype = 1", "gtype = 6", "gtype = 6"),
        ("visci", "nscal = 2, visci", "nscal"),
        ("visci", "nscal = 1, visci", "a scalar is supported only with"),
        ("'poi'", "'hcl'", "inivel"),
        ("'poi'", "'uni'", "is_wallturb"),
        ("'P','P',  'P','P',  'D','D'\nbcvel", "'P','P',  'P','P',  'N','D'\nbcvel", "lower z"),
        ("ng(1:3)", "mg(1:3)", "not a CaNS parameter file"),
        ("visci", "bcpre(0:1,1:3) = 0., 1., 0., 0., 0., 0.\nvisci", "a pressure condition"),
    ],
)
def test_what_has_no_counterpart_is_refused(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    source = tmp_path / "input.nml"
    source.write_text(NAMELIST.replace(old, new))
    with pytest.raises(OctoolsError, match=message):
        codes.convert(source, tmp_path / "case.toml")


def test_fields_of_cans_are_compared_in_their_own_order(tmp_path: Path) -> None:
    snapshot = write_flow(tmp_path / "snap_00000.h5")
    for name in cans.FIELDS:
        np.save(tmp_path / f"{name}_final.npy", snapshot.load(name).transpose(2, 1, 0) + 1e-3)
    found = {d.name: d.largest for d in cans.compare(snapshot, tmp_path)}
    assert found["u"] == pytest.approx(1e-3)
    assert found["p"] == pytest.approx(0.0, abs=1e-15)  # but for a constant
    (tmp_path / "history.csv").write_text("step,time\n49,1.0\n")
    with pytest.raises(OctoolsError, match="step"):
        cans.compare(snapshot, tmp_path)


def test_a_slice_shows_velocities_at_the_centres(tmp_path: Path) -> None:
    snapshot = write_flow(tmp_path / "snap_00000.h5")
    assert is_flow(snapshot.path)
    values = save_slice(snapshot, FlowSlice("u", "y"), tmp_path / "slice.png")
    assert values.shape == (6, 8)
    assert values[:, 3] == pytest.approx((np.arange(6) + 0.5) / 6)
    assert values[:, 0] == pytest.approx((np.arange(6) + 0.5) / 12)  # half-way to the wall
    with pytest.raises(OctoolsError, match="velocity"):
        save_slice(snapshot, FlowSlice("velocity", "y"), tmp_path / "slice.png")


def test_centre_lines_run_through_the_middle(tmp_path: Path) -> None:
    lines = centre_lines(write_flow(tmp_path / "snap_00000.h5"))
    assert lines["u"] == pytest.approx((np.arange(6) + 0.5) / 6)
    assert lines["w"] == pytest.approx((np.arange(8) + 0.5) / 8)


def test_a_laminar_channel_in_wall_units(tmp_path: Path) -> None:
    """U = z (2 - z) / (2 nu) under a unit force: friction velocity 1, straight stress."""
    nu, n = 0.1, 400
    z = (np.arange(n) + 0.5) * 2 / n
    zero = np.zeros(n)
    columns = {"z": z, "u": z * (2 - z) / (2 * nu), "u_rms": zero, "v_rms": zero, "w_rms": zero}
    columns |= {"uw": zero, "total_stress": 1 - z}
    wall = in_wall_units(columns, nu)
    assert wall["friction"] == pytest.approx([1.0, 10.0], rel=2e-3)
    reference = {"y_over_h": z[: n // 2], "yplus": z[: n // 2] / nu}
    reference |= {"Uplus": columns["u"][: n // 2]}
    reference |= {name: np.ones(n // 2) for name in ("urms_plus", "vrms_plus", "wrms_plus")}
    errors = channel_errors(wall, reference)
    assert errors["u"] < 2e-3
    assert errors["u_rms"] == pytest.approx(1.0)
    assert errors["total_stress"] < 2e-3
    save_channel(wall, reference, tmp_path / "channel.png")
    assert (tmp_path / "channel.png").is_file()


@pytest.mark.parametrize(("duration", "few"), [(0.2, True), (200.0, False)])
def test_a_channel_says_how_long_it_was_averaged_over(
    tmp_path: Path, octools: Call, duration: float, few: bool
) -> None:
    write_statistics(tmp_path)
    with h5py.File(tmp_path / "statistics.h5", "w") as file:
        header = file.create_group("header").attrs
        header.update(samples=4, first_time=1.0, last_time=1.0 + duration)
    result = octools("profile", tmp_path)
    assert result.returncode == 0, result.stderr
    assert f"means over 4 samples, t = 1 to {1 + duration:.4g}" in result.stdout
    assert ("too few samples" in result.stdout) == few


def test_tables_begin_at_the_names_of_their_columns(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("# from somewhere, as it is\n# x,u\n0.0,1.0\n0.5,2.0\n")
    assert read_table(table)["u"] == pytest.approx([1.0, 2.0])
    table.write_text("x,u\n0.0,one\n")
    with pytest.raises(OctoolsError, match="is not a numerical table"):
        read_table(table)


def write_statistics(run: Path, **changes: str) -> Path:
    """Write a snapshot of a flow and profiles of a laminar channel beside it."""
    snapshot = run / "snap_00000.h5"
    write_flow(snapshot)
    with h5py.File(snapshot, "r+") as file:
        dns = {"boundary_z": '["wall", "wall"]'} | changes
        text = "[dns]\n" + "".join(f"{key} = {value}\n" for key, value in dns.items())
        file["header"].attrs["parameters"] = text
    z = (np.arange(6) + 0.5) / 6
    table = {"z": z, "u": z * (1 - z), **dict.fromkeys(("v", "w", "u_rms", "v_rms", "w_rms"), z)}
    table |= {"uw": 0 * z, "total_stress": 1 - 2 * z}
    rows = "\n".join(",".join(map(str, row)) for row in zip(*table.values(), strict=True))
    (run / "profiles.csv").write_text(",".join(table) + "\n" + rows + "\n")
    return run


@pytest.mark.parametrize(
    "changes",
    [
        {"boundary_z": '["periodic", "periodic"]'},
        {"velocity_z_upper": "[1.0, 0.0, 0.0]"},
        {"boundary_z": '["wall", "outflow"]'},
    ],
)
@pytest.mark.filterwarnings("error")
def test_flows_without_walls_at_rest_are_not_drawn_in_wall_units(
    tmp_path: Path, octools: Call, changes: dict[str, str]
) -> None:
    result = octools("profile", write_statistics(tmp_path, **changes))
    assert result.returncode == 0, result.stderr
    assert "wall units require a flow along x" in result.stdout
    assert "nan" not in result.stdout
    assert (tmp_path / "profile_flow.png").is_file()


@pytest.mark.filterwarnings("error")
def test_a_channel_at_rest_has_no_wall_units(tmp_path: Path, octools: Call) -> None:
    table = write_statistics(tmp_path) / "profiles.csv"
    lines = [line.split(",") for line in table.read_text().splitlines()]
    rows = [lines[0], *([row[0], "0.0", *row[2:]] for row in lines[1:])]
    table.write_text("\n".join(map(",".join, rows)))
    result = octools("profile", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "wall units require a flow along x" in result.stdout


def test_references_come_with_the_tools(tmp_path: Path, octools: Call) -> None:
    run = write_statistics(tmp_path)
    result = octools("profile", run, "--reference", "mkm1999_retau180.csv")
    assert result.returncode == 0, result.stderr
    assert "maximum difference in u_rms" in result.stdout
    (run / "profiles.csv").unlink()
    names = ("albensoeder2005_T5.csv", "albensoeder2005_T6.csv")
    result = octools("profile", run, *(word for name in names for word in ("--reference", name)))
    assert result.returncode == 0, result.stderr
    assert "maximum difference in w" in result.stdout
    assert read_reference(Path(names[0]))["v"][0] == 1.0
    result = octools("profile", run, "--reference", "nothing.csv")
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)


def test_pictures_of_a_flow_name_the_run(tmp_path: Path) -> None:
    snapshot = write_flow(tmp_path / "snap_00000.h5")
    assert flow_title(snapshot) == f"{tmp_path.name.replace('_', ' ')}   t = 1.5"


def test_a_movie_of_a_flow_has_one_frame_per_snapshot(tmp_path: Path) -> None:
    run, movie = tmp_path / "run", tmp_path / "movie.gif"
    run.mkdir()
    paths = [run / f"snap_{number:05d}.h5" for number in range(3)]
    for path in paths:
        write_flow(path)
    with h5py.File(paths[1], "r+") as file:
        file["fields/u"][...] *= 10.0
    save_flow_movie(paths, FlowSlice("u", "y"), movie, rate=5)
    with Image.open(movie) as frames:
        assert frames.n_frames == 3  # type: ignore[attr-defined]
        brightness = []
        for number in range(2):
            frames.seek(number)
            grey = frames.convert("L")
            brightness.append(grey.getpixel((grey.width // 3, grey.height // 3)))
    assert brightness[0] < brightness[1] / 3  # frames share their colours


def write_vortices(path: Path, n: int = 32) -> FlowSnapshot:
    """Write u = sin x cos y, v = -cos x sin y in a periodic box, on a grid that is fine along z."""
    dx = 2 * np.pi / n
    faces = dx * np.arange(1, n + 1)
    centres = faces - 0.5 * dx
    with h5py.File(path, "w") as file:
        header = file.create_group("header").attrs
        header.update(model="dns", time=0.0, step=0, viscosity=0.01)
        header["box_size"] = [2 * np.pi, 2 * np.pi, 0.4]
        header["parameters"] = '[dns]\nboundary_z = ["periodic", "periodic"]'
        for axis in "xy":
            file[f"grid/{axis}"], file[f"grid/{axis}_face"] = centres, faces
        file["grid/z"], file["grid/z_face"] = [0.05, 0.15, 0.25, 0.35], [0.1, 0.2, 0.3, 0.4]
        u = np.sin(faces) * np.cos(centres)[:, None]
        v = -np.cos(centres) * np.sin(faces)[:, None]
        for name, values in (("u", u), ("v", v), ("w", 0 * u), ("p", 0 * u)):
            file[f"fields/{name}"] = np.broadcast_to(values, (4, n, n))
    return FlowSnapshot.read(path)


def test_a_stream_with_eddies_has_no_colours_of_two_signs() -> None:
    assert slice_limits(FlowSlice("u"), -0.5, 27.0) == (None, None)
    assert slice_limits(FlowSlice("w"), -2.0, 3.0) == (-3.0, 3.0)


def test_gradients_of_vortices(tmp_path: Path) -> None:
    flow = write_vortices(tmp_path / "snap_00000.h5")
    x, y = flow.centres[0], flow.centres[1][:, None]
    cosines, sines = np.cos(x) * np.cos(y), np.sin(x) * np.sin(y)
    expected = {
        "divergence": 0 * sines,
        "vorticity_x": 0 * sines,
        "vorticity_z": 2 * sines,
        "vorticity": np.abs(2 * sines),
        "q_criterion": sines**2 - cosines**2,
    }
    for name, values in expected.items():
        assert np.abs(flow.at_centres(name) - values).max() < 0.03, name
    assert np.abs(flow.at_centres("divergence")).max() < 1e-13
    for name in expected:
        save_slice(flow, FlowSlice(name), tmp_path / f"{name}.png")
