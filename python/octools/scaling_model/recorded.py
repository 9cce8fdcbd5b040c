"""Counts and times of the components of a run, per rank and coarse step, from its telemetry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from octools.errors import OctoolsError
from octools.telemetry.database import Telemetry
from octools.telemetry.several import SOLVERS

# Exchanges in which a rank sends parts of its volume to many ranks: transposes of transforms.
VOLUME_EXCHANGES = ("gravity pencils", "transpose")
ROUTE = "route"
OTHER = "other"

# Parts of the program by model and component: the solvers of `octools scaling`, with sweeps and
# exchanges apart.
COMPONENTS = {
    "amr": {
        "hydro": ("sweep", "validation of a sweep"),
        "ghost exchange": ("ghost data", "level coupling"),
        **{name: parts for name, parts in SOLVERS["amr"].items() if name != "Godunov"},
    },
    "dns": SOLVERS["dns"],
}


@dataclass(frozen=True)
class Sent:
    """Exchanges of one name by a component: number, messages and bytes of the mean rank."""

    calls: float
    messages: float
    bytes: float


@dataclass
class Counts:
    """Counts of a component per coarse step, means over the ranks.

    Attributes
    ----------
    busy, busiest
        Processor seconds without waiting and collective calls: mean and maximum over the ranks.
    reductions
        Collective calls.
    routes
        Messages through the tree of ranks.
    elapsed
        Seconds without waiting and collective calls of the mean rank, in which other programs may
        have run, too.
    launches, kernel_fraction
        Kernels, and the fraction of `elapsed` in which they ran.
    copied_bytes
        Bytes copied between host and device, or that would be copied.
    exchanges
        By name.
    """

    busy: float = 0.0
    busiest: float = 0.0
    reductions: float = 0.0
    routes: float = 0.0
    elapsed: float = 0.0
    launches: float = 0.0
    kernel_fraction: float = 0.0
    copied_bytes: float = 0.0
    exchanges: dict[str, Sent] = field(default_factory=dict)


# Most ranks of a zone with a planner of its own; other policies have one planner.
ZONES = {"zonal": 4096, "node": 4096, "cdp_chunked": 512}


@dataclass(frozen=True)
class Planning:
    """Placement of blocks by planners.

    Attributes
    ----------
    per_step
        Placements in a coarse step.
    block_seconds
        Time of a planner for each of its blocks.
    zone_ranks
        Most ranks of a zone; 0 for one planner.
    """

    per_step: float
    block_seconds: float
    zone_ranks: int


@dataclass(frozen=True)
class Recorded:
    """Run as the model sees it.

    Attributes
    ----------
    name, ranks
        Name and number of ranks.
    updates
        Cell updates per coarse step of all ranks.
    blocks
        Number of blocks.
    granularity
        By level: fraction of the cost of all blocks, and cost of the most expensive block over the
        cost of the level.
    planning
        None if regions of space are distributed without planners.
    data_bytes
        Bytes of fields and particles of all ranks.
    components
        Counts by component.
    """

    name: str
    ranks: int
    updates: float
    blocks: float
    granularity: Sequence[tuple[float, float]]
    planning: Planning | None
    data_bytes: float
    components: Mapping[str, Counts]

    @property
    def updates_per_rank(self) -> float:
        """Mean cell updates of a rank in a coarse step."""
        return self.updates / self.ranks

    @property
    def busy(self) -> float:
        """Busy seconds of the mean rank per coarse step."""
        return sum(counts.busy for counts in self.components.values())


def record(name: str, telemetry: Telemetry) -> Recorded:
    """Read a run, without its first step (allocations, tests of backends) and last (output)."""
    telemetry.require_steps()
    steps = int(telemetry.value(f"select count(*) from steps where {_LATER}"))
    about = telemetry.files.metadata
    ranks, model = int(about["ranks"]), about.get("model", "amr")
    if steps < 1:
        raise OctoolsError(f"{telemetry.files.directory} has fewer than three steps")
    updates, blocks = telemetry.rows(
        f"select avg(updates), avg(blocks) from steps where {_LATER}"
    )[1][0]  # fmt: skip
    found: dict[str, Counts] = defaultdict(Counts)
    _read_phases(telemetry, model, ranks * steps, found)
    _read_exchanges(telemetry, model, ranks * steps, found)
    _read_kernels(telemetry, model, ranks * steps, found)
    _read_copies(telemetry, model, ranks * steps, found)
    data = telemetry.value(
        f"select coalesce(sum(data_bytes), 0) / {steps}.0 from ranks where {_LATER}"
    )
    return Recorded(
        name, ranks, float(updates), float(blocks), _granularity(telemetry),
        _planning(telemetry, steps, float(blocks)),
        float(data), dict(found),
    )  # fmt: skip


# Steps between the first and the last one.
_LATER = "step > (select min(step) from steps) and step < (select max(step) from steps)"


def _component(model: str) -> str:
    """Return the SQL expression for the component of a part of the program by name and level."""
    cases = " ".join(
        f"when name in ({', '.join(map(repr, names))}) then '{component}'"
        for component, names in COMPONENTS.get(model, {}).items()
    )
    return f"""case when name = 'gravity' and level > 0 then 'gravity, refined levels'
      when name = 'gravity' then 'gravity, base level' {cases} end"""


def _owned(model: str) -> str:
    """Return the query for the rows of phases with the component of their outermost known part."""
    own = _component(model)
    return f"""
with recursive known as (
  select step, rank, task, parent, phase, name, calls, cpu_ns, self_ns, bytes, {own} as own
  from phases where {_LATER}),
owned as (
  select *, own as component from known where parent < 0
  union all
  select k.*, coalesce(o.component, k.own) as component
  from known k join owned o on k.step = o.step and k.rank = o.rank and k.parent = o.task)
"""


def _read_phases(
    telemetry: Telemetry, model: str, rows: int, found: dict[str, Counts]
) -> None:  # fmt: skip
    query = f"""{_owned(model)},
per_rank as (
  select coalesce(component, '{OTHER}') as component, rank,
    coalesce(sum(cpu_ns) filter (phase not in ('wait', 'collective')), 0) as busy,
    coalesce(sum(self_ns) filter (phase not in ('wait', 'collective')), 0) as elapsed,
    coalesce(sum(calls) filter (phase = 'collective'), 0) as reductions
  from owned group by all)
select component, sum(busy) / 1e9, max(busy) / 1e9, sum(elapsed) / 1e9,
  sum(reductions) from per_rank group by 1"""
    ranks = int(telemetry.files.metadata["ranks"])
    for component, busy, busiest, elapsed, reductions in telemetry.rows(query)[1]:
        counts = found[component]
        counts.busy = busy / rows
        counts.busiest = busiest * ranks / rows
        counts.elapsed = elapsed / rows
        counts.reductions = reductions / rows


def _read_exchanges(
    telemetry: Telemetry, model: str, rows: int, found: dict[str, Counts]
) -> None:  # fmt: skip
    per_name = f"""select component, sum(messages) from messages
      where direction = 'send' and {_LATER} group by 1"""
    messages = {name: float(count) for name, count in telemetry.rows(per_name)[1]}
    query = f"""{_owned(model)}
select coalesce(component, '{OTHER}'), name, phase, sum(calls), sum(bytes) from owned
where phase = 'send' or (phase = 'wait' and name = '{ROUTE}') group by 1, 2, 3"""
    sent = telemetry.rows(query)[1]
    calls_by_name: dict[str, float] = defaultdict(float)
    for _, name, _, calls, _ in sent:
        calls_by_name[name] += calls
    for component, name, phase, calls, size in sent:
        number = messages.get(name, 0.0) * calls / calls_by_name[name] / rows
        if phase == "wait":
            found[component].routes += number
        else:
            found[component].exchanges[name] = Sent(calls / rows, number, size / rows)


def _read_kernels(
    telemetry: Telemetry, model: str, rows: int, found: dict[str, Counts]
) -> None:  # fmt: skip
    query = f"""{_owned(model)}
select coalesce(o.component, '{OTHER}'), sum(k.calls), sum(k.duration_ns) / 1e9
from (select * from kernels where {_LATER}) k
left join owned o on k.step = o.step and k.rank = o.rank and k.task = o.task group by 1"""
    for component, launches, seconds in telemetry.rows(query)[1]:
        counts = found[component]
        counts.launches = launches / rows
        if counts.elapsed > 0:
            counts.kernel_fraction = min(1.0, seconds / rows / counts.elapsed)


def _read_copies(
    telemetry: Telemetry, model: str, rows: int, found: dict[str, Counts]
) -> None:  # fmt: skip
    query = f"""select coalesce({_component(model)}, '{OTHER}'), sum(bytes) from copies
      where {_LATER} group by 1"""
    for component, size in telemetry.rows(query)[1]:
        found[component].copied_bytes = size / rows


def _granularity(telemetry: Telemetry) -> list[tuple[float, float]]:
    """Return, by level, its fraction of the cost and its most expensive block over its cost."""
    query = f"""
with by_level as (
  select level, step, sum(cost_ns) as cost, max(cost_ns) as most from blocks
  where {_LATER} group by level, step)
select sum(cost), sum(most) from by_level group by level order by level"""
    rows = [(float(cost), float(most)) for cost, most in telemetry.rows(query)[1] if cost]
    total = sum(cost for cost, _ in rows)
    return [(cost / total, most / cost) for cost, most in rows]


def _planning(telemetry: Telemetry, steps: int, blocks: float) -> Planning | None:
    """Return the placements by planners, from the table `placement`."""
    rows = telemetry.rows(
        f"""select count(distinct step), sum(duration_ns) / 1e9, any_value(policy)
        from placement where {_LATER}"""
    )[1]
    placements, seconds, policy = rows[0]
    if not placements:
        return None
    zone = ZONES.get(policy, 0)
    return Planning(placements / steps, seconds / (placements * blocks), zone)
