#!/usr/bin/env python3
"""Prints errors of radiating shocks that start from the exact solution in their own frame.

    tests/measure/radiating_shocks.py

Mach 2, 3 and 5, about two minutes on one core. docs/radiation_validation.md lists the results.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "physics"))

from test_radiation_exchange import shock_errors

# Mach number, cells, ends of the box, and reduced over full speed of light.
SHOCKS = (
    (2.0, 64, (-0.02, 0.012), 1e-3),
    (2.0, 128, (-0.02, 0.012), 1e-3),
    (3.0, 128, (-0.03, 0.008), 2e-3),
    (5.0, 256, (-0.045, 0.005), 3e-3),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for mach, cells, ends, ratio in SHOCKS:
            directory = Path(folder) / f"{mach}_{cells}" / "run"
            gas, radiation = shock_errors(directory, mach, cells, ends, ratio)
            print(f"Mach {mach}, {cells} cells: T {gas:.2e}, radiation {radiation:.2e}", flush=True)


if __name__ == "__main__":
    main()
