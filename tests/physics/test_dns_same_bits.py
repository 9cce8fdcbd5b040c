"""With the full transpose, a flow has the same bits on any process grid and across restarts."""

from pathlib import Path

import h5py
import pytest

from flows import (
    SMALL_CAVITY,
    SMALL_CHANNEL,
    SMALL_DUCT,
    SMALL_FOUNTAIN,
    SMALL_VORTICES,
    differing_fields,
    fields,
    largest_difference,
)
from running import run_well

CASES = {
    "channel_explicit": (SMALL_CHANNEL, "explicit"),
    "channel_implicit_z": (SMALL_CHANNEL, "implicit_z"),
    "vortices_implicit_z": (SMALL_VORTICES, "implicit_z"),
    "cavity_implicit": (SMALL_CAVITY, "implicit"),
    "duct_implicit_z": (SMALL_DUCT, "implicit_z"),
    "fountain_explicit": (SMALL_FOUNTAIN, "explicit"),
    "fountain_implicit": (SMALL_FOUNTAIN, "implicit"),
}
STATISTICS = "statistics.interval=3"


def on_ranks(directory: Path, flow: str, processes: str, *overrides: str, **how: object):
    y, z = map(int, processes.split("x"))
    return run_well(
        directory / processes,
        flow,
        f"grid.process_grid={processes}",
        STATISTICS,
        *overrides,
        ranks=y * z,
        **how,
    )


def statistics(directory: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with h5py.File(directory / "statistics.h5") as file:
        file.visititems(
            lambda name, data: (
                found.update({name: data[...].tobytes()})
                if isinstance(data, h5py.Dataset)
                else None
            )
        )
    return found


@pytest.mark.parametrize("case", CASES)
def test_process_grids_give_the_same_bits(case: str, tmp_path: Path) -> None:
    flow, diffusion = CASES[case]
    alone = on_ranks(tmp_path, flow, "1x1", f"dns.diffusion={diffusion}")
    for processes in ("1x2", "2x1", "2x2"):
        other = on_ranks(tmp_path, flow, processes, f"dns.diffusion={diffusion}")
        assert differing_fields(other.last_snapshot, alone.last_snapshot) == [], processes
        history = [(r.directory / "history.csv").read_text() for r in (other, alone)]
        assert history[0] == history[1]
        assert statistics(other.directory) == statistics(alone.directory)


@pytest.mark.parametrize("case", CASES)
def test_threads_give_the_same_bits(case: str, tmp_path: Path) -> None:
    flow, diffusion = CASES[case]
    one, two = (
        on_ranks(tmp_path / str(n), flow, "1x1", f"dns.diffusion={diffusion}", threads=n)
        for n in (1, 2)
    )
    assert differing_fields(two.last_snapshot, one.last_snapshot) == []
    history = [(r.directory / "history.csv").read_text() for r in (two, one)]
    assert history[0] == history[1]


@pytest.mark.parametrize("processes", ["1x1", "1x3", "2x2"])
@pytest.mark.parametrize("case", CASES)
def test_schedules_give_the_same_bits(case: str, processes: str, tmp_path: Path) -> None:
    flow, diffusion = CASES[case]
    planes = on_ranks(
        tmp_path / "planes",
        flow,
        "1x1",
        f"dns.diffusion={diffusion}",
        "dns.schedule=planes",
        threads=2,
    )
    batches = on_ranks(
        tmp_path / "batches",
        flow,
        processes,
        f"dns.diffusion={diffusion}",
        "dns.schedule=batches",
        threads=2 if processes == "1x1" else 1,
    )
    assert "in batches" in batches.text
    assert differing_fields(batches.last_snapshot, planes.last_snapshot) == []
    history = [(r.directory / "history.csv").read_text() for r in (batches, planes)]
    assert history[0] == history[1]
    assert statistics(batches.directory) == statistics(planes.directory)


# Explicit, z-implicit and implicit diffusion; walls, and a periodic box.
ALL_GRIDS = ("channel_explicit", "channel_implicit_z", "vortices_implicit_z", "cavity_implicit")
GRIDS = ("1x1", "1x2", "2x1", "1x3", "3x1", "2x2", "2x3")


@pytest.mark.parametrize("case", CASES)
def test_pencils_along_z_give_the_same_bits(case: str, tmp_path: Path) -> None:
    flow, diffusion = CASES[case]
    setting = f"dns.diffusion={diffusion}"
    alone = on_ranks(tmp_path, flow, "1x1", setting)
    for processes in GRIDS if case in ALL_GRIDS else ("1x2", "2x2"):
        other = on_ranks(tmp_path / "z", flow, processes, setting, "dns.pencil_axis=z")
        assert "in batches, pencils along z" in other.text
        assert differing_fields(other.last_snapshot, alone.last_snapshot) == [], processes
        history = [(r.directory / "history.csv").read_text() for r in (other, alone)]
        assert history[0] == history[1], processes
        assert statistics(other.directory) == statistics(alone.directory), processes


@pytest.mark.parametrize(("first", "second"), [("x", "z"), ("z", "x")])
@pytest.mark.parametrize("case", ["channel_implicit_z", "vortices_implicit_z", "fountain_implicit"])
def test_a_restart_in_other_pencils_gives_the_same_bits(
    case: str, first: str, second: str, tmp_path: Path
) -> None:
    flow, diffusion = CASES[case]
    setting = f"dns.diffusion={diffusion}"
    whole = on_ranks(tmp_path, flow, "1x1", setting)
    cut = tmp_path / "cut"
    run_well(
        cut,
        flow,
        setting,
        STATISTICS,
        "grid.process_grid=1x3",
        f"dns.pencil_axis={first}",
        "time.max_steps=7",
        ranks=3,
    )
    resumed = run_well(
        cut,
        flow,
        setting,
        STATISTICS,
        "grid.process_grid=2x2",
        f"dns.pencil_axis={second}",
        restart="latest",
        ranks=4,
    )
    assert "at step 7" in resumed.text
    assert differing_fields(resumed.last_snapshot, whole.last_snapshot) == []
    assert statistics(resumed.directory) == statistics(whole.directory)
    history = [(r.directory / "history.csv").read_text() for r in (resumed, whole)]
    assert history[0] == history[1]


# What P-TDMA makes of lines depends on the process grid.
@pytest.mark.parametrize("processes", ["1x3", "2x2"])
@pytest.mark.parametrize("case", ["vortices_implicit_z", "cavity_implicit", "fountain_implicit"])
def test_schedules_give_the_same_bits_with_ptdma(case: str, processes: str, tmp_path: Path) -> None:
    flow, diffusion = CASES[case]
    planes, batches = (
        on_ranks(
            tmp_path / schedule,
            flow,
            processes,
            f"dns.diffusion={diffusion}",
            f"dns.schedule={schedule}",
            "dns.poisson=ptdma",
        )
        for schedule in ("planes", "batches")
    )
    assert differing_fields(batches.last_snapshot, planes.last_snapshot) == []
    history = [(r.directory / "history.csv").read_text() for r in (batches, planes)]
    assert history[0] == history[1]


def test_backends_give_the_same_bits(tmp_path: Path) -> None:
    alone = on_ranks(tmp_path, SMALL_CHANNEL, "1x1")
    for schedule in ("planes", "batches"):
        for backend in ("pairwise", "alltoall", "ksection", "shared"):
            other = on_ranks(
                tmp_path / schedule / backend,
                SMALL_CHANNEL,
                "2x2",
                f"dns.schedule={schedule}",
                f"grid.transpose={backend}",
            )
            assert differing_fields(other.last_snapshot, alone.last_snapshot) == [], backend


@pytest.mark.parametrize(
    "case", ["channel_implicit_z", "cavity_implicit", "duct_implicit_z", "fountain_implicit"]
)
def test_a_restart_on_another_process_grid_gives_the_same_bits(case: str, tmp_path: Path) -> None:
    # From batches to planes, too.
    flow, diffusion = CASES[case]
    setting = f"dns.diffusion={diffusion}"
    whole = on_ranks(tmp_path, flow, "1x1", setting)
    cut = tmp_path / "cut"
    run_well(
        cut,
        flow,
        setting,
        STATISTICS,
        "grid.process_grid=1x1",
        "dns.schedule=batches",
        "time.max_steps=7",
    )
    second = run_well(
        cut,
        flow,
        setting,
        STATISTICS,
        "grid.process_grid=2x2",
        restart="latest",
        ranks=4,
    )
    assert "at step 7" in second.text
    assert differing_fields(second.last_snapshot, whole.last_snapshot) == []
    assert statistics(second.directory) == statistics(whole.directory)
    history = [(r.directory / "history.csv").read_text() for r in (second, whole)]
    assert history[0] == history[1]


def test_cyclic_reduction_agrees_to_round_off(tmp_path: Path) -> None:
    for case in (
        "channel_implicit_z",
        "vortices_implicit_z",
        "cavity_implicit",
        "fountain_implicit",
    ):
        flow, diffusion = CASES[case]
        setting = f"dns.diffusion={diffusion}"
        alone = on_ranks(tmp_path / case, flow, "1x1", setting)
        other = on_ranks(tmp_path / case, flow, "1x3", setting, "dns.poisson=ptdma")
        a, b = fields(alone.last_snapshot), fields(other.last_snapshot)
        assert largest_difference(a, b, "uvwp") < 1e-12, case


def test_cyclic_reduction_restarts_on_another_process_grid_to_round_off(tmp_path: Path) -> None:
    setting = ("dns.diffusion=implicit_z", "dns.poisson=ptdma")
    whole = on_ranks(tmp_path, SMALL_CHANNEL, "1x2", *setting)
    cut = tmp_path / "cut"
    stopped = "time.max_steps=7"
    run_well(cut, SMALL_CHANNEL, *setting, "grid.process_grid=1x2", stopped, ranks=2)
    second = run_well(
        cut, SMALL_CHANNEL, *setting, "grid.process_grid=2x2", restart="latest", ranks=4
    )
    assert "at step 7" in second.text
    a, b = fields(second.last_snapshot), fields(whole.last_snapshot)
    assert largest_difference(a, b, "uvwp") < 1e-12
