"""Slices and projections of fields that are known everywhere."""

from pathlib import Path

import numpy as np
import pytest
from conftest import partly_refined, wave
from synthetic import around

from octools import raster
from octools.errors import OctoolsError
from octools.fields import find_field
from octools.raster import block_outlines, make_image, make_view
from octools.snapshot import AXES, Snapshot


def linear(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return 1 + x + 10 * y + 100 * z


@pytest.mark.parametrize("axis", AXES)
def test_slice_shows_the_leaf_cell_at_each_pixel(tmp_path: Path, axis: str) -> None:
    path = partly_refined(fields={"density": linear}).write(tmp_path / "a.h5")
    with Snapshot(path) as snapshot:
        position = 0.41
        view = make_view(snapshot, "slice", axis, position)
        image = make_image(snapshot, find_field(snapshot, "density"), view)
        levels = make_image(snapshot, find_field(snapshot, "level"), view)
        assert image.values.shape == (64, 64)
        assert set(np.unique(levels.values)) == {0.0, 1.0, 2.0}
        centres = (np.arange(64) + 0.5) / 64
        point = [np.zeros((64, 64))] * 3
        point[view.across[0]], point[view.across[1]] = np.meshgrid(centres, centres)
        point[view.axis] = np.full((64, 64), position)
        cell = 1 / (16 * 2**levels.values)
        expected = linear(*((np.floor(p / cell) + 0.5) * cell for p in point))
        assert image.values == pytest.approx(expected, rel=1e-13)


def test_slice_on_a_face_takes_the_cells_above_it_and_the_top_those_below(tmp_path: Path) -> None:
    path = partly_refined(fields={"density": linear}).write(tmp_path / "a.h5")
    with Snapshot(path) as snapshot:
        density = find_field(snapshot, "density")
        for position, z in ((0.0, 0.5 / 16), (0.875, 14.5 / 16), (1.0, 15.5 / 16)):
            image = make_image(snapshot, density, make_view(snapshot, "slice", "z", position))
            assert image.values[-1, -1] == pytest.approx(linear(31.0 / 32, 31.0 / 32, z))


@pytest.mark.parametrize("pixels", [16, 32, 1024])
@pytest.mark.parametrize("axis", AXES)
def test_projection_integrates_to_the_volume_integral(
    snapshot_path: Path, monkeypatch: pytest.MonkeyPatch, axis: str, pixels: int
) -> None:
    monkeypatch.setattr(raster, "MAX_PIXELS", pixels)
    with Snapshot(snapshot_path) as snapshot:
        density = find_field(snapshot, "density")
        image = make_image(snapshot, density, make_view(snapshot, "projection", axis, None))
        assert image.values.shape == (min(pixels, 64),) * 2
        mass = sum(
            batch.values["density"][batch.leaf].sum() * level.cell_size.prod()
            for level in snapshot.levels
            for batch in snapshot.batches(["density"], level)
        )
        assert image.values.mean() == pytest.approx(mass, rel=1e-12)


def test_small_cells_are_averaged_over_a_pixel(
    snapshot_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Snapshot(snapshot_path) as snapshot:
        density = find_field(snapshot, "density")
        view = make_view(snapshot, "slice", "z", 0.55)
        fine = make_image(snapshot, density, view).values
        monkeypatch.setattr(raster, "MAX_PIXELS", 16)
        coarse = make_image(snapshot, density, view).values
        assert coarse == pytest.approx(fine.reshape(16, 4, 16, 4).mean(axis=(1, 3)), rel=1e-13)


def test_weighted_projection_of_a_constant_is_that_constant(tmp_path: Path) -> None:
    fields = {"density": wave, "pressure": lambda x, y, z: 7.0 + 0 * (x + y + z)}
    with Snapshot(partly_refined(fields=fields).write(tmp_path / "a.h5")) as snapshot:
        view = make_view(snapshot, "projection", "y", None)
        pressure, density = (find_field(snapshot, n) for n in ("pressure", "density"))
        assert make_image(snapshot, pressure, view, density).values == pytest.approx(7.0)


def test_slab_keeps_its_shape(tmp_path: Path) -> None:
    slab = partly_refined(
        base_cells=(32, 8, 8), upper=(4.0, 1.0, 1.0), refine=around((1, 0.2, 0.2), 0.1, 1)
    )
    with Snapshot(slab.write(tmp_path / "a.h5")) as snapshot:
        view = make_view(snapshot, "slice", "z", 0.2)
        image = make_image(snapshot, find_field(snapshot, "density"), view)
        assert image.values.shape == (16, 64)
        assert image.extent == (0.0, 4.0, 0.0, 1.0)


def test_outlines_surround_the_blocks_that_own_leaves_in_the_plane(tmp_path: Path) -> None:
    # Refine every octant below z = 1/2, where the plane lies, of one base block of eight.
    def refine(level: int, lower: np.ndarray, upper: np.ndarray) -> bool:
        return level == 0 and bool(np.all(upper <= 0.5))

    with Snapshot(partly_refined(refine=refine).write(tmp_path / "a.h5")) as snapshot:
        base, fine = block_outlines(snapshot, make_view(snapshot, "slice", "z", 0.2))
        assert len(base.lower) == 3  # the fourth block in the plane owns no leaf there
        assert not np.any(np.all(base.lower == 0, axis=1))
        assert len(fine.lower) == 4
        assert np.all(fine.upper - fine.lower == 0.25)


def test_position_outside_the_domain_is_refused(snapshot_path: Path) -> None:
    with (
        Snapshot(snapshot_path) as snapshot,
        pytest.raises(OctoolsError, match="outside the domain, 0 to 1 along x"),
    ):
        make_view(snapshot, "slice", "x", 1.5)
