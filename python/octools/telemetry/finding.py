"""What a diagnosis finds: what, where, the evidence, and the query that shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """Something that makes a run slower than it needs to be.

    Attributes
    ----------
    kind
        ``slow_node``, ``slow_rank``, ``starved``, ``crowded``, ``late_sends``,
        ``wait_spikes``, ``uncorrelated`` or ``imbalance``.
    what
        One sentence for people.
    ranks, nodes
        Where: in ascending order.
    phase, name
        The phase and its kernel, component or purpose; empty where no single one stands out.
    steps
        The first and the last step that show it.
    cost
        Estimated share of the run's time that it costs, 0 to 1.
    evidence
        The numbers behind the sentence.
    query
        One SQL query for ``octools sql`` whose first row shows it.
    """

    kind: str
    what: str
    ranks: Sequence[int]
    nodes: Sequence[int]
    phase: str
    name: str
    steps: tuple[int, int]
    cost: float
    evidence: Mapping[str, float]
    query: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON holds it."""
        return asdict(self)

    @property
    def where(self) -> str:
        """Name the place: ranks, nodes, phase and steps."""
        parts = [listing("rank", self.ranks), listing("node", self.nodes)]
        parts.append(" ".join(part for part in (self.phase, self.name) if part))
        parts.append(f"steps {self.steps[0]} to {self.steps[1]}")
        return ", ".join(part for part in parts if part)


def listing(what: str, numbers: Sequence[int], most: int = 12) -> str:
    """Name a few numbers: ``rank 3``, ``ranks 8-11, 20``; empty where there are none."""
    if not numbers:
        return ""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    texts = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs[:most]]
    more = ", ..." if len(runs) > most else ""
    return f"{what}{'s' if len(numbers) > 1 else ''} {', '.join(texts)}{more}"


def line(query: str) -> str:
    """Write a query in one line, as people type it."""
    return " ".join(query.split())
