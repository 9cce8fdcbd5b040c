"""Images of oblique planes, and of the density and Roche lobes in the orbital plane."""

from pathlib import Path

import numpy as np
import pytest
from binaries import BinarySnapshot, rotation
from conftest import partly_refined
from synthetic import Array

from octools.binary_figure import OrbitalImage, density_limits, orbital_image
from octools.binary_star import measure_binary
from octools.fields import find_field
from octools.oblique import ObliquePlane, interpolated_potential, sample_plane, sample_points
from octools.raster import make_image, make_view
from octools.snapshot import Snapshot

TILT = rotation(np.array([1.0, 2.0, 0.5]), 0.8)
UNIT = np.eye(3)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_plane_along_the_axes_is_a_slice(axis: str, snapshot_path: Path) -> None:
    across = [d for d in range(3) if d != "xyz".index(axis)]
    centre = np.full(3, 0.5)
    centre["xyz".index(axis)] = 0.553
    with Snapshot(snapshot_path) as snapshot:
        view = make_view(snapshot, "slice", axis, 0.553)
        image = make_image(snapshot, find_field(snapshot, "density"), view).values
        plane = ObliquePlane(centre, UNIT[across[0]], UNIT[across[1]], 0.5, len(image))
        found = sample_plane(snapshot, plane, "density")
    assert np.array_equal(found, image)


def test_an_oblique_plane_has_the_values_of_its_cells(tmp_path: Path) -> None:
    def linear(x: Array, y: Array, z: Array) -> Array:
        return 1.0 + x - 2.0 * y + 3.0 * z

    path = partly_refined(fields={"density": linear}).write(tmp_path / "snap.h5")
    plane = ObliquePlane(np.array([0.4, 0.5, 0.6]), TILT[:, 0], TILT[:, 1], 0.7, 90)
    points = plane.positions.reshape(-1, 3)
    with Snapshot(path) as snapshot:
        found = sample_points(snapshot, points, ["density"])
        assert np.array_equal(
            sample_plane(snapshot, plane, "density").ravel(), found["density"], equal_nan=True
        )
    inside = ((points >= 0.0) & (points < 1.0)).all(axis=1)
    assert 0.3 < inside.mean() < 0.9
    assert np.array_equal(np.isnan(found["density"]), ~inside)
    places, size = found["position"][inside], found["size"][inside]
    assert found["density"][inside] == pytest.approx(linear(*places.T), rel=1e-12)
    assert (np.abs(places - points[inside]) <= 0.5 * size * (1.0 + 1e-9)).all()
    assert set(np.round(size[:, 0] * 64, 9)) == {1.0, 2.0, 4.0}  # leaf cells of all levels


def test_the_potential_between_cells_is_interpolated_with_third_order(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    points = random.uniform(-1.2, 1.2, (400, 3))
    errors = []
    for cells in (24, 48):
        star = BinarySnapshot(cells=cells, turn=TILT, sigma=(0.2, 0.2))
        with Snapshot(star.write(tmp_path / f"snap_{cells}.h5")) as snapshot:
            found = interpolated_potential(snapshot, points)
        errors.append(np.abs(found - star.gravity(points)[:, 0]).mean())
    assert errors[0] < 1e-3
    assert errors[1] < errors[0] / 6.0
    with Snapshot(tmp_path / "snap_24.h5") as snapshot:
        assert np.isnan(interpolated_potential(snapshot, np.array([[0.0, 2.0, 0.0]]))).all()


def image_of(star: BinarySnapshot, path: Path, of_run: bool = True) -> OrbitalImage:
    with Snapshot(star.write(path)) as snapshot:
        return orbital_image(snapshot, measure_binary(snapshot, of_run), 1.2, 120)


@pytest.mark.parametrize("of_run", [True, False], ids=["run", "points"])
def test_the_image_is_that_of_the_corotating_frame(of_run: bool, tmp_path: Path) -> None:
    """The first star is on the left, for any orientation of orbit and mesh."""
    plain = image_of(BinarySnapshot(cells=48), tmp_path / "snap_0.h5", of_run)
    assert plain.potential is not None
    place, velocity = plain.state.pair.relative
    assert plain.plane.right @ place == pytest.approx(1.0, rel=1e-3)
    assert plain.plane.up @ velocity == pytest.approx(1.0, rel=1e-3)  # counter-clockwise
    ticks, middle = plain.plane.ticks, 60
    row = plain.density[middle]
    left, right = row[ticks < 0.0], row[ticks > 0.0]
    # Central densities of Gaussians, here of the cell of half the central density or more.
    for side, mass, sigma, place in ((left, 2, 0.06, -1.0 / 3.0), (right, 1, 0.05, 2.0 / 3.0)):
        central = mass / 3.0 / (np.sqrt(2.0 * np.pi) * sigma) ** 3
        assert 0.5 * central < side.max() <= central
        dense = (row > 0.05 * central) & (np.sign(ticks) == np.sign(place))
        assert ticks[dense].mean() == pytest.approx(place, abs=0.04)
    inside = plain.potential < 0.0
    width = 2.0 * plain.plane.half_width / len(inside)
    ticks = ticks.reshape(-1, 120 // len(inside)).mean(axis=1)
    # The lobes of q = 1/2 reach L1 and no farther, and have the volumes of Eggleton's radii.
    for side, radius, reach in ((ticks < 0.237, 0.4401, 0.5707), (ticks > 0.237, 0.3208, 0.4293)):
        area = inside[:, side].sum() * width**2
        assert 0.98 * np.pi * radius**2 < area < np.pi * reach**2
    for number, star in enumerate(
        (
            BinarySnapshot(cells=48, turn=TILT),
            BinarySnapshot(cells=48, turn=TILT, frame=1.0, time=0.8, centre=(0.1, 0.2, -0.1)),
        )
    ):
        other = image_of(star, tmp_path / f"snap_{number + 1}.h5", of_run)
        assert other.potential is not None
        same = (other.density > 0.1) == (plain.density > 0.1)
        assert same.mean() > 0.97
        assert ((other.potential < 0.0) == inside).mean() > 0.99


def test_the_colour_scale_has_six_decades(tmp_path: Path) -> None:
    image = image_of(BinarySnapshot(cells=24, ambient=1e-9), tmp_path / "snap.h5")
    low, high = density_limits([image])
    assert high == pytest.approx(np.nanmax(image.density))
    assert high / low == pytest.approx(1e6)
    image = image_of(BinarySnapshot(cells=24, ambient=0.5), tmp_path / "snap.h5")
    assert density_limits([image])[0] == pytest.approx(0.5)
