"""Rooflines: rates of kernels, and their shares of what the machine can do."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Call
from made_up_run import MadeUpRun

from octools.telemetry.database import Telemetry
from octools.telemetry.roofline import COLUMNS, Machine, kernels, share_that_counts


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return MadeUpRun(ranks=2, steps=4).write(tmp_path / "run")


def test_rates_are_work_over_time(run: Path) -> None:
    with Telemetry(run) as telemetry:
        sweep, fluxes = kernels(telemetry)
    assert (sweep.name, fluxes.name) == ("hydro::sweep", "hydro::fluxes")
    assert sweep.share + fluxes.share == pytest.approx(1.0)
    assert sweep.calls == 4 * 2 * 3
    limits = Machine(bytes_per_second=20e9, operations_per_second=40e9)
    row = dict(zip(COLUMNS, sweep.row(limits), strict=True))
    # 60 ns, 80 bytes and 600 operations for a cell, give or take the time of a sweep
    assert float(row["ns/item"]) == pytest.approx(60, rel=0.05)
    assert (row["B/item"], row["op/item"]) == ("80", "600")
    assert float(row["GB/s"]) == pytest.approx(80 / 60, rel=0.05)
    assert float(row["% of memory"]) == pytest.approx(100 * 80 / 60 / 20, rel=0.05)
    assert float(row["% of arithmetic"]) == pytest.approx(100 * 10 / 40, rel=0.05)


def test_table_with_and_without_a_machine(octools: Call, run: Path, tmp_path: Path) -> None:
    machine = tmp_path / "health.json"
    measured = {"bytes_per_second_median": 2e10, "flops_per_second_median": 4e10}
    machine.write_text(json.dumps([measured]))
    plain, full = octools("roofline", run), octools("roofline", run, "--machine", machine)
    assert plain.returncode == full.returncode == 0
    assert len(plain.stdout.splitlines()) == 5
    assert len(full.stdout.splitlines()) == 4
    assert not {"memory", "arithmetic"} & set(plain.stdout.splitlines()[0].split())
    assert "--machine FILE" in plain.stdout.splitlines()[-1]
    assert len(full.stdout.splitlines()[1].split()) == len(COLUMNS)
    assert len(plain.stdout.splitlines()[1].split()) == len(COLUMNS) - 2


def test_kernels_that_say_nothing_of_themselves_have_no_rates(octools: Call, run: Path) -> None:
    with Telemetry(run) as telemetry:
        sweep, fluxes = kernels(telemetry)
    silent = replace(fluxes, items=0, bytes=0, operations=0)
    assert share_that_counts([sweep, silent]) == pytest.approx(sweep.share)
    assert silent.row(None)[3:-1] == [""] * 7
    assert "% of the kernel time has known rates\n" in octools("roofline", run).stdout


def test_what_is_no_measurement_is_refused(octools: Call, run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"cells": 3}')
    result = octools("roofline", run, "--machine", other)
    assert result.returncode == 2
    assert "octant bench health --json" in result.stderr


def test_a_run_without_kernels_says_so(octools: Call, run: Path) -> None:
    for file in (run / "telemetry").glob("kernels-*"):
        file.unlink()
    result = octools("roofline", run)
    assert result.returncode == 2
    assert "no table of kernels" in result.stderr
