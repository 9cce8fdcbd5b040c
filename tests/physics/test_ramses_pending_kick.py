"""RAMSES ends the kicks of a step when it begins the next: its files lack half of them.

What is read is what the files say; before anything moves, it is given the rest.
"""

import itertools
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from ramses_files import (
    KINDS,
    NOTHING_MORE,
    code_of,
    file_of,
    last_steps,
    parameters,
    places,
    read_forces,
    read_info,
    read_ramses,
)
from ramses_hdf5 import write_hdf5
from refusals import assert_refused
from running import LeafCells, bits, leaf_cells, run, run_well

AXES = "xyz"
GRAVITY = ("gravity.enabled=true", "refine.interval=1000")


def has_pending_kicks(folder: Path) -> bool:
    """Whether an output of gas and gravity has been written between two steps."""
    expands = read_info(folder)["H0"] != 1.0
    return not expands and file_of(folder, "grav", 1).is_file() and last_steps(folder).any()


PENDING = [folder for folder in KINDS if has_pending_kicks(folder)]


@pytest.fixture(params=PENDING, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def output(request: pytest.FixtureRequest) -> Path:
    return request.param


def moment_after(output: Path) -> str:
    """Give the parameter that ends a run a moment after it went on."""
    return f"time.end={read_info(output)['time'] * (1.0 + 1e-10)!r}"


def velocities(cells: LeafCells) -> NDArray:
    return np.stack([cells[f"velocity_{axis}"] for axis in AXES], axis=1)


def accelerations(snapshot: Path) -> NDArray:
    gravity = leaf_cells(snapshot, "gravity")
    return np.stack([gravity[f"acceleration_{axis}"] for axis in AXES], axis=1)


def dark_velocities(snapshot: Path) -> NDArray:
    """Velocities of dark matter, in the order of its identities."""
    with h5py.File(snapshot) as file:
        dark = file["particles/dark"]
        return dark["velocity"][...][np.argsort(dark["id"][...])]


def cells_of_file(output: Path, snapshot: Path) -> tuple[NDArray, NDArray]:
    """Of a snapshot's leaf cells, the leaf cells of the file that they lie in, and their levels."""
    state = read_ramses(output)
    own = {code: n for n, code in enumerate(code_of(state.level, state.place).tolist())}
    level, place = places(snapshot, output)
    found = np.full(level.size, -1)
    for up in range(int(level.max() - state.level.min()) + 1):
        codes = code_of(level - up, place >> up).tolist()
        here = np.array([own.get(code, -1) for code in codes])
        found = np.where((found < 0) & (level >= up), here, found)
    return found, state.level[found]


@pytest.mark.parametrize("block_size", [2, 4, 8])
def test_gas_gets_half_of_what_a_step_changed_of_its_force(
    output: Path, block_size: int, tmp_path: Path
) -> None:
    text = parameters(output, block_size)
    as_read = run_well(tmp_path / "read", text, NOTHING_MORE, *GRAVITY, restart=output, ranks=2)
    gone_on = run_well(
        tmp_path / "on", text, moment_after(output), *GRAVITY, restart=output, ranks=3
    )
    before, after = leaf_cells(as_read.last_snapshot), leaf_cells(gone_on.last_snapshot)
    cell, level = cells_of_file(output, as_read.last_snapshot)
    half_step = 0.5 * last_steps(output)[level - 1]
    now = accelerations(as_read.last_snapshot)
    expected = half_step[:, None] * (now - read_forces(output)[cell])
    found = velocities(after) - velocities(before)
    assert np.abs(expected).max() > 1e-4 * np.abs(velocities(before)).max()
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max(), rtol=0)
    # The gas keeps its heat.
    np.testing.assert_allclose(after["pressure"], before["pressure"], rtol=1e-6)


def interpolated(snapshot: Path, output: Path, position: NDArray) -> NDArray:
    """Interpolate forces to particles whose cloud lies in leaf cells of one size; elsewhere NaN."""
    level, place = places(snapshot, output)
    force = accelerations(snapshot)
    own = {code: n for n, code in enumerate(code_of(level, place).tolist())}
    length = read_info(output)["boxlen"]
    found = np.full(position.shape, np.nan)
    for n, x in enumerate(position):
        for at_level in np.unique(level):
            across = x / length * 2.0**at_level - 0.5
            first, weight = np.floor(across).astype(int), across - np.floor(across)
            total = np.zeros(3)
            for corner in itertools.product((0, 1), repeat=3):
                at = (first + corner) % 2**at_level
                cell = own.get(int(code_of(np.array([at_level]), at[None, :])[0]))
                if cell is None:
                    break
                share = np.prod(np.where(corner, weight, 1.0 - weight))
                total += share * force[cell]
            else:
                found[n] = total
    return found


@pytest.mark.parametrize("block_size", [2, 4])
def test_particles_get_half_a_step_of_the_force(
    output: Path, block_size: int, tmp_path: Path
) -> None:
    text, there = parameters(output, block_size), read_ramses(output).particles["dark"]
    as_read = run_well(tmp_path / "read", text, NOTHING_MORE, *GRAVITY, restart=output)
    gone_on = run_well(
        tmp_path / "on", text, moment_after(output), *GRAVITY, restart=output, ranks=3
    )
    with h5py.File(as_read.last_snapshot) as file:
        assert (file["particles/dark/velocity"][...] == there["velocity"]).all()
    with h5py.File(gone_on.last_snapshot) as file:
        found = file["particles/dark/velocity"][...] - there["velocity"]
    half_step = 0.5 * last_steps(output)[there["levelp"].astype(int) - 1]
    force = interpolated(as_read.last_snapshot, output, there["position"])
    expected = half_step[:, None] * force
    within = ~np.isnan(expected[:, 0])
    assert within.sum() > 0.2 * len(within)
    scale = np.abs(expected[within]).max()
    assert scale > 1e-3 * np.abs(there["velocity"]).max()
    np.testing.assert_allclose(found[within], expected[within], atol=1e-5 * scale, rtol=0)


def steps_apart() -> list[tuple[Path, Path]]:
    """Pairs of outputs that follow each other in one run."""
    return [
        (one, other)
        for one, other in itertools.pairwise(PENDING)
        if one.parent == other.parent
        and read_info(other)["nstep_coarse"] == read_info(one)["nstep_coarse"] + 1
    ]


def test_a_step_later_particles_are_as_in_the_next_output_of_ramses(tmp_path: Path) -> None:
    """Both codes' half kicks fit: what is left is what their forces and steps differ by."""
    pairs = steps_apart()
    if not pairs:
        pytest.skip("needs two outputs of RAMSES, a step apart, with particles and forces")
    for one, other in pairs:
        text = parameters(one, 2)
        there = read_ramses(other).particles["dark"]
        end = f"time.end={read_info(other)['time']!r}"
        ours = run_well(tmp_path / "ours", text, end, *GRAVITY, restart=one)
        theirs = run_well(
            tmp_path / "theirs", parameters(other, 2), moment_after(other), *GRAVITY, restart=other
        )
        with h5py.File(ours.last_snapshot) as a, h5py.File(theirs.last_snapshot) as b:
            found, expected = (f["particles/dark/velocity"][...] for f in (a, b))
        left = np.linalg.norm(found - expected, axis=1)
        pending = np.linalg.norm(expected - there["velocity"], axis=1)
        assert np.median(left / pending) < 0.2


def test_hdf5_files_give_the_same(output: Path, tmp_path: Path) -> None:
    write_hdf5(output, tmp_path / "hdf5" / output.name)
    ends = []
    for number, folder in enumerate((output, tmp_path / "hdf5" / output.name)):
        text, end = parameters(output, 4), moment_after(output)
        ends.append(run_well(tmp_path / f"{number}", text, end, *GRAVITY, restart=folder, ranks=2))
    one, other = (leaf_cells(outcome.last_snapshot) for outcome in ends)
    scale = np.abs(velocities(one)).max()
    assert np.abs(velocities(one) - velocities(other)).max() < 1e-12 * scale
    with h5py.File(ends[0].last_snapshot) as a, h5py.File(ends[1].last_snapshot) as b:
        found, expected = (f["particles/dark/velocity"][...] for f in (a, b))
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_a_checkpoint_before_the_first_step_has_them(output: Path, tmp_path: Path) -> None:
    text = parameters(output, 4)
    steps = f"time.max_steps={int(read_info(output)['nstep_coarse']) + 2}"
    gravity = "gravity.enabled=true"
    at_once = run_well(tmp_path / "once", text, steps, gravity, restart=output, ranks=2)
    stopped = run(
        tmp_path / "parts", text, steps, gravity, "run.walltime=1e-3", restart=output, ranks=3
    )
    assert stopped.code == 3, stopped.text
    assert "wrote" not in "".join(line for line in stopped.text.splitlines() if "snap_" in line), (
        stopped.text
    )
    parts = run_well(tmp_path / "parts", text, steps, gravity, restart="latest")
    assert bits(at_once.last_snapshot) == bits(parts.last_snapshot)


def test_ramses_outputs_before_the_first_step_have_them(output: Path, tmp_path: Path) -> None:
    """Files for RAMSES state steps of 0, so that their velocities must lack nothing."""
    text, formats = parameters(output, 4), 'output.formats=["ramses"]'
    gone_on = run_well(tmp_path / "on", text, moment_after(output), *GRAVITY, restart=output)
    as_read = run_well(tmp_path / "read", text, NOTHING_MORE, *GRAVITY, restart=output)
    written = run_well(
        tmp_path / "written", text, NOTHING_MORE, *GRAVITY, formats, restart=output, ranks=2
    )
    [folder] = written.directory.glob("output_*")
    assert not last_steps(folder).any()
    back = run_well(tmp_path / "back", text, NOTHING_MORE, *GRAVITY, restart=folder, ranks=3)
    before, after, found = (
        velocities(leaf_cells(outcome.last_snapshot)) for outcome in (as_read, gone_on, back)
    )
    kick = np.abs(after - before).max()
    assert kick > 1e-4 * np.abs(before).max()
    assert np.abs(found - after).max() < 1e-5 * kick
    before, after, found = (
        dark_velocities(outcome.last_snapshot) for outcome in (as_read, gone_on, back)
    )
    kick = np.abs(after - before).max()
    assert kick > 1e-3 * np.abs(before).max()
    assert np.abs(found - after).max() < 1e-5 * kick


@pytest.mark.parametrize("ranks", [1, 3])
def test_damaged_forces_are_refused(output: Path, ranks: int, tmp_path: Path) -> None:
    folder = tmp_path / output.name
    shutil.copytree(output, folder)
    path = sorted(folder.rglob("grav_*.out*"))[-1]
    path.write_bytes(path.read_bytes()[:-100])
    outcome = run(
        tmp_path / "run", parameters(output, 2), NOTHING_MORE, *GRAVITY, restart=folder, ranks=ranks
    )
    assert_refused(outcome, path.name, "record", "truncated")
    assert not list(outcome.directory.rglob("*.h5"))


def test_who_goes_on_without_gravity_is_told(output: Path, tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", parameters(output, 2), NOTHING_MORE, restart=output)
    assert "gravity.enabled" in outcome.text
    assert "half a step behind" in outcome.text


def test_missing_forces_are_told(output: Path, tmp_path: Path) -> None:
    folder = tmp_path / output.name
    shutil.copytree(output, folder)
    for path in folder.rglob("grav_*.out*"):
        path.unlink()
    outcome = run_well(
        tmp_path / "run", parameters(output, 2), NOTHING_MORE, *GRAVITY, restart=folder
    )
    assert "no gravity files (grav_" in outcome.text
