#!/usr/bin/env python3
"""Digests of the first steps of every example, which a change that means no new results keeps.

    .octant/venv/bin/python tests/reference_bits.py [EXAMPLE...]

renews tests/reference_bits.json with what the built program gives, for all examples or for some,
and says what moved. Examples renewed on another kind of machine than the rest say on which.
tests/physics/test_reference_bits.py compares. Beside the digests there are projections of all
fields (tests/projections.py), for machines whose last bits differ.
`--complete` adds those that are missing, and leaves digests as they are.
"""

import argparse
import hashlib
import json
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from projections import far_from, project
from running import ROOT, Outcome, block_keys, octant, run_well
from smaller_examples import SMALLER, STEPS

REFERENCES = Path(__file__).with_suffix(".json")
RANKS = (1, 2, 3)
# Cyclic reduction adds up in an order that follows the process grid.
DEPENDS_ON_RANKS = ("paper_channel",)

ALWAYS = (
    "output.final_checkpoint=true",
    f"time.max_steps={STEPS}",
    "output.history_interval=1",
    "output.snapshot_interval=0",
    "telemetry.enabled=false",
)
# Of the header, what is part of the state.
STATE = (
    "time",
    "step",
    "scale_factor",
    "floored_cells",
    "floored_mass",
    "floored_energy",
    "mean_force",
    "step_limit",
)
# The attributes of an expanding box's energy budget, which the references hold as one list.
ENERGY_BUDGET = (
    "begun",
    "initial",
    "work",
    "log_a",
    "potential",
    "resolution",
    "resolution_before",
    "unsolved",
)

Reference = dict[str, Any]


def examples() -> list[str]:
    """Name all examples."""
    return sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))


def kept_as(example: str, ranks: int) -> str:
    """Name the reference for an example on some ranks."""
    return f"{example} on {ranks} ranks" if ranks > 1 and example in DEPENDS_ON_RANKS else example


def fingerprint() -> dict[str, str]:
    """Say what may change the last bits of a result, and is no part of Octant."""
    version = octant("--version").text
    tools = version.split("built with ", 1)[1].split("\n", 1)[0].split(", ")
    features = Path("/proc/cpuinfo").read_text().split()
    wide = [name for name in ("fma", "avx2", "avx512f") if name in features]
    return {
        "compiler": tools[0],
        "transforms": next((tool for tool in tools if tool.startswith("DUCC")), "none"),
        "mathematics": " ".join(platform.libc_ver()),
        "processor": " ".join([platform.machine(), *wide]),
    }


def first_steps(example: str, ranks: int, scratch: Path) -> Reference:
    """Run an example's first steps and digest what they give."""
    return digest(run_first_steps(example, ranks, scratch))


def run_first_steps(example: str, ranks: int, scratch: Path) -> Outcome:
    """Run an example's first steps."""
    text = (ROOT / "examples" / f"{example}.toml").read_text()
    overrides = [*ALWAYS, *SMALLER[example]]
    if example in DEPENDS_ON_RANKS:
        overrides.append(f"grid.process_grid=1x{ranks}")
    return run_well(scratch / f"{example}_{ranks}", text, *overrides, ranks=ranks)


def digest(outcome: Outcome) -> Reference:
    """Describe a run by its history, and by a digest of each field of its last state.

    Neither the order of datasets, blocks and particles in a file counts, nor how they are stored.
    """
    fields = last_state(outcome)
    return {
        "history": {name: column.tolist() for name, column in outcome.history().items()},
        "fields": {name: digest_of(arrays) for name, arrays in sorted(fields.items())},
        "projections": project(fields),
    }


def last_state(outcome: Outcome) -> dict[str, list[np.ndarray]]:
    """Read all fields of the last snapshot and of the checkpoint after it."""
    checkpoint = sorted(outcome.directory.glob("checkpoint_*.h5"))[-1]
    return state_of(outcome.last_snapshot) | state_of(checkpoint)


def digest_of(arrays: list[np.ndarray]) -> str:
    found = hashlib.blake2b(digest_size=6)
    for array in arrays:
        found.update(np.ascontiguousarray(array, "<f8" if array.dtype.kind == "f" else "<i8"))
    return found.hexdigest()


def state_of(path: Path) -> dict[str, list[np.ndarray]]:
    """Read the state of a snapshot or checkpoint by name: one array, or one for each level."""
    found: dict[str, list[np.ndarray]] = {}
    with h5py.File(path) as file:
        header = file["header"].attrs
        found |= {f"header/{name}": [header[name]] for name in STATE if name in header}
        if "energy_budget_begun" in header:
            values = [header[f"energy_budget_{name}"] for name in ENERGY_BUDGET]
            found["header/energy_budget"] = [np.array(values, float)]

        def collect(place: str, item: h5py.Group | h5py.Dataset) -> None:
            group, _, last = place.rpartition("/")
            if isinstance(item, h5py.Dataset) and last != "owner":
                values = block_keys(file[group]) if last == "key" else item[...]
                order = order_of(file, group)
                found.setdefault(without_level(place), []).append(
                    values if order is None else values[order]
                )
            elif last.startswith("level_") and "time" in item.attrs:
                found.setdefault(f"{group}/time", []).append(item.attrs["time"])

        file.visititems(collect)
    return found


def order_of(file: h5py.File, group: str) -> np.ndarray | None:
    """Give the order of blocks by key or of particles by id, for the datasets of a group."""
    level = group.rpartition("/")[2]
    if level.startswith("level_"):
        return np.argsort(block_keys(file[f"mesh/{level}"]), kind="stable")
    return np.argsort(file[f"{group}/id"][...], kind="stable") if f"{group}/id" in file else None


def without_level(place: str) -> str:
    return "/".join(part for part in place.split("/") if not part.startswith("level_"))


def differences(found: Reference, reference: Reference) -> list[str]:
    """Say what differs from a reference: what the history shows first, and the fields at the end.

    What only the new run has does not count.
    """
    wrong = [
        f"{name} {'differs' if name in found['fields'] else 'is gone'}"
        for name, expected in reference["fields"].items()
        if found["fields"].get(name) != expected
    ]
    if wrong:
        wrong = [f"after {STEPS} steps: {', '.join(wrong)}"]
    return first_in_history(found["history"], reference["history"]) + wrong


def first_in_history(found: dict[str, list[float]], reference: dict[str, list[float]]) -> list[str]:
    gone = [f"history.csv: {name} is gone" for name in reference if name not in found]
    for step in range(STEPS + 1):
        changed = [
            f"{name} {found[name][step : step + 1]}, was {values[step : step + 1]}"
            for name, values in reference.items()
            if name in found and found[name][step : step + 1] != values[step : step + 1]
        ]
        if changed:
            return [*gone, f"history.csv, first in step {step}: {', '.join(changed)}"]
    return gone


# Columns of history.csv that are compared on one scale, because one may be the round-off of others.
# Columns in no group are not compared: they are sums of compared fields, or too inexact.
COUNTS = ("step", "blocks", "leaf_cells")
GROUPS = (
    ("time", "dt"),
    ("a",),
    ("mass",),
    ("kinetic", "internal", "potential", "total_energy"),
    ("absolute_momentum",),
    ("kinetic_u", "kinetic_v", "kinetic_w"),
    ("max_u", "max_v", "max_w"),
)


def departures(outcome: Outcome, reference: Reference, bound: float) -> list[str]:
    """Say what differs from a reference by more than round-off."""
    history, expected = outcome.history(), reference["history"]
    wrong = [
        f"history.csv: {name} {history[name].tolist()}, was {values}"
        for name, values in expected.items()
        if name.startswith(COUNTS) and history[name].tolist() != values
    ]
    for group in GROUPS:
        names = [name for name in group if name in expected]
        scale = max((np.abs(expected[name]).max() for name in names), default=0.0)
        for name in names:
            difference = np.abs(history[name] - expected[name]).max()
            if not difference <= bound * scale:
                wrong.append(f"history.csv: {name} differs by {difference / scale:.1e}")
    found = project(last_state(outcome), reference["projections"])
    return wrong + far_from(found, reference["projections"], bound)


def load() -> Reference:
    """Read the references: `made_with`, and `examples` by name."""
    return json.loads(REFERENCES.read_text())


def save(references: Reference) -> None:
    """Write the references, each field and each column in a line."""
    in_order = references | {"examples": dict(sorted(references["examples"].items()))}
    text = json.dumps(in_order, indent=1)
    text = re.sub(r"\s+(?=[^][]*\])", " ", text).replace("[ ", "[").replace(" ]", "]")
    REFERENCES.write_text(text + "\n")


def complete() -> int:
    """Add missing projections where the digests are those of the program; return the exit code."""
    references, code = load(), 0
    for name, reference in references["examples"].items():
        if "projections" in reference:
            continue
        example, ranks = re.fullmatch(r"(\w+)(?: on (\d+) ranks)?", name).groups()
        with tempfile.TemporaryDirectory() as scratch:
            found = first_steps(example, int(ranks or 1), Path(scratch))
        if wrong := differences(found, reference):
            print(f"{name}: {'; '.join(wrong)}", flush=True)
            code = 1
        else:
            reference["projections"] = found["projections"]
    save(references)
    return code


def main() -> int:
    """Renew references; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="all unless some are given")
    parser.add_argument("--complete", action="store_true", help="add projections that are missing")
    arguments = parser.parse_args()
    if arguments.complete:
        return complete()
    chosen = arguments.examples
    old = load() if REFERENCES.exists() else {"made_with": {}, "examples": {}}
    made_with = fingerprint()
    kept = old["examples"] if chosen else {}
    for example in chosen or examples():
        with tempfile.TemporaryDirectory() as scratch:
            for ranks in RANKS if example in DEPENDS_ON_RANKS else RANKS[:1]:
                name = kept_as(example, ranks)
                before = old["examples"].get(name)
                kept[name] = first_steps(example, ranks, Path(scratch))
                if chosen and made_with != old["made_with"]:
                    kept[name]["made_with"] = made_with
                moved = differences(kept[name], before) if before else ["is new"]
                print(f"{name}: {'; '.join(moved) or 'unchanged'}", flush=True)
    save({"made_with": old["made_with"] if chosen else made_with, "examples": kept})
    return 0


if __name__ == "__main__":
    sys.exit(main())
