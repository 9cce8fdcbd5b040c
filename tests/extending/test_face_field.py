"""The face-centred field of docs/extending.md: one file and one word in the list."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from octools.snapshot import Snapshot

from extended import with_program
from inputs import DRIFTING_BLAST
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    run,
    run_well,
)

MAGNETIZED = DRIFTING_BLAST + "\n[induction]\nstrength = 0.3\n"
COMPONENTS = [f"magnetic_field_{axis}" for axis in "xyz"]

extended_program = with_program("octant_with_a_face_field")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    directory = tmp_path_factory.mktemp("one_rank") / "run"
    return run_well(directory, MAGNETIZED, *CHECKPOINT_EVERY_STEP)


def faces(level: h5py.Group) -> list[np.ndarray]:
    """Read the components on the faces of a level, [block][k][j][i] each."""
    return [level[name][...] for name in COMPONENTS]


def largest_divergence(path: Path) -> float:
    """Return the largest |div B| times the cell size, over the largest |B|, of all cells."""
    largest = scale = 0.0
    with h5py.File(path) as file:
        for level in file["faces"].values():
            x, y, z = faces(level)
            divergence = np.diff(x, axis=3) + np.diff(y, axis=2) + np.diff(z, axis=1)
            largest = max(largest, np.abs(divergence).max())
            scale = max(scale, *(np.abs(component).max() for component in (x, y, z)))
    return largest / scale


def test_the_field_stays_solenoidal_while_the_mesh_changes(reference: Outcome) -> None:
    cells = reference.history()["leaf_cells_2"]
    assert len(set(cells)) > 3, "the mesh must change"
    for path in sorted(reference.directory.glob("*.h5")):
        assert largest_divergence(path) < 1e-14, path
    with h5py.File(reference.last_snapshot) as file:
        assert len(file["faces"]) == 3, "the case must refine"


def test_the_gas_carries_the_field_along(tmp_path: Path) -> None:
    velocity = np.array([0.5, 1.0, -0.75])
    uniform = f"""
        problem.name = "expression"
        problem.density = "1"
        problem.pressure = "1"
        problem.velocity = {[str(v) for v in velocity]}
        mesh.base_cells = [16, 16, 16]
        mesh.block_size = 4
        mesh.max_level = 1
        refine.region_level = 1
        refine.region_lower = [0.25, 0.25, 0.25]
        refine.region_upper = [0.75, 0.75, 0.75]
        time.end = 0.5
        induction.strength = 1.0
    """
    outcome = run_well(tmp_path / "run", uniform)
    assert largest_divergence(outcome.last_snapshot) < 1e-14
    with Snapshot(outcome.last_snapshot) as snapshot:
        assert len(snapshot.levels) == 2
        error, cells = 0.0, 0
        for level in snapshot.levels:
            for batch in snapshot.batches(COMPONENTS, level):
                for axis, name in enumerate(COMPONENTS):
                    along = (axis + 1) % 3
                    index = np.arange(snapshot.header.block_size)
                    index = index.reshape([-1 if d == 2 - along else 1 for d in range(3)])
                    first = batch.corner[:, along].reshape(-1, 1, 1, 1)
                    place = (first + index + 0.5) * level.cell_size[along]
                    exact = np.sin(2 * np.pi * (place - 0.5 * velocity[along]))
                    error += np.abs(batch.values[name] - exact)[batch.leaf].sum()
                    cells += batch.leaf.sum()
    assert error / cells < 0.03


def test_a_snapshot_describes_the_field(reference: Outcome) -> None:
    with h5py.File(reference.last_snapshot) as file:
        for n, axis in enumerate("xyz"):
            data = file[f"faces/level_0/magnetic_field_{axis}"]
            assert data.shape[1:] == tuple(4 + (n == 2 - d) for d in range(3))
            told = dict(data.attrs)
            assert told["units"] == "magnetic field"
            assert told["centring"] == "face"
            assert told["axis"] == axis
            assert (
                told["description"]
                == f"magnetic field that the gas carries along, {axis} component"
            )


def test_octools_reads_the_means_of_cells(reference: Outcome) -> None:
    with Snapshot(reference.last_snapshot) as snapshot:
        assert set(COMPONENTS) <= set(snapshot.stored_fields)
        level = snapshot.levels[-1]
        means = level.read("magnetic_field_y", slice(0, level.blocks))
        raw = level.dataset("magnetic_field_y")[...]
        assert np.array_equal(means, 0.5 * (raw[:, :, :-1] + raw[:, :, 1:]))
        assert snapshot.units_of("magnetic_field_y") == "magnetic field"


def test_slices_hold_the_means_of_cells(tmp_path: Path) -> None:
    settings = ('output.slices=["z = 0.5"]', "output.cutout_interval=100.0", "time.max_steps=1")
    outcome = run_well(tmp_path / "run", MAGNETIZED, *settings)
    cut = sorted(outcome.directory.glob("slice_z*.h5"))[-1]
    with h5py.File(cut) as file:
        assert file["faces/level_0/magnetic_field_x"].shape[1:] == (1, 4, 4)


@pytest.mark.parametrize("ranks", [2, 3])
def test_other_ranks_give_the_same_bits(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    assert_same_run(run_well(tmp_path / "run", MAGNETIZED, ranks=ranks), reference)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_bits_across_a_restart(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    assert_goes_on(tmp_path / "run", reference, 5, ranks=ranks)


def test_a_checkpoint_without_the_field_is_refused(tmp_path: Path) -> None:
    bare = run_well(tmp_path / "bare", DRIFTING_BLAST, "time.max_steps=2", *CHECKPOINT_EVERY_STEP)
    checkpoint = bare.directory / "checkpoint_00001.h5"
    outcome = run(tmp_path / "run", MAGNETIZED, restart=checkpoint)
    assert_refused(outcome, "checkpoint_00001.h5", "induction.strength = 0")
