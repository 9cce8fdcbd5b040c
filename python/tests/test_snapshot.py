"""Reading snapshots, and saying what is wrong with a file that is not one."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import partly_refined, wave
from synthetic import Synthetic

from octools import snapshot as module
from octools.errors import OctoolsError
from octools.fields import find_field, with_units
from octools.run import resolve
from octools.snapshot import Snapshot


def leaf_volume(snapshot: Snapshot) -> float:
    return sum(
        batch.leaf.sum() * level.cell_size.prod()
        for level in snapshot.levels
        for batch in snapshot.batches([], level)
    )


@pytest.mark.parametrize("block_size", [2, 4, 8])
def test_leaf_cells_fill_the_domain_once(tmp_path: Path, block_size: int) -> None:
    path = partly_refined(block_size=block_size, upper=(2.0, 2.0, 2.0)).write(tmp_path / "a.h5")
    with Snapshot(path) as snapshot:
        assert len(snapshot.levels) == 3
        masks = np.concatenate([level.refined for level in snapshot.levels])
        assert np.any((masks > 0) & (masks < 255))  # some blocks are refined in part
        assert leaf_volume(snapshot) == pytest.approx(8.0, rel=1e-14)


def test_batches_are_bounded_and_lose_nothing(
    snapshot_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CELLS", 3 * 8**3)
    with Snapshot(snapshot_path) as snapshot:
        level = snapshot.levels[1]
        batches = list(snapshot.batches(["density"], level))
        assert all(len(batch.leaf) <= 3 for batch in batches)
        together = np.concatenate([batch.values["density"] for batch in batches])
        assert np.array_equal(together, level.hydro["density"][...])


def test_blocks_may_be_read_in_runs(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as snapshot:
        level = snapshot.levels[1]
        some = np.array([0, 1, 4, 6])
        assert np.array_equal(level.read("density", some), level.hydro["density"][...][some])


def test_parameters_are_read_from_the_text(tmp_path: Path) -> None:
    text = 'model = "amr"\n[problem]\nname = "blob"\ncentre = [0.1, 0.2, 0.3]\n[mesh]\n'
    text += 'boundary_y = ["reflecting", "outflow"]\n'
    with Snapshot(Synthetic(parameters=text).write(tmp_path / "a.h5")) as snapshot:
        header = snapshot.header
        assert header.parameter("problem.name") == "blob"
        assert header.parameter("problem.radius", 7) == 7
        assert header.centre.tolist() == [0.1, 0.2, 0.3]
        assert header.drift.tolist() == [0, 0, 0]
        assert header.periodic.tolist() == [True, False, True]


def test_centre_drifts_with_the_problem_through_periodic_faces_only(tmp_path: Path) -> None:
    text = "[problem]\ncentre = [0.5, 0.5, 0.25]\nvelocity = [0.5, -1.0, 0.25]\n[mesh]\n"
    text += 'boundary_z = ["outflow", "outflow"]\n'
    with Snapshot(Synthetic(parameters=text, time=1.5).write(tmp_path / "a.h5")) as snapshot:
        assert snapshot.header.centre == pytest.approx([0.25, 0.0, 0.625])


def test_derived_fields_follow_from_the_stored_ones(tmp_path: Path) -> None:
    fields = {"density": wave, "velocity_x": lambda x, y, z: 3.0 + 0 * (x + y + z)}
    fields["velocity_z"] = lambda x, y, z: 4.0 + 0 * (x + y + z)
    with Snapshot(Synthetic(fields=fields).write(tmp_path / "a.h5")) as snapshot:
        for name, expected in (("speed", 5.0), ("level", 0.0)):
            field = find_field(snapshot, name)
            batch = next(snapshot.batches(field.needs, snapshot.levels[0]))
            assert np.all(field.compute(batch, snapshot.header) == expected)
        mach = find_field(snapshot, "mach")
        batch = next(snapshot.batches(mach.needs, snapshot.levels[0]))
        expected = 5.0 / np.sqrt(1.4 / batch.values["density"])
        assert mach.compute(batch, snapshot.header) == pytest.approx(expected)


def test_labels_show_units(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as snapshot:
        assert find_field(snapshot, "density").label == "density [code mass / length$^{3}$]"
        assert find_field(snapshot, "mach").label == "mach"
        assert with_units("x", snapshot.length_units) == "x [code length]"
        assert with_units("temperature", "K") == "temperature [K]"


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OctoolsError, match=r"the file .*snap_00009\.h5 does not exist"):
        Snapshot(tmp_path / "snap_00009.h5")


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.h5"
    text.write_text("not a snapshot")
    with pytest.raises(OctoolsError, match="not a readable HDF5 file"):
        Snapshot(text)
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["data"] = 1
    with pytest.raises(OctoolsError, match="no group /header"):
        Snapshot(other)


def test_truncated_file_is_called_truncated(snapshot_path: Path) -> None:
    whole = snapshot_path.read_bytes()
    snapshot_path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OctoolsError, match="truncated"):
        Snapshot(snapshot_path)


def test_missing_dataset_is_named(snapshot_path: Path) -> None:
    with h5py.File(snapshot_path, "r+") as file:
        del file["mesh/level_0/key"]
    with pytest.raises(OctoolsError, match="not a complete Octant snapshot"):
        Snapshot(snapshot_path)


def test_level_that_lacks_a_field_is_refused(snapshot_path: Path) -> None:
    with h5py.File(snapshot_path, "r+") as file:
        del file["hydro/level_1/pressure"]
    with pytest.raises(OctoolsError, match="hold different fields"):
        Snapshot(snapshot_path)


def test_a_run_without_gas_has_levels_and_no_fields(snapshot_path: Path) -> None:
    with h5py.File(snapshot_path, "r+") as file:
        del file["hydro"]
    with Snapshot(snapshot_path) as snapshot:
        assert snapshot.stored_fields == []
        assert len(snapshot.levels) > 1
        assert find_field(snapshot, "level").needs == ()
        with pytest.raises(OctoolsError, match="there are: level"):
            find_field(snapshot, "density")
        with pytest.raises(OctoolsError, match="there are: none"):
            snapshot.require(["density"])


def test_unknown_field_names_the_nearest(snapshot_path: Path) -> None:
    with (
        Snapshot(snapshot_path) as snapshot,
        pytest.raises(OctoolsError, match=r"no field 'presure'; did you mean pressure\?"),
    ):
        find_field(snapshot, "presure")


def test_run_directory_stands_for_its_newest_snapshot(tmp_path: Path) -> None:
    for number in (2, 10, 9):
        (tmp_path / f"snap_{number:05d}.h5").touch()
    assert resolve(tmp_path).name == "snap_00010.h5"
    assert resolve(tmp_path, 2).name == "snap_00002.h5"
    with pytest.raises(OctoolsError, match="no snapshot 3; available snapshots: 2, 9, 10"):
        resolve(tmp_path, 3)
    with pytest.raises(OctoolsError, match="is a single file"):
        resolve(tmp_path / "snap_00002.h5", 2)
