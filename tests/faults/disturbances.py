"""Runs flows with faults, goes on from what is left, and compares with undisturbed runs."""

import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet as pq

from flows import SMALL_CHANNEL
from inputs import CLUMPY_BOX, DRIFTING_BLAST, GALAXIES_IN_A_BOX
from running import (
    Outcome,
    await_end_of_ranks,
    children_of,
    octant_command,
    octant_environment,
)

RANKS, OTHER_RANKS = 2, (1, 3)
STEPS, HALF = 6, 3
TIME_LIMIT = 300.0  # seconds; a run takes one on a quiet machine
KEPT_CHECKPOINTS = 2


@dataclass(frozen=True)
class Flow:
    """A short run with all kinds of files, a checkpoint after each step, and a few snapshots.

    Attributes
    ----------
    parameters
        The parameter file's text.
    settings
        Further parameters.
    active
        Columns of the history that must not be 0 in the end.
    """

    parameters: str
    settings: tuple[str, ...]
    active: tuple[str, ...]


EVERYTHING = (
    "output.checkpoint_interval=1e-9",
    f"output.checkpoint_keep={KEPT_CHECKPOINTS}",
    'output.slices=["z = 0.5"]',
)
ONE_FINER_LEVEL = ("mesh.max_level=1", "refine.mass=[1.8]")
HOLES_EVERYWHERE = ("black_holes.gas_density=1e-8", "black_holes.star_density=1e-9")

FLOWS = {
    "gas": Flow(
        DRIFTING_BLAST,
        (
            *EVERYTHING,
            "mesh.base_cells=[8, 8, 8]",
            "mesh.max_level=1",
            "output.snapshot_times=[0.004, 0.01]",
        ),
        ("blocks_1",),
    ),
    "gravity": Flow(
        CLUMPY_BOX,
        (*EVERYTHING, *ONE_FINER_LEVEL, "output.snapshot_interval=5.0"),
        ("blocks_1", "dark_particles"),
    ),
    "galaxies": Flow(
        GALAXIES_IN_A_BOX,
        (
            *EVERYTHING,
            *ONE_FINER_LEVEL,
            *HOLES_EVERYWHERE,
            "output.snapshot_interval=5.0",
        ),
        ("stars_particles", "supernovae_number", "sinks_particles", "black_holes_accreted"),
    ),
    "dns": Flow(
        SMALL_CHANNEL,
        (*EVERYTHING, "statistics.interval=1", "output.snapshot_times=[0.015, 0.045]"),
        ("kinetic_w",),
    ),
}


# --- faults --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """What the preloaded layer does: see faulty_disk.c."""

    call: str = ""
    action: str = ""
    at: int | str = 0
    rank: int = 0
    space: int | None = None


@dataclass(frozen=True)
class Call:
    """A call of a rank on a file, as the layer's journal has it."""

    rank: int
    name: str
    inode: int
    size: int
    result: str
    path: Path


@dataclass(frozen=True)
class Layer:
    """The layer between the program and the disk."""

    preloaded: Path

    @contextmanager
    def below(self, folder: Path, fault: Fault = Fault()) -> Iterator[None]:
        """Let runs that begin meanwhile see a fault of the files below a folder."""
        variables = {
            "LD_PRELOAD": str(self.preloaded),
            "FAULTS_FOLDER": str(folder),
            "FAULTS_JOURNAL": str(self.journal(folder)),
            "FAULTS_RANK": str(fault.rank),
            "FAULTS_CALL": fault.call,
            "FAULTS_AT": str(fault.at),
            "FAULTS_ACTION": fault.action,
            "FAULTS_SPACE": "" if fault.space is None else str(fault.space),
            "OMPI_MCA_odls_base_sigkill_timeout": "0",  # ranks beside a killed one end at once
        }
        self.journal(folder).unlink(missing_ok=True)
        with environment(**variables):
            yield

    @staticmethod
    def journal(folder: Path) -> Path:
        """Name the file that has the calls of the last run."""
        return folder.with_suffix(".journal")

    def count(self, folder: Path) -> int:
        """Count the calls of the present run."""
        journal = self.journal(folder)
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def calls(self, folder: Path) -> list[Call]:
        """Read what the last run has done to files below a folder."""
        calls = []
        for line in self.journal(folder).read_text().splitlines():
            rank, name, inode, size, result, path = line.split(" ", 5)
            calls.append(Call(int(rank), name, int(inode), int(size), result, Path(path)))
        return calls


@dataclass(frozen=True)
class Network:
    """The layer between the program and MPI: see slow_network.c."""

    preloaded: Path

    @contextmanager
    def of(self, seed: int, folder: Path) -> Iterator[None]:
        """Let runs that begin meanwhile communicate by the irregular network of a seed."""
        with environment(
            LD_PRELOAD=str(self.preloaded),
            NETWORK_SEED=str(seed),
            NETWORK_REPORT=str(folder.with_suffix(".network")),
        ):
            yield

    @staticmethod
    def counts(folder: Path, ranks: int) -> list[dict[str, int]]:
        """Read what happened to the messages of each rank of the last run."""
        paths = [folder.with_suffix(f".network.{rank}") for rank in range(ranks)]
        lines = [path.read_text().split() for path in paths]
        return [dict(zip(line[::2], map(int, line[1::2]), strict=True)) for line in lines]


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set environment variables."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def chosen(
    calls: dict[bool, list[Call]], name: str, chance: random.Random
) -> tuple[bool, int, int]:
    """Choose a call of a kind: whether of a run that goes on, its rank, and its number there.

    Each kind of file is as likely as any other, however many calls it takes.
    """
    found: dict[tuple[str, str], list[tuple[bool, int, int]]] = {}
    for goes_on, all_calls in calls.items():
        numbers: dict[int, int] = {}
        for call in all_calls:
            if name in (call.name, "any"):
                numbers[call.rank] = numbers.get(call.rank, 0) + 1
                in_telemetry = call.path.parent.name == "telemetry"
                kind = "telemetry" if in_telemetry else re.sub(r"\d+", "", call.path.name)
                found.setdefault((call.name, kind), []).append(
                    (goes_on, call.rank, numbers[call.rank])
                )
    return chance.choice(chance.choice(list(found.values())))


def lose_what_is_not_on_the_disk(folder: Path, calls: list[Call]) -> None:
    """Cut files to what was synchronised last, and remove those whose names were not.

    What a failed synchronisation leaves behind is lost: later ones do not bring it to the disk.
    """
    synchronised: dict[int, int] = {}
    unsafe: set[int] = set()
    failed: set[int] = set()
    names: set[Path] = set()
    lost_names: set[Path] = set()
    for call in calls:
        if call.name == "sync" and call.result == "failed":
            failed.add(call.inode)
        elif call.name == "sync_folder":
            here = {path for path in names if path.parent == call.path}
            names -= here
            lost_names |= here if call.result == "failed" else set()
        elif call.result == "failed":
            continue
        elif call.name in ("write", "truncate"):
            unsafe.add(call.inode)
        elif call.name == "sync" and call.inode not in failed:
            unsafe.discard(call.inode)
            synchronised[call.inode] = call.size
        elif call.name == "remove":  # another file may get its number
            synchronised.pop(call.inode, None)
            unsafe.discard(call.inode)
            failed.discard(call.inode)
        elif call.name == "rename":
            names.add(call.path)
    for path in names | lost_names:
        path.unlink(missing_ok=True)
    for path in folder.rglob("*"):
        state = path.stat()
        if path.is_file() and state.st_ino in unsafe:
            os.truncate(path, min(state.st_size, synchronised.get(state.st_ino, 0)))


# --- undisturbed runs ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """What a flow gives without faults.

    Attributes
    ----------
    flow
        The flow.
    results
        Its results, as `results()` reads them.
    whole, half
        Folders with the run, and with one that was killed after the checkpoint of its middle.
    calls
        The calls of a new run, and of one that goes on from half: by whether it goes on.
    """

    flow: Flow
    results: dict[str, object]
    whole: Path
    half: Path
    calls: dict[bool, list[Call]]

    def begin(self, place: Path, goes_on: bool) -> Path:
        """Name the folder of a run below a place, and put the half into it."""
        folder = place / "run"
        if goes_on:
            shutil.copytree(self.half, folder)
        return folder

    @property
    def bytes(self) -> int:
        """Bytes of the files that the run leaves."""
        return sum(path.stat().st_size for path in self.whole.rglob("*"))

    def written(self, goes_on: bool) -> list[Path]:
        """Name the files that a run writes, and the temporary ones, relative to its folder."""
        folder = self.half.with_name("rest") if goes_on else self.whole
        makers = ("remove", "rename", "replace")
        paths = {call.path for call in self.calls[goes_on] if call.name in makers}
        return sorted(path.relative_to(folder) for path in paths)


def undisturbed(name: str, layer: Layer, place: Path) -> Reference:
    """Run a flow in one go, until half of its steps, and from there."""
    flow = FLOWS[name]
    with layer.below(place / "whole"):
        whole = start(flow, place / "whole")
    assert whole.code == 0, whole.text
    calls = {False: layer.calls(place / "whole")}
    first_after_half = next(
        call for call in calls[False] if call.path.name == f"checkpoint_{HALF:05d}.h5.part"
    )
    before = [call for call in calls[False] if (call.rank, call.name) == (0, "remove")]
    with layer.below(place / "half", Fault("remove", "kill", before.index(first_after_half) + 1)):
        half = start(flow, place / "half")
    assert half.code != 0
    shutil.copytree(place / "half", place / "rest")
    with layer.below(place / "rest"):
        rest = start(flow, place / "rest", restart="latest")
    assert rest.code == 0, rest.text
    calls[True] = layer.calls(place / "rest")
    history = whole.history()
    idle = [column for column in flow.active if history[column][-1] == 0.0]
    assert idle == [], f"{name}: nothing happens in {idle}"
    expected = results(place / "whole")
    assert differing(results(place / "rest"), expected) == []
    return Reference(flow, expected, place / "whole", place / "half", calls)


@dataclass(frozen=True)
class Run:
    """A run that has begun."""

    process: subprocess.Popen[str]
    folder: Path

    def ranks(self) -> list[int]:
        """List the processes of the ranks, of a run on several, that are there now."""
        try:
            return children_of(self.process.pid)
        except OSError:
            return []

    def signal_ranks(self, number: signal.Signals) -> None:
        """Send a signal to all ranks."""
        for pid in self.ranks():
            os.kill(pid, number)

    def kill(self) -> None:
        """Kill all processes at once."""
        for pid in (*self.ranks(), self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> Outcome:
        """Wait for the end of all processes."""
        try:
            text, _ = self.process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            text, _ = self.process.communicate()
            raise AssertionError(f"hangs after {TIME_LIMIT} s:\n{text}") from None
        await_end_of_ranks(self.folder)
        return Outcome(self.process.returncode, text, self.folder)


def command(
    flow: Flow, folder: Path, *overrides: str, restart: str = "", overwrite: bool = False
) -> list[object]:
    """Write the parameter file, and give the words after `octant`."""
    file = folder.with_suffix(".toml")
    if not file.exists():
        file.write_text(flow.parameters)
    words: list[object] = ["run", file, "--output", folder]
    for setting in (*flow.settings, f"time.max_steps={STEPS}", *overrides):
        words += ["--set", setting]
    words += ["--restart", restart] if restart else []
    words += ["--overwrite"] if overwrite else []
    return words


@contextmanager
def begun(
    flow: Flow, folder: Path, *overrides: str, ranks: int = RANKS, **how: object
) -> Iterator[Run]:
    """Begin to run a flow; all of its processes end with the context."""
    words = command(flow, folder, *overrides, **how)
    with tempfile.TemporaryDirectory(prefix="octant-") as own:  # Open MPI wants a short name
        process = subprocess.Popen(
            octant_command(*words, ranks=ranks),
            env=octant_environment() | {"OMPI_MCA_orte_tmpdir_base": own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        begun_run = Run(process, folder)
        try:
            yield begun_run
        finally:
            begun_run.kill()


def start(flow: Flow, folder: Path, *overrides: str, **how: object) -> Outcome:
    """Run a flow to its end, on two ranks unless something else is said."""
    with begun(flow, folder, *overrides, **how) as run:
        return run.end()


# --- what a run leaves ---------------------------------------------------------------------------

# Who wrote when, and how long it took: neither is a result.
CIRCUMSTANCES = re.compile(r"run\.lock|log\.txt|run\.toml|telemetry/.*|.*\.superseded-\d+/.*")


def results(folder: Path) -> dict[str, object]:
    """Read all results of a run, by the names of files and of what they hold.

    A run that ended between a checkpoint and the removal of the oldest one leaves one more.
    """
    found: dict[str, object] = {}
    older = sorted(folder.glob("checkpoint_*.h5"))[:-KEPT_CHECKPOINTS]
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_dir() or path in older or CIRCUMSTANCES.fullmatch(name):
            continue
        if path.suffix == ".h5":
            found |= {f"{name}:{part}": data for part, data in datasets(path).items()}
        elif path.suffix == ".parquet":
            table = pq.read_table(path)
            found |= {f"{name}:{c}": table[c].to_numpy().tobytes() for c in table.column_names}
        else:
            found[name] = path.read_bytes()
    return found


def datasets(path: Path) -> dict[str, bytes]:
    """Read all datasets of a file, but for who owned the blocks."""
    found: dict[str, bytes] = {}

    def visit(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and not name.endswith("/owner"):
            found[name] = np.asarray(item[...]).tobytes()

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def differing(found: dict[str, object], expected: dict[str, object]) -> list[str]:
    """Name results that differ in bits, and those that only one has."""
    return sorted(
        name
        for name in found.keys() | expected.keys()
        if name not in found or name not in expected or found[name] != expected[name]
    )


def parts(folder: Path) -> list[str]:
    """Name temporary files that are left."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.endswith(".part") or re.fullmatch(r"\..*\.parquet", path.name)
    )


# --- the rule ------------------------------------------------------------------------------------

ADVICE = re.compile(
    r"\b(check|free|remove|replace|rename|raise|wait)\b|--(restart|overwrite|output)"
)
ANNOUNCED = re.compile(r"wrote (.*) at ")


def assert_kept(outcome: Outcome) -> None:
    """Check that what a run has announced is there, but for checkpoints before the newest."""
    names = [name for found in ANNOUNCED.findall(outcome.text) for name in found.split(", ")]
    here = sorted(outcome.directory.glob("checkpoint_*.h5"))
    for path in map(Path, names):
        is_old = path.name.startswith("checkpoint_") and here and path < here[-1]
        assert path.exists() or is_old, f"{path} is gone"


def assert_explained(outcome: Outcome) -> None:
    """Check that a run which ends says so by its exit code, and names a file and what to do."""
    assert outcome.code in (1, 2), outcome.text
    messages = [line for line in outcome.text.splitlines() if str(outcome.directory) in line]
    assert any(ADVICE.search(line) for line in messages), f"no advice with a file:\n{outcome.text}"
    assert parts(outcome.directory) == []


def assert_complete(reference: Reference, outcome: Outcome) -> None:
    """Check that a run has come to its end, with the bits of the undisturbed one alone."""
    assert outcome.code == 0, outcome.text
    assert differing(results(outcome.directory), reference.results) == [], outcome.text
    assert parts(outcome.directory) == []


def assert_goes_on(reference: Reference, folder: Path, copies: Path, other_ranks: int) -> None:
    """Go on from what a fault has left, on the same and on another number of ranks."""
    for ranks in (RANKS, other_ranks):
        copy = copies / f"on_{ranks}"
        if folder.exists():
            shutil.copytree(folder, copy, symlinks=True)
        has_checkpoint = bool(list(copy.glob("checkpoint_*.h5")))
        how = {"restart": "latest"} if has_checkpoint else {"overwrite": True}
        assert_complete(reference, start(reference.flow, copy, ranks=ranks, **how))


def assert_survives(
    reference: Reference, outcome: Outcome, copies: Path, other_ranks: int, killed: bool = False
) -> None:
    """Check that a run has all results, or says what is wrong and can be gone on from."""
    assert_kept(outcome)
    if outcome.code == 0:
        assert_complete(reference, outcome)
        return
    if not killed:
        assert_explained(outcome)
    assert_goes_on(reference, outcome.directory, copies, other_ranks)
