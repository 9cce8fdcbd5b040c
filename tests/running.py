"""Starts the built `octant` for tests, and reads what it wrote."""

import contextlib
import functools
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
Array = NDArray[np.float64]


def program() -> Path:
    """Path of the program under test: OCTANT_PROGRAM, or what the build folder holds."""
    given = os.environ.get("OCTANT_PROGRAM")
    places = [Path(given)] if given else [ROOT / "build/release/octant", ROOT / "build/octant"]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise FileNotFoundError(f"no octant at {places[0]}; build it or set OCTANT_PROGRAM")


@dataclass(frozen=True)
class Outcome:
    """How a command ended.

    Attributes
    ----------
    code
        Exit code.
    text
        What it wrote to standard output and standard error together.
    directory
        Where a run put its results.
    """

    code: int
    text: str
    directory: Path

    @property
    def parameters(self) -> str:
        """The text of a run's parameter file."""
        return self.directory.with_suffix(".toml").read_text()

    @property
    def snapshots(self) -> list[Path]:
        """The snapshots of a run, oldest first."""
        return sorted(self.directory.glob("snap_*.h5"))

    @property
    def last_snapshot(self) -> Path:
        """The snapshot of the final state."""
        return self.snapshots[-1]

    def history(self) -> dict[str, Array]:
        """Read history.csv: one array of shape (rows,) per column."""
        table = np.genfromtxt(self.directory / "history.csv", delimiter=",", names=True)
        return {name: np.atleast_1d(table[name]) for name in table.dtype.names}


@functools.cache
def launch_options() -> list[str]:
    """Return the options of Open MPI's mpirun for more ranks than cores; MPICH needs none."""
    command = ["mpirun", "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    options = "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
    return options.split() if "Open MPI" in version else []


def octant_command(*arguments: object, ranks: int = 1) -> list[str]:
    """Words of the command that runs `octant` on some ranks."""
    launcher = [] if ranks == 1 else ["mpirun", *launch_options(), "-n", str(ranks)]
    return [*launcher, str(program()), *(str(argument) for argument in arguments)]


def octant_environment(threads: int = 1) -> dict[str, str]:
    """Environment for tests that share few cores, also as root.

    Each worker has a folder of its own for Open MPI, which takes one away that another run of the
    same user is about to use.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw")
    own = Path(tempfile.gettempdir()) / f"octant-{os.getuid()}-{worker}"
    own.mkdir(exist_ok=True)
    return os.environ | {
        "OMPI_MCA_orte_tmpdir_base": str(own),
        "OMP_NUM_THREADS": str(threads),
        "OMP_PROC_BIND": "false",
        "OMP_WAIT_POLICY": "passive",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def octant(*arguments: object, ranks: int = 1, threads: int = 1, timeout: float = 120) -> Outcome:
    """Run `octant` with some arguments; fails the test if it does not end in `timeout` seconds."""
    command = octant_command(*arguments, ranks=ranks)
    process = subprocess.Popen(
        command,
        env=octant_environment(threads),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        raise AssertionError(f"hangs after {timeout} s: {' '.join(command)}\n{text}") from None
    return Outcome(process.returncode, text, Path())


def heed_signals() -> None:
    """Undo what a shell or nohup did to this process: for subprocess.Popen(preexec_fn=...)."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)


def children_of(process: int) -> list[int]:
    """List the processes that a process has started: the ranks, of mpirun."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in children.split()]


def await_end_of_ranks(directory: Path, timeout: float = 60) -> None:
    """Wait until no process has a directory among its arguments: ranks outlive their launcher."""
    deadline = time.monotonic() + timeout
    word = os.fsencode(directory)
    while any(word in arguments.split(b"\0") for arguments in arguments_of_processes()):
        assert time.monotonic() < deadline, f"a process still works on {directory}"
        time.sleep(0.05)


def arguments_of_processes() -> Iterator[bytes]:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield entry.read_bytes()


def run(
    directory: Path,
    parameters: str,
    *overrides: str,
    ranks: int = 1,
    threads: int = 1,
    restart: object = None,
    overwrite: bool = False,
    timeout: float = 120,
) -> Outcome:
    """Run a simulation into a directory, whatever its exit code.

    Parameters
    ----------
    directory
        Where results go; the parameter file is written beside it.
    parameters
        The parameter file's text.
    overrides
        Further parameters, as ``section.key=value``.
    ranks, threads
        MPI ranks, and OpenMP threads of each.
    restart
        A checkpoint to go on from, or ``"latest"``.
    overwrite
        Whether a run that is there may be moved aside.
    timeout
        Seconds after which the test fails.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    file = directory.with_suffix(".toml")
    file.write_text(parameters)
    options: list[object] = ["run", file, "--output", directory]
    for override in overrides:
        options += ["--set", override]
    if restart is not None:
        options += ["--restart", restart]
    if overwrite:
        options += ["--overwrite"]
    outcome = octant(*options, ranks=ranks, threads=threads, timeout=timeout)
    return Outcome(outcome.code, outcome.text, directory)


def run_well(directory: Path, parameters: str, *overrides: str, **how: object) -> Outcome:
    """Run a simulation that must come to its end."""
    outcome = run(directory, parameters, *overrides, **how)
    assert outcome.code == 0, outcome.text
    return outcome


def contents(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder but for the lock, which says who held it last."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.lock"
    }


@dataclass(frozen=True)
class LeafCells:
    """The cells of a snapshot that are not refined.

    Attributes
    ----------
    position
        Centres, shape (cells, 3).
    size
        Edge lengths, shape (cells,).
    values
        The stored fields by name, each of shape (cells,).
    time
        Time of the snapshot.
    """

    position: Array
    size: Array
    values: dict[str, Array]
    time: float

    @property
    def volume(self) -> Array:
        """Volumes, shape (cells,)."""
        return self.size**3

    def __getitem__(self, name: str) -> Array:
        """Return a stored field, shape (cells,)."""
        return self.values[name]


def leaf_cells(path: Path, group: str = "hydro") -> LeafCells:
    """Read all leaf cells of a snapshot, with the fields of a group."""
    position, size, values = [], [], {}
    with h5py.File(path) as file:
        time = float(file["header"].attrs["time"])
        for name, mesh in file["mesh"].items():
            cell = float(mesh.attrs["cell_size"])
            fields = file[group][name]
            block_size = next(iter(fields.values())).shape[-1]
            index = np.arange(block_size)
            octant_bit = 2 * index // block_size
            bit = octant_bit + 2 * octant_bit[:, None] + 4 * octant_bit[:, None, None]
            leaf = (mesh["refined"][...][:, None, None, None] >> bit) & 1 == 0
            k, j, i = np.meshgrid(index, index, index, indexing="ij")
            offset = (np.stack([i, j, k], axis=-1) + 0.5) * cell
            centres = mesh["origin"][...][:, None, None, None, :] + offset
            position.append(centres[leaf])
            size.append(np.full(np.count_nonzero(leaf), cell))
            for field in fields:
                values.setdefault(field, []).append(fields[field][...][leaf])
    return LeafCells(
        np.concatenate(position),
        np.concatenate(size),
        {field: np.concatenate(parts) for field, parts in values.items()},
        time,
    )


def uniform_grid(path: Path, field: str) -> Array:
    """Read a field of an unrefined snapshot as one array, shape (z, y, x)."""
    cells = leaf_cells(path)
    index = np.rint((cells.position - cells.position.min(axis=0)) / cells.size[:, None]).astype(int)
    grid = np.empty(tuple(index.max(axis=0)[::-1] + 1))
    grid[index[:, 2], index[:, 1], index[:, 0]] = cells[field]
    return grid


def block_keys(mesh: h5py.Group) -> NDArray[np.uint64]:
    """Read the Morton keys of the blocks of a level, also those of programs with 128-bit keys."""
    keys = mesh["key"][...]
    if keys.ndim == 1:
        return keys
    assert not keys[:, 1].any(), "a key of more than 64 bits"
    return keys[:, 0]


def bits(path: Path) -> dict[str, bytes]:
    """Read every dataset of a snapshot or checkpoint as bytes, but for who owned the blocks.

    Blocks are put in the order of their keys, so that equal states give equal bytes. Particles are
    in the order of their ids.
    """
    found: dict[str, bytes] = {}
    with h5py.File(path) as file:
        for level, mesh in file["mesh"].items():
            order = np.argsort(block_keys(mesh), kind="stable")
            for section in ("mesh", "hydro", "gravity"):
                group = file[f"{section}/{level}"] if section in file else {}
                for name, data in group.items():
                    if name != "owner":
                        found[f"{section}/{level}/{name}"] = data[...][order].tobytes()
        for kind, columns in file.get("particles", {}).items():
            for name, data in columns.items():
                found[f"particles/{kind}/{name}"] = data[...].tobytes()
    return found


def differing(path: Path, reference: Path) -> list[str]:
    """Name the datasets whose bits differ between two files, and those that only one has."""
    one, other = bits(path), bits(reference)
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


# The first checkpoint, number 0, is written after step 1.
CHECKPOINT_EVERY_STEP = ("output.checkpoint_interval=1e-9", "output.checkpoint_keep=100")


def same_run_differences(outcome: Outcome, reference: Outcome, first_step: int = 0) -> list[str]:
    """Name what differs in bits between the last snapshots, and the histories from a step on."""
    wrong = differing(outcome.last_snapshot, reference.last_snapshot)
    rows = [
        [
            row
            for row in (o.directory / "history.csv").read_text().splitlines()[1:]
            if int(row.split(",")[0]) >= first_step
        ]
        for o in (outcome, reference)
    ]
    return wrong if rows[0] == rows[1] and rows[0] else [*wrong, "history.csv"]


def assert_same_run(outcome: Outcome, reference: Outcome, first_step: int = 0) -> None:
    """Compare the bits of the last snapshots, and the histories from a step on."""
    assert same_run_differences(outcome, reference, first_step) == []


def assert_goes_on(
    directory: Path, reference: Outcome, step: int, *overrides: str, **how: object
) -> Outcome:
    """Go on elsewhere from a run's checkpoint before a step: it must end with the same bits."""
    checkpoint = reference.directory / f"checkpoint_{step - 1:05d}.h5"
    outcome = run_well(directory, reference.parameters, *overrides, restart=checkpoint, **how)
    assert_same_run(outcome, reference, first_step=step)
    return outcome


# Ranks, threads and parameters of runs whose bits must be those of a run on one rank.
SAME_BITS_CASES: list[tuple[int, int, tuple[str, ...]]] = [
    (2, 1, ()),
    (3, 1, ("balance.decomposition=hilbert",)),
    (2, 1, ("balance.decomposition=morton", "comm.exchange=alltoall")),
    (1, 2, ()),
    (1, 1, ("execution.schedule=device",)),
]


def assert_same_bits(directory: Path, reference: Outcome, *overrides: str) -> None:
    """Repeat a run in all SAME_BITS_CASES, and compare the bits."""
    for n, (ranks, threads, more) in enumerate(SAME_BITS_CASES):
        outcome = run_well(
            directory / f"same_bits_{n}",
            reference.parameters,
            *overrides,
            *more,
            ranks=ranks,
            threads=threads,
        )
        assert_same_run(outcome, reference)
