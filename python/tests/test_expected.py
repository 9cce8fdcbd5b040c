"""What examples are held against, and what they say about themselves."""

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Call

from octools.chart import Chart, Curve, save_charts
from octools.errors import OctoolsError
from octools.exact import Bondi
from octools.examples import read_example, read_examples
from octools.expected import EXAMPLES, Number
from octools.expected.gas import behind_shock, field_rate
from octools.expected.gravity import bardeen_spin, falling_ball, maclaurin_potential, merger
from octools.run import example_of, wanted_pictures

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def test_bondis_flow_keeps_mass_and_energy_and_passes_the_speed_of_sound() -> None:
    flow = Bondi(gamma=1.4, density=2.0, radius=3.0, sound_speed=0.5)
    r = np.geomspace(0.03, 300.0, 200)
    density, velocity, pressure = flow.at(r)
    assert -4 * np.pi * r**2 * density * velocity == pytest.approx(flow.inflow, rel=1e-9)
    sound = np.sqrt(1.4 * pressure / density)
    energy = 0.5 * velocity**2 + (sound**2 - 0.25) / 0.4 - 3.0 * 0.25 / r
    assert np.abs(energy / (3.0 * 0.25 / r)).max() < 1e-9
    sonic = 0.25 * (5 - 3 * 1.4) * 3.0
    assert np.array_equal(-velocity > sound, r < sonic)
    assert density[-1] == pytest.approx(2.0, rel=0.02)


def test_a_hole_that_has_grown_by_the_root_of_six_has_the_greatest_spin() -> None:
    spin = bardeen_spin(np.array([1.0, 1.5, 2.4, 3.0]))
    assert spin[0] == 0.0
    assert np.all(np.diff(spin[:3]) > 0)
    assert spin[3] == 0.998


def test_potentials_of_spheroids_are_those_of_their_limits() -> None:
    r = np.array([0.0, 0.5, 0.999, 1.001, 3.0])
    ball = np.where(r < 1, -2 * np.pi * (1 - r**2 / 3), -4 * np.pi / 3 / np.maximum(r, 0.1))
    for distance, height in ((r, 0 * r), (0 * r, r)):
        assert maclaurin_potential(distance, height, 1.0, 1.0, 1.0) == pytest.approx(ball, rel=1e-9)
    # The centre that examples/maclaurin.toml tells of; far away only the mass matters.
    far = np.array([0.0, 1e3])
    found = maclaurin_potential(far, 0 * far, 1.0, 0.75, 1.0)
    assert found == pytest.approx([-5.14909, -np.pi * 1e-3], rel=1e-6)


def test_gas_whose_cooling_grows_with_temperature_is_stable() -> None:
    wave = 2 * np.pi
    assert field_rate(1.0, 1.5, 5 / 3, wave) < 0
    # Much slower than sound, at constant pressure: (1 - slope) (gamma - 1) / gamma.
    assert field_rate(1e-3, -0.5, 5 / 3, wave) == pytest.approx(1.5e-3 * 0.4, rel=1e-4)


def test_a_strong_shock_heats_by_three_sixteenths_of_its_speed_squared() -> None:
    # Gas of speed 3 meets a wall: the shock comes back at 1, and density rises to 4.
    found = behind_shock(5 / 3, (1.0, 3.0, 1e-8), density=4.0, velocity=0.0)
    assert found == pytest.approx(3 / 16 * 4.0**2, rel=1e-6)


def test_a_ball_grows_as_linear_theory_says_and_collapses_at_1_69() -> None:
    excess = 1e-4
    radius = falling_ball(excess, 1.0, np.array([1.0, 10.0, 1.68e4, 1.70e4]))
    assert (1 + excess) / radius[1] ** 3 - 1 == pytest.approx(10 * excess, rel=1e-2)
    assert radius[2] < 0.1
    assert np.isnan(radius[3])


@pytest.mark.parametrize(
    ("damaged", "change", "failing"),
    [
        ("", 0.0, ()),
        ("outflow_mass", 1e-9, (0,)),
        ("floored_mass", 1e-9, (0,)),
        ("outflow_angular_momentum_z", 1e-4, (1,)),
        ("braking_angular_momentum_z", 1e-4, (1,)),
        ("separation", 0.2, (2,)),
    ],
)
def test_a_merger_has_closed_budgets_and_one_centre(
    damaged: str, change: float, failing: tuple[int, ...], tmp_path: Path
) -> None:
    columns = {
        "time": [0.0, 1.0, 2.0],
        "mass": [1.0, 0.9, 0.85],
        "outflow_mass": [0.0, 0.1, 0.1625],
        "floored_mass": [0.0, 0.0, 0.0125],
        "angular_momentum_z": [0.25, 0.2, 0.125],
        "outflow_angular_momentum_z": [0.0, 0.025, 0.0625],
        "braking_angular_momentum_z": [0.0, -0.025, -0.0625],
        "separation": [1.0, 0.5, 0.05],
        "lobe_1_mass": [0.6, 0.7, 0.0],
        "lobe_2_mass": [0.4, 0.2, 0.0],
    }
    if damaged:
        columns[damaged][-1] += change
    rows = [
        ",".join(columns),
        *(",".join(map(repr, row)) for row in zip(*columns.values(), strict=True)),
    ]
    (tmp_path / "history.csv").write_text("\n".join(rows) + "\n")
    numbers = [found for found in merger(tmp_path) if isinstance(found, Number)]
    assert [n for n, found in enumerate(numbers) if not found.passes] == list(failing)


def test_charts_are_drawn(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 50)
    chart = Chart("x", "y", [Curve("found", x, x + 1)], [Curve("exact", x, x + 1)], log=True)
    save_charts([chart, Chart("x", "y", [Curve("found", x[:5], x[:5])])], "two", tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_examples_with_numbers_are_there() -> None:
    found = {example.name: example for example in read_examples(FOLDER)}
    assert set(EXAMPLES) <= set(found)
    assert found["paper_channel"].launch == ("-n", "2")
    assert found["jeans"].pictures == ("expect.png", "snap_00004_density_slice_z.png")
    assert found["sod"].launch == ()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_name_themselves_whatever_their_directory_is_called(
    path: Path, tmp_path: Path
) -> None:
    """A run of an example is held against its number in any directory, and when it was copied."""
    run = tmp_path / "another"
    run.mkdir()
    (run / "run.toml").write_text(path.read_text())
    if any(text.startswith("expect") for text in wanted_pictures(run)):
        assert example_of(run) == path.stem


def test_runs_are_known_by_their_parameters(tmp_path: Path) -> None:
    """With pictures = ["expect"] alone, in a directory of another name, on another mesh."""
    found = {}
    for path in sorted(FOLDER.glob("*.toml")):
        text = re.sub("expect --example [a-z_]+", "expect", path.read_text())
        (tmp_path / "run.toml").write_text(text)
        found[path.stem] = example_of(tmp_path)
    wrong = {name: other for name, other in found.items() if name in EXAMPLES and other != name}
    assert not wrong
    text = (FOLDER / "square_duct.toml").read_text()
    (tmp_path / "run.toml").write_text(re.sub("viscosity = .*", "viscosity = 7.0", text))
    assert example_of(tmp_path) == "square_duct", "it names itself"
    text = re.sub("expect --example [a-z_]+", "expect", text)
    (tmp_path / "run.toml").write_text(re.sub("viscosity = .*", "viscosity = 7.0", text))
    assert example_of(tmp_path) == tmp_path.name


def test_a_run_that_names_no_example_is_taken_for_that_of_its_directory(
    tmp_path: Path, octools: Call
) -> None:
    for name, text in (("jeans", ""), ("duct2", '[output]\npictures = ["expect"]\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").write_text(text)
    assert example_of(tmp_path / "jeans") == "jeans"
    result = octools("expect", tmp_path / "duct2")
    assert result.returncode == 2
    assert "--example" in result.stderr
    assert "'nothing'" in octools("expect", tmp_path, "--example", "nothing").stderr


def test_an_example_that_says_nothing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mute.toml"
    path.write_text('model = "amr"\n[problem]\nname = "sod"\n')
    with pytest.raises(OctoolsError, match="mute"):
        read_example(path)
