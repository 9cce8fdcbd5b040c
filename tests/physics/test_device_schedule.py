"""The schedule for GPUs on any machine: the same bits, and no field that leaves the device."""

from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from inputs import BY_POTENTIAL, CLUMPY_BOX, DRIFTING_BLAST, LEAVING_BALL
from refusals import assert_refused
from running import Outcome, assert_same_run, run, run_well
from telemetry_tables import ask, ask_one

IN_BATCHES = ("execution.schedule=device", "execution.batch_megabytes=2")
COLD_BLAST = ("hydro.dual_energy=overwrite", "hydro.scalars=3", "time.max_steps=6")


@pytest.fixture(scope="module")
def blast(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run a blast on three levels by the schedule for cores."""
    return run_well(tmp_path_factory.mktemp("cores") / "run", DRIFTING_BLAST)


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the same in batches on three ranks, whose messages pass through the host."""
    directory = tmp_path_factory.mktemp("batches") / "run"
    return run_well(directory, DRIFTING_BLAST, *IN_BATCHES, "comm.staging=always", ranks=3)


def test_same_bits_on_three_ranks(blast: Outcome, batches: Outcome) -> None:
    assert_same_run(batches, blast)


def test_same_bits_on_one_rank(tmp_path: Path, blast: Outcome) -> None:
    assert_same_run(run_well(tmp_path / "run", DRIFTING_BLAST, *IN_BATCHES), blast)


def test_a_step_launches_few_kernels(tmp_path: Path) -> None:
    """However many tiles three levels have in their seven sweeps."""
    few = run_well(
        tmp_path / "run",
        DRIFTING_BLAST,
        "execution.schedule=device",
        "execution.batch_megabytes=64",
        "time.max_steps=4",
    )
    by_name = """select name, sum(calls) from kernels where step between 1 and 3
                 group by step, name"""
    for name, calls in ask(few, by_name):
        if name in ("hydro::gather", "hydro::states", "hydro::fluxes", "hydro::update"):
            assert calls == 7
    launches = ask(few, "select sum(calls) from kernels where step between 1 and 3 group by step")
    assert 7 * 6 < min(calls for (calls,) in launches) <= 85


@pytest.mark.parametrize(("ranks", "most"), [(1, 90), (3, 120)])
def test_a_step_of_a_box_launches_few_kernels(tmp_path: Path, ranks: int, most: int) -> None:
    """Whatever levels its particles may lie on, and the fields that a solve begins with."""
    box = run_well(
        tmp_path / "run",
        CLUMPY_BOX,
        "time.max_steps=8",
        "gravity.base=multigrid",
        "execution.schedule=device",
        ranks=ranks,
    )
    by_step = """select sum(calls) from kernels where step between 1 and 6
                 group by step, rank"""
    launches = [calls for (calls,) in ask(box, by_step)]
    assert min(launches) > 60
    assert max(launches) <= most


# Launches of each rank in the steps of a box with three levels.
LAUNCHES = """
    select rank, avg(calls) from (select rank, step, sum(calls) as calls from kernels
    where step between 10 and 18 group by rank, step) group by rank"""


@pytest.mark.parametrize(("ranks", "most"), [(1, 570), (3, 790)])
def test_a_step_on_three_levels_launches_few_kernels_on_each_rank(
    tmp_path: Path, ranks: int, most: int
) -> None:
    """One to pack all messages of an exchange, and one to unpack them."""
    box = run_well(tmp_path / "run", CLUMPY_BOX, ranks=ranks)
    launches = dict(ask(box, LAUNCHES))
    assert len(launches) == ranks
    assert max(launches.values()) <= most


@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm")])
def test_same_bits_with_dual_energy_and_scalars(tmp_path: Path, scheme: tuple[str, str]) -> None:
    chosen = (*COLD_BLAST, f"hydro.scheme={scheme[0]}", f"hydro.reconstruction={scheme[1]}")
    cores = run_well(tmp_path / "cores", DRIFTING_BLAST, *chosen)
    batched = run_well(tmp_path / "batches", DRIFTING_BLAST, *chosen, *IN_BATCHES, ranks=3)
    assert_same_run(batched, cores)


@pytest.mark.parametrize("reconstruction", ["ppm", "ppm26"])
def test_same_bits_with_sharp_contacts(tmp_path: Path, reconstruction: str) -> None:
    smeared = (*COLD_BLAST, "hydro.scheme=rk3", f"hydro.reconstruction={reconstruction}")
    sharp = (*smeared, "hydro.contact_steepening=true")
    cores = run_well(tmp_path / "cores", DRIFTING_BLAST, *sharp)
    batched = run_well(tmp_path / "batches", DRIFTING_BLAST, *sharp, *IN_BATCHES, ranks=3)
    assert_same_run(batched, cores)
    without = run_well(tmp_path / "without", DRIFTING_BLAST, *smeared)
    assert cores.history()["kinetic"][-1] != without.history()["kinetic"][-1]


@pytest.mark.parametrize("base", ["fft", "multigrid"])
def test_gravity_and_particles_have_the_same_bits_and_no_field_travels(
    tmp_path: Path, base: str
) -> None:
    few = ("time.max_steps=8", f"gravity.base={base}")
    cores = run_well(tmp_path / "cores", CLUMPY_BOX, *few)
    for ranks in (1, 3):
        batched = run_well(
            tmp_path / f"batches-{ranks}",
            CLUMPY_BOX,
            *few,
            *IN_BATCHES,
            "comm.staging=always",
            ranks=ranks,
        )
        assert_same_run(batched, cores)
        assert (
            ask(batched, "select * from copies where cargo = 'fields' and name != 'output'") == []
        )


@pytest.mark.parametrize("solver", ["fmm", "multigrid"])
def test_same_bits_with_work_of_the_potential(tmp_path: Path, solver: str) -> None:
    ball = (LEAVING_BALL, *BY_POTENTIAL, f"gravity.solver={solver}", "time.subcycle=true")
    few = ("time.max_steps=6", "balance.interval=2")
    cores = run_well(tmp_path / "cores", *ball, *few)
    assert_same_run(run_well(tmp_path / "two", *ball, *few, ranks=2), cores)
    assert_same_run(run_well(tmp_path / "batches", *ball, *few, *IN_BATCHES, ranks=3), cores)


def model_file(directory: Path, crossing: int) -> str:
    """Write sweeps by which levels of fewer tiles than the crossing are faster in batches."""
    file = directory / "measured.txt"
    sizes = (1, 1000)
    lines = [f"1 {tiles} {1e-4 * crossing} {1e-4 * tiles}" for tiles in sizes]
    file.write_text("# threads, tiles, host, device\n" + "\n".join(lines) + "\n")
    return f"execution.model={file}"


@pytest.mark.parametrize("ranks", [1, 3])
def test_same_bits_where_a_model_chooses_for_each_level(
    tmp_path: Path, blast: Outcome, ranks: int
) -> None:
    model = model_file(tmp_path, crossing=12)
    chosen = run_well(tmp_path / "run", DRIFTING_BLAST, model, ranks=ranks)
    assert_same_run(chosen, blast)
    tiles_alone = "name = 'sweep' and self_ns > 0.5 * total_ns and cells > 0"
    assert ask_one(chosen, "select count(*) from phases where name = 'batches'") > 0
    assert ask_one(chosen, f"select count(*) from phases where {tiles_alone}") > 0


@pytest.mark.parametrize("scheme", [("muscl_hancock", "plm"), ("rk3", "ppm26")])
def test_same_bits_where_a_model_chooses_with_dual_energy_and_scalars(
    tmp_path: Path, scheme: tuple[str, str]
) -> None:
    chosen = (*COLD_BLAST, f"hydro.scheme={scheme[0]}", f"hydro.reconstruction={scheme[1]}")
    cores = run_well(tmp_path / "cores", DRIFTING_BLAST, *chosen)
    by_model = run_well(
        tmp_path / "by_model", DRIFTING_BLAST, *chosen, model_file(tmp_path, crossing=12), ranks=3
    )
    assert_same_run(by_model, cores)
    assert ask_one(by_model, "select count(*) from phases where name = 'batches'") > 0
    assert ask_one(by_model, "select count(*) from kernels where name = 'hydro::sweep'") > 0


def test_a_model_that_cannot_choose_is_refused(tmp_path: Path) -> None:
    model = model_file(tmp_path, crossing=100)
    twice = run(tmp_path / "twice", DRIFTING_BLAST, model, "execution.schedule=device")
    assert_refused(twice, "execution.model", "execution.schedule", "auto")
    two_threads = run(tmp_path / "threads", DRIFTING_BLAST, model, threads=2)
    assert_refused(two_threads, "2 thread(s)", "octant bench device-model")


def test_no_field_travels_within_a_step(batches: Outcome) -> None:
    assert ask(batches, "select * from copies where cargo in ('fields', 'particles')") == []
    assert ask_one(batches, "select count(*) from copies where cargo = 'messages'") > 0


def test_numbers_that_travel_are_a_few_per_block(batches: Outcome) -> None:
    block_bytes = 4**3 * 6 * 8
    assert (
        ask_one(
            batches,
            "select max(bytes / blocks) from (select step, sum(bytes) as bytes from copies"
            " where cargo in ('numbers', 'lists') group by step) join steps using (step)",
        )
        < block_bytes
    )


@pytest.mark.parametrize("processes", ["1x3", "3x1"])
@pytest.mark.parametrize("poisson", ["ftm", "ptdma"])
def test_no_field_of_a_flow_travels_within_a_step(
    tmp_path: Path, processes: str, poisson: str
) -> None:
    flow = run_well(
        tmp_path / "run",
        SMALL_CHANNEL,
        "dns.schedule=batches",
        "dns.diffusion=implicit",
        f"dns.poisson={poisson}",
        f"grid.process_grid={processes}",
        "comm.staging=always",
        ranks=3,
    )
    cargoes = ask(flow, "select distinct cargo from copies where step < 11 order by cargo")
    assert cargoes == [("messages",), ("numbers",), ("tables",)]
