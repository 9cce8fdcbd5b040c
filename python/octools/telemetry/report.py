"""A report on a run: one page of HTML that needs nothing but itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from octools.files import write_text
from octools.telemetry.database import Telemetry
from octools.telemetry.diagnose import PLACES, Diagnosis, diagnose
from octools.telemetry.finding import Finding, line
from octools.telemetry.roofline import COLUMNS, QUERY, kernels, without_limits
from octools.telemetry.several import NOTHING_CHANGED, Difference, Runs, differences
from octools.telemetry.slow import SLOW, rates_query
from octools.telemetry.svg import Array, Series, bars, dots, heat_map, lines, stacked

PHASES = (
    "compute", "pack", "send", "unpack", "wait", "collective", "regrid", "rebalance", "io", "other",
)  # fmt: skip

# More steps or ranks than this are drawn as means of several.
MOST_BINS, MOST_ROWS = 320, 160
SLOW_STEPS = 6
MOST_KERNELS = 16


@dataclass(frozen=True)
class Run:
    """A run's telemetry, with the spans that all charts share."""

    telemetry: Telemetry
    first: int
    last: int
    ranks: int
    least_rank: int

    @classmethod
    def of(cls, telemetry: Telemetry) -> "Run":
        """Measure the spans of steps and ranks."""
        telemetry.require_steps()
        first, last = telemetry.rows("select min(step), max(step) from steps")[1][0]
        least, most = telemetry.rows("select min(rank), max(rank) from ranks")[1][0]
        return cls(telemetry, first, last, most - least + 1, least)

    @property
    def bin(self) -> str:
        """SQL that gives the bin of a step."""
        return f"((step - {self.first}) // {self.steps_per_bin})"

    @property
    def steps_per_bin(self) -> int:
        """How many steps are drawn as one."""
        return -(-(self.last - self.first + 1) // MOST_BINS)

    def steps(self, bins: Array) -> Array:
        """Return the middle step of each bin."""
        size = self.steps_per_bin
        return self.first + bins.astype(float) * size + (size - 1) / 2


def save_report(telemetry: Telemetry, title: str, path: Path) -> None:
    """Write the report of a run."""
    write_text(path, report(telemetry, title))


def save_comparison(runs: Runs, path: Path) -> None:
    """Write a page about what became slower from the first of some runs to the others."""
    title = " and ".join(runs.runs)
    sections = [_difference(number, found) for number, found in enumerate(differences(runs), 1)]
    write_text(path, _page(title, [f"<h1>{escape(title)}</h1>", *sections]))


def report(telemetry: Telemetry, title: str) -> str:
    """Compose the page."""
    run = Run.of(telemetry)
    diagnosis = diagnose(telemetry)
    parts = [
        _head(run, title),
        _tiles(run),
        _findings(diagnosis),
        _time_by_phase(run),
        _slow_steps(run),
        _map(run, "compute", "Computing", "compute_ns", "viridis"),
        _map(run, "waiting", "Waiting", "wait_ns + collective_ns", "inferno"),
        _balance(run),
        _critical_paths(run, diagnosis),
        _speeds(run),
        _kernels(run),
        _memory(run),
        _placement(run),
    ]
    return _page(title, [part for part in parts if part])


def _page(title: str, parts: Sequence[str]) -> str:
    style, script = (files("octools.telemetry") / f"report.{kind}" for kind in ("css", "js"))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        '</title><meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n'
        f"{style.read_text()}</style></head>\n<body>\n"
        + "\n".join(parts)
        + f"\n{_foot(title)}\n<script>\n{script.read_text()}</script>\n</body></html>\n"
    )


def _difference(number: int, found: Difference) -> str:
    a, b = escape(found.before.name), escape(found.after.name)
    body = f"<p>{escape(NOTHING_CHANGED)}</p>"
    if found.phases:
        rows = [tuple(map(escape, (*numbers, name))) for name, *numbers in found.rows()]
        body = _table((a, b, "times", "of the step", "phase"), rows)
    if found.circumstances:
        rows = [
            tuple(map(escape, (key, f"{old} → {new}"))) for key, old, new in found.circumstances
        ]
        body += _table(("they differ in", f"{a} → {b}"), rows)
    return _section(f"run-{number}", found.after.name, found.headline(), body)


def _section(name: str, title: str, what: str, body: str, query: str = "") -> str:
    shown = f"<details><summary>SQL</summary><pre>{escape(line(query))}</pre></details>"
    return (
        f'<section id="{name}"><h2>{escape(title)}</h2><p class="what">{escape(what)}</p>'
        f"{body}{shown if query else ''}</section>"
    )


def _head(run: Run, title: str) -> str:
    about = run.telemetry.files.metadata
    nodes = run.telemetry.value("select count(distinct node) from ranks")
    segments = len(run.telemetry.files.segments)
    parts = [
        f"run {about['run']}",
        f"model {about.get('model', '?')}",
        _count(run.ranks, "rank") + f" on {_count(nodes, 'node')}",
        f"steps {run.first} to {run.last}",
        f"blocks of {about.get('block_size', '?')}³ cells",
        f"clocks agree within {int(about.get('clock_error_ns', 0)) / 1e3:.3g} µs",
    ]
    if segments > 1:
        parts.append(f"{segments - 1} restart(s)")
    return f'<h1>{escape(title)}</h1><p class="about">{escape(" · ".join(parts))}</p>'


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _tiles(run: Run) -> str:
    query = """
    select sum(duration_ns) / 1e9, median(duration_ns) / 1e9, sum(updates) / sum(duration_ns) * 1e9
    from steps"""
    seconds, step, speed = run.telemetry.rows(query)[1][0]
    query = """
    select sum(compute_ns) / sum(duration_ns), sum(wait_ns + collective_ns) / sum(duration_ns),
      max(memory_peak_bytes) from ranks"""
    computing, waiting, memory = run.telemetry.rows(query)[1][0]
    imbalance = run.telemetry.value("select median(compute_imbalance) from balance")
    query = "select sum(cpu_ns) / sum(self_ns) from phases where phase = 'compute'"
    processor = run.telemetry.value(query)
    tiles = [
        (_seconds(seconds), "in all steps"),
        (_seconds(step), "median step"),
        (_quantity(speed / run.ranks), "cell updates per second and rank"),
        (f"{100 * computing:.1f} %", "of the time computing"),
        (f"{100 * waiting:.1f} %", "waiting and synchronising"),
        (f"{100 * processor:.0f} %" if processor else "?", "of a processor while computing"),
        (f"{imbalance:.3g}" if imbalance else "?", "slowest over mean rank's computing"),
        (f"{_quantity(memory)}B", "most memory of a rank"),
    ]
    inner = "".join(f"<div><b>{value}</b><span>{what}</span></div>" for value, what in tiles)
    return f'<div class="tiles">{inner}</div>'


def _seconds(value: float) -> str:
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (600.0, 1.0, "s")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value / 3600:.2f} h" if value >= 3600 else f"{value / 60:.3g} min"


def _quantity(value: float) -> str:
    for limit, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {prefix}"
    return f"{value:.3g}"


def _findings(diagnosis: Diagnosis) -> str:
    if not diagnosis.findings:
        body = '<p class="clear">Nothing stands out: no slow or starved rank, no late sends, '
        body += "no spikes of waiting, no imbalance that costs much.</p>"
    else:
        body = "".join(map(_finding, diagnosis.findings))
    return _section("findings", "Findings", "What makes the run slower than it needs to be.", body)


def _finding(finding: Finding) -> str:
    numbers = "".join(
        f"<span>{escape(name.replace('_', ' '))} {value:.4g}</span>"
        for name, value in finding.evidence.items()
    )
    return (
        f'<div class="finding"><h3>{escape(finding.kind.replace("_", " ").capitalize())}: '
        f'{escape(finding.where)} <span class="cost">{100 * finding.cost:.0f} % of the time</span>'
        f'</h3><p>{escape(finding.what)}.</p><div class="numbers">{numbers}</div>'
        f"<details><summary>SQL</summary><pre>{escape(finding.query)}</pre></details></div>"
    )


def _slow_steps(run: Run) -> str:
    query = f"""
    select step, string_agg(answer, ';; ' order by place) from why
    where place <= 3 and step in (select step from why where place = 0
      and excess_ns > 0.25 * usual_self_ns order by excess_ns desc limit {SLOW_STEPS})
    group by step order by max(excess_ns) desc"""
    rows = [(step, answers.split(";; ")) for step, answers in run.telemetry.rows(query)[1]]
    if not rows:
        return ""
    body = _table(
        ("step", "why it was slow"),
        [(f"{step}", "<br>".join(map(escape, answers))) for step, answers in rows],
    )
    what = "Steps that took longest against the 50 around them, and what took longer there."
    shown = f"select answer from why where step = {rows[0][0]}"
    return _section("slow-steps", "Slow steps", what, body, shown)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    kinds = ["" if n == len(names) - 1 or name == "policy" else " class=number"
             for n, name in enumerate(names)]  # fmt: skip
    head = "".join(f"<th{kind}>{name}</th>" for name, kind in zip(names, kinds, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{k}>{cell}</td>" for cell, k in zip(row, kinds, strict=True))
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="table">{table}</div>'


def _time_by_phase(run: Run) -> str:
    query = f"""
    select {run.bin} as bin, phase, sum(self_ns) / 1e6 as ms from phases group by bin, phase"""
    per_bin = f"select {run.bin} as bin, count(*) as rows from ranks group by bin"
    joined = f"select bin, phase, ms / rows as ms from ({query}) join ({per_bin}) using (bin)"
    found = run.telemetry.columns(f"{joined} order by bin")
    bins = np.unique(found["bin"])
    series = []
    for phase in PHASES:
        chosen = found["phase"] == phase
        values = np.zeros(len(bins))
        values[np.searchsorted(bins, found["bin"][chosen])] = found["ms"][chosen]
        if values.any():
            series.append(Series(phase, phase, values))
    body = stacked(run.steps(bins), series, "ms per step")
    what = "Own time of each phase, mean over the ranks: all phases of a step add up to it."
    return _section("phases", "Time by phase", what, body, query)


def _map(run: Run, name: str, title: str, ns: str, colours: str) -> str:
    per_row = -(-run.ranks // MOST_ROWS)
    query = f"""
    select {run.bin} as bin, (rank - {run.least_rank}) // {per_row} as row, max(ms) as ms
    from (select step, rank, ({ns}) / 1e6 as ms from ranks) group by bin, row"""
    found = run.telemetry.columns(query)
    bins, rows = (found[key].astype(int) for key in ("bin", "row"))
    values = np.full((rows.max() + 1, bins.max() + 1), np.nan)
    values[rows, bins] = found["ms"]
    steps, ranks = (run.first, run.last), (run.least_rank, run.least_rank + run.ranks - 1)
    body = heat_map(values, steps, ranks, "ms per step", colours)
    what = "Time of each rank in each step."
    if per_row > 1 or run.steps_per_bin > 1:
        what += f" A pixel is the greatest of {per_row} rank(s) and {run.steps_per_bin} step(s)."
    if name == "waiting":
        what += " For messages of others, and in collective calls for the last to come."
    return _section(name, f"{title}, by rank and step", what, body, query)


def _balance(run: Run) -> str:
    query = f"""
    select {run.bin} as bin, avg(compute_imbalance) as compute, avg(work_imbalance) as work,
      100 * avg(wait_share) as waiting, 100 * avg(collective_share) as collective,
      100 * avg(transfer_share) as transfer
    from balance group by bin order by bin"""
    found = run.telemetry.columns(query)
    x = run.steps(found["bin"])
    loads = [
        Series("time in kernels", "first", found["compute"]),
        Series("work units", "second", found["work"]),
    ]
    shares = [
        Series("waiting for messages", "wait", found["waiting"]),
        Series("collective calls", "collective", found["collective"]),
        Series("packing, sending, unpacking", "send", found["transfer"]),
    ]
    body = lines(x, loads, "largest over mean", least=1.0) + lines(x, shares, "% of all time")
    what = (
        "How evenly kernels' time and work units lie on the ranks (1 is even), and what all ranks "
        "together spend on each other."
    )
    return _section("balance", "Balance", what, body, query)


def _critical_paths(run: Run, diagnosis: Diagnosis) -> str:
    found = diagnosis.blame
    rows = [
        (f"rank {rank} (node {node}), {phase} {name}".rstrip(), phase, share)
        for (rank, node, phase, name), share in found.shares()[:PLACES]
        if share >= 0.005
    ]
    query = f"""
    select bin, arg_max(rank, blame_ns) as rank from (
      select {run.bin} as bin, rank, sum(blame_ns) as blame_ns from critical_path
      group by bin, rank)
    group by bin order by bin"""
    path = run.telemetry.columns(query)
    strip = ""
    if run.ranks > 1:
        series = [Series("rank with most blame", "first", path["rank"].astype(float))]
        strip = dots(run.steps(path["bin"]), series, "rank", "step")
    counts = ", ".join(
        f"{count} over {_count(ranks, 'rank')}"
        for ranks, count in sorted(found.ranks_on_path.items())
    )
    what = (
        f"What decided when each of {found.windows} windows between collective calls ended, "
        f"walked back from the last rank through messages ({found.exact} through recorded events, "
        f"the others from totals per step). Paths: {counts}."
    )
    query = """
    select rank, node, phase, name, sum(blame_ns) / 1e6 as ms from critical_path
    group by all order by ms desc"""
    return _section("critical-paths", "Critical paths", what, bars(rows) + strip, query)


def _speeds(run: Run) -> str:
    if run.ranks == 1:
        return ""
    per_row = -(-run.ranks // MOST_BINS)
    inner = rates_query(run.telemetry)
    query = f"""
    select min(rank) as rank, max(ratio) as ratio from ({inner}) group by rank // {per_row}
    order by 1"""
    found = run.telemetry.columns(query)
    if not len(found["rank"]):
        return ""
    usual = found["ratio"] <= SLOW
    series = [
        Series(name, kind, np.where(chosen, found["ratio"], np.nan))
        for name, kind, chosen in (("as usual", "first", usual), ("slow", "bad", ~usual))
        if chosen.any()
    ]
    body = dots(found["rank"].astype(float), series, "times the median rank", "rank", [SLOW])
    what = (
        "Processor time per cell of each rank's kernels, against the median rank's; a rank above "
        f"{SLOW:g} counts as slow."
    )
    return _section("speeds", "Slow ranks", what, body, inner)


def _kernels(run: Run) -> str:
    found = kernels(run.telemetry)[:MOST_KERNELS]
    if not found:
        return ""
    rows = [[escape(cell) for cell in without_limits(kernel.row(None))] for kernel in found]
    what = (
        "Where they run, those that took longest first; B and op: bytes that must move and "
        "operations, where a kernel says so. The machine's limits: octools roofline RUN --machine."
    )
    return _section("kernels", "Kernels", what, _table(without_limits(COLUMNS), rows), QUERY)


def _memory(run: Run) -> str:
    query = f"""
    select {run.bin} as bin, max(memory_bytes) / 1e6 as most, avg(memory_bytes) / 1e6 as mean,
      min(memory_bytes) / 1e6 as least from ranks group by bin order by bin"""
    found = run.telemetry.columns(query)
    series = [
        Series("most", "second", found["most"]),
        Series("mean", "first", found["mean"]),
        Series("least", "third", found["least"]),
    ]
    body = lines(run.steps(found["bin"]), series if run.ranks > 1 else series[:1], "MB per rank")
    return _section("memory", "Memory", "Resident memory of the ranks.", body, query)


def _placement(run: Run) -> str:
    query = """
    select step, level, policy, cplx_x, makespan_before, makespan_after, blocks_moved,
      bytes_moved / 1e6, 100 * off_rank_share, 100 * off_node_share, duration_ns / 1e6
    from placement order by step, level"""
    rows = run.telemetry.rows(query)[1]
    what = "Largest over mean cost before and after each rebalancing, and what it moved."
    if not rows:
        what, body = "Blocks have stayed where they were.", ""
    else:
        body = _makespans(run) + _table(
            ("step", "level", "policy", "X", "before", "after", "blocks", "MB", "% off rank",
             "% off node", "ms"),
            [_placement_row(row) for row in rows[-8:]],
        )  # fmt: skip
    return _section("placement", "Placement", what, body, query if rows else "")


def _makespans(run: Run) -> str:
    query = f"""
    select {run.bin} as bin, max(makespan_before) as before, max(makespan_after) as after
    from placement group by bin order by bin"""
    found = run.telemetry.columns(query)
    series = [
        Series("before", "second", found["before"]),
        Series("after", "first", found["after"]),
    ]
    return lines(run.steps(found["bin"]), series, "largest over mean", least=1.0)


def _placement_row(row: Sequence[Any]) -> list[str]:
    step, level, policy, *numbers = row
    shown = ["" if number is None else f"{number:.4g}" for number in numbers]
    return [f"{step}", "all" if level < 0 else f"{level}", escape(str(policy)), *shown]


def _foot(title: str) -> str:
    asked = f'octools sql {title} "select answer from why where step = 12"'
    return (
        f"<footer>Made by octools from the run's telemetry. To ask more: <code>{escape(asked)}"
        "</code>; docs/telemetry.md describes tables and views.</footer>"
    )
