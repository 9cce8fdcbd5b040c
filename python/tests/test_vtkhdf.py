"""VTKHDF files: what VTK finds in them is what the snapshots hold."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import Call, partly_refined, wave
from synthetic import Array, add_particles, shell_of_blocks
from test_flow import write_flow

from octools.exports import boxes
from octools.exports.vtkhdf import write_mesh, write_particles, write_rectilinear
from octools.snapshot import Snapshot

DOMAIN = {"base_cells": (16, 8, 24), "lower": (-1.0, 0.0, 0.5), "upper": (1.0, 1.0, 3.5)}


@pytest.fixture(scope="module")
def vtk() -> Any:
    return pytest.importorskip("vtk", reason="no VTK; pip install vtk", exc_type=ImportError)


def opened(vtk: Any, path: Path) -> Any:
    """Read a file as ParaView would, all levels of it."""
    reader = vtk.vtkXMLRectilinearGridReader() if path.suffix == ".vtr" else vtk.vtkHDFReader()
    if path.suffix != ".vtr":
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutputDataObject(0)


def as_arrays(data: Any) -> dict[str, Array]:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return {
        data.GetArrayName(n): vtk_to_numpy(data.GetArray(n))
        for n in range(data.GetNumberOfArrays())
    }


def boxes_of(mesh: Any) -> Iterator[Any]:
    iterator = mesh.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        yield iterator.GetCurrentDataObject()
        iterator.GoToNextItem()


def leaves(mesh: Any) -> dict[str, Array]:
    """Collect centres, volumes and fields of the cells that VTK does not take for covered."""
    found: dict[str, list[Array]] = {}
    for box in boxes_of(mesh):
        spacing, lower = np.array(box.GetSpacing()), np.array(box.GetOrigin())
        n = np.array(box.GetDimensions()) - 1
        index = np.stack(np.unravel_index(np.arange(n.prod()), n, order="F"), axis=-1)
        columns = as_arrays(box.GetCellData())
        columns["centre"] = lower + (index + 0.5) * spacing
        columns["volume"] = np.full(len(index), spacing.prod())
        for name, values in columns.items():
            found.setdefault(name, []).append(values[columns["vtkGhostType"] == 0])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def test_boxes_hold_every_block_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "BOX_CELLS", 1500)
    monkeypatch.setattr(boxes, "BATCH_CELLS", 4000)
    with Snapshot(partly_refined(block_size=4).write(tmp_path / "snap.h5")) as snapshot:
        for level in snapshot.levels:
            merged = boxes.boxes(level)
            rows = np.concatenate([box.tiles.ravel() for box in merged])
            assert sorted(rows) == list(range(level.blocks))
            assert len(merged) < level.blocks
            assert max(box.cells for box in merged) <= 1500
            read = list(boxes.read_boxes(level, merged, ["density"]))
            assert [box for part in read for box in part.boxes] == merged
            for part in read:
                for box in part.boxes:
                    leaf = box.assemble(part.leaf, part.tiles)
                    k, j, i = np.meshgrid(*map(np.arange, box.shape), indexing="ij")
                    at = [
                        (box.corner[a] + n + 0.5) / (16 << level.index)
                        for a, n in enumerate((i, j, k))
                    ]
                    values = box.assemble(part.values["density"], part.tiles)
                    assert values[leaf] == pytest.approx(wave(*at)[leaf], rel=1e-14)


@pytest.mark.parametrize("domain", [{}, DOMAIN], ids=["cube", "box"])
def test_leaf_cells_lie_in_vtk_where_they_are(
    tmp_path: Path, vtk: Any, octools: Call, domain: dict[str, Any]
) -> None:
    path = partly_refined(**domain).write(tmp_path / "snap_00000.h5")
    result = octools("convert", "--to", "vtkhdf", path)
    assert result.returncode == 0
    mesh = opened(vtk, tmp_path / "vtkhdf/snap_00000.vtkhdf")
    found = leaves(mesh)
    with Snapshot(path) as snapshot:
        fine = [np.count_nonzero(level.leaf_cells(slice(None))) for level in snapshot.levels]
        size = snapshot.header.size
    assert len(found["density"]) == sum(fine)
    assert found["volume"].sum() == pytest.approx(size.prod(), rel=1e-13)
    assert found["density"] == pytest.approx(wave(*found["centre"].T), rel=1e-13)
    assert found["velocity"].shape == (sum(fine), 3)


# For a VTK without numpy: opens a file; prints its version, how many leaf cells there are, and
# their mass.
OPEN_WITH_VTK = """
import sys, vtk
version = vtk.VTK_VERSION
reader = vtk.vtkHDFReader()
reader.SetMaximumLevelsToReadByDefaultForAMR(0)
reader.SetFileName(sys.argv[1])
reader.Update()
"""
OPEN_WITH_PARAVIEW = """
import sys
from paraview import simple
version = f"{simple.GetParaViewVersion().major}.{simple.GetParaViewVersion().minor}"
source = simple.OpenDataFile(sys.argv[1])
source.MaximumLevelsToReadByDefaultForAMR = 0
source.UpdatePipeline()
reader = source.GetClientSideObject()
"""
COUNT_LEAVES = """
boxes = reader.GetOutputDataObject(0).NewIterator()
boxes.InitTraversal()
cells, mass = 0, 0.0
while not boxes.IsDoneWithTraversal():
    box = boxes.GetCurrentDataObject()
    ghost, density = map(box.GetCellData().GetArray, ("vtkGhostType", "density"))
    dx, dy, dz = box.GetSpacing()
    leaf = [n for n in range(box.GetNumberOfCells()) if ghost.GetTuple1(n) == 0]
    cells += len(leaf)
    mass += sum(map(density.GetTuple1, leaf)) * dx * dy * dz
    boxes.GoToNextItem()
print(version, cells, mass)
"""


def test_the_oldest_vtk_finds_the_same(tmp_path: Path, vtk: Any) -> None:
    """It is that of requirements-oldest.txt, in a folder of its own."""
    oldest = Path(sys.prefix) / "oldest"
    if not (oldest / "vtk.py").is_file():
        pytest.skip("no old VTK; ./octant test python gets it")
    path = tmp_path / "snap.vtkhdf"
    with Snapshot(partly_refined(block_size=4, **DOMAIN).write(tmp_path / "snap.h5")) as snapshot:
        write_mesh(snapshot, path)
    run = subprocess.run(
        [sys.executable, "-c", OPEN_WITH_VTK + COUNT_LEAVES, path],
        env=os.environ | {"PYTHONPATH": str(oldest)},
        capture_output=True,
        text=True,
        check=True,
    )
    version, cells, mass = run.stdout.split()
    assert version in (oldest / "pinned").read_text()
    assert version != vtk.VTK_VERSION
    found = leaves(opened(vtk, path))
    assert int(cells) == len(found["density"])
    assert float(mass) == pytest.approx((found["density"] * found["volume"]).sum(), rel=1e-13)


@pytest.fixture
def pvpython(tmp_path: Path) -> Callable[..., str]:
    """Give what runs a script with ParaView, off any screen, and returns what it prints."""
    command = shutil.which("pvpython")
    if not command:
        pytest.skip("no ParaView; Debian's package python3-paraview has pvpython")

    def call(text: str, *arguments: object, display: str = "") -> str:
        script = tmp_path / "script.py"
        script.write_text(text)
        words = [command, "--force-offscreen-rendering", str(script)]
        environment = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}
        environment["DISPLAY"] = display
        run = subprocess.run(
            [*words, *map(str, arguments)], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    return call


def test_paraview_finds_the_same(tmp_path: Path, pvpython: Callable[..., str]) -> None:
    """ParaView 5.11, as Debian has it, knows the file by the ending .hdf."""
    path = tmp_path / "snap.hdf"
    with Snapshot(partly_refined(block_size=4, **DOMAIN).write(tmp_path / "snap.h5")) as snapshot:
        write_mesh(snapshot, path)
        leaf = [level.leaf_cells(slice(None)) for level in snapshot.levels]
        fine = sum(map(np.count_nonzero, leaf))
        mass = sum(
            level.cell_size.prod() * level.read("density", slice(None))[here].sum()
            for level, here in zip(snapshot.levels, leaf, strict=True)
        )
    _, cells, found = pvpython(OPEN_WITH_PARAVIEW + COUNT_LEAVES, path).split()
    assert int(cells) == fine
    assert float(found) == pytest.approx(mass, rel=1e-12)


DRAW_WITH_PARAVIEW = """
view = simple.CreateView("RenderView")
view.ViewSize, view.OrientationAxesVisibility = [200, 200], 0
cut = simple.Slice(Input=source)
cut.SliceType.Origin, cut.SliceType.Normal = [0.5, 0.5, 0.501], [0, 0, 1]
shown = simple.Show(cut, view)
simple.ColorBy(shown, ("CELLS", "density"))
shown.SetScalarBarVisibility(view, False)
shown.Ambient, shown.Diffuse = 1.0, 0.0
colours = simple.GetColorTransferFunction("density")
colours.ColorSpace, colours.RGBPoints = "RGB", [1.0, 0, 0, 0, 3.6, 1, 1, 1]
view.CameraParallelProjection, view.CameraParallelScale = 1, 0.5
view.CameraFocalPoint, view.CameraPosition = [0.5, 0.5, 0.5], [0.5, 0.5, 2.0]
simple.SaveScreenshot(sys.argv[2], view)
"""


@pytest.fixture
def display() -> Iterator[str]:
    """Give a display of X that nobody sees, whose number the server has chosen and says."""
    server = shutil.which("Xvfb")
    if not server:
        pytest.skip("no Xvfb, and ParaView draws on a display alone; Debian's package xvfb has it")
    # Without -noreset it turns away who comes while it restarts, after its last client has left.
    words = [server, "-displayfd", "1", "-noreset", "-ac", "-screen", "0", "640x480x24"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield ":" + process.stdout.readline().decode().strip()
        process.terminate()


def test_a_picture_of_paraview_shows_the_field(
    tmp_path: Path, pvpython: Callable[..., str], display: str
) -> None:
    """Debian's ParaView draws on a display of X alone."""
    path, picture = tmp_path / "snap.hdf", tmp_path / "cut.png"
    with Snapshot(partly_refined().write(tmp_path / "snap.h5")) as snapshot:
        write_mesh(snapshot, path)
    pvpython(OPEN_WITH_PARAVIEW + DRAW_WITH_PARAVIEW, path, picture, display=display)
    assert_shows_the_wave(plt.imread(picture)[::-1, :, 0] * 2.6 + 1.0)


def test_a_picture_of_vtk_shows_the_field(tmp_path: Path, vtk: Any) -> None:
    """A cut through the mesh is drawn off-screen: it is dark where the density is small."""
    with Snapshot(partly_refined().write(tmp_path / "snap.h5")) as snapshot:
        write_mesh(snapshot, tmp_path / "snap.vtkhdf")
    plane, joined = vtk.vtkPlane(), vtk.vtkAppendPolyData()
    plane.SetOrigin(0.5, 0.5, 0.501)
    plane.SetNormal(0, 0, 1)
    for box in boxes_of(opened(vtk, tmp_path / "snap.vtkhdf")):
        cutter = vtk.vtkCutter()
        cutter.SetInputData(box)
        cutter.SetCutFunction(plane)
        cutter.Update()
        joined.AddInputData(cutter.GetOutput())
    mapper, actor, colours = vtk.vtkPolyDataMapper(), vtk.vtkActor(), vtk.vtkLookupTable()
    colours.SetHueRange(0, 0)
    colours.SetSaturationRange(0, 0)
    colours.SetValueRange(0, 1)
    colours.SetRampToLinear()
    colours.Build()
    mapper.SetInputConnection(joined.GetOutputPort())
    mapper.SetScalarModeToUseCellFieldData()
    mapper.SelectColorArray("density")
    mapper.SetScalarRange(1.0, 3.6)
    mapper.SetLookupTable(colours)
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    renderer, window = vtk.vtkRenderer(), vtk.vtkRenderWindow()
    renderer.AddActor(actor)
    window.SetOffScreenRendering(1)
    window.SetSize(200, 200)
    window.AddRenderer(renderer)
    camera = renderer.GetActiveCamera()
    camera.ParallelProjectionOn()
    camera.SetFocalPoint(0.5, 0.5, 0.5)
    camera.SetPosition(0.5, 0.5, 2.0)
    camera.SetParallelScale(0.5)
    window.Render()
    grabbed = vtk.vtkWindowToImageFilter()
    grabbed.SetInput(window)
    grabbed.Update()
    picture = as_arrays(grabbed.GetOutput().GetPointData())["ImageScalars"]
    assert_shows_the_wave(picture.reshape(200, 200, -1)[..., 0] / 255 * 2.6 + 1.0)


def assert_shows_the_wave(shown: Array) -> None:
    """Compare a picture of a cut, shape (200, 200), with the density."""
    middle = (np.arange(200) + 0.5) / 200
    expected = wave(middle[None, :], middle[:, None], 0.5)
    assert np.abs(shown - expected).mean() < 0.1  # cells of 1/16 against points


def test_a_hundred_thousand_blocks_open_in_ten_seconds(tmp_path: Path, vtk: Any) -> None:
    blocks = shell_of_blocks(tmp_path / "snap.h5", (0.07, 0.035, 0.016))
    assert blocks > 100_000
    with Snapshot(tmp_path / "snap.h5") as snapshot:
        write_mesh(snapshot, tmp_path / "snap.vtkhdf")
        leaf = [np.count_nonzero(level.leaf_cells(slice(None))) for level in snapshot.levels]
        volume = [level.cell_size.prod() for level in snapshot.levels]
    start = time.process_time()
    mesh = opened(vtk, tmp_path / "snap.vtkhdf")
    assert time.process_time() - start < 10.0
    found = leaves(mesh)
    assert len(found["density"]) == sum(leaf)
    mass = sum(n * v * (1 + level) for level, (n, v) in enumerate(zip(leaf, volume, strict=True)))
    assert (found["density"] * found["volume"]).sum() == pytest.approx(mass, rel=1e-12)


def test_particles_come_with_all_columns(tmp_path: Path, vtk: Any) -> None:
    path = partly_refined(time=0.25).write(tmp_path / "snap.h5")
    add_particles(path, "stars", 100, ["birth_time"])
    with Snapshot(path) as snapshot:
        write_particles(snapshot, "stars", tmp_path / "stars.vtkhdf")
        stored = snapshot.particles("stars")
    points = opened(vtk, tmp_path / "stars.vtkhdf")
    assert points.GetNumberOfVerts() == 100
    found = as_arrays(points.GetPointData())
    assert as_arrays(points.GetFieldData())["TimeValue"] == [0.25]
    found["position"] = np.array([points.GetPoint(n) for n in range(100)])
    assert set(found) == set(stored)
    for name, values in stored.items():
        assert np.array_equal(found[name], values), name


def test_flows_keep_their_stretched_grid(tmp_path: Path, vtk: Any) -> None:
    import h5py

    flow = write_flow(tmp_path / "snap_00000.h5")
    with h5py.File(flow.path, "r+") as file:
        file["grid/z_face"][:] = np.linspace(0, 1, 7)[1:] ** 2
    flow = flow.read(flow.path)
    write_rectilinear(flow, tmp_path / "flow.vtr")
    grid = opened(vtk, tmp_path / "flow.vtr")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    assert vtk_to_numpy(grid.GetZCoordinates())[1:] == pytest.approx(flow.faces[2])
    found = as_arrays(grid.GetCellData())
    assert np.array_equal(found["p"].reshape(6, 4, 8), flow.load("p"))
    for n, name in enumerate("uvw"):
        assert np.array_equal(found["velocity"][:, n].reshape(6, 4, 8), flow.at_centres(name))


def test_a_run_becomes_a_series(tmp_path: Path, octools: Call) -> None:
    for number, when in enumerate((0.0, 0.5)):
        path = partly_refined(time=when).write(tmp_path / f"snap_{number:05}.h5")
        add_particles(path, "dark", 8)
    assert octools("convert", "--to", "vtkhdf", tmp_path, "-o", tmp_path / "v").returncode == 0
    for kind in ("", "_dark"):
        series = json.loads((tmp_path / f"v/snap{kind}.vtkhdf.series").read_text())
        names = [f"snap_{n:05}{kind}.vtkhdf" for n in range(2)]
        expected = [{"name": n, "time": t} for n, t in zip(names, (0.0, 0.5), strict=True)]
        assert series["files"] == expected
        assert all((tmp_path / "v" / name).is_file() for name in names)
    only = octools("convert", "--to", "vtkhdf", tmp_path, "--snapshot", 1, "-o", tmp_path / "w")
    assert only.returncode == 0
    assert len(list((tmp_path / "w").iterdir())) == 2


def test_other_targets_are_refused(snapshot_path: Path, octools: Call) -> None:
    result = octools("convert", "--to", "vtkhfd", snapshot_path)
    assert result.returncode == 2
    assert "did you mean vtkhdf?" in result.stderr


@pytest.mark.parametrize("domain", [{}, DOMAIN], ids=["cube", "box"])
def test_leaves_of_the_trees_are_those_of_the_file(
    tmp_path: Path, vtk: Any, octools: Call, domain: dict[str, Any]
) -> None:
    path = partly_refined(**domain).write(tmp_path / "snap_00000.h5")
    assert octools("convert", "--to", "hypertree", path).returncode == 0
    trees = opened(vtk, tmp_path / "hypertree/snap_00000.vtkhdf")
    if trees is None or not trees.IsA("vtkHyperTreeGrid"):
        pytest.skip("this VTK reads no HyperTreeGrid")
    cut = vtk.vtkHyperTreeGridToUnstructuredGrid()
    cut.SetInputData(trees)
    centres = vtk.vtkCellCenters()
    centres.SetInputConnection(cut.GetOutputPort())
    sizes = vtk.vtkCellSizeFilter()
    sizes.SetInputConnection(cut.GetOutputPort())
    centres.Update()
    sizes.Update()
    points = centres.GetOutput()
    where = np.array([points.GetPoint(n) for n in range(points.GetNumberOfPoints())])
    with Snapshot(path) as snapshot:
        leaf = [np.count_nonzero(level.leaf_cells(slice(None))) for level in snapshot.levels]
        size = snapshot.header.size
    assert trees.GetNumberOfLeaves() == len(where) == sum(leaf)
    assert as_arrays(points.GetPointData())["density"] == pytest.approx(wave(*where.T), rel=1e-12)
    volume = as_arrays(sizes.GetOutput().GetCellData())["Volume"]
    assert volume.sum() == pytest.approx(size.prod(), rel=1e-12)
