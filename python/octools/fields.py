"""Fields for plots and profiles: stored fields, and derived ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from octools.equation_of_state import (
    adiabatic_modulus,
    entropy,
    gas_pressure,
    tabulated_temperature,
    thermal_pressure,
)
from octools.errors import OctoolsError, unknown_name
from octools.snapshot import Array, Batch, Header, Snapshot
from octools.units import HYDROGEN_MASS, shown_units, times_length

BOLTZMANN_CONSTANT = 1.380649e-16  # erg / K
LABELS = {"temperature": "temperature / $\\mu$", "overdensity": "density / mean density"}
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
    """Definition of a stored or derived field, and its presentation in plots.

    Attributes
    ----------
    name
        Name of the field.
    needs
        Names of the stored fields from which it is computed.
    compute
        Function that returns the values, shape (blocks, k, j, i), for a batch with `needs`.
    units
        Units as text for labels; empty for code units.
    signed
        True if values have both signs: colours are then symmetric about zero.
    relative
        Whether it is a ratio to a mean of space: a projection is then its mean along the line of
        sight.
    applies
        Whether runs of a kind have it.
    """

    name: str
    needs: tuple[str, ...]
    compute: Callable[[Batch, Header], Array]
    units: str = ""
    signed: bool = False
    relative: bool = False
    applies: Callable[[Header], bool] = lambda _: True

    @property
    def label(self) -> str:
        """Label for axes and colour bars, with units where they are known."""
        return with_units(LABELS.get(self.name, self.name.replace("_", " ")), self.units)


def _speed(batch: Batch, _: Header) -> Array:
    return np.sqrt(sum((batch.values[v] ** 2 for v in VELOCITY), np.zeros(batch.leaf.shape)))


def _sound_speed(batch: Batch, header: Header) -> Array:
    density = batch.values["density"]
    return np.sqrt(adiabatic_modulus(header, density, batch.values["pressure"]) / density)


def _mach(batch: Batch, header: Header) -> Array:
    return _speed(batch, header) / _sound_speed(batch, header)


def _thermal_pressure(batch: Batch, header: Header) -> Array:
    return thermal_pressure(header, batch.values["density"], batch.values["pressure"])


def _internal_energy(batch: Batch, header: Header) -> Array:
    return _thermal_pressure(batch, header) / ((header.gamma - 1) * batch.values["density"])


def _entropy(batch: Batch, header: Header) -> Array:
    return entropy(header, batch.values["density"], batch.values["pressure"])


def _overdensity(batch: Batch, header: Header) -> Array:
    """Return the gas density over its mean; the code unit is the mean density of all matter."""
    omega_m, omega_b = (float(header.parameter(f"cosmology.omega_{which}")) for which in "mb")
    return batch.values["density"] * (omega_m / omega_b)


def _temperature(batch: Batch, header: Header) -> Array:
    """Return temperature over mean molecular weight, which is not stored; that of a table."""
    velocity = header.units["length"] / header.units["time"]
    density, pressure = batch.values["density"], batch.values["pressure"]
    tabulated = tabulated_temperature(header, density, pressure)
    if tabulated is not None:
        return tabulated
    specific = gas_pressure(header, density, pressure) / density * velocity**2
    return specific * HYDROGEN_MASS / BOLTZMANN_CONSTANT


def _level(batch: Batch, _: Header) -> Array:
    return np.full(batch.leaf.shape, float(batch.level))


_THERMAL = ("density", "pressure")
DERIVED = {
    field.name: field
    for field in (
        Field("speed", VELOCITY, _speed, "length / time"),
        Field("sound_speed", _THERMAL, _sound_speed, "length / time"),
        Field("mach", (*VELOCITY, *_THERMAL), _mach),
        Field("internal_energy", _THERMAL, _internal_energy, "length^2 / time^2"),
        Field("entropy", _THERMAL, _entropy),
        Field("temperature", _THERMAL, _temperature, "K", applies=lambda header: header.has_units),
        Field(
            "overdensity",
            ("density",),
            _overdensity,
            relative=True,
            applies=lambda header: header.expands,
        ),
        Field("level", (), _level),
    )
}


def find_field(snapshot: Snapshot, name: str) -> Field:
    """Find a field of a snapshot by name: stored, derived, or an expression.

    Parameters
    ----------
    snapshot
        Open snapshot.
    name
        Name of a stored field, of a derived field such as ``mach`` or ``temperature``, or an
        expression (`expression_field`).

    Raises
    ------
    OctoolsError
        If the snapshot does not contain the field and does not determine it; the message names
        similar fields.
    """
    stored = snapshot.cell_fields
    if name in stored:
        return Field(
            name,
            (name,),
            lambda batch, _: batch.values[name],
            units=snapshot.units_of(name),
            signed=name.startswith(("velocity_", "momentum_", "acceleration_")),
        )
    derived = {
        n: f
        for n, f in DERIVED.items()
        if set(f.needs) <= set(stored) and f.applies(snapshot.header)
    }
    if name in derived:
        return derived[name]
    if not name.isidentifier():
        return expression_field(snapshot, name)
    raise unknown_name("field", name, [*stored, *derived], str(snapshot.path))


def as_shown(field: Field, header: Header, integrated: bool = False) -> Field:
    """Give a field in the units that pictures show; `integrated` if they add it up over length."""
    units = times_length(field.units) if integrated else field.units
    name, size = (units, 1.0) if header.expands else shown_units(units, header.units)
    if size == 1.0:
        return replace(field, units=name)
    return replace(
        field, units=name, compute=lambda batch, header: size * field.compute(batch, header)
    )


# What an expression may call, and how it may join numbers.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "cos": np.cos, "exp": np.exp, "log": np.log, "log10": np.log10,
    "max": np.maximum, "min": np.minimum, "sin": np.sin, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh,
}  # fmt: skip
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
    ast.Pow: np.power, ast.BitXor: np.power, ast.USub: np.negative, ast.UAdd: np.positive,
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
}  # fmt: skip


def expression_field(snapshot: Snapshot, text: str) -> Field:
    """Compile an expression of fields, such as ``log10(pressure / density^gamma)``.

    Variables are fields, ``gamma`` and ``pi``. Comparisons have the value 1 or 0.
    """
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError) as cause:
        message = f"'{text}' is neither a field nor a valid expression: {cause}"
        raise OctoolsError(message) from cause
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in calls}
    fields = {name: find_field(snapshot, name) for name in sorted(names - {"gamma", "pi"})}
    needs = tuple(sorted({need for field in fields.values() for need in field.needs}))

    def compute(batch: Batch, header: Header) -> Array:
        known = {name: field.compute(batch, header) for name, field in fields.items()}
        values = _value(tree, known | {"gamma": header.gamma, "pi": np.pi}, text)
        return np.broadcast_to(np.asarray(values, dtype=float), batch.leaf.shape)

    return Field(text, needs, compute)


def _value(node: ast.AST, known: Mapping[str, Any], text: str) -> Any:
    def at(part: ast.AST) -> Any:
        return _value(part, known, text)

    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return known[name]
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            return OPERATORS[type(operator)](at(left), at(right))
        case ast.UnaryOp(op=operator, operand=operand) if type(operator) in OPERATORS:
            return OPERATORS[type(operator)](at(operand))
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if (
            type(operator) in OPERATORS
        ):
            return OPERATORS[type(operator)](at(left), at(right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                raise unknown_name("function", name, FUNCTIONS, "formulas")
            return FUNCTIONS[name](*(at(argument) for argument in arguments))
    raise OctoolsError(f"'{text}': a formula cannot contain {type(node).__name__.lower()}")
