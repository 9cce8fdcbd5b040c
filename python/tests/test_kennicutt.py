"""Kennicutt's relation."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call
from synthetic import Synthetic, around

from octools.errors import OctoolsError
from octools.kennicutt import kennicutt, kennicutt_rate, save_kennicutt
from octools.snapshot import Snapshot
from octools.stars import SOLAR_MASS, YEAR

KILOPARSEC = 3.0856775814913673e21


def galaxy(path: Path, **stars: object) -> Path:
    """Write gas of 1000 solar masses per cubic kpc, thicker along x, in 8 kpc, 4 of them finer."""
    Synthetic(
        time=60.0,
        block_size=4,
        base_cells=(8, 8, 8),
        upper=(8.0, 8.0, 8.0),
        refine=around((2.0, 2.0, 2.0), 1.0, 1),
        fields={
            "density": lambda x, y, z: 1000.0 * (1.0 + x) + 0.0 * (y + z),
        },
    ).write(path)
    with h5py.File(path, "a") as file:
        header = file["header"].attrs
        header["unit_time"] = 1e6 * YEAR
        header["unit_mass"] = SOLAR_MASS
        header["unit_length"] = KILOPARSEC
        group = file.create_group("particles/stars")
        for name, values in stars.items():
            group[name] = np.asarray(values, dtype=float)
    return path


STARS = {
    "position": [[0.3, 0.4, 7.0], [0.6, 0.1, 1.0], [5.5, 2.5, 3.0]],
    "initial_mass": [30.0, 70.0, 500.0],
    "birth_time": [20.0, 59.0, 5.0],
}


def test_columns_and_rates_are_those_of_the_squares(tmp_path: Path) -> None:
    with Snapshot(galaxy(tmp_path / "snap.h5", **STARS)) as snapshot:
        found = kennicutt(snapshot, 2, 1.0, 50.0, rings=False)  # the third star is too old
        wide = kennicutt(snapshot, 2, 2.0, 100.0, rings=False)
    assert found.gas == pytest.approx([8.0 * 1.5e3 / 1e6])
    assert found.rate == pytest.approx([100.0 / 50e6])
    assert wide.gas == pytest.approx([8.0 * 2e3 / 1e6, 8.0 * 6e3 / 1e6])
    assert wide.rate == pytest.approx([100.0 / 100e6 / 4.0, 500.0 / 100e6 / 4.0])
    assert wide.offset == pytest.approx(np.log10(wide.rate / (2.5e-4 * wide.gas**1.4)))
    assert kennicutt_rate(np.array([10.0])) == pytest.approx(6.28e-3, rel=1e-3)
    save_kennicutt(wide, "a run", tmp_path / "kennicutt.png")
    assert (tmp_path / "kennicutt.png").stat().st_size > 1000


def test_rings_hold_the_gas_and_the_stars_within_them(tmp_path: Path) -> None:
    """They lie around the stars' centre of mass, as far as the domain reaches on all sides."""
    pair = {
        "position": [[3.5, 4.0, 7.0], [4.5, 4.0, 1.0], [4.0, 7.5, 1.0], [4.0, 0.5, 3.0]],
        "initial_mass": [30.0, 30.0, 500.0, 500.0],
        "birth_time": [59.0, 59.0, 20.0, 20.0],
    }
    with Snapshot(galaxy(tmp_path / "snap.h5", **pair)) as snapshot:
        inner = kennicutt(snapshot, 2, 2.0, 20.0, rings=True)
        both = kennicutt(snapshot, 2, 2.0, 50.0, rings=True)
    area = 4.0 * np.pi
    assert inner.rate == pytest.approx([60.0 / 20e6 / area])
    assert both.rate == pytest.approx([60.0 / 50e6 / area, 1000.0 / 50e6 / (3.0 * area)])
    # Cells of 1 kpc are in or out by their centres: 12 in the inner ring, 52 within both.
    assert inner.gas == pytest.approx([8.0 * 12.0 * 5e3 / area / 1e6], rel=0.02)
    assert both.gas[1] == pytest.approx(8.0 * 40.0 * 5e3 / (3.0 * area) / 1e6, rel=0.02)


def test_squares_below_the_cells_are_refused(tmp_path: Path) -> None:
    with (
        Snapshot(galaxy(tmp_path / "snap.h5", **STARS)) as snapshot,
        pytest.raises(OctoolsError, match="smaller than the finest cells"),
    ):
        kennicutt(snapshot, 2, 0.1, 50.0, rings=False)


@pytest.mark.parametrize(
    ("age", "words", "factor", "message"),
    [
        (3.0, (), 3.0, "the run is 3 Myr old: rates are means over that time"),
        (3.0, ("--age", "2"), 2.0, ""),
        (3.0, ("--age", "50"), 50.0, "warning: the run is 3 Myr old"),
        (60.0, (), 50.0, ""),
    ],
)
def test_a_young_run_is_averaged_over_its_age(
    tmp_path: Path, octools: Call, age: float, words: tuple[str, ...], factor: float, message: str
) -> None:
    stars = {"position": [[0.3, 0.4, 7.0]], "initial_mass": [30.0], "birth_time": [age - 0.5]}
    path = galaxy(tmp_path / "snap.h5", **stars)
    with h5py.File(path, "a") as file:
        file["header"].attrs["time"] = age
    result = octools("kennicutt", path, "--square", "1", *words)
    assert result.returncode == 0, result.stderr
    table = np.genfromtxt(tmp_path / "kennicutt.csv", delimiter=",", names=True)
    assert float(table["rate_Msun_per_yr_kpc2"]) == pytest.approx(30.0 / (factor * 1e6))
    assert (message in result.stdout) if message else "Myr old" not in result.stdout
