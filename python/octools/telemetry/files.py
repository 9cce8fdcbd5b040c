"""The files of a run's telemetry: which there are, which count, and whether they are one run's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import duckdb

from octools.errors import OctoolsError
from octools.telemetry.schema import TABLES, VERSION

NAME = re.compile(
    r"(?P<table>[a-z]+)-(?P<first>\d{8,})-(?P<last>\d{8,})-n(?P<node>\d{4,})\.parquet"
)


@dataclass(frozen=True)
class TelemetryFile:
    """Telemetry file: rows of one table from the ranks of one node for a range of steps."""

    path: Path
    table: str
    first: int
    last: int
    node: int
    metadata: dict[str, str]

    @property
    def segment(self) -> int:
        """Which restart wrote the file."""
        return int(self.metadata["octant.segment"])


@dataclass(frozen=True)
class RunFiles:
    """Valid telemetry files of a run.

    Attributes
    ----------
    directory
        Directory of the files.
    files
        Files in the order of tables, nodes, segments and steps, without remnants of merges.
    metadata
        Metadata of the files of the newest segment, without the prefix ``octant.``.
    """

    directory: Path
    files: Sequence[TelemetryFile]
    metadata: dict[str, str]

    def of(self, table: str) -> list[Path]:
        """List the files of a table."""
        return [file.path for file in self.files if file.table == table]

    @property
    def segments(self) -> list[int]:
        """The segments that left files."""
        return sorted({file.segment for file in self.files})


def find_files(run: Path) -> RunFiles:
    """Find the telemetry files of a run directory, or of its directory ``telemetry``."""
    if not run.exists():
        raise OctoolsError(f"the run directory {run} does not exist")
    directory = run / "telemetry" if (run / "telemetry").is_dir() else run
    paths = sorted(directory.glob("[!.]*.parquet"))
    if not paths:
        raise OctoolsError(
            f"{run} contains no telemetry (telemetry/*.parquet); expected the output "
            "directory of a run with telemetry.enabled = true, after some steps"
        )
    files = [_telemetry_file(path, values) for path, values in _metadata(paths).items()]
    _require_one_run(directory, files)
    newest = max(files, key=lambda file: (file.segment, file.last))
    about = {key.removeprefix("octant."): value for key, value in newest.metadata.items()}
    return RunFiles(directory, _without_leftovers(files), about)


def _metadata(paths: Sequence[Path]) -> dict[Path, dict[str, str]]:
    """Read the key-value pairs of each file; the files' rows stay unread."""
    found: dict[Path, dict[str, str]] = {path: {} for path in paths}
    query = "select file_name, key, value from parquet_kv_metadata(?)"
    with duckdb.connect(":memory:") as database:
        try:
            rows = database.execute(query, [[str(path) for path in paths]]).fetchall()
        except duckdb.Error:
            rows = []
            for path in paths:
                rows += _metadata_of_one(database, query, path)
    for name, key, value in rows:
        found[Path(name)][bytes(key).decode(errors="replace")] = bytes(value).decode(
            errors="replace"
        )
    return found


def _metadata_of_one(
    database: duckdb.DuckDBPyConnection, query: str, path: Path
) -> list[tuple[str, bytes, bytes]]:
    try:
        return database.execute(query, [[str(path)]]).fetchall()
    except duckdb.Error as cause:
        raise OctoolsError(
            f"{path} is not a complete Parquet file; remove it so that the other files can be read"
        ) from cause


def _telemetry_file(path: Path, metadata: dict[str, str]) -> TelemetryFile:
    match = NAME.fullmatch(path.name)
    version = metadata.get("octant.schema", "")
    if not (version.isdigit() and "octant.run" in metadata and "octant.segment" in metadata):
        raise OctoolsError(
            f"{path} was not written by Octant; choose a run directory, or move that file aside"
        )
    if int(version) > VERSION:
        raise OctoolsError(
            f"{path} has version {version} of the telemetry schema; octools supports version "
            f"{VERSION}: use the octools of the Octant version that wrote the file"
        )
    if not match or match["table"] not in TABLES:
        raise OctoolsError(
            f"{path.name} in {path.parent} is not named TABLE-FIRST-LAST-nNODE.parquet with one of "
            f"the tables {', '.join(TABLES)}"
        )
    return TelemetryFile(
        path, match["table"], int(match["first"]), int(match["last"]), int(match["node"]), metadata
    )


def _require_one_run(directory: Path, files: Sequence[TelemetryFile]) -> None:
    by_run: dict[str, TelemetryFile] = {}
    for file in files:
        by_run.setdefault(file.metadata["octant.run"], file)
    if len(by_run) > 1:
        (a, one), (b, other), *_ = by_run.items()
        raise OctoolsError(
            f"{directory} mixes {len(by_run)} runs: {one.path.name} is of run {a}, "
            f"{other.path.name} of run {b}; use a separate directory for each run"
        )


def _without_leftovers(files: Sequence[TelemetryFile]) -> list[TelemetryFile]:
    """Drop files whose steps another one of the same table, node and segment holds as well."""

    def group(file: TelemetryFile) -> tuple[str, int, int]:
        return file.table, file.node, file.segment

    kept = []
    for _, members in groupby(
        sorted(files, key=lambda f: (*group(f), f.first, -f.last)), key=group
    ):
        reached = -1
        for file in members:
            if file.last > reached:
                kept.append(file)
                reached = file.last
    return kept
