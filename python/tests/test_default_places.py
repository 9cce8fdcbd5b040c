"""Where slices, lines and profiles lie by default, and how constant fields are shown."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call, partly_refined
from matplotlib.figure import Figure
from synthetic import Array, Synthetic

from octools.constant import constant_value, range_text
from octools.figure import Picture, draw, new_figure, picture_field, reference_scale, render
from octools.flow_figures import FlowSlice, flow_scale
from octools.profile import constants, line_profile
from octools.snapshot import Snapshot

NAME = '[problem]\nname = "expression"\ncentre = [0.0, 0.0, 0.0]\n'
OPEN = "[mesh]\n" + "".join(f'boundary_{a} = ["outflow", "outflow"]\n' for a in "xyz")


def ball(x: Array, y: Array, z: Array) -> Array:
    """Dense gas in the middle of the domain, and noise of a solver elsewhere."""
    inside = (x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2 < 0.2**2
    return np.where(inside, 10.0, 1.0 + 2.6e-10 * np.sin(20 * x))


@pytest.mark.parametrize(
    ("problem", "place"),
    [
        ('density = "1 + (x < 0.3)"', [0.5, 0.5, 0.5]),  # nothing uses r: the middle
        ('density = "1 + (r < 0.3)"', [0.0, 0.0, 0.0]),
        ('density = "ball"\nterms = ["ball = exp(-r^2)"]', [0.0, 0.0, 0.0]),
        ('density = "ball"\n[problem.terms]\nball = "exp(-r^2)"', [0.0, 0.0, 0.0]),
        ('density = "1 + error"\nconstants = ["error = 0.1"]', [0.5, 0.5, 0.5]),
    ],
)
def test_a_problem_of_expressions_has_a_centre_if_it_uses_r(
    tmp_path: Path, problem: str, place: list[float]
) -> None:
    path = Synthetic(parameters=NAME + problem).write(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        assert snapshot.header.inner_centre.tolist() == place
        assert snapshot.header.centre.tolist() == place


@pytest.mark.parametrize("name", ["sedov", "two_body"])
def test_other_problems_have_the_centre_that_they_are_given(tmp_path: Path, name: str) -> None:
    text = f'[problem]\nname = "{name}"\ncentre = [0.0, 0.25, 0.5]\n'
    path = Synthetic(parameters=text).write(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        assert snapshot.header.inner_centre.tolist() == [0.0, 0.25, 0.5]


def test_a_centre_that_has_left_the_domain_is_not_looked_at(tmp_path: Path, octools: Call) -> None:
    text = f"[problem]\ncentre = [0.5, 0.25, 0.5]\nvelocity = [0.0, 0.0, 1.0]\n{OPEN}"
    path = partly_refined(parameters=text, time=2.0).write(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        assert snapshot.header.inner_centre.tolist() == [0.5, 0.25, 0.5]
        assert snapshot.header.centre.tolist() == [0.5, 0.25, 2.5]
    assert octools("plot", path).returncode == 0


def test_pictures_and_profiles_of_ones_own_problem_show_it(tmp_path: Path, octools: Call) -> None:
    """A ball in the middle of the domain, whose parameter file gives no centre."""
    text = NAME + 'density = "1 + 9*((x - 0.5)^2 < 0.04)"'
    made = Synthetic(parameters=text, fields={"density": ball})
    path = made.write(tmp_path / "snap_00000.h5")
    plot, profile = octools("plot", path), octools("profile", path)
    assert "density: 1 to 10" in plot.stdout
    assert "density is constant" not in profile.stdout
    assert octools("movie", tmp_path, "--output", tmp_path / "a.gif").returncode == 0
    table = np.genfromtxt(tmp_path / "snap_00000_profile_x.csv", delimiter=",", names=True)
    assert table["density"].max() == 10.0


def drawn(snapshot: Snapshot, picture: Picture) -> Figure:
    figure, field = new_figure(snapshot, picture), picture_field(snapshot, picture)
    draw(figure, snapshot, picture, field, render(snapshot, picture, field))
    return figure


@pytest.mark.parametrize("kind", ["slice", "projection"])
@pytest.mark.parametrize("log", [False, True])
def test_a_constant_field_is_said_to_be_constant(tmp_path: Path, kind: str, log: bool) -> None:
    """Where a picture shows but a solver's noise, it has no bar of colours."""
    fields = {"density": lambda x, y, z: 1.0 + 2.6e-10 * np.sin(20 * x) + 0 * (y + z)}
    path = Synthetic(fields=fields).write(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        figure = drawn(snapshot, Picture("density", kind, log=log))
        texts = [text.get_text() for text in figure.get_axes()[0].texts]
        assert len(texts) == 1
        assert "density is constant: 1" in texts[0]
        assert len(figure.get_axes()) == 1
        limits = Picture("density", kind, limits=(0.5, 2.0))  # as frames of a movie have them
        assert not drawn(snapshot, limits).get_axes()[0].texts


def test_a_velocity_is_constant_beside_the_speed_of_sound(tmp_path: Path, octools: Call) -> None:
    fields = {"velocity_z": lambda x, y, z: 1e-16 * np.sin(20 * x) + 0 * (y + z)}
    fields |= {"velocity_x": lambda x, y, z: 1e-6 * np.sin(20 * x) + 0 * (y + z)}
    path = Synthetic(fields=fields).write(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        noise, wave = Picture("velocity_z"), Picture("velocity_x")
        assert reference_scale(snapshot, noise) == pytest.approx(np.sqrt(1.4))
        assert (
            "velocity z is constant: 0" in drawn(snapshot, noise).get_axes()[0].texts[0].get_text()
        )
        assert not drawn(snapshot, wave).get_axes()[0].texts
        profile = line_profile(snapshot, 0, snapshot.header.middle, list(fields))
        flat = constants(profile)
        assert "velocity_x" not in flat
    assert "velocity_z: 0 everywhere" in octools("plot", path, "--field", "velocity_z").stdout


def test_waves_of_any_amplitude_that_is_used_are_no_noise() -> None:
    x = np.linspace(0, 1, 50)
    assert constant_value(1 + 1e-8 * np.sin(6 * x)) is None
    assert constant_value(1 + 2.6e-10 * x) == pytest.approx(1.0)
    assert constant_value(np.full(3, -4.0)) == -4.0
    assert constant_value(np.zeros(3)) == 0.0
    assert constant_value(np.full(3, np.nan)) is None
    assert constant_value(1e-12 * x, scale=1.0) == 0.0
    assert range_text(np.array([1.0, 2.0])) == "1 to 2"
    assert range_text(np.full(2, 3.0)) == "3 everywhere (constant)"


def test_profiles_of_two_runs_are_compared(tmp_path: Path, octools: Call) -> None:
    for name, height in (("fine", 1.0), ("coarse", 1.5)):
        (tmp_path / name).mkdir()
        fields = {"density": lambda x, y, z, h=height: 2 + h * np.sin(2 * np.pi * x) + 0 * (y + z)}
        Synthetic(fields=fields).write(tmp_path / name / "snap_00000.h5")
    result = octools("profile", tmp_path / "fine", "--against", tmp_path / "coarse")
    assert result.returncode == 0, result.stderr
    line = next(line for line in result.stdout.splitlines() if "difference from coarse" in line)
    assert line.startswith("density: mean difference from coarse")
    # A mean of 0.5 |sin| over cells' centres, and twice the largest sine as range.
    assert float(line.split()[5].rstrip(",")) == pytest.approx(1 / np.pi, rel=0.02)
    assert "16 % of its range" in line


def test_a_flow_at_rest_is_constant(tmp_path: Path, octools: Call) -> None:
    path = tmp_path / "snap_00000.h5"
    write_flow(path, 1e-18)
    assert "w: 0 everywhere" in octools("plot", path, "--field", "w", "--axis", "y").stdout
    assert "u: 0 to 1" in octools("plot", path, "--field", "u", "--axis", "y").stdout
    assert "scalar: 0 to 2" in octools("plot", path, "--field", "scalar", "--axis", "y").stdout


def write_flow(path: Path, noise: float) -> None:
    """Write a flow along x between z = 0 and 1, with a scalar and noise in other velocities."""
    n = 8
    centres, faces = (np.arange(n) + 0.5) / n, (np.arange(n) + 1.0) / n
    k = np.linspace(0.0, 1.0, n)[:, None, None] * np.ones((n, n, n))
    with h5py.File(path, "w") as file:
        file.create_group("header").attrs.update(
            time=0.0, step=0, viscosity=0.1, box_size=np.ones(3), parameters="", model="dns"
        )
        for a in "xyz":
            file[f"grid/{a}"], file[f"grid/{a}_face"] = centres, faces
        values = {"u": k, "v": noise * k, "w": noise * k, "p": 0 * k, "t": 2 * k}
        for name, field in values.items():
            file[f"fields/{name}"] = field


def test_the_scale_of_a_flow_is_its_speed(tmp_path: Path) -> None:
    from octools.flow import FlowSnapshot

    path = tmp_path / "snap_00000.h5"
    write_flow(path, 0.0)
    flow = FlowSnapshot.read(path)
    assert flow_scale(flow, FlowSlice("v", "y")) == pytest.approx(1.0)
    assert flow_scale(flow, FlowSlice("vorticity", "y")) == pytest.approx(8.0)
    assert flow_scale(flow, FlowSlice("scalar", "y")) == 0.0
    assert (flow.load("scalar") == flow.load("t")).all()
