"""RAMSES namelist during conversion, with a record of its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from octools.inputs.conversion import NOT_USED, Conversion
from octools.inputs.ramses_rules import Settings

DEEPEST_LEVEL = 60
OF_Y = {"y_center", "length_y", "v_region", "jbound_min", "jbound_max"}
OF_Z = {"z_center", "length_z", "w_region", "kbound_min", "kbound_max"}
IN_THREE_DIMENSIONS = {
    "cosmo", "pic", "poisson", "rt", "sink", "smbh", "stellar", "tracer", "turb",
}  # fmt: skip


@dataclass
class Ramses:
    """Namelist during conversion.

    Attributes
    ----------
    source
        The conversion.
    s
        Its settings by name, with the defaults of RAMSES.
    """

    source: Conversion
    s: Settings

    def key(self, name: str) -> str:
        """Return the setting with its group, as the accounts have it."""
        return self.s.keys.get(name, name)

    def changed(self, *names: str, now: str) -> None:
        """Account for settings that Octant has in another form."""
        self.source.changed(*map(self.key, names), now=now)

    def carried(self, *names: str, now: str) -> None:
        """Account for settings that mean the same in Octant."""
        self.source.carried(*map(self.key, names), now=now)

    def not_used(self, *names: str, why: str) -> None:
        """Account for settings that RAMSES ignores in this namelist."""
        for name in names:
            self.source.account(self.key(name), NOT_USED, why)

    def at(self, name: str, index: int, default: Any) -> Any:
        """Return an element of an array, counted from 0."""
        values = listed(self.s.get(name))
        return values[index] if index < len(values) and values[index] is not None else default

    @property
    def old(self) -> bool:
        """True for a namelist with PHYSICS_PARAMS, of cuRAMSES or of earlier versions of RAMSES."""
        return any(key.startswith("physics_params/") for key in self.source.settings)

    @property
    def dimensions(self) -> int:
        """The number of axes along which gas in regions may vary.

        RAMSES is compiled for 1, 2 or 3 dimensions, and a namelist does not contain their number.
        Regions without values for an axis do not depend on it.
        """
        names = {key.rpartition("/")[2] for key in self.source.settings}
        regions = self.s.has("nregion") and self.s.text("filetype").lower() == "ascii"
        switched_on = {
            key.rpartition("/")[2] for key, value in self.source.settings.items() if value is True
        }
        if not regions or names & OF_Z or switched_on & IN_THREE_DIMENSIONS:
            return 3
        return 2 if names & OF_Y else 1

    @property
    def levels(self) -> tuple[int, int]:
        """The coarsest and the finest level."""
        levels = []
        for name in ("levelmin", "levelmax"):
            value = self.s.get(name)
            if isinstance(value, bool | list) or not 1 <= _whole(value) <= DEEPEST_LEVEL:
                raise self.source.refuse(
                    f"{name} = {value}; expected an integer up to {DEEPEST_LEVEL}"
                )
            levels.append(_whole(value))
        return levels[0], levels[1]


def listed(value: Any) -> list[Any]:
    """Return the elements of an array; a single value is its only one."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and float(value).is_integer() else 0
