"""Gas that does not change along z, or along y and z: the same bits from one layer's fluxes."""

from pathlib import Path

import pytest

from inputs import TINY_BLAST
from running import CHECKPOINT_EVERY_STEP, assert_same_run, octant, run, run_well

# Rolls between sliding gases, in a layer of blocks of which some are refined.
PLANE = """
[problem]
name = "kelvin_helmholtz"
amplitude = 0.1

[mesh]
base_cells = [32, 32, {across}]
upper = [1.0, 1.0, {depth}]
block_size = {across}
max_level = 1

[hydro]
scalars = 1
dual_energy = "on"

[refine]
gradient_fields = ["density"]
gradient = [0.08]

[balance]
interval = 2

[time]
end = 100.0
max_steps = 6
"""
TUBE = """
[problem]
name = "sod"

[mesh]
base_cells = [64, 4, 4]
upper = [1.0, 0.0625, 0.0625]
block_size = 4
max_level = 2
boundary_x = ["outflow", "outflow"]

[hydro]
scheme = "rk2"
reconstruction = "ppm"

[refine]
gradient_fields = ["density"]
gradient = [0.05]

[time]
max_steps = 8
"""


@pytest.mark.parametrize(
    ("dimensions", "case"),
    [
        (2, PLANE.format(across=8, depth=0.25)),
        (2, PLANE.format(across=4, depth=0.125)),
        (1, TUBE),
    ],
)
def test_gives_the_same_bits(tmp_path: Path, dimensions: int, case: str) -> None:
    whole = run_well(tmp_path / "whole", case, *CHECKPOINT_EVERY_STEP)
    assert max(whole.history()["leaf_cells_1"]) > 0
    assert f"hydro.dimensions = {dimensions} gives bitwise-identical results" in whole.text
    said = "one row of cells" if dimensions == 1 else "one layer of cells"
    for ranks in (1, 3):
        how = f"hydro.dimensions={dimensions}"
        fewer = run_well(tmp_path / str(ranks), case, *CHECKPOINT_EVERY_STEP, how, ranks=ranks)
        assert_same_run(fewer, whole)
        assert said in fewer.text


def test_check_says_what_is_saved(tmp_path: Path) -> None:
    file = tmp_path / "tube.toml"
    file.write_text(TUBE)
    assert "the domain is one block wide: if the gas" in octant("check", file).text
    found = octant("check", file, "--set", "hydro.dimensions=1").text
    assert "one dimension: fluxes are computed for one row" in found


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (("hydro.dimensions=4",), "4 is out of range"),
        (('mesh.boundary_z=["outflow","outflow"]',), "mesh.boundary_z must be"),
        (("mesh.base_cells=[64,4,8]", "mesh.upper=[1.0,0.0625,0.125]"), "expected one block"),
        (("gravity.enabled=true",), "gravity.enabled"),
        (
            ('problem.axis="z"', "problem.position=0.03"),
            "differs from that of its neighbours along z",
        ),
        (('refine.where="z < 0.02"',), "refinement level varies along z"),
    ],
)
def test_refuses_what_changes(tmp_path: Path, changes: tuple[str, ...], complaint: str) -> None:
    outcome = run(tmp_path / "run", TUBE, "hydro.dimensions=2", *changes, ranks=2)
    assert outcome.code == 2
    assert complaint in outcome.text


def test_blocks_side_by_side_must_be_alike(tmp_path: Path) -> None:
    """Each of them uniform: the cells below them tell that they differ."""
    gas = ('problem.name="expression"', 'problem.density="z < 0.03125 ? 1 : 2"', 'refine.where="1"')
    for ranks in (1, 3):
        how = ("hydro.dimensions=2", "mesh.max_level=1", *gas)
        outcome = run(tmp_path / str(ranks), TUBE, *how, ranks=ranks)
        assert outcome.code == 2
        assert "on level 0 differs from that of its neighbours along z" in outcome.text


def test_is_not_offered_where_the_domain_is_deep(tmp_path: Path) -> None:
    assert "hydro.dimensions" not in run_well(tmp_path / "run", TINY_BLAST).text
