"""Binaries with a common envelope, and their budgets while angular momentum is removed."""

from pathlib import Path
from re import search

import numpy as np
import pytest

from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
)

CONTACT = """
[problem]
name = "binary"
mass_ratio = 1.0
filling = [1.3, 1.3]

[braking]
rate = 0.05

[gravity]
enabled = true
solver = "fmm"

[mesh]
base_cells = [24, 24, 24]
block_size = 8
lower = [-1.5, -1.5, -1.5]
upper = [1.5, 1.5, 1.5]
boundary_x = ["outflow", "outflow"]
boundary_y = ["outflow", "outflow"]
boundary_z = ["outflow", "outflow"]

[hydro]
gamma = "5/3"
scheme = "rk3"
reconstruction = "ppm26"
angular_momentum = true
scalars = 2

[time]
subcycle = false
cfl = 0.4
max_steps = 8
"""


@pytest.fixture(scope="module")
def contact(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run a contact binary for a few steps, from a model that is written to a file."""
    folder = tmp_path_factory.mktemp("contact")
    return run_well(
        folder / "run", CONTACT, f"problem.model_file={folder / 'model.h5'}", *CHECKPOINT_EVERY_STEP
    )


def test_mass_and_angular_momentum_close_with_the_drive(contact: Outcome) -> None:
    history = contact.history()
    mass = history["mass"] + history["outflow_mass"]
    assert np.abs(mass / mass[0] - 1).max() < 1e-12
    lost = history["braking_angular_momentum_z"]
    total = history["angular_momentum_z"] + history["outflow_angular_momentum_z"] - lost
    assert np.abs(total / total[0] - 1).max() < 1e-12
    expected = total[0] * np.expm1(-0.05 * history["time"][-1])
    assert lost[-1] == pytest.approx(expected, rel=1e-4)


def test_scalars_mark_the_stars_on_both_sides_of_the_neck(contact: Outcome) -> None:
    history = contact.history()
    for star in (1, 2):
        assert history[f"star_{star}_mass"][0] == pytest.approx(0.5, rel=0.01)
        assert history[f"lobe_{star}_mass"][0] == pytest.approx(0.5, rel=0.02)
    # The centres of mass are nearer to each other than the density maxima.
    assert 0.9 < history["separation"][0] < 1.0
    cells = leaf_cells(contact.snapshots[0])
    x = cells.position[:, 0]
    first, second = cells["scalar_0"], cells["scalar_1"]
    assert np.all(first[x > 0] == 0.0)
    assert np.all(second[x < 0] == 0.0)
    # Gas in the neck is much denser than the ambient gas.
    neck = np.abs(cells.position).max(axis=1) < cells.size[0]
    assert cells["density"][neck].min() > 100 * cells["density"].min()
    assert np.allclose((first + second)[neck], 1.0, atol=1e-2)


def test_a_contact_binary_is_in_equilibrium(tmp_path: Path) -> None:
    """Without braking it departs from the model by no more than two stars that do not touch."""
    errors = {}
    for filling in (1.3, 0.95):
        outcome = run_well(
            tmp_path / f"run_{10 * filling:.0f}",
            CONTACT,
            f"problem.filling=[{filling},{filling}]",
            "braking.rate=0",
            "mesh.base_cells=[32,32,32]",
            "mesh.lower=[-1.25,-1.25,-1.25]",
            "mesh.upper=[1.25,1.25,1.25]",
            "time.max_steps=16",
        )
        found = search(r"virial error (\S+) after", outcome.text)
        assert found and float(found[1]) < 3e-4, outcome.text
        history = outcome.history()
        errors[filling] = history["relative_density_error"][-1]
        along = [history[f"star_2_{axis}"] - history[f"star_1_{axis}"] for axis in "xy"]
        angle = np.arctan2(along[1], along[0])[-1]
        speed = search(r"angular velocity (\S+);", outcome.text)
        assert speed and angle == pytest.approx(history["time"][-1] * float(speed[1]), rel=0.03)
        assert 1.0 < float(speed[1]) < 1.1  # bulges attract more than points
    assert 0.0 < errors[1.3] < 1.5 * errors[0.95], errors


def test_ranks_restarts_and_files_do_not_change_a_contact_binary(
    tmp_path: Path, contact: Outcome
) -> None:
    model = contact.directory.parent / "model.h5"
    same = (f"problem.model_file={model}",)
    other = run_well(tmp_path / "three", CONTACT, *same, ranks=3)
    assert "read the equilibrium from" in other.text
    assert_same_run(other, contact)
    assert_goes_on(tmp_path / "restart", contact, 4, *same, ranks=2)


@pytest.mark.parametrize(
    ("override", "fragments"),
    [
        ("problem.mass_ratio=0.5", ("problem.mass_ratio = 0.5", "equal masses")),
        ("problem.filling=[1.1,1.2]", ("problem.filling = [1.1, 1.2]", "two equal numbers")),
        ("problem.filling=[2.5,2.5]", ("problem.filling = [2.5, 2.5]", "between 1")),
        ("problem.polytropic_index=[1.5,3]", ("problem.polytropic_index", "equal indices")),
        ("problem.filling=[0.9,1.2]", ("problem.filling = [0.9, 1.2]", "star 2 is larger")),
    ],
)
def test_unequal_contact_binaries_are_refused(
    tmp_path: Path, override: str, fragments: tuple[str, ...]
) -> None:
    assert_refused(run(tmp_path / "run", CONTACT, override), *fragments)
