"""Fields that can be looked at: the stored ones, and those that follow from them."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from octools.errors import unknown_name
from octools.snapshot import Array, Batch, Header, Snapshot

VELOCITY = ("velocity_x", "velocity_y", "velocity_z")


def with_units(name: str, units: str) -> str:
    """Label an axis: the name, and the text of a ``units`` attribute with exponents raised.

    Products of mass, length and time are the code's own; "1" and an empty text are left out.
    """
    if units in ("", "1"):
        return name
    code = set(re.findall(r"[A-Za-z]+", units)) <= {"mass", "length", "time"}
    raised = re.sub(r"\^(-?\d+)", r"$^{\1}$", units)
    return f"{name} [{'code ' if code else ''}{raised}]"


@dataclass(frozen=True)
class Field:
    """A field and how to show it.

    Attributes
    ----------
    name
        What users call it.
    needs
        The stored fields that it is computed from.
    compute
        Gives its values, shape (blocks, k, j, i), on a batch that holds `needs`.
    units
        Text for labels; empty where it is in code units.
    signed
        Whether values of both signs are usual: colours are then symmetric about zero.
    """

    name: str
    needs: tuple[str, ...]
    compute: Callable[[Batch, Header], Array]
    units: str = ""
    signed: bool = False

    @property
    def label(self) -> str:
        """The name for axes and colour bars, with units where they are known."""
        return with_units(self.name.replace("_", " "), self.units)


def _speed(batch: Batch, _: Header) -> Array:
    return np.sqrt(sum((batch.values[v] ** 2 for v in VELOCITY), np.zeros(batch.leaf.shape)))


def _sound_speed(batch: Batch, header: Header) -> Array:
    return np.sqrt(header.gamma * batch.values["pressure"] / batch.values["density"])


def _mach(batch: Batch, header: Header) -> Array:
    return _speed(batch, header) / _sound_speed(batch, header)


def _internal_energy(batch: Batch, header: Header) -> Array:
    return batch.values["pressure"] / ((header.gamma - 1) * batch.values["density"])


def _entropy(batch: Batch, header: Header) -> Array:
    return batch.values["pressure"] / batch.values["density"] ** header.gamma


def _level(batch: Batch, _: Header) -> Array:
    return np.full(batch.leaf.shape, float(batch.level))


_THERMAL = ("density", "pressure")
DERIVED = {
    field.name: field
    for field in (
        Field("speed", VELOCITY, _speed),
        Field("sound_speed", _THERMAL, _sound_speed),
        Field("mach", (*VELOCITY, *_THERMAL), _mach),
        Field("internal_energy", _THERMAL, _internal_energy),
        Field("entropy", _THERMAL, _entropy),
        Field("level", (), _level),
    )
}


def find_field(snapshot: Snapshot, name: str) -> Field:
    """Find a field of a snapshot by name.

    Raises
    ------
    OctoolsError
        If the snapshot neither holds nor determines it; names the nearest that exist.
    """
    stored = snapshot.stored_fields
    if name in stored:
        return Field(
            name,
            (name,),
            lambda batch, _: batch.values[name],
            units=snapshot.units_of(name),
            signed=name.startswith(("velocity_", "momentum_", "acceleration_")),
        )
    derived = {n: f for n, f in DERIVED.items() if set(f.needs) <= set(stored)}
    if name not in derived:
        raise unknown_name("field", name, [*stored, *derived], str(snapshot.path))
    return derived[name]
