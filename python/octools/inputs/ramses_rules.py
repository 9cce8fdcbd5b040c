"""Rules for the conversion of RAMSES settings to Octant parameters, and their application."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from octools.inputs.conversion import BY_HAND, CARRIED, CHANGED, LOST, NOT_USED, Conversion


@dataclass(frozen=True)
class Note:
    """Converted value with a remark for the user.

    Attributes
    ----------
    value
        Value of the parameter; None leaves it at its default.
    remark
        The difference between the codes, or the reason.
    status
        `CHANGED`, `BY_HAND`, `LOST` or `NOT_USED`.
    """

    value: Any
    remark: str
    status: str = CHANGED


@dataclass(frozen=True)
class Rule:
    """Counterpart of one or several settings of RAMSES.

    Attributes
    ----------
    names
        Settings, separated by blanks; "group/name" for one that belongs to another group.
    octant
        Parameters of Octant; empty if there are none.
    remark
        Unit, difference, or the reason why there is no counterpart and what to do instead.
    default
        Default of RAMSES; a tuple of several settings' defaults.
    value
        Computes the value of the parameter `octant` from all settings; None if the conversion of
        the mesh, the initial conditions, ... does.
    groups
        Groups of the namelist, separated by blanks; empty for those of the topic.
    done
        True if Octant does what the settings require without a parameter.
    """

    names: str
    octant: str = ""
    remark: str = ""
    default: Any = None
    value: Callable[[Settings], Any] | None = None
    groups: str = ""
    done: bool = False

    @property
    def status(self) -> str:
        """Result for settings whose conversion needs no other one."""
        return CARRIED if self.octant or self.done else LOST

    @property
    def keys(self) -> tuple[str, ...]:
        """The names without groups."""
        return tuple(name.rpartition("/")[2] for name in self.names.split())

    @property
    def defaults(self) -> tuple[Any, ...]:
        """The default of each name; None where RAMSES has none."""
        given = self.default if isinstance(self.default, tuple) else (self.default,)
        return given + (None,) * (len(self.keys) - len(given))


@dataclass(frozen=True)
class Topic:
    """Group of related rules.

    Attributes
    ----------
    title
        Heading in the manual.
    groups
        Groups of the namelist that may hold the settings, separated by blanks.
    rules
        The rules.
    enabled
        Returns true if the physics is switched on. Its parameters are then all written out, with
        the defaults of RAMSES where the namelist does not set them.
    off
        Remark on settings of physics that is switched off.
    """

    title: str
    groups: str
    rules: tuple[Rule, ...]
    enabled: Callable[[Settings], bool] | None = None
    off: str = ""

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield the groups that may hold each setting, and the setting."""
        for rule in self.rules:
            for name in rule.names.split():
                own, _, key = name.rpartition("/")
                for group in (own or rule.groups or self.groups).split():
                    yield group, key


@dataclass
class Settings:
    """Settings of a namelist by name, with the defaults of RAMSES.

    Attributes
    ----------
    source
        The conversion that the settings belong to.
    topics
        All rules.
    mass_sph
        Gas mass of a cell of the initial conditions in solar masses, if it is known.
    keys
        Full name, "group/name", of each setting that the namelist sets, by name.
    defaults
        Default of RAMSES of each setting that has one, by name.
    """

    source: Conversion
    topics: tuple[Topic, ...]
    mass_sph: float | None = None
    keys: dict[str, str] = field(init=False)
    defaults: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Find the group of each setting: the first one of the file that may hold it."""
        rules = [rule for topic in self.topics for rule in topic.rules]
        self.defaults = {
            name: default
            for rule in rules
            for name, default in zip(rule.keys, rule.defaults, strict=True)
            if default is not None
        }
        places = {place for topic in self.topics for place in topic.places()}
        self.keys = {}
        for key in self.source.settings:
            group, _, name = key.partition("/")
            if (group, name) in places:
                self.keys.setdefault(name, key)

    def has(self, *names: str) -> bool:
        """Return true if the namelist sets any of the names."""
        return any(name in self.keys for name in names)

    def get(self, name: str) -> Any:
        """Return the value of a setting, or the default of RAMSES."""
        if name not in self.keys:
            return self.defaults.get(name)
        value = self.source.get(self.keys[name])
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    def number(self, name: str) -> float:
        """Return a setting as a finite number."""
        value = self.get(name)
        if isinstance(value, bool | str | list):
            raise ValueError("expected a number")
        if not math.isfinite(float(value)):
            raise ValueError("expected a finite number")
        return float(value)

    def positive(self, name: str) -> float:
        """Return a setting as a number of at least 0."""
        value = self.number(name)
        if value < 0:
            raise ValueError("expected a number of at least 0")
        return value

    def numbers(self, name: str) -> list[float]:
        """Return the values of an array, without the elements that are not set."""
        value = self.get(name)
        values = value if isinstance(value, list) else [value]
        return [float(one) for one in values if one is not None]

    def flag(self, name: str) -> bool:
        """Return a setting as a truth value; numbers are true unless they are 0."""
        value = self.get(name)
        if value is None:
            return False
        if isinstance(value, str | list):
            raise ValueError("expected .true. or .false.")
        return bool(value)

    def text(self, name: str) -> str:
        """Return a setting as text."""
        return str(self.get(name) or "").strip()

    def choice(self, name: str, known: dict[str, Any]) -> Any:
        """Return what a text stands for."""
        given = self.text(name).lower()
        if given not in known:
            raise ValueError(f"expected one of {', '.join(known)}")
        return known[given]


def same(name: str) -> Callable[[Settings], float]:
    """Return the value of a setting as it is."""
    return lambda s: s.number(name)


def times(factor: float, name: str) -> Callable[[Settings], float]:
    """Return the value of a setting in another unit."""
    return lambda s: factor * s.number(name)


def flag(name: str) -> Callable[[Settings], bool]:
    """Return a truth value as it is."""
    return lambda s: s.flag(name)


def by_hand(remark: str) -> Callable[[Settings], Note]:
    """Return the result for settings whose counterpart the user sets."""
    return lambda _: Note(None, remark, BY_HAND)


def apply(source: Conversion, settings: Settings) -> None:
    """Write the parameters of all rules with a value, and account for all settings with a rule."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for topic in settings.topics:
        on = topic.enabled is None or topic.enabled(settings)
        for rule in topic.rules:
            given = settings.has(*rule.keys)
            if given or (on and topic.enabled is not None and rule.value is not None):
                entry = _convert(source, settings, rule)
                if not on and entry[0] == CARRIED and topic.off:
                    entry = (entry[0], entry[1], "; ".join(filter(None, (entry[2], topic.off))))
                for name in rule.keys:
                    found.setdefault(name, []).append(entry)
    for name, entries in found.items():
        if name in settings.keys:
            source.account(settings.keys[name], *_joined(entries))


def _convert(source: Conversion, s: Settings, rule: Rule) -> tuple[str, str, str]:
    """Write the parameter of a rule; return the result, the parameter and the remark."""
    if rule.value is None:
        return rule.status, rule.octant, rule.remark
    result = rule.value(s)
    note = result if isinstance(result, Note) else Note(result, rule.remark, CARRIED)
    if note.value is None:
        return (LOST if note.status == CARRIED else note.status), "", note.remark
    given = [name for name in rule.keys if s.has(name)]
    origin = ", ".join(given) if given else f"{rule.keys[0]}, default of RAMSES"
    source.put(rule.octant, note.value, origin)
    return note.status, rule.octant, note.remark


def _joined(entries: list[tuple[str, str, str]]) -> tuple[str, str]:
    """Merge the results for one setting that stands for several parameters."""
    order = (BY_HAND, CHANGED, CARRIED, LOST, NOT_USED)
    status = min((entry[0] for entry in entries), key=order.index)
    parameters = list(dict.fromkeys(entry[1] for entry in entries if entry[1]))
    remarks = list(dict.fromkeys(entry[2] for entry in entries if entry[2]))
    return status, "; ".join(filter(None, (", ".join(parameters), *remarks)))


PREAMBLE = """\
# {title}

`./octant convert run.nml` writes the settings of a namelist of RAMSES or cuRAMSES as a parameter
file of Octant ([conversion](convert.md#parameter-files-of-other-codes)). The tables of three pages
list all settings that it knows, with the defaults of RAMSES; the other pages have
{others}.
Where physics is switched on, all of its parameters are written out, because defaults differ between
the codes. A setting without a counterpart (none) is reported with the reason. A setting that is not
listed is reported as unknown, with the nearest name.

The groups below a heading are those that may hold its settings; RAMSES reads only the first group
of a name. `PHYSICS_PARAMS` is the group of cuRAMSES and of earlier versions of RAMSES. Names are in
lower case here; upper case makes no difference. The command
`python -m octools.inputs.ramses_table PAGE` prints a page.
"""


def page(title: str, topics: tuple[Topic, ...], others: dict[str, str]) -> str:
    """Return a page of the manual: a table for each topic, and links to other pages by file."""
    links = "\nand ".join(f"[{contents}]({file})" for file, contents in others.items())
    lines = [PREAMBLE.format(title=title, others=links).rstrip()]
    for topic in topics:
        groups = ", ".join(f"`{group.upper()}`" for group in topic.groups.split())
        lines += ["", f"## {topic.title}", "", f"Groups: {groups}", ""]
        lines += ["| RAMSES | default | Octant | remarks |", "|---|---|---|---|"]
        lines += [_line(rule) for rule in topic.rules]
    return "\n".join(lines) + "\n"


def _line(rule: Rule) -> str:
    names = " ".join(f"`{name}`" for name in dict.fromkeys(rule.keys))
    default = ", ".join(_fortran(value) for value in rule.defaults if value is not None)
    octant = ", ".join(f"`{name}`" for name in rule.octant.split(", ") if name) or "none"
    return f"| {names} | {default} | {octant} | {rule.remark} |".replace("|  |", "| |")


def _fortran(value: Any) -> str:
    return f"`.{str(value).lower()}.`" if isinstance(value, bool) else f"`{value!r}`"
