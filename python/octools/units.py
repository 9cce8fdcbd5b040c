"""Texts of ``units`` attributes, such as ``mass / (length time^2)``, as factors and for yt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

CODE = ("length", "mass", "time")
PARSEC, SOLAR_MASS, YEAR = 3.0856775814913673e18, 1.988409870698051e33, 3.15576e7  # cm, g, s
HYDROGEN_MASS = 1.67262192e-24  # g, of the proton

Powers = tuple[int, int, int]  # of length, mass and time
LENGTHS = {
    "cm": 1.0, "km": 1e5, "AU": 1.495978707e13,
    "pc": PARSEC, "kpc": 1e3 * PARSEC, "Mpc": 1e6 * PARSEC,
}  # fmt: skip
TIMES = {"s": 1.0, "yr": YEAR, "Myr": 1e6 * YEAR, "Gyr": 1e9 * YEAR}
# What is shown of gas that is thin, as between stars; of denser gas it is g / cm^3.
QUANTITIES: dict[Powers, tuple[str, float]] = {
    (-3, 1, 0): ("m$_H$ / cm^3", HYDROGEN_MASS),
    (-2, 1, 0): ("M$_\\odot$ / pc^2", SOLAR_MASS / PARSEC**2),
    (0, 1, 0): ("M$_\\odot$", SOLAR_MASS),
    (1, 0, -1): ("km / s", 1e5),
    (-1, 1, -2): ("erg / cm^3", 1.0),
    (2, 0, -2): ("km^2 / s^2", 1e10),
}
THIN = 1e-12  # g / cm^3


def in_python(units: str) -> str:
    """Write a text of units with the signs of Python, as yt and others want it."""
    text = re.sub(r"\s*([/()^])\s*", r"\1", units.strip())
    text = re.sub(r"\s+|(?<=\w)(?=\()", "*", text)
    return text.replace("^", "**")


def powers(units: str) -> Powers | None:
    """Return the exponents of length, mass and time; None if the text has other factors."""
    found = dict.fromkeys(CODE, 0)
    above, _, below = in_python(units).partition("/")
    for part, sign in ((above, 1), (below, -1)):
        for word in re.findall(r"[^*()]+(?:\*\*-?\d+)?", part):
            name, _, power = word.partition("**")
            if name in CODE:
                found[name] += sign * int(power or 1)
            elif name not in ("", "1"):
                return None
    return found["length"], found["mass"], found["time"]


def factor(units: str, code: Mapping[str, float]) -> float | None:
    """Return the value of a unit in cgs; None if it is not a product of code units.

    Parameters
    ----------
    units
        Products and a quotient of ``length``, ``mass`` and ``time``; "1" or empty for numbers.
    code
        Values of ``length``, ``mass`` and ``time`` in cgs.
    """
    found = powers(units)
    return None if found is None else _in_cgs(found, code)


def _in_cgs(found: Powers, code: Mapping[str, float]) -> float:
    return prod(code[name] ** power for name, power in zip(CODE, found, strict=True))


def times_length(units: str) -> str:
    """Write the units of an integral over length; what has no text keeps none."""
    found = powers(units)
    if found is None or not units:
        return f"{units} length" if units else units
    names = dict(zip(("mass", "length", "time"), (found[1], found[0] + 1, found[2]), strict=True))
    above, below = (
        " ".join(
            name if abs(power) == 1 else f"{name}^{abs(power)}"
            for name, power in names.items()
            if sign * power > 0
        )
        for sign in (1, -1)
    )
    return f"{above or '1'} / {below}" if below else above or "1"


def shown_units(units: str, code: Mapping[str, float]) -> tuple[str, float]:
    """Choose what a quantity is shown in, and how much of that is a unit of the code.

    Where the code's units are known in cgs these are units that astronomers use; what they have
    none for stays in the code's own.
    """
    found = powers(units)
    if found not in QUANTITIES or all(size == 1.0 for size in code.values()):
        return units, 1.0
    name, size = QUANTITIES[found]
    if found == (-3, 1, 0) and _in_cgs(found, code) > THIN:
        name, size = "g / cm^3", 1.0
    return name, _in_cgs(found, code) / size


def named(names: Mapping[str, float], code: float, longest: float) -> tuple[str, float]:
    """Choose a length or a time, and how many of it a unit of the code is.

    It is the code's own unit if that has a name, and else the longest that fits.

    Parameters
    ----------
    names
        ``LENGTHS`` or ``TIMES``.
    code
        The code's unit, cgs.
    longest
        What is to be shown, in the code's unit.
    """
    for name, size in names.items():
        if abs(code / size - 1) < 0.01:
            return name, code / size
    fits = [name for name, size in names.items() if size <= longest * code]
    name = fits[-1] if fits else next(iter(names))
    return name, code / names[name]


def in_cgs(units: str) -> str:
    """Write a text of units of the code in cgs: cm, g and s."""
    names = {"length": "cm", "mass": "g", "time": "s"}
    return re.sub(r"\b(length|mass|time)\b", lambda found: names[found[0]], units)
