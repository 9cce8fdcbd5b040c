"""Gas and particles in the HDF5 layout of Gadget, which SWIFT and most readers of particles share.

Each leaf cell becomes a particle of gas at its centre, with a smoothing length of two cells: that
is where Gadget's kernel ends, with about 33 cells inside.
Where a run has physical units, those are Gadget's own: lengths in kpc, masses in 10^10 solar masses
and velocities in km/s; of an expanding box lengths are comoving, lengths and masses are per h, and
velocities are divided by the root of the scale factor. Runs without units keep their numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.fields import VELOCITY, find_field
from octools.files import whole_file
from octools.snapshot import Header, Snapshot
from octools.units import PARSEC, SOLAR_MASS

KPC, KM = 1e3 * PARSEC, 1e5  # cm
GAS = 0
TYPES = {"dark": 1, "stars": 4, "sinks": 5}
OTHER_TYPES = (2, 3)
# Gadget's name, and the powers of length, mass and velocity that the column is.
COLUMNS = {
    "id": ("ParticleIDs", ()),
    "position": ("Coordinates", ("length",)),
    "velocity": ("Velocities", ("velocity",)),
    "mass": ("Masses", ("mass",)),
    "initial_mass": ("InitialMasses", ("mass",)),
    "birth_time": ("BirthTimes", ()),
    "metallicity": ("Metallicities", ()),
}
# Gadget's names for the gas, with its powers, and SWIFT's where it has its own.
GAS_COLUMNS = {
    "id": ("ParticleIDs", (), None),
    "position": ("Coordinates", ("length",), None),
    "velocity": ("Velocities", ("velocity",), None),
    "mass": ("Masses", ("mass",), None),
    "density": ("Density", ("density",), "Densities"),
    "internal_energy": ("InternalEnergy", ("energy",), "InternalEnergies"),
    "smoothing_length": ("SmoothingLength", ("length",), "SmoothingLengths"),
}
NOT_SCALARS = {"density", "pressure", "entropy", *VELOCITY}
SMOOTHING_CELLS = 2.0
PARTICLES = 1 << 20  # that are copied together


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
    header = snapshot.header
    scale = Scale(snapshot)
    groups = {number: snapshot.file["particles"][kind] for kind, number in types.items()}
    counts = [len(groups[n]["id"]) if n in groups else 0 for n in range(6)]
    if _has_gas(snapshot):
        leaves = [level.leaf_cells(slice(None)) for level in snapshot.levels]
        counts[GAS] = sum(map(np.count_nonzero, leaves))
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        size = header.size * scale.factors["length"]
        file.create_group("Header").attrs.update(
            {
                "BoxSize": float(size[0]) if np.ptp(size) == 0 else size,
                "NumPart_ThisFile": np.array(counts, dtype=np.int32),
                "NumPart_Total": np.array([n & 0xFFFFFFFF for n in counts], dtype=np.uint32),
                "NumPart_Total_HighWord": np.array([n >> 32 for n in counts], dtype=np.uint32),
                "MassTable": np.zeros(6),
                "Time": header.scale_factor if scale.expands else header.time,
                "NumFilesPerSnapshot": 1,
                **scale.cosmology,
                **{f"Flag_{name}": 0 for name in ("Sfr", "Feedback", "Cooling", "StellarAge")},
            }
        )
        file.create_group("Units").attrs.update(scale.units)
        if counts[GAS]:
            ids = [int(group["id"][...].max(initial=0)) for group in groups.values()]
            target = file.create_group(f"PartType{GAS}")
            _write_gas(snapshot, target, counts[GAS], 1 + max(ids, default=0), scale)
        for kind, number in types.items():
            target = file.create_group(f"PartType{number}")
            target.attrs["kind"] = kind
            for name in groups[number]:
                _copy(groups[number][name], target, name, scale, header)


def _has_gas(snapshot: Snapshot) -> bool:
    """Tell whether gas can be written; checkpoints hold it in other fields."""
    return {"density", "pressure"} <= set(snapshot.stored_fields)


def _write_gas(
    snapshot: Snapshot, target: h5py.Group, count: int, first_id: int, scale: Scale
) -> None:
    """Write each leaf cell as a particle, a bounded number of cells at a time."""
    target.attrs["kind"] = "gas"
    header = snapshot.header
    for name, (gadget_name, kinds, of_swift) in GAS_COLUMNS.items():
        shape = (count, 3) if name in ("position", "velocity") else (count,)
        made = target.create_dataset(gadget_name, shape, np.uint64 if name == "id" else np.float64)
        _describe(made, kinds, scale)
        if of_swift is not None:
            target[of_swift] = made  # the same data by another name
    scalars = [name for name in snapshot.stored_fields if name not in NOT_SCALARS]
    for name in scalars:
        target.create_dataset(name, (count,), np.float64)
    wanted = ["density", "internal_energy", *VELOCITY]
    fields = {name: find_field(snapshot, name) for name in wanted + scalars}
    needs = sorted({need for field in fields.values() for need in field.needs})
    end = 0
    for level in snapshot.levels:
        cell = level.cell_size
        for batch in snapshot.batches(needs, level):
            leaf = np.argwhere(batch.leaf)
            begin, end = end, end + len(leaf)
            values = {n: f.compute(batch, header)[batch.leaf] for n, f in fields.items()}
            columns = {
                "id": np.arange(first_id + begin, first_id + end, dtype=np.uint64),
                "position": (batch.corner[leaf[:, 0]] + leaf[:, :0:-1] + 0.5) * cell,
                "velocity": np.stack([values[name] for name in VELOCITY], axis=-1),
                "mass": values["density"] * cell.prod(),
                "density": values["density"],
                "internal_energy": values["internal_energy"],
                "smoothing_length": np.full(len(leaf), SMOOTHING_CELLS * np.cbrt(cell.prod())),
            }
            for name, column in columns.items():
                gadget_name, kinds, _ = GAS_COLUMNS[name]
                target[gadget_name][begin:end] = _scaled(column, kinds, scale)
            for name in scalars:
                target[name][begin:end] = values[name]


def particle_types(snapshot: Snapshot) -> dict[str, int]:
    """Give the number of the type of each kind; kinds that Gadget has none for get 2 and 3."""
    kinds = snapshot.particle_kinds
    others = [kind for kind in kinds if kind not in TYPES]
    if not kinds and not _has_gas(snapshot):
        raise OctoolsError(f"{snapshot.path} holds neither gas nor particles")
    if len(others) > len(OTHER_TYPES):
        raise OctoolsError(f"{snapshot.path}: Gadget has no types for {', '.join(others)}")
    numbers = TYPES | dict(zip(others, OTHER_TYPES, strict=False))
    return {kind: numbers[kind] for kind in kinds}


class Scale:
    """What numbers of the code are multiplied by.

    Attributes
    ----------
    expands
        Whether the box does.
    factors
        Of ``length``, ``mass``, ``velocity``, ``density`` and ``energy`` (per mass).
    powers
        Those of a and h that bring each of these from the file to a proper one.
    units
        The attributes of /Units, in the names of Gadget and of SWIFT.
    cosmology
        The attributes of /Header about it.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        header, facts = snapshot.header, snapshot.file["header"].attrs
        self.expands = "redshift" in facts
        a = header.scale_factor if self.expands else 1.0
        h = float(facts.get("h", 1.0)) if self.expands else 1.0
        unit = dict(header.units)
        physical = any(value != 1.0 for value in unit.values())
        cgs = {"length": KPC, "mass": 1e10 * SOLAR_MASS, "velocity": KM}
        unit["velocity"] = unit["length"] / unit["time"]
        size = cgs if physical else {name: unit[name] for name in cgs}
        bring = {"length": h / a, "mass": h, "velocity": 1 / np.sqrt(a)}
        self.factors = {name: unit[name] / size[name] * bring[name] for name in size}
        self.factors["density"] = self.factors["mass"] / self.factors["length"] ** 3
        self.factors["energy"] = (unit["velocity"] / size["velocity"]) ** 2
        powers = {
            **{"length": (1.0, -1.0), "mass": (0.0, -1.0), "velocity": (0.5, 0.0)},
            **{"density": (-3.0, 2.0), "energy": (0.0, 0.0)},
        }
        self.powers = powers if self.expands else dict.fromkeys(powers, (0.0, 0.0))
        time = size["length"] / size["velocity"]
        self.units = {
            "UnitLength_in_cm": size["length"],
            "UnitMass_in_g": size["mass"],
            "UnitVelocity_in_cm_per_s": size["velocity"],
            "UnitTime_in_s": time,
            "Unit length in cgs (U_L)": size["length"],
            "Unit mass in cgs (U_M)": size["mass"],
            "Unit time in cgs (U_t)": time,
            "Unit temperature in cgs (U_T)": 1.0,
            "Unit current in cgs (U_I)": 1.0,
        }
        more = {"density": size["mass"] / size["length"] ** 3, "energy": size["velocity"] ** 2}
        self.size = size | more
        self.cosmology: dict[str, Any] = {
            "Redshift": float(facts.get("redshift", 0.0)),
            "Omega0": float(facts.get("omega_m", 0.0)),
            "OmegaLambda": float(facts.get("omega_lambda", 0.0)),
            "OmegaBaryon": float(facts.get("omega_b", 0.0)),
            "HubbleParam": h,
        }


def _copy(
    column: h5py.Dataset, target: h5py.Group, name: str, scale: Scale, header: Header
) -> None:
    """Copy a column, a bounded number of particles at a time."""
    gadget_name, kinds = COLUMNS.get(name, (name, ()))
    made = target.create_dataset(gadget_name, column.shape, column.dtype)
    for attribute in ("units", "description"):
        made.attrs[attribute] = column.attrs.get(attribute, "")
    _describe(made, kinds, scale)
    for begin in range(0, len(column), PARTICLES):
        values = column[begin : begin + PARTICLES]
        if name == "position":
            values = values - header.lower
        made[begin : begin + PARTICLES] = _scaled(values, kinds, scale)


def _describe(made: h5py.Dataset, kinds: tuple[str, ...], scale: Scale) -> None:
    """Say what the units of a dataset are, and how it expands."""
    for kind in kinds:
        made.attrs["units"] = f"{scale.size[kind]:.9g} cgs"
        made.attrs["CGSConversionFactor"] = scale.size[kind]
        made.attrs["aexp-scale-exponent"], made.attrs["h-scale-exponent"] = scale.powers[kind]


def _scaled(values: NDArray[Any], kinds: tuple[str, ...], scale: Scale) -> NDArray[Any]:
    for kind in kinds:
        values = values * scale.factors[kind]
    return values
