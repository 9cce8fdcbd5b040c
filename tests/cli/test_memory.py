"""Runs that do not fit into the memory end at once, with what they need and what is there."""

import resource
import subprocess
from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX, TINY_BLAST
from refusals import assert_refused
from running import Outcome, octant, octant_command, octant_environment, run, run_well

# More than any node has: 22 and 35 TB.
HUGE_MESH = "mesh.base_cells=[8192, 8192, 8192]"
HUGE_GRID = "grid.cells=[8192, 8192, 8192]"


def largest_child() -> int:
    """Give the resident memory in kB of the largest process that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


@pytest.mark.parametrize(
    ("case", "setting", "name"),
    [(TINY_BLAST, HUGE_MESH, "mesh.base_cells"), (SMALL_CHANNEL, HUGE_GRID, "grid.cells")],
    ids=["amr", "dns"],
)
def test_a_grid_larger_than_the_memory_is_refused(
    tmp_path: Path, case: str, setting: str, name: str, ranks: int
) -> None:
    outcome = run(tmp_path / "run", case, setting, ranks=ranks)
    assert_refused(outcome, "not enough memory", name, f"{ranks} rank(s)", "GB")
    assert outcome.snapshots == []


@pytest.mark.parametrize(
    ("case", "setting", "name"),
    [(TINY_BLAST, HUGE_MESH, "mesh.base_cells"), (SMALL_CHANNEL, HUGE_GRID, "grid.cells")],
    ids=["amr", "dns"],
)
def test_check_estimates_what_does_not_fit(
    tmp_path: Path, case: str, setting: str, name: str
) -> None:
    file = tmp_path / "large.toml"
    file.write_text(case)
    outcome = octant("check", file, "--set", setting)
    assert_refused(outcome, "not enough memory", name)
    assert "memory of the largest rank" in outcome.text
    assert largest_child() < 1_000_000, "kB: memory grew with the grid"


def run_within(megabytes: int, directory: Path, case: str, *overrides: str) -> Outcome:
    """Run with a limit for the memory that the process may take."""
    file = directory.with_suffix(".toml")
    file.write_text(case)
    words = [word for override in overrides for word in ("--set", override)]
    command = octant_command("run", file, "--output", directory, *words)
    limit = megabytes * 1_000_000
    process = subprocess.run(
        command,
        env=octant_environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return Outcome(process.returncode, process.stdout, directory)


@pytest.mark.parametrize(
    ("case", "setting", "advice", "foreign"),
    [
        (TINY_BLAST, "mesh.base_cells=[256, 256, 256]", "mesh.base_cells", "grid.cells"),
        (SMALL_CHANNEL, "grid.cells=[256, 256, 256]", "grid.cells", "mesh."),
    ],
    ids=["amr", "dns"],
)
def test_advice_on_too_little_memory_fits_the_model(
    tmp_path: Path, case: str, setting: str, advice: str, foreign: str
) -> None:
    outcome = run_within(400, tmp_path / "run", case, setting)
    assert outcome.code == 1, outcome.text
    [line] = [line for line in outcome.text.splitlines() if "out of memory" in line]
    assert advice in line
    assert foreign not in line


def test_the_memory_of_a_flow_is_that_of_the_run(tmp_path: Path, ranks: int) -> None:
    """On a grid of which check only tries coarser ones."""
    cells = "grid.cells=[160, 96, 128]"
    outcome = run_well(tmp_path / "run", SMALL_CHANNEL, cells, "time.max_steps=1", ranks=ranks)
    peak = float(outcome.text.split("peak memory per rank")[1].split("to")[1].split()[0])
    checked = octant("check", tmp_path / "run.toml", "--set", cells, ranks=ranks)
    assert checked.code == 0, checked.text
    expected = float(checked.text.split("memory of the largest rank:")[1].split()[0])
    assert expected == pytest.approx(peak, rel=0.15)


def memory_by_purpose(text: str) -> dict[str, tuple[float, float, float]]:
    """Give least MB, most MB and bytes per leaf of the table's rows."""
    lines = [line.removeprefix("# ") for line in text.splitlines()]
    [head] = [n for n, line in enumerate(lines) if "memory by purpose" in line]
    rows = {}
    for line in lines[head + 1 :]:
        words = line.split()
        if len(words) < 4:
            break
        rows[" ".join(words[:-3])] = tuple(float(word) for word in words[-3:])
        if words[0] == "all":
            break
    return rows


@pytest.mark.parametrize(
    ("case", "setting", "fields", "least_bytes"),
    [
        # Two states of five variables; u, v, w, p and what implicit steps keep of them.
        (TINY_BLAST, ("mesh.base_cells=[64, 64, 64]", "mesh.max_level=0"), "gas", 2 * 5 * 8),
        (SMALL_CHANNEL, ("grid.cells=[64, 64, 64]",), "fields of the flow", 4 * 8),
    ],
    ids=["amr", "dns"],
)
def test_the_log_tells_what_memory_is_used_for(
    tmp_path: Path,
    case: str,
    setting: tuple[str, ...],
    fields: str,
    least_bytes: float,
    ranks: int,
) -> None:
    outcome = run_well(tmp_path / "run", case, *setting, "time.max_steps=1", ranks=ranks)
    rows = memory_by_purpose(outcome.text)
    whole = rows.pop("all")
    assert sum(row[1] for row in rows.values()) >= whole[1] - 0.05 * len(rows)
    # Without the rows that are too small to be shown.
    assert sum(row[2] for row in rows.values()) == pytest.approx(whole[2], rel=0.02)
    assert least_bytes <= rows[fields][2] < 4 * least_bytes
    assert rows["program and libraries"][0] > 1.0


def test_radiation_takes_64_bytes_per_cell_of_a_uniform_mesh(tmp_path: Path) -> None:
    """Two states of E and F; three without the memory that stages share with the last step."""
    settings = ("mesh.base_cells=[64, 64, 64]", "mesh.max_level=0", "time.max_steps=1")
    light = ("radiation.enabled=true", "radiation.light_speed=100", "radiation.constant=1")
    gas, both = (
        memory_by_purpose(run_well(tmp_path / name, TINY_BLAST, *settings, *more).text)["gas"][2]
        for name, more in (("gas", ()), ("both", light))
    )
    assert both - gas == pytest.approx(64.0, rel=0.2)


# Rows of the table that are no arrays: they depend on libraries and on what was freed.
NO_ARRAYS = {
    "tables and lists on the heap",
    "freed, kept by the C library",
    "program and libraries",
    "library buffers, stacks",
    "all",
}


def test_arrays_of_gas_gravity_and_particles_stay_small(tmp_path: Path) -> None:
    rows = memory_by_purpose(run_well(tmp_path / "run", CLUMPY_BOX).text)
    # 314 when this was written; with one field in each array of working memory it was 323.
    assert sum(row[2] for name, row in rows.items() if name not in NO_ARRAYS) < 319.0


def test_check_tells_what_memory_is_used_for(tmp_path: Path) -> None:
    file = tmp_path / "blast.toml"
    file.write_text(TINY_BLAST)
    rows = memory_by_purpose(octant("check", "--all", file).text)
    assert {"program and libraries", "all"} <= rows.keys()
