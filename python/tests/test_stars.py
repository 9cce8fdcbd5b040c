"""The history of star formation."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from synthetic import Synthetic

from octools.errors import OctoolsError
from octools.snapshot import Snapshot
from octools.stars import SOLAR_MASS, YEAR, cosmic_time, save_star_formation, star_formation


def with_stars(path: Path, time: float, parameters: str = "", **columns: object) -> Path:
    Synthetic(time=time, parameters=parameters).write(path)
    with h5py.File(path, "a") as file:
        file["header"].attrs["unit_time"] = 1e6 * YEAR
        file["header"].attrs["unit_mass"] = 100.0 * SOLAR_MASS
        group = file.create_group("particles/stars")
        for name, values in columns.items():
            group[name] = np.asarray(values, dtype=float)
    return path


def test_rates_are_masses_over_times(tmp_path: Path) -> None:
    path = with_stars(
        tmp_path / "snap.h5",
        10.0,
        birth_time=[0.5, 3.2, 3.9, 9.9],
        initial_mass=[1.0, 2.0, 3.0, 4.0],
        mass=[1.0, 1.0, 1.0, 1.0],
    )
    with Snapshot(path) as snapshot:
        found = star_formation(snapshot, 10)
    assert found.edges == pytest.approx(np.arange(11.0))
    assert found.rate * 1e6 == pytest.approx([100, 0, 0, 500, 0, 0, 0, 0, 0, 400])
    assert found.mass[-1] == pytest.approx(1000.0)
    assert found.redshift is None
    save_star_formation(found, "a run", tmp_path / "sfr.png")
    assert (tmp_path / "sfr.png").stat().st_size > 1000


EXPANDING = """
[cosmology]
enabled = true
omega_m = 1.0
omega_lambda = 0.0
h = 0.7
"""


def test_in_an_expanding_box_time_is_that_since_the_universe_began(tmp_path: Path) -> None:
    a = np.array([0.1, 0.25, 0.5, 1.0])
    path = with_stars(
        tmp_path / "snap.h5", 0.0, EXPANDING, birth_scale_factor=a, initial_mass=np.ones(4)
    )
    with h5py.File(path, "a") as file:
        file["header"].attrs["scale_factor"] = 1.0
    with Snapshot(path) as snapshot:
        exact = 2.0 / 3.0 * a**1.5 / 0.7 * 3.0856775814913673e17  # Einstein & de Sitter (1932)
        assert cosmic_time(a, snapshot.header) == pytest.approx(exact, rel=1e-6)
        found = star_formation(snapshot, 20)
    assert found.edges[[0, -1]] == pytest.approx(exact[[0, -1]] / (1e6 * YEAR), rel=1e-6)
    assert found.mass[-1] == pytest.approx(400.0)
    assert found.redshift is not None
    assert (np.diff(found.redshift) < 0.0).all()
    middle = found.middles[10] * 1e6 * YEAR
    z = (exact[-1] / middle) ** (2.0 / 3.0) - 1.0
    assert found.redshift[10] == pytest.approx(z, rel=1e-3)


def test_a_file_without_stars_is_refused(tmp_path: Path) -> None:
    path = Synthetic().write(tmp_path / "snap.h5")
    with Snapshot(path) as snapshot, pytest.raises(OctoolsError, match="has no stars"):
        star_formation(snapshot)
