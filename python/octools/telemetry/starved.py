"""Ranks that did not have the processor time that they could have used.

Kernels want a processor all the time: where their wall time is much longer than their processor
time, something else ran instead, such as other programs, other ranks or more threads than cores.
"""

from collections.abc import Mapping

from octools.telemetry.database import Telemetry
from octools.telemetry.finding import Finding, line, listing
from octools.telemetry.slow import LEAST_SHARE

# Kernels that ran for less than this share of their wall time were starved. Interrupts, page faults
# and a program now and then stay above.
ENOUGH = 0.7

# Nothing is said of less wall time in kernels than this: a few time slices of the system.
LEAST_NS = 200_000_000


def find_starved(telemetry: Telemetry) -> list[Finding]:
    """Find the ranks whose kernels often stood without a processor.

    Less than `LEAST_SHARE` of one is what a rank has that waits for a device.
    """
    query = line(f"""
    select rank, node, sum(cpu_ns) / sum(self_ns) as processor_share,
      sum(self_ns - cpu_ns) as lost_ns, min(step) as first, max(step) as last
    from phases where phase = 'compute' group by rank, node
    having sum(self_ns) > {LEAST_NS} and processor_share between {LEAST_SHARE} and {ENOUGH}
    order by processor_share""")
    starved = telemetry.rows(query)[1]
    if not starved:
        return []
    ranks = sorted(row[0] for row in starved)
    nodes = sorted({row[1] for row in starved})
    shares = [row[2] for row in starved]
    mean = sum(shares) / len(shares)
    duration = telemetry.value("select max(end_ns) - min(start_ns) from steps")
    return [
        Finding(
            kind="starved",
            what=f"{listing('rank', ranks)} ({listing('node', nodes)}) had {100 * mean:.0f} % of "
            "a processor per rank while computing, because of other programs, or of more "
            "ranks and threads than processors: run on dedicated processors",
            ranks=ranks,
            nodes=nodes,
            phase="compute",
            name="",
            steps=(min(row[4] for row in starved), max(row[5] for row in starved)),
            cost=min(1.0, max(row[3] for row in starved) / duration),
            evidence={"processor_share": mean, "least_processor_share": shares[0]},
            query=query,
        )
    ]


def find_crowded(telemetry: Telemetry) -> list[Finding]:
    """Find that more threads than processors took turns.

    The cost is what its most starved rank lost: nothing where threads had nothing to do.
    """
    about = telemetry.files.metadata
    ranks, threads, processors, own = (
        _number(about, key)
        for key in (
            "ranks_per_node", "threads_per_rank", "processors_per_node", "processors_per_rank",
        )
    )  # fmt: skip
    if not processors or (ranks * threads <= processors and threads <= own):
        return []
    starved = find_starved(telemetry)
    first, last = telemetry.rows("select min(step), max(step) from steps")[1][0]
    bound = f", bound to {own} each" if own < processors else ""
    return [
        Finding(
            kind="crowded",
            what=f"{ranks} rank(s) of {threads} thread(s) shared {processors} processor(s) of a "
            f"node{bound} and waited for each other; use fewer ranks or threads",
            ranks=[],
            nodes=[],
            phase="",
            name="",
            steps=(first, last),
            cost=max((finding.cost for finding in starved), default=0.0),
            evidence={"threads_per_processor": max(ranks * threads / processors, threads / own)},
            query="select * from about where key like '%per_%'",
        )
    ]


def _number(about: Mapping[str, str], key: str) -> int:
    """Read a number that telemetry tells of a run; 0 where an older program wrote none."""
    text = about.get(key, "")
    return int(text) if text.isdigit() else 0
