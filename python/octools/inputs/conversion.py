"""Conversion of parameter files, with a record of converted, changed and dropped settings."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError, reading
from octools.inputs.known import why_unknown
from octools.text import printable

CARRIED, CHANGED, LOST = "carried over", "changed", "no counterpart"
BY_HAND, UNKNOWN = "to set by hand", "unknown setting"
NOT_USED = "not used"


@dataclass(frozen=True)
class Row:
    """Result of the conversion of a setting.

    Attributes
    ----------
    setting
        Its name and value in the source.
    status
        `CARRIED`, `CHANGED`, `BY_HAND` (there is a counterpart, which is not set), `LOST` (there is
        none), `NOT_USED` (the other code ignores the setting in this file), or `UNKNOWN` (the other
        code has no such setting: a typo, perhaps).
    now
        The parameters of Octant that say it, or why there are none.
    """

    setting: str
    status: str
    now: str


@dataclass
class Conversion:
    """Parameter file under construction, and a record of every setting of the source.

    Attributes
    ----------
    path
        The source.
    settings
        All that the source sets: values by "group/name", or by name.
    defaults
        What the other code takes where a setting is not given.
    """

    path: Path
    settings: Mapping[str, Any]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    tables: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    _asked: str = field(default="", init=False)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a setting, or the other code's default."""
        self._asked = name
        return self.settings.get(name, self.defaults.get(name, default))

    @contextmanager
    def naming_settings(self) -> Iterator[None]:
        """Convert errors of Python to an error that names the setting read last.

        Raises
        ------
        OctoolsError
            In place of what Python says of such a value.
        """
        try:
            yield
        except (ArithmeticError, LookupError, TypeError, ValueError) as cause:
            given = _shown(self.settings.get(self._asked, "nothing"))
            raise self.refuse(f"{self._asked} = {given} cannot be converted: {cause}") from cause

    def put(self, parameter: str, value: Any, meaning: str = "") -> None:
        """Set "section.key", with a comment."""
        section, _, key = parameter.rpartition(".")
        self.tables.setdefault(section, {})[key] = (value, meaning)

    def carried(self, *names: str, now: str) -> None:
        """Record settings with the same meaning in Octant."""
        self._account(names, CARRIED, now)

    def changed(self, *names: str, now: str) -> None:
        """Account for settings that Octant says in another way."""
        self._account(names, CHANGED, now)

    def lost(self, *names: str, why: str) -> None:
        """Account for settings that Octant has no counterpart of."""
        self._account(names, LOST, why)

    def by_hand(self, *names: str, now: str) -> None:
        """Account for settings whose counterparts are left to be set by hand."""
        self._account(names, BY_HAND, now)

    def account(self, name: str, status: str, now: str) -> None:
        """Account for a setting with any result."""
        self._account((name,), status, now)

    def _account(self, names: tuple[str, ...], status: str, now: str) -> None:
        done = {row.setting.split(" = ")[0] for row in self.rows}
        for name in names:
            if name in self.settings and name not in done:
                self.rows.append(Row(f"{name} = {_shown(self.settings[name])}", status, now))

    def refuse(self, what: str) -> OctoolsError:
        """Describe what cannot be converted at all."""
        return OctoolsError(f"{self.path}: {what}")

    def finish(self, code: str) -> str:
        """Return the text of the TOML file, which ends with the account as comments."""
        for name in self.settings:
            if why := why_unknown(code, name):
                self._account((name,), UNKNOWN, why)
        self.lost(*self.settings, why="no counterpart in Octant, or chosen automatically")
        lines = [f"# From {printable(self.path.name)}, a parameter file of {code}."]
        for section in ("", *(name for name in self.tables if name)):
            if section:
                lines.append(f"\n[{section}]")
            for key, (value, meaning) in self.tables.get(section, {}).items():
                lines.append(
                    f"{key} = {to_toml(value)}" + (f"  # {printable(meaning)}" if meaning else "")
                )
        lines.append("\n# Conversion of each setting:")
        for status in (UNKNOWN, BY_HAND, CARRIED, CHANGED, NOT_USED, LOST):
            some = [row for row in self.rows if row.status == status]
            lines += [f"# {status}:"] if some else []
            lines += [f"#   {printable(row.setting)}: {printable(row.now)}" for row in some]
        return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _escaped(letter: str) -> str:
    """Return a letter of a basic string of TOML."""
    if letter in '\\"':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def to_toml(value: Any) -> str:
    """Write a value as TOML does."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(map(_escaped, value)) + '"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(to_toml(v) for v in value) + "]"
    return repr(value)


def read_blocks(path: Path, code: str, header: str = "") -> dict[str, Any]:
    """Read lines of ``name = value`` in blocks ``<block>``; ``#`` begins a comment.

    Returns numbers as numbers, by "block/name"; by name where `header` stands for the only block.
    """
    parser = configparser.ConfigParser(
        comment_prefixes=("#",), inline_comment_prefixes=("#",), interpolation=None, strict=False
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    with reading(path, f"parameter file of {code}"):
        text = re.sub(r"^\s*<(.*?)>", r"[\1]", path.read_text(), flags=re.MULTILINE)
        try:
            parser.read_string((f"[{header}]\n" if header else "") + _left_aligned(text))
        except configparser.Error as cause:
            raise ValueError(" ".join(str(cause).split())) from cause
    return {
        key if header else f"{section}/{key}": _number(value)
        for section in parser.sections()
        if section not in ("comment", "par_end")
        for key, value in parser[section].items()
    }


def _left_aligned(text: str) -> str:
    """Drop indents, which would continue the line before."""
    return "\n".join(line.lstrip() for line in text.splitlines())


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


MOST_VALUES = 100_000  # of a list of a namelist


def require_short_lists(path: Path) -> None:
    """Refuse repeat counts and indices that would make a list of more values than memory holds."""
    try:
        text = path.read_text(errors="replace")
    except OSError as cause:
        raise OctoolsError(f"{path} cannot be read: {cause.strerror}") from cause
    bare = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"|![^\n]*", " ", text)
    for match in re.finditer(r"(\d+)\s*\*|\(([^()]*)\)", bare):
        for digits in re.findall(r"\d+", match[1] or match[2] or ""):
            if len(digits) > 9 or int(digits) > MOST_VALUES:
                line = bare.count("\n", 0, match.start()) + 1
                raise OctoolsError(
                    f"{path}:{line}: '{match[0][:40]}' expands to a list of {digits[:20]} values; "
                    f"expected at most {MOST_VALUES}"
                )
