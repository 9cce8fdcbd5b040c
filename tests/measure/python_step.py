#!/usr/bin/env python3
"""Measures what Python and a callback add to a step: processor time, within one run.

    ./octant test bindings                # builds build/release/octant-python
    OMP_NUM_THREADS=1 build/release/octant-python tests/measure/python_step.py

Pieces of one run are taken in turns by the compiled step alone and by sim.step() with a callback
that reads time and step: two processes of the same program differ by some per cent from memory to
memory, pieces of one do not. Whatever else a busy machine does adds time and takes none away: the
least of the pieces counts. The exit code is 1 if a step in Python takes more than 1 % longer.
"""

import math
import sys
import tempfile
import time
from collections.abc import Callable

import octant

MOST = 0.01
CELLS, STEPS, TURNS = 32, 40, 30
CASE = {
    "model": "amr",
    "problem": {"name": "kelvin_helmholtz"},
    "mesh": {"base_cells": [CELLS] * 3, "block_size": 16},
    "time": {"end": 1e9},
    "telemetry": {"enabled": False},
}


def seconds_per_step(step: Callable[[], object]) -> float:
    """Take some steps, and give the processor time of each."""
    begin = time.process_time()
    for _ in range(STEPS):
        step()
    return (time.process_time() - begin) / STEPS


def main() -> int:
    """Alternate, and print what a step takes."""
    with tempfile.TemporaryDirectory() as folder:
        sim = octant.Simulation(CASE, output=f"{folder}/run")
        seen = []
        sim.on_step(lambda sim: seen.append((sim.time, sim.step_count)))
        compiled, python = math.inf, math.inf
        for _ in range(TURNS):
            compiled = min(compiled, seconds_per_step(lambda: sim._core.step(math.inf)))
            python = min(python, seconds_per_step(sim.step))
        sim.close()
    more = python / compiled - 1
    print(
        f"{CELLS}^3 cells: {1e3 * compiled:.4f} ms of processor time a step, "
        f"{1e3 * python:.4f} ms with Python and a callback: {100 * more:+.2f} %"
    )
    return int(more > MOST)


if __name__ == "__main__":
    sys.exit(main())
