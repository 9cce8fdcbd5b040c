"""Views for queries: tables without superseded rows, and derived quantities.

``raw.TABLE`` stands for the rows of a table that count, ``raw.places`` for the node of each rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from octools.telemetry.schema import DURATION, NODE, TABLES, Columns

# A critical path is followed over at most this many ranks per step. One round of messages involves
# two (§IV-D of the paper on CPLX); chains of more rounds rarely reach further than a few.
MOST_HOPS = 4

# A rank whose longest wait for a peer is a smaller share of the step than this counts as not held
# up: its path is its own.
LEAST_WAIT_SHARE = 0.1

# The steps before and after that tell what is usual.
NEIGHBOURS = 25

# What stands out from the usual by less than this share of a usual step is no cause.
LEAST_EXCESS_SHARE = 0.03


@dataclass(frozen=True)
class View:
    """View: meaning of a row, columns, and definition."""

    row: str
    columns: Columns
    sql: str


def _with_node(table: str) -> str:
    return f"select t.*, p.node from raw.{table} t left join raw.places p using (segment, rank)"


_RANKS = """
with sums as (
  select step, rank,
    sum(self_ns) filter (phase = 'compute') as compute_ns,
    sum(self_ns) filter (phase in ('pack', 'send', 'unpack')) as transfer_ns,
    sum(self_ns) filter (phase = 'wait') as wait_ns,
    sum(self_ns) filter (phase = 'collective') as collective_ns
  from raw.phases group by step, rank)
select r.*, r.end_ns - r.start_ns as duration_ns,
  coalesce(compute_ns, 0)::bigint as compute_ns, coalesce(transfer_ns, 0)::bigint as transfer_ns,
  coalesce(wait_ns, 0)::bigint as wait_ns, coalesce(collective_ns, 0)::bigint as collective_ns
from raw.ranks r left join sums using (step, rank)
"""

_MESSAGES = """
select m.*, here.node as node, there.node as peer_node
from raw.messages m
left join raw.places here on here.segment = m.segment and here.rank = m.rank
left join raw.places there on there.segment = m.segment and there.rank = m.peer
"""

_WAITS = """
select segment, step, rank, node, direction as waits_for, component as name, peer, peer_node,
  messages, bytes, wait_ns
from messages where wait_ns > 0
union all by name
select segment, step, rank, node, 'collective' as waits_for, name, -1 as peer, -1 as peer_node,
  calls as messages, bytes, self_ns as wait_ns
from phases where phase = 'collective' and self_ns > 0
"""

_BALANCE = """
with sums as (
  select step, max(compute_ns) as compute_most_ns, avg(compute_ns) as compute_mean_ns,
    arg_max(rank, compute_ns) as slowest_rank, max(work) as work_most, avg(work) as work_mean,
    sum(wait_ns) as waited, sum(collective_ns) as synchronised, sum(transfer_ns) as transferred,
    sum(duration_ns) as lasted, max(memory_bytes) as memory_most, avg(memory_bytes) as memory_mean
  from ranks group by step)
select step, compute_most_ns, compute_mean_ns, slowest_rank,
  compute_most_ns / nullif(compute_mean_ns, 0) as compute_imbalance,
  work_most / nullif(work_mean, 0) as work_imbalance,
  memory_most / nullif(memory_mean, 0) as memory_imbalance,
  transferred / nullif(lasted, 0) as transfer_share, waited / nullif(lasted, 0) as wait_share,
  synchronised / nullif(lasted, 0) as collective_share
from sums
"""

# The last rank to reach a step's collectives is the one that spends the least time in them, and
# waits least. If most of its own waiting was for one peer, that peer is next on the path, and so
# on: the last rank of the path has caused the remaining delay. The delay of a rank is distributed
# over its phases in proportion to their own times.
_CRITICAL_PATH = f"""
with recursive held as (
  select step, rank, arg_max(peer, wait_ns) as peer, max(wait_ns) as wait_ns
  from (select step, rank, peer, sum(wait_ns) as wait_ns from raw.messages
    where direction = 'receive' group by step, rank, peer)
  group by step, rank),
own as (
  select step, rank, phase, name,
    sum(self_ns) / nullif(sum(sum(self_ns)) over (partition by step, rank), 0) as part
  from raw.phases where phase not in ('wait', 'collective') group by step, rank, phase, name),
placed as (
  select r.step, r.rank, r.node, r.duration_ns, r.wait_ns + r.collective_ns as still_ns,
    h.peer, coalesce(h.wait_ns, 0) as held_ns
  from ranks r left join held h using (step, rank)),
path as (
  select step, 0 as hop, rank, node, duration_ns, duration_ns as left_ns, peer, held_ns,
    [rank] as seen
  from placed
  qualify row_number() over (partition by step order by still_ns, rank) = 1
  union all
  select q.step, p.hop + 1, q.rank, q.node, p.duration_ns, p.held_ns, q.peer,
    least(q.held_ns, p.held_ns), list_append(p.seen, q.rank)
  from path p join placed q on q.step = p.step and q.rank = p.peer
  where p.held_ns > {LEAST_WAIT_SHARE} * p.duration_ns and p.hop + 1 < {MOST_HOPS}
    and not list_contains(p.seen, q.rank)),
blamed as (
  select step, hop, rank, node, duration_ns,
    left_ns - coalesce(lead(left_ns) over (partition by step order by hop), 0) as blame_ns
  from path)
select step, hop, rank, node, phase, name, blame_ns * coalesce(part, 1) as blame_ns, duration_ns
from blamed left join own using (step, rank)
"""

_WHY = f"""
with by_step as (
  select step, end_ns - start_ns as duration_ns, updates from raw.steps),
usual as (
  select *, median(duration_ns) over around as usual_ns,
    median(updates) over around as usual_updates
  from by_step
  window around as (order by step rows between {NEIGHBOURS} preceding and {NEIGHBOURS} following)),
per_rank as (
  select step, segment, rank, phase, name, sum(self_ns)::bigint as self_ns
  from raw.phases group by step, segment, rank, phase, name),
worst as (
  select step, phase, name, max(self_ns) as self_ns, arg_max(rank, self_ns) as rank,
    any_value(segment) as segment
  from per_rank group by step, phase, name),
compared as (
  select *, median(self_ns) over (partition by phase, name order by step
    rows between {NEIGHBOURS} preceding and {NEIGHBOURS} following) as usual_self_ns
  from worst),
held as (
  select step, rank, nullif(arg_max(peer, wait_ns), -1) as peer from raw.messages
  where wait_ns > 0
  group by step, rank),
causes as (
  select c.step, c.phase, c.name, c.rank, p.node, if(c.phase = 'wait', h.peer, null) as peer,
    c.self_ns, c.usual_self_ns, c.self_ns - c.usual_self_ns as excess_ns, u.usual_ns
  from compared c join usual u using (step)
  left join raw.places p on p.segment = c.segment and p.rank = c.rank
  left join held h on h.step = c.step and h.rank = c.rank
  where c.self_ns - c.usual_self_ns > {LEAST_EXCESS_SHARE} * u.usual_ns)
select step, 0 as place, null as phase, null as name, null::integer as rank, null::integer as node,
  null::integer as peer, duration_ns as self_ns, usual_ns as usual_self_ns,
  duration_ns - usual_ns as excess_ns,
  format('the step took {{:.4g}} ms, {{:.2f}} times the {{:.4g}} ms of the steps around it, '
    'for {{:.2f}} times their cell updates', duration_ns / 1e6, duration_ns / usual_ns,
    usual_ns / 1e6, updates / usual_updates) as answer
from usual
union all by name
select step,
  row_number() over (partition by step order by phase in ('wait', 'collective'), excess_ns desc)
    as place,
  phase, name, rank, node, peer, self_ns, usual_self_ns, excess_ns,
  format('{{}}rank {{}} (node {{}}) spent {{:.4g}} ms in {{}} {{}}{{}}, usually {{:.4g}} ms',
    if(phase in ('wait', 'collective'), 'so ', ''), rank, node, self_ns / 1e6, phase, name,
    if(peer is null, '', format(' for rank {{}}', peer)), usual_self_ns / 1e6) as answer
from causes
order by step, place
"""

_WHERE = {"rank": ("INTEGER", "the rank"), **NODE}
_WHAT = {
    "phase": ("VARCHAR", "the phase"),
    "name": ("VARCHAR", "its kernel, component or purpose"),
}

VIEWS: Mapping[str, View] = {
    "about": View(
        "fact about the run and its machine",
        {"key": ("VARCHAR", "such as ranks, processor, built_with"), "value": ("VARCHAR", "")},
        "select key, value from raw.about order by key",
    ),
    "steps": View(
        "coarse step",
        {**TABLES["steps"], **DURATION},
        "select *, end_ns - start_ns as duration_ns from raw.steps",
    ),
    "ranks": View(
        "step and rank",
        {
            **TABLES["ranks"],
            **DURATION,
            "compute_ns": ("BIGINT", "time in kernels"),
            "transfer_ns": ("BIGINT", "time packing, sending and unpacking"),
            "wait_ns": ("BIGINT", "time standing still for messages"),
            "collective_ns": ("BIGINT", "time in collective calls"),
        },
        _RANKS,
    ),
    "phases": View("step, rank and task", {**TABLES["phases"], **NODE}, _with_node("phases")),
    "kernels": View(
        "step, rank, kernel and task that launched it",
        {**TABLES["kernels"], **NODE},
        _with_node("kernels"),
    ),
    "launches": View(
        "launch of a kernel, where full detail was recorded",
        {**TABLES["launches"], **NODE},
        _with_node("launches"),
    ),
    "samples": View(
        "execution of a task or kernel: one in a hundred, chosen at random",
        {**TABLES["samples"], **NODE},
        _with_node("samples"),
    ),
    "messages": View(
        "step, rank, component, peer and direction",
        {**TABLES["messages"], **NODE, "peer_node": ("INTEGER", "node of the peer")},
        _MESSAGES,
    ),
    "copies": View(
        "step, rank, level, part of the program, cargo and way",
        {**TABLES["copies"], **NODE},
        _with_node("copies"),
    ),
    "waits": View(
        "wait: for a peer's messages, or in a collective call",
        {
            **{key: TABLES["phases"][key] for key in ("segment", "step", "rank")},
            **NODE,
            "waits_for": ("VARCHAR", "receive, send or collective"),
            "name": ("VARCHAR", "component or purpose"),
            "peer": ("INTEGER", "who is waited for; -1: all"),
            "peer_node": ("INTEGER", "node of the peer; -1: all"),
            "messages": ("INTEGER", "number of messages or calls"),
            "bytes": ("BIGINT", "their bytes"),
            "wait_ns": ("BIGINT", "time stood still"),
        },
        _WAITS,
    ),
    "blocks": View("step and block", {**TABLES["blocks"], **NODE}, _with_node("blocks")),
    "placement": View("rebalancing and level", TABLES["placement"], "select * from raw.placement"),
    "events": View(
        "thing that happened, where full detail was recorded",
        {**TABLES["events"], **NODE},
        _with_node("events"),
    ),
    "balance": View(
        "step: how evenly work and time lie on the ranks",
        {
            "step": ("BIGINT", "coarse step"),
            "compute_most_ns": ("BIGINT", "time in kernels of the slowest rank"),
            "compute_mean_ns": ("DOUBLE", "mean of the ranks"),
            "slowest_rank": ("INTEGER", "the rank that computed longest"),
            "compute_imbalance": ("DOUBLE", "largest over mean time in kernels"),
            "work_imbalance": ("DOUBLE", "largest over mean work"),
            "memory_imbalance": ("DOUBLE", "largest over mean memory"),
            "transfer_share": ("DOUBLE", "share of all ranks' time spent packing and sending"),
            "wait_share": ("DOUBLE", "share spent waiting for messages"),
            "collective_share": ("DOUBLE", "share spent in collective calls"),
        },
        _BALANCE,
    ),
    "critical_path": View(
        "step, rank on its critical path (from the last rank backwards) and phase",
        {
            "step": ("BIGINT", "coarse step"),
            "hop": ("INTEGER", "0: last rank to be done; 1: the one that it waited for; ..."),
            **_WHERE,
            **_WHAT,
            "blame_ns": ("DOUBLE", "part of the step's duration that is its doing"),
            **DURATION,
        },
        _CRITICAL_PATH,
    ),
    "why": View(
        "step and cause: what took longer than in the steps around it",
        {
            "step": ("BIGINT", "coarse step"),
            "place": ("BIGINT", "0: the step itself; then causes, then the waits that follow"),
            **_WHAT,
            **_WHERE,
            "peer": ("INTEGER", "who was waited for"),
            "self_ns": ("BIGINT", "time of the slowest rank"),
            "usual_self_ns": ("DOUBLE", "its median over the steps around"),
            "excess_ns": ("DOUBLE", "the difference"),
            "answer": ("VARCHAR", "the row in words"),
        },
        _WHY,
    ),
}
