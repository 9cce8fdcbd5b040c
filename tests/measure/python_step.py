#!/usr/bin/env python3
"""Measures what a step costs more in Python: processor time, beside runs of the program itself.

    ./octant test bindings                # builds build/release/octant-python
    OCTANT_PROGRAM=build/release/octant .octant/venv/bin/python tests/measure/python_step.py

Three drivers take the same steps of the same file in turns: `octant run`; a script that calls
sim.run(); one that calls sim.step() itself, with a callback that reads time and step. Two runs of
each, one longer than the other, leave what lies between start and end out. Whatever else a busy
machine does adds time and takes none away: the least of several turns counts. The exit code is 1 if
a step in Python takes more than 1 % longer.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from running import octant_command, octant_environment, program

MOST = 0.01
CASE = """
model = "amr"

[problem]
name = "kelvin_helmholtz"

[mesh]
base_cells = [{cells}, {cells}, {cells}]
block_size = 16

[time]
end = 1e9

[telemetry]
enabled = false
"""
SCRIPTS = {
    "sim.run()": "sim.run()",
    "sim.step(), with a callback": """
seen = []
sim.on_step(lambda sim: seen.append((sim.time, sim.step_count)))
while sim.step():
    pass
assert len(seen) == {steps}
""",
}
BEGIN = """
import octant
sim = octant.Simulation({file!r}, {{"time.max_steps": {steps}}}, output={output!r})
"""


def processor_seconds(command: list[str | Path]) -> float:
    """Run a command on one thread, and give the processor time that it took."""
    before = os.times()
    done = subprocess.run(command, env=octant_environment(), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"it failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    after = os.times()
    return (
        after.children_user
        + after.children_system
        - (before.children_user + before.children_system)
    )


def command_of(how: str, file: Path, steps: int, output: Path) -> list[str | Path]:
    """Give the command line of a driver."""
    if how == "octant run":
        changed = ["--set", f"time.max_steps={steps}", "--output", output]
        return [*octant_command("run", file), *changed]
    text = BEGIN.format(file=str(file), steps=steps, output=str(output))
    script = output.with_suffix(".py")
    script.write_text(text + SCRIPTS[how].format(steps=steps))
    return [program().with_name("octant-python"), script]


def main() -> int:
    """Take turns, and print what a step takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=64, help="along a side")
    parser.add_argument("--steps", type=int, default=100, help="beyond the ten of the shorter run")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    drivers = ("octant run", *SCRIPTS)
    counts = (10, 10 + given.steps)
    least = dict.fromkeys(((how, n) for how in drivers for n in counts), float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "case.toml"
        file.write_text(CASE.format(cells=given.cells))
        for turn in range(given.turns):
            for number, (how, steps) in enumerate(least):
                command = command_of(how, file, steps, Path(folder) / f"{turn}_{number}")
                least[how, steps] = min(least[how, steps], processor_seconds(command))
    step = {how: (least[how, counts[1]] - least[how, counts[0]]) / given.steps for how in drivers}
    worst = 0.0
    for how, seconds in step.items():
        more = seconds / step["octant run"] - 1
        worst = max(worst, more)
        print(f"{how:<30} {1e3 * seconds:8.3f} ms of processor time a step  {100 * more:+.2f} %")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
