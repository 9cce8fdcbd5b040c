"""Names of the settings of other codes, to distinguish typos from unsupported settings."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache

from octools.inputs.known_names import NAMES

FREE = ("comment", "job", "problem", "par_end")  # blocks of Athena whose names anyone may choose
CUDECOMP = "cudecomp_"  # settings of a library that CaNS hands on


@cache
def known_settings(code: str) -> dict[str, tuple[str, ...]]:
    """List the settings of a code by group; ``any`` where groups do not matter."""
    if code == "RAMSES":
        return _settings_of_ramses()
    found: dict[str, tuple[str, ...]] = {}
    group = ""
    for line in NAMES.splitlines():
        if match := re.fullmatch(rf"{re.escape(code)} (\S+):", line):
            group = match[1]
        elif not line.startswith("  "):
            group = ""
        elif group:
            found[group] = (*found.get(group, ()), *line.split())
    return found


def _settings_of_ramses() -> dict[str, tuple[str, ...]]:
    """List the settings that the table of rules has."""
    from octools.inputs.ramses_table import TOPICS

    found: dict[str, set[str]] = {}
    for topic in TOPICS:
        for group, name in topic.places():
            found.setdefault(group, set()).add(name)
    return {group: tuple(sorted(names)) for group, names in found.items()}


def why_unknown(code: str, setting: str) -> str | None:
    """Say why a code has no such setting, and which one may be meant; None if it has it.

    Parameters
    ----------
    code
        Name of the code.
    setting
        "group/name", or the name.
    """
    groups = known_settings(code)
    group, _, name = setting.rpartition("/")
    if not groups or group in FREE or name.startswith(CUDECOMP):
        return None
    if "any" in groups:
        name = re.sub(r"_\d+$", "", name)
        return None if name in groups["any"] else _nearest(code, name, groups["any"])
    group = re.sub(r"\d+$", "#", group)
    if group not in groups:
        if code == "Athena" and not get_close_matches(group, groups, n=1, cutoff=0.8):
            return None  # a block of some physics
        return _nearest(code, group, groups, "group")
    if name in groups[group]:
        return None
    others = [other for other, names in groups.items() if name in names]
    if others:
        return f"{code} has {name} in another group: {', '.join(others)}"
    return _nearest(code, name, groups[group])


def _nearest(code: str, name: str, names: object, what: str = "setting") -> str:
    near = get_close_matches(name, list(names), n=1, cutoff=0.6)  # type: ignore[call-overload]
    hint = f"; did you mean {near[0]}?" if near else "; check its spelling"
    return f"{code} has no {what} {name}{hint}"
