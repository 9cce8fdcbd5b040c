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
    has_cold_pressure,
    has_radiation,
    is_tabulated,
    tabulated_temperature,
    thermal_pressure,
)
from octools.errors import OctoolsError, unknown_name
from octools.molecular_weight import IONS, constant_weight, is_ionized, weight_of_ions
from octools.snapshot import Array, Batch, Header, Snapshot
from octools.units import HYDROGEN_MASS, shown_units, times_length

BOLTZMANN_CONSTANT = 1.380649e-16  # erg / K
LABELS = {"overdensity": "density / mean density"}
TEMPERATURE_OVER_WEIGHT = "temperature / $\\mu$"  # label where the molecular weight is unknown
SPECIFIC_ENTROPY = "specific entropy $\\mu$ m$_p$ / k"
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
    title
        Text of the label without units; empty for that of the name.
    """

    name: str
    needs: tuple[str, ...]
    compute: Callable[[Batch, Header], Array]
    units: str = ""
    signed: bool = False
    relative: bool = False
    applies: Callable[[Header], bool] = lambda _: True
    title: str = ""

    @property
    def label(self) -> str:
        """Label for axes and colour bars, with units where they are known."""
        title = self.title or LABELS.get(self.name, self.name.replace("_", " "))
        return with_units(title, self.units)


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
    """Return the temperature in K; that over the mean molecular weight if this is unknown."""
    velocity = header.units["length"] / header.units["time"]
    density, pressure = batch.values["density"], batch.values["pressure"]
    tabulated = tabulated_temperature(header, density, pressure)
    if tabulated is not None:
        return tabulated
    specific = gas_pressure(header, density, pressure) / density * velocity**2
    over_weight = specific * HYDROGEN_MASS / BOLTZMANN_CONSTANT
    if is_ionized(header):
        return over_weight * weight_of_ions(header, batch.values)
    return over_weight * (constant_weight(header) or 1.0)


def _molecular_weight(batch: Batch, header: Header) -> Array:
    return weight_of_ions(header, batch.values)


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
        Field("molecular_weight", IONS, _molecular_weight, applies=is_ionized),
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


def knows_temperature(header: Header) -> bool:
    """Return true if files determine the temperature, and not only that over the weight."""
    return is_tabulated(header) or is_ionized(header) or constant_weight(header) is not None


def _of_run(field: Field, snapshot: Snapshot) -> Field:
    """Return a derived field as the run of a snapshot requires it.

    Raises
    ------
    OctoolsError
        If the temperature depends on ions that the snapshot does not contain.
    """
    header = snapshot.header
    if field.name == "entropy" and is_tabulated(header):
        return replace(field, units="erg / (g K)")
    if field.name == "entropy" and has_radiation(header):
        return replace(field, title=SPECIFIC_ENTROPY)
    if field.name == "internal_energy" and has_cold_pressure(header):
        return replace(field, title="thermal energy per mass")
    if field.name != "temperature":
        return field
    if not knows_temperature(header):
        return replace(field, title=TEMPERATURE_OVER_WEIGHT)
    if not is_ionized(header):
        return field
    missing = [ion for ion in IONS if ion not in snapshot.stored_fields]
    if missing:
        raise OctoolsError(
            f"{snapshot.path}: the temperature of gas with [ionization] requires the field(s) "
            f"{', '.join(missing)}, which output.fields of the run left out; the expression "
            "pressure / density is proportional to temperature / mean molecular weight"
        )
    return replace(field, needs=(*field.needs, *IONS))


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
        similar fields, or those that are missing.
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
        return _of_run(derived[name], snapshot)
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
