"""Command for binary stars."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from octools.options import Output, PlainConsole, console
from octools.run import output_path, snapshots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octools.binary_figure import Scales
    from octools.binary_star import BinaryState
    from octools.snapshot import Array

Item = TypeVar("Item")

TABLE_WIDTH = 120  # characters, also on narrower terminals

# Columns of the printed table, by headings.
PRINTED = {
    "orbits": "orbits",
    "separation": "separation",
    "M1": "lobe_1_mass",
    "M2": "lobe_2_mass",
    "q": "mass_ratio",
    "1 to 2": "mass_from_1_to_2",
    "2 to 1": "mass_from_2_to_1",
    "transfer rate": "transfer_rate",
    "J orbit": "orbital_angular_momentum",
    "spin 1": "spin_1",
    "spin 2": "spin_2",
}


class Potential(StrEnum):
    """Potentials that define the Roche lobes."""

    run = "run"
    points = "points"


def binary(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    potential: Annotated[
        Potential,
        typer.Option(
            help="Potential that defines the Roche lobes: that of the run, if snapshots contain "
            "it, or two point masses."
        ),
    ] = Potential.run,
    panels: Annotated[
        int, typer.Option(min=0, help="Number of snapshots in the density plot; 0: no plot.")
    ] = 6,
    width: Annotated[
        float,
        typer.Option(min=0.1, help="Side length of density plots in initial separations."),
    ] = 2.6,
    movie: Annotated[
        bool, typer.Option("--movie", help="Movie of the density in the orbital plane.")
    ] = False,
    rate: Annotated[int, typer.Option(min=1, help="Frames per second of the movie.")] = 10,
    average: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Interval over which rates are averaged, in initial orbital periods; 0: between "
            "the snapshots before and after.",
        ),
    ] = 0.0,
    rows: Annotated[int, typer.Option(min=1, help="Number of rows printed.")] = 20,
    output: Output = None,
) -> None:
    """Measure the orbit, masses and mass transfer of a binary star; write them as CSV, too."""
    from octools.binary_figure import Scales, save_curves
    from octools.binary_star import binary_table
    from octools.history import read_history
    from octools.snapshot import Snapshot
    from octools.table import write_table

    paths = list(snapshots(run).values())
    states = _measured(paths, potential is Potential.run)
    table = binary_table(states, average)
    with Snapshot(paths[0]) as first:
        header = first.header
    destination = output or output_path(run, "binary.png")
    write_table(table, destination.with_suffix(".csv"))
    history = read_history(run) if (run / "history.csv").is_file() else None
    name = header.name(paths[0])
    save_curves(table, history, header, name, destination)
    _print_rows(table, rows)
    _print_summary(table, states)
    console.print(f"wrote {destination} and {destination.with_suffix('.csv')}")
    scales = Scales(states[0].time, float(table["separation"][0]), _period(table))
    half_width = 0.5 * width * scales.separation
    if panels > 0:
        sheet = destination.with_name(f"{destination.stem}_density{destination.suffix}")
        _save_sheet(_evenly(states, panels), half_width, scales, name, sheet)
    if movie:
        _save_movie(states, half_width, scales, rate, destination)


def _measured(paths: Sequence[Path], with_potential: bool) -> "list[BinaryState]":
    from rich.progress import Progress

    from octools.binary_star import measure_binary
    from octools.snapshot import Snapshot

    screen, states = Console(stderr=True), []
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        for path in bar.track(paths, description="snapshots"):
            with Snapshot(path) as snapshot:
                states.append(measure_binary(snapshot, with_potential))
    return states


def _period(table: "Mapping[str, Array]") -> float:
    from math import pi

    return 2.0 * pi / float(table["angular_velocity"][0])


def _evenly(items: Sequence[Item], count: int) -> list[Item]:
    """Choose at most `count` items at equal distances, with the first and the last one."""
    from numpy import linspace, rint

    numbers = rint(linspace(0, len(items) - 1, min(count, len(items)))).astype(int)
    return [items[number] for number in numbers]


def _print_rows(table: "Mapping[str, Array]", count: int) -> None:
    shown = Table(box=None, pad_edge=False)
    for heading in PRINTED:
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in _evenly(range(len(table["time"])), count):
        shown.add_row(*(f"{table[name][row]:.5g}" for name in PRINTED.values()))
    wide = PlainConsole(highlight=False, width=max(console.width, TABLE_WIDTH))
    wide.print(shown)


def _print_summary(table: "Mapping[str, Array]", states: "Sequence[BinaryState]") -> None:
    import numpy as np

    last = int(np.flatnonzero(np.isfinite(table["separation"]))[-1])
    console.print(
        f"{table['orbits'][-1]:.4g} orbits of {_period(table):.6g}; separation "
        f"{table['separation'][0]:.5g} to {table['separation'][last]:.5g}, mass ratio "
        f"{table['mass_ratio'][0]:.5g} to {table['mass_ratio'][last]:.5g}"
    )
    without = [state for state in states if state.stars is None]
    if without:
        console.print(
            f"{len(without)} of {len(states)} snapshots have no Roche lobes, the first one at "
            f"t = {without[0].time:.6g}: the stars have merged or do not orbit each other"
        )


def _save_sheet(
    states: "Sequence[BinaryState]", half_width: float, scales: "Scales", title: str, path: Path
) -> None:
    from octools.binary_figure import orbital_image, save_density
    from octools.snapshot import Snapshot

    images = []
    for state in states:
        with Snapshot(state.path) as snapshot:
            header = snapshot.header
            images.append(orbital_image(snapshot, state, half_width))
    save_density(images, header, scales, title, path)
    console.print(f"wrote {path}")


def _save_movie(
    states: "Sequence[BinaryState]", half_width: float, scales: "Scales", rate: int, beside: Path
) -> None:
    from matplotlib.figure import Figure

    from octools.binary_figure import density_limits, draw_frame, orbital_image
    from octools.movie import movie_suffix, save_frames
    from octools.snapshot import Snapshot

    path = beside.with_name(f"movie_{beside.stem}.{movie_suffix()}")
    limits = (float("inf"), 0.0)
    for state in _evenly(states, 10):
        with Snapshot(state.path) as snapshot:
            low, high = density_limits([orbital_image(snapshot, state, half_width)])
        limits = min(limits[0], low), max(limits[1], high)

    def draw(figure: Figure, number: int) -> None:
        state = states[number]
        with Snapshot(state.path) as snapshot:
            image = orbital_image(snapshot, state, half_width)
            draw_frame(figure, image, snapshot.header, scales, limits)

    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    save_frames(figure, len(states), draw, path, rate)
    console.print(f"{len(states)} frames\nwrote {path}")
