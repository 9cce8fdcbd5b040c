"""The performance model: counts, fit, prediction, offloading and its command."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Call
from made_up_run import ARROW, MadeUpRun

from octools.errors import OctoolsError
from octools.scaling_model import decomposition
from octools.scaling_model.command import rank_numbers
from octools.scaling_model.gpu import Offload
from octools.scaling_model.machine import NAMED, Machine, find_machine, fit_network
from octools.scaling_model.model import (
    IDEAL,
    Component,
    Exchange,
    Program,
    curve,
    fit,
    non_negative_fit,
    planning_seconds,
    random_imbalance,
    total,
)
from octools.scaling_model.pencils import Flow
from octools.scaling_model.recorded import Counts, Planning, Recorded, Sent, record
from octools.scaling_model.report import messages, predicted_busy, sent_bytes
from octools.telemetry.database import Telemetry
from octools.telemetry.schema import TABLES

MACHINE = Machine(
    name="test", source="", latency_seconds=1e-6, message_seconds=1e-7,
    node_bytes_per_second=1e10, reduction_seconds=2e-6, ranks_per_node=4,
    memory_bytes_per_second=1e9,
)  # fmt: skip


def recorded(ranks: int, updates: float, counts: dict[str, Counts]) -> Recorded:
    """Return a run with blocks so small that they do not limit the balance."""
    return Recorded(f"r{ranks}", ranks, updates, 100.0, [(1.0, 1e-9)], None, 0.0, counts)


# --- decomposition -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [(1, 0), (12, 4), (61, 6), (64, 6), (67, 7), (100_000, 25), (100_003, 17)],
)
def test_messages_of_the_tree_are_those_of_the_program(ranks: int, expected: int) -> None:
    """The numbers of docs/scaling.md; ranks of near-equal groups send one less at most."""
    assert decomposition.tree_messages(ranks) == expected


def test_surface_and_neighbours_of_boxes() -> None:
    assert decomposition.parts(12) == (3, 2, 2)
    assert [decomposition.neighbours(n) for n in (1, 2, 4, 8, 64)] == [0, 1, 3, 7, 26]
    assert decomposition.surface(1) == 0
    # two halves share two faces of area 1, and have a volume of 1/2
    assert decomposition.surface(2) == pytest.approx(2 / 0.5 ** (2 / 3))
    assert decomposition.surface(8) == pytest.approx(6)
    assert decomposition.surface(512) == pytest.approx(6)


# --- machine -------------------------------------------------------------------------------------


def test_all_named_machines_can_be_read() -> None:
    names = [line[1:-1] for line in NAMED.read_text().splitlines() if line.startswith("[")]
    assert len(names) >= 5
    for name in names:
        assert find_machine(name).source


def test_time_of_collective_operations() -> None:
    assert MACHINE.reduction(1024) == pytest.approx(10 * 2e-6)
    assert MACHINE.reduction(1025) == pytest.approx(11 * 2e-6)
    tapered = replace(MACHINE, taper=0.1)
    assert tapered.all_to_all_bytes_per_second(4) == 1e10
    assert tapered.all_to_all_bytes_per_second(16) == pytest.approx(1e10 * 0.9**2)


def test_networks_are_fitted_to_benchmarks(tmp_path: Path) -> None:
    ring = [
        {"call": "ring", "ranks": 8, "doubles": n, "least_seconds": 3e-6 + 8 * n / 5e9}
        for n in (1, 100, 10_000, 1_000_000)
    ]
    sums = [
        {"call": "all_reduce", "ranks": n, "doubles": 1, "least_seconds": 4e-6 * math.log2(n)}
        for n in (2, 8)
    ]
    bursts = [
        {"probe": "burst", "messages": n, "seconds_each": seconds}
        for n, seconds in ((1, 3e-6), (4096, 2e-7))
    ]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps([*ring, *sums, *bursts]))
    found = find_machine(str(path))
    assert found.latency_seconds == pytest.approx(3e-6)
    assert found.node_bytes_per_second == pytest.approx(5e9)
    assert found.reduction_seconds == pytest.approx(4e-6)
    assert found.message_seconds == 2e-7
    with pytest.raises(OctoolsError, match="collectives"):
        fit_network(ring)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("latency_second = 1", "latency_second"),
        ("source = ''", "missing"),
        ("source = ''\nlatency_seconds = -1\nmessage_seconds = 0\nnode_bytes_per_second = 1\n"
         "reduction_seconds = 0", "latency_seconds = -1"),
        ("source = ''\nlatency_seconds = 0\nmessage_seconds = 0\nnode_bytes_per_second = 0\n"
         "reduction_seconds = 0", "node_bytes_per_second > 0"),
    ],
)  # fmt: skip
def test_bad_machines_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f"[machine]\n{text}\n")
    with pytest.raises(OctoolsError, match=message):
        find_machine(str(path))
    with pytest.raises(OctoolsError, match="grammar"):
        find_machine("gramar")


# --- model ---------------------------------------------------------------------------------------

HALO = Exchange("ghosts", calls=3, all_to_all=False, messages=1, bytes=80)
SPECTRAL = Exchange("gravity pencils", calls=4, all_to_all=True, messages=1, bytes=32)


def component(**changes: object) -> Component:
    plain = Component("hydro", 1e-8, 0.0, 0.0, 0.5, 10, 0, 0, ())
    return replace(plain, **changes)


def program(*components: Component, granularity: float = 1e-9) -> Program:
    return Program(components, 1e6, 1e6, [(1.0, granularity)], 100.0)


def test_each_cause_has_its_time() -> None:
    whole = component(
        per_surface=1e-7, fixed=1e-3, reductions=5, routes=2, exchanges=(HALO, SPECTRAL)
    )
    causes = program(whole).predict(MACHINE, 64, 64e6)["hydro"]
    surface = 6 * 1e6 ** (2 / 3)
    assert causes[IDEAL] == pytest.approx(1e-2)
    assert causes["ghost cells"] == pytest.approx(1e-7 * surface)
    assert causes["fixed work"] == 1e-3
    assert causes["reductions"] == pytest.approx(5 * 6 * 2e-6)
    assert causes["tree rounds"] == pytest.approx(2 * (6 * 1e-6 + 6 * 1e-7))
    sent = 3 * 26 + 4 * 2 * (8 - 1)
    assert causes["messages"] == pytest.approx(7 * 1e-6 + sent * 1e-7)
    of_node = 80 * decomposition.surface(16) * 4e6 ** (2 / 3)
    spectral = 32 * 1e6 * (1 - 1 / 64)
    leaving = of_node / 1e10 + 4 * spectral * 60 / 63 / 1e10
    within = 2 * (80 * surface - of_node / 4 + spectral * (1 - 60 / 63)) / 1e9
    assert causes["bytes"] == pytest.approx(leaving + within)
    assert causes["imbalance"] == 0


def test_one_rank_does_not_communicate() -> None:
    alone = program(component(exchanges=(HALO, SPECTRAL), reductions=5, routes=2))
    causes = alone.predict(MACHINE, 1, 1e6)["hydro"]
    assert {name for name, seconds in causes.items() if seconds} == {IDEAL}


def test_blocks_that_cannot_be_divided_limit_strong_scaling() -> None:
    coarse = program(component(), granularity=0.01)
    assert coarse.imbalance(64, 1e6) == 1
    assert coarse.imbalance(400, 1e6) == pytest.approx(4)
    found = curve(coarse, MACHINE, "strong", [1, 100, 200, 400], 1e6)
    assert found.efficiencies() == pytest.approx([1, 1, 0.5, 0.25])
    assert found.stop().ranks == 400
    assert found.stop().cause == "imbalance"
    weak = curve(coarse, MACHINE, "weak", [1, 400], 1e6)
    assert weak.efficiencies("hydro") == pytest.approx([1, 1])
    assert weak.stop().ranks is None


def test_reductions_stop_a_small_component() -> None:
    small = component(name="black holes", per_update=1e-11, reductions=4)
    weak = curve(program(small), MACHINE, "weak", [2, 64, 1024], 1e6)
    # 10 us of work, and 8 us for each doubling of the ranks
    assert weak.efficiencies() == pytest.approx([1, 18 / 58, 18 / 90])
    assert weak.stop().ranks == 64
    assert weak.stop().cause == "reductions"


def test_kernels_of_a_gpu_are_faster_and_are_launched() -> None:
    device = replace(
        MACHINE, kernel_speed=10.0, launch_seconds=5e-6, transfer_bytes_per_second=2e10
    )
    causes = program(component(copied_bytes=40.0)).predict(device, 1, 1e6)["hydro"]
    assert causes["transfers"] == pytest.approx(40e6 / 2e10)
    assert causes[IDEAL] == pytest.approx(1e-2 * (0.5 + 0.05))
    assert causes["launches"] == pytest.approx(5e-5)


def test_transforms_of_larger_grids_take_more_passes() -> None:
    base = component(name="gravity, base level", exchanges=(SPECTRAL,))
    causes = program(base).predict(MACHINE, 1000, 1e9)["gravity, base level"]
    assert causes[IDEAL] == pytest.approx(1e-2 * 1.5)
    grids = replace(base, exchanges=(HALO,))
    assert program(grids).predict(MACHINE, 1000, 1e9)[grids.name][IDEAL] == pytest.approx(1e-2)


def test_placement_has_one_planner_or_one_in_each_zone() -> None:
    one, zones = Planning(0.5, 1e-8, 0), Planning(0.5, 1e-8, 4096)
    assert planning_seconds(one, MACHINE, 1, 1e6) == pytest.approx(0.5e-2)
    assert planning_seconds(one, MACHINE, 131_072, 32e6) == pytest.approx(16e6 * (1e-8 + 1.6e-9))
    assert planning_seconds(zones, MACHINE, 131_072, 32e6) == pytest.approx(5e5 * (1e-8 + 1.6e-9))
    assert planning_seconds(zones, MACHINE, 64, 1e6) == pytest.approx(5e5 * (1e-8 + 1.6e-9))
    balanced = replace(program(component(name="load balance")), planning=one)
    causes = balanced.predict(MACHINE, 4, 4e6)["load balance"]
    assert causes["planning"] == pytest.approx(planning_seconds(one, MACHINE, 4, 400))


def test_fit_finds_the_coefficients_of_made_runs() -> None:
    def run(ranks: int, updates: float) -> Recorded:
        surface = decomposition.surface(ranks) * (updates / ranks) ** (2 / 3)
        busy = 2e-8 * updates / ranks + 3e-7 * surface + 1e-3
        sent = {}
        if ranks > 1:
            number = 3.0 * decomposition.neighbours(ranks)
            sent["ghosts"] = Sent(3.0, number, 80 * surface)
        holes = Counts(busy=5e-4, reductions=3)
        return recorded(
            ranks, updates, {"hydro": Counts(busy=busy, exchanges=sent), "black holes": holes}
        )

    fitted = [run(1, 1e6), run(2, 1e6), run(1, 1e5), run(2, 1e5)]
    found = fit(fitted)
    hydro, holes = found.components
    assert (hydro.per_update, hydro.per_surface, hydro.fixed) == pytest.approx((2e-8, 3e-7, 1e-3))
    assert (holes.per_update, holes.per_surface, holes.fixed) == pytest.approx((0, 0, 5e-4))
    assert hydro.exchanges == (
        Exchange("ghosts", 3, False, pytest.approx(1), pytest.approx(80)),
    )  # fmt: skip
    other = run(8, 1e6)
    assert predicted_busy(found, other) == pytest.approx(other.busy)
    assert messages(found, other)[0] == pytest.approx(messages(found, other)[1])
    assert sent_bytes(found, other)[0] == pytest.approx(sent_bytes(found, other)[1])


def test_coefficients_are_not_negative() -> None:
    """Values that fall where a column grows: the second coefficient is 0."""
    matrix = np.array([[1.0, 1.0], [1.0, 2.0]])
    assert non_negative_fit(matrix, np.array([3.0, 5.0])) == pytest.approx([1, 2])
    first, second = non_negative_fit(matrix, np.array([2.0, 1.0]))
    assert second == 0
    assert first == pytest.approx((1 / 2 + 1) / (1 / 4 + 1))  # least relative deviations


def test_fit_of_two_runs_of_one_size() -> None:
    runs = [
        recorded(1, 1e6, {"a": Counts(busy=1.0), "b": Counts(busy=1.0)}),
        recorded(2, 1e6, {
            "a": Counts(busy=0.6, exchanges={"ghosts": Sent(1, 1, 1)}), "b": Counts(busy=0.6),
        }),
    ]  # fmt: skip
    a, b = fit(runs).components
    assert a.fixed == 0
    assert a.per_surface * decomposition.surface(2) * 5e5 ** (2 / 3) == pytest.approx(0.1)
    assert b.per_surface == 0
    assert (b.fixed, 1e6 * b.per_update) == pytest.approx((0.2, 0.8))


def test_random_costs_of_blocks_average_out() -> None:
    assert random_imbalance(1, 4, 0.5) == 1
    assert random_imbalance(1024, 4, 0.5) == pytest.approx(1 + 0.5 * math.sqrt(math.log(1024) / 2))
    assert random_imbalance(1024, 16, 0.5) < random_imbalance(1024, 4, 0.5)


# --- telemetry -----------------------------------------------------------------------------------


def test_counts_of_a_run(tmp_path: Path) -> None:
    """Three rounds of ghost data, two kernels each, and one reduction in a step."""
    parts = {("gravity", 0): 4_000_000, ("gravity", 1): 2_000_000, ("black_holes", 0): 1_000_000}
    made = MadeUpRun(ranks=4, steps=18, cells=10_000, parts=parts).write(tmp_path / "run")
    with Telemetry(made) as telemetry:
        run = record("run", telemetry)
    assert (run.ranks, run.updates, run.blocks) == (4, 4 * 3 * 10_000, 32)
    assert run.components["gravity, base level"].busy == pytest.approx(4e-3)
    assert run.components["gravity, refined levels"].busy == pytest.approx(2e-3)
    assert run.components["black holes"].busiest == pytest.approx(1e-3)
    hydro = run.components["hydro"]
    assert hydro.launches == 3
    assert hydro.busy == pytest.approx(3 * 10_000 * 60e-9, rel=0.05)
    assert hydro.kernel_fraction == 1
    assert run.components["black holes"].kernel_fraction == 0
    other = run.components["other"]
    assert other.reductions == 1
    assert other.exchanges["ghosts"].messages == 3 * 2
    # two of sixteen steps place blocks on two levels, by one planner of 32 blocks
    assert run.planning == Planning(2 / 16, pytest.approx(2 * 150e-6 / 32), 0)
    # blocks: levels 0 and 1 have two and six blocks on each of four ranks
    assert run.granularity == [
        (pytest.approx(0.25), pytest.approx(1 / 8)), (pytest.approx(0.75), pytest.approx(1 / 24)),
    ]  # fmt: skip


def rename_tasks(run: Path, old: tuple[str, str], new: str) -> None:
    """Rename the tasks of a phase and name in the telemetry of a run."""
    for path in (run / "telemetry").glob("phases-*.parquet"):
        table = pq.read_table(path)
        names = [
            new if (row["phase"], row["name"]) == old else row["name"] for row in table.to_pylist()
        ]
        place = table.schema.get_field_index("name")
        pq.write_table(table.set_column(place, "name", [names]), path)


def test_nested_tasks_belong_to_the_outermost_component(tmp_path: Path) -> None:
    """Sweeps within the exchange of ghost data count for the exchange, as does its packing."""
    made = MadeUpRun(ranks=2, steps=4).write(tmp_path / "run")
    rename_tasks(made, ("other", "exchange"), "ghost data")
    rename_tasks(made, ("pack", "ghosts"), "sweep")
    with Telemetry(made) as telemetry:
        run = record("run", telemetry)
    exchange = run.components["ghost exchange"]
    # three rounds of packing, a message to one other rank, and unpacking; no waiting
    assert exchange.busy == pytest.approx(3 * (20_000 + 3_000 + 15_000) * 1e-9)
    assert exchange.exchanges["ghosts"].messages == 3
    assert exchange.launches == 0
    assert run.components["hydro"].launches == 3


def test_copies_belong_to_components(tmp_path: Path) -> None:
    made = MadeUpRun(ranks=2, steps=4, window=4).write(tmp_path / "run")
    (steps,) = (made / "telemetry").glob("steps-*.parquet")
    columns = [(name, ARROW[kind]) for name, (kind, _) in TABLES["copies"].items()]
    schema = pa.schema(columns).with_metadata(pq.read_schema(steps).metadata)
    copied = {"segment": 0, "rank": 0, "name": "gravity", "cargo": "fields", "way": "to_host"}
    rows = [
        copied | {"step": step, "level": level, "copies": 1, "bytes": 1000 * (level + 1)}
        for step in range(4)
        for level in (0, 1)
    ]
    path = steps.with_name(steps.name.replace("steps", "copies"))
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    with Telemetry(made) as telemetry:
        run = record("run", telemetry)
    assert run.components["gravity, base level"].copied_bytes == 1000 / 2
    assert run.components["gravity, refined levels"].copied_bytes == 2000 / 2


# --- offloading ----------------------------------------------------------------------------------


def test_speed_up_of_a_device_is_that_of_the_paper() -> None:
    """Section 9.5.1 of the cuRAMSES paper: eq. 14 with its constants, and what the text quotes."""
    multigrid = Offload(total=8752, fixed=2681, kernel=178, volume=1824)
    assert multigrid.speed_up(8, 22) == pytest.approx(1.70, abs=0.005)
    assert multigrid.speed_up(8, 12) == pytest.approx(1.53, abs=0.005)
    assert multigrid.speed_up(8, 450) == pytest.approx(1.94, abs=0.005)
    assert multigrid.speed_up(8, 1e9) == pytest.approx(1.95, abs=0.005)
    assert multigrid.device_seconds(8, 22) == pytest.approx(383 + 178 + 1824 / 22, abs=0.1)
    assert multigrid.overlapped_seconds(8, 22) == pytest.approx(383 + 1824 / 22, abs=0.1)
    best = max(range(2, 17), key=lambda threads: multigrid.speed_up(threads, 22))
    assert best == 4


# --- incompressible flow -------------------------------------------------------------------------


def test_bytes_of_a_stage_are_those_of_the_program() -> None:
    """Counts of docs/papers/ptdma.md: 64^3 cells on 2x4 ranks, implicit along z."""

    def kilobytes(method: str) -> float:
        flow = Flow((64, 64, 64), (2, 4), method)
        return (flow.bytes_in_y() + flow.bytes_in_z()) / 1e3

    assert kilobytes("ftm") == pytest.approx(1836, abs=1)
    assert kilobytes("ftm_z") == pytest.approx(1049, abs=1)
    assert kilobytes("ptdma") == pytest.approx(458, abs=1)


def test_time_of_a_stage() -> None:
    slabs = Flow((8, 8, 64), (1, 16), "ptdma", implicit=False)
    assert slabs.bytes_in_y() == 0
    assert slabs.messages() == 2 * 15
    seconds = slabs.seconds(MACHINE, 1e-8)
    assert seconds["computation"] == pytest.approx(256e-8)
    sent = 4 * 8 * 64 * 15 / 16
    assert seconds["z exchanges"] == pytest.approx(
        sent * (12 / 15) / (1e10 / 4) + 2 * sent * (3 / 15) / 1e9
    )
    assert seconds["halos"] == pytest.approx(2 * 8 * 4 * 64 / 2.5e9)
    # four ranks of a node have the same part of z: only transposes in y stay on the node
    pencils = Flow((8, 8, 64), (4, 4), "ptdma").seconds(MACHINE, 0.0)
    assert pencils["x-y transposes"] == pytest.approx(2 * 2 * 8 * 256 * (3 / 4) / 1e9)
    assert pencils["z exchanges"] == pytest.approx(4 * 8 * 16 * 4 * (3 / 4) / 2.5e9)


# --- command -------------------------------------------------------------------------------------


def test_command_predicts_and_plots(tmp_path: Path, octools: Call) -> None:
    runs = [
        MadeUpRun(ranks=n, steps=5, cells=240_000 // n, run_id=str(n)).write(tmp_path / f"r{n}")
        for n in (1, 2, 4)
    ]
    plot = tmp_path / "model.png"
    words = (*runs, "--model", "grammar", "--fit-ranks", 2, "--ranks", "8,64,512")
    result = octools("scaling", *words, "--updates", 1_000_000, "--output", plot)
    assert result.returncode == 0, result.stderr
    assert plot.is_file()
    for text in ("fitted components", "strong scaling on grammar", "weak scaling on grammar"):
        assert text in result.stdout
    assert octools("scaling", runs[0], "--model", "grammar", "-o", plot).returncode == 0
    for bad in (("--fit-ranks", 0), ("--ranks", "8,4"), ("--ranks", "a")):
        assert octools("scaling", *runs, "--model", "grammar", *bad).returncode == 2
    assert octools("scaling", *runs[1:], "--model", "grammar", "--fit-ranks", 1).returncode == 2


def test_numbers_of_ranks_ascend() -> None:
    assert rank_numbers("1,2,100000") == [1, 2, 100_000]
    for bad in ("1", "2,1", "1,1,2", "0,1", "x", ""):
        with pytest.raises(OctoolsError, match="ascending"):
            rank_numbers(bad)


def test_time_of_a_step_is_the_sum_of_its_causes() -> None:
    prediction = program(component(), component(name="b")).predict(MACHINE, 8, 8e6)
    assert total(prediction) == pytest.approx(2 * sum(prediction["b"].values()))
