"""Scatter plots of communication time against messages and ranks (CPLX paper, Figs. 1a and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError
from octools.telemetry.database import Telemetry

POINTS = 20_000  # in a plot at most: of longer runs, every second, third, ... step is drawn


@dataclass(frozen=True)
class Communication:
    """Messages and communication time by step and rank.

    Attributes
    ----------
    ranks, messages, milliseconds
        Rank, number of its messages, and its time for transfers and waiting, one value per step and
        rank.
    medians
        The median time of each rank, in order of the ranks.
    correlation
        Correlation of messages and times over all steps and ranks; None if one is constant.
    """

    ranks: Sequence[int]
    messages: Sequence[int]
    milliseconds: Sequence[float]
    medians: Sequence[float]
    correlation: float | None

    def __str__(self) -> str:
        """Describe the correlation in a few words."""
        if self.correlation is None:
            return "the number of messages or the time is constant"
        return f"correlation {self.correlation:.2f}"


_POINTS = """
select step, rank, sent.messages, (r.transfer_ns + r.wait_ns) / 1e6 as milliseconds
from (select step, rank, sum(messages)::bigint as messages from messages group by step, rank) sent
join ranks r using (step, rank)
"""


def communication(telemetry: Telemetry) -> Communication:
    """Measure messages and communication time of each rank in each step.

    Raises
    ------
    OctoolsError
        If the run sent no messages.
    """
    telemetry.require_steps()
    count, correlation = telemetry.rows(
        f"select count(*), corr(messages, milliseconds) from ({_POINTS})"
    )[1][0]
    if count == 0:
        raise OctoolsError("the run sent no messages: --plot requires a run on several ranks")
    every = -(-count // POINTS)
    points = telemetry.rows(
        f"select rank, messages, milliseconds from ({_POINTS}) where step % {every} = 0 "
        "order by step, rank"
    )[1]
    medians = telemetry.rows(
        f"select median(milliseconds) from ({_POINTS}) group by rank order by rank"
    )[1]
    ranks, messages, milliseconds = zip(*points, strict=True)
    defined = correlation is not None and correlation == correlation
    return Communication(
        ranks, messages, milliseconds, [row[0] for row in medians], correlation if defined else None
    )


def save_scatter(found: Communication, path: Path) -> None:
    """Plot the time of each step and rank against its messages, and against the rank."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from octools.figure import INK, SERIES, STYLE, save

    points: dict[str, Any] = {"s": 5, "alpha": 0.35, "lw": 0, "color": SERIES[0]}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        left.scatter(found.messages, found.milliseconds, **points)
        left.set_xlabel("messages of a rank in a step")
        left.set_ylabel("transfers and waiting [ms]")
        left.set_title(str(found), loc="left")
        right.scatter(found.ranks, found.milliseconds, **points)
        right.plot(found.medians, "_", color=INK, ms=7, label="median")
        right.set_xlabel("rank")
        right.set_title("steps by rank", loc="left")
        right.legend()
        for axes in (left, right):
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
            axes.xaxis.get_major_locator().set_params(integer=True)
        save(figure, path)
