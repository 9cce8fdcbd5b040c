"""Octant in Python: the same bits as the program, memory without copies, functions, errors."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Script

from flows import SMALL_CHANNEL, fields
from inputs import DRIFTING_BLAST
from running import ROOT, Outcome, assert_same_run, differing, run_well


def assert_well(outcome: Outcome) -> None:
    assert outcome.code == 0, outcome.text


BLAST = """
import sys
import numpy as np
import octant

if "mpi" in sys.argv:
    from mpi4py import MPI
    communicator = MPI.COMM_WORLD
else:
    communicator = None
sim = octant.Simulation("blast.toml", output="run", communicator=communicator)
masses = []

@sim.on_step
def weigh(sim):
    mass = 0.0
    for number in range(sim.finest_level + 1):
        level = sim.level(number)
        density = level["density"][level.slots]
        assert (density == level.read("density")).all()
        mass += density[level.leaf].sum() * level.cell_size**3
    masses.append(mass)

sim.run()
if communicator is not None:
    masses = communicator.allreduce(np.array(masses))
    assert MPI.Is_initialized() and not MPI.Is_finalized()
if communicator is not None or sim.ranks == 1:
    np.testing.assert_allclose(masses, masses[0], rtol=1e-12)
assert len(masses) == sim.step_count == 12
"""


@pytest.fixture(scope="module")
def blast(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Let the program run a blast."""
    return run_well(tmp_path_factory.mktemp("blast") / "run", DRIFTING_BLAST)


@pytest.mark.parametrize(("ranks", "how"), [(1, ""), (1, "mpi"), (2, "mpi"), (3, "")])
def test_a_script_gets_the_bits_of_the_program(
    script: Script, blast: Outcome, ranks: int, how: str, tmp_path: Path
) -> None:
    (tmp_path / "blast.toml").write_text(DRIFTING_BLAST)
    outcome = script(BLAST, how, ranks=ranks)
    assert_well(outcome)
    assert_same_run(Outcome(0, "", tmp_path / "run"), blast)


def test_the_example_draws_sod(script: Script, tmp_path: Path) -> None:
    text = (ROOT / "examples/python/sod.py").read_text()
    assert len([line for line in text.splitlines() if line.strip()]) <= 15
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assert_well(script(text, ranks=2))
    pictures = sorted((tmp_path / "output/sod_py").glob("density_*.png"))
    assert len(pictures) == 2
    assert min(picture.stat().st_size for picture in pictures) > 5000
    reference = run_well(tmp_path / "program", (ROOT / "examples/sod.toml").read_text())
    found = Outcome(0, "", tmp_path / "output/sod_py")
    assert len(found.snapshots) == 5
    assert differing(found.last_snapshot, reference.last_snapshot) == []


FUNCTIONS = """
import gc
import sys
import numpy as np
import octant

def sod(x, y, z):
    left = x < 0.5
    return {"density": np.where(left, 1.0, 0.125), "pressure": np.where(left, 1.0, 0.1)}

tube = {
    "problem": {"name": "expression"},
    "mesh": {"base_cells": [64, 8, 8], "max_level": 1, "upper": [1.0, 0.125, 0.125],
             "boundary_x": ["outflow", "outflow"]},
    "refine": {"gradient_fields": ["density"], "gradient": [0.05]},
    "time": {"max_steps": 5},
}
given = octant.Simulation(tube, initial=sod, output="given")
given.run()
given.close()

# The source of a parameter file, and the same as a function.
warm = tube | {"heating": {"rate": 0.25}}
octant.Simulation(warm, initial=sod, output="heated").run()
def heat(gas, dt):
    return {"heating": 0.25}

sim = octant.Simulation(tube, initial=sod, source=heat, output="source")
sim.run()
assert sim.history()["source_energy"] > 0.0

def fall(gas, dt):
    assert gas["x"].shape == gas["internal_energy"].shape
    return {"acceleration": (-0.5, 0.0, np.zeros_like(gas["x"]))}

sim = octant.Simulation(tube, initial=lambda x, y, z: {"density": 2.0, "pressure": 1.0},
                        source=fall, output="fall", mesh_boundary_x=["periodic", "periodic"])
before = sim.history()
while sim.step():
    pass
after = sim.history()
assert abs(after["momentum_x"] + 0.5 * 2.0 / 64 * sim.time) < 1e-14, after
gained = after["total_energy"] - before["total_energy"]
assert abs(gained - after["source_energy"]) < 1e-14, (gained, after)

# The last step of run(until=) ends there, and the run continues.
sim = octant.Simulation(tube, {"time.max_steps": 1000, "time.end": 0.05}, initial=sod, output="to")
sim.run(until=0.02)
assert sim.time == 0.02
sim.write_snapshot()
sim.write_checkpoint()
sim.run()
assert sim.time == 0.05
sim.close()
again = octant.Simulation(tube, {"time.max_steps": 1000, "time.end": 0.05}, initial=sod,
                          output="again", restart="to/checkpoint_00000.h5")
assert again.time == 0.02
again.run()
again.close()

# An array is the run's memory until a step, which leaves it to who holds it, as it was.
sim = octant.Simulation(tube, initial=sod, output="hold", time_max_steps=4)
held = [sim.level(n)[name] for n in range(2) for name in ("density", "momentum_x")]
assert held[0].flags.writeable and not held[0].flags.owndata
slots = [sim.level(n // 2).slots for n in range(4)]
before = [array[own].copy() for array, own in zip(held, slots)]
assert sim.step() and sim.step()
for array, own, values in zip(held, slots, before):
    assert (array[own] == values).all()
assert (sim.level(0)["density"][slots[0]] != before[0]).any()
for array in held:
    array[...] = np.nan  # is no part of the run any more
assert sim.step() and sim.step()
plain = octant.Simulation(tube, initial=sod, output="plain", time_max_steps=4)
plain.run()
for number in range(2):
    assert (sim.level(number).read("pressure") == plain.level(number).read("pressure")).all()
held.append(sim.level(0)["density"])
values = held[-1].copy()
sim.close()
plain.close()
gc.collect()
assert (held[-1] == values).all()

# Errors are Python's, and the next simulation runs.
last = octant.Simulation(tube, initial=sod, output="last")
def begin(**how):
    return lambda: octant.Simulation(tube, output="x", **how)

for wrong, message in (
    (begin(mesh_block_size=7), "mesh.block_size"),
    (begin(initial=lambda x, y, z: {"density": x}), "pressure"),
    (begin(initial=lambda x, y, z: {"density": -1.0, "pressure": 1.0}), "-1"),
    (lambda: octant.Simulation("nothing.toml"), "nothing.toml"),
    (lambda: sim.level(0), "closed"),
    (lambda: last.level(7), "level 7"),
    (lambda: last.fields, "level(l)"),
):
    try:
        wrong()
    except (octant.InputError, octant.RunError) as error:
        assert message in str(error), (message, str(error))
    else:
        raise SystemExit(f"no error with {message}")
last.run()
kept = last.level(0)["density"]  # until Python ends
"""


def test_functions_are_the_initial_state_and_sources(script: Script, tmp_path: Path) -> None:
    assert_well(script(FUNCTIONS))
    tube = """
[problem]
name = "sod"
[mesh]
base_cells = [64, 8, 8]
max_level = 1
upper = [1.0, 0.125, 0.125]
boundary_x = ["outflow", "outflow"]
[refine]
gradient_fields = ["density"]
gradient = [0.05]
[time]
max_steps = 5
"""
    reference = run_well(tmp_path / "program", tube)
    assert (
        differing(Outcome(0, "", tmp_path / "given").last_snapshot, reference.last_snapshot) == []
    )
    heated, source = (
        Outcome(0, "", tmp_path / name).last_snapshot for name in ("heated", "source")
    )
    with h5py.File(heated) as one, h5py.File(source) as other:
        np.testing.assert_allclose(
            one["hydro/level_0/pressure"][...], other["hydro/level_0/pressure"][...], rtol=1e-13
        )


FLOW = """
import numpy as np
import octant

sim = octant.Simulation("channel.toml", output="channel")
u = sim.fields["u"]
assert not u.flags.owndata
mean = []
sim.on_step(lambda sim: mean.append(u.mean()))
sim.run()
assert len(mean) == sim.step_count and len(set(mean)) > 1

def vortices(x, y, z):
    return {"u": np.sin(x) * np.cos(y), "v": -np.cos(x) * np.sin(y), "w": 0.0 * z}

size = 2 * np.pi
flow = {
    "model": "dns",
    "problem": {"name": "taylor_green"},
    "grid": {"cells": [16, 16, 4], "size": [size, size, size]},
    "dns": {"viscosity": 0.05, "boundary_z": ["periodic", "periodic"]},
    "time": {"end": 0.5},
}
sim = octant.Simulation(flow, initial=vortices, output="vortices")
before = sim.history()
sim.run()
after = sim.history()
ratio = after["kinetic_u"] / before["kinetic_u"]
assert abs(ratio - np.exp(-4 * 0.05 * 0.5)) < 2e-3, ratio
(x0, x1), (y0, y1), (z0, z1) = sim.box
assert sim.fields["w"].shape == (z1 - z0, y1 - y0, x1 - x0)

# Arrays outlive the simulation.
u = sim.fields["u"]
values = u.copy()
sim.close()
assert (u == values).all()
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_flows_run_and_show_their_fields(script: Script, ranks: int, tmp_path: Path) -> None:
    (tmp_path / "channel.toml").write_text(SMALL_CHANNEL)
    assert_well(script(FLOW, ranks=ranks))
    reference = run_well(tmp_path / "program", SMALL_CHANNEL)
    found = fields(Outcome(0, "", tmp_path / "channel").last_snapshot)
    for name, values in fields(reference.last_snapshot).items():
        assert (found[name] == values).all(), name


FAILS = """
import sys
import octant

def fail(sim):
    if sim.rank == 1:
        raise ValueError("rank one has had enough")

def wrong(x, y, z):
    raise ValueError("no idea")

where = sys.argv[1]
blast = {"problem": {"name": "sedov"}, "mesh": {"base_cells": [8, 8, 8], "block_size": 4}}
if where == "callback":
    sim = octant.Simulation(blast, output="a")
    sim.on_step(fail)
    sim.run()
if where == "initial":
    octant.Simulation(blast, output="a", initial=wrong)
if where == "input":
    octant.Simulation(blast, output="a", mesh_block_size=5)
"""


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("callback", "rank one has had enough"),
        ("initial", "no idea"),
        ("input", "mesh.block_size"),
    ],
)
def test_an_error_on_any_rank_ends_all(script: Script, where: str, message: str) -> None:
    outcome = script(FAILS, where, ranks=2, timeout=60)
    assert outcome.code != 0
    assert message in outcome.text


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs/notebooks").glob("*.ipynb")))
def test_notebooks_run(script: Script, notebook: Path) -> None:
    cells = """
import json
import sys

cells = json.load(open(sys.argv[1]))["cells"]
names = {"__name__": "__main__"}
for number, cell in enumerate(cells):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
"""
    assert_well(script(cells, notebook))
