"""Gas and particles in the HDF5 layout of Gadget, which most particle readers support.

Each leaf cell becomes a particle of gas at its centre, with a smoothing length of two cells: that
is where Gadget's kernel ends, with about 33 cells inside.
Where a run has physical units, those are Gadget's own: lengths in kpc, masses in 10^10 solar masses
and velocities in km/s; of an expanding box lengths are comoving, lengths, masses and times are per
h, and velocities are divided by the root of the scale factor. Runs without units keep their
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.ages import formation_times, present_time
from octools.equation_of_state import is_tabulated
from octools.errors import OctoolsError
from octools.fields import VELOCITY, find_field, knows_temperature
from octools.files import whole_file
from octools.molecular_weight import constant_weight, is_ionized
from octools.snapshot import Header, Snapshot
from octools.units import CODE, PARSEC, SOLAR_MASS, YEAR, Powers, powers

KPC, KM = 1e3 * PARSEC, 1e5  # cm
GAS = 0
TYPES = {"dark": 1, "stars": 4, "sinks": 5}
OTHER_TYPES = (2, 3)
SMOOTHING_CELLS = 2.0
METALS = "metals"  # the scalar that is the mass fraction of metals
NOT_SCALARS = {"density", "pressure", "entropy", METALS, *VELOCITY}
PARTICLES = 1 << 20  # that are copied together
CONSTANTS = {"PARSEC": PARSEC, "SOLAR_MASS": SOLAR_MASS, "SEC_PER_YEAR": YEAR}  # cgs
# Ω_Λ of a universe without dark energy: yt takes 0 for a box that does not expand.
NO_DARK_ENERGY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Quantity:
    """Physical quantity in the units of Gadget.

    Attributes
    ----------
    dimension
        Powers of length, mass and time.
    a, h
        Powers of the scale factor and of h that an expanding box adds to the units.
    """

    dimension: Powers
    a: float = 0.0
    h: float = 0.0


NUMBER = Quantity((0, 0, 0))
LENGTH = Quantity((1, 0, 0), 1.0, -1.0)
MASS = Quantity((0, 1, 0), 0.0, -1.0)
TIME = Quantity((0, 0, 1), 0.0, -1.0)
VELOCITIES = Quantity((1, 0, -1), 0.5)
DENSITY = Quantity((-3, 1, 0), -3.0, 2.0)
ENERGY = Quantity((2, 0, -2))  # per mass
# Gadget's names; other columns keep their own, and lose their scale factors.
COLUMNS = {
    "id": ("ParticleIDs", NUMBER),
    "position": ("Coordinates", LENGTH),
    "velocity": ("Velocities", VELOCITIES),
    "mass": ("Masses", MASS),
    "initial_mass": ("InitialMasses", MASS),
    "metallicity": ("Metallicity", NUMBER),
}
# The columns of the time of birth: the names of yt and pynbody, and that of Gadget.
FORMATION_TIMES = ("FormationTime", "tform")
FORMATION = "StellarFormationTime"
BIRTH = ("birth_time", "birth_scale_factor")
GAS_COLUMNS = {
    "id": ("ParticleIDs", NUMBER),
    "position": ("Coordinates", LENGTH),
    "velocity": ("Velocities", VELOCITIES),
    "mass": ("Masses", MASS),
    "density": ("Density", DENSITY),
    "internal_energy": ("InternalEnergy", ENERGY),
    "smoothing_length": ("SmoothingLength", LENGTH),
}


def export(paths: list[Path], folder: Path) -> list[Path]:
    """Write gas and particles of each snapshot to NAME.hdf5 in a folder.

    Raises
    ------
    OctoolsError
        If a snapshot holds neither, or more kinds than Gadget has types.
    """
    written = []
    for path in paths:
        with Snapshot(path) as snapshot:
            written.append(folder / f"{path.stem}.hdf5")
            write_particles(snapshot, written[-1])
    return written


def write_particles(snapshot: Snapshot, path: Path) -> None:
    """Write gas and particles of a snapshot; positions count from the domain's lower corner."""
    types = particle_types(snapshot)
    scale = Scale(snapshot)
    groups = {number: snapshot.file["particles"][kind] for kind, number in types.items()}
    counts = [len(groups[n]["id"]) if n in groups else 0 for n in range(6)]
    if _has_gas(snapshot):
        leaves = [level.leaf_cells(slice(None)) for level in snapshot.levels]
        counts[GAS] = sum(map(np.count_nonzero, leaves))
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        file.create_group("Header").attrs.update(
            {
                "NumPart_ThisFile": np.array(counts, dtype=np.int32),
                "NumPart_Total": np.array([n & 0xFFFFFFFF for n in counts], dtype=np.uint32),
                "NumPart_Total_HighWord": np.array([n >> 32 for n in counts], dtype=np.uint32),
                "MassTable": np.zeros(6),
                "NumFilesPerSnapshot": 1,
                **scale.header,
                **{f"Flag_{name}": 0 for name in ("Sfr", "Feedback", "Cooling", "StellarAge")},
            }
        )
        file.create_group("Units").attrs.update(scale.units)
        # This group tells yt that the file is not Gizmo's, whose layout has a metallicity, too.
        file.create_group("Constants").attrs.update(CONSTANTS)
        if counts[GAS]:
            numbers = (
                int(snapshot.unique_numbers(kind, groups[number]["id"][...]).max(initial=0))
                for kind, number in types.items()
            )
            target = file.create_group(f"PartType{GAS}")
            _write_gas(snapshot, target, counts[GAS], 1 + max(numbers, default=-1), scale)
        for kind, number in types.items():
            target = file.create_group(f"PartType{number}")
            target.attrs["kind"] = kind
            for name in groups[number]:
                if name not in BIRTH:
                    _copy(snapshot, kind, target, name, scale)
            _write_formation_times(snapshot, kind, target, scale)


def _has_gas(snapshot: Snapshot) -> bool:
    """Return true if gas can be written; checkpoints hold it in other fields."""
    return {"density", "pressure"} <= set(snapshot.stored_fields)


def _write_gas(
    snapshot: Snapshot, target: h5py.Group, count: int, first_id: int, scale: Scale
) -> None:
    """Write each leaf cell as a particle, a bounded number of cells at a time."""
    target.attrs["kind"] = "gas"
    header = snapshot.header
    quantities = dict(GAS_COLUMNS)
    stored = {n: n for n in snapshot.gas_fields if n not in NOT_SCALARS}
    if METALS in snapshot.stored_fields:
        stored["Metallicity"] = METALS
    fields = {name: find_field(snapshot, name) for name in ["density", "internal_energy"]}
    fields |= {name: find_field(snapshot, name) for name in VELOCITY}
    fields |= {name: find_field(snapshot, of) for name, of in stored.items()}
    for name, of in stored.items():
        quantities[name] = name, _quantity(snapshot.units_of(of))
    for name, (gadget_name, quantity) in quantities.items():
        shape = (count, 3) if name in ("position", "velocity") else (count,)
        made = target.create_dataset(gadget_name, shape, np.uint64 if name == "id" else np.float64)
        scale.describe(made, quantity, gadget_name)
    if header.has_units:
        fields["temperature"] = find_field(snapshot, "temperature")
        _add_temperature(target, count, header)
        if is_ionized(header):
            fields["mu"] = find_field(snapshot, "molecular_weight")
    needs = sorted({need for field in fields.values() for need in field.needs})
    end = 0
    for level in snapshot.levels:
        cell = level.cell_size
        for batch in snapshot.batches(needs, level):
            leaf = np.argwhere(batch.leaf)
            begin, end = end, end + len(leaf)
            values = {n: f.compute(batch, header)[batch.leaf] for n, f in fields.items()}
            columns = values | {
                "id": np.arange(first_id + begin, first_id + end, dtype=np.uint64),
                "position": (batch.corner[leaf[:, 0]] + leaf[:, :0:-1] + 0.5) * cell,
                "velocity": np.stack([values[name] for name in VELOCITY], axis=-1),
                "mass": values["density"] * cell.prod(),
                "smoothing_length": np.full(len(leaf), SMOOTHING_CELLS * np.cbrt(cell.prod())),
            }
            for name, (gadget_name, quantity) in quantities.items():
                target[gadget_name][begin:end] = scale.convert(columns[name], quantity)
            if header.has_units:
                target["Temperature"][begin:end] = columns["temperature"]
            if "mu" in fields:
                target["mu"][begin:end] = columns["mu"]


def _add_temperature(target: h5py.Group, count: int, header: Header) -> None:
    """Add datasets for the temperature and the molecular weight that it holds for.

    Where a file does not determine the temperature, it is T / μ, and μ = 1. Gas of a table has no
    molecular weight.
    """
    meaning = "temperature"
    if not knows_temperature(header):
        meaning += " divided by the mean molecular weight"
    made = target.create_dataset("Temperature", (count,), np.float64)
    made.attrs["VarDescription"] = f"{meaning} [K]"
    made.attrs["CGSConversionFactor"] = 1.0
    made.attrs["aexp-scale-exponent"] = made.attrs["h-scale-exponent"] = 0.0
    if is_tabulated(header):
        return
    weight = constant_weight(header) or 1.0
    made = target.create_dataset("mu", (count,), np.float64, fillvalue=weight)  # takes no space
    made.attrs["VarDescription"] = "mean molecular weight assumed in Temperature"
    made.attrs["CGSConversionFactor"] = 1.0
    made.attrs["aexp-scale-exponent"] = made.attrs["h-scale-exponent"] = 0.0


def particle_types(snapshot: Snapshot) -> dict[str, int]:
    """Return the Gadget type of each kind; kinds without counterpart get 2 and 3."""
    kinds = snapshot.particle_kinds
    others = [kind for kind in kinds if kind not in TYPES]
    if not kinds and not _has_gas(snapshot):
        raise OctoolsError(f"{snapshot.path} contains neither gas nor particles")
    if len(others) > len(OTHER_TYPES):
        raise OctoolsError(f"{snapshot.path}: Gadget has no particle types for {', '.join(others)}")
    numbers = TYPES | dict(zip(others, OTHER_TYPES, strict=False))
    return {kind: numbers[kind] for kind in kinds}


class Scale:
    """Units of a snapshot and of its export.

    Attributes
    ----------
    header
        The attributes of /Header that depend on units and on the universe.
    units
        The attributes of /Units.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        header, facts = snapshot.header, snapshot.file["header"].attrs
        self._expands = "redshift" in facts
        self._a = header.scale_factor if self._expands else 1.0
        self._h = float(facts["h"]) if self._expands else 1.0
        self._code = header.units
        velocity = header.units["length"] / header.units["time"]
        length, mass = header.units["length"], header.units["mass"]
        if header.has_units:
            length, mass, velocity = KPC, 1e10 * SOLAR_MASS, KM
        self._size = {"length": length, "mass": mass, "time": length / velocity}
        self.units = {
            "UnitLength_in_cm": length,
            "UnitMass_in_g": mass,
            "UnitVelocity_in_cm_per_s": velocity,
            "UnitTime_in_s": length / velocity,
        }
        time = present_time(header)
        size = self.convert(header.size, LENGTH)
        self.header: dict[str, Any] = {
            # Gadget has one edge for all axes; the longest one holds all particles.
            "BoxSize": float(size.max()),
            "BoxEdges": size,
            "Time": self._a if self._expands else time / self._size["time"],
            "Time_GYR": time / (1e9 * YEAR),
            "Redshift": float(facts.get("redshift", 0.0)),
            "Omega0": float(facts.get("omega_m", 0.0)),
            "OmegaLambda": float(facts.get("omega_lambda", 0.0)),
            "OmegaBaryon": float(facts.get("omega_b", 0.0)),
            "HubbleParam": self._h,
        }
        if self._expands and self.header["OmegaLambda"] == 0.0:
            self.header["OmegaLambda"] = NO_DARK_ENERGY

    def convert(self, values: Any, quantity: Quantity) -> Any:
        """Convert values in code units to Gadget's."""
        factor = self._cgs(self._code, quantity) / self._cgs(self._size, quantity)
        if self._expands:
            factor /= self._a**quantity.a * self._h**quantity.h
        return values if factor == 1.0 else values * factor

    def convert_seconds(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert times in seconds to Gadget's."""
        return seconds * self._h / self._size["time"]

    def describe(self, made: h5py.Dataset, quantity: Quantity, description: str) -> None:
        """Add the attributes that tell readers the units, and how these expand."""
        units = "".join(
            f"U_{letter}^{power} " if power != 1 else f"U_{letter} "
            for letter, power in zip("LMT", quantity.dimension, strict=True)
            if power != 0
        )
        size = self._cgs(self._size, quantity)
        made.attrs["VarDescription"] = f"{description} [{units}]"
        made.attrs["units"] = f"{size:.9g} cgs" if units else "1"
        made.attrs["CGSConversionFactor"] = size
        made.attrs["aexp-scale-exponent"] = quantity.a if self._expands else 0.0
        made.attrs["h-scale-exponent"] = quantity.h if self._expands else 0.0

    @staticmethod
    def _cgs(units: dict[str, float], quantity: Quantity) -> float:
        return prod(units[name] ** n for name, n in zip(CODE, quantity.dimension, strict=True))

    def formation(self, columns: dict[str, Any], seconds: NDArray[np.float64]) -> Any:
        """Return the time of birth as Gadget stores it: in an expanding box the scale factor."""
        if self._expands:
            return columns["birth_scale_factor"]
        return self.convert_seconds(seconds)

    @property
    def formation_quantity(self) -> Quantity:
        """The quantity that `formation` gives."""
        return NUMBER if self._expands else TIME


def _quantity(units: str) -> Quantity:
    """Read a text of units; what is not in terms of length, mass and time stays a number."""
    return Quantity(powers(units) or NUMBER.dimension)


def _batches(count: int) -> Iterator[slice]:
    for begin in range(0, count, PARTICLES):
        yield slice(begin, min(begin + PARTICLES, count))


def _copy(snapshot: Snapshot, kind: str, target: h5py.Group, name: str, scale: Scale) -> None:
    """Copy a column, a bounded number of particles at a time."""
    column = snapshot.file["particles"][kind][name]
    text = str(column.attrs.get("units", ""))
    gadget_name, quantity = COLUMNS.get(name, (name, _quantity(text)))
    made = target.create_dataset(gadget_name, column.shape, column.dtype)
    made.attrs["description"] = column.attrs.get("description", "")
    scale.describe(made, quantity, gadget_name)
    for rows in _batches(len(column)):
        values = column[rows]
        if name == "position":
            values = values - snapshot.header.lower
        elif name == "id":
            values = snapshot.unique_numbers(kind, values)
        made[rows] = scale.convert(values, quantity)


def _write_formation_times(snapshot: Snapshot, kind: str, target: h5py.Group, scale: Scale) -> None:
    """Write when the particles of a kind formed, by the names of yt, pynbody and Gadget."""
    group = snapshot.file["particles"][kind]
    own = [name for name in BIRTH if name in group]
    needed = BIRTH if snapshot.header.cosmology else BIRTH[:1]
    if not set(needed) <= set(own):
        return
    quantities = dict.fromkeys(FORMATION_TIMES, TIME) | {FORMATION: scale.formation_quantity}
    for name, quantity in quantities.items():
        made = target.create_dataset(name, group[own[0]].shape, np.float64)
        scale.describe(made, quantity, name)
    for rows in _batches(len(group[own[0]])):
        columns = {name: group[name][rows] for name in own}
        seconds = formation_times(columns, snapshot.header)
        for name in FORMATION_TIMES:
            target[name][rows] = scale.convert_seconds(seconds)
        target[FORMATION][rows] = scale.formation(columns, seconds)
