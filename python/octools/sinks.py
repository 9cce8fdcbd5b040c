"""Black holes of a snapshot, and mergers of a run, as tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from octools.errors import OctoolsError
from octools.snapshot import Array, Snapshot
from octools.units import SOLAR_MASS, YEAR

FIRST_ID = np.uint64(1 << 63)  # of a run's black holes


def black_holes(snapshot: Snapshot) -> dict[str, Array]:
    """Return the black holes of a snapshot as columns, sorted by decreasing mass.

    ``number`` counts black holes in the order of their formation. Masses are in solar masses, rates
    in solar masses per year, the stored energy in erg, and positions in code length; ``feeding``
    is the accretion rate in units of the Eddington rate.
    """
    if "sinks" not in snapshot.particle_kinds:
        raise OctoolsError(
            f"{snapshot.path} contains no black holes; this command requires a run with "
            "black_holes.enabled = true"
        )
    units = snapshot.header.units
    if units["mass"] == 1.0:
        raise OctoolsError(f"{snapshot.path}: the run has no units (units.length, ...)")
    holes = snapshot.particles("sinks")
    mass = units["mass"] / SOLAR_MASS
    rate = mass * YEAR / units["time"]
    energy = units["mass"] * (units["length"] / units["time"]) ** 2
    spin = np.sqrt(sum(holes[f"spin_{axis}"] ** 2 for axis in "xyz"))
    limit = holes["eddington_rate"]
    columns = {
        "number": (holes["id"].astype(np.uint64) - FIRST_ID).astype(np.int64),
        "mass_Msun": holes["mass"] * mass,
        "spin": spin,
        "swallowed_Msun": holes["swallowed"] * mass,
        "bondi_Msun_per_yr": holes["bondi_rate"] * rate,
        "feeding": np.where(
            limit > 0.0, holes["bondi_rate"] / np.where(limit > 0.0, limit, 1.0), 0
        ),
        "saved_erg": holes["saved_energy"] * energy,
        "mergers": holes["mergers"],
        "birth_scale_factor": holes["birth_scale_factor"],
        **{axis: holes["position"][:, n] for n, axis in enumerate("xyz")},
    }
    order = np.lexsort((columns["number"], -columns["mass_Msun"]))
    return {name: values[order] for name, values in columns.items()}


def mergers(run: Path, solar_masses: float) -> dict[str, Array]:
    """Return the black-hole mergers of a run directory as columns, in the order of time.

    ``number`` is the number of the merged black hole as in `black_holes`, ``heaviest`` that of the
    most massive member of its group, and ``other`` that of the one that merged with it. Times and
    positions are in code units. Masses before the merger are in solar masses; `solar_masses` is the
    code unit of mass in solar masses. The result is empty if the run has no
    ``black_hole_mergers.parquet``.
    """
    path = run / "black_hole_mergers.parquet"
    if not path.is_file():
        return {}
    import duckdb

    with duckdb.connect(":memory:") as database:
        rows = database.execute("from read_parquet(?)", [str(path)]).fetchnumpy()
    columns = {"time": rows["time"], "scale_factor": rows["scale_factor"]}
    for name, of in (("number", "id"), ("heaviest", "heaviest_id"), ("other", "other_id")):
        columns[name] = (rows[of].astype(np.uint64) - FIRST_ID).astype(np.int64)
    for name in ("heaviest", "other"):
        columns[f"{name}_Msun"] = rows[f"{name}_mass"] * solar_masses
    return columns | {axis: rows[f"position_{axis}"] for axis in "xyz"}
