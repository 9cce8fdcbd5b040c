#!/usr/bin/env python3
"""Plants slow-downs of 3 % in ten kernels and tells which of them the performance gate finds.

    tests/measure/planted_slowdowns.py [FOLDER]

FOLDER, or a temporary one, gets a copy of the last commit, in which each of ten kernels executes
about 3 % more instructions: some that do nothing, in front of a line of its inner loop. All are
built together with the preset `portable`. A kernel without them that differs from the record is a
false alarm. The exit code is 1 if fewer than nine slow-downs are found, or with a false alarm.
Takes as long as a build of the program.
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

# Lines of code before which instructions are inserted; they are executed once per pack of cells,
# plane, cell, row or particle. In the loops over packs of faces and over copies, the instructions
# would prevent optimizations by the compiler and cost much more than their own time.
PACK_OF_CELLS = "        scheme_.template reconstruct<SimdDouble>(\n"
PLANE_OF_FACES = "  const auto through = [&]<int Axis>() OCTANT_INLINE_LAMBDA {\n"
PLANE_OF_COPIES = "    const Gather<Cells> of_tile(a, view, cells);\n"
COARSE_CELL = "        const double share = 0.25 * limit(limiting);\n"
RELAXED_PLANE = "  for_rows_in(swept.rows(k) & rows_within<T>(Within) & part.rows,\n"
CLOUD = "        find_cells(cloud, home, places.data(), cells, N, cell, unused);\n"
KICK = "        const CellsAround around = field.at(n);\n"
HALVING = "    const V middle = select("
ROW = "    kernel(u_cells, row, plane, operators_[k_u][k],"
POINTS = "          const int t = n / groups, first = n % groups * group * k_simd_width;\n"
STATES = "states, Hancock and PLM"
OTHER_STATES = ("states, RK2 and PLM", "states, RK3 and PPM")
FMM = "fast multipole method"


@dataclass(frozen=True)
class Plant:
    """Instructions that do nothing, about 3 % of a kernel's.

    Attributes
    ----------
    kernel
        The kernel that must be found slower.
    source
        Path below src/.
    line
        A line of the source, in front of which they are put.
    count
        How many.
    others
        Further kernels that contain the line.
    """

    kernel: str
    source: str
    line: str
    count: int
    others: tuple[str, ...] = ()

    def text(self) -> str:
        """Give the line with the instructions."""
        return f'asm volatile(".rept {self.count}\\n nop\\n .endr");\n{self.line}'


PLANTS = (
    Plant(STATES, "hydro/sweep_cpu.hpp", PACK_OF_CELLS, 6, OTHER_STATES),
    Plant("fluxes", "hydro/sweep_cpu.hpp", PLANE_OF_FACES, 86),
    Plant("copies of tiles with ghosts", "hydro/sweep_cpu.hpp", PLANE_OF_COPIES, 168),
    Plant("interpolation to ghosts", "mesh/interpolation.hpp", COARSE_CELL, 15),
    Plant("multigrid", "gravity/smoothing.cpp", RELAXED_PLANE, 53),
    Plant("deposit of particles", "particles/deposit.cpp", CLOUD, 12),
    Plant("kick of particles", "particles/motion.cpp", KICK, 19),
    Plant("cooling", "subgrid/cooling/ionization.hpp", HALVING, 2),
    Plant("momentum of a flow", "dns/prediction.cpp", ROW, 52),
    Plant("fast multipole method: points", "gravity/fmm_forces.cpp", POINTS, 520, (FMM,)),
)


def plant_all(source: Path) -> None:
    """Change the sources of a copy."""
    for plant in PLANTS:
        file = source / plant.source
        text = file.read_text()
        if plant.line not in text:
            sys.exit(f"{plant.source} no longer contains:\n{plant.line}")
        file.write_text(text.replace(plant.line, plant.text(), 1))


def build(copy: Path) -> Path:
    """Build a copy; return the path of the program."""
    environment = os.environ | {"OCTANT_PRESET": "portable"}
    subprocess.run(
        [str(copy / "octant"), "bench", "balance", "--help"], env=environment, check=True
    )
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
