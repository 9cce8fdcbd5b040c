"""The format of docs/extending.md: one file, and its name in one list."""

from pathlib import Path

import numpy as np
import pytest

from extended import with_program
from inputs import DRIFTING_BLAST
from refusals import assert_refused
from running import Outcome, leaf_cells, run, run_well

extended_program = with_program("octant_with_a_format")

BOTH = ('output.formats=["octant", "leaf_table"]', "time.max_steps=3")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the case on one rank."""
    return run_well(tmp_path_factory.mktemp("one") / "run", DRIFTING_BLAST, *BOTH)


def table_of(outcome: Outcome) -> Path:
    return sorted(outcome.directory.glob("snap_*.npy"))[-1]


def test_the_table_holds_what_the_snapshot_shows(reference: Outcome) -> None:
    table = np.load(table_of(reference))
    cells = leaf_cells(reference.last_snapshot)
    names = [*(f"velocity_{axis}" for axis in "xyz"), "pressure", "scalar_0"]
    columns = [cells.position, cells.size, *(cells[name] for name in ["density", *names])]
    expected = np.column_stack(columns)
    assert len(set(cells.size)) > 1, "the case must refine"
    assert np.array_equal(table[:, 4:], expected[:, 4:])
    assert np.abs(table[:, :4] - expected[:, :4]).max() < 1e-15
    assert "snap_00000.h5, " in reference.text


@pytest.mark.parametrize("ranks", [2, 3])
def test_other_ranks_write_the_same_bytes(tmp_path: Path, reference: Outcome, ranks: int) -> None:
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *BOTH, ranks=ranks)
    assert table_of(outcome).read_bytes() == table_of(reference).read_bytes()


def test_it_may_be_the_only_one_and_takes_what_is_selected(
    tmp_path: Path, reference: Outcome
) -> None:
    settings = ('output.formats=["leaf_table"]', 'output.fields=["density"]', "time.max_steps=3")
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *settings)
    assert not list(outcome.directory.glob("snap_*.h5*"))
    assert np.array_equal(np.load(table_of(outcome)), np.load(table_of(reference))[:, :5])


def test_it_is_among_the_names_that_are_expected(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", DRIFTING_BLAST, 'output.formats=["leaf_tabel"]')
    assert_refused(outcome, "output.formats", '"octant" or "ramses" or "leaf_table"')
