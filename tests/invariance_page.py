#!/usr/bin/env python3
"""Writes docs/invariance.md: what every example must give under every transformation.

    .octant/venv/bin/python tests/invariance_page.py

The table is that of tests/invariance/cases.py. tests/invariance/test_table.py sees that the page is
current.
"""

import sys

from running import ROOT

sys.path.insert(0, str(ROOT / "tests/invariance"))

from cases import COLUMNS, EXPECTED, REASONS, WHY, Entry

PAGE = ROOT / "docs/invariance.md"
HEAD = """# Invariance

Results must not depend on units, orientation, position, uniform motion, the decomposition of the
mesh, or the order of particles. `tests/invariance/` transforms the first three steps of every
example, shortened as in `tests/smaller_examples.py`, and compares them with the original run.

```sh
./octant test invariance         # one variant of each transformation
cd tests/invariance && ../../.octant/venv/bin/python -m pytest -q --all      # all
```
"""
COLUMN_MEANINGS = {
    "units": (
        "length units scaled by 2⁵, mass units by 2¹⁵, time units by 2⁻⁷ (unchanged densities): "
        "all parameters by the units in `octant params`, expressions by substitution",
        "`test_units.py`",
    ),
    "mass": ("mass unit scaled by 2⁻⁴⁰", "`test_units.py` with `--all`"),
    "mirror": (
        "reflection about the centre of the domain, along x, y or z",
        "`test_geometry.py`, `test_flow_geometry.py`",
    ),
    "permute": (
        "x → y → z → x, and exchange of x and y; incompressible flows: exchange of x and y",
        "the same",
    ),
    "translate": (
        "by whole blocks of the base grid along periodic axes; incompressible flows: 3 cells",
        "the same",
    ),
    "boost": (
        "uniform velocity of one cell per eight steps: conserved totals, "
        "and the L1 norm of the density to 3 %",
        "`test_geometry.py`",
    ),
    "blocks": (
        "blocks of 4 and 8 cells, or 8 and 16, on a uniform mesh",
        "`test_layout.py`; adaptive meshes: `test_sources.py`, `test_fractions.py`, "
        "`test_initial_files.py` and others of `tests/physics/`",
    ),
    "particles": ("particles of the initial file in reverse order", "`test_geometry.py`"),
    "schedule": (
        "`device` or `batches` schedule, on two threads",
        "`test_layout.py`; `test_device_schedule.py`, `test_dns_same_bits.py` of `tests/physics/`",
    ),
    "ranks": (
        "1, 2 and 3 ranks",
        "`tests/physics/test_reference_bits.py`; decompositions and exchanges: "
        "`test_same_bits.py`, `tests/parallel/same_bits_matrix.py`",
    ),
}
METHOD = """
Geometric transformations use files of initial conditions: the initial state of the example is
written to arrays (`problem.name = "file"`, or `"stored_flow"` for incompressible flows), which are
transformed together with all parameters that have a direction or a position. Inflow boundaries are
replaced by open boundaries in both runs, because a file defines no inflow. `gravity.tolerance` is
10⁻¹², because the multigrid residual depends on the red-black colouring of the cells, and thereby
on the orientation.

Numbers are upper bounds of the maximum difference of any field relative to the scale of the field.
The components of a vector have a common scale. The scale of velocities is at least the sound speed,
and that of pressures at least the kinetic energy density. `bits` means bitwise-identical results, a
dash that the transformation does not apply. Letters refer to the reasons below the table.

"""


def cell(entry: Entry, letters: dict[str, str]) -> str:
    """Show an entry."""
    if isinstance(entry, str):
        return f"— {letters[entry]}"
    bound, why = entry if isinstance(entry, tuple) else (entry, None)
    shown = f"{bound:.0e}" if bound else "bits"
    return f"{shown} {letters[why]}" if why else shown


def page() -> str:
    """Write the page."""
    names = [*WHY, *REASONS]
    letters = dict(zip(names, "abcdefghijklmnopqrstuvwxyz", strict=False))
    lines = ["", "| column | transformation | test |", "|---|---|---|"]
    lines += [f"| {column} | {' | '.join(COLUMN_MEANINGS[column])} |" for column in COLUMNS]
    head = HEAD + "\n".join(lines) + "\n" + METHOD
    lines = [f"| example | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for example, expected in EXPECTED.items():
        shown = [cell(getattr(expected, column), letters) for column in COLUMNS]
        lines.append(f"| {example} | {' | '.join(shown)} |")
    lines += ["", "| | reason |", "|---|---|"]
    lines += [f"| {letters[name]} | {text} |" for name, text in (WHY | REASONS).items()]
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
