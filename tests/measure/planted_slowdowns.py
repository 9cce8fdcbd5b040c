#!/usr/bin/env python3
"""Plants slow-downs of 3 % in ten kernels and tells which of them the performance gate finds.

    tests/measure/planted_slowdowns.py [FOLDER]

FOLDER, or a temporary one, gets a copy of the last commit, in which each of ten kernels does some
of its items (rows, tasks, patches, particles, cells) twice, every 33rd of most: 3 % more work, and
the same results. All are built together with the preset `portable`. A kernel without a planted
slow-down that differs from the record is a false alarm. The exit code is 1 if fewer than nine
slow-downs are found, or with a false alarm. Takes as long as a build of the program.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "performance"))

import benches
import gate

from running import ROOT

TWICE = "for (int again = ({}) % {} == 0 ? 0 : 1; again < 2; ++again)\n"


@dataclass(frozen=True)
class Plant:
    """A change of a source.

    Attributes
    ----------
    kernel
        The kernel that must be found slower.
    source
        Path below src/.
    before
        A line of the source.
    after
        What is put in its place.
    others
        Further kernels that contain the slower code.
    """

    kernel: str
    source: str
    before: str
    after: str
    others: tuple[str, ...] = ()


def repeated(line: str, item: str) -> str:
    """Put a loop before a statement, which does it twice for every 33rd item."""
    return TWICE.format(item, 33) + line


ROWS_OF_STATES = "      for_packs<-extra, M + extra>"
ROWS_OF_FLUXES = """\
      for_packs<0, M + (Axis == 0)>(swept.with_fluxes(Axis, k, j), [&](int i) OCTANT_INLINE_LAMBDA {
        flux_through"""
ROWS_OF_CELLS = "      if (const RowOfCells read = swept.read(k, j))"
INTERPOLATION = "  interpolation_->interpolate(tasks, state, target, layout_.variables);\n"
DOWN, UP = "        if (open) Descent<", "        if (open) Ascent<"
DEPOSIT = """\
        const double x[3] = {p.position[0][n], p.position[1][n], p.position[2][n]};
        const Cloud cloud = cloud_of(frame, blocks(home), x);
        std::int64_t* cell[8];
        std::int64_t unused[8];
        find_cells(cloud, home, places.data(), cells, N, cell, unused);
        add_cloud(static_cast<std::int64_t>(p.mass[n] * per_quantum + 0.5), cloud.weight, cell);
"""
# The mass counts in the second turn alone. The loop itself costs half of the 3 %.
DEPOSIT_TWICE = (
    TWICE.format("n", 64).rstrip()
    + """ {
        asm volatile("" ::: "memory");
"""
    + DEPOSIT.replace("add_cloud(", "add_cloud(again * ")
    + "        }\n"
)
KICK = """\
        const CellsAround around = field.at(n);
        for (int d = 0; d < 3; ++d) p.velocity[d][n] += dt * around.interpolated(d);
"""
COOL = "      if (thermal.cools[n] != 0.0) cool(thermal, n);\n"
MOMENTUM = """\
    kernel(u_cells, row, plane, operators_[k_u][k], transport_of(k_u, at, row, plane), stage,
"""
POINTS = """\
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 8 * groups), [&](int n) {
"""

PLANTS = (
    Plant(
        "states, Hancock and PLM",
        "hydro/sweep_kernel.hpp",
        ROWS_OF_STATES,
        repeated(ROWS_OF_STATES, "19 * k + j"),
        ("states, RK2 and PLM", "states, RK3 and PPM"),
    ),
    Plant(
        "fluxes",
        "hydro/flux_kernels.hpp",
        ROWS_OF_FLUXES,
        repeated(ROWS_OF_FLUXES, "17 * k + j"),
    ),
    Plant(
        "copies of tiles with ghosts",
        "hydro/sweep_planes.hpp",
        ROWS_OF_CELLS,
        repeated(ROWS_OF_CELLS, "21 * k + j"),
    ),
    Plant(
        "interpolation to ghosts",
        "mesh/mesh.cpp",
        INTERPOLATION,
        INTERPOLATION
        + """\
  const std::pair<std::size_t, std::size_t> first(0, (tasks.extent(0) + 16) / 33);
  if (first.second > 0)
    interpolation_->interpolate(Kokkos::subview(tasks, first), state, target, layout_.variables);
""",
        ("ghost cells",),
    ),
    Plant("multigrid", "gravity/smoothing.cpp", DOWN, repeated(DOWN, "patch + 32")),
    Plant("multigrid", "gravity/smoothing.cpp", UP, repeated(UP, "patch + 32")),
    Plant("deposit of particles", "particles/deposit.cpp", DEPOSIT, DEPOSIT_TWICE),
    Plant(
        "kick of particles",
        "particles/motion.cpp",
        KICK,
        """\
        if (n % 50 == 0) {
          const CellsAround once = field.at(n);
          for (int d = 0; d < 3; ++d)
            p.velocity[d][n] = p.velocity[d][n] + 0.0 * once.interpolated(d);
          asm volatile("" ::: "memory");
        }
"""
        + KICK,
    ),
    Plant(
        "cooling",
        "subgrid/cooling/cooling.cpp",
        COOL,
        """\
      if (thermal.cools[n] != 0.0) {
        if ((512 * first.place + first.index + n) % 33 == 0) {
          Thermal<V> copy = thermal;
          cool(copy, n);
          asm volatile("" : : "r"(&copy) : "memory");
        }
        cool(thermal, n);
      }
""",
    ),
    # Every 11th row of one of the three components.
    Plant(
        "momentum of a flow",
        "dns/momentum_sweep.cpp",
        MOMENTUM,
        """\
    if ((7 * k + j) % 11 == 0) {
      static std::vector<double> one(4096), other(4096);
      kernel(u_cells, row, plane, operators_[k_u][k], transport_of(k_u, at, row, plane), stage,
             {uc, pc, pc + 1, one.data(), other.data()});
    }
"""
        + MOMENTUM,
    ),
    Plant(
        "fast multipole method: points",
        "gravity/fmm_forces.cpp",
        POINTS,
        repeated(POINTS, "slot"),
        ("fast multipole method",),
    ),
)


def plant_all(source: Path) -> None:
    """Change the sources of a copy."""
    for plant in PLANTS:
        file = source / plant.source
        text = file.read_text()
        if plant.before not in text:
            sys.exit(f"{plant.source} no longer contains:\n{plant.before}")
        file.write_text(text.replace(plant.before, plant.after, 1))


def build(copy: Path) -> Path:
    """Build a copy; return the path of the program."""
    environment = os.environ | {"OCTANT_PRESET": "portable"}
    subprocess.run([str(copy / "octant"), "bench", "--help"], env=environment, check=True)
    return copy / "build/portable/octant"


def main() -> int:
    """Plant, build and compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where the copy is built")
    with tempfile.TemporaryDirectory() as scratch:
        copy = parser.parse_args().folder or Path(scratch) / "planted"
        if not copy.exists():
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(copy)], check=True)
            plant_all(copy / "src")
        os.environ["OCTANT_PROGRAM"] = str(build(copy))
        recorded = gate.recorded()
        if not recorded:
            sys.exit(gate.no_record())
        found = {name: gate.judge(name, gate.count(name), recorded) for name in benches.names()}
    planted = {plant.kernel for plant in PLANTS}
    slower = planted.union(*(plant.others for plant in PLANTS))
    missed = [name for name in planted if not found[name]]
    false = [name for name, wrong in found.items() if wrong and name not in slower]
    for name in slower:
        print(
            f"{name}: {found[name].partition(':')[2].strip().splitlines()[0]}"
            if found[name]
            else f"{name}: not found"
        )
    print(f"{len(planted) - len(missed)} of {len(planted)} found; false alarms: {false or 'none'}")
    return int(len(missed) > 1 or bool(false))


if __name__ == "__main__":
    sys.exit(main())
