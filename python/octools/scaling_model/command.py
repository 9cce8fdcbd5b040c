"""Prediction of scaling for the command line."""

from __future__ import annotations

from pathlib import Path

from octools.errors import OctoolsError
from octools.scaling_model.machine import Machine, find_machine
from octools.scaling_model.model import Program, curve, fit
from octools.scaling_model.recorded import record
from octools.scaling_model.report import (
    curve_table,
    fit_table,
    save_curves,
    validation_table,
)
from octools.telemetry.several import Runs


def predict(
    runs: Runs, model: str, ranks: str, updates: int | None, fit_ranks: int | None, path: Path
) -> None:
    """Fit the model to runs, compare it with the others, and predict strong and weak scaling."""
    machine, numbers = find_machine(model), rank_numbers(ranks)
    recorded = [record(name, telemetry) for name, telemetry in runs.runs.items()]
    fitted = [run for run in recorded if fit_ranks is None or run.ranks <= fit_ranks]
    if not fitted:
        raise OctoolsError(f"--fit-ranks {fit_ranks}: no run has at most {fit_ranks} ranks")
    program = fit(fitted)
    print(fit_table(program), end="\n\n")
    print(validation_table(program, recorded), end="\n\n")
    curves = [
        curve(program, machine, kind, numbers, float(updates or program.updates))
        for kind in ("strong", "weak")
    ]
    for each in curves:
        print(curve_table(each, machine), end="\n\n")
    print(_assumptions(machine, program))
    save_curves(curves, machine, path)
    print(f"wrote {path}")


def rank_numbers(text: str) -> list[int]:
    """Read ascending numbers of ranks, separated by commas."""
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) < 2 or numbers[0] < 1 or sorted(set(numbers)) != numbers:
        raise OctoolsError(f"--ranks {text}: expected two or more ascending numbers of ranks")
    return numbers


def _assumptions(machine: Machine, program: Program) -> str:
    text = f"machine {machine.name}: {machine.source}; communication does not overlap"
    copied = sum(component.copied_bytes for component in program.components)
    return (
        f"{text}; {copied:.3g} bytes per update between host and device"
        if machine.has_gpu
        else text
    )
