"""Time of a coarse step as a sum over components and causes, fitted to recorded runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from octools.errors import OctoolsError
from octools.scaling_model import decomposition
from octools.scaling_model.machine import Machine
from octools.scaling_model.recorded import VOLUME_EXCHANGES, Counts, Planning, Recorded

# Bytes that a planner receives of each block (docs/placement.md).
PLANNING_BYTES = 16.0

# Efficiency below which a component has stopped to scale.
STOPPED = 0.5

IDEAL = "cells"


@dataclass(frozen=True)
class Exchange:
    """Exchange of a component on the mean rank in a coarse step.

    Attributes
    ----------
    name
        Component of the exchange in telemetry.
    calls
        Number of exchanges.
    all_to_all
        Bytes proportional to the volume of a rank (transposes) instead of its surface.
    messages
        Messages of an exchange for each neighbouring rank.
    bytes
        Bytes per step for each unit of surface (updates of a rank to the power 2/3 times
        `decomposition.surface()`), or of volume (updates of a rank).
    """

    name: str
    calls: float
    all_to_all: bool
    messages: float
    bytes: float

    def messages_sent(self, ranks: int) -> float:
        """Return the messages of a rank per step."""
        return self.calls * self.messages * _partners(self.all_to_all, ranks)

    def bytes_sent(self, ranks: int, updates: float) -> float:
        """Return the bytes of a rank per step; `updates` are those of the rank."""
        return self.bytes * _extent(self.all_to_all, ranks, updates)

    def bytes_of_node(self, machine: Machine, ranks: int, updates: float) -> float:
        """Return the bytes per step that leave a node, by which its ranks are contiguous."""
        nodes, local = machine.nodes(ranks), min(machine.ranks_per_node, ranks)
        if nodes == 1:
            return 0.0
        if self.all_to_all:
            return local * self.bytes_sent(ranks, updates) * (ranks - local) / (ranks - 1)
        return self.bytes * _extent(False, nodes, local * updates)


def _partners(all_to_all: bool, ranks: int) -> float:
    """Return the ranks to which a rank sends; a transpose divides them in two dimensions."""
    if ranks == 1:
        return 0.0
    return 2 * (math.sqrt(ranks) - 1) if all_to_all else decomposition.neighbours(ranks)


def _extent(all_to_all: bool, ranks: int, updates: float) -> float:
    """Return the part of a rank to which the bytes of an exchange are proportional."""
    if all_to_all:
        return updates * (1 - 1 / ranks)
    return float(decomposition.surface(ranks) * updates ** (2 / 3))


@dataclass(frozen=True)
class Component:
    """Component of a coarse step.

    Attributes
    ----------
    name
        Name.
    per_update, per_surface, fixed
        Busy seconds of a rank: for each of its cell updates, for each unit of its surface, and in
        each step.
    kernel_fraction
        Fraction of the busy time within kernels.
    launches
        Kernels per step.
    reductions, routes
        Collective calls, and rounds through the tree of ranks.
    exchanges
        Exchanges between ranks.
    copied_bytes
        Bytes between host and device per update.
    """

    name: str
    per_update: float
    per_surface: float
    fixed: float
    kernel_fraction: float
    launches: float
    reductions: float
    routes: float
    exchanges: tuple[Exchange, ...]
    copied_bytes: float = 0.0

    @property
    def is_hierarchical(self) -> bool:
        """True for gravity of the base level: the number of coarse grids grows with log(cells)."""
        return self.name == "gravity, base level"

    @property
    def transforms(self) -> bool:
        """True if Fourier transforms are distributed: their work grows with log(cells)."""
        return any(exchange.all_to_all for exchange in self.exchanges)

    def busy(self, ranks: int, updates: float) -> float:
        """Return the busy seconds of a rank with a number of cell updates."""
        surface = _extent(False, ranks, updates)
        return self.per_update * updates + self.per_surface * surface + self.fixed


@dataclass(frozen=True)
class Program:
    """Fitted program.

    Attributes
    ----------
    components
        Components.
    updates
        Cell updates per coarse step of the recorded run with the fewest ranks, by rank.
    recorded_updates, granularity, blocks
        Updates per step, granularity and number of blocks of this run.
    planning
        Placement by planners, a part of the load balance.
    """

    components: tuple[Component, ...]
    updates: float
    recorded_updates: float
    granularity: Sequence[tuple[float, float]]
    blocks: float
    planning: Planning | None = None

    def imbalance(self, ranks: int, updates: float) -> float:
        """Return the ratio of maximum to mean load if the most expensive blocks cannot be divided.

        `updates` are those of all ranks.
        """
        if not self.granularity:
            return 1.0
        shrunk = self.recorded_updates / updates
        return sum(
            fraction * max(1.0, most * shrunk * ranks) for fraction, most in self.granularity
        )

    def predict(self, machine: Machine, ranks: int, updates: float) -> dict[str, dict[str, float]]:
        """Return seconds per coarse step by component and cause; `updates` of all ranks."""
        return {
            component.name: self._causes(component, machine, ranks, updates / ranks)
            for component in self.components
        }

    def _causes(
        self, component: Component, machine: Machine, ranks: int, updates: float
    ) -> dict[str, float]:
        growth = self._growth(component, ranks * updates)
        work = updates * (growth if component.transforms else 1.0)
        ideal = component.per_update * work / machine.rank_speed
        imbalance = self.imbalance(ranks, ranks * updates) - 1
        surface = component.per_surface * _extent(False, ranks, updates) / machine.rank_speed
        fixed = component.fixed / machine.rank_speed
        causes = {IDEAL: ideal, "ghost cells": surface, "fixed work": fixed}
        if machine.has_gpu:
            offload = component.kernel_fraction * (1 - 1 / machine.kernel_speed)
            causes = {name: seconds * (1 - offload) for name, seconds in causes.items()}
            causes["launches"] = component.launches * machine.launch_seconds
            copied = component.copied_bytes * updates
            causes["transfers"] = copied / machine.transfer_bytes_per_second
        causes["imbalance"] = imbalance * causes[IDEAL]
        causes |= _communication(component, machine, ranks, updates, growth)
        if self.planning and component.name == "load balance":
            blocks = self.blocks * ranks * updates / self.recorded_updates
            causes["planning"] = planning_seconds(self.planning, machine, ranks, blocks)
        return causes

    def _growth(self, component: Component, updates: float) -> float:
        """Return the growth of the number of coarse grids, or of the passes of a transform."""
        if not component.is_hierarchical:
            return 1.0
        return math.log2(max(updates, 2.0)) / math.log2(max(self.recorded_updates, 2.0))


def _communication(
    component: Component, machine: Machine, ranks: int, updates: float, growth: float
) -> dict[str, float]:
    """Return seconds by cause; nothing of it overlaps with computation."""
    messages = bytes_ = 0.0
    local = min(machine.ranks_per_node, ranks)
    for exchange in component.exchanges if ranks > 1 else ():
        more = 1.0 if exchange.all_to_all else growth
        messages += more * exchange.calls * machine.latency_seconds
        messages += more * exchange.messages_sent(ranks) * machine.message_seconds
        leaving = exchange.bytes_of_node(machine, ranks, updates)
        within = max(0.0, exchange.bytes_sent(ranks, updates) - leaving / local)
        rate = (
            machine.all_to_all_bytes_per_second(ranks)
            if exchange.all_to_all
            else machine.node_bytes_per_second
        )
        bytes_ += leaving / rate + 2 * within / machine.memory_bytes_per_second
    depth = len(decomposition.factors(ranks))
    round_seconds = depth * machine.latency_seconds
    round_seconds += decomposition.tree_messages(ranks) * machine.message_seconds
    return {
        "messages": messages,
        "bytes": bytes_,
        "reductions": component.reductions * machine.reduction(ranks) if ranks > 1 else 0.0,
        "tree rounds": component.routes * round_seconds,
    }


def planning_seconds(
    planning: Planning, machine: Machine, ranks: int, blocks: float
) -> float:  # fmt: skip
    """Return the seconds of placements per coarse step; zones work in parallel."""
    zone = min(ranks, planning.zone_ranks or ranks)
    received = PLANNING_BYTES / machine.node_bytes_per_second if ranks > 1 else 0.0
    return planning.per_step * blocks * zone / ranks * (planning.block_seconds + received)


def random_imbalance(ranks: int, blocks_per_rank: float, variation: float) -> float:
    """Return the ratio of maximum to mean load of a placement that ignores the costs of blocks.

    It is the expected maximum of `ranks` normal variables, to leading order; `variation` is the
    standard deviation of the cost of a block over its mean.
    """
    return 1 + variation * math.sqrt(2 * math.log(ranks) / blocks_per_rank)


def total(prediction: Mapping[str, Mapping[str, float]]) -> float:
    """Return the seconds of a coarse step."""
    return sum(sum(causes.values()) for causes in prediction.values())


# --- fit -----------------------------------------------------------------------------------------


def fit(runs: Sequence[Recorded]) -> Program:
    """Fit a program to runs; those on one rank give times, those on several also messages.

    With runs of one size on two numbers of ranks, busy time that does not shrink with the number of
    ranks is attributed to the surface of ranks if the component exchanges data, and to fixed work
    otherwise. With three or more different sizes per rank, both are fitted.
    """
    if not runs:
        raise OctoolsError("the performance model requires at least one run")
    first = min(runs, key=lambda run: (run.ranks, -run.updates))
    names = dict.fromkeys(name for run in runs for name in run.components)
    components = tuple(_component(name, runs) for name in names)
    return Program(
        components, first.updates_per_rank, first.updates, first.granularity, first.blocks,
        next((run.planning for run in runs if run.planning and run.ranks > 1), None),
    )  # fmt: skip


def _component(name: str, runs: Sequence[Recorded]) -> Component:
    having = [(run, run.components.get(name, Counts())) for run in runs]
    names = dict.fromkeys(each for _, counts in having for each in counts.exchanges)
    exchanges = tuple(_exchange(each, having) for each in names)
    trees = [
        counts.routes / decomposition.tree_messages(run.ranks)
        for run, counts in having
        if run.ranks > 1
    ]
    per_update, per_surface, fixed = _busy_coefficients(having, bool(exchanges))
    return Component(
        name, per_update, per_surface, fixed,
        kernel_fraction=_mean([counts.kernel_fraction for _, counts in having]),
        launches=_mean([counts.launches for _, counts in having]),
        reductions=_mean([counts.reductions for run, counts in having if run.ranks > 1])
        or _mean([counts.reductions for _, counts in having]),
        routes=_mean(trees),
        exchanges=exchanges,
        copied_bytes=_mean([counts.copied_bytes / run.updates_per_rank for run, counts in having]),
    )  # fmt: skip


def _exchange(name: str, having: Sequence[tuple[Recorded, Counts]]) -> Exchange:
    all_to_all = name in VOLUME_EXCHANGES
    sent = [
        (run, counts.exchanges[name])
        for run, counts in having
        if run.ranks > 1 and name in counts.exchanges
    ]
    calls = _mean([each.calls for _, each in sent])
    return Exchange(
        name, calls, all_to_all,
        messages=_mean(
            [each.messages / (each.calls * _partners(all_to_all, run.ranks)) for run, each in sent]
        ),
        bytes=_mean(
            [each.bytes / _extent(all_to_all, run.ranks, run.updates_per_rank)
             for run, each in sent]
        ),
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _busy_coefficients(
    having: Sequence[tuple[Recorded, Counts]], exchanges: bool
) -> tuple[float, float, float]:
    """Fit seconds per update, per unit of surface and per step."""
    rows = [
        (run.updates_per_rank, _extent(False, run.ranks, run.updates_per_rank), 1.0)
        for run, _ in having
    ]
    busy = np.array([counts.busy for _, counts in having])
    different = len(set(rows))
    columns = [0]
    if different >= 3:
        columns = [0, 1, 2]
    elif different == 2:
        columns = [0, 1] if exchanges else [0, 2]
    found = np.zeros(3)
    found[columns] = non_negative_fit(np.array(rows)[:, columns], busy)
    return float(found[0]), float(found[1]), float(found[2])


def non_negative_fit(
    matrix: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the coefficients >= 0 with the least squares of relative deviations.

    The number of columns is small: all subsets of non-zero coefficients are compared.
    """
    kept = values > 0
    best = np.zeros(matrix.shape[1])
    if not kept.any():
        return best
    scaled = matrix[kept] / values[kept, None]
    least = float(kept.sum())  # of all coefficients zero
    for size in range(1, matrix.shape[1] + 1):
        for chosen in combinations(range(matrix.shape[1]), size):
            found = np.linalg.lstsq(scaled[:, chosen], np.ones(len(scaled)), rcond=None)[0]
            squares = float(np.sum((scaled[:, chosen] @ found - 1) ** 2))
            if (found >= 0).all() and squares < least * (1 - 1e-9):
                least, best = squares, np.zeros(matrix.shape[1])
                best[list(chosen)] = found
    return best


# --- scaling -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """Where a component stops to scale: number of ranks (None: nowhere), and cause."""

    ranks: int | None
    cause: str


@dataclass(frozen=True)
class Curve:
    """Predicted scaling.

    Attributes
    ----------
    kind
        ``strong`` or ``weak``.
    ranks
        Numbers of ranks, ascending.
    predictions
        Seconds by component and cause, for each number of ranks.
    """

    kind: str
    ranks: Sequence[int]
    predictions: Sequence[Mapping[str, Mapping[str, float]]]

    def efficiencies(self, component: str | None = None) -> list[float]:
        """Return efficiencies relative to the first number of ranks; of a step without a name."""
        seconds = [
            total(each) if component is None else sum(each[component].values())
            for each in self.predictions
        ]
        return [
            self._ideal(n) * seconds[0] / each if each else 1.0
            for n, each in zip(self.ranks, seconds, strict=True)
        ]

    def _ideal(self, ranks: int) -> float:
        return self.ranks[0] / ranks if self.kind == "strong" else 1.0

    def stop(self, component: str | None = None) -> Stop:
        """Return where the efficiency falls below one half, and the cause that grows most."""
        place = next(
            (n for n, each in enumerate(self.efficiencies(component)) if each < STOPPED), None
        )
        causes = [
            _causes(each) if component is None else dict(each[component])
            for each in self.predictions
        ]
        last = place if place is not None else len(causes) - 1
        ideal = self._ideal(self.ranks[last])
        excess = {
            name: seconds - ideal * causes[0].get(name, 0.0)
            for name, seconds in causes[last].items()
        }
        cause = max(excess, key=lambda name: excess[name])
        return Stop(self.ranks[place] if place is not None else None, cause)


def _causes(prediction: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Sum the seconds of all components by cause."""
    names = dict.fromkeys(name for causes in prediction.values() for name in causes)
    return {name: sum(each.get(name, 0.0) for each in prediction.values()) for name in names}


def curve(
    program: Program, machine: Machine, kind: str, ranks: Sequence[int], updates: float
) -> Curve:
    """Predict scaling; `updates` are those of a rank on the first number of ranks."""
    predictions = [
        program.predict(machine, n, updates * (ranks[0] if kind == "strong" else n)) for n in ranks
    ]
    return Curve(kind, ranks, predictions)
