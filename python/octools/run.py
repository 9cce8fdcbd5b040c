"""Search for the snapshots of a run, and for the plots that its example file requests."""

import re
import shlex
import tomllib
from pathlib import Path

from octools.errors import OctoolsError, unknown_name
from octools.installation import examples_folder

# What draws something of a run, into its directory.
PICTURE_COMMANDS = (
    "plot",
    "profile",
    "movie",
    "history",
    "spectra",
    "phase",
    "halos",
    "sfr",
    "kennicutt",
    "binary",
    "ledger",
    "expect",
    "ics",
    "report",
    "trace",
)


SNAPSHOTS = "snap"


def snapshots(run: Path, series: str = SNAPSHOTS) -> dict[int, Path]:
    """List the snapshots of a run directory by number, in ascending order.

    Parameters
    ----------
    run
        Run directory.
    series
        Prefix of the file names: ``snap``, or that of cut-outs such as ``slice_z0.5``.

    Returns
    -------
    dict
        Path of each file by number.

    Raises
    ------
    OctoolsError
        If the directory does not exist or contains no files of this series.
    """
    if not run.is_dir():
        raise OctoolsError(f"the run directory {run} does not exist")
    every: dict[str, dict[int, Path]] = {}
    for path in run.glob("*_*.h5"):
        if match := re.fullmatch(r"(snap|coarse|slice_.+)_(\d+)\.h5", path.name):
            every.setdefault(match[1], {})[int(match[2])] = path
    if series in every:
        return dict(sorted(every[series].items()))
    if series == SNAPSHOTS:
        raise OctoolsError(
            f"{run} contains no snapshots (snap_NNNNN.h5); wait for the first snapshot, or "
            "check output.directory"
        )
    raise unknown_name("series of files", series, list(every), str(run))


def resolve(target: Path, number: int | None = None) -> Path:
    """Find a snapshot file, given the file itself or a run directory.

    Parameters
    ----------
    target
        Snapshot or checkpoint file, or run directory.
    number
        Number of the snapshot in a run directory; by default the newest one.

    Raises
    ------
    OctoolsError
        If there is no such file or snapshot.
    """
    if target.is_file():
        if number is not None:
            raise OctoolsError(f"{target} is a single file; --snapshot requires a run directory")
        return target
    if not target.exists():
        raise OctoolsError(f"the snapshot or run directory {target} does not exist")
    found = snapshots(target)
    if number is None:
        return found[max(found)]
    if number not in found:
        raise OctoolsError(
            f"{target} has no snapshot {number}; available snapshots: {_ranges(list(found))}"
        )
    return found[number]


def output_path(target: Path, name: str) -> Path:
    """Place a picture beside the data: in the run directory that holds or is `target`."""
    return (target if target.is_dir() else target.parent) / name


def file_word(text: str) -> str:
    """Turn a formula into a word that a file's name may hold."""
    return re.sub(r"\W+", "_", text).strip("_")


def wanted_pictures(run: Path) -> list[str]:
    """Read which pictures a run's parameter file lists: ``output.pictures`` of ``run.toml``."""
    path = run / "run.toml"
    try:
        parameters = tomllib.loads(path.read_text())
    except OSError as cause:
        raise OctoolsError(f"{run} is not a run directory: {path} cannot be read") from cause
    except ValueError as cause:  # no TOML, or no text
        raise OctoolsError(f"{path} is invalid: {cause}") from cause
    output = parameters.get("output", {})
    wanted = output.get("pictures", []) if isinstance(output, dict) else None
    if not (isinstance(wanted, list) and all(isinstance(text, str) for text in wanted)):
        raise OctoolsError(f"{path} is invalid: output.pictures is not a list of commands")
    return wanted


def example_of(run: Path) -> str:
    """Name the example that a run is of.

    The parameter file says it in ``output.pictures``, as ``expect --example NAME``. A run whose
    file does not is taken for the example that has the same parameters but for mesh,
    time and output, and else for the one that its directory is named after.
    """
    wanted = wanted_pictures(run) if (run / "run.toml").is_file() else []
    for text in wanted:
        words = text.split()
        if words[:1] == ["expect"] and (named := re.search(r"--example[ =](\S+)", text)):
            return named[1]
    return _example_with_same_parameters(run / "run.toml") or run.resolve().name


OF_ANY_RUN = ("output", "time", "mesh", "grid", "run", "refine", "statistics", "execution")


def _example_with_same_parameters(path: Path) -> str | None:
    """Find the only example whose parameters a run.toml has; None if there is none, or several."""
    if not path.is_file():
        return None
    own = _settings(path)
    found = [
        example.stem
        for example in sorted(examples_folder().glob("*.toml"))
        if all(own.get(name) == value for name, value in _settings(example).items())
    ]
    return found[0] if len(found) == 1 else None


def _settings(path: Path) -> dict[str, object]:
    """Read the parameters of a file that make a problem what it is, as "section.key"."""
    try:
        tables = tomllib.loads(path.read_text())
    except ValueError:  # no parameter file of an example
        return {"no.parameters": True}
    return {
        f"{section}.{key}": value
        for section, table in tables.items()
        if isinstance(table, dict) and section not in OF_ANY_RUN
        for key, value in table.items()
        if not isinstance(value, dict)
    }


def picture_command(text: str, run: Path) -> list[str]:
    """Split a picture's text into the words of a command: its name, the run directory, options.

    Raises
    ------
    OctoolsError
        If it is not a command that draws into the run's directory.
    """
    try:
        name, *options = shlex.split(text)
    except ValueError as cause:
        raise OctoolsError(f"output.pictures: '{text}' is not a command") from cause
    if name not in PICTURE_COMMANDS:
        raise OctoolsError(
            f"output.pictures: '{name}' is not a plot command; expected one of "
            f"{', '.join(PICTURE_COMMANDS)}"
        )
    if any(option.startswith(("-o", "--output")) for option in options):
        raise OctoolsError(
            f"output.pictures: '{text}': plots are written to the run directory; remove --output"
        )
    return [name, str(run), *options]


def _ranges(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    if len(numbers) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, numbers))
