"""Compares states to round-off with little that is kept of them.

Each field is projected on eight pseudo-random vectors of +1 and -1. A projection over the square
root of the number of values and the scale of the field stays below the relative difference of a
single value, where differences are independent, and shows a change of 1e-10 in a few cells.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Fields = Mapping[str, list[Array]]
Projections = dict[str, list[float]]  # by field: the scale, then the projections

COUNT = 8
ROUND_OFF = 1e-12
# Examples in which round-off grows within the first steps: tests/invariance/cases.py says why.
GROWING = {
    "binary": 1e-10,
    "contact_binary": 1e-10,
    "cosmology": 1e-10,
    "kelvin_helmholtz": 1e-8,
    "maclaurin": 1e-9,
    "mass_transfer": 1e-10,
    "mass_transfer_cluster": 1e-10,
    "merger": 1e-10,
    "pancake": 1e-10,
    "plummer": 1e-10,
    "single_supernova": 1e-11,
    "top_hat": 1e-9,
}
SAME_SCALE = ("momentum", "velocity", "acceleration")
# Fields that are functions of others, or not part of the state.
LEFT_OUT = (
    *("momentum", "total_energy", "previous_potential", "grid/", "header/", "statistics/"),
    # Round-off where gas falls into a black hole from all sides alike, and what follows from it.
    *("sinks/spin", "sinks/efficiency", "sinks/eddington_rate", "sinks/relative_speed"),
)


def tolerance(example: str) -> float:
    """Give the largest relative difference that round-off may have made in the first steps."""
    return GROWING.get(example, ROUND_OFF)


def signs(count: int) -> NDArray[np.int8]:
    """Give +1 and -1, shape (COUNT, count), from the bits of a hash of the place (splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    bits = (z >> np.arange(COUNT, dtype=np.uint64)[:, None]) & np.uint64(1)
    return 1 - 2 * bits.astype(np.int8)


def is_projected(name: str, arrays: list[Array]) -> bool:
    """Whether a field is a part of the state that consists of real numbers."""
    return arrays[0].dtype.kind == "f" and not any(word in name for word in LEFT_OUT)


def scale_of(name: str, fields: Fields) -> float:
    """Give the scale of a field: of all components of vectors, and see `geometry.compared`."""

    def largest(*names: str) -> float:
        return max(
            (float(np.abs(a).max(initial=0.0)) for n in names for a in fields[n]), default=0.0
        )

    group, _, last = name.rpartition("/")
    if last in ("u", "v", "w", "p"):
        speed = largest(*(f"{group}/{c}" for c in "uvw"))
        return speed if last != "p" else max(spread(fields[name]), speed**2)
    if last == "position":
        return largest(name, "mesh/origin")
    if group.startswith("particles/") and last == "velocity":
        return max(largest(name), speed_of_gas(fields))
    stem = last.rpartition("_")[0]
    if stem == "velocity":
        return speed_of_gas(fields)
    if stem in SAME_SCALE:
        return largest(*(n for n in fields if n.startswith(f"{group}/{stem}_")))
    if last == "pressure":
        kinetic = largest_ratio(fields, *(f"{group}/{n}" for n in ("kinetic", "density")))
        return max(largest(name), kinetic)
    return largest(name)


def speed_of_gas(fields: Fields) -> float:
    """Give the largest velocity component or isothermal speed of sound; 0 without gas."""
    if "hydro/pressure" not in fields:
        return 0.0
    components = [np.abs(a) for axis in "xyz" for a in fields[f"hydro/velocity_{axis}"]]
    sound = np.sqrt(largest_ratio(fields, "hydro/pressure", "hydro/density"))
    return max(float(sound), *(float(a.max(initial=0.0)) for a in components))


def largest_ratio(fields: Fields, upper: str, lower: str) -> float:
    """Give the largest ratio of two fields; `kinetic` / density is the kinetic energy density."""
    group, _, last = upper.rpartition("/")
    values = []
    for level, density in enumerate(fields[lower]):
        if last == "kinetic":
            squares = sum(fields[f"{group}/velocity_{axis}"][level] ** 2 for axis in "xyz")
            values.append(0.5 * density * squares)
        else:
            values.append(fields[upper][level] / density)
    return max(float(v.max(initial=0.0)) for v in values)


def spread(arrays: list[Array]) -> float:
    """Give the largest distance from the mean."""
    return float(max(np.abs(a - a.mean()).max() for a in arrays))


def project(fields: Fields, reference: Projections | None = None) -> Projections:
    """Project all fields of a state, with their own scales or with those of a reference."""
    result = {}
    for name, arrays in sorted(fields.items()):
        if not is_projected(name, arrays):
            continue
        values = np.concatenate([a.ravel() for a in arrays])
        if name.endswith("/p"):  # known up to a constant
            values = values - values.mean()
        known = reference.get(name) if reference else None
        scale = known[0] if known else float(f"{scale_of(name, fields):.6g}")
        found = signs(len(values)) @ (values / (scale or 1.0)) / np.sqrt(max(len(values), 1))
        result[name] = [scale, *(float(f"{p:.15f}") for p in found)]
    return result


def far_from(found: Projections, reference: Projections, bound: float) -> list[str]:
    """Say which fields differ from a reference by more than round-off."""
    wrong = []
    for name, (_, *expected) in reference.items():
        if name not in found:
            wrong.append(f"{name} is gone")
            continue
        difference = np.abs(np.subtract(found[name][1:], expected)).max()
        if not difference <= bound:
            wrong.append(f"{name} differs by {difference:.1e} of its scale, allowed is {bound:.0e}")
    return wrong
