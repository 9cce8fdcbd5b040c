"""Namelists of RAMSES in one and two dimensions, which do not contain that number."""

from pathlib import Path

import pytest
from test_inputs import converted, statuses

from octools.inputs.conversion import CHANGED

TUBE = """
&RUN_PARAMS
hydro=.true.
/
&AMR_PARAMS
levelmin=5, levelmax=8
/
&INIT_PARAMS
nregion=2
region_type='square','point'
x_center=0.5,0.25
length_x=10.0,1.0
exp_region=10.0,10.0
d_region=1.0,0.5
p_region=1.0,0.1
/
&OUTPUT_PARAMS
tend=0.1
/
"""


def test_regions_along_one_axis_are_a_line_of_cells(tmp_path: Path) -> None:
    done, found = converted(tmp_path / "run.nml", TUBE)
    assert found["mesh"]["base_cells"] == [256, 4, 4], "levelmax without refinement"
    assert found["mesh"]["max_level"] == 0
    assert found["hydro"]["dimensions"] == 1
    assert found["mesh"]["upper"] == [1.0, 4 / 256, 4 / 256]
    assert found["problem"]["density"].endswith("+ 0.5 * at_point_2 / cell_size")
    assert "y" not in found["problem"]["terms"]["at_point_2"]
    assert statuses(done)["amr_params/levelmin"] == CHANGED


def test_regions_along_two_axes_are_a_layer_of_cells(tmp_path: Path) -> None:
    _, found = converted(tmp_path / "run.nml", TUBE.replace("length_x", "y_center=2*0.5\nlength_x"))
    assert found["mesh"]["base_cells"] == [32, 32, 4]
    assert found["mesh"]["max_level"] == 3
    assert found["mesh"]["upper"] == [1.0, 1.0, 4 / 32]
    assert found["problem"]["density"].endswith("/ cell_size^2")


def test_cooling_computes_all_cells_of_a_line(tmp_path: Path) -> None:
    units = "&UNITS_PARAMS\nunits_length=1d20\nunits_time=1d13\nunits_density=1d-24\n/\n"
    cooling = "&COOLING_PARAMS\ncooling=.true.\n/\n"
    _, found = converted(tmp_path / "run.nml", TUBE + units + cooling)
    assert found["cooling"]["enabled"]
    assert found["mesh"]["base_cells"] == [256, 4, 4]
    assert "dimensions" not in found["hydro"], "refused with physical processes"


@pytest.mark.parametrize("setting", ["z_center=2*0.5", "w_region=2*0.0"])
def test_regions_that_name_all_axes_are_cubes(tmp_path: Path, setting: str) -> None:
    _, found = converted(tmp_path / "run.nml", TUBE.replace("length_x", f"{setting}\nlength_x"))
    assert found["mesh"]["base_cells"] == [32, 32, 32]


def test_gravity_keeps_three_dimensions(tmp_path: Path) -> None:
    text = TUBE.replace("hydro=.true.", "hydro=.true.\npoisson=.true.")
    _, found = converted(tmp_path / "run.nml", text)
    assert found["mesh"]["base_cells"] == [32, 32, 32]
