"""Reference pages that follow from the program and the Python packages.

Parameters: one page for each group of sections. Commands: one page each. Python: one page for each
group of modules, with their docstrings.
"""

import re
import subprocess
import sys
from pathlib import Path

PROGRAM_COMMANDS = ("run", "check", "params", "info")
PHYSICS = (
    *("hydro", "subgrid", "turbulence", "sources", "heating", "cooling", "floor", "stars"),
    *("supernovae", "black_holes", "agn", "events", "gravity", "cosmology", "initial"),
)
PROBLEMS_PER_PAGE = 14
MODELS = {"amr": "adaptive mesh", "dns": "incompressible flow"}

# Modules of octools that scripts import, by page: title, introduction, modules.
PYTHON = {
    "load": (
        "Load snapshots",
        "`octools.load()` opens a snapshot and returns its cells and particles as NumPy arrays.",
        ("octools.loading",),
    ),
    "snapshots": (
        "Read snapshots in batches",
        "Classes for snapshots that are larger than the memory, and for incompressible flows.",
        ("octools.snapshot", "octools.flow"),
    ),
    "fields": (
        "Fields, units and images",
        "Stored and derived fields, expressions, units, and fields on a regular raster of pixels.",
        ("octools.fields", "octools.units", "octools.raster"),
    ),
    "runs": (
        "Runs, histories and budgets",
        "Files of a run directory, the time series in `history.csv`, and budgets by process.",
        ("octools.run", "octools.history", "octools.ledger", "octools.table"),
    ),
    "initial": (
        "Write initial conditions",
        "`octools.write_initial()` writes arrays as initial conditions of `problem.name = \"file\"`.",
        ("octools.initial",),
    ),
    "analysis": (
        "Analysis",
        "Profiles, haloes, spectra, star formation and black holes.",
        ("octools.profile", "octools.halos", "octools.flow_spectra", "octools.stars", "octools.sinks"),
    ),
    "theory": (
        "Exact solutions and linear theory",
        "Solutions with which the tests compare results.",
        ("octools.exact", "octools.linear"),
    ),
    "compare": (
        "Compare snapshots",
        "Differences of two snapshots cell by cell.",
        ("octools.compare",),
    ),
    "telemetry": (
        "Telemetry",
        "The recorded telemetry of a run as tables and views of a DuckDB database.",
        ("octools.telemetry.files", "octools.telemetry.database", "octools.telemetry.views"),
    ),
    "exports": (
        "Exports",
        "Conversion of snapshots to the formats of other programs.",
        (
            "octools.exports.targets",
            "octools.exports.gadget",
            "octools.exports.vtkhdf",
            "octools.exports.silo",
            "octools.exports.ramses",
        ),
    ),
    "errors": ("Errors", "Exceptions that all functions of octools raise.", ("octools.errors",)),
}
SIMULATION = """# octant: run simulations

The package `octant` runs simulations from Python. [Python interface](../python.md) introduces it.

```{eval-rst}
.. autoclass:: octant.Simulation
   :members:

.. autoclass:: octant.Level
   :members:
   :special-members: __getitem__

.. autoexception:: octant.InputError

.. autoexception:: octant.RunError
```
"""


def told(words: list[str]) -> str:
    """Run a command, and give what it prints, in lines of 100 columns without colours."""
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PATH": "/usr/bin:/bin"}
    return subprocess.run(words, check=True, capture_output=True, text=True, env=plain).stdout


# --- parameters ---


def write_parameters(program: Path, folder: Path) -> None:
    """Write `parameters.md`, and the pages that it lists below `parameters/`."""
    (folder / "parameters").mkdir()
    rows = []
    for model, sections in models(told([str(program), "params"])).items():
        for name, (title, parts) in groups(model, sections).items():
            names = ", ".join(f"`{section}`" for section, _ in parts)
            rows.append(f"| [{title}](parameters/{name}.md) | {names} |")
            text = "\n\n".join(f"## {section}\n\n{table}" for section, table in parts)
            (folder / f"parameters/{name}.md").write_text(f"# {title}\n\n{text}\n")
    intro = "All parameters, as `./octant params` lists them, by model and section."
    (folder / "parameters.md").write_text(
        contents("Parameters", intro, "| page | sections |", rows, "parameters")
    )


def models(listing: str) -> dict[str, list[tuple[str, str]]]:
    """Divide the listing of all parameters into sections with their tables, by model."""
    found: dict[str, list[tuple[str, str]]] = {}
    sections: list[tuple[str, str]] = []
    problem = ""
    for part in re.split(r"^#+ ", listing, flags=re.MULTILINE)[1:]:
        title, _, table = part.partition("\n")
        if named := re.match(r'model = "(\w+)"', title):
            sections = found.setdefault(named[1], [])
            problem = ""
        elif re.match("problem.name", title):
            problem = title
        if table.strip():
            sections.append((problem or title, table.strip()))
    return found


def groups(
    model: str, sections: list[tuple[str, str]]
) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """Divide the sections of a model into pages."""
    what = MODELS[model]
    problems = [part for part in sections if part[0].startswith("problem.name")]
    physics = [part for part in sections if part[0].strip("[]") in PHYSICS and model == "amr"]
    others = [part for part in sections if part not in problems and part not in physics]
    pages = {model: (f"Parameters for {what}", others)}
    if physics:
        pages = {
            model: (f"Parameters for {what}: mesh, run and output", others),
            f"{model}_physics": (f"Parameters for {what}: physics", physics),
        }
    for n in range(0, len(problems), PROBLEMS_PER_PAGE):
        some = problems[n : n + PROBLEMS_PER_PAGE]
        first, last = (re.findall(r'"(\w+)"', some[k][0])[0] for k in (0, -1))
        title = f"Problems for {what}: {first} to {last}"
        pages[f"{model}_problems_{n // PROBLEMS_PER_PAGE + 1}"] = (title, some)
    return pages


# --- commands ---


def write_commands(program: Path, tools: Path, folder: Path) -> None:
    """Write `commands.md`, and a page below `commands/` for each command. `tools`: commands.txt."""
    (folder / "commands").mkdir()
    octools = Path(sys.executable).with_name("octools")
    calls = {name: [str(program), name] for name in PROGRAM_COMMANDS}
    named = [line.split()[0] for line in tools.read_text().splitlines()]
    calls |= {name: [str(octools), name] for name in named}
    rows = []
    for name, words in calls.items():
        help_text = told([*words, "-h"]).strip()
        (folder / f"commands/{name}.md").write_text(
            f"---\norphan: true\n---\n\n# ./octant {name}\n\n```text\n{help_text}\n```\n"
        )
        rows.append(f"| [{name}](commands/{name}.md) | {purpose(help_text)} |")
    intro = "The help of every command, as `./octant COMMAND -h` prints it."
    (folder / "commands.md").write_text(
        contents("Commands", intro, "| command | purpose |", rows)
    )


def purpose(help_text: str) -> str:
    """Give the first sentence of a help text."""
    lines = [line.strip() for line in help_text.splitlines()]
    text = next(line for line in lines if line and not line.lower().startswith("usage"))
    return re.split(r"(?<=\.)\s|; ", text)[0].rstrip(".").replace("|", "\\|")


# --- Python ---


def write_python(folder: Path) -> None:
    """Write `python_api.md`, and the pages that it lists below `python_api/`."""
    (folder / "python_api").mkdir()
    (folder / "python_api/simulation.md").write_text(SIMULATION)
    rows = ["| [octant: run simulations](python_api/simulation.md) | `octant` |"]
    for name, (title, about, modules) in PYTHON.items():
        parts = [f"# {title}", about]
        for module in modules:
            parts += [
                f"## {module}",
                f"```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n"
                "   :special-members: __getitem__\n   :exclude-members: NDArray\n```",
            ]
        (folder / f"python_api/{name}.md").write_text("\n\n".join(parts) + "\n")
        names = ", ".join(f"`{module}`" for module in modules)
        rows.append(f"| [{title}](python_api/{name}.md) | {names} |")
    intro = (
        "Functions and classes for scripts and notebooks: the package `octant` runs simulations, "
        "the package `octools` reads and analyses their files. Arrays are NumPy arrays of doubles "
        "in code units unless stated otherwise; shapes are in the order of the indices, so that "
        "(n_z, n_y, n_x) has x as the fastest index."
    )
    (folder / "python_api.md").write_text(
        contents("Python API", intro, "| page | modules |", rows, "python_api")
    )


def contents(title: str, intro: str, head: str, rows: list[str], folder: str = "") -> str:
    """Write a page that lists others in a table, and those of a folder in the site's contents."""
    parts = [f"# {title}", intro]
    if folder:
        pages = "\n".join(re.findall(rf"\(({folder}/\w+)\.md\)", "\n".join(rows)))
        parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return "\n\n".join([*parts, "\n".join([head, "|---|---|", *rows])]) + "\n"
