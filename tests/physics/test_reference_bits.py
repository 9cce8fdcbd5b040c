"""The first steps of every example give the bits that are kept in tests/reference_bits.json.

A change that is meant to change results renews them (tests/reference_bits.py); any other keeps
them. Another compiler, library or processor may differ in last bits, which is no fault. There, what
differs is skipped with both descriptions, and only ranks are compared with each other.
"""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from reference_bits import (
    DEPENDS_ON_RANKS,
    RANKS,
    SMALLER,
    Reference,
    differences,
    digest,
    examples,
    fingerprint,
    first_steps,
    kept_as,
    load,
)
from running import Outcome

RENEW = ".octant/venv/bin/python tests/reference_bits.py"


@pytest.fixture(scope="module")
def references() -> Reference:
    return load()


@pytest.fixture(scope="module")
def made_here(references: Reference) -> bool:
    """Whether this machine's bits must be those of the references."""
    return fingerprint() == references["made_with"]


def test_every_example_has_references(references: Reference) -> None:
    wanted = {kept_as(example, ranks) for example in examples() for ranks in RANKS}
    assert set(SMALLER) == set(examples()), "tests/reference_bits.py says how to make them short"
    assert set(references["examples"]) == wanted, f"for new examples: {RENEW}"


@pytest.mark.parametrize("example", examples())
def test_first_steps(example: str, tmp_path: Path, references: Reference, made_here: bool) -> None:
    found = {ranks: first_steps(example, ranks, tmp_path) for ranks in RANKS}
    if example not in DEPENDS_ON_RANKS:
        for ranks in RANKS[1:]:
            wrong = differences(found[ranks], found[1])
            assert not wrong, told(f"{example} on {ranks} ranks is not what it is on one", wrong)
    for ranks in RANKS:
        name = kept_as(example, ranks)
        wrong = differences(found[ranks], references["examples"][name])
        if wrong and not made_here:
            pytest.skip(
                f"not the bits of the references, which were made with {references['made_with']}, "
                f"and not with {fingerprint()}; to keep this machine's: {RENEW}"
            )
        assert not wrong, told(
            f"{name} has not its bits of before; if that is meant: {RENEW} {example}",
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
