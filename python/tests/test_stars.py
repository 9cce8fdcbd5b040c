"""The history of star formation."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from matplotlib.figure import Figure
from synthetic import Synthetic, add_particles, around

from octools.errors import OctoolsError
from octools.figure import Picture, picture_field, render
from octools.snapshot import Snapshot
from octools.stars import (
    SOLAR_MASS,
    YEAR,
    StarFormation,
    cosmic_time,
    save_star_formation,
    star_formation,
)


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
    with Snapshot(path) as snapshot, pytest.raises(OctoolsError, match="contains no stars"):
        star_formation(snapshot)


def test_rates_are_drawn_over_redshift_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr("octools.stars.save", lambda figure, _: figures.append(figure))
    middles = np.linspace(1000.0, 9000.0, 9)
    history = StarFormation(np.linspace(500, 9500, 10), middles, middles, np.linspace(6, 0.1, 9))
    save_star_formation(history, "a run", tmp_path / "sfr.png")
    save_star_formation(replace(history, redshift=None), "a run", tmp_path / "sfr.png")
    top = figures[0].get_axes()[0].child_axes[0]
    assert top.get_xlabel() == "redshift"
    assert {"6", "2"} <= {label.get_text() for label in top.get_xticklabels()}
    assert figures[0].get_axes()[1].get_xlabel() == "cosmic time [Myr]"
    assert not figures[1].get_axes()[0].child_axes


def test_stars_are_projected_onto_the_finest_cells(tmp_path: Path) -> None:
    """Few of them, close together: not onto pixels of their mean distance in the domain."""
    path = Synthetic(refine=around((0.5, 0.5, 0.5), 0.05, levels=4)).write(tmp_path / "snap.h5")
    add_particles(path, "stars", 20)
    add_particles(path, "dark", 20)
    sizes = {}
    with Snapshot(path) as snapshot:
        for kind in ("stars", "dark"):
            picture = Picture(kind, "projection")
            image = render(snapshot, picture, picture_field(snapshot, picture))
            sizes[kind] = image.values.shape
    assert sizes == {"stars": (256, 256), "dark": (64, 64)}
