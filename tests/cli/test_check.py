"""`octant check` tells beforehand what a run will need."""

import re
import tomllib
from pathlib import Path

import pytest

from flows import SMALL_CAVITY, SMALL_CHANNEL
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
        (["--ranks", "7", "--process-grid", "7"], ['"7"', "2x4"]),
        (["--ranks", "4", "--process-grid", "0x4"], ['"0x4"', "at least 1"]),
        (["--process-grid", "2x4"], ["--process-grid", "--ranks"]),
        (["--ranks", "40000000"], ["40000000", "7168 x 7168 x 1594"]),
        (["--ranks", "8191"], ["8191 ranks", "two planes", 'ranks is 8190 ("13x630")']),
        (["--ranks", "0"], ["--ranks", "positive integer"]),
        (["--ranks", "-3"], ["--ranks", '"-3"', "positive integer"]),
        (["--ranks", "2.5"], ["--ranks", '"2.5"', "positive integer"]),
        (["--ranks", "99999999999"], ["--ranks", "99999999999 is too large"]),
    ],
)
def test_what_does_not_fit_is_refused_in_the_words_of_the_file(
    tmp_path: Path, options: list[str], words: list[str]
) -> None:
    checked = check_channel(tmp_path, *options, settings=LARGE_CHANNEL)
    assert_refused(checked, *words)
    assert "106" not in checked.text
    assert "--set" not in checked.text


def test_a_process_grid_of_the_file_suggests_its_ranks(tmp_path: Path) -> None:
    checked = check_channel(tmp_path, settings=["grid.process_grid=2x4"])
    assert_refused(checked, "2x4", "requires 8 ranks", "channel.toml --ranks 8")


def test_cost_is_that_of_the_rank_with_most_cells(tmp_path: Path) -> None:
    """Six and seven ranks have at most four of 24 rows, eight ranks have three."""
    seconds = []
    for ranks in (6, 7, 8):
        options = ["--ranks", ranks, "--process-grid", f"{ranks}x1"]
        checked = check_channel(tmp_path, *options, settings=["grid.cells=[32, 24, 16]"])
        seconds += re.findall(r"does not change: (.*)", checked.text)
    assert len(seconds) == 3
    assert seconds[0] == seconds[1] != seconds[2]


@pytest.mark.parametrize("stretching", ["uniform", "file"])
def test_flat_and_given_grids_are_estimated_from_small_ones(
    tmp_path: Path, stretching: str
) -> None:
    """The axes that cannot be coarser leave fewer cells to the others."""
    cells = [16384, 4, 8192] if stretching == "uniform" else [4096, 4096, 1024]
    settings = [f"grid.cells={cells}", f"grid.stretching={stretching}"]
    if stretching == "file":
        faces = tmp_path / "faces.txt"
        faces.write_text("\n".join(str(2.0 * k / cells[2]) for k in range(cells[2] + 1)))
        settings += [f"grid.stretching_file={faces}", "grid.size=[4.0, 2.0, 2.0]"]
    checked = check_channel(tmp_path, "--ranks", 61, "--process-grid", "1x61", settings=settings)
    assert checked.code == 0, checked.text
    assert "61 rank(s) as 1x61" in checked.text
    assert numbers(r"grids of up to ([0-9.e+]+) cells", checked.text)[0] < 1.1 * 96**3


def test_an_outflow_limits_the_process_grids(tmp_path: Path) -> None:
    """The last rank needs two cells along y, which 3x1 does not leave."""
    file = tmp_path / "cavity.toml"
    file.write_text(SMALL_CAVITY)
    settings = [
        "grid.cells=[8, 3, 8]",
        'dns.boundary_y=["inflow", "outflow"]',
        "dns.velocity_y_lower=[0.0, 1.0, 0.0]",
    ]
    words = [word for each in settings for word in ("--set", each)]
    refused = octant("check", file, *words, "--ranks", 3, "--process-grid", "3x1")
    assert_refused(refused, "3x1", "outflow", "upper y")
    checked = octant("check", file, *words, "--ranks", 3)
    assert checked.code == 0, checked.text
    assert "3 rank(s) as 1x3" in checked.text


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


def test_ranks_without_blocks_and_whole_steps_are_counted() -> None:
    """The run ends within its first step, which updates all 512 cells of the only block."""
    settings = ["mesh.base_cells=[8, 8, 8]", "mesh.max_level=0", "time.end=1e-4"]
    words = [word for each in settings for word in ("--set", each)]
    checked = octant("check", ROOT / "examples/sedov.toml", *words, ranks=3)
    assert checked.code == 0, checked.text
    assert "512 cell updates in 1 step(s)" in checked.text
    assert "1 block(s) for 3 ranks: 2 of them" in checked.text
