"""Runs of shortened examples, plain and transformed, for the tests of this folder."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from flow_geometry import FlowMotion, write_flow
from geometry import AXES, Domain, Motion, State, read_state
from scaling import NAMED, NONE, Dimension, Scales, dimension, scaled_parameters, toml

from running import ROOT, Array, Outcome, run_well
from smaller_examples import SMALLER, STEPS

Parameters = dict[str, Any]
ALWAYS = (
    "output.history_interval=1",
    "output.snapshot_interval=0",
    "output.final_checkpoint=true",
    "telemetry.enabled=false",
)
# So that the residual of the Poisson equation, which depends on the orientation of the red and
# black cells, is next to round-off.
TOLERANCE = 1e-12

# The smallest scale, and the smallest difference of arrays that differ, whose ratio may underflow.
LEAST = np.finfo(float).tiny

Differences = dict[str, float]


def text_of(example: str) -> str:
    """Give the parameter file of an example."""
    return (ROOT / f"examples/{example}.toml").read_text()


def is_flow(example: str) -> bool:
    """Whether an example is an incompressible flow."""
    return 'model = "dns"' in text_of(example)


def parameters_of(outcome: Outcome) -> Parameters:
    """Read all parameters of a run; [units] only where the example has it."""
    parameters = tomllib.loads((outcome.directory / "run.toml").read_text())
    if "[units]" not in outcome.parameters:
        parameters.pop("units", None)
    return parameters


def write_parameters(parameters: Mapping[str, Any]) -> str:
    """Write parameters as TOML."""
    sections = {name: values for name, values in parameters.items() if isinstance(values, dict)}
    return toml({"": {"model": parameters["model"]}} | sections)


class Runs:
    """Runs of one example, made at their first use."""

    def __init__(self, example: str, folder: Path) -> None:
        self.example, self.folder = example, folder
        self.plain = cache(self._plain)

    def _plain(self, steps: int = STEPS, *overrides: str, threads: int = 1) -> Outcome:
        name = "_".join(["plain", str(steps), *overrides, str(threads)])
        name = "".join(c if c.isalnum() else "_" for c in name)
        how = (*ALWAYS, *SMALLER[self.example], f"time.max_steps={steps}", *overrides)
        return run_well(self.folder / name, text_of(self.example), *how, threads=threads)

    def other(self, name: str, parameters: Mapping[str, Any], **how: Any) -> Outcome:
        """Run with other parameters."""
        return run_well(self.folder / name, write_parameters(parameters), **how)


# --- Units ---

# The same densities, so that powers of densities are the same too.
SCALES = {"units": Scales(5, 15, -7), "mass": Scales(0, -40, 0)}
MOMENTA = ("momentum_x", "momentum_y", "momentum_z", "absolute_momentum")
DIMENSIONS_OF_COLUMNS: dict[str, Dimension] = {
    **dict.fromkeys(("time", "dt"), NAMED["time"]),
    **dict.fromkeys(("mass", "floored_mass", "outflow_mass"), NAMED["mass"]),
    **dict.fromkeys(MOMENTA, (1, 1, -1)),
    **dict.fromkeys(
        ("kinetic", "internal", "potential", "total_energy", "floored_energy", "outflow_energy"),
        NAMED["energy"],
    ),
}


def scaled_differences(runs: Runs, scales: Scales) -> Differences:
    """Compare a run with the same run in other units."""
    plain = runs.plain()
    scaled = scaled_parameters((plain.directory / "run.toml").read_text(), scales)
    if "[units]" not in text_of(runs.example):
        scaled.pop("units", None)
    name = f"scaled_{scales.length}_{scales.mass}_{scales.time}"
    outcome = run_well(runs.folder / name, toml(scaled))
    result: Differences = {}
    for pattern in ("snap_*.h5", "checkpoint_*.h5"):
        files = [sorted(o.directory.glob(pattern))[-1] for o in (outcome, plain)]
        result |= scaled_file_differences(*files, scales)
    if not is_flow(runs.example):
        rows, expected = outcome.history(), plain.history()
        assert rows.keys() == expected.keys()
        for column, values in expected.items():
            factor = scales.factor(DIMENSIONS_OF_COLUMNS.get(column, NONE))
            if column in DIMENSIONS_OF_COLUMNS or "cells" in column:
                group = MOMENTA if column in MOMENTA else (column,)
                scale = max(np.abs(expected[name]).max() for name in group)
                result[f"history {column}"] = relative(
                    rows[column], values * factor, scale * factor
                )
    return result


def relative(found: Array, expected: Array, scale: float = 0.0) -> float:
    """Give the largest difference over the scale or the largest value; 0 for the same bits."""
    if np.array_equal(found, expected):
        return 0.0
    scale = max(scale, np.abs(expected).max(), LEAST)
    return max(float(np.abs(found - expected).max() / scale), LEAST)


def scaled_file_differences(path: Path, reference: Path, scales: Scales) -> Differences:
    """Compare all datasets of two files whose units differ, by the units that they state."""
    result: Differences = {}
    with h5py.File(path) as one, h5py.File(reference) as other:
        gamma = float(other["header"].attrs.get("gamma", 1.0))
        factor = scales.factor(NAMED["time"])
        result["time"] = relative(
            one["header"].attrs["time"], other["header"].attrs["time"] * factor
        )
        names: list[str] = []
        other.visit(names.append)
        for name in names:
            if not isinstance(other[name], h5py.Dataset):
                continue
            assert name in one, f"{name} is missing in other units"
            unit = other[name].attrs["units"]
            if unit == "mixed":  # sums of the statistics, quantities of several units in a row
                continue
            if unit in ("code", "code mass / length^3"):
                units = entropy_dimension(gamma - (unit != "code"))
            else:
                units = dimension(unit) or NONE
            found, expected = one[name][...], other[name][...]
            assert found.shape == expected.shape, f"{name} has another shape in other units"
            if units != NONE:
                expected = expected * scales.factor(units)
            result[name] = relative(found, expected)
    return result


def entropy_dimension(power: float) -> Dimension:
    """Give the dimension of pressure over a power of the density."""
    pressure, density = NAMED["pressure"], NAMED["density"]
    return tuple(p - power * d for p, d in zip(pressure, density, strict=True))


# --- Geometry of compressible runs ---

MOTIONS = {
    "mirror x": Motion(mirrored=(True, False, False)),
    "mirror y": Motion(mirrored=(False, True, False)),
    "mirror z": Motion(mirrored=(False, False, True)),
    "x to y to z": Motion(axes=(1, 2, 0)),
    "swap x and y": Motion(axes=(1, 0, 2)),
}


def begin(runs: Runs, name: str, state: State, parameters: Parameters, **how: Any) -> Outcome:
    """Run an example's first steps from a file; gas enters at no side."""
    path = runs.folder / f"{name}.h5"
    state.write(path)
    kinds = list(state.particles)
    problem = {"name": "file", "path": str(path), "particles": kinds, "hold_levels": False}
    changed = parameters | {"problem": problem}
    changed["mesh"] = dict(changed["mesh"])
    for axis in AXES:
        sides = changed["mesh"][f"boundary_{axis}"]
        changed["mesh"][f"boundary_{axis}"] = ["open" if s == "inflow" else s for s in sides]
    changed["time"] = changed["time"] | {"max_steps": STEPS} | how
    changed["gravity"] = changed["gravity"] | {"tolerance": TOLERANCE}
    return runs.other(name, changed)


def initial_state(runs: Runs, *overrides: str, whole: tuple[int, ...] = ()) -> State:
    """Read what an example begins with."""
    path = runs.plain(0, *overrides).last_snapshot
    with h5py.File(path) as file:
        groups = file.get("particles", {})
        kinds = tuple(kind for kind in groups if len(groups[kind]["id"]))
    return read_state(path, whole, kinds)


def shift_of(domain: Domain) -> tuple[int, ...]:
    """Choose by how many base blocks a periodic domain moves."""
    blocks = domain.base_cells // domain.block_size
    return tuple(int(min(d + 1, blocks[d] - 1)) if domain.periodic[d] else 0 for d in range(3))


# --- Incompressible flows ---

FLOW_MOTIONS = {
    "mirror x": FlowMotion(mirrored=0),
    "mirror y": FlowMotion(mirrored=1),
    "mirror z": FlowMotion(mirrored=2),
    "swap x and y": FlowMotion(exchanged=True),
}


def begin_flow(
    runs: Runs, name: str, flow: Mapping[str, Array], parameters: Parameters, **time: float
) -> Outcome:
    """Run an example's steps from stored fields."""
    path = runs.folder / f"{name}.h5"
    write_flow(path, flow, parameters)
    changed = parameters | {"problem": {"name": "stored_flow", "path": str(path)}}
    changed["time"] = changed["time"] | {"max_steps": STEPS} | time
    return runs.other(name, changed)
