"""Descriptions of example files, from the comments in their first lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError

WORDS = ("Shows", "Takes", "Plots", "Also", "Compare")


@dataclass(frozen=True)
class Example:
    """Parameter file of ``examples/``.

    Attributes
    ----------
    name
        Of the file, without its ending.
    parameters
        The file's tables.
    said
        The texts after ``Shows:``, ``Takes:``, ``Plots:``, ``Also:``, ``Compare:``, by these words;
        a text goes on until the next word, or an empty line.
    """

    name: str
    parameters: Mapping[str, Any]
    said: Mapping[str, str]

    @property
    def model(self) -> str:
        """``amr`` or ``dns``."""
        return str(self.parameters["model"])

    @property
    def problem(self) -> str:
        """``problem.name``."""
        return str(self.parameters["problem"]["name"])

    @property
    def pictures(self) -> tuple[str, ...]:
        """Patterns of the pictures' names in the run's directory, what shows most first."""
        found = re.findall(rf"output/{self.name}/([^\s,;]+\.png)", self.said.get("Plots", ""))
        return tuple(found)

    @property
    def launch(self) -> tuple[str, ...]:
        """Words of a command line that it requires: ``-n 2``."""
        ranks = re.search(r"\./octant (-n \d+) run", self.said.get("Takes", ""))
        return tuple(ranks[1].split()) if ranks else ()


def read_example(path: Path) -> Example:
    """Read an example.

    Raises
    ------
    OctoolsError
        If its first lines do not say what it shows.
    """
    text = path.read_text()
    said: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        words = re.match(rf"#\s+({'|'.join(WORDS)}):\s*(.*)", line)
        if words:
            lines = said.setdefault(words[1], [])
        lines.append(words[2] if words else line.lstrip("# "))
    if "Shows" not in said:
        raise OctoolsError(f"{path}: the header has no line 'Shows: ...'")
    joined = {word: " ".join(" ".join(parts).split()) for word, parts in said.items()}
    return Example(path.stem, tomllib.loads(text), joined)


def read_examples(folder: Path) -> list[Example]:
    """Read all examples of a folder, by name."""
    return [read_example(path) for path in sorted(folder.glob("*.toml"))]
