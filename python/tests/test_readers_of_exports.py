"""What yt, pynbody and VTK read: times, units, ids, gas and stars are those of the snapshot."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from synthetic import Synthetic, add_particles, around

import octools
from octools.ages import HUBBLE_TIME, cosmic_time
from octools.exports import gadget, vtkhdf
from octools.units import PARSEC, SOLAR_MASS, YEAR

Array = NDArray[np.float64]
A, H, KPC, MYR = 0.25, 0.7, 1e3 * PARSEC, 1e6 * YEAR
IDS_OF_STARS = 1 << 62
READER_CONSTANTS = 2e-4  # relative difference of the parsecs and solar masses that readers take
DOMAINS = {
    "cube": {"base_cells": (16, 16, 16), "lower": (-0.5,) * 3, "upper": (0.5,) * 3},
    "2:1:1": {"base_cells": (16, 8, 8), "lower": (-1, -0.5, 0), "upper": (1, 0.5, 1)},
}
CGS = {"unit_length": KPC, "unit_mass": 1e6 * SOLAR_MASS, "unit_time": MYR}
UNIVERSE = {
    "unit_length": 50e3 * KPC, "unit_mass": 1e12 * SOLAR_MASS, "unit_time": 1e17,
    "scale_factor": A, "redshift": 1 / A - 1, "omega_b": 0.05, "h": H,
}  # fmt: skip
HEADERS: dict[str, dict[str, float]] = {
    "code units": {},
    "cgs units": CGS,
    "cosmology": UNIVERSE | {"omega_m": 0.3, "omega_lambda": 0.7},
    "no dark energy": UNIVERSE | {"omega_m": 1.0, "omega_lambda": 0.0},
}
COSMOLOGIES = ("cosmology", "no dark energy")


@dataclass
class Case:
    """A snapshot, and what readers should find in it, in cgs; gas in the order of densities."""

    path: Path
    kind: str
    header: dict[str, float]
    now: float
    density: Array
    temperature: Array
    metals: Array
    births: Array
    ages: Array
    gas_mass: float

    @property
    def expands(self) -> bool:
        return self.kind in COSMOLOGIES

    def converted(self) -> Path:
        [path] = gadget.export([self.path], self.path.parent / "gadget")
        return path


def age_of_universe(a: Array | float, header: dict[str, float]) -> Array:
    """Return the age in s of a flat universe of matter and a cosmological constant, or none."""
    matter, constant = header["omega_m"], header["omega_lambda"]
    if constant == 0:
        return 2 / 3 * np.asarray(a) ** 1.5 * HUBBLE_TIME / H
    growth = np.arcsinh(np.sqrt(constant / matter * np.asarray(a) ** 3))
    return 2 / (3 * np.sqrt(constant)) * growth * HUBBLE_TIME / H


@pytest.fixture(params=[(k, d) for d in DOMAINS for k in HEADERS], ids=" of ".join, scope="module")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Give gas with metals, dark matter and three stars with the ids that the program gives."""
    kind, domain = request.param
    header = HEADERS[kind]
    path = tmp_path_factory.mktemp("run") / "snap_00001.h5"
    Synthetic(
        **DOMAINS[domain],  # type: ignore[arg-type]
        refine=around((0.2, 0.1, 0.3), 0.1, levels=1),
        fields={
            "density": lambda x, y, z: 2 + x + 0.0101 * y + 0.00015 * z,  # no two cells alike
            "pressure": lambda x, y, z: 1 + 0.3 * x + 0.1 * z,
            "metals": lambda x, y, z: 0.01 + 0.001 * y,
        },
        time=-0.4 if kind in COSMOLOGIES else 2.0,
        gamma=5 / 3,
    ).write(path)
    add_particles(path, "dark", 40)
    add_particles(path, "stars", 3, ["initial_mass", "metallicity"])
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(header)
        stars = file["particles/stars"]
        stars["id"][:] = IDS_OF_STARS + np.arange(3, dtype=np.uint64)
        stars["birth_time"] = [-0.7, -0.6, -0.5] if kind in COSMOLOGIES else [0.5, 1.0, 1.5]
        stars["birth_scale_factor"] = [0.1, 0.15, 0.2] if kind in COSMOLOGIES else [1.0] * 3
        births = stars["birth_time"][...] * header.get("unit_time", 1.0)
        now = 2.0 * header.get("unit_time", 1.0)
        if kind in COSMOLOGIES:
            births = age_of_universe(stars["birth_scale_factor"][...], header)
            now = float(age_of_universe(A, header))
    cells = octools.load(path)
    length, mass, time = (header.get(f"unit_{n}", 1.0) for n in ("length", "mass", "time"))
    order = np.argsort(cells["density"])
    heat = cells["pressure"] / cells["density"] * (length / time) ** 2
    return Case(
        path, kind, header, now,
        density=cells["density"][order] * mass / length**3,
        temperature=heat[order] * 1.67262192e-24 / 1.380649e-16,
        metals=cells["metals"][order],
        births=births,
        ages=now - births,
        gas_mass=(cells["density"] * cells["volume"]).sum() * mass,
    )  # fmt: skip


@pytest.fixture(scope="module")
def yt() -> Any:
    module = pytest.importorskip("yt", reason="no yt; pip install yt")
    module.set_log_level("error")
    return module


@pytest.fixture(scope="module")
def pynbody() -> Any:
    return pytest.importorskip("pynbody", reason="no pynbody; pip install pynbody")


def test_the_age_of_the_universe_is_that_of_theory() -> None:
    for kind in COSMOLOGIES:
        header = octools.snapshot.Header(
            0, A, np.zeros(3), np.ones(3), np.ones(3, int), 8, 1.4, {}, {}, "", None, HEADERS[kind]
        )
        found = cosmic_time(np.array([0.1, A]), header)
        assert found == pytest.approx(age_of_universe(np.array([0.1, A]), HEADERS[kind]), rel=1e-6)


def test_yt_reads_snapshots(case: Case, yt: Any) -> None:
    data = yt.load(str(case.path))
    assert float(data.current_time.to("s")) == pytest.approx(case.now, rel=1e-6)
    assert data.cosmological_simulation == case.expands
    assert data.current_redshift == pytest.approx(1 / A - 1 if case.expands else 0.0)
    cells = data.all_data()
    order = np.argsort(cells["gas", "density"])
    assert cells["gas", "density"].to("g/cm**3").d[order] == pytest.approx(case.density, rel=1e-12)
    assert cells["gas", "metallicity"].d[order] == pytest.approx(case.metals, rel=1e-12)
    if case.kind != "code units":
        found = cells["gas", "temperature"].to("K").d[order]
        assert found == pytest.approx(case.temperature, rel=1e-8)
    stars = np.argsort(cells["stars", "particle_index"])
    assert len(np.unique(cells["stars", "particle_index"])) == 3
    numbers = np.concatenate([cells[kind, "particle_index"].d for kind in ("dark", "stars")])
    assert len(np.unique(numbers)) == 43
    assert cells["stars", "age"].to("s").d[stars] == pytest.approx(case.ages, rel=1e-6)
    born = cells["stars", "creation_time"].to("s").d[stars]
    assert born == pytest.approx(case.births, rel=1e-6)
    assert (cells["stars", "age"] > 0).all()
    if case.kind == "cgs units":
        data = yt.load(str(case.path), default_species_fields="neutral")
        cells = data.all_data()
        ratio = cells["gas", "temperature"] / cells["gas", "temperature_over_mu"]
        assert ratio.d == pytest.approx(cells["gas", "mean_molecular_weight"].d)
        assert 1.2 < ratio[0] < 1.25


def in_yt_units(case: Case, yt: Any, quantity: Any, unit: str) -> Array:
    """Give a quantity in cgs; yt takes files without units as if they were in kpc, ..."""
    if case.kind == "code units":
        return np.asarray(quantity.d)
    return np.asarray(quantity.to(unit).d)


def test_yt_reads_files_of_gadget(case: Case, yt: Any) -> None:
    data = yt.load(str(case.converted()))
    assert type(data).__name__ == "GadgetHDF5Dataset"
    assert data.cosmological_simulation == case.expands
    now = in_yt_units(case, yt, data.current_time, "s")
    assert now == pytest.approx(case.now, rel=2e-3 if case.expands else 1e-6)
    cells = data.all_data()
    order = np.argsort(cells["gas", "density"])
    density = in_yt_units(case, yt, cells["PartType0", "Density"], "g/cm**3")[order]
    assert density == pytest.approx(case.density, rel=READER_CONSTANTS)
    mass = in_yt_units(case, yt, cells["PartType0", "particle_mass"].sum(), "g")
    assert mass == pytest.approx(case.gas_mass, rel=READER_CONSTANTS)
    assert cells["gas", "metallicity"].d[order] == pytest.approx(case.metals, rel=1e-12)
    if case.kind != "code units":
        found = cells["gas", "temperature"].to("K").d[order]
        assert found == pytest.approx(case.temperature, rel=1e-8)
    kinds = [f"PartType{n}" for n in (0, 1, 4)]
    numbers = np.concatenate([cells[kind, "particle_index"].d for kind in kinds])
    assert len(np.unique(numbers)) == len(case.density) + 43
    births = in_yt_units(case, yt, cells["PartType4", "creation_time"], "s")
    assert np.sort(births) == pytest.approx(case.births, rel=READER_CONSTANTS)


@pytest.mark.filterwarnings("ignore")
def test_pynbody_reads_files_of_gadget(case: Case, pynbody: Any) -> None:
    data = pynbody.load(str(case.converted()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = float(data.properties["time"].in_units("s", **data.conversion_context()))
        assert now == pytest.approx(case.now, rel=READER_CONSTANTS)
        assert data.properties["z"] == pytest.approx(1 / A - 1 if case.expands else 0.0)
        order = np.argsort(data.gas["rho"])
        loaded = set(data.gas.loadable_keys())
        assert {"rho", "u", "metals", "smooth", "iord"} <= loaded
        density = np.asarray(data.gas["rho"].in_units("g cm**-3"))[order]
        assert density == pytest.approx(case.density, rel=READER_CONSTANTS)
        mass = float(data.gas["mass"].in_units("g").sum())
        assert mass == pytest.approx(case.gas_mass, rel=READER_CONSTANTS)
        metals = np.asarray(data.gas["metals"])[order]
        assert metals == pytest.approx(case.metals, rel=1e-12)
        if case.kind != "code units":
            assert "temp" in loaded
            found = np.asarray(data.gas["temp"].in_units("K"))[order]
            assert found == pytest.approx(case.temperature, rel=1e-8)
            heat = np.asarray(data.gas["u"].in_units("cm**2 s**-2"))[order]
            expected = 1.5 * case.temperature * 1.380649e-16 / 1.67262192e-24
            assert heat == pytest.approx(expected, rel=1e-6)
        numbers = np.concatenate([data.gas["iord"], data.dm["iord"], data.star["iord"]])
        assert len(np.unique(numbers)) == len(case.density) + 43
        stars = np.argsort(data.star["iord"])
        ages = np.asarray(data.star["age"].in_units("s"))[stars]
        assert ages == pytest.approx(case.ages, rel=READER_CONSTANTS)
        assert len(data.star["metals"]) == 3
        assert (np.asarray(data.dm["rho"]) > 0).all()  # of neighbours in the box
        data.physical_units()
        assert np.asarray(data.gas["rho"].in_units("g cm**-3"))[order] == pytest.approx(
            case.density, rel=READER_CONSTANTS
        )


def test_vtk_reads_particles_with_the_time(case: Case) -> None:
    vtk: Any = pytest.importorskip("vtk", reason="no VTK; pip install vtk", exc_type=ImportError)
    from vtkmodules.util.numpy_support import vtk_to_numpy

    folder = case.path.parent / "vtkhdf"
    vtkhdf.export([case.path], folder)
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(folder / "snap_00001_stars.vtkhdf"))
    reader.Update()
    output = reader.GetOutputDataObject(0)
    facts = output.GetFieldData()
    found = {
        facts.GetArrayName(n): facts.GetArray(n).GetTuple1(0)
        for n in range(facts.GetNumberOfArrays())
    }
    assert found["TimeInSeconds"] == pytest.approx(case.now, rel=1e-6)
    assert found["Redshift"] == pytest.approx(1 / A - 1 if case.expands else 0.0)
    assert found["UnitLengthInCm"] == case.header.get("unit_length", 1.0)
    ids = vtk_to_numpy(output.GetPointData().GetArray("id"))
    assert sorted(int(n) - IDS_OF_STARS for n in ids) == [0, 1, 2]
