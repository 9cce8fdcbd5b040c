"""`octant check` tells beforehand what a run will need."""

import re
import tomllib
from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from refusals import assert_refused
from running import ROOT, Outcome, octant, run_well

# The example's blast with one level less: seconds, and enough memory to tell a wrong estimate.
QUICK = ["mesh.max_level=1", "mesh.base_cells=[64, 64, 64]", "output.pictures=[]", "time.end=0.01"]


def numbers(pattern: str, text: str) -> list[float]:
    """Find all numbers that a pattern's group catches."""
    found = [float(number) for number in re.findall(pattern, text)]
    assert found, f"no '{pattern}' in:\n{text}"
    return found


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_expected_peak_memory_is_that_of_the_run(tmp_path: Path, ranks: int) -> None:
    file = ROOT / "examples/sedov.toml"
    overrides = [word for override in QUICK for word in ("--set", override)]
    checked = octant("check", file, *overrides, ranks=ranks)
    assert checked.code == 0, checked.text
    expected_peak = numbers(r"peak memory of the largest rank: (\d+) MB", checked.text)[0]
    expected = numbers(r"([0-9.e+]+) cell updates, .* rate of the rehearsal", checked.text)[0]
    outcome = run_well(tmp_path / "run", file.read_text(), *QUICK, ranks=ranks)
    assert expected_peak == pytest.approx(
        numbers(r"peak memory per rank .* to (\d+) MB", outcome.text)[0], rel=0.2
    )
    updates = numbers(r"([0-9.e+]+) cell updates, .* million per second", outcome.text)[0]
    assert 1 / 3 < expected / updates < 3, "the cost is not even roughly right"


@pytest.mark.parametrize(
    ("example", "settings"),
    [
        ("cosmology", ["mesh.base_cells=[32, 32, 32]", 'cosmology.end="z = 8"']),
        ("isothermal_ball", ["time.end=0.02"]),
    ],
)
def test_memory_counts_gravity_and_particles(
    tmp_path: Path, example: str, settings: list[str]
) -> None:
    file = ROOT / f"examples/{example}.toml"
    settings = [*settings, "output.pictures=[]"]
    checked = octant("check", file, *(word for each in settings for word in ("--set", each)))
    assert checked.code == 0, checked.text
    expected = numbers(r"peak memory of the largest rank: (\d+) MB", checked.text)[0]
    outcome = run_well(tmp_path / "run", file.read_text(), *settings)
    peak = numbers(r"peak memory per rank .* to (\d+) MB", outcome.text)[0]
    # Rehearsals write no files: buffers of HDF5 and of telemetry, of some MB, are not foreseen.
    # They matter in a run this small.
    assert expected == pytest.approx(peak, abs=0.15 * peak + 5.0)


def test_a_large_base_grid_that_cannot_be_coarsened_is_not_built() -> None:
    settings = ["mesh.base_cells=[1016, 1016, 1048]", "mesh.upper=[1.016, 1.016, 1.048]"]
    file = ROOT / "examples/sedov.toml"
    words = [word for each in settings for word in ("--set", each)]
    checked = octant("check", file, *words, "--set", "mesh.lower=[0, 0, 0]", timeout=30)
    assert "cannot be coarsened" in checked.text
    assert "the run needs 86" in checked.text


def test_a_base_grid_of_one_block_cannot_be_rehearsed() -> None:
    file = ROOT / "examples/sedov.toml"
    checked = octant("check", file, "--set", "mesh.base_cells=[8, 8, 8]")
    assert checked.code == 0, checked.text
    assert "cannot be coarsened to rehearse" in checked.text
    assert "cell updates in" in checked.text, "the cost at the beginning is known"


@pytest.mark.parametrize("case", ["sedov", "galaxies", "channel"])
def test_the_summary_is_short_and_ends_with_the_answer(tmp_path: Path, case: str) -> None:
    file = ROOT / "examples/sedov.toml" if case == "sedov" else tmp_path / "run.toml"
    if case == "channel":
        file.write_text(SMALL_CHANNEL)
    if case == "galaxies":
        file.write_text(GALAXY)
    words = ("--set", "mesh.max_level=1") if case == "sedov" else ()
    checked = octant("check", file, *words)
    assert checked.code == 0, checked.text
    lines = checked.text.splitlines()
    assert len(lines) <= 30
    labels = {line.split()[0] for line in lines if not line.startswith(" ")}
    assert {"run", "physics", "end", "cost", "memory", "files"} <= labels
    assert lines[-1].startswith(f"{file} is valid: ")
    assert "MB per rank" in lines[-1]


# Many parameters, by a preset, and a file that is far shorter.
GALAXY = """
[problem]
name = "cooling_cell"
hydrogen_density = [1e-3]
temperature_over_mu = [1e5]
[mesh]
base_cells = [8, 8, 8]
block_size = 8
[cooling]
enabled = true
method = "original"
[units]
length = "1 kpc"
time = "1 Myr"
density = "1 m_p/cm^3"
[time]
end = "10 Myr"
"""


def test_all_prints_the_resolved_parameters(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(GALAXY)
    short, whole = octant("check", file).text, octant("check", "--all", file).text
    assert "pressure_floor" not in short
    resolved = tomllib.loads(whole)  # the summary is there as comments
    assert resolved["time"]["end"] == 10.0
    assert resolved["units"]["length"] == 3.0856775814913673e21
    assert "memory by purpose" in whole
    assert f"# {file} is valid: " in whole


@pytest.mark.parametrize("base_cells", [12, 24])
def test_a_blast_too_large_for_a_coarser_grid_alone_is_valid(base_cells: int) -> None:
    """A coarser grid of 4^3 cells is less than two blasts of two cells wide."""
    grid = f"mesh.base_cells=[{base_cells}, {base_cells}, {base_cells}]"
    settings = (grid, "mesh.max_level=0", "time.max_steps=1")
    words = [word for setting in settings for word in ("--set", setting)]
    checked = octant("check", ROOT / "examples/galaxies.toml", *words)
    assert checked.code == 0, checked.text
    assert "is valid" in checked.text
    assert "redshift 0 (cosmology.end)" in checked.text


def test_the_log_of_rehearsals_is_not_shown() -> None:
    checked = octant("check", ROOT / "examples/rotating_star.toml", "--set", "time.max_steps=1")
    assert checked.text.splitlines()[0].split()[0] == "run", checked.text


def test_what_is_not_valid_is_not_called_so(tmp_path: Path) -> None:
    checked = octant("check", ROOT / "examples/sedov.toml", "--set", "hydro.gama=1")
    assert_refused(checked, "hydro.gama")
    assert "is valid" not in checked.text


# A dense, fast ball, which cells of a coarser base grid do not see.
CLOUD = """
[problem]
name = "expression"
density = "r < 0.06 ? 100 : 1"
pressure = "1"
velocity = ["r < 0.06 ? 5 : 0", "0", "0"]
centre = [0.5, 0.5, 0.5]
[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 3
[refine]
gradient_fields = ["density"]
gradient = [0.3]
[time]
end = 0.03
"""


def test_refinement_that_coarser_cells_miss_is_foreseen(tmp_path: Path) -> None:
    settings = ["output.pictures=[]", "output.final_checkpoint=false"]
    outcome = run_well(tmp_path / "run", CLOUD, *settings)
    updates = numbers(r"([0-9.e+]+) cell updates, .* million per second", outcome.text)[0]
    checked = octant("check", tmp_path / "run.toml")
    expected = numbers(r"([0-9.e+]+) cell updates, .* rate of the rehearsal", checked.text)[0]
    assert 1 / 2 < expected / updates < 2


LARGE_CHANNEL = ["grid.cells=[7168, 7168, 1594]", "dns.poisson=ptdma"]


def check_channel(tmp_path: Path, *options: object, settings: list[str]) -> Outcome:
    file = tmp_path / "channel.toml"
    file.write_text(SMALL_CHANNEL)
    words = [word for each in settings for word in ("--set", each)]
    return octant("check", file, *words, *options, timeout=100)


@pytest.mark.parametrize("grid", ["1x2", "2x1"])
def test_memory_is_estimated_for_ranks_that_are_not_there(tmp_path: Path, grid: str) -> None:
    settings = ["grid.cells=[160, 96, 96]", "time.max_steps=1", "output.pictures=[]"]
    checked = check_channel(tmp_path, "--ranks", 2, "--process-grid", grid, settings=settings)
    assert checked.code == 0, checked.text
    expected = numbers(rf"memory of the largest rank: (\d+) MB; 2 rank.s. as {grid}", checked.text)
    outcome = run_well(
        tmp_path / "run", SMALL_CHANNEL, *settings, f"grid.process_grid={grid}", ranks=2
    )
    peak = numbers(r"peak memory per rank .* to (\d+) MB", outcome.text)[0]
    assert expected[0] == pytest.approx(peak, rel=0.2)


def test_memory_of_a_large_flow_falls_with_the_ranks(tmp_path: Path) -> None:
    """The numbers of cells are those of the file, not of the grids of the estimate."""
    megabytes = []
    for ranks, grid in ((512, "256x2"), (1024, "512x2")):
        checked = check_channel(
            tmp_path, "--ranks", ranks, "--process-grid", grid, settings=LARGE_CHANNEL
        )
        assert checked.code == 0, checked.text
        megabytes += numbers(r"memory of the largest rank: (\d+) MB", checked.text)
        assert "at most 797 along z and 7168 along y" in checked.text
    assert 1.9 < megabytes[0] / megabytes[1] < 2.01
    checked = check_channel(tmp_path, "--ranks", 1024, settings=LARGE_CHANNEL)
    assert "the least of 10 process grids" in checked.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ranks", "1024", "--process-grid", "1x1024"], ["1x1024", "1594 planes"]),
        (["--ranks", "7", "--process-grid", "2x4"], ["2x4", "7"]),
        (["--ranks", "7", "--process-grid", "two"], ["two", "2x4"]),
        (["--process-grid", "2x4"], ["--process-grid", "--ranks"]),
        (["--ranks", "40000000"], ["40000000", "7168 x 7168 x 1594"]),
        (["--ranks", "0"], ["--ranks"]),
    ],
)
def test_what_does_not_fit_is_refused_in_the_words_of_the_file(
    tmp_path: Path, options: list[str], words: list[str]
) -> None:
    checked = check_channel(tmp_path, *options, settings=LARGE_CHANNEL)
    assert_refused(checked, *words)
    assert "106" not in checked.text


def test_a_process_grid_that_coarser_cells_do_not_fit_is_estimated(tmp_path: Path) -> None:
    """Five ranks have two planes each, but the grids of the estimate have eight planes."""
    settings = ["grid.cells=[512, 512, 10]", "grid.process_grid=1x5", "dns.poisson=ptdma"]
    file = tmp_path / "channel.toml"
    file.write_text(SMALL_CHANNEL)
    checked = octant(
        "check", file, *(word for each in settings for word in ("--set", each)), ranks=5
    )
    assert checked.code == 0, checked.text
    assert "5 rank(s) as 1x5" in checked.text


def test_an_adaptive_mesh_is_checked_on_its_own_ranks() -> None:
    checked = octant("check", ROOT / "examples/sedov.toml", "--ranks", 64)
    assert_refused(checked, "--ranks", "octant -n")
