"""Mass, momentum and energy of a periodic run drift by round-off only."""

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from inputs import DRIFTING_BLAST
from running import run_well

# Round-off of 200 steps of a sum over some 10^4 cells, as the project demands it.
TOLERANCE = 1e-12


def owners(snapshot: Path) -> dict[tuple[int, int], int]:
    """Rank that owned each block, by level and key."""
    found = {}
    with h5py.File(snapshot) as file:
        for level in range(len(file["mesh"])):
            mesh = file[f"mesh/level_{level}"]
            for key, owner in zip(mesh["key"][...], mesh["owner"][...], strict=True):
                found[level, int(key)] = int(owner)
    return found


def test_totals_are_conserved_across_refinement_and_migration(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, "time.max_steps=200", ranks=3)
    history = outcome.history()
    assert history["step"][-1] == 200

    # The run does what it is meant to test.
    blocks = history["blocks_1"] + history["blocks_2"]
    assert np.any(np.diff(blocks) > 0), "nothing was refined"
    assert np.any(np.diff(blocks) < 0), "nothing was derefined"
    first, last = owners(outcome.snapshots[0]), owners(outcome.last_snapshot)
    assert any(first[b] != last[b] for b in first.keys() & last.keys()), "nothing migrated"
    expect_conservation(history)


def test_totals_are_conserved_with_fluxes_at_26_points(tmp_path: Path) -> None:
    how = ("hydro.scheme=rk3", "hydro.reconstruction=ppm26", "time.max_steps=12")
    outcome = run_well(tmp_path / "run", DRIFTING_BLAST, *how, "hydro.dual_energy=on", ranks=2)
    history = outcome.history()
    assert np.any(np.diff(history["blocks_2"]) > 0), "nothing was refined"
    expect_conservation(history)


def expect_conservation(history: dict[str, NDArray[np.float64]]) -> None:
    assert history["floored_cells"][-1] == 0
    for name in ("mass", "total_energy"):
        drift = np.abs(history[name] - history[name][0]).max() / history[name][0]
        assert drift <= TOLERANCE, f"{name} drifts by {drift}"
    for axis in "xyz":
        momentum = history[f"momentum_{axis}"]
        drift = np.abs(momentum - momentum[0]).max() / history["absolute_momentum"].min()
        assert drift <= TOLERANCE, f"momentum_{axis} drifts by {drift}"
