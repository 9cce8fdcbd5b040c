"""The placement policy of docs/extending.md: one file, and its name in two."""

from pathlib import Path

import pyarrow.parquet as parquet

from extended import with_program
from inputs import DRIFTING_BLAST
from running import assert_same_run, run, run_well

extended_program = with_program("octant_with_a_policy")

SERPENTINE = ("balance.policy=serpentine", "balance.interval=2")


def test_it_moves_blocks_and_no_bits(tmp_path: Path) -> None:
    reference = run_well(tmp_path / "one", DRIFTING_BLAST)
    outcome = run_well(tmp_path / "three", DRIFTING_BLAST, *SERPENTINE, ranks=3)
    assert_same_run(outcome, reference)
    tables = [parquet.read_table(p) for p in outcome.directory.glob("telemetry/placement*.parquet")]
    rows = [row for table in tables for row in table.to_pylist()]
    assert {row["policy"] for row in rows} == {"serpentine"}
    assert sum(row["blocks_moved"] for row in rows) > 0


def test_it_is_among_the_names_that_are_expected(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", DRIFTING_BLAST, "balance.policy=serpentin")
    assert outcome.code == 2
    assert "serpentine" in outcome.text
