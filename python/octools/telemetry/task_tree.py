"""The tree of a run's tasks: what each consists of, how long it took and how often it ran.

A task is a phase and name within its parent task. Tasks of all steps, ranks and levels with the
same path from the step are one node of the tree, and so are kernels that a task launched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octools.errors import OctoolsError
from octools.telemetry.database import Telemetry

# Tasks below this fraction of all time are combined in one node of their parent.
LEAST_SHARE = 0.005

ROW, COLUMN = 0.34, 2.35  # inches per node, downwards and to the right
MOST_LETTERS = 34


@dataclass
class Task:
    """A node of the tree.

    Attributes
    ----------
    name
        Name, with the phase where this is not computing.
    calls
        Number of executions on all ranks.
    total, own
        Seconds, mean over the ranks, with and without nested tasks.
    is_kernel
        Whether the node is a kernel of the task around it, whose time contains that of the kernel
        on the host, but not on a GPU.
    children
        Nested tasks and kernels, longest first.
    """

    name: str
    calls: int = 0
    total: float = 0.0
    own: float = 0.0
    is_kernel: bool = False
    children: list[Task] = field(default_factory=list)

    def leaves(self) -> int:
        """Count the nodes without children."""
        return sum(child.leaves() for child in self.children) or 1

    def depth(self) -> int:
        """Count the generations."""
        return 1 + max((child.depth() for child in self.children), default=0)

    def lines(self, whole: float, indent: str = "") -> Iterator[str]:
        """Describe the node and those below it, a line each."""
        kind = " (kernel)" if self.is_kernel else ""
        yield (
            f"{indent + self.name + kind:<48} {_seconds(self.total):>9} "
            f"{100 * self.total / whole:6.1f} % {self.calls:>9}"
        )
        for child in self.children:
            yield from child.lines(whole, indent + "  ")

    def to_text(self) -> str:
        """Describe the tree: time with nested tasks, fraction of all time, and number of calls."""
        head = f"{'task':<48} {'time':>9} {'share':>8} {'calls':>9}"
        return "\n".join([head, *self.lines(self.total or 1.0)])


# Tasks with their path from the step, and kernels below the task that launched them. A kernel that
# is a task of its own is left out.
_PATHS = """
with recursive chosen as (
  select step, rank, task, parent, calls, total_ns, self_ns,
    case when name = '' then phase when phase in ('compute', 'other', name) then name
      else phase || ' ' || name end as title
  from raw.phases where true{chosen}),
paths as (
  select step, rank, task, [title] as path, calls, total_ns, self_ns
  from chosen where parent = -1
  union all
  select c.step, c.rank, c.task, list_append(p.path, c.title), c.calls, c.total_ns, c.self_ns
  from paths p join chosen c on c.step = p.step and c.rank = p.rank and c.parent = p.task),
launched as (
  select k.step, k.rank, list_append(p.path, k.name) as path, k.calls, k.duration_ns
  from raw.kernels k join paths p using (step, rank, task) where true{kernels})
select path, false, sum(calls)::bigint, sum(total_ns) / 1e9, sum(self_ns) / 1e9
from paths group by path
union all
select path, true, sum(calls)::bigint, sum(duration_ns) / 1e9, sum(duration_ns) / 1e9
from launched where path not in (select path from paths) group by path
order by len(path), 4 desc
"""


def task_tree(
    telemetry: Telemetry,
    steps: tuple[int, int] | None = None,
    ranks: tuple[int, int] | None = None,
    least_share: float = LEAST_SHARE,
) -> Task:
    """Sum the tasks of some steps and ranks, all by default.

    Parameters
    ----------
    steps, ranks
        First and last one.
    least_share
        Nodes with a smaller fraction of all time are combined in one of each parent.
    """
    telemetry.require_steps()
    if not telemetry.value("select count(task) from raw.phases"):
        raise OctoolsError(
            f"{telemetry.files.directory} has no parents of tasks; an older version of Octant "
            "wrote it"
        )
    chosen = condition("step", steps) + condition("rank", ranks)
    kernels = condition("k.step", steps) + condition("k.rank", ranks)
    count = telemetry.value(f"select count(distinct rank) from raw.ranks where true{chosen}")
    nodes: dict[tuple[str, ...], Task] = {}
    query = _PATHS.format(chosen=chosen, kernels=kernels)
    for path, is_kernel, calls, total, own in telemetry.rows(query)[1]:
        node = Task(path[-1], calls, total / count, own / count, is_kernel)
        nodes[tuple(path)] = node
        if len(path) > 1:
            nodes[tuple(path[:-1])].children.append(node)
    roots = [node for path, node in nodes.items() if len(path) == 1]
    if not roots:
        raise OctoolsError(f"{telemetry.files.directory} has no rows for these steps and ranks")
    _combine(roots[0], least_share * roots[0].total)
    return roots[0]


def condition(column: str, span: tuple[int, int] | None) -> str:
    """Write the SQL that restricts a column to a first and a last number."""
    return "" if span is None else f" and {column} between {span[0]} and {span[1]}"


def _combine(task: Task, least: float) -> None:
    """Replace short nodes by one of each parent, which has their sums."""
    short = [child for child in task.children if child.total < least]
    task.children = [child for child in task.children if child.total >= least]
    for child in task.children:
        _combine(child, least)
    tasks = [child for child in short if not child.is_kernel]  # whose time kernels are part of
    if tasks:
        total = sum(child.total for child in tasks)
        calls = sum(child.calls for child in tasks)
        name = f"{len(tasks)} shorter tasks" if len(tasks) > 1 else tasks[0].name
        task.children.append(Task(name, calls, total, total))


def save_task_tree(tree: Task, title: str, path: Path) -> None:
    """Draw a tree from left to right; the more time a task takes itself, the redder it is."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from octools.figure import STYLE, save

    rows, columns = tree.leaves(), tree.depth()
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(COLUMN * columns + 0.2, ROW * rows + 0.75))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.05, columns + 0.05), ylim=(rows + 0.2, -1.6))
        axes.set_axis_off()
        axes.text(0.0, -1.05, title, fontsize=10.5, va="center")
        axes.text(
            0.0, -0.35, "time with nested tasks (mean over ranks), fraction of all time, calls; "
            "red: own time, blue: kernels", fontsize=8, va="center",
        )  # fmt: skip
        _draw(axes, tree, tree.total or 1.0, 0, 0.0)
        save(figure, path)


def _draw(axes: Any, task: Task, whole: float, column: int, top: float) -> float:
    """Draw a node and those below it; return its height."""
    from matplotlib import colormaps
    from matplotlib.patches import FancyBboxPatch

    from octools.figure import INK

    middle = top + 0.5 * task.leaves()
    for child in task.children:
        at = _draw(axes, child, whole, column + 1, top)
        turn = column + 0.91
        axes.plot(
            [column + 0.85, turn, turn, column + 1.0], [middle, middle, at, at], color=INK, lw=0.6
        )
        top += child.leaves()
    colours = colormaps["Blues" if task.is_kernel else "Reds"]
    box = FancyBboxPatch(
        (column, middle - 0.42), 0.85, 0.84, boxstyle="square,pad=0",
        facecolor=colours(0.75 * (task.own / whole) ** 0.5), edgecolor=INK, lw=0.6,
        linestyle="--" if task.is_kernel else "-",
    )  # fmt: skip
    axes.add_patch(box)
    share = f"{100 * task.total / whole:.1f} %"
    text = f"{_seconds(task.total)}   {share}   {_count(task.calls)}"
    axes.text(column + 0.02, middle - 0.19, _short(task.name), fontsize=7, va="center")
    axes.text(column + 0.02, middle + 0.2, text, fontsize=6.5, va="center")
    return middle


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"


def _count(calls: int) -> str:
    return f"{calls:,} call{'s' if calls != 1 else ''}"


def _seconds(value: float) -> str:
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.4g} s"
