"""Namelists of RAMSES, converted and run: the densest cell is as dense as in RAMSES's output."""

import json
from pathlib import Path

import pytest
from octools.inputs import ramses

from reference_data import reference_files
from running import leaf_cells, run_well

FOLDERS = [path.parent for path in reference_files("ramses/*/check.json")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_converted_namelist_gives_the_densities_of_ramses(tmp_path: Path, folder: Path) -> None:
    (namelist,) = folder.glob("*.nml")
    done = ramses.convert(namelist)
    if done.get("run_params/pic"):
        pytest.skip("its particles are not read")
    found = json.loads((folder / "check.json").read_text())["independent_reader"]
    end = [f"time.end={found['time']}", "output.snapshot_times=[]"]
    outcome = run_well(tmp_path / "run", done.finish("RAMSES"), *end)
    cells = leaf_cells(outcome.last_snapshot)
    assert cells["density"].max() == pytest.approx(found["max_density"], rel=0.01)
    mass = (cells["density"] * cells.volume).sum()
    assert mass == pytest.approx(found["total_mass"], rel=1e-6)
