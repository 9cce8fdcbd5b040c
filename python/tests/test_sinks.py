"""The table of black holes."""

from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Call
from synthetic import Synthetic

from octools.errors import OctoolsError
from octools.sinks import black_holes
from octools.snapshot import Snapshot
from octools.stars import SOLAR_MASS, YEAR


def with_holes(path: Path) -> Path:
    Synthetic(time=1.0).write(path)
    first = np.uint64(1 << 63)
    columns = {
        "mass": [1.0, 3.0],
        "swallowed": [0.5, 1.0],
        "bondi_rate": [0.2, 0.1],
        "eddington_rate": [0.4, 0.0],
        "saved_energy": [0.0, 1.0],
        "birth_scale_factor": [1.0, 1.0],
        "spin_x": [0.3, 0.0],
        "spin_y": [0.0, 0.0],
        "spin_z": [0.4, -0.9],
    }
    with h5py.File(path, "a") as file:
        file["header"].attrs["unit_time"] = 1e6 * YEAR
        file["header"].attrs["unit_mass"] = 1e8 * SOLAR_MASS
        group = file.create_group("particles/sinks")
        for name, values in columns.items():
            group[name] = np.asarray(values)
        group["id"] = first + np.arange(2, dtype=np.uint64)
        group["mergers"] = np.array([0, 2])
        group["position"] = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    return path


def test_holes_are_listed_by_mass_in_solar_units(tmp_path: Path) -> None:
    with Snapshot(with_holes(tmp_path / "snap.h5")) as snapshot:
        found = black_holes(snapshot)
    assert found["mass_Msun"] == pytest.approx([3e8, 1e8])
    assert found["spin"] == pytest.approx([0.9, 0.5])
    assert found["bondi_Msun_per_yr"] == pytest.approx([10.0, 20.0])
    assert found["feeding"] == pytest.approx([0.0, 0.5])
    assert found["number"].tolist() == [1, 0]
    assert found["mergers"].tolist() == [2, 0]
    assert found["x"].tolist() == [0.4, 0.1]


def test_the_command_writes_all_of_them(octools: Call, tmp_path: Path) -> None:
    result = octools("sinks", with_holes(tmp_path / "snap.h5"), "-o", tmp_path / "holes.csv")
    assert result.returncode == 0, result.stderr
    assert "2 black holes" in result.stdout
    lines = (tmp_path / "holes.csv").read_text().splitlines()
    assert lines[0].startswith("number,mass_Msun,spin")
    assert len(lines) == 3


def test_mergers_of_the_run_are_written_beside(octools: Call, tmp_path: Path) -> None:
    first, ids = 1 << 63, {"id": [0, 0], "heaviest_id": [0, 0], "other_id": [2, 3]}
    columns = {name: np.array(values, np.uint64) + np.uint64(first) for name, values in ids.items()}
    columns |= {name: np.array([0.5, 0.6]) for name in ("time", "scale_factor", "position_x")}
    columns |= {name: np.array([2.0, 1.0]) for name in ("heaviest_mass", "other_mass")}
    columns |= {name: np.array([0.1, 0.2]) for name in ("position_y", "position_z")}
    pq.write_table(pa.table(columns), tmp_path / "black_hole_mergers.parquet")
    result = octools("sinks", with_holes(tmp_path / "snap.h5"), "-o", tmp_path / "holes.csv")
    assert result.returncode == 0, result.stderr
    assert "2 mergers" in result.stdout
    names, one, _ = (tmp_path / "holes_mergers.csv").read_text().splitlines()
    row = dict(zip(names.split(","), one.split(","), strict=True))
    assert (row["number"], row["other"]) == ("0", "2")
    assert float(row["heaviest_Msun"]) == pytest.approx(2e8)
    assert float(row["scale_factor"]) == 0.5


def test_a_snapshot_without_holes_is_refused(tmp_path: Path) -> None:
    Synthetic(time=1.0).write(tmp_path / "snap.h5")
    with (
        Snapshot(tmp_path / "snap.h5") as snapshot,
        pytest.raises(OctoolsError, match=r"black_holes\.enabled"),
    ):
        black_holes(snapshot)
