"""Benchmarks: what `octant bench` prints for people and for programs."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from running import octant, octant_command, octant_environment

TINY_HYDRO = ["hydro", "--cells", 16, "--steps", 2, "--repeats", 1, "--block-size", 8]
TINY_GHOST = ["ghost", "--cells", 16, "--block-size", 4, "--exchanges", 2]


def json_on_stdout(*arguments: object, ranks: int) -> list[dict[str, Any]]:
    """Run a benchmark with --json; standard output must hold JSON alone."""
    done = subprocess.run(
        octant_command("bench", *arguments, "--json", ranks=ranks),
        env=octant_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("ranks", [1, 2])
def test_hydro_reports_both_cases(ranks: int) -> None:
    """Every number that reports are made from is there and positive."""
    results = json_on_stdout(*TINY_HYDRO, ranks=ranks)
    assert [result["case"] for result in results] == ["uniform", "amr_sedov"]
    for result in results:
        assert result["scheme"] == "muscl_hancock"
        assert result["block_size"] == 8
        assert (result["ranks"], result["threads"]) == (ranks, 1)
        for key in (
            "cell_updates_per_second",
            "cell_updates_per_cpu_second",
            "seconds",
            "triad_bytes_per_second",
        ):
            assert result[key] > 0.0


@pytest.mark.parametrize("ranks", [1, 2])
def test_ghost_reports_every_pair(ranks: int) -> None:
    """Three decompositions times three backends."""
    results = json_on_stdout(*TINY_GHOST, ranks=ranks)
    assert len({(result["decomposition"], result["backend"]) for result in results}) == 9
    for result in results:
        assert result["seconds"] > 0.0
        assert (result["bytes_min"] > 0) == (ranks > 1)


@pytest.mark.parametrize("ranks", [1, 2])
def test_transpose_reports_every_backend_beside_a_copy(ranks: int) -> None:
    """One row per process grid, pair of axes and backend."""
    results = json_on_stdout("transpose", "--cells", "16,12,12", "--repeats", 2, ranks=ranks)
    assert len(results) == 12 * ranks  # 1x1, or 1x2 and 2x1
    for result in results:
        assert result["bytes_per_second"] > 0.0
        assert result["copy_bytes_per_second"] > 0.0


def test_tridiagonal_counts_fewer_bytes_for_ptdma() -> None:
    """2 of 64 planes per rank travel instead of all."""
    results = json_on_stdout(
        "tridiagonal", "--cells", "16,16,128", "--repeats", 1, "--process-grid", "1x2", ranks=2
    )
    by_method = {result["method"]: result for result in results}
    assert set(by_method) == {"ftm", "algorithm_1", "algorithm_2", "two_sweeps"}
    assert 32 * by_method["two_sweeps"]["bytes_mean"] == by_method["ftm"]["bytes_mean"]


def test_health_names_slow_nodes_and_excludes_them(tmp_path: Path) -> None:
    """Nodes are made of two ranks each; the last one gets a rank that computes 20 times over.

    The bar is far from both, since ranks that share a processor differ by 2 at times.
    """
    excluded = tmp_path / "exclude.txt"
    slow = ["--node-size", 2, "--debug-slow-rank", 3, "--debug-slow-factor", 20]
    [result] = json_on_stdout(
        "health", *slow, "--slow", 5, "--late", 1000, "--exclude", excluded, ranks=4
    )
    assert (result["ranks"], result["nodes"]) == (4, 2)
    [(name, node)] = result["slow_nodes"].items()
    assert name.endswith(":1")
    assert (node["first_rank"], node["ranks"], node["slow_ranks"]) == (2, 2, 1)
    assert node["compute_ratio"] > 5.0
    assert excluded.read_text() == f"{name}\n"


def test_json_goes_to_a_file(tmp_path: Path) -> None:
    """The table stays on the screen then."""
    file = tmp_path / "speed.json"
    outcome = octant("bench", *TINY_HYDRO, "--case", "uniform", "--json", file)
    assert outcome.code == 0, outcome.text
    assert "muscl_hancock" in outcome.text
    assert len(json.loads(file.read_text())) == 1


def test_bad_options_are_bad_input() -> None:
    """One message, exit code 2."""
    for arguments in (
        ["nothing"],
        ["hydro", "--case", "none"],
        ["ghost", "--cells", "15"],
        ["health", "--exclude", "/proc/no/list"],
    ):
        outcome = octant("bench", *arguments)
        assert outcome.code == 2, outcome.text
        assert len(outcome.text.strip().split(os.linesep)) == 1
