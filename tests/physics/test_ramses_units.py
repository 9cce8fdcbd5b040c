"""Outputs of RAMSES in other readers: numbers, times, identities and units are the snapshot's."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from octools.initial import write_initial

from ramses_files import names_in, read_info, read_ramses
from refusals import assert_refused
from running import Outcome, leaf_cells, run, run_well

NEWTON = 6.67430e-8  # cgs
LENGTH, TIME = 3.0e21, 3.0e13  # cm, s
DENSITY = 7e-25  # g/cm^3
STARS = 3
MIXTURE = """
[problem]
name = "file"
path = "{path}"
particles = ["dark", "stars"]
[mesh]
base_cells = [8, 8, 8]
block_size = 4
lower = [-0.5, -0.5, -0.5]
upper = [0.5, 0.5, 0.5]
[hydro]
gamma = 1.6666666666666667
[gravity]
enabled = true
constant = {constant!r}
[units]
length = {length!r}
density = {density!r}
time = {time!r}
[time]
max_steps = 1
[output]
formats = ["octant", "ramses"]
"""


def mixture(folder: Path, constant: float, ranks: int = 1) -> Outcome:
    """Run one step of gas, dark matter and stars with a constant of gravity in code units."""
    noise = np.random.default_rng(2)
    shape = (8, 8, 8)
    gas = {
        "density": np.exp(0.1 * noise.normal(size=shape)),
        "velocity": 0.1 * noise.normal(size=(3, *shape)),
        "pressure": np.exp(0.1 * noise.normal(size=shape)),
    }
    particles = {
        kind: {
            "position": noise.random((count, 3)) - 0.5,
            "velocity": 0.1 * noise.normal(size=(count, 3)),
            "mass": 0.01 * noise.random(count),
        }
        for kind, count in (("dark", 20), ("stars", STARS))
    }
    particles["stars"]["birth_time"] = -np.arange(1.0, STARS + 1)
    folder.mkdir()
    lower, upper = (-0.5,) * 3, (0.5,) * 3
    path = write_initial(folder / "gas.h5", gas, lower=lower, upper=upper, particles=particles)
    text = MIXTURE.format(path=path, constant=constant, length=LENGTH, density=DENSITY, time=TIME)
    return run_well(folder / "run", text, "ramses.domains=2", ranks=ranks)


@pytest.fixture(scope="module", params=[1.0, 0.04], ids=["G = 1", "G = 0.04"])
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return mixture(tmp_path_factory.mktemp("mixture") / "run", request.param)


def output_of(outcome: Outcome) -> Path:
    return sorted(outcome.directory.glob("output_*"))[-1]


def constant_of(outcome: Outcome) -> float:
    with h5py.File(outcome.last_snapshot) as file:
        return float(file["header"].attrs["gravity_constant"])


def in_one_order(position: NDArray) -> NDArray:
    return np.lexsort(np.round(position * 2**20).astype(np.int64).T)


def test_outputs_have_the_numbers_of_snapshots(outcome: Outcome) -> None:
    numbers = [path.stem[-5:] for path in outcome.snapshots]
    assert [path.name[-5:] for path in sorted(outcome.directory.glob("output_*"))] == numbers
    assert numbers == ["00000", "00001"]


def test_the_constant_of_gravity_is_one_in_its_units(outcome: Outcome) -> None:
    info, constant = read_info(output_of(outcome)), constant_of(outcome)
    own = NEWTON * DENSITY * TIME**2
    assert NEWTON * info["unit_d"] * info["unit_t"] ** 2 == pytest.approx(own / constant)
    assert info["unit_t"] == pytest.approx(TIME / np.sqrt(constant))
    with h5py.File(outcome.last_snapshot) as file:
        time = float(file["header"].attrs["time"])
    assert info["time"] * info["unit_t"] == pytest.approx(time * TIME, rel=1e-14)
    assert ("gravity.constant converted from" in outcome.text) == (constant != 1.0)


def test_cells_are_the_same_in_cgs(outcome: Outcome) -> None:
    state, cells = read_ramses(output_of(outcome)), leaf_cells(outcome.last_snapshot)
    size = state.info["boxlen"] * 0.5**state.level
    theirs = in_one_order((state.place + 0.5) * size[:, None])
    ours = in_one_order(cells.position + 0.5)
    speed = state.info["unit_l"] / state.info["unit_t"]
    for name, unit in (("velocity_x", speed), ("pressure", state.info["unit_d"] * speed**2)):
        own = LENGTH / TIME if name == "velocity_x" else DENSITY * (LENGTH / TIME) ** 2
        found = state.fields[name][theirs] * unit
        assert found == pytest.approx(cells[name][ours] * own, rel=1e-13), name


def test_no_two_particles_share_an_identity(outcome: Outcome) -> None:
    found = read_ramses(output_of(outcome)).particles
    dark, stars = found["dark"]["id"], found["stars"]["id"]
    assert dark.tolist() == list(range(20))
    assert stars.tolist() == list(range(20, 20 + STARS))
    before = read_ramses(outcome.directory / "output_00000").particles
    assert (before["stars"]["id"] == stars).all()


def test_particles_are_the_same_in_cgs(outcome: Outcome) -> None:
    folder = output_of(outcome)
    info, found = read_info(folder), read_ramses(folder).particles["stars"]
    speed = info["unit_l"] / info["unit_t"]
    with h5py.File(outcome.last_snapshot) as file:
        stars = {name: data[...] for name, data in file["particles/stars"].items()}
    assert found["velocity"] * speed == pytest.approx(stars["velocity"] * LENGTH / TIME, rel=1e-13)
    births = found["birth_time"] * info["unit_t"]
    assert births == pytest.approx(stars["birth_time"] * TIME, rel=1e-13)
    assert found["mass"] == pytest.approx(stars["mass"], rel=1e-15)
    assert "birth_time" in names_in(folder, "part_file_descriptor.txt")


def test_several_ranks_write_the_same_identities(tmp_path: Path, outcome: Outcome) -> None:
    other = mixture(tmp_path / "other", constant_of(outcome), ranks=3)
    for name in ("part", "hydro"):
        for path in output_of(outcome).glob(f"{name}_*.out*"):
            assert (output_of(other) / path.name).read_bytes() == path.read_bytes()


def test_a_run_goes_on_only_in_these_units(tmp_path: Path, outcome: Outcome) -> None:
    text, folder = outcome.parameters, output_of(outcome)
    again = run(tmp_path / "again", text, "time.max_steps=0", restart=folder)
    if constant_of(outcome) != 1.0:
        assert_refused(again, "units of length, density and time")
        return
    assert again.code == 0, again.text
    with h5py.File(again.last_snapshot) as file:
        assert (file["particles/stars/id"][...] % 2**62).tolist() == list(range(20, 20 + STARS))


def test_yt_and_osyris_find_the_snapshot(outcome: Outcome) -> None:
    """Time, densities, temperatures, velocities and ages in physical units, and identities."""
    yt: Any = pytest.importorskip("yt", reason="no yt; ./octant test python gets it")
    osyris: Any = pytest.importorskip("osyris", reason="no osyris; ./octant test python gets it")
    yt.set_log_level(50)
    folder = output_of(outcome)
    with h5py.File(outcome.last_snapshot) as file:
        now = float(file["header"].attrs["time"]) * TIME
        births = file["particles/stars/birth_time"][...] * TIME
    cells = leaf_cells(outcome.last_snapshot)
    density = np.sort(cells["density"]) * DENSITY
    heat = cells["pressure"] / cells["density"] * (LENGTH / TIME) ** 2
    kelvins = np.sort(heat) * 1.67262192e-24 / 1.380649e-16

    data = yt.load(str(folder))
    everything = data.all_data()
    assert float(data.current_time.to("s")) == pytest.approx(now, rel=1e-12)
    assert np.sort(everything["gas", "density"].to("g/cm**3").d) == pytest.approx(density)
    temperature = np.sort(everything["gas", "temperature_over_mu"].to("K").d)
    assert temperature == pytest.approx(kelvins, rel=1e-3)  # yt takes the mass of hydrogen
    ages = np.sort(everything["star", "age"].to("s").d)
    assert ages == pytest.approx(np.sort(births), rel=1e-12)  # RAMSES's name for times of birth
    assert len(np.unique(everything["io", "particle_identity"])) == 20 + STARS

    loaded = osyris.RamsesDataset(int(folder.name[-5:]), path=str(folder.parent)).load()
    assert loaded.meta["time"].to("s").magnitude == pytest.approx(now, rel=1e-12)
    assert np.sort(loaded["mesh"]["density"].to("g/cm**3").values) == pytest.approx(density)
    speed = loaded["mesh"]["velocity"].x.to("cm/s").values
    expected = np.sort(cells["velocity_x"]) * LENGTH / TIME
    assert np.sort(speed) == pytest.approx(expected, rel=1e-12, abs=1e-9 * np.abs(expected).max())
    assert len(np.unique(loaded["part"]["identity"].values)) == 20 + STARS
