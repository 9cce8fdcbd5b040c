"""The first steps of every example give the bits that are kept in tests/reference_bits.json.

A change that is intended to change results renews them (tests/reference_bits.py); any other keeps
them. Another compiler, library or processor may differ in last bits, which is no fault. There, the
history and projections of all fields agree to round-off (tests/projections.py), and ranks have the
same bits.
"""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from projections import far_from, is_projected, project, tolerance
from reference_bits import (
    DEPENDS_ON_RANKS,
    RANKS,
    SMALLER,
    Reference,
    departures,
    differences,
    digest,
    examples,
    fingerprint,
    first_steps,
    kept_as,
    last_state,
    load,
    run_first_steps,
)
from running import Outcome

RENEW = ".octant/venv/bin/python tests/reference_bits.py"


@pytest.fixture(scope="module")
def references() -> Reference:
    return load()


def test_every_example_has_references(references: Reference) -> None:
    wanted = {kept_as(example, ranks) for example in examples() for ranks in RANKS}
    assert set(SMALLER) == set(examples()), "tests/reference_bits.py says how to make them short"
    assert set(references["examples"]) == wanted, f"for new examples: {RENEW}"


@pytest.mark.parametrize("example", examples())
def test_first_steps(example: str, tmp_path: Path, references: Reference) -> None:
    runs = {ranks: run_first_steps(example, ranks, tmp_path) for ranks in RANKS}
    found = {ranks: digest(run) for ranks, run in runs.items()}
    if example not in DEPENDS_ON_RANKS:
        for ranks in RANKS[1:]:
            wrong = differences(found[ranks], found[1])
            assert not wrong, told(f"{example} on {ranks} ranks is not what it is on one", wrong)
    for ranks in RANKS:
        name = kept_as(example, ranks)
        reference = references["examples"][name]
        made_with = reference.get("made_with", references["made_with"])
        if fingerprint() == made_with:
            wrong = differences(found[ranks], reference)
            assert not wrong, told(
                f"{name} has not its bits of before; if that is intended: {RENEW} {example}", wrong
            )
        elif ranks == 1 or name != example:
            wrong = departures(runs[ranks], reference, tolerance(example))
            assert not wrong, told(
                f"{name} is not the reference, made with {made_with}, to round-off "
                f"({fingerprint()}); if intended, renew on such a machine: {RENEW} {example}",
                wrong,
            )


def told(what: str, wrong: list[str]) -> str:
    return "\n  ".join([what, *wrong])


@pytest.fixture(scope="module")
def short_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run an example that has gas, gravity and particles; its folder."""
    scratch = tmp_path_factory.mktemp("short_run")
    first_steps("pancake", 1, scratch)
    return scratch / "pancake_1"


def copy_of(run: Path, folder: Path) -> tuple[Outcome, Path]:
    """Copy a run, and give its checkpoint."""
    shutil.copytree(run, folder)
    return Outcome(0, "", folder), next(folder.glob("checkpoint_*.h5"))


def test_another_layout_of_a_file_has_the_same_digest(short_run: Path, tmp_path: Path) -> None:
    outcome, checkpoint = copy_of(short_run, tmp_path / "run")
    reference = digest(outcome)
    with h5py.File(checkpoint, "r+") as file:
        for folder in ("mesh/level_1", "hydro/level_1", "gravity/level_1", "particles/dark"):
            for name in list(file[folder]):
                backwards = file[folder][name][...][::-1]
                del file[folder][name]
                file[folder].create_dataset(name, data=backwards, compression="gzip")
        keys = file["mesh/level_0/key"][...]
        del file["mesh/level_0/key"]
        file["mesh/level_0/key"] = np.stack([keys, np.zeros_like(keys)], axis=1)
        file["header"].attrs["version"] = "another"
        file["particles/dark/age"] = np.zeros(len(file["particles/dark/id"]))
    assert differences(digest(outcome), reference) == []


@pytest.mark.parametrize("field", ["hydro/level_1/density", "particles/dark/velocity"])
def test_the_change_of_one_bit_is_named(field: str, short_run: Path, tmp_path: Path) -> None:
    outcome, checkpoint = copy_of(short_run, tmp_path / "run")
    reference = digest(outcome)
    with h5py.File(checkpoint, "r+") as file:
        values = file[field][...]
        values.flat[7] = np.nextafter(values.flat[7], np.inf)
        file[field][...] = values
    name = field.replace("level_1/", "")
    assert differences(digest(outcome), reference) == [f"after 3 steps: {name} differs"]


def test_the_first_step_that_differs_is_named(short_run: Path) -> None:
    reference = digest(Outcome(0, "", short_run))
    history = reference["history"] | {"mass": [1.0, *reference["history"]["mass"][1:]]}
    wrong = differences(reference | {"history": history}, reference)
    assert len(wrong) == 1
    assert wrong[0].startswith("history.csv, first in step 0: mass [1.0], was")


def test_every_reference_has_projections(references: Reference) -> None:
    missing = [n for n, r in references["examples"].items() if "projections" not in r]
    assert missing == [], f"{RENEW} --complete"


def test_projections_show_small_changes_anywhere(short_run: Path) -> None:
    """Shift 2 x 2 x 2 cells of any field by 1e-10 of its scale; 1e-13 everywhere is round-off."""
    fields = last_state(Outcome(0, "", short_run))
    reference = project(fields)
    random = np.random.default_rng(5)
    for name, arrays in fields.items():
        if not is_projected(name, arrays) or not reference[name][0]:
            continue
        scale = reference[name][0]
        noisy = [a + 1e-13 * scale * random.standard_normal(a.shape) for a in arrays]
        assert far_from(project(fields | {name: noisy}, reference), reference, 1e-12) == [], name
        if arrays[0].ndim != 4:
            continue
        for level in range(len(arrays)):
            moved = [a.copy() for a in arrays]
            block, *corner = (int(random.integers(0, n - 1)) for n in moved[level].shape)
            region = tuple(slice(c, c + 2) for c in corner)
            moved[level][(block, *region)] += 1e-10 * scale
            found = far_from(project(fields | {name: moved}, reference), reference, 1e-12)
            assert any(wrong.startswith(f"{name} ") for wrong in found), name


@pytest.mark.parametrize("column", ["time", "mass", "kinetic", "leaf_cells_0"])
def test_departures_show_changes_of_the_history(column: str, short_run: Path) -> None:
    outcome = Outcome(0, "", short_run)
    reference = digest(outcome)
    assert departures(outcome, reference, 1e-12) == []
    changed = [
        value * (1 + 1e-10) + (column == "leaf_cells_0") for value in reference["history"][column]
    ]
    wrong = departures(
        outcome, reference | {"history": reference["history"] | {column: changed}}, 1e-12
    )
    assert len(wrong) == 1
    assert column in wrong[0]
