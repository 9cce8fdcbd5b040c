#!/usr/bin/env python3
"""Writes docs/problems.md: every example and every problem that there is.

    .octant/venv/bin/python tests/problems_page.py

What the page says is at the top of the examples, in their parameters, and in the program's list of
problems. tests/cli/test_problems_page.py sees that the page is current.
"""

import re

from octools.examples import Example, read_examples
from octools.expected import EXAMPLES
from octools.profile import EXACT_NAMES

from running import ROOT, octant

PAGE = ROOT / "docs/problems.md"
HEAD = """# All problems

`./octant run examples/NAME.toml` runs an example and writes its plots to `output/NAME`. Examples
with `problem.name = "expression"` are defined entirely in their parameter files
([expressions](expressions.md)) and can be copied as a starting point for your own problem. Times
with the name of a machine are CPU times measured there; the others refer to two cores of a
workstation.

This page is written by `tests/problems_page.py`.
"""
MODELS = {"amr": "Compressible flows on an adaptive mesh", "dns": "Incompressible flows"}


def number(example: Example) -> str:
    """Say what an example is held against, and by which command."""
    if "Compare" in example.said:
        command = " (`octools expect`)" if example.name in EXAMPLES else ""
        return example.said["Compare"].rstrip(".") + command
    if example.problem in EXACT_NAMES:
        return "the exact solution (`octools profile`)"
    return "—"


def cell(text: str) -> str:
    """Make a text fit into a cell of a table."""
    return text.replace("|", "\\|") or "—"


def first_picture(example: Example) -> str:
    """Give the first picture's name within the run's directory."""
    return f"`{example.pictures[0]}`" if example.pictures else "—"


def page() -> str:
    """Write the page."""
    examples = read_examples(ROOT / "examples")
    parts = [HEAD]
    for model, title in MODELS.items():
        parts += [f"\n## {title}\n", "| example | description | run time | plot | reference |"]
        parts.append("|---|---|---|---|---|")
        for e in examples:
            if e.model == model:
                columns = (
                    f"[{e.name}](../examples/{e.name}.toml)"
                    + (", expressions" if e.problem == "expression" else ""),
                    *(cell(e.said.get(word, "").rstrip(".")) for word in ("Shows", "Takes")),
                    first_picture(e),
                    cell(number(e)),
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
