"""Halos: against brute force, across boundaries, and in numbers that are known."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from synthetic import Array, Synthetic
from typer.testing import CliRunner

from octools import compiled, cosmology_commands
from octools import halos as module
from octools.cli import app
from octools.errors import OctoolsError
from octools.halos import Particles, find_halos, friends_of_friends, read_particles
from octools.snapshot import Snapshot


def particles_at(position: Array, periodic: bool = True, size: float = 1.0) -> Particles:
    return Particles(
        position,
        np.zeros_like(position),
        np.ones(len(position)),
        np.zeros(3),
        np.full(3, size),
        np.full(3, periodic),
    )


def partition(group: Array) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(group == g)) for g in np.unique(group)}


def brute_force(particles: Particles, length: float) -> Array:
    apart = particles.position[:, None] - particles.position[None]
    apart -= np.rint(apart / particles.size) * particles.periodic * particles.size
    near = np.sum(apart**2, axis=-1) <= length**2
    group = np.arange(len(near))
    while True:
        least = np.array([group[friends].min() for friends in near])
        if np.array_equal(least, group):
            return group
        group = least


@pytest.fixture(params=["numpy", "library"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let groups be found by NumPy alone, or by the library that Octant has built."""
    if request.param == "numpy":
        monkeypatch.setattr(compiled, "load_friends", lambda: None)
        monkeypatch.setattr(module, "BATCH_PAIRS", 50)
    elif compiled.load_friends() is None:
        pytest.skip("there is no liboctant_friends.so: build Octant, or set OCTANT_BUILD")
    return str(request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0.03, 0.08, 0.2])
def test_groups_are_those_of_brute_force(periodic: bool, length: float) -> None:
    generator = np.random.default_rng(1)
    clumps = generator.normal(generator.uniform(size=(20, 1, 3)), 0.04, (20, 15, 3))
    loose = generator.uniform(size=(200, 3))
    position = np.concatenate([clumps.reshape(-1, 3), loose])
    position = position % 1.0 if periodic else np.clip(position, 0.0, 1.0)
    particles = particles_at(position, periodic)
    found = friends_of_friends(particles, length)
    assert partition(found) == partition(brute_force(particles, length))
    assert len(partition(found)) > 1


def ball(generator: np.random.Generator, centre: Array, radius: float, number: int) -> Array:
    direction = generator.normal(size=(number, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return centre + radius * np.cbrt(generator.uniform(size=(number, 1))) * direction


def write_snapshot(path: Path) -> Path:
    """Two balls of 400 and 200 particles, one of them in a corner, among 1000 loose ones."""
    generator = np.random.default_rng(2)
    corner, middle = np.array([0.99, 0.01, 0.995]), np.array([0.5, 0.4, 0.6])
    parts = [
        ball(generator, corner, 0.02, 400),
        ball(generator, middle, 0.01, 200),
        generator.uniform(size=(1000, 3)),
    ]
    velocity = np.concatenate(
        [np.tile([1.0, 0.0, -2.0], (400, 1)), generator.normal(0.0, 3.0, (1200, 3))]
    )
    Synthetic().write(path)
    with h5py.File(path, "a") as file:
        group = file.create_group("particles/dark")
        group["position"] = np.concatenate(parts) % 1.0
        group["velocity"] = velocity
        group["mass"] = np.full(1600, 0.25)
        group["id"] = np.arange(1600, dtype=np.uint64)
        dye = file.create_group("particles/dye")
        dye["position"], dye["velocity"] = np.zeros((3, 3)), np.ones((3, 3))
        dye["id"], dye["colour"] = np.arange(3, dtype=np.uint64), np.array([5, 6, 7])
    return path


def test_two_balls_are_found_and_measured(tmp_path: Path) -> None:
    with Snapshot(write_snapshot(tmp_path / "snap_00000.h5")) as snapshot:
        halos = find_halos(read_particles(snapshot))
    assert halos.linking_length == pytest.approx(0.2 / np.cbrt(1600))
    assert len(halos.mass) == 2
    # A stray particle may come to lie within the linking length.
    assert abs(halos.number - [400, 200]).max() <= 3
    assert halos.mass == pytest.approx(0.25 * halos.number)
    apart = halos.centre - [[0.99, 0.01, 0.995], [0.5, 0.4, 0.6]]
    assert np.abs(apart - np.rint(apart)).max() < 0.002
    assert halos.velocity[0] == pytest.approx([1.0, 0.0, -2.0], abs=0.1)
    # Of a uniform ball: the mean square distance is 3/5 of the squared radius.
    assert halos.radius == pytest.approx(np.sqrt(0.6) * np.array([0.02, 0.01]), rel=0.1)
    assert halos.dispersion[1] == pytest.approx(3.0, rel=0.1)


def test_columns_of_any_kind_are_read_but_halos_need_mass(tmp_path: Path) -> None:
    with Snapshot(write_snapshot(tmp_path / "snap_00000.h5")) as snapshot:
        assert sorted(snapshot.particle_kinds) == ["dark", "dye"]
        dye = snapshot.particles("dye")
        assert sorted(dye) == ["colour", "id", "position", "velocity"]
        assert dye["colour"].tolist() == [5, 6, 7]
        assert dye["position"].shape == (3, 3)
        with pytest.raises(OctoolsError, match="kind of particles"):
            snapshot.particles("stars")
        with pytest.raises(OctoolsError, match="dye particles have no mass"):
            read_particles(snapshot, "dye")


def test_the_command_writes_a_catalogue_and_a_picture(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "snap_00003.h5")
    result = CliRunner().invoke(app, ["halos", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "2 halos" in result.output
    assert re.search(r"particles +mass +x +y +z +radius +dispersion\n", result.output)
    assert "in code units" in result.output
    table = np.genfromtxt(tmp_path / "snap_00003_halos.csv", delimiter=",", names=True)
    assert table["particles"][0] >= table["particles"][1] >= 200
    assert table["mass"] == pytest.approx(0.25 * table["particles"])
    assert (tmp_path / "snap_00003_halos.png").stat().st_size > 10_000
    with h5py.File(tmp_path / "snap_00003_halos.h5") as file:
        for name in table.dtype.names:
            assert file["halos"][name][...] == pytest.approx(table[name], rel=1e-9)
            assert file["halos"][name].attrs["description"]
        assert file["halos/velocity_x"].attrs["units"] == "length / time"
        assert file["header"].attrs["unit_mass"] == 1.0


@pytest.mark.filterwarnings("error")
def test_a_snapshot_without_halos_gives_an_empty_catalogue(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "snap_00003.h5")
    result = CliRunner().invoke(app, ["halos", str(tmp_path), "--least", "1000"])
    assert result.exit_code == 0, result.output
    assert "no halos of 1000 particles or more" in result.output
    assert len((tmp_path / "snap_00003_halos.csv").read_text().splitlines()) == 1
    assert (tmp_path / "snap_00003_halos.png").is_file()


def test_a_snapshot_without_particles_is_refused(tmp_path: Path) -> None:
    path = Synthetic().write(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot, pytest.raises(OctoolsError, match="contains no particles"):
        read_particles(snapshot)
    write_snapshot(path)
    with Snapshot(path) as snapshot, pytest.raises(OctoolsError, match="did you mean dark"):
        read_particles(snapshot, "darks")
    with Snapshot(path) as snapshot, pytest.raises(OctoolsError, match="too large"):
        find_halos(read_particles(snapshot), linking=5.0)


BOX = """
[cosmology]
enabled = true
box = 50.0
omega_m = 0.3
omega_lambda = 0.7
omega_b = 0.06
h = 0.7
"""


@pytest.mark.parametrize(
    ("parameters", "heads", "mass", "length"),
    [
        (BOX, ["mass [Msun/h]", "x [Mpc/h]", "dispersion [km/s]"], None, 50.0),
        ("", ["mass [Msun]", "x [kpc]", "dispersion [km/s]"], 1e10, 1.0),
    ],
)
def test_halos_are_listed_in_physical_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: str, heads: list[str],
    mass: float | None, length: float,
) -> None:  # fmt: skip
    """Units are in the head of each column, and numbers are in them."""
    monkeypatch.setattr(cosmology_commands.console, "width", 200)
    path = write_snapshot(tmp_path / "snap_00003.h5")
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(
            parameters=parameters,
            unit_length=3.0856775814913673e21,
            unit_time=3.0856775814913673e16,
            unit_mass=1.988409870698051e43,
        )
    result = CliRunner().invoke(app, ["halos", str(tmp_path), "--no-picture"])
    assert result.exit_code == 0, result.output
    head, first, *_ = [line for line in result.output.splitlines() if line.strip()][1:]
    assert all(name in head for name in heads), head
    number, weight, *place = (float(word) for word in first.split()[:5])
    table = np.genfromtxt(tmp_path / "snap_00003_halos.csv", delimiter=",", names=True)
    assert place == pytest.approx([length * table[axis][0] for axis in "xyz"], rel=1e-3)
    # Masses count all matter: the mean density of the box includes baryons.
    per_unit = mass or 2.77536627e11 * 0.3 * 50.0**3 / 0.8
    assert weight == pytest.approx(per_unit * table["mass"][0], rel=1e-3)
    assert number == table["particles"][0]
    assert first.split()[-1] == f"{table['dispersion'][0] * 1.0:.5g}"
