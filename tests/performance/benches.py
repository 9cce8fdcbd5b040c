"""Which kernels are counted, and in which runs."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from counting import Profile, profile

from running import ROOT, octant, program, run_well
from smaller_examples import SMALLER
from telemetry_tables import ask_one

Counts = dict[str, int]

# valgrind does not support the instructions of the preset `release`.
os.environ.setdefault("OCTANT_PROGRAM", str(ROOT / "build/portable/octant"))

# A sound wave oblique to the grid, on one level.
WAVE = """
model = "amr"
[problem]
name = "sound_wave"
wave = [1, 1, 1]
amplitude = 0.1
velocity = [0.3, 0.2, 0.1]
[mesh]
base_cells = [32, 32, 32]
block_size = 16
[time]
end = 1.0
max_steps = 2
"""
# Streams of Mach 30 across each other: Hancock's predictor makes some pressures negative.
STREAMS = """
model = "amr"
[problem]
name = "expression"
velocity = ["sin(2*pi*y)", "sin(2*pi*z)", "sin(2*pi*x)"]
pressure = "5e-4"
[mesh]
base_cells = [16, 16, 16]
block_size = 8
[hydro]
reconstruction = "ppm"
[time]
end = 1.0
max_steps = 4
cfl = 1.0
"""


@dataclass(frozen=True)
class Simulation:
    """A run of `octant`: an example, or a parameter file's text, with some settings."""

    parameters: str
    settings: tuple[str, ...] = ()

    def text(self) -> str:
        """Give the text of the parameter file."""
        if "\n" in self.parameters:
            return self.parameters
        return (ROOT / "examples" / f"{self.parameters}.toml").read_text()

    def overrides(self) -> list[str]:
        """Give the settings beside those of the file."""
        return ["output.snapshot_interval=0", *SMALLER.get(self.parameters, ()), *self.settings]

    def profile(self, scratch: Path) -> Profile:
        """Count what it takes on one rank."""
        file = scratch / "run.toml"
        file.write_text(self.text())
        words = ["run", str(file), "--output", str(scratch / "run")]
        for setting in self.overrides():
            words += ["--set", setting]
        return profile([str(program()), *words], scratch)


@dataclass(frozen=True)
class Benchmark:
    """A run of `octant bench`."""

    words: str

    def profile(self, scratch: Path) -> Profile:
        """Count what it takes."""
        return profile(
            [str(program().with_name("octant-bench")), "bench", *self.words.split()], scratch
        )


BLAST = Simulation(
    "sedov",
    (
        "mesh.block_size=4",
        "time.max_steps=6",
        "output.checkpoint_interval=0",
        "output.final_checkpoint=true",
        "comm.exchange=p2p",  # auto chooses by time, which would vary calls and buffers
    ),
)
UNRECORDED = "telemetry.enabled=false"
RUNS: dict[str, Simulation | Benchmark] = {
    "wave by Hancock": Simulation(WAVE, (UNRECORDED,)),
    "wave by RK2": Simulation(WAVE, ("hydro.scheme=rk2", UNRECORDED)),
    "wave by RK3 and PPM": Simulation(
        WAVE, ("hydro.scheme=rk3", "hydro.reconstruction=ppm", "time.max_steps=1", UNRECORDED)
    ),
    "blast": BLAST,
    "streams": Simulation(STREAMS, (UNRECORDED,)),
    "cosmology": Simulation("cosmology", ("time.max_steps=2", UNRECORDED)),
    "collapse": Simulation(
        "evrard",
        (
            "gravity.solver=fmm",
            "mesh.block_size=8",
            "mesh.max_level=1",
            "refine.density=[1e-5]",
            "time.max_steps=1",
            UNRECORDED,
        ),
    ),
    "cooling": Benchmark("cooling --cells 8 --repeats 1"),
    "stars": Benchmark("stars --cells 16 --repeats 1"),
    "supernovae": Benchmark(
        "feedback --case supernovae --method blocks --cells 32 --supernovae 500 --repeats 1"
    ),
    "friends": Benchmark("fof --case clustered --method cells --points 20000 --repeats 1"),
    "channel": Simulation(
        "channel",
        ("grid.cells=[32,32,24]", "grid.transpose=p2p", "time.max_steps=3", UNRECORDED),
    ),
    # Periodic along z: the planes of the one rank are reduced to two, as on several ranks.
    "periodic flow": Simulation("isotropic", ("time.max_steps=3", UNRECORDED)),
}


@dataclass(frozen=True)
class Kernel:
    """Functions that are counted in a run.

    Attributes
    ----------
    run
        The run.
    functions
        A regular expression that the names of the functions match: those that are called from
        elsewhere, because what one of them calls through other functions would count twice.
    with_callees
        Whether the functions that these call count as well.
    without
        A regular expression for those of the called functions that do not count.
    """

    run: str
    functions: str
    with_callees: bool = True
    without: str = "^$"


INTERPOLATION = r"^octant::mesh::Mesh::interpolate_ghosts\("
KERNELS = {
    "states, Hancock and PLM": Kernel(
        "wave by Hancock", "SweepKernel<.*MusclHancock", with_callees=False
    ),
    "states, RK2 and PLM": Kernel("wave by RK2", "SweepKernel<.*RungeKutta", with_callees=False),
    "states, RK3 and PPM": Kernel(
        "wave by RK3 and PPM", "SweepKernel<.*RungeKutta", with_callees=False
    ),
    "fluxes": Kernel("wave by Hancock", r"^void octant::hydro::fluxes_of_plane<"),
    "copies of tiles with ghosts": Kernel(
        "wave by Hancock", r"^void octant::hydro::CellPlanes<.*::gather_as<"
    ),
    "update of cells": Kernel("wave by Hancock", r"^octant::hydro::FacePlanes<.*::update\("),
    "repair of cells": Kernel(
        "streams", r"^octant::hydro::(find_bad_cells|fallback_differences|apply_floors)\("
    ),
    "ghost cells": Kernel(
        "blast", r"^octant::mesh::Mesh::(start|finish)_ghosts\(", without=INTERPOLATION
    ),
    "interpolation to ghosts": Kernel("blast", INTERPOLATION),
    "coupling of levels": Kernel("blast", r"^octant::mesh::Mesh::(synchronise|restrict_all)\("),
    "regridding": Kernel("blast", r"^octant::mesh::Mesh::regrid\("),
    "checkpoint": Kernel("blast", r"^octant::write_checkpoint\("),
    "telemetry": Kernel("blast", r"^(?:\w+ )?octant::telemetry::"),
    "multigrid": Kernel("cosmology", r"^octant::gravity::LevelSolver::solve\("),
    "Poisson by Fourier transforms": Kernel(
        "cosmology", r"^octant::gravity::BaseFourierSolver::solve"
    ),
    "deposit of particles": Kernel("cosmology", r"^octant::particles::Particles::deposit\("),
    "kick of particles": Kernel("cosmology", r"^octant::particles::Particles::kick\("),
    "drift of particles": Kernel("cosmology", r"^octant::particles::Particles::drift\("),
    "fast multipole method": Kernel("collapse", r"^octant::gravity::Fmm::solve\("),
    "fast multipole method: points": Kernel("collapse", r"^octant::gravity::fmm::attract_points\("),
    "cooling": Kernel("cooling", r"^octant::subgrid::Cooling::advance\("),
    "star formation": Kernel("stars", r"^octant::subgrid::StarFormation::interact\("),
    "supernovae": Kernel("supernovae", r" octant::subgrid::.*apply_events<"),
    "friends of friends": Kernel("friends", r" octant::subgrid::friends::by_cells<"),
    "momentum of a flow": Kernel("channel", r"^octant::dns::MomentumSweep::plane\("),
    "projection of a flow": Kernel("channel", r"^octant::dns::Projection::"),
    "P-TDMA": Kernel("periodic flow", r"PartitionedLines<[^>]*>::(forward|backward)\("),
    "Poisson on pencils": Kernel(
        "periodic flow",
        r"^octant::pencil::PoissonSolver::(transform_rows|forward|exchange|backward)\(",
    ),
}

# One kernel that is no function: what a run on two ranks exchanges, launches and holds.
TWO_RANKS = "blast on two ranks"
# Counts that are no reason to fail.
FOR_INFORMATION = ("data_misses", "last_level_misses")


def names() -> list[str]:
    """Name all that is counted."""
    return [*KERNELS, TWO_RANKS]


def run_of(name: str) -> str:
    """Name the run in which something is counted."""
    return KERNELS[name].run if name in KERNELS else name


def count_run(run: str, scratch: Path) -> dict[str, Counts]:
    """Count all kernels of a run."""
    if run == TWO_RANKS:
        return {TWO_RANKS: count_two_ranks(scratch)}
    found = RUNS[run].profile(scratch)
    counts = {name: counts_of(name, found) for name, kernel in KERNELS.items() if kernel.run == run}
    if run == "blast":
        counts["regridding"]["allocations_of_the_run"] = found.allocations()
    return counts


def counts_of(name: str, found: Profile) -> Counts:
    kernel = KERNELS[name]
    cost = found.cost(kernel.functions, with_callees=kernel.with_callees, without=kernel.without)
    if cost["Ir"] == 0:
        raise LookupError(
            f"{name}: no function of the run matches {kernel.functions!r}: was it renamed? "
            "Change its pattern in tests/performance/benches.py"
        )
    return {
        "instructions": cost["Ir"],
        "data_misses": cost["D1mr"] + cost["D1mw"],
        "last_level_misses": cost["DLmr"] + cost["DLmw"],
    }


def count_two_ranks(scratch: Path) -> Counts:
    """Count what the blast's telemetry and log tell of two ranks."""
    run = run_well(scratch / "run", BLAST.text(), *BLAST.overrides(), ranks=2, timeout=600)
    messages = "from messages where direction = 'send'"
    return {
        "messages": ask_one(run, f"select sum(messages)::bigint {messages}"),
        "message_bytes": ask_one(run, f"select sum(bytes)::bigint {messages}"),
        "collective_calls": ask_one(
            run, "select sum(calls)::bigint from phases where phase = 'collective'"
        ),
        "kernel_launches": ask_one(run, "select sum(calls)::bigint from kernels"),
        "array_bytes_per_leaf": array_bytes_per_leaf((run.directory / "log.txt").read_text()),
    }


def array_bytes_per_leaf(log: str) -> int:
    """Add up the rows of arrays in the table of memory at the end of a log.

    Buffers of messages are left out: how many exist at once depends on when messages arrive.
    """
    table = log[log.index("bytes per leaf") :].splitlines()[1:]
    rows = [line for line in table[: table.index("")] if line]
    arrays = rows[: next(n for n, row in enumerate(rows) if row.startswith("tables and lists"))]
    return round(sum(float(row.split()[-1]) for row in arrays if not row.startswith("messages")))


@dataclass(frozen=True)
class MadeWith:
    """What the program was made with."""

    compiler: str  # and the instruction set
    libraries: str


def made_with() -> MadeWith:
    """Ask the program what it was made with."""
    version = octant("--version").text
    tools, target = re.search(r"built with (.*)\n(.*)", version).groups()
    compiler, libraries = tools.split(", ", 1)
    return MadeWith(f"{compiler}, {target}", libraries)
