"""Simulations, levels of the adaptive mesh, and fields: the interface of the package."""

from __future__ import annotations

import atexit
import math
import os
import tempfile
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octant.parameters import as_toml, override

try:
    from octant import _octant
except ImportError:  # the program octant-python has it built in
    import _octant

InputError: type[ValueError] = _octant.InputError
RunError: type[RuntimeError] = _octant.RunError

Array = NDArray[np.float64]
State = Callable[[Array, Array, Array], Mapping[str, Any]]
Source = Callable[[dict[str, Array], float], Mapping[str, Any]]

_living: weakref.WeakSet[Any] = weakref.WeakSet()  # what arrays keep alive, too


class Simulation:
    """Simulation with the same steps, files and bits as ``octant run``. Collective.

    Parameters
    ----------
    file
        Parameter file, or parameters as a dictionary of sections.
    overrides
        Values that replace parameters of the file, with keys ``"section.key"``.
    initial
        Function that replaces the initial gas of the problem. ``initial(x, y, z)`` receives cell
        centres, each of shape (n,), and returns a dictionary of arrays (n,) or numbers:
        ``density``, ``pressure``, ``velocity`` (three components) and scalars by name. Values of
        a cell must only depend on its position. With ``model = "dns"``, it is called for each
        component with its grid points and returns ``u``, ``v``, ``w`` and ``p`` of shape (k, j, i).
    source
        Function for source terms of the gas, called for each level and step. ``source(gas, dt)``
        receives a dictionary of arrays (n,) (``x``, ``y``, ``z``, ``density``, ``velocity_x``, ...,
        ``internal_energy`` per mass) and returns ``heating`` per mass and time, ``acceleration``
        (three components), or both. The energy added is ``source_energy`` in the history.
    output
        Output directory; replaces ``output.directory``.
    restart
        Checkpoint to continue from: a path, or ``"latest"``.
    overwrite
        If true, an existing run in the output directory is moved.
    communicator
        Communicator of mpi4py with the ranks of the simulation; by default all ranks. The first
        simulation of a process determines it.
    parameters
        Further overrides as keywords: ``time_end=0.2`` sets ``time.end``.

    Raises
    ------
    InputError
        If the input is invalid (exit code 2 of the program).
    RunError
        If the run fails (exit code 1 of the program).
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | Mapping[str, Any],
        overrides: Mapping[str, Any] | None = None,
        *,
        initial: State | None = None,
        source: Source | None = None,
        output: str | os.PathLike[str] | None = None,
        restart: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        communicator: Any = None,
        **parameters: Any,
    ) -> None:
        _octant.start(None if communicator is None else communicator.py2f())
        words = [override(name, value) for name, value in (overrides or {}).items()]
        words += [override(name.replace("_", ".", 1), value) for name, value in parameters.items()]
        self._callbacks: list[Callable[[Simulation], object]] = []
        self._is_finished = False
        with _parameter_file(file) as path:
            self._core = _octant.Simulation(
                str(path),
                words,
                "" if output is None else str(output),
                "" if restart is None else str(restart),
                overwrite,
                None if initial is None else _state_of(initial),
                None if source is None else _source_of(source),
            )
        _living.add(self._core)
        if initial is not None and self._core.is_dns and not restart:
            self._set_flow(initial)

    def __enter__(self) -> Simulation:
        """Return the simulation; it is closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close files and release memory. Arrays that are still referenced remain valid."""
        self._core.close()

    # --- going on ---

    def step(self) -> bool:
        """Advance by one coarse step, call the callbacks; return False at the end. Collective."""
        return self._step(math.inf)

    def run(self, until: float | None = None) -> None:
        """Advance to the time `until`, at which the last step ends, or to the end of the run.

        At the end of the run, the final files are written; no further step is possible.
        Collective. Raises RunError if the run fails.
        """
        latest = math.inf if until is None else float(until)
        while self.time < latest * (1.0 - 1e-14 * math.copysign(1.0, latest)):
            if not self._step(latest):
                break
        if until is None or self.time >= self._core.end_time:
            self.finish()

    def finish(self) -> None:
        """Write the final files of the run; `run` does so at its end. Collective."""
        if not self._is_finished:
            self._is_finished = True
            self._core.finish()

    def on_step(self, callback: Callable[[Simulation], object]) -> Callable[[Simulation], object]:
        """Register ``callback(simulation)``, called after every step; usable as a decorator."""
        self._callbacks.append(callback)
        return callback

    def _step(self, latest: float) -> bool:
        if not self._core.step(latest):
            return False
        for callback in self._callbacks:
            _alone_or_none(callback, self)
        return True

    # --- what it is ---

    @property
    def time(self) -> float:
        """Time in code units."""
        return self._core.time

    @property
    def step_count(self) -> int:
        """Number of coarse steps since time 0."""
        return self._core.step_count

    @property
    def directory(self) -> Path:
        """Output directory."""
        return Path(self._core.directory)

    @property
    def parameters(self) -> str:
        """All parameters, as TOML."""
        return self._core.parameters

    @property
    def rank(self) -> int:
        """Number of this rank, from 0."""
        return _octant.rank()

    @property
    def ranks(self) -> int:
        """Number of ranks of the simulation."""
        return _octant.ranks()

    def history(self) -> dict[str, float]:
        """Return the present row of history.csv as a dictionary, in code units. Collective."""
        names, values = self._core.history()
        return dict(zip(names.split(","), map(float, values.split(",")), strict=True))

    def write_snapshot(self) -> None:
        """Write the next snapshot of the run. Collective."""
        self._core.snapshot()

    def write_checkpoint(self) -> None:
        """Write the next checkpoint of the run. Collective."""
        self._core.checkpoint()

    # --- adaptive meshes ---

    @property
    def finest_level(self) -> int:
        """Number of the finest level with blocks on any rank."""
        return self._core.finest_level

    def level(self, number: int) -> Level:
        """Return the blocks of a level on this rank; level 0 is the base grid."""
        return Level(self._core, number)

    # --- incompressible flow ---

    @property
    def fields(self) -> dict[str, Array]:
        """Fields of the flow on this rank: u, v, w, p (and t), each of shape (k, j, i).

        The arrays are the memory of the flow. After changing them, call `take_up`.
        """
        names = ["u", "v", "w", "p"]
        fields = {name: self._core.flow_field(name) for name in names}
        if "scalar_mean" in self.history():
            fields["t"] = self._core.flow_field("t")
        return fields

    @property
    def box(self) -> tuple[tuple[int, int], ...]:
        """Range of cells (begin, end) of this rank along x, y and z."""
        return tuple(self._core.flow_box())

    def take_up(self) -> None:
        """Use the changed values of `fields` in the next step. Collective."""
        self._core.take_up()

    def _set_flow(self, initial: State) -> None:
        """Return each component what the function has where it lies."""
        import tomllib

        grid = tomllib.loads(self.parameters)["grid"]
        if grid["stretching"] != "uniform":
            raise InputError(
                "initial: initial states on stretched grids are not supported; set the "
                "fields instead"
            )
        spacing = [
            length / cells for length, cells in zip(grid["size"], grid["cells"], strict=True)
        ]
        for axis, name in enumerate("uvwp"):
            x, y, z = (
                (np.arange(begin, end) + (1.0 if axis == d else 0.5)) * spacing[d]
                for d, (begin, end) in enumerate(self.box)
            )
            places = np.broadcast_arrays(x, y[:, None], z[:, None, None])
            given = initial(*places)
            if name in given:
                self._core.flow_field(name)[...] = given[name]
        self.take_up()


class Level:
    """Blocks of a level of the adaptive mesh on this rank, valid until the next step.

    ``level[name]`` returns the memory of a stored variable without a copy, shape (slots, N, N, N)
    as [slot][k][j][i]: the conserved densities of mass (``density``), momentum (``momentum_x``),
    total energy and scalars. `slots` lists the slots of the blocks in the order of their keys. An
    array that is referenced during a step keeps its values and no longer belongs to the run.
    ``level.read(name)`` returns a copy of a field as in snapshots, shape (blocks, N, N, N).

    Attributes
    ----------
    number
        Number of the level.
    slots
        Slots of the blocks, shape (blocks,).
    refined
        Octants covered by finer blocks as bits ix + 2 iy + 4 iz, shape (blocks,).
    origin
        Lower corner of each block, shape (blocks, 3), code length.
    cell_size
        Edge length of a cell in code length.
    block_size
        Number of cells N along the side of a block.
    """

    def __init__(self, core: Any, number: int) -> None:
        self._core = core
        self.number = number
        facts = core.describe_level(number)
        self.slots: NDArray[np.int64] = facts["slots"]
        self.refined: NDArray[np.uint8] = facts["refined"]  # octants under finer blocks, as bits
        self.origin: Array = facts["origin"]  # of each block: (blocks, 3)
        self.cell_size: float = facts["cell_size"]
        self.block_size: int = facts["block_size"]

    def __getitem__(self, name: str) -> Array:
        """Return the memory of a stored variable, shape (slots, N, N, N). Raises KeyError."""
        names = self._core.stored_names()
        if name not in names:
            raise KeyError(f"there is no variable {name!r}; expected one of {', '.join(names)}")
        return self._core.stored(self.number, names.index(name))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of stored variables."""
        return iter(self._core.stored_names())

    def read(self, name: str) -> Array:
        """Return a copy of a field as in snapshots, shape (blocks, N, N, N), in code units."""
        return self._core.shown(self.number, name)

    @property
    def names(self) -> list[str]:
        """Names of the fields that `read` accepts."""
        return self._core.shown_names()

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """Mask of the leaf cells, which no finer block covers, shape (blocks, N, N, N)."""
        half = 2 * np.arange(self.block_size) // self.block_size
        octant = half + 2 * half[:, None] + 4 * half[:, None, None]
        return (self.refined[:, None, None, None] >> octant) & 1 == 0

    @property
    def centres(self) -> tuple[Array, Array, Array]:
        """Coordinates x, y and z of the cell centres, each of shape (blocks, N, N, N)."""
        steps = (np.arange(self.block_size) + 0.5) * self.cell_size
        x, y, z = (self.origin[:, d, None, None, None] for d in range(3))
        shape = (len(self.origin), *3 * [self.block_size])
        return (
            np.broadcast_to(x + steps, shape),
            np.broadcast_to(y + steps[:, None], shape),
            np.broadcast_to(z + steps[:, None, None], shape),
        )


class _parameter_file:  # noqa: N801
    """Path of a parameter file: a given file, or a temporary file with the given parameters."""

    def __init__(self, given: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        self._given = given
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Path:
        if not isinstance(self._given, Mapping):
            return Path(self._given)
        self._folder = tempfile.TemporaryDirectory(prefix="octant-")
        path = Path(self._folder.name) / "parameters.toml"
        path.write_text(as_toml(self._given))
        return path

    def __exit__(self, *error: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _columns(given: Mapping[str, Any], count: int, vector: str) -> dict[str, Array]:
    """Make columns of what a function gave: numbers get their length, vectors three names."""
    columns = dict(given)
    if vector in columns:
        components = columns.pop(vector)
        columns |= {f"{vector}_{axis}": components[n] for n, axis in enumerate("xyz")}
    result = {}
    for name, values in columns.items():
        column = np.asarray(values, dtype=np.float64)
        if column.ndim > 0 and column.shape != (count,):
            raise InputError(f"{name} has the shape {column.shape} instead of ({count},)")
        result[name] = np.ascontiguousarray(np.broadcast_to(column, (count,)))
    return result


def _state_of(initial: State) -> Callable[..., dict[str, Array]]:
    def state(x: Array, y: Array, z: Array, _cell_size: float) -> dict[str, Array]:
        columns = _columns(initial(x, y, z), len(x), "velocity")
        for name in ("density", "pressure"):
            if name not in columns:
                raise InputError(f"the initial state has no {name}")
        return {f"velocity_{axis}": np.zeros(len(x)) for axis in "xyz"} | columns

    return state


def _source_of(source: Source) -> Callable[..., dict[str, Array]]:
    def rates(gas: dict[str, Array], _level: int, dt: float) -> dict[str, Array]:
        columns = _columns(source(gas, dt), len(gas["x"]), "acceleration")
        known = {"heating", *(f"acceleration_{axis}" for axis in "xyz")}
        if unknown := set(columns) - known:
            raise InputError(
                f"unknown source terms {', '.join(unknown)}; expected heating or acceleration"
            )
        return columns

    return rates


def _alone_or_none(callback: Callable[[Simulation], object], simulation: Simulation) -> None:
    """Call a function; if it fails on one of several ranks, all of them end."""
    try:
        callback(simulation)
    except BaseException:
        if simulation.ranks > 1:
            traceback.print_exc()
            _octant.end_all_ranks(1)
        raise


@atexit.register
def _stop() -> None:
    """End all simulations, and then what they stand on, before Python does."""
    for core in list(_living):
        core.end()
    _octant.stop()
