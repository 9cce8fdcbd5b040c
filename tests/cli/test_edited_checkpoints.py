"""Checkpoints that somebody has edited are refused where they are no state of a run.

Without checksums, so that the contents themselves have to be wrong.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from damage import edit_by_hand
from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX, DRIFTING_BLAST
from refusals import assert_refused
from running import CHECKPOINT_EVERY_STEP, Outcome, octant, run, run_well

CASES = {"blast": DRIFTING_BLAST, "box": CLUMPY_BOX, "channel": SMALL_CHANNEL}
STATISTICS = {"channel": ["statistics.interval=1"]}
Edit = Callable[[h5py.File], None]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Run every model for two steps, with checkpoints."""
    folder = tmp_path_factory.mktemp("runs")
    settings = ("time.max_steps=2", *CHECKPOINT_EVERY_STEP)
    return {
        name: run_well(folder / name, text, *settings, *STATISTICS.get(name, []))
        for name, text in CASES.items()
    }


def attribute(group: str, name: str, value: object) -> Edit:
    """Give an attribute another value."""

    def edit(file: h5py.File) -> None:
        file[group].attrs[name] = value

    return edit


def element(dataset: str, place: object, value: object) -> Edit:
    """Give elements of a dataset another value."""

    def edit(file: h5py.File) -> None:
        file[dataset][place] = value

    return edit


def without_block(level: str, row: int | None = None) -> Edit:
    """Remove a block of a level, by default the first one with children."""

    def edit(file: h5py.File) -> None:
        parents = np.flatnonzero(file[f"mesh/{level}/refined"][...])
        gone = int(parents[0]) if row is None else row
        for section in ("mesh", "hydro", "gravity"):
            for name in list(file.get(f"{section}/{level}", [])):
                values = file[f"{section}/{level}/{name}"][...]
                del file[f"{section}/{level}/{name}"]
                file[f"{section}/{level}/{name}"] = np.delete(values, gone, axis=0)

    return edit


def reshaped(dataset: str, shape: Callable[[np.ndarray], np.ndarray]) -> Edit:
    """Replace a dataset by another one made of it."""

    def edit(file: h5py.File) -> None:
        values = shape(file[dataset][...])
        del file[dataset]
        file[dataset] = values

    return edit


def swapped(dataset: str) -> Edit:
    """Exchange two neighbouring rows."""

    def edit(file: h5py.File) -> None:
        values = file[dataset][...]
        values[[3, 4]] = values[[4, 3]]
        file[dataset][...] = values

    return edit


def other_mask(level: int, change: Callable[[int], int]) -> Edit:
    """Change the mask of the first block of a level that has children."""

    def edit(file: h5py.File) -> None:
        masks = file[f"mesh/level_{level}/refined"][...]
        row = int(np.flatnonzero(masks)[0])
        masks[row] = change(int(masks[row]))
        file[f"mesh/level_{level}/refined"][...] = masks

    return edit


def drop_first_bit(mask: int) -> int:
    return mask & (mask - 1)


HEADER = {
    "time_nan": ("time", np.nan, ["time", "nan"]),
    "time_infinite": ("time", np.inf, ["time", "inf"]),
    "negative_step": ("step", -1, ["step", "-1"]),
    "negative_snapshot": ("next_snapshot", -3, ["next_snapshot", "-3"]),
    "snapshot_time_nan": ("last_snapshot_time", np.nan, ["last_snapshot_time", "nan"]),
    "floored_mass_nan": ("floored_mass", np.nan, ["floored_mass", "nan"]),
    "budget_nan": ("energy_budget_work", np.nan, ["energy_budget_work", "nan"]),
    "short_budget": ("energy_budget", np.zeros(2), ["energy_budget", "2 numbers instead of 8"]),
    "no_levels": ("finest_level", -1, ["finest_level", "-1"]),
    "fewer_levels": ("finest_level", 0, ["levels", "finest_level = 0"]),
    "text_for_a_number": ("time", "soon", ["time", "unexpected type"]),
}
OUTSIDE = 1 << 40
WRONG: dict[str, tuple[str, Edit, list[str]]] = {
    **{
        name: ("blast", attribute("header", key, value), parts)
        for name, (key, value, parts) in HEADER.items()
    },
    "key_outside": ("blast", element("mesh/level_1/key", -1, OUTSIDE), ["level_1/key", "outside"]),
    "key_of_nobody": ("blast", element("mesh/level_0/key", 0, 2**64 - 1), ["outside"]),
    "key_twice": ("blast", element("mesh/level_0/key", 5, 4), ["level_0/key", "twice"]),
    "keys_swapped": ("blast", swapped("mesh/level_1/key"), ["level_1/key", "increasing keys"]),
    "base_block_missing": ("blast", without_block("level_0", 3), ["level 0 has 26 blocks"]),
    "child_missing": ("blast", without_block("level_2", 1), ["is refined but has no child"]),
    "parent_missing": ("blast", without_block("level_1"), ["has no parent"]),
    "mask_too_small": ("blast", other_mask(0, drop_first_bit), ["has a child but is not refined"]),
    "mask_of_leaves": ("blast", element("mesh/level_2/refined", 0, 1), ["has no child"]),
    "key_moved": ("blast", element("mesh/level_2/key", -1, 7 << 12), ["level"]),
    "fewer_masks": ("blast", reshaped("mesh/level_1/refined", lambda m: m[:-1]), ["level_1/key"]),
    "block_elsewhere": ("blast", element("mesh/level_1/origin", (4, 2), 0.9), ["origin: row 4"]),
    "density_nan": ("blast", element("hydro/level_1/density", 2, np.nan), ["row 2 is nan"]),
    "density_negative": ("blast", element("hydro/level_0/density", 1, -1.0), ["row 1 is -1"]),
    "energy_infinite": ("blast", element("hydro/level_2/total_energy", 0, np.inf), ["is inf"]),
    "blocks_too_small": (
        "blast",
        reshaped("hydro/level_0/density", lambda d: d[:, :2, :2, :2].copy()),
        ["level_0/density", "shape"],
    ),
    "no_field": ("blast", lambda file: file.__delitem__("hydro/level_1/density"), ["is missing"]),
    "other_epoch": ("box", attribute("header", "scale_factor", 0.7), ["scale factor", "0.7"]),
    "epoch_nan": ("box", attribute("header", "scale_factor", np.nan), ["scale_factor", "nan"]),
    "potential_nan": ("box", element("gravity/level_0/potential", 0, np.nan), ["is nan"]),
    "potential_of_later": (
        "box",
        attribute("gravity/level_0", "previous_time", 1e9),
        ["previous_time", "after"],
    ),
    "particle_outside": (
        "box",
        element("particles/dark/position", (7, 1), 1.5),
        ["dark particle 7", "outside the domain"],
    ),
    "particle_nowhere": ("box", element("particles/dark/position", (7, 1), np.nan), ["row 7"]),
    "particle_at_light_speed": ("box", element("particles/dark/velocity", 9, np.inf), ["row 9"]),
    "particle_weightless": ("box", element("particles/dark/mass", 11, 0.0), ["row 11", "above 0"]),
    "particle_twice": (
        "box",
        element("particles/dark/id", 5, 4),
        ["dark/id", "row 5 has the id 4"],
    ),
    "fewer_masses": ("box", reshaped("particles/dark/mass", lambda m: m[:-1]), ["shape"]),
    "other_heights": ("channel", element("grid/z_face", 3, 0.9), ["z_face has 0.9 in row 3"]),
    "flow_nan": ("channel", element("fields/w", (3, 2), np.nan), ["/fields/w", "row 3 is nan"]),
    "flow_time_nan": ("channel", attribute("header", "time", np.nan), ["time", "nan"]),
    "flow_force_nan": ("channel", attribute("header", "mean_force", np.nan), ["mean_force"]),
    "flow_step": ("channel", attribute("header", "step", -5), ["step", "-5"]),
    "samples": ("channel", attribute("statistics", "samples", -5), ["samples", "-5"]),
    "fewer_sums": ("channel", reshaped("statistics/sums", lambda s: s[:, 1:]), ["shape"]),
    "sums_nan": ("channel", element("statistics/sums", 3, np.nan), ["row 3 is nan"]),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_what_is_no_state_is_refused(
    runs: dict[str, Outcome], mistake: str, tmp_path: Path, ranks: int
) -> None:
    case, edit, fragments = WRONG[mistake]
    checkpoint = max(runs[case].directory.glob("checkpoint_*.h5"))
    path = Path(shutil.copy(checkpoint, tmp_path / "edited.h5"))
    edit_by_hand(path, edit)
    statistics = STATISTICS.get(case, [])
    outcome = run(tmp_path / "run", CASES[case], *statistics, restart=path, ranks=ranks)
    assert_refused(outcome, path.name, *fragments)


@pytest.mark.parametrize("case", CASES)
def test_what_is_a_state_is_taken_without_checksums(
    runs: dict[str, Outcome], case: str, tmp_path: Path, ranks: int
) -> None:
    checkpoint = max(runs[case].directory.glob("checkpoint_*.h5"))
    path = Path(shutil.copy(checkpoint, tmp_path / "edited.h5"))
    edit_by_hand(path, lambda file: None)
    settings = ["time.max_steps=3", *STATISTICS.get(case, [])]
    run_well(tmp_path / "run", CASES[case], *settings, restart=path, ranks=ranks)


@pytest.mark.parametrize(("case", "name"), [("blast", "base_cells"), ("channel", "cells")])
def test_info_refuses_a_header_that_is_none(
    runs: dict[str, Outcome], case: str, name: str, tmp_path: Path
) -> None:
    path = Path(shutil.copy(min(runs[case].directory.glob("snap_*.h5")), tmp_path / "edited.h5"))
    edit_by_hand(path, attribute("header", name, np.arange(2)))
    assert_refused(octant("info", path), path.name, name, "2 numbers instead of 3")
