"""Checkpoints of earlier versions are gone on from.

tests/data/old_checkpoints.tar.xz holds, of a blast, a box of the universe with gas and dark matter,
and a channel, the checkpoint after one of two steps, run.toml and history.csv.
"""

import tarfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from running import ROOT, Outcome, octant, run_well

# Conserved, or of the state at which the run continues.
COLUMNS = {
    "blast": ("mass", "total_energy", "kinetic", "internal"),
    "box": ("mass", "kinetic", "internal", "dark_particles", "dark_mass", "dark_kinetic", "econs"),
    "channel": ("kinetic_u", "kinetic_w", "mean_u", "max_w"),
}


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(ROOT / "tests/data/old_checkpoints.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("case", COLUMNS)
@pytest.mark.parametrize("ranks", [1, 3])
def test_checkpoints_of_0_2_0_are_gone_on_from(
    old: Path, tmp_path: Path, case: str, ranks: int
) -> None:
    """With the parameters that the old program wrote down."""
    checkpoint = old / case / "checkpoint_00000.h5"
    assert octant("info", "--verify", checkpoint).code == 0
    text = (old / case / "run.toml").read_text()
    outcome = run_well(tmp_path / "run", text, restart=checkpoint, ranks=ranks)
    assert "restarted from" in outcome.text
    before = Outcome(0, "", old / case).history()
    after = outcome.history()
    assert list(after["step"]) == [0, 1, 2]
    for column in COLUMNS[case]:
        assert after[column][:2] == pytest.approx(before[column][:2], rel=1e-12)
        assert np.isfinite(after[column][2])
    with h5py.File(outcome.last_snapshot) as file:
        assert int(file["header"].attrs["step"]) == 2
