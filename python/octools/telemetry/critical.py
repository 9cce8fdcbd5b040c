"""Critical paths: the chains of work and messages that decided when each window ended.

A window lies between two collective calls. Where full detail was recorded, the path is walked back
from the last rank to enter the call: along its events to the last wait for a message that was sent
only after the wait began, from there to the sender, and so on to the window's beginning. With one
round of messages in a window, at most two ranks take part (CPLX paper, §IV-D). Elsewhere a step's
path comes from the view ``critical_path``, which knows sums per step only.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from octools.telemetry.database import Telemetry

Key = tuple[int, int, str, str]  # rank, node, phase, name


@dataclass(frozen=True)
class Event:
    """Something that a rank did, or a message that it sent or stood still for, in ns."""

    rank: int
    node: int
    level: int
    phase: str
    name: str
    start: int
    end: int
    peer: int
    sequence: int


@dataclass(frozen=True)
class Piece:
    """Part of a critical path: from `start` to `end` a rank did this."""

    event: Event
    start: int
    end: int


@dataclass(frozen=True)
class Window:
    """The critical path of a window, from its beginning to its end."""

    step: int
    number: int
    pieces: Sequence[Piece]

    @property
    def ranks(self) -> list[int]:
        """The ranks on the path, in the order of time."""
        ranks = [piece.event.rank for piece in self.pieces]
        return [rank for n, rank in enumerate(ranks) if n == 0 or rank != ranks[n - 1]]


@dataclass
class Blame:
    """Time on critical paths, summed over the run.

    Attributes
    ----------
    by_place
        Time in ns by (rank, node, phase, name).
    windows
        Number of paths.
    ranks_on_path
        Number of paths by the number of ranks on the path.
    exact
        Number of paths that were traced through recorded events.
    """

    by_place: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    windows: int = 0
    ranks_on_path: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    exact: int = 0

    def shares(self) -> list[tuple[Key, float]]:
        """List places with their share of all paths' time, the greatest first."""
        whole = sum(self.by_place.values()) or 1
        ordered = sorted(self.by_place.items(), key=lambda item: (-item[1], item[0]))
        return [(key, ns / whole) for key, ns in ordered]


def blame(telemetry: Telemetry) -> Blame:
    """Sum the critical paths of a run: of windows where there are events, else of steps."""
    result = Blame()
    detailed = [step for (step,) in telemetry.rows("select distinct step from events")[1]]
    for step in sorted(detailed):
        for window in critical_windows(telemetry, step):
            result.windows += 1
            result.exact += 1
            result.ranks_on_path[len(window.ranks)] += 1
            for piece in window.pieces:
                event = piece.event
                key = (event.rank, event.node, event.phase, event.name)
                result.by_place[key] += piece.end - piece.start
    _add_coarse_paths(telemetry, result)
    return result


def _add_coarse_paths(telemetry: Telemetry, result: Blame) -> None:
    coarse = "from critical_path where step not in (select step from raw.events)"
    per_step = f"select max(hop) + 1 as ranks {coarse} group by step"
    counts = f"select ranks, count(*) from ({per_step}) group by ranks"
    for ranks, count in telemetry.rows(counts)[1]:
        result.windows += count
        result.ranks_on_path[ranks] += count
    sums = f"select rank, node, phase, name, sum(blame_ns)::bigint {coarse} group by all"
    for rank, node, phase, name, ns in telemetry.rows(sums)[1]:
        result.by_place[rank, node, phase or "other", name or ""] += ns


def critical_windows(telemetry: Telemetry, step: int) -> list[Window]:
    """Walk the critical path of each window of a step whose events were recorded."""
    query = f"""
    select rank, coalesce(node, 0), level, phase, name, start_ns, start_ns + duration_ns, peer,
      sequence
    from events where step = {step} order by rank, start_ns, duration_ns desc"""
    return _Step(step, [Event(*row) for row in telemetry.rows(query)[1]]).windows()


def _without_nesting(events: Sequence[Event]) -> list[Event]:
    """Cut events where others are nested inside, so that each instant has the innermost one.

    What lies between events is `other`.
    """
    flat: list[Event] = []
    stack: list[Event] = []
    now = events[0].start

    def advance(until: int) -> None:
        nonlocal now
        if until > now:
            inner = stack[-1] if stack else _other(events[0])
            flat.append(replace(inner, start=now, end=until))
        now = max(now, until)

    for event in events:
        while stack and stack[-1].end <= event.start:
            advance(stack[-1].end)
            stack.pop()
        advance(event.start)
        stack.append(event)
    while stack:
        advance(stack[-1].end)
        stack.pop()
    return flat


def _outermost_calls(events: Sequence[Event]) -> list[Event]:
    """Choose the collective calls that are not part of another one."""
    calls: list[Event] = []
    for event in events:
        if event.phase == "collective" and not (calls and event.start < calls[-1].end):
            calls.append(event)
    return calls


def _other(event: Event) -> Event:
    return replace(event, phase="other", name="", peer=-1, sequence=-1)


def _message(wait: Event) -> tuple[str, int, int, int, int]:
    """Identify the message that was waited for, as its sender does."""
    return wait.name, wait.level, wait.peer, wait.rank, wait.sequence


class _Step:
    """The events of a step, ready to be walked backwards."""

    def __init__(self, step: int, events: Sequence[Event]) -> None:
        self._step = step
        scopes: dict[int, list[Event]] = defaultdict(list)
        self._waits: dict[int, list[Event]] = defaultdict(list)
        self._sends: dict[tuple[str, int, int, int, int], Event] = {}
        for event in events:
            if event.peer < 0:
                scopes[event.rank].append(event)
            elif event.phase == "wait":
                self._waits[event.rank].append(event)
            else:
                message = (event.name, event.level, event.rank, event.peer, event.sequence)
                self._sends[message] = event
        self._scopes = {rank: _without_nesting(own) for rank, own in scopes.items()}
        self._starts = {rank: [e.start for e in own] for rank, own in self._scopes.items()}
        self._calls = {rank: _outermost_calls(own) for rank, own in scopes.items()}

    def windows(self) -> list[Window]:
        """Walk back from every collective call that all ranks took part in."""
        count = min((len(calls) for calls in self._calls.values()), default=0)
        return [self._window(number) for number in range(count)]

    def _window(self, number: int) -> Window:
        last = max(self._calls, key=lambda rank: self._calls[rank][number].start)
        pieces: list[Piece] = []
        rank, now = last, self._calls[last][number].start
        while now > (begin := self._begin(rank, number)):
            wait = self._wait_that_held(rank, begin, now)
            if wait is None:
                pieces += self._own(rank, begin, now)
                break
            send = self._sends[_message(wait)]
            pieces += self._own(rank, wait.end, now)
            pieces.append(Piece(wait, send.start, wait.end))  # on its way
            rank, now = send.rank, send.start
        kept = [piece for piece in reversed(pieces) if piece.end > piece.start]
        return Window(self._step, number, kept)

    def _begin(self, rank: int, number: int) -> int:
        own = self._scopes[rank][0].start
        return self._calls[rank][number - 1].end if number > 0 else own

    def _wait_that_held(self, rank: int, begin: int, now: int) -> Event | None:
        """Find the last wait that ended in time for a message posted after the wait had begun."""
        waits = self._waits[rank]
        for index in range(bisect_right(waits, now, key=lambda wait: wait.end) - 1, -1, -1):
            wait = waits[index]
            if wait.start < begin:
                return None
            send = self._sends.get(_message(wait))
            if send is not None and wait.start < send.start <= wait.end:
                return wait
        return None

    def _own(self, rank: int, begin: int, end: int) -> list[Piece]:
        """List what a rank did between two instants, the last first."""
        pieces = []
        for index in range(bisect_right(self._starts[rank], end) - 1, -1, -1):
            event = self._scopes[rank][index]
            if event.end <= begin:
                break
            start, stop = max(event.start, begin), min(event.end, end)
            if stop > start:
                pieces.append(Piece(event, start, stop))
        return pieces
