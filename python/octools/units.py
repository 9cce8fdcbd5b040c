"""Texts of ``units`` attributes, such as ``mass / (length time^2)``, as factors and for yt."""

from __future__ import annotations

import re
from collections.abc import Mapping

CODE = ("length", "mass", "time")


def in_python(units: str) -> str:
    """Write a text of units with the signs of Python, as yt and others want it."""
    text = re.sub(r"\s*([/()^])\s*", r"\1", units.strip())
    text = re.sub(r"\s+|(?<=\w)(?=\()", "*", text)
    return text.replace("^", "**")


def factor(units: str, code: Mapping[str, float]) -> float | None:
    """Give the size of a unit in cgs; None if it has parts that are no units of the code.

    Parameters
    ----------
    units
        Products and a quotient of ``length``, ``mass`` and ``time``; "1" or empty for numbers.
    code
        These three in cgs.
    """
    above, _, below = in_python(units).partition("/")
    result = 1.0
    for part, sign in ((above, 1), (below, -1)):
        for word in re.findall(r"[^*()]+(?:\*\*-?\d+)?", part):
            name, _, power = word.partition("**")
            if name in CODE:
                result *= code[name] ** (sign * int(power or 1))
            elif name not in ("", "1"):
                return None
    return result


def in_cgs(units: str) -> str:
    """Write a text of units of the code in cgs: cm, g and s."""
    names = {"length": "cm", "mass": "g", "time": "s"}
    return re.sub(r"\b(length|mass|time)\b", lambda found: names[found[0]], units)
