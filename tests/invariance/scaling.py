"""Rewrites a run in units of length, mass and time that differ by powers of two.

`octant params` says the unit of every parameter. A run's own run.toml holds all parameters, also
those that have their defaults, so that a default with a hidden unit is scaled like any other value.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from running import octant

# Exponents of length, mass and time.
Dimension = tuple[float, float, float]
NONE: Dimension = (0, 0, 0)

NAMED: dict[str, Dimension] = {
    "1": NONE,
    "radians": NONE,
    "length": (1, 0, 0),
    "mass": (0, 1, 0),
    "time": (0, 0, 1),
    "volume": (3, 0, 0),
    "velocity": (1, 0, -1),
    "acceleration": (1, 0, -2),
    "density": (-3, 1, 0),
    "pressure": (-1, 1, -2),
    "energy": (2, 1, -2),
}

# Units that are the same in every system of code units: physical ones, counts, and ratios to
# another quantity of the run.
FIXED = frozenset(
    [
        "",
        "K",
        "s",
        "cm",
        "g cm^-3",
        "cm^-3",
        "cm^2 / g",
        "Msun",
        "kpc",
        "km/s",
        "Myr",
        "solar",
        "pc",
        "erg",
        "eV",
        "photons / s",
        "photons / (s Msun)",
        "B",
        "MB",
        "%",
        "Mpc/h",
        "100 km/s/Mpc",
        "critical density",
        "files",
        "scalar",
        "cells",
        "finest cells",
        "cells of the finest level",
        "cells of the star's level",
        "cells of the black hole's level",
        "steps",
        "coarse steps",
        "mean gas density",
        "Eddington rate",
        "domain",
        "radius",
        "problem.density",
        "central density of the (first) star",
        "cold pressure",
        "distance to the inner Lagrangian point",
        "refine.mass_unit",
        "mass / radius^3",
        "G mass / radius",
    ]
)
# The units of code units, which become smaller where the numbers become larger.
UNITS_OF_CODE: dict[str, Dimension] = {
    "units.length": NAMED["length"],
    "units.density": NAMED["density"],
    "units.time": NAMED["time"],
}

VARIABLES: dict[str, Dimension] = {
    **dict.fromkeys(("x", "y", "z", "r", "size_x", "size_y", "size_z"), NAMED["length"]),
    "t": NAMED["time"],
}
FIELDS: dict[str, Dimension] = {
    "density": NAMED["density"],
    "pressure": NAMED["pressure"],
    **dict.fromkeys(("velocity_x", "velocity_y", "velocity_z"), NAMED["velocity"]),
}
FIELDS_OF_PROBLEMS: dict[str, Dimension] = {
    "radiation_energy": NAMED["pressure"],
    **{f"radiation_flux_{axis}": (0, 1, -3) for axis in "xyz"},
}
# Parameters with another dimension if temperatures are pressures over densities, without [units].
WITHOUT_UNITS: dict[str, Dimension] = {
    "radiation.constant": (-9, 1, 6),  # energy density per temperature^4
    "radiation.initial_temperature": (2, 0, -2),
    "radiation.opacity_temperature": (2, 0, -2),
}
# Texts and lists of texts without a unit that are expressions, or `name = expression`.
EXPRESSIONS = ("problem.scalars", "problem.scalar", "refine.where")
TABLES_OF_EXPRESSIONS = (
    "problem.constants",
    "sources.constants",
    "problem.terms",
    "sources.terms",
    "output.integrals",
)


@dataclass(frozen=True)
class Scales:
    """Powers of two by which all lengths, masses and times of a run are multiplied."""

    length: int
    mass: int
    time: int

    def factor(self, dimension: Dimension) -> float:
        """By what a quantity of this dimension is multiplied."""
        exponents = (self.length, self.mass, self.time)
        return 2.0 ** sum(s * d for s, d in zip(exponents, dimension, strict=True))


def dimension(text: str) -> Dimension | None:
    """Understand a unit, such as ``length^3 / (mass time^2)``; None where it stays as it is."""
    text = text.strip()
    if text in FIXED:
        return None
    total = [0.0, 0.0, 0.0]
    upper, *lower = text.removeprefix("code ").replace(" per ", " / ").split("/")
    for sign, product in [(1, upper), *((-1, part) for part in lower)]:
        for word in product.strip().strip("()").split():
            name, _, power = word.partition("^")
            if name not in NAMED:
                raise ValueError(f"{text!r} is no unit: unknown {name!r}")
            for axis, exponent in enumerate(NAMED[name]):
                total[axis] += sign * int(power or 1) * exponent
    return (total[0], total[1], total[2])


def dimensions(text: str) -> list[Dimension | None]:
    """Understand a unit, or a list of them, as ``density, velocity, pressure``."""
    return [dimension(part) for part in text.split(",")]


@cache
def units_of_parameters(model: str) -> Mapping[str, str]:
    """Units of all parameters of a model; those of a problem are ``PROBLEM:problem.NAME``."""
    units, problem, here = {}, "", ""
    for line in octant("params").text.splitlines():
        if found := re.match(r'# model = "(\w+)"', line):
            here, problem = found[1], ""
        elif found := re.match(r'## problem\.name = "(\w+)"', line):
            problem = f"{found[1]}:"
        elif here == model and (found := re.match(r"\| `([\w.]+)` \|[^|]*\|([^|]*)\|", line)):
            units[problem + found[1]] = found[2].strip()
    return units


def substituted(expression: str, scales: Scales, known: Mapping[str, Dimension]) -> str:
    """Rewrite an expression so that it gives the same number for scaled variables."""

    def scaled(found: re.Match[str]) -> str:
        factor = 1 / scales.factor(known[found[0]])
        return found[0] if factor == 1 else f"({found[0]}*{factor!r})"

    names = "|".join(known)
    return re.sub(rf"(?<![\w.])({names})(?![\w(])", scaled, expression)


def scaled_value(value: Any, unit: list[Dimension | None], scales: Scales, text: Callable) -> Any:
    if isinstance(value, list):
        units = unit * len(value) if len(unit) == 1 else unit
        return [scaled_value(v, [u], scales, text) for v, u in zip(value, units, strict=True)]
    if isinstance(value, str):
        factor = 1.0 if unit[0] is None else scales.factor(unit[0])
        expression = text(value)
        return f"({expression})*{factor!r}" if expression and factor != 1 else expression
    if isinstance(value, bool) or unit[0] is None:
        return value
    return min(value * scales.factor(unit[0]), sys.float_info.max)


def scaled_parameters(parameters: str, scales: Scales) -> dict[str, dict[str, Any]]:
    """Scale all parameters of a run.toml."""
    given = tomllib.loads(parameters)
    model = given.pop("model")
    units = units_of_parameters(model)
    problem = given["problem"]["name"]
    has_units = any(value != 1.0 for value in given.get("units", {}).values())
    result: dict[str, dict[str, Any]] = {}
    for section, values in given.items():
        known = VARIABLES | (FIELDS if section in ("sources", "output") else {})

        def text(expression: str, known: Mapping[str, Dimension] = known) -> str:
            return substituted(expression, scales, known)

        result[section] = {}
        for key, value in values.items():
            name = f"{section}.{key}"
            unit = units.get(f"{problem}:{name}", units.get(name, ""))
            if name in UNITS_OF_CODE:
                value = value / scales.factor(UNITS_OF_CODE[name])
            elif name in WITHOUT_UNITS and not has_units:
                value = value * scales.factor(WITHOUT_UNITS[name])
            elif name == "problem.fields":
                rows = [row.split(" = ", 1) for row in value]
                value = [
                    f"{k} = ({text(v)})*{scales.factor(FIELDS_OF_PROBLEMS[k])!r}" for k, v in rows
                ]
            elif name in TABLES_OF_EXPRESSIONS:
                value = [f"{k} = {text(v)}" for k, v in (row.split(" = ", 1) for row in value)]
            elif name in EXPRESSIONS or dimensions(unit) != [None]:
                value = scaled_value(value, dimensions(unit), scales, text)
            result[section][key] = value
    return {"": {"model": model}} | result


def toml(parameters: Mapping[str, Mapping[str, Any]]) -> str:
    """Write sections of parameters as TOML."""
    lines = []
    for section, values in parameters.items():
        lines += [f"[{section}]"] if section else []
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"
