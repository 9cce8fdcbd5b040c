"""Ranks and nodes whose processors are slow: time per cell inflated while work is not.

The signature of throttling (CPLX paper, §IV-A): kernels of all ranks of a node take several times
as long as elsewhere. Processor time is compared, not wall time, so that ranks that share their
processors with other programs are not taken for slow ones; and each kernel on each level is
compared with the same kernel on other ranks, so that a rank with dearer kernels is not. Cells count
with their rank's work units per update: blocks that are known to be dear are not slow either.
"""

from dataclasses import dataclass

from octools.telemetry.database import Telemetry
from octools.telemetry.finding import Finding, line, listing

# Kernels that take this many times the median rank's time per cell are slow. Differences of content
# (boundaries, limiters, caches), clocks that follow the load, and another program on the second
# hardware thread of a core (up to 1.8 times) stay below; throttled processors were four times
# slower in the paper.
SLOW = 2.0

# Ranks with less processor time than this in a span of steps are not reported: clocks and caches,
# not the speed of the processor, would determine the ratio.
LEAST_NS = 5_000_000

# With less than this share of a processor a rank waits for a device; a rank that shares its
# processor with many others still has more.
LEAST_SHARE = 0.05

# A run is looked at in up to MOST_SPANS spans of at least LEAST_STEPS steps, for processors that
# throttle for a while only.
MOST_SPANS = 8
LEAST_STEPS = 16

# A node is slow if at least this share of its ranks is, and more than one of them.
NODE_SHARE = 0.75


@dataclass(frozen=True)
class SlowRank:
    """A rank that was slow from one step to another, with the mean ratio to the median rank."""

    rank: int
    node: int
    first: int
    last: int
    ratio: float
    work_ratio: float
    lost_ns: float


def find_slow(telemetry: Telemetry) -> list[Finding]:
    """Find slow nodes, then slow ranks of other nodes."""
    slow = slow_ranks(telemetry)
    members = dict(telemetry.rows("select node, count(distinct rank) from ranks group by node")[1])
    by_node: dict[int, list[SlowRank]] = {}
    for each in slow:
        by_node.setdefault(each.node, []).append(each)
    duration = telemetry.value("select max(end_ns) - min(start_ns) from steps")
    findings = []
    for node, group in by_node.items():
        if len(group) > 1 and len(group) >= NODE_SHARE * members[node]:
            findings.append(_finding(telemetry, "slow_node", group, duration))
        else:
            findings += [_finding(telemetry, "slow_rank", [each], duration) for each in group]
    return findings


def slow_ranks(telemetry: Telemetry) -> list[SlowRank]:
    """Compare every rank's kernels with the median rank's, span by span."""
    rows = telemetry.rows(_query(telemetry))[1]
    return [SlowRank(*row) for row in rows]


def rates_query(telemetry: Telemetry) -> str:
    """Write the query that compares ranks: rank, span of steps, and `ratio` to the median rank."""
    first, last, count = telemetry.rows("select min(step), max(step), count(*) from steps")[1][0]
    spans = max(1, min(MOST_SPANS, (count or 0) // LEAST_STEPS))
    span = f"((step - {first or 0}) // {((last or 0) - (first or 0)) // spans + 1})"
    # A rank's ratio in a span is the median over its kernels, each with the time as its weight
    # that the median rank would have taken: the smallest ratio that half of the time stays below.
    return f"""
    with weights as (
      select {span} as span, rank, sum(work) / nullif(sum(updates), 0) as weight
      from ranks group by all),
    kernels as (
      select span, rank, level, name, first, last, cells * coalesce(weight, 1) as cells,
        ns / (cells * coalesce(weight, 1)) as rate
      from (select {span} as span, rank, level, name, min(step) as first, max(step) as last,
          sum({_time(telemetry)}) as ns, sum(cells) as cells
        from phases where phase = 'compute' and cells > 0 group by all)
      join weights using (span, rank)),
    compared as (
      select *, quantile_disc(rate, 0.5) over (partition by span, level, name) as usual,
        count(*) over (partition by span, level, name) as others
      from kernels),
    weighted as (
      select *, rate / usual as ratio, cells * usual as weight,
        sum(cells * usual) over (partition by span, rank order by rate / usual, level, name)
          as below,
        sum(cells * usual) over (partition by span, rank) as whole
      from compared where others > 1 and usual > 0)
    select span, rank, min(first) as first, max(last) as last, sum(cells * rate) as spent,
      min(ratio) filter (2 * below >= whole) as ratio
    from weighted group by span, rank"""


def _query(telemetry: Telemetry) -> str:
    return f"""
    with spans as ({rates_query(telemetry)}),
    works as (
      select rank, any_value(node) as node, sum(work) as work from ranks group by rank),
    relative as (
      select rank, node, work / nullif(quantile_disc(work, 0.5) over (), 0) as work_ratio
      from works)
    select rank, node, min(first), max(last), avg(ratio), any_value(work_ratio),
      sum(spent * (1 - 1 / ratio))
    from spans join relative using (rank)
    where ratio > {SLOW} and spent > {LEAST_NS}
    group by rank, node order by rank
    """


def _time(telemetry: Telemetry) -> str:
    """Choose processor time, or wall time where kernels run elsewhere than on the processor."""
    query = f"""
    select sum(cpu_ns) > {LEAST_SHARE} * sum(self_ns) from phases where phase = 'compute'"""
    return "cpu_ns" if telemetry.value(query) else "self_ns"


def _finding(telemetry: Telemetry, kind: str, group: list[SlowRank], duration: float) -> Finding:
    ranks = [each.rank for each in group]
    nodes = sorted({each.node for each in group})
    first, last = min(each.first for each in group), max(each.last for each in group)
    ratio = sum(each.ratio for each in group) / len(group)
    work = sum(each.work_ratio for each in group) / len(group)
    time = _time(telemetry)
    by = "node" if kind == "slow_node" else "node, rank"
    query = f"""
    select {by}, sum({time}) / sum(cells) as ns_per_cell, sum(cells) as cells from phases
    where phase = 'compute' and cells > 0 and step between {first} and {last}
    group by {by} order by ns_per_cell desc"""
    who = f"{listing('node', nodes)} ({listing('rank', ranks)})"
    if kind == "slow_rank":
        who = f"{listing('rank', ranks)} ({listing('node', nodes)})"
    cell = telemetry.rows(line(query))[1]
    rates = sorted(row[-2] for row in cell)
    return Finding(
        kind=kind,
        what=f"{who} computes {ratio:.1f} times more slowly than the median rank, with {work:.2f} "
        "times the work: check for a throttled or faulty processor, or another job on the "
        "processor",
        ranks=ranks,
        nodes=nodes,
        phase="compute",
        name="",
        steps=(first, last),
        cost=max(each.lost_ns for each in group) / duration,
        evidence={
            "slowdown": ratio,
            "work_over_median": work,
            "ns_per_cell": rates[-1],
            "ns_per_cell_median": rates[(len(rates) - 1) // 2],
        },
        query=line(query),
    )
