"""Profiles of fields that are known everywhere."""

from pathlib import Path

import numpy as np
import pytest
from conftest import partly_refined, wave
from synthetic import Array, Synthetic, around

from octools.errors import OctoolsError
from octools.exact import Riemann, Sedov
from octools.profile import exact_solution, key_numbers, line_profile, radial_profile
from octools.snapshot import Snapshot

CORNER = np.zeros(3)
WALLS = "[mesh]\n" + "".join(f'boundary_{a} = ["reflecting", "reflecting"]\n' for a in "xyz")


def square(x: Array, y: Array, z: Array) -> Array:
    return x**2 + y**2 + z**2


def test_radial_profile_of_the_squared_radius(tmp_path: Path) -> None:
    snapshot = Synthetic(
        (32, 32, 32),
        refine=around((0.2, 0, 0), 0.1, 1),
        fields={"density": square},
        parameters=WALLS,
    )
    with Snapshot(snapshot.write(tmp_path / "a.h5")) as data:
        profile = radial_profile(data, CORNER, ["density"])
    width = 1 / 64
    assert profile.place[-1] == pytest.approx(1.0, abs=width)
    # A bin is one finest cell wide, and so is the error of a piecewise constant field in it.
    far = profile.place > 4 * width
    error = profile.values["density"] / profile.place**2 - 1
    assert np.abs(error[far]).max() < 0.08
    assert np.average(np.abs(error), weights=profile.volume) < 0.003


def test_shells_have_the_volume_of_shells(tmp_path: Path) -> None:
    with Snapshot(Synthetic((64, 64, 64), parameters=WALLS).write(tmp_path / "a.h5")) as data:
        profile = radial_profile(data, CORNER, ["density"])
    assert profile.volume.sum() == pytest.approx(np.pi / 6, rel=1e-2)


def test_radial_velocity_points_away_from_the_centre_across_a_periodic_face(
    tmp_path: Path,
) -> None:
    centre = np.array([0.1, 0.5, 0.95])

    def along(axis: int, sign: float = 1.0):
        def velocity(x: Array, y: Array, z: Array) -> Array:
            d = (x, y, z)[axis] - centre[axis] + 0 * (x + y + z)
            return sign * (d - np.rint(d))

        return velocity

    fields = {f"velocity_{a}": along(i) for i, a in enumerate("xyz")}
    path = partly_refined(base_cells=(32, 32, 32), fields=fields).write(tmp_path / "a.h5")
    with Snapshot(path) as data:
        profile = radial_profile(data, centre, ["radial_velocity"])
    assert profile.place[-1] == pytest.approx(0.5, abs=1 / 64)
    assert profile.volume.sum() == pytest.approx(np.pi / 6, rel=1e-2)
    near = np.abs(profile.values["radial_velocity"] - profile.place)
    assert near.max() < 0.03


def test_radial_velocity_is_relative_to_the_motion_of_the_problem(tmp_path: Path) -> None:
    text = "[problem]\ncentre = [0.5, 0.5, 0.5]\nvelocity = [0.25, 0.0, -3.0]\n"
    fields = {
        "velocity_x": lambda x, y, z: 0.25 + 0 * (x + y + z),
        "velocity_z": lambda x, y, z: -3.0 + 0 * (x + y + z),
    }
    with Snapshot(Synthetic(parameters=text, fields=fields).write(tmp_path / "a.h5")) as data:
        profile = radial_profile(data, data.header.centre, ["radial_velocity"])
    assert np.all(profile.values["radial_velocity"] == 0)


def test_velocities_that_are_expressions_are_no_motion_of_the_problem(tmp_path: Path) -> None:
    text = '[problem]\ncentre = [0.1, 0.2, 0.3]\nvelocity = ["-y", "1", "0"]\n'
    with Snapshot(Synthetic(parameters=text).write(tmp_path / "a.h5")) as data:
        assert np.all(data.header.drift == 0)
        assert data.header.centre == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_line_lists_the_leaf_cells_in_order(tmp_path: Path, axis: int) -> None:
    with Snapshot(partly_refined(fields={"density": wave}).write(tmp_path / "a.h5")) as data:
        through = np.array([0.31, 0.42, 0.56])
        profile = line_profile(data, axis, through, ["density", "level"])
    assert np.all(np.diff(profile.place) > 0)
    assert profile.volume.sum() == pytest.approx(1.0, rel=1e-14)
    assert set(profile.values["level"]) == {0.0, 1.0, 2.0}
    cell = 1 / (16 * 2 ** profile.values["level"])
    points = [(np.floor(c / cell) + 0.5) * cell for c in through]
    points[axis] = profile.place
    assert profile.values["density"] == pytest.approx(wave(*points), rel=1e-13)


def sampled_sedov(tmp_path: Path, cells: int) -> Snapshot:
    blast, time = Sedov(energy=2.0, density=0.5, gamma=5 / 3), 0.1

    def part(number: int):
        return lambda x, y, z: blast.at(np.sqrt(square(x, y, z)), time)[number]

    def velocity(axis: int):
        return lambda x, y, z: part(1)(x, y, z) * (x, y, z)[axis] / np.sqrt(square(x, y, z))

    text = '[problem]\nname = "sedov"\nenergy = 2.0\ndensity = 0.5\ncentre = [0.0, 0.0, 0.0]\n'
    fields = {"density": part(0), "pressure": part(2)}
    fields |= {f"velocity_{a}": velocity(i) for i, a in enumerate("xyz")}
    sampled = Synthetic(
        (cells,) * 3, fields=fields, time=time, parameters=text + WALLS, gamma=5 / 3
    )
    return Snapshot(sampled.write(tmp_path / f"{cells}.h5"))


def test_key_numbers_of_a_sampled_sedov_blast(tmp_path: Path) -> None:
    errors = []
    for cells in (32, 64):
        with sampled_sedov(tmp_path, cells) as data:
            exact = exact_solution(data.header, "sedov", {})
            names = ["density", "radial_velocity", "pressure"]
            profile = radial_profile(data, data.header.centre, names)
            numbers = key_numbers(profile, exact)
        assert exact.shock == pytest.approx(Sedov(2.0, 0.5, 5 / 3).radius(0.1))
        assert numbers["exact shock radius"] == exact.shock
        assert numbers["peak radius"] == pytest.approx(exact.shock, abs=1.5 / cells)
        assert numbers["outer half-jump radius"] == pytest.approx(exact.shock, abs=1.5 / cells)
        assert 1.0 < numbers["peak density"] < 2.0
        errors.append([numbers[f"L1 error, {name}"] for name in names])
    assert np.all(np.array(errors[1]) < 0.7 * np.array(errors[0]))


def test_options_override_the_parameters_of_the_run(tmp_path: Path) -> None:
    with sampled_sedov(tmp_path, 16) as data:
        exact = exact_solution(data.header, "sedov", {"energy": 64.0, "gamma": 1.4})
        assert exact.shock == pytest.approx(Sedov(64.0, 0.5, 1.4).radius(0.1))


def test_sod_errors_vanish_on_the_exact_solution_and_not_beside_it(tmp_path: Path) -> None:
    tube = Riemann((1, 0, 1), (0.125, 0, 0.1), 1.4, 0.5)
    text = '[problem]\nname = "sod"\nposition = 0.5\naxis = "y"\n'
    text += "left = [1.0, 0.0, 1.0]\nright = [0.125, 0.0, 0.1]\n"
    fields = {
        name: (lambda x, y, z, n=n: tube.at(y + 0 * (x + z), 0.2)[n])
        for n, name in enumerate(("density", "velocity_y", "pressure"))
    }
    slab = Synthetic(
        (8, 64, 8), upper=(0.125, 1.0, 0.125), fields=fields, time=0.2, parameters=text
    )
    with Snapshot(slab.write(tmp_path / "a.h5")) as data:
        profile = line_profile(data, 1, data.header.centre, list(fields))
        numbers = key_numbers(profile, exact_solution(data.header, "sod", {}))
        assert [numbers[f"L1 error, {name}"] for name in fields] == pytest.approx([0, 0, 0])
        shifted = key_numbers(profile, exact_solution(data.header, "sod", {"position": 0.6}))
        assert shifted["L1 error, density"] > 0.02


def test_exact_solution_before_the_start_is_refused(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as data, pytest.raises(OctoolsError, match="at t = 0"):
        exact_solution(data.header, "sedov", {})
