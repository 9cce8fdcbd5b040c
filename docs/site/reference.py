"""Reference pages that follow from the program and the Python packages.

Parameters: one page for each group of sections. Commands: one page each. Python: one page for each
group of modules, with the docstrings of what scripts import.
"""

import re
import subprocess
import sys
from pathlib import Path

PROGRAM_COMMANDS = ("run", "check", "params", "info")
PHYSICS = (
    *("hydro", "subgrid", "turbulence", "sources", "braking", "heating", "cooling", "floor"),
    *("stars", "supernovae", "black_holes", "agn", "events", "gravity", "cosmology", "initial"),
    *("radiation", "ionization"),
)
PROBLEMS_PER_PAGE = 14
MODELS = {"amr": "adaptive mesh", "dns": "incompressible flow"}

# Names of octools for scripts, by page: title, introduction, and names by module.
PYTHON = {
    "load": (
        "Load snapshots",
        "`octools.load()` opens a snapshot and returns its cells and particles as NumPy arrays.",
        {"loading": ("load", "CellData", "FlowData")},
    ),
    "snapshots": (
        "Read snapshots in batches",
        "Snapshots that are larger than the memory, and grids of incompressible flows.",
        {"snapshot": ("Snapshot", "Level", "Batch", "Header"), "flow": ("FlowSnapshot",)},
    ),
    "fields": (
        "Fields, units and images",
        "Stored and derived fields, expressions, units, and fields on a regular raster of pixels.",
        {
            "fields": ("find_field", "expression_field", "Field"),
            "units": ("factor", "powers"),
            "raster": ("make_view", "make_image", "View", "Image"),
        },
    ),
    "runs": (
        "Runs, histories and budgets",
        "Files of a run directory, the time series in `history.csv`, and budgets by process.",
        {
            "run": ("snapshots", "resolve"),
            "history": ("read_history", "drifts", "History"),
            "ledger": ("books", "Book"),
            "table": ("write_table",),
        },
    ),
    "initial": (
        "Write initial conditions",
        '`octools.write_initial()` writes arrays for runs with `problem.name = "file"`.',
        {"initial": ("write_initial", "Grid")},
    ),
    "analysis": (
        "Analysis",
        "Profiles, haloes, spectra, star formation, black holes and binary stars.",
        {
            "profile": (
                *("radial_profile", "line_profile", "exact_solution", "exact_values"),
                *("differences", "Profile", "Exact"),
            ),
            "halos": (
                *("read_particles", "find_halos", "friends_of_friends", "catalogue"),
                *("Particles", "Halos"),
            ),
            "flow_spectra": ("read_spectra", "Spectra"),
            "stars": ("star_formation", "StarFormation"),
            "binary_star": ("measure_binary", "binary_table", "BinaryState", "Stars"),
            "roche": ("find_lobes", "inner_lagrangian_point", "roche_radius", "Lobes", "Pair"),
            "sinks": ("black_holes", "mergers"),
        },
    ),
    "theory": (
        "Exact solutions and linear theory",
        "Solutions with which plots and tests compare results.",
        {
            "exact": ("Sedov", "Riemann", "Noh", "IsothermalBall", "Bondi"),
            "linear": ("LinearTheory", "power_spectrum", "Spectrum"),
        },
    ),
    "equations_of_state": (
        "Tables of equations of state",
        'Tables for `hydro.equation_of_state = "table"`, and the gases that they describe.',
        {
            "eos_table": ("write_eos_table", "Axis", "GasModel"),
            "gas_models": ("StellarGas", "IdealGas", "Composition", "GasState"),
            "electron_gas": ("electron_gas", "ElectronGas", "Species"),
            "fermi_dirac": ("fermi_dirac",),
            "coulomb": ("Correlation", "coupling"),
        },
    ),
    "compare": (
        "Compare snapshots",
        "Differences of two snapshots cell by cell.",
        {"compare": ("compare", "Comparison", "Difference")},
    ),
    "telemetry": (
        "Telemetry",
        "The recorded telemetry of a run as tables and views of a DuckDB database.",
        {
            "telemetry.files": ("find_files", "RunFiles", "TelemetryFile"),
            "telemetry.database": ("Telemetry",),
        },
    ),
    "exports": (
        "Exports and errors",
        "Conversion of snapshots to formats of other programs, and the exception of octools.",
        {"exports.targets": ("export",), "errors": ("OctoolsError",)},
    ),
}
SIMULATION = """# octant: run simulations

The package `octant` runs simulations from Python. [Python interface](../python.md) introduces it.

```{eval-rst}
.. autoclass:: octant.Simulation
   :members:

.. autoclass:: octant.Level
   :members:
   :special-members: __getitem__

.. py:exception:: octant.InputError

   Invalid input, a subclass of ``ValueError``. The message names file, line and expected value.

.. py:exception:: octant.RunError

   Failed run, a subclass of ``RuntimeError``. Raised on all ranks.
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
            sections.append((problem or title, narrow(table.strip())))
    return found


def narrow(table: str) -> str:
    """Reduce a table of parameters to three columns, so that names and meanings fit on a page."""
    rows = ["| name | meaning | values |", "|---|---|---|"]
    for line in table.splitlines()[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        name, kind, unit, default, limits, meaning = cells
        default = default if default == "required" else f"default {default}"
        values = "; ".join(filter(None, (kind, unit, limits, default)))
        rows.append(f"| {name} | {meaning} | {values} |")
    return "\n".join(rows)


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
    (folder / "commands.md").write_text(contents("Commands", intro, "| command | purpose |", rows))


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
        for module, entities in modules.items():
            parts.append(f"## octools.{module}")
            parts += [directive(module, entity) for entity in entities]
        (folder / f"python_api/{name}.md").write_text("\n\n".join(parts) + "\n")
        names = ", ".join(f"`octools.{module}`" for module in modules)
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


def directive(module: str, entity: str) -> str:
    """Ask autodoc for a function or class with its public members."""
    kind = "autofunction" if entity[0].islower() else "autoclass"
    options = "" if entity[0].islower() else "   :members:\n   :special-members: __getitem__\n"
    return f"```{{eval-rst}}\n.. {kind}:: octools.{module}.{entity}\n{options}```"


def contents(title: str, intro: str, head: str, rows: list[str], folder: str = "") -> str:
    """Write a page that lists others in a table, and those of a folder in the site's contents."""
    parts = [f"# {title}", intro]
    if folder:
        pages = "\n".join(re.findall(rf"\(({folder}/\w+)\.md\)", "\n".join(rows)))
        parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return "\n\n".join([*parts, "\n".join([head, "|---|---|", *rows])]) + "\n"
