#!/usr/bin/env python3
"""Fits the performance model to short runs and draws its curves with the points of the papers.

    tests/measure/scaling_curves.py --runs DIR [--ranks 1 2 4 8] [--output scaling_curves.png]

Records hot spheres on two levels (gas only), galaxies with all processes, a blast with the scheme
of Octo-Tiger, and a rotating star with the fast multipole method on one, two, four and eight
oversubscribed ranks. The model is fitted to one and two ranks and compared with the others by
processor time, messages and bytes. Then it is fitted to all runs and predicts the configurations
of the papers; their points are those of published_scaling.toml. Runs that DIR contains are not
repeated.
"""

import argparse
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))

from octools.scaling_model.gpu import Offload
from octools.scaling_model.machine import Machine, find_machine
from octools.scaling_model.model import Curve, Program, curve, fit, random_imbalance, total
from octools.scaling_model.pencils import Flow
from octools.scaling_model.recorded import Recorded, record
from octools.scaling_model.report import curve_table, fit_table, validation_table
from octools.telemetry.database import Telemetry
from scaling_counts import HOT_SPHERES

from inputs import GALAXIES_IN_A_BOX
from running import ROOT, run_well

FITTED = 2  # largest number of ranks of fitted runs
PUBLISHED = tomllib.loads(Path(__file__).with_name("published_scaling.toml").read_text())
QUIET = ("output.snapshot_interval=0", "output.final_checkpoint=false")
HOST, PAPER, OTHER = "#1f5a94", "#c8553d", "#9aa7b8"

# Seconds of a stage per cell on a GPU: 4.3e9 cell stages/s on an H100 of 2.8 TB/s
# (docs/performance_gpu.md), scaled to 1.6 TB/s, times 49 / 40.9 for implicit diffusion along z.
STAGE_SECONDS = 2.8 / 1.6 / 4.3e9 * 49 / 40.9


@dataclass(frozen=True)
class Case:
    """Runs of a problem: parameters and steps."""

    text: str
    steps: int
    settings: tuple[str, ...]


STAR = (ROOT / "examples/rotating_star.toml").read_text().partition("[output]")[0]
# The scheme of Octo-Tiger: 26 points of parabolas on each cell, three stages.
BLAST = """
[problem]
name = "sedov"
[mesh]
base_cells = [32, 32, 32]
block_size = 8
max_level = 0
[hydro]
scheme = "rk3"
reconstruction = "ppm26"
[time]
end = 1.0
cfl = 0.4
"""
CASES = {
    # eight spheres, each in 16^3 cells
    "gas": Case(HOT_SPHERES, 16, ("mesh.base_cells=[32,32,32]", "mesh.upper=[2.0,2.0,2.0]")),
    "galaxies": Case(
        GALAXIES_IN_A_BOX, 16, ("mesh.base_cells=[32,32,32]", "cosmology.box=12.0", *QUIET)
    ),
    "blast": Case(BLAST, 48, QUIET),
    "star": Case(STAR, 16, QUIET),
}


def recorded(case: str, folder: Path, ranks: list[int]) -> list[Recorded]:
    """Run a case on all numbers of ranks."""
    chosen, found = CASES[case], []
    for n in ranks:
        path = folder / f"{case}_{n}"
        if not (path / "telemetry").is_dir():
            steps = f"time.max_steps={chosen.steps}"
            run_well(path, chosen.text, *chosen.settings, steps, ranks=n, timeout=3600)
        with Telemetry(path) as telemetry:
            found.append(record(path.name, telemetry))
    return found


def powers(first: int, last: int, factor: int = 2) -> list[int]:
    """Return numbers of ranks from the first to the last, each a multiple of the one before."""
    found = [first]
    while found[-1] * factor <= last:
        found.append(found[-1] * factor)
    return found


def plot_strong(axes: Any, galaxies: Program) -> None:
    """Plot table 4 of the cuRAMSES paper."""
    paper, machine = PUBLISHED["curamses"]["strong"], find_machine("grammar")
    updates = paper["seconds"][0] / paper["microseconds_per_update"][0] * 1e6  # of a rank
    found = curve(galaxies, machine, "strong", powers(8, 131_072), updates)
    print("\ncuRAMSES, table 4\n" + curve_table(thinned(found), machine))
    axes.semilogx(found.ranks, found.efficiencies(), "-", color=HOST, label="model of Octant")
    axes.semilogx(paper["ranks"], paper["efficiency"], "o", color=PAPER, label="cuRAMSES, table 4")
    axes.set_title("galaxies, strong scaling: 3·10⁹ cells", loc="left")


def plot_weak(axes: Any, galaxies: Program) -> None:
    """Plot the weak scaling of section 8.5.3 of the cuRAMSES paper."""
    paper, machine = PUBLISHED["curamses"]["weak"], find_machine("grammar")
    found = curve(galaxies, machine, "weak", powers(2, 131_072), paper["cells_per_rank"])
    print("\ncuRAMSES, section 8.5.3\n" + curve_table(thinned(found), machine))
    place = list(found.ranks).index(paper["ranks"][-1])
    for name in found.predictions[0]:
        first, last = (sum(found.predictions[n][name].values()) for n in (0, place))
        if first:
            print(f"    {name:26} time on 128 ranks over 2: {last / first:.2f}")
    axes.semilogx(found.ranks, found.efficiencies(), "-", color=HOST, label="model of Octant")
    axes.semilogx(paper["ranks"], paper["efficiency"], "o", color=PAPER, label="cuRAMSES, 8.5.3")
    axes.set_title("galaxies, weak scaling: 8.4·10⁶ cells per rank", loc="left")


def thinned(found: Curve) -> Curve:
    """Return every third number of ranks of a curve, for tables."""
    return Curve(found.kind, found.ranks[::3], found.predictions[::3])


def plot_synchronization(axes: Any) -> None:
    """Plot the synchronization of baseline placements of the CPLX paper, fitted to 512 ranks."""
    paper = PUBLISHED["cplx"]["baseline"]
    points = {int(n): value for n, value in paper["synchronization"].items()}
    per_rank = [b / n for b, n in zip(paper["blocks"], paper["ranks"], strict=True)]
    rest = 1 - paper["communication"] - paper["rebalancing"]  # computation and synchronization
    first = paper["ranks"][0]
    excess = points[first] / (rest - points[first])
    variation = excess / (random_imbalance(first, per_rank[0], 1.0) - 1)
    predicted = []
    for ranks, blocks in zip(paper["ranks"], per_rank, strict=True):
        over = random_imbalance(ranks, blocks, variation) - 1
        predicted.append(rest * over / (1 + over))
    print(f"\nCPLX, fig. 6a: variation {variation:.2f}, synchronization", predicted)
    axes.semilogx(paper["ranks"], predicted, "-", color=HOST, label="model, fitted to 512 ranks")
    axes.semilogx(list(points), list(points.values()), "o", color=PAPER, label="CPLX, VI-B")
    axes.set_title("placement that ignores costs: synchronization", loc="left")
    axes.set_ylabel("fraction of the run time")


def plot_star(axes: Any, programs: dict[str, Program]) -> None:
    """Plot the time of a step on up to 768 GPUs of Summit (Octo-Tiger paper)."""
    machine = find_machine("summit")
    papers = {"blast": "sedov", "star": "rotating_star"}
    for (case, name), marker in zip(papers.items(), "os", strict=True):
        if case not in programs:
            continue
        paper = PUBLISHED["octotiger"][name]
        ranks = [6 * n for n in powers(1, 16_384)]
        found = curve(programs[case], machine, "strong", ranks, paper["cells"] / ranks[0])
        print(f"\nOcto-Tiger, {name}\n" + curve_table(thinned(found), machine))
        times = [1e3 * total(each) for each in found.predictions]
        axes.loglog(ranks, times, color=HOST, ls="-" if case == "blast" else "--",
                    label=f"model of Octant, {case}")  # fmt: skip
        values = [1e3 * seconds for seconds in paper["seconds"].values()]
        axes.loglog([paper["gpus"]] * len(values), values, marker, color=PAPER,
                    label=f"Octo-Tiger, {name}".replace("_", " "))  # fmt: skip
    axes.set_title("16.8 million cells on GPUs: ms per step", loc="left")
    axes.set_ylabel("ms")


def fitted_taper(machine: Machine, loss: float) -> Machine:
    """Choose the taper with which the full transpose loses as much as in the P-TDMA paper."""
    low, high = 0.0, 0.9
    for _ in range(40):
        taper = (low + high) / 2
        if weak_loss(replace(machine, taper=taper), "ftm") < loss:
            low = taper
        else:
            high = taper
    return replace(machine, taper=low)


def stage(machine: Machine, method: str, gpus: int) -> float:
    """Return the seconds of a stage of slabs of constant size per GPU."""
    nx, ny, nz = PUBLISHED["ptdma"]["weak"]["cells_per_gpu"]
    grid = (1, gpus) if method == "ptdma" else (gpus, 1)
    return sum(Flow((nx, ny, nz * gpus), grid, method).seconds(machine, STAGE_SECONDS).values())


def weak_loss(machine: Machine, method: str) -> float:
    """Return the relative growth of the time of a stage between 32 and 256 GPUs."""
    first, last = PUBLISHED["ptdma"]["weak"]["gpus"]
    return stage(machine, method, last) / stage(machine, method, first) - 1


def plot_flow(axes: Any) -> None:
    """Plot fig. 6 of the P-TDMA paper, with the taper of its full transposes."""
    paper = PUBLISHED["ptdma"]["weak"]
    first, last = paper["gpus"]
    gpus = powers(first, 16_384)
    print("\nP-TDMA, fig. 6: growth of a stage from 32 to 256 GPUs")
    for name, colour in (("leonardo", HOST), ("lumi", "#3f7d58")):
        machine = fitted_taper(find_machine(name), paper["loss"][name]["ftm"])
        for method, line, marker in (("ftm", "--", "s"), ("ptdma", "-", "o")):
            times = [stage(machine, method, n) for n in gpus]
            loss, published = weak_loss(machine, method), paper["loss"][name][method]
            print(f"    {name:9} {method:6} taper {machine.taper:.3f}: {loss:.3f}, paper"
                  f" {published}")  # fmt: skip
            axes.semilogx(gpus, [times[0] / t for t in times], line, color=colour,
                          label=f"{name}, {method}")  # fmt: skip
            axes.semilogx([last], [1 / (1 + published)], marker, color=colour, mfc="white")
        strong(machine)
    axes.set_title("DNS, weak scaling of slabs (markers: P-TDMA paper)", loc="left")


def strong(machine: Machine) -> None:
    """Print the ratio of full transpose to P-TDMA on 1024 GPUs, fig. 4 of the P-TDMA paper."""
    paper = PUBLISHED["ptdma"]["strong"]
    for grid, solver in ((tuple(paper["process_grid"]), "pencils"), ((1024, 1), "best slabs")):
        times = []
        for method, shape in (("ftm_z", grid), ("ptdma", tuple(paper["process_grid"]))):
            flow = Flow(tuple(paper["cells"]), shape, method)
            times.append(sum(flow.seconds(machine, STAGE_SECONDS).values()))
        print(f"    {machine.name}: 1024 GPUs, full transpose with {solver} over P-TDMA 512x2: "
              f"{times[0] / times[1]:.2f}, paper {paper['step_ratio']}")  # fmt: skip


def plot_gpu(axes: Any, galaxies: Program | None) -> None:
    """Plot the speed-up by bandwidth of eq. 14 of the cuRAMSES paper, and that of Octant."""
    paper = PUBLISHED["curamses"]["gpu"]
    multigrid = Offload(*(paper[name] for name in ("total", "fixed", "kernel", "volume")))
    widths = [2.0 * 1.2**n for n in range(32)]
    axes.semilogx(widths, [multigrid.speed_up(8, b) for b in widths], "--", color=OTHER,
                  label="eq. 14 for cuRAMSES")  # fmt: skip
    axes.semilogx(paper["bandwidth"], paper["speed_up"], "o", color=PAPER, label="cuRAMSES, 9.5.1")
    if galaxies is not None:
        own = offload(galaxies, 8)
        axes.semilogx(widths, [own.speed_up(8, b * 1e9) for b in widths], "-", color=HOST,
                      label="model of Octant, whole step")  # fmt: skip
        print("\nOctant, galaxies: S(8, B) at 12, 22, 450 GB/s:",
              [round(own.speed_up(8, b * 1e9), 2) for b in paper["bandwidth"]])  # fmt: skip
    axes.set_title("GPU: speed-up by bandwidth to the host", loc="left")
    axes.set_xlabel("GB/s")
    axes.set_ylabel("speed-up")


def offload(program: Program, threads: int) -> Offload:
    """Return the step of a program as eq. 14 sees it, with 10^7 updates and an H100."""
    updates, kernel_speed, launch = 1e7, 100.0, 5e-6
    busy = {each.name: each.busy(1, updates) for each in program.components}
    kernels = {e.name: e.kernel_fraction * busy[e.name] for e in program.components}
    launches = sum(each.launches for each in program.components)
    return Offload(
        total=sum(busy.values()),
        fixed=(sum(busy.values()) - sum(kernels.values())),
        kernel=sum(kernels.values()) / kernel_speed + launches * launch,
        volume=sum(each.copied_bytes for each in program.components) * updates,
    )


def main() -> int:
    """Record, fit, compare and draw; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="folder of the recorded runs")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--cases", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--output", type=Path, default=Path("scaling_curves.png"))
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    programs = {}
    for case in options.cases:
        runs = recorded(case, options.runs, options.ranks)
        checked = fit([run for run in runs if run.ranks <= FITTED])
        programs[case] = fit(runs)
        print(f"\n{case}, fitted to all runs\n{fit_table(programs[case])}")
        print(f"fitted to at most {FITTED} ranks\n{validation_table(checked, runs)}")
    figure, places = plt.subplots(2, 3, figsize=(14, 7.5), layout="constrained")
    if galaxies := programs.get("galaxies"):
        plot_strong(places[0, 0], galaxies)
        plot_weak(places[0, 1], galaxies)
    plot_synchronization(places[0, 2])
    plot_star(places[1, 0], programs)
    plot_flow(places[1, 1])
    plot_gpu(places[1, 2], galaxies)
    for axes in places.flat:
        axes.set_xlabel(axes.get_xlabel() or "ranks or GPUs")
        axes.set_ylabel(axes.get_ylabel() or "parallel efficiency")
        axes.legend(fontsize=7, frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(options.output, dpi=120)
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
