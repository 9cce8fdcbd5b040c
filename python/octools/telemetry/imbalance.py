"""Work or cost that lies unevenly on the ranks."""

from octools.telemetry.database import Telemetry
from octools.telemetry.finding import Finding, line

# Largest over mean load from which a quarter of the processors' time is lost; what good placement
# leaves is below (CPLX paper: 1.05 to 1.25).
UNEVEN = 1.33


def find_imbalance(telemetry: Telemetry, slow: set[int]) -> list[Finding]:
    """Find uneven work, and even work whose cost is uneven for another reason than slow ranks.

    Parameters
    ----------
    slow
        Ranks that are known to be slow: cost that is uneven because of them says nothing new.
    """
    query = f"""
    with loads as (
      select step, rank, any_value(node) as node, any_value(work) as work, sum(p.cpu_ns) as cost
      from ranks r join (select step, rank, cpu_ns from phases where phase = 'compute') p
      using (step, rank) group by step, rank),
    by_step as (
      select step, max(work) / avg(work) as of_work, max(cost) / avg(cost) as of_cost,
        arg_max(rank, work) as most_work, arg_max(rank, cost) as most_cost
      from loads group by step having avg(work) > 0 and avg(cost) > 0)
    select median(of_work), median(of_cost), mode(most_work), mode(most_cost), min(step), max(step)
    from by_step having median(greatest(of_work, of_cost)) > {UNEVEN}
    """
    findings = []
    for of_work, of_cost, most_work, most_cost, first, last in telemetry.rows(query)[1]:
        by_work = of_work > UNEVEN and of_cost > 1 + (UNEVEN - 1) / 2
        if not by_work and (of_cost <= UNEVEN or slow):
            continue
        imbalance, rank = (of_work, most_work) if by_work else (of_cost, most_cost)
        column = "work" if by_work else "compute_ns"
        node = telemetry.value(f"select any_value(node) from ranks where rank = {rank}")
        advice = "rebalance more often, or let balance.policy act on measured costs"
        if not by_work:
            advice = "work units do not reflect the cost of blocks: balance by measured costs"
        what = "work" if by_work else "processor time of kernels (but not work)"
        findings.append(
            Finding(
                kind="imbalance",
                what=f"{what} is unbalanced: rank {rank} has {imbalance:.2f} times the mean in "
                f"the median step: {advice}",
                ranks=[rank],
                nodes=[node],
                phase="compute",
                name="",
                steps=(first, last),
                cost=1 - 1 / imbalance,
                evidence={"work_imbalance": of_work, "cost_imbalance": of_cost},
                query=line(
                    "select rank, node, sum(work) as work, sum(compute_ns) as compute_ns "
                    f"from ranks group by rank, node order by {column} desc"
                ),
            )
        )
    return findings
