#!/usr/bin/env python3
"""Writes docs/problems.md: every example and every problem that there is.

    .octant/venv/bin/python tests/problems_page.py

What the page says is at the top of the examples, in their parameters, and in the program's list of
problems. tests/cli/test_problems_page.py sees that the page is current.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from octools.expected import EXAMPLES
from octools.profile import EXACT_NAMES

from running import ROOT, octant

PAGE = ROOT / "docs/problems.md"
HEAD = """# All problems

`./octant run examples/NAME.toml` runs an example and makes its pictures in `output/NAME`. What has
`problem.name = "expression"` is written in its parameter file alone
([expressions.md](expressions.md)): a problem of one's own begins as a copy of it. Times are for two
cores of a workstation.

This page is written by `tests/problems_page.py`.
"""
MODELS = {"amr": "Compressible flows on an adaptive mesh", "dns": "Incompressible flows"}


@dataclass(frozen=True)
class Example:
    """What the top of an example says, and some of its parameters.

    Attributes
    ----------
    name, model, problem
        Of the file, ``model`` and ``problem.name``.
    said
        The texts after ``Shows:``, ``Takes:``, ``Picture:``, ``Number:``, by these words.
    """

    name: str
    model: str
    problem: str
    said: dict[str, str]

    @property
    def number(self) -> str:
        """What it is held against, and by which command."""
        if "Number" in self.said:
            command = " (`octools expect`)" if self.name in EXAMPLES else ""
            return self.said["Number"].rstrip(".") + command
        if self.problem in EXACT_NAMES:
            return "the exact solution (`octools profile`)"
        return "—"


def read_example(path: Path) -> Example:
    """Read the top of an example."""
    text = path.read_text()
    said: dict[str, list[str]] = {}
    lines = said.setdefault("", [])
    for line in text.splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        words = re.match(r"#\s+(Shows|Takes|Picture|And|Number):\s*(.*)", line)
        if words:
            lines = said.setdefault(words[1], [])
        lines.append(words[2] if words else line.lstrip("# "))
    parameters = tomllib.loads(text)
    return Example(
        path.stem,
        parameters["model"],
        parameters["problem"]["name"],
        {word: " ".join(" ".join(parts).split()) for word, parts in said.items()},
    )


def cell(text: str) -> str:
    """Make a text fit into a cell of a table."""
    return text.replace("|", "\\|") or "—"


def first_picture(example: Example) -> str:
    """Give the first picture's name within the run's directory."""
    found = re.match(r"output/\w+/([^\s,;]+)", example.said.get("Picture", ""))
    return f"`{found[1]}`" if found else "—"


def page() -> str:
    """Write the page."""
    examples = [read_example(path) for path in sorted((ROOT / "examples").glob("*.toml"))]
    parts = [HEAD]
    for model, title in MODELS.items():
        parts += [f"\n## {title}\n", "| example | shows | takes | picture | number |"]
        parts.append("|---|---|---|---|---|")
        for e in examples:
            if e.model == model:
                columns = (
                    f"[{e.name}](../examples/{e.name}.toml)"
                    + (", expressions" if e.problem == "expression" else ""),
                    *(cell(e.said.get(word, "").rstrip(".")) for word in ("Shows", "Takes")),
                    first_picture(e),
                    cell(e.number),
                )
                parts.append(f"| {' | '.join(columns)} |")
    parts.append("\n## All values of `problem.name`\n")
    parts += ["| problem | model | examples |", "|---|---|---|"]
    for model in MODELS:
        for problem in problems_of(model):
            users = [e.name for e in examples if (e.model, e.problem) == (model, problem)]
            parts.append(f"| `{problem}` | `{model}` | {', '.join(users) or '—'} |")
    return "\n".join(parts) + "\n"


def problems_of(model: str) -> list[str]:
    """List what ``problem.name`` may be, as the program knows it."""
    manual = octant("params", "problem").text
    found = re.findall(r'^## problem\.name = "(\w+)"', manual, re.MULTILINE)
    # Both models' lists are in alphabetical order, that of the mesh first.
    turn = next(n for n in range(1, len(found)) if found[n] < found[n - 1])
    return found[:turn] if model == "amr" else found[turn:]


if __name__ == "__main__":
    PAGE.write_text(page())
