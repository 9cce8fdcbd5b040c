"""`octant check` tells beforehand what a run will need."""

import re
from pathlib import Path

import pytest

from running import ROOT, octant, run_well

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
    expected = numbers(r"# ([0-9.e+]+) cell updates, .* rate of the rehearsal", checked.text)[0]
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
    assert "its fields alone need 86" in checked.text


def test_a_base_grid_of_one_block_cannot_be_rehearsed() -> None:
    file = ROOT / "examples/sedov.toml"
    checked = octant("check", file, "--set", "mesh.base_cells=[8, 8, 8]")
    assert checked.code == 0, checked.text
    assert "cannot be coarsened to rehearse" in checked.text
