"""Bad input for incompressible flow: one clear message, and exit code 2, before the first step."""

from pathlib import Path
from xml.etree import ElementTree

import h5py
import pytest

from flows import SMALL_CAVITY, SMALL_CHANNEL
from refusals import assert_refused
from running import Outcome, octant, run, run_well


@pytest.mark.parametrize(
    ("setting", "fragments"),
    [
        ('dns.boundary_x=["periodic", "wall"]', ["dns.boundary_x", "periodic", "wall"]),
        ('dns.boundary_y=["outflow", "periodic"]', ["dns.boundary_y", '"outflow", "periodic"']),
        ('dns.boundary_x=["outflow", "outflow"]', ["dns.forcing", "dns.boundary_x", "outflow"]),
        ("dns.velocity_y_lower=[0.0, 1.0, 0.0]", ["dns.velocity_y_lower", "periodic"]),
        ('dns.boundary_z=["wall"]', ["dns.boundary_z", "two"]),
        ('dns.boundary_z=["wall", "stream"]', ["dns.boundary_z", "stream"]),
        ('dns.boundary_x=["wall", "wall"]', ["dns.forcing", "dns.boundary_x", "periodic"]),
        ("dns.velocity_z_upper=[0.0, 0.0, 1.0]", ["dns.velocity_z_upper", "wall"]),
        ("dns.velocity_x_lower=[1.0, 0.0, 0.0]", ["dns.velocity_x_lower", "periodic"]),
        ("dns.viscosity=-1.0", ["dns.viscosity"]),
        ("dns.diffusion=implicitly", ["dns.diffusion", "implicit"]),
        ("dns.schedule=batch", ["dns.schedule", "batches"]),
        ("dns.pencil_axis=y", ["dns.pencil_axis", "x", "z"]),
        ("dns.viscositi=1.0", ["dns.viscositi", "dns.viscosity"]),
        ("grid.cells=[24, 15, 1]", ["grid.cells"]),
        ("problem.name=chanel", ["problem.name", "channel"]),
        ("model=cfd", ["model", "dns"]),
    ],
)
def test_wrong_parameters_are_refused(setting: str, fragments: list[str], tmp_path: Path) -> None:
    assert_refused(run(tmp_path / "run", SMALL_CHANNEL, setting), *fragments)


def test_pencils_along_z_are_refused_where_they_cannot_work(tmp_path: Path) -> None:
    z = "dns.pencil_axis=z"
    refused = run(tmp_path / "planes", SMALL_CHANNEL, z, "dns.schedule=planes")
    assert_refused(refused, "dns.pencil_axis", "dns.schedule", "batches")
    narrow = ("grid.cells=[2, 12, 12]", "grid.process_grid=1x3")
    assert_refused(
        run(tmp_path / "narrow", SMALL_CHANNEL, z, *narrow, ranks=3),
        "grid.process_grid",
        "dns.pencil_axis",
        "2 cells along x",
    )
    run_well(tmp_path / "wide", SMALL_CHANNEL, *narrow, "time.max_steps=1", ranks=3)


@pytest.mark.parametrize(
    ("boundary", "velocity", "fragments"),
    [
        (["inflow", "wall"], "lower=[1.0, 0.0, 0.0]", ["net volume flux", "outflow"]),
        (["inflow", "outflow"], "lower=[-1.0, 0.0, 0.0]", ["velocity_x_lower", "into the domain"]),
        (
            ["outflow", "wall"],
            "lower=[-1.0, 0.0, 0.0]",
            ["velocity_x_lower", "outflow", "does not take a prescribed velocity"],
        ),
    ],
)
def test_boundaries_that_do_not_go_together_are_refused(
    boundary: list[str], velocity: str, fragments: list[str], tmp_path: Path
) -> None:
    sides = ", ".join(f'"{side}"' for side in boundary)
    outcome = run(
        tmp_path / "run",
        SMALL_CAVITY,
        f"dns.boundary_x=[{sides}]",
        f"dns.velocity_x_{velocity}",
    )
    assert_refused(outcome, *fragments)


def test_impossible_process_grids_are_refused(tmp_path: Path) -> None:
    for processes in ("2x2", "1x99", "two"):
        outcome = run(tmp_path / "run", SMALL_CHANNEL, f"grid.process_grid={processes}")
        assert_refused(outcome, "grid.process_grid", processes)


def test_too_few_planes_for_cyclic_reduction_are_refused(tmp_path: Path) -> None:
    outcome = run(
        tmp_path / "run",
        SMALL_CHANNEL,
        "grid.cells=[8, 8, 4]",
        "dns.poisson=ptdma",
        "grid.process_grid=1x3",
        ranks=3,
    )
    assert outcome.code == 2, outcome.text
    assert "planes" in outcome.text


def test_an_upper_outflow_needs_two_cells_on_its_rank(tmp_path: Path) -> None:
    def thin(ranks: int, boundary: str, velocity: str) -> Outcome:
        return run(
            tmp_path / f"run_{ranks}_{velocity[:5]}",
            SMALL_CAVITY,
            "grid.cells=[8, 3, 8]",
            f"dns.boundary_y={boundary}",
            f"dns.velocity_y_{velocity}",
            f"grid.process_grid={ranks}x1",
            ranks=ranks,
        )

    upwards = '["inflow", "outflow"]', "lower=[0.0, 1.0, 0.0]"
    downwards = '["outflow", "inflow"]', "upper=[0.0, -1.0, 0.0]"
    for outcome in (thin(2, *upwards), thin(2, *downwards), thin(3, *downwards)):
        assert outcome.code == 0, outcome.text
    assert_refused(thin(3, *upwards), "outflow", "upper", "grid.process_grid")


def test_a_flow_that_breaks_down_ends_with_its_place(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", SMALL_CHANNEL, "time.step=50.0", "time.end=1e9")
    assert outcome.code == 1, outcome.text
    assert "NaN or infinite values" in outcome.text


def test_files_of_faces_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "faces.txt"
    settings = ["grid.stretching=file", f"grid.stretching_file={file}", "grid.cells=[4, 4, 3]"]
    assert_refused(run(tmp_path / "run", SMALL_CHANNEL, *settings), "faces.txt", "cannot be read")
    for text, fragments in (
        ("0 0.5 2", ["3 values", "4 face positions"]),
        ("0 0.5 0.4 2", ["increasing"]),
        ("0 0.5 1.5 1.9", ["1.9", "grid.size"]),
        ("0 0.5 one 2", ["not a number"]),
    ):
        file.write_text(text)
        assert_refused(run(tmp_path / "run", SMALL_CHANNEL, *settings), "faces.txt", *fragments)
    file.write_text("0 0.5 1.5 2\n")
    run_well(tmp_path / "run", SMALL_CHANNEL, *settings)


def test_checkpoints_of_other_grids_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "run"
    stop = ["run.walltime=0.001", "run.walltime_margin=0.0"]
    assert run(place, SMALL_CHANNEL, *stop).code == 3
    for setting, fragments in (
        ("grid.cells=[24, 15, 14]", ["grid.cells"]),
        ("grid.size=[4.0, 2.0, 1.0]", ["grid.size"]),
        ("grid.stretching=cosine", ["grid.stretching"]),
        ("problem.name=couette", ["problem.name"]),
    ):
        flow = SMALL_CHANNEL
        if "couette" in setting:
            flow = flow.replace("rolls = 0.2\n", "")
        outcome = run(place, flow, setting, restart="latest")
        assert_refused(outcome, "checkpoint_00000.h5", *fragments)
    outcome = run(place, SMALL_CHANNEL, restart=place / "snap_00000.h5")
    assert_refused(outcome, "snapshot")


def test_check_and_info_describe_a_flow(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", SMALL_CHANNEL)
    checked = octant("check", "--all", tmp_path / "run.toml")
    assert checked.code == 0
    for text in ("viscosity = 0.002", "memory of the largest rank", "steps of 0.01"):
        assert text in checked.text
    described = octant("info", outcome.last_snapshot)
    for text in ('problem "channel"', "24 x 15 x 13 cells", "step 12", "fields: p u v w"):
        assert text in described.text
    assert_xdmf_resolves(outcome.directory / "snap_00001.xdmf", ["u", "v", "w", "p"])


def assert_xdmf_resolves(path: Path, fields: list[str]) -> None:
    """Every array that an XDMF file refers to is there, with the shape and the type it says."""
    root = ElementTree.fromstring(path.read_text())
    assert [a.get("Name") for a in root.iter("Attribute")] == fields
    with h5py.File(path.with_suffix(".h5")) as file:
        assert float(root.find(".//Time").get("Value")) == file["header"].attrs["time"]
        for grid in root.find("Domain/Grid").findall("Grid"):
            shape = grid.find("Topology").get("Dimensions").split()
            axes = [item.get("Dimensions") for item in grid.find("Geometry")]
            assert axes == shape[::-1]
            assert grid.find("Attribute/DataItem").get("Dimensions").split() == shape
        for item in root.iter("DataItem"):
            name, place = item.text.strip().split(":")
            assert name == path.with_suffix(".h5").name
            data = file[place]
            assert " ".join(map(str, data.shape)) == item.get("Dimensions")
            assert str(data.dtype.itemsize) == item.get("Precision")
