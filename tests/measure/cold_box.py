#!/usr/bin/env python3
"""Tables the heat of a cold box by size of blocks, scheme and reconstruction.

    OCTANT_DATA=... tests/measure/cold_box.py [--ranks 1]

Runs MUSIC's 32^3 set to a = 0.1013 on a uniform mesh, and prints the mass-weighted T/mu over that
of the adiabat that the gas begins on. The exit code is 1 if blocks of any size give other bits.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "physics"))

from test_cosmology import cold_box, heat_over_adiabat

from running import uniform_grid

FIELDS = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure")


def main() -> int:
    """Run and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=1)
    options = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory() as scratch:
        for profile in ("plm", "ppm"):
            # Parabolas need blocks of 4^3 and up.
            sizes = [n for n in (2, 4, 8, 16, 32) if profile == "plm" or n > 2]
            for scheme in ("muscl_hancock", "rk2", "rk3"):
                states, heats = set(), []
                for size in sizes:
                    folder = Path(scratch) / f"{profile}_{scheme}_{size}"
                    how = (f"hydro.scheme={scheme}", f"hydro.reconstruction={profile}")
                    snapshot = cold_box(
                        folder, f"mesh.block_size={size}", *how, ranks=options.ranks
                    )
                    heats.append(heat_over_adiabat(snapshot, folder / "snap_00000.h5"))
                    states.add(b"".join(uniform_grid(snapshot, f).tobytes() for f in FIELDS))
                row = "  ".join(f"{n}^3: {heat:.5f}" for n, heat in zip(sizes, heats, strict=True))
                bits = "same bits" if len(states) == 1 else f"{len(states)} states"
                print(f"{profile} {scheme:<14} {row}  {bits}", flush=True)
                same &= len(states) == 1
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
