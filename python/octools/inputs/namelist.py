"""Reader of Fortran namelists with the rules of Fortran programs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError

MOST_VALUES = 100_000  # Largest index and largest number of values of an array
MOST_VALUES_OF_FILE = 1_000_000  # Also those that only an index of a later value implies

BEGIN = re.compile(r"^[ \t]*[&$][ \t]*([a-z_]\w*)", re.IGNORECASE | re.MULTILINE)
END = re.compile(r"/|[&$]end\b", re.IGNORECASE)
BLANK = re.compile(r"(?:[\s;]|![^\n]*)+")
TARGET = re.compile(r"([a-z_][\w%]*)\s*(?:\(([^()]*)\)\s*)?=(?!=)", re.IGNORECASE)
QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"")
REPEAT = re.compile(r"(\d+)\*")
WORD = re.compile(r"[^\s,;/!'\"&$()]+")
INTEGER = re.compile(r"[+-]?\d+")
REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[deq]([+-]?\d+)|([+-]\d+))?", re.IGNORECASE)
LOGICAL = re.compile(r"\.?(?:(t|true)|(f|false))\.?", re.IGNORECASE)


@dataclass
class Namelist:
    """Settings of a file.

    Attributes
    ----------
    settings
        Values by "group/name", in lower case: a number, a truth value, a text, or a list of them
        that begins with the first element of the array. Elements without a value are None. An
        array of two dimensions is a list of such lists, the first index running within each.
    repeated
        Settings of groups whose name occurs earlier in the file. A program reads the first group
        of each name only.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    repeated: dict[str, Any] = field(default_factory=dict)


def read_namelist(path: Path) -> Namelist:
    """Read all groups of a file; text outside groups is ignored.

    Raises
    ------
    OctoolsError
        If the file cannot be read, or a group is not a namelist; with the line.
    """
    try:
        text = path.read_bytes().decode(errors="replace").replace("\r\n", "\n").lstrip("\ufeff")
    except OSError as cause:
        raise OctoolsError(f"{path} cannot be read: {cause.strerror}") from cause
    found = Namelist()
    seen: set[str] = set()
    position = size = 0
    while begin := BEGIN.search(text, position):
        group = begin[1].lower()
        reader = _Group(path, text, begin.end(), group, size)
        values = reader.read()
        position, size = reader.position, reader.size
        into = found.repeated if group in seen else found.settings
        into.update({f"{group}/{name}": value for name, value in values.items()})
        seen.add(group)
    return found


class _Group:
    """Parser of the assignments of one group, from after its name to its end."""

    def __init__(self, path: Path, text: str, position: int, group: str, size: int) -> None:
        self.path, self.text, self.position, self.group = path, text, position, group
        self.size = size  # values of all arrays that were read before, in other groups too
        self.elements: dict[str, dict[tuple[int, ...], Any]] = {}
        self.arrays: set[str] = set()  # names that were set with an index

    def read(self) -> dict[str, Any]:
        """Return the values by name."""
        while not self._take(END):
            if self._take(re.compile(",")):
                continue
            target = self._take(TARGET)
            if target is None:
                raise self._wrong("expected NAME = VALUE, or / at the end of the group")
            name = target[1].lower()
            first, running = self._subscript(target[2], name)
            elements = self.elements.setdefault(name, {})
            for n, value in enumerate(self._values(name)):
                if value is not None:
                    elements[(*first[:running], first[running] + n, *first[running + 1 :])] = value
        given = {name: elements for name, elements in self.elements.items() if elements}
        return {name: self._shaped(name, elements) for name, elements in given.items()}

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if blank := BLANK.match(self.text, self.position):
            self.position = blank.end()
        if self.position >= len(self.text):
            raise self._wrong("the group does not end with /")
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def _subscript(self, inner: str | None, name: str) -> tuple[tuple[int, ...], int]:
        """Return the first element that is set, and the axis along which further ones follow."""
        if inner is None:
            return (1,), 0
        self.arrays.add(name)
        parts = inner.split(",")
        begins = [part.split(":")[0].strip() for part in parts]
        if not all(INTEGER.fullmatch(begin) for begin in begins if begin):
            raise self._wrong(f"({inner}) is not an index")
        for digits in re.findall(r"\d+", inner):
            self._limit(digits, f"({inner})")
        running = next((axis for axis, part in enumerate(parts) if ":" in part), 0)
        return tuple(int(begin or 1) for begin in begins), running

    def _values(self, name: str) -> list[Any]:
        values: list[Any] = []
        separated = True  # a comma without a value before it stands for an element that stays
        while True:
            at = self.position
            if self._take(END) or self._take(TARGET):
                self.position = at
                return values
            if self._take(re.compile(",")):
                if separated:
                    values.append(None)
                separated = True
                continue
            count = 1
            if repeat := self._take(REPEAT):
                self._limit(repeat[1], repeat[0])
                count = int(repeat[1])
            empty = repeat and re.match(r"[\s,;/!]", self.text[self.position : self.position + 1])
            values += [None if empty else self._value()] * count
            self._limit(str(len(values)), name)
            separated = False

    def _value(self) -> Any:
        if quoted := self._take(QUOTED):
            inner, mark = (quoted[1], "'") if quoted[1] is not None else (quoted[2], '"')
            return inner.replace(mark * 2, mark).rstrip()
        word = self._take(WORD)
        if word is None:
            raise self._wrong("expected a value, or / at the end of the group")
        return _plain(word[0])

    def _shaped(self, name: str, elements: dict[tuple[int, ...], Any]) -> Any:
        if set(elements) == {(1,)} and name not in self.arrays:
            return elements[(1,)]
        planes: dict[tuple[int, ...], dict[int, Any]] = {}
        for (first, *others), value in elements.items():
            planes.setdefault(tuple(others), {})[first] = value
        self.size += sum(max(1, *plane) - min(1, *plane) for plane in planes.values())
        self.size += max((key[0] for key in planes if key), default=0)
        if self.size > MOST_VALUES_OF_FILE:
            raise self._wrong(f"the indices imply more than {MOST_VALUES_OF_FILE} values")
        if set(planes) == {()}:
            return _listed(planes[()])
        return _listed({(key[0] if key else 1): _listed(plane) for key, plane in planes.items()})

    def _limit(self, digits: str, shown: str) -> None:
        if len(digits) > 9 or int(digits) > MOST_VALUES:
            raise self._wrong(
                f"'{shown[:40]}' expands to a list of {digits[:20]} values; "
                f"expected at most {MOST_VALUES}"
            )

    def _wrong(self, what: str) -> OctoolsError:
        line = self.text.count("\n", 0, self.position) + 1
        return OctoolsError(
            f"{self.path} is not a complete namelist: line {line}, &{self.group.upper()}: {what}"
        )


def _listed(elements: dict[int, Any]) -> list[Any]:
    first = min(1, *elements)
    return [elements.get(n) for n in range(first, max(elements) + 1)]


def _plain(word: str) -> Any:
    """Return the number or the truth value that a word stands for, or the word."""
    if INTEGER.fullmatch(word):
        return int(word) if len(word) < 400 else float("inf")
    if real := REAL.fullmatch(word):
        return float(f"{real[1]}e{real[2] or real[3] or 0}")
    if logical := LOGICAL.fullmatch(word):
        return logical[1] is not None
    return word
