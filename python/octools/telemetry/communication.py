"""Messages that hold a run up: late sends, spikes of waiting, times that no volume explains."""

from octools.telemetry.database import Telemetry
from octools.telemetry.finding import Finding, line, listing

# A send is late if it is posted this many times later after the exchange's start than the median
# rank's are.
LATE = 3.0
# Late sends are a matter from this share of the steps, this many steps, and this share of the time.
LATE_STEPS_SHARE, LATE_STEPS, LATE_COST = 0.25, 3, 0.03

# A wait spikes if it is this many times the rank's median and this share of a median step long.
SPIKE, SPIKE_SHARE = 5.0, 0.2
# Spikes are a matter from this many, and this share of the time. Waits that processors shared with
# other programs cause are told by the share of kernels' time without a processor: spikes must cost
# this many times more.
SPIKES, SPIKES_COST, SPIKES_OVER_SHARING = 3, 0.05, 3.0

# Time in communication should follow volume from this many ranks on, where volumes differ by this
# factor, waits take this share of the time, and work is even enough not to explain them.
LEAST_RANKS, VOLUME_RATIO, WAIT_SHARE, EVEN = 8, 1.3, 0.1, 1.1
CORRELATED = 0.3


def find_late_sends(telemetry: Telemetry) -> list[Finding]:
    """Find ranks that post their sends late and that others wait for because of it."""
    query = f"""
    with posted as (
      select step, rank, any_value(node) as node, component, sum(post_ns) / sum(messages) as delay,
        max(messages) as rounds
      from messages where direction = 'send' and messages > 0 group by step, rank, component),
    compared as (
      select *, quantile_disc(delay, 0.5) over (partition by step, component) as usual from posted),
    waited as (
      select step, peer as rank, component, max(wait_ns) as wait_ns
      from messages where direction = 'receive' group by step, peer, component),
    late as (
      select c.*, (delay - usual) * rounds as excess,
        least(excess, greatest(w.wait_ns, anybody.wait_ns, 0)) as harm
      from compared c left join waited w using (step, rank, component)
      left join waited anybody on anybody.rank = -1 and anybody.step = c.step
        and anybody.component = c.component
      where delay > {LATE} * greatest(usual, 1)),
    by_component as (
      select rank, node, component, median(delay) as delay, median(usual) as usual,
        sum(excess) as cost, sum(harm) as harm, min(step) as first, max(step) as last,
        count(*) as steps
      from late group by rank, node, component),
    whole as (select count(*) as steps, max(end_ns) - min(start_ns) as duration from steps)
    select rank, node, arg_max(component, cost), min(first), max(last), max(b.steps),
      arg_max(delay, cost), arg_max(usual, cost),
      least(1, sum(cost) / any_value(duration)) as share
    from by_component b, whole w group by rank, node
    having max(b.steps) >= greatest({LATE_STEPS}, {LATE_STEPS_SHARE} * any_value(w.steps))
      and sum(harm) > {LATE_COST} * any_value(duration)
    order by share desc
    """
    findings = []
    for row in telemetry.rows(query)[1]:
        rank, node, component, first, last, count, delay, usual, share = row
        shown = f"""
        select rank, node, sum(post_ns) / sum(messages) / 1e3 as delay_us from messages
        where direction = 'send' and component = '{component}' and step between {first} and {last}
        group by rank, node order by delay_us desc"""
        findings.append(
            Finding(
                kind="late_sends",
                what=f"rank {rank} (node {node}) posts its sends of {component} {delay / 1e3:.4g} "
                "µs after the start of the exchange, the other ranks after "
                f"{usual / 1e3:.4g} µs, and they wait for it: check the work of this rank "
                "before it sends",
                ranks=[rank],
                nodes=[node],
                phase="send",
                name=component,
                steps=(first, last),
                cost=share,
                evidence={
                    "delay_us": delay / 1e3,
                    "usual_delay_us": usual / 1e3,
                    "late_steps": count,
                },
                query=line(shown),
            )
        )
    return findings


def shared_processors(telemetry: Telemetry) -> float:
    """Measure the share of kernels' time in which their rank had no processor: 0 to 1."""
    query = "select 1 - sum(cpu_ns) / sum(self_ns) from phases where phase = 'compute'"
    return max(0.0, telemetry.value(query) or 0.0)


def find_wait_spikes(telemetry: Telemetry) -> list[Finding]:
    """Find waits that jump now and then although nobody was late with anything."""
    # A wait is explained where some rank was busy longer than it usually is, by half of the wait,
    # and one for a message to arrive also where a rank was blocked as long in sending.
    query = f"""
    with waits_of as (
      select step, rank, any_value(node) as node, component, direction, sum(wait_ns) as wait_ns,
        arg_max(peer, wait_ns) as peer
      from messages group by step, rank, component, direction),
    usual as (
      select *, median(wait_ns) over (partition by rank, component, direction) as usual
      from waits_of),
    busy as (
      select step, rank, duration_ns - wait_ns - collective_ns as busy_ns from ranks),
    lateness as (
      select step, max(excess) as late_ns from (
        select step, busy_ns - median(busy_ns) over (partition by rank) as excess from busy)
      group by step),
    whole as (
      select max(end_ns) - min(start_ns) as duration, median(duration_ns) as usual_step from steps),
    unexplained as (
      select u.*, wait_ns - usual as excess from usual u join lateness using (step), whole
      where wait_ns > {SPIKE} * usual and wait_ns - usual > {SPIKE_SHARE} * usual_step
        and late_ns < 0.5 * (wait_ns - usual)),
    spikes as (
      select * from unexplained u where direction = 'send' or not exists (
        from unexplained s where s.step = u.step and s.direction = 'send'
          and 2 * s.excess > u.excess)),
    by_step as (
      select component, direction, step, max(excess) as excess, arg_max(rank, excess) as rank,
        arg_max(node, excess) as node, arg_max(usual, excess) as usual
      from spikes group by component, direction, step)
    select component, direction, list_sort(list_distinct(list(rank))),
      list_sort(list_distinct(list(node))), min(step), max(step), count(*), median(excess),
      median(usual), sum(excess) / any_value(duration) as share
    from by_step, whole group by component, direction
    having count(*) >= {SPIKES}
      and sum(excess) > any_value(duration)
        * greatest({SPIKES_COST}, {SPIKES_OVER_SHARING} * {shared_processors(telemetry)})
    order by share desc
    """
    findings = []
    for row in telemetry.rows(query)[1]:
        component, direction, ranks, nodes, first, last, count, excess, usual, share = row
        shown = f"""
        select step, rank, node, wait_ns / 1e6 as wait_ms from messages
        where component = '{component}' and direction = '{direction}'
        order by wait_ns desc limit 20"""
        doing = "sending" if direction == "send" else "receiving"
        findings.append(
            Finding(
                kind="wait_spikes",
                what=f"{listing('rank', ranks)} waited {(excess + usual) / 1e6:.4g} ms when "
                f"{doing} {component} in {count} steps, usually {usual / 1e6:.4g} ms, "
                "although no rank was late: check the network, the network driver and the "
                "queues of the MPI library",
                ranks=ranks,
                nodes=nodes,
                phase="wait",
                name=component,
                steps=(first, last),
                cost=share,
                evidence={
                    "spikes": count,
                    "spike_ms": (excess + usual) / 1e6,
                    "usual_ms": usual / 1e6,
                },
                query=line(shown),
            )
        )
    return findings


def find_poor_correlation(telemetry: Telemetry) -> list[Finding]:
    """Find out whether the time of communication follows its volume (CPLX paper, Fig. 1a)."""
    volumes = """
    select rank, median(bytes) as bytes, median(ns) as ns, min(step) as first, max(step) as last
    from (select step, rank, sum(bytes) as bytes from messages group by step, rank)
    join (select step, rank, transfer_ns + wait_ns as ns from ranks) using (step, rank)
    group by rank"""
    query = f"""
    with volumes as ({volumes}),
    even as (
      select median(compute_imbalance) as imbalance, median(wait_share) as waited from balance)
    select corr(bytes, ns), max(bytes) / min(bytes), any_value(waited), min(first), max(last)
    from volumes, even
    having count(*) >= {LEAST_RANKS} and max(bytes) > {VOLUME_RATIO} * min(bytes)
      and any_value(waited) > {WAIT_SHARE} and any_value(imbalance) < {EVEN}
      and coalesce(corr(bytes, ns), 0) < {CORRELATED}
    """
    if SPIKES_OVER_SHARING * shared_processors(telemetry) > WAIT_SHARE:
        return []
    return [
        Finding(
            kind="uncorrelated",
            what="communication time is not correlated with message volume (correlation over the "
            f"ranks {correlation or 0:.2f}), although the work is balanced: tune the MPI "
            "library and the order of tasks before trusting these times",
            ranks=[],
            nodes=[],
            phase="wait",
            name="",
            steps=(first, last),
            cost=waited,
            evidence={"correlation": correlation or 0.0, "volume_ratio": ratio, "waited": waited},
            query=line(f"select corr(bytes, ns) as correlation from ({volumes})"),
        )
        for correlation, ratio, waited, first, last in telemetry.rows(query)[1]
    ]
