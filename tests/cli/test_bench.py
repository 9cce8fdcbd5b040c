"""Benchmarks: what `octant bench` prints for people and for programs."""

import json
import math
import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inputs import DRIFTING_BLAST
from reference_data import reference_path
from running import octant, octant_command, octant_environment, run_well
from telemetry_tables import ask

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


def test_a_benchmark_that_fails_leaves_the_numbers_of_another(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    numbers.write_text("[1]")
    failed = octant("bench", "cooling", "--table", tmp_path / "missing.h5", "--json", numbers)
    assert failed.code == 2
    assert numbers.read_text() == "[1]"
    assert octant("bench", *TINY_GHOST, "--json", numbers).code == 0
    assert json.loads(numbers.read_text()) != [1]


@pytest.mark.parametrize("schedule", ["planes", "batches"])
def test_dns_reports_every_diffusion_in_a_schedule(schedule: str) -> None:
    grid = ["--cells", "16,12,14", "--steps", 2]
    results = json_on_stdout("dns", *grid, "--schedule", schedule, ranks=1)
    assert [result["diffusion"] for result in results] == ["explicit", "implicit_z", "implicit"]
    for result in results:
        assert result["schedule"] == schedule
        assert result["seconds_per_step"] > 0.0
        assert result["scaled_divergence"] < 1e-12
        mean, least = result["parts_mean"], result["parts_least"]
        assert set(mean) == set(least)
        assert all(least[part] <= mean[part] + 1e-9 for part in least)
        for solver in ("Poisson", "implicit diffusion"):
            parts = [mean[part] for part in mean if part.startswith(f"{solver}: ")]
            assert mean[solver] == pytest.approx(sum(parts))
        assert mean["Poisson"] > 0.0
        assert (mean["implicit diffusion"] > 0.0) == (result["diffusion"] != "explicit")
        assert result["seconds_per_step"] <= result["mean_seconds_per_step"]
        assert ("bytes_moved_per_cell" in result) == (schedule == "planes")


DNS_SERIES = ["--diffusion", "implicit_z", "--transpose", "p2p", "--steps", 1]


def test_dns_scales_over_ranks_and_process_grids() -> None:
    """Slabs along y, and two ranks along z, on 1, 2 and 4 of 4 ranks."""
    grids = ["--ranks", "1,2,4", "--process-grid", "*x1,*x2", "--poisson", "ptdma"]
    results = json_on_stdout("dns", "--cells", "16,12,14", *grids, *DNS_SERIES, ranks=4)
    found = [(r["ranks"], r["process_grid"]) for r in results]
    assert found == [(1, "1x1"), (2, "2x1"), (2, "1x2"), (4, "4x1"), (4, "2x2")]
    for result in results:
        first = next(r for r in results if all(r[k] == result[k] for k in ("poisson", "pattern")))
        ratio = first["seconds_per_step"] / result["seconds_per_step"]
        assert result["speed_up"] == pytest.approx(ratio)
        assert result["efficiency"] == pytest.approx(ratio * first["ranks"] / result["ranks"])


def test_dns_counts_the_data_of_both_pencils() -> None:
    """Implicit diffusion along z sends nothing with pencils along z."""
    grid = ["--cells", "16,12,16", "--process-grid", "2x2", "--pencil-axis", "all"]
    results = json_on_stdout("dns", *grid, "--schedule", "batches", *DNS_SERIES, ranks=4)
    x, z = (r["bytes_by_purpose"] for r in results)
    assert [r["pencil_axis"] for r in results] == ["x", "z"]
    field = 16 * 12 * 16 * 8 / 4
    # Per step of three stages: two ways, of which half of the data remain on the rank.
    assert x["Poisson"] == pytest.approx(3 * 2 * 2 * field / 2, rel=0.1)
    assert x["implicit diffusion"] == 3 * 3 * 2 * field / 2
    assert x["whole rows"] == 0
    assert z["Poisson"] == pytest.approx(x["Poisson"] + 3 * 2 * field / 2)
    assert z["implicit diffusion"] == 0
    assert z["whole rows"] > 3 * field / 2
    for result in results:
        assert sum(result["bytes_by_purpose"].values()) >= result["bytes_sent_per_step"] > 0
        assert result["messages_by_purpose"]["Poisson"] > 0


def test_dns_scales_weakly() -> None:
    """The cells along z grow with the ranks."""
    weak = ["--cells", "16,12,5", "--ranks", "1,2", "--weak", "--process-grid", "1x*"]
    results = json_on_stdout("dns", *weak, *DNS_SERIES, ranks=2)
    assert {(r["ranks"], r["cells_z"]) for r in results} == {(1, 5), (2, 10)}
    for result in results:
        if result["ranks"] == 1:
            assert (result["speed_up"], result["efficiency"]) == (1.0, 1.0)
        assert result["efficiency"] == pytest.approx(result["speed_up"] / result["ranks"])


def test_dns_lists_process_grids_that_are_not_possible() -> None:
    grid = ["--cells", "16,12,5", "--process-grid", "1x*,2x2", "--poisson", "all", *DNS_SERIES]
    shown = octant("bench", "dns", *grid, ranks=3)
    assert shown.code == 0, shown.text
    assert "ptdma implicit_z, process grid 1x* of 3 rank(s): not possible: " in shown.text
    assert "process grid 2x2 of 3 rank(s): not possible" in shown.text
    assert len(re.findall("1x3 +", shown.text)) == 1, "the full transpose"
    for wrong, words in (
        (["--process-grid", "2x2"], "no case is possible"),
        (["--process-grid", "2*x1"], "--process-grid 2*x1: expected"),
        (["--ranks", "4"], "--ranks 4"),
    ):
        refused = octant("bench", "dns", *wrong, "--cells", "16,12,5", "--steps", 1, ranks=3)
        assert refused.code == 2, refused.text
        assert words in refused.text


def error_of_slabs(cells: int) -> float:
    """Return the error of second-order differences at the cell nearest to the maximum."""
    x = math.pi / cells
    peak = max(math.sin((2 * n + 1) * x) for n in range(cells)) ** 3
    return ((x / math.sin(x)) ** 2 - 1) * peak


@pytest.mark.parametrize("guess", ["zero", "random"])
def test_poisson_slabs_converge_alike_on_any_ranks(guess: str) -> None:
    """Conjugate gradients need one iteration from 0, since the source is an eigenvector."""
    settings = ["--cells", "8,16", "--tolerance", 1e-8, "--guess", guess]
    results = {}
    for ranks in (1, 2, 3):
        for case in ("jacobi", "red-black", "cg"):
            for row in json_on_stdout("poisson", "--case", case, *settings, ranks=ranks):
                found = {key: row[key] for key in ("iterations", "residual", "error")}
                key = (case, row["base_cells"])
                assert results.setdefault(key, found) == found, (key, ranks)
                assert row["residual"] <= 1e-8
                assert row["error"] == pytest.approx(error_of_slabs(row["base_cells"]), rel=1e-4)
                parts = ("compute_seconds", "exchange_seconds", "reduction_seconds")
                assert 0.0 < max(row[part] for part in parts) <= row["seconds"]
                assert (row["bytes_sent"] > 0) == (ranks > 1)
    for cells in (8, 16):
        jacobi, red_black, cg = (
            results[case, cells]["iterations"] for case in ("jacobi", "red-black", "cg")
        )
        assert (cg == 1) == (guess == "zero")
        assert cg < red_black < 0.6 * jacobi
    growth = results["jacobi", 16]["iterations"] / results["jacobi", 8]["iterations"]
    assert growth == pytest.approx(4, rel=0.25)
    if guess == "random":
        assert results["cg", 16]["iterations"] < 2.5 * results["cg", 8]["iterations"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_regrid_changes_few_blocks(ranks: int) -> None:
    """The balls have moved, by little, and times are there."""
    [result] = json_on_stdout("regrid", "--cells", 32, "--levels", 2, ranks=ranks)
    assert 0 < result["changed"] < 0.1 * result["blocks"]
    assert result["build_seconds"] > 0.0
    assert result["seconds"] > 0.0


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


def test_device_model_writes_what_a_run_chooses_by(tmp_path: Path) -> None:
    file = tmp_path / "sweeps.txt"
    few = ["--tiles", "1,3,8", "--steps", 2, "--seconds", 0, "--model", file]
    results = json_on_stdout("device-model", *few, ranks=1)
    assert [result["tiles"] for result in results] == [1, 3, 8]
    for result in results:
        faster = min(result["host_seconds"], result["device_seconds"])
        assert faster > 0.0
        chosen = result[f"{result['choice']}_seconds"]
        assert result["loss"] == pytest.approx(chosen / faster - 1.0)
    run_well(tmp_path / "run", DRIFTING_BLAST, "time.max_steps=1", f"execution.model={file}")
    measured = file.read_text()
    refusal = octant("bench", "device-model", *few)
    assert (refusal.code, file.read_text()) == (2, measured)
    assert "the file already exists" in refusal.text


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
    assert len(results) == 15 * ranks  # 1x1, or 1x2 and 2x1
    for result in results:
        assert result["bytes_per_second"] > 0.0
        assert result["copy_bytes_per_second"] > 0.0


def test_tridiagonal_counts_fewer_bytes_for_ptdma() -> None:
    """2 of 64 planes per rank travel instead of all."""
    results = json_on_stdout(
        "tridiagonal", "--cells", "16,16,128", "--repeats", 1, "--process-grid", "1x2", ranks=2
    )
    by_method = {result["method"]: result for result in results}
    assert set(by_method) == {
        "ftm",
        "algorithm_1",
        "algorithm_2",
        "two_sweeps",
        "direct",
        "detour",
    }
    assert 32 * by_method["two_sweeps"]["bytes_mean"] == by_method["ftm"]["bytes_mean"]


def placement(*arguments: object) -> Any:
    """Place made-up costs; give the JSON."""
    done = octant("bench", "placement", *arguments, "--json")
    assert done.code == 0, done.text
    return json.loads(done.text)


SMALL_PLACEMENT = ["--blocks", 200, "--ranks", 90, "--node-size", 9, "--repeats", 1]


def test_placement_reports_every_policy_and_what_it_moves(tmp_path: Path) -> None:
    """The owners that one call writes are the previous ones of the next."""
    owners = tmp_path / "owners.txt"
    placement(*SMALL_PLACEMENT, "--policy", "exact", "--owners", owners)
    results = {r["policy"]: r for r in placement(*SMALL_PLACEMENT, "--previous", owners)}
    assert set(results) == {
        *("baseline", "exact", "lpt", "cdp", "cdp_general", "cdp_chunked"),
        *("cplx", "zonal", "node"),
    }
    assert results["exact"]["bytes_moved"] == 0
    assert results["lpt"]["blocks_moved"] > 100
    assert results["lpt"]["bytes_moved"] == 163840 * results["lpt"]["blocks_moved"]
    general, exact = results["cdp_general"], results["exact"]
    assert general["makespan_over_mean"] == exact["makespan_over_mean"]


def test_placement_respects_the_memory_of_ranks(tmp_path: Path) -> None:
    owners = tmp_path / "owners.txt"
    limits = ["--rank-bytes", 3 * 163840, "--policy", "node", "--owners", owners]
    placement(*SMALL_PLACEMENT, *limits)
    counts = Counter(owners.read_text().split())
    assert max(counts.values()) <= 3
    done = octant("bench", "placement", *SMALL_PLACEMENT, "--rank-bytes", 2 * 163840)
    assert done.code == 2
    assert "200 blocks do not fit" in done.text


COSTS = ("exponential", "gauss60_5", "powerlaw")


@pytest.mark.parametrize("law", COSTS)
def test_nodes_send_no_more_than_with_equal_numbers_of_blocks(law: str) -> None:
    folder = reference_path("placement")
    files = ["--costs", folder / f"costs_{law}_r4096_n8968_s1234.csv"]
    files += ["--mesh", folder / "mesh_r4096_n8968_leaves.csv", "--repeats", 1]
    results = {p: placement(*files, "--policy", p) for p in ("baseline", "exact", "node")}
    assert results["node"]["off_node_bytes"] <= results["baseline"]["off_node_bytes"]
    assert results["node"]["makespan_over_mean"] < 0.97 * results["exact"]["makespan_over_mean"]


def test_placement_replays_a_run(tmp_path: Path) -> None:
    """Each policy computes the same; only the contiguous ones leave blocks where they are."""
    run = run_well(tmp_path / "run", DRIFTING_BLAST, "time.max_steps=6")
    done = octant("bench", "placement", "--replay", run.directory, "--node-size", 4, "--json")
    assert done.code == 0, done.text
    results = json.loads(done.text)
    ends = [n for (n,) in ask(run, "select count(*) from blocks group by step order by step")]
    assert [(r["policy"], r["x"]) for r in results] == [
        ("baseline", 0),
        *(("cplx", x) for x in (0, 25, 50, 75, 100)),
        ("node", 0),
    ]
    assert len({round(r["compute_seconds"], 12) for r in results}) == 1
    for result in results:
        assert result["steps"] == 6
        assert result["ranks"] > 27
        parts = ("compute", "communication", "synchronisation", "rebalancing")
        total = sum(result[f"{part}_seconds"] for part in parts)
        assert result["total_seconds"] == pytest.approx(total)
        assert (result["initial_blocks"], result["final_blocks"]) == (ends[0], ends[-1])
    contiguous, scattered = results[1], results[5]
    for where in ("in_node", "off_node"):
        assert contiguous[f"messages_{where}"] > 0
    # With more messages to other nodes, neighbours on the same rank or node become fewer.
    assert scattered["messages_off_node"] > contiguous["messages_off_node"]
    slower = octant(
        "bench", "placement", "--replay", run.directory, "--node-size", 4, "--json", "--latency", 1
    )
    expected = contiguous["messages_off_node"] + 0.1 * contiguous["messages_in_node"]
    found = json.loads(slower.text)[1]
    assert found["communication_seconds"] * found["ranks"] == pytest.approx(expected, rel=1e-3)
    # More ranks than blocks: eight for each of them, in zones with a planner each.
    zones = ["--subdivide", 1, "--ranks", 200, "--policy", "zonal", "--zone-ranks", 50, "--json"]
    (divided,) = json.loads(octant("bench", "placement", "--replay", run.directory, *zones).text)
    assert (divided["initial_blocks"], divided["final_blocks"]) == (8 * ends[0], 8 * ends[-1])
    work = results[0]["compute_seconds"] * results[0]["ranks"]
    assert 200 * divided["compute_seconds"] == pytest.approx(8 * work)
    assert 0 < divided["planning_seconds"] <= divided["rebalancing_seconds"]
    refused = octant("bench", "placement", "--replay", tmp_path)
    assert refused.code == 2
    assert "no block records" in refused.text


def test_comm_exchanges_between_the_blocks_of_random_meshes() -> None:
    """The same meshes under each policy: the same bytes, of which more or fewer leave a rank."""
    tiny = ["--meshes", 2, "--rounds", 3, "--cold-rounds", 1, "--node-size", 2]
    tiny += ["--most-seconds", 1000]
    results = {r["policy"]: r for r in json_on_stdout("comm", *tiny, ranks=4)}
    assert len(results) == 9
    assert len({r["total_bytes"] for r in results.values()}) == 1
    for result in results.values():
        assert result["blocks"] >= 8
        assert 0 < result["off_node_bytes"] <= result["off_rank_bytes"] < result["total_bytes"]
        assert 0 < result["messages"] <= 12
        assert result["median_seconds"] > 0.0


def test_comm_sends_a_message_per_contact() -> None:
    """Several percentages of cplx; contacts are more than pairs of ranks, in equal bytes."""
    tiny = ["--meshes", 2, "--rounds", 3, "--cold-rounds", 1, "--node-size", 2]
    few = [*tiny, "--policy", "cplx", "--x", "0,50,100", "--most-seconds", 1000]
    by_rank = json_on_stdout("comm", *few, ranks=4)
    by_contact = json_on_stdout("comm", *few, "--per-contact", ranks=4)
    assert [r["x"] for r in by_contact] == [0, 50, 100]
    for one, all_contacts in zip(by_rank, by_contact, strict=True):
        assert all_contacts["messages"] == all_contacts["contacts_off_rank"] > one["messages"]
        assert all_contacts["messages_off_node"] == all_contacts["contacts_off_node"]
        assert all_contacts["off_rank_bytes"] == one["off_rank_bytes"]
        assert (all_contacts["rounds"], all_contacts["rounds_dropped"]) == (6, 0)
        assert all_contacts["mean_seconds"] > 0.0
    [nothing] = json_on_stdout(
        "comm", *tiny, "--policy", "baseline", "--most-seconds", 1e-9, ranks=2
    )
    assert (nothing["rounds"], nothing["rounds_dropped"]) == (0, 6)
    assert nothing["mean_seconds"] is None


def test_mpi_properties_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The eager limit is that of the library."""
    few = ["--repeats", 5, "--compute-seconds", 0.1]
    results = json_on_stdout("mpi", *few, ranks=2)
    probes = {r["probe"]: r for r in results}
    assert set(probes) == {"eager", "progress", "burst", "collectives", "send_order"}
    assert [r["messages"] for r in results if r["probe"] == "burst"] == [1, 16, 256, 4096]
    assert all(r["seconds_each"] > 0.0 for r in results if r["probe"] == "burst")
    assert 0.0 <= probes["progress"]["overlapped"] <= 1.0
    assert probes["collectives"]["barrier_seconds"] > 0.0
    waits = [probes["send_order"][f"sends_{when}_wait_seconds"] for when in ("first", "last")]
    assert all(wait > 0.0 for wait in waits)
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True)
    if "Open MPI" not in version.stdout:
        return
    for name in ("vader", "sm"):  # Open MPI 4, 5
        monkeypatch.setenv(f"OMPI_MCA_btl_{name}_eager_limit", "16384")
    # A rank that is interrupted makes a limit too low, but never too high.
    limits = (json_on_stdout("mpi", *few, ranks=2)[0]["bytes"] for _ in range(20))
    assert probes["eager"]["bytes"] <= 4096
    assert any(4096 < limit <= 16384 for limit in limits)


def test_mpi_properties_require_two_ranks() -> None:
    done = octant("bench", "mpi", ranks=1)
    assert (done.code, "two ranks" in done.text) == (2, True), done.text


def test_collectives_are_timed_by_size() -> None:
    """The program checks by itself that every call gives what it should."""
    results = json_on_stdout("collectives", "--most", 1000, "--repeats", 2, ranks=3)
    calls = {r["call"] for r in results}
    assert calls == {"all_reduce", "tree", "broadcast", "ring", "all_to_all"}
    assert [r["doubles"] for r in results if r["call"] == "tree"] == [1, 10, 100, 1000]
    assert all(r["repeats"] >= 1 and r["mean_seconds"] > 0.0 for r in results)


def test_balance_compares_decompositions_of_clustered_work() -> None:
    """All shares are those of one cube: who is better depends on the clusters and the blocks."""
    results = json_on_stdout("balance", "--cells", 64, "--ranks", "12,27", ranks=1)
    assert len(results) == 6
    assert len({(r["decomposition"], r["ranks"]) for r in results}) == 6
    for result in results:
        assert 1.0 <= result["imbalance"] < 1.5
        assert 0.0 < result["border_share"] < 1.0
        assert result["partners_min"] <= result["partners_mean"] <= result["partners_max"]


def test_balance_has_fewer_border_cells_with_a_larger_tolerance() -> None:
    cube = ["--cells", 128, "--ranks", 64, "--decomposition", "ksection"]
    (even,), (smooth,) = (
        json_on_stdout("balance", *cube, "--tolerance", tolerance, ranks=1) for tolerance in (0, 1)
    )
    assert even["imbalance"] < 1.1 < smooth["imbalance"]
    assert even["surface_to_volume"] > smooth["surface_to_volume"]


def test_balance_counts_the_partners_of_uniform_grids() -> None:
    """Section 8.6.1 of the cuRAMSES paper: cuboids have six; pieces of a curve have more."""
    cube = ["--cells", 384, "--clusters", 0, "--ranks", "64,96"]
    results = json_on_stdout("balance", *cube, ranks=1)
    found = {(r["decomposition"], r["ranks"]): r for r in results}
    for ranks, faces in ((64, 4 + 4 + 4), (96, 4 + 4 + 6)):
        cuboids, curve = found["ksection", ranks], found["hilbert", ranks]
        assert cuboids["partners_min"] == cuboids["partners_max"] == 6
        assert cuboids["surface_to_volume"] == pytest.approx(2 * faces / 384)
        assert cuboids["surface_to_volume"] <= curve["surface_to_volume"] + 1e-12
        assert curve["partners_mean"] > 8.0
    refused = octant("bench", "balance", "--clusters", -1)
    assert refused.code == 2


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
        ["poisson", "--case", "cg", "--cells", "15"],
        ["health", "--exclude", "/proc/no/list"],
    ):
        outcome = octant("bench", *arguments)
        assert outcome.code == 2, outcome.text
        assert len(outcome.text.strip().split(os.linesep)) == 1


@pytest.mark.parametrize("ranks", [1, 3])
def test_fof_finds_the_same_groups_by_every_method(ranks: int) -> None:
    results = json_on_stdout("fof", "--points", "500,1000", "--repeats", 1, ranks=ranks)
    alone = ["brute", "octree", "octree_threads", "cells"] * (ranks == 1)
    for case in ("uniform", "clustered"):
        rows = [result for result in results if result["case"] == case]
        assert [row["method"] for row in rows] == [*alone, "distributed"] * 2
        assert len({row["groups"] for row in rows if row["points"] == 1000}) == 1
        assert all(row["seconds"] > 0.0 for row in rows)
        assert all(("exponent" in row) == (row["points"] == 1000) for row in rows)


def test_fof_names_what_it_cannot_do(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("0.1,0.2,0.3\n0.4,0.5\n")
    done = octant("bench", "fof", "--file", points, "--length", 0.1, ranks=2)
    assert (done.code, "line 2" in done.text) == (2, True), done.text
    done = octant("bench", "fof", "--file", points)
    assert (done.code, "--length" in done.text) == (2, True), done.text
    done = octant("bench", "fof", "--method", "cells", ranks=2)
    assert (done.code, "distributed" in done.text) == (2, True), done.text


@pytest.mark.parametrize("ranks", [1, 2])
def test_cooling_reports_the_time_of_a_cell(ranks: int) -> None:
    results = json_on_stdout("cooling", "--cells", 16, "--repeats", 1, ranks=ranks)
    steps = [f"{gas}_{step}" for gas in ("mixed", "thin") for step in (0.1, 1, 10)]
    assert [result["case"] for result in results] == [*steps, "table"]
    assert all(result["seconds"] > 0.0 for result in results)
    assert all(result["microseconds_per_cell"] > 0.0 for result in results[:-1])


@pytest.mark.parametrize("ranks", [1, 2])
def test_stars_reports_the_time_of_a_cell(ranks: int) -> None:
    results = json_on_stdout("stars", "--cells", 16, "--repeats", 1, ranks=ranks)
    assert [result["case"] for result in results] == ["none", "sparse", "some", "all"]
    assert all(result["nanoseconds_per_cell"] > 0.0 for result in results)
    stars = [result["stars"] for result in results]
    assert stars[0] == 0
    assert 10 < stars[-1] < 100  # of 4096 cells, in one of a hundred


@pytest.mark.parametrize("ranks", [1, 3])
def test_feedback_gives_the_same_energy_by_every_method(ranks: int) -> None:
    options = ["--cells", 16, "--supernovae", 40, "--nuclei", 60, "--repeats", 1]
    results = json_on_stdout("feedback", *options, ranks=ranks)
    assert len(results) == 6
    for case in ("supernovae", "nuclei"):
        rows = [row for row in results if row["case"] == case]
        assert {row["method"] for row in rows} == {"blocks", "bins", "brute"}
        assert len({row["energy"] for row in rows}) == 1
        assert all(row["brute_over_this"] > 0.0 and row["leaf_cells"] == 7680 for row in rows)


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_lists_the_benchmarks(word: str) -> None:
    """As an error does for a name that there is not, and for none."""
    shown = octant("bench", word)
    listed = re.findall(r"^  ([a-z-]+) +\w", shown.text, re.MULTILINE)
    assert shown.code == 0
    assert {"hydro", "device-model", "health"} < set(listed)
    for wrong in (octant("bench"), octant("bench", "nothing")):
        assert wrong.code == 2
        assert ", ".join(listed) in wrong.text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hydro", "--cells", 0], '--cells: "0": expected an integer, at least 1 (--help'),
        (["hydro", "--cells", "8.5"], '"8.5": expected an integer, at least 1 (--help'),
        (["regrid", "--levels", 9], '"9": expected an integer, 1 to 8 (--help'),
        (["poisson", "--tolerance", "nan"], '"nan": expected a number, 1e-15 to 1 (--help'),
        (["fof", "--length", "inf"], '"inf": expected a number, 0 to 1e+300 (--help'),
    ],
)
def test_numbers_out_of_range_are_refused_in_short(words: list[object], message: str) -> None:
    refused = octant("bench", *words)
    assert refused.code == 2
    assert message in refused.text
