"""Commands for plots and movies of fields.

Here as in the other modules of commands, what takes long to import is imported by the commands
themselves: `-h` has to be quick.
"""

from collections.abc import Callable
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from octools.options import Axis, Number, Output, Target, console
from octools.run import SNAPSHOTS, file_word, output_path, resolve, snapshots

if TYPE_CHECKING:
    from octools.figure import Picture
    from octools.flow_figures import FlowSlice


class Kind(StrEnum):
    """Types of image."""

    slice = "slice"
    projection = "projection"


class Weight(StrEnum):
    """Quantities that a phase diagram distributes over bins."""

    mass = "mass"
    volume = "volume"


KindOption = Annotated[Kind, typer.Option("--kind", help="Slice, or projection along the axis.")]
AxisOption = Annotated[
    Axis, typer.Option("--axis", help="Normal of the slice, or direction of the projection.")
]
Position = Annotated[
    float | None,
    typer.Option(
        help="Position of a slice along its normal, in the unit of the axes. (default: the centre)"
    ),
]
Centre = Annotated[
    tuple[float, float, float] | None,
    typer.Option(help="Centre of the plot. (default: the problem's centre, or the domain's)"),
]
Width = Annotated[
    float | None,
    typer.Option(help="Side length of the plotted region. (default: the whole domain)"),
]
Mean = Annotated[
    bool, typer.Option("--mean", help="Mass-weighted mean instead of the column density.")
]
Log = Annotated[bool, typer.Option("--log", help="Logarithmic colour scale.")]
Outlines = Annotated[
    bool, typer.Option("--outlines", help="Outlines of the mesh blocks, coloured by level.")
]
Low = Annotated[float | None, typer.Option("--min", help="Lower limit of the colour scale.")]
High = Annotated[float | None, typer.Option("--max", help="Upper limit of the colour scale.")]
Colours = Annotated[str | None, typer.Option(help="Name of a matplotlib colour map.")]


def _picture(
    field: Annotated[
        str | None,
        typer.Option("--field", "-f", help="A field, a formula of fields, or particles."),
    ] = None,
    kind: KindOption = Kind.slice,
    axis: AxisOption = Axis.z,
    position: Position = None,
    mean: Mean = False,
    log: Log = False,
    outlines: Outlines = False,
    low: Low = None,
    high: High = None,
    colours: Colours = None,
    centre: Centre = None,
    width: Width = None,
) -> "Picture":
    """Describe a picture by options; a field that is not given stays empty."""
    from octools.figure import Picture

    limits = (low, high)
    return Picture(
        field or "", kind.value, axis.value, position, mean, log, outlines, limits, colours,
        centre, width,
    )  # fmt: skip


def _slice_of(picture: "Picture") -> "FlowSlice":
    """Return what a picture of an incompressible flow needs of these options."""
    from octools.flow_figures import FlowSlice

    field = picture.field or "speed"
    return FlowSlice(field, picture.axis, picture.position, picture.limits, picture.colours)


def _with_picture_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the options of `_picture` in place of its parameter `picture`."""
    options = signature(_picture).parameters
    own = [p for name, p in signature(command).parameters.items() if name != "picture"]

    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in options}
        command(**given, picture=_picture(**chosen))

    every = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*own, *options.values())]
    run.__signature__ = Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in every}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


@_with_picture_options
def plot(
    target: Target, picture: "Picture", snapshot: Number = None, output: Output = None
) -> None:
    """Plot a slice or a projection."""
    from octools.constant import range_text
    from octools.figure import picture_field, reference_scale, save_plot
    from octools.flow import FlowSnapshot, is_flow
    from octools.flow_figures import flow_scale, save_slice
    from octools.snapshot import Snapshot

    path = resolve(target, snapshot)
    if is_flow(path):
        flow = FlowSnapshot.read(path, may_be_slice=True)
        what = _slice_of(picture).in_plane(flow.plane)
        destination = output or output_path(target, f"{path.stem}_{what.field}_{what.axis}.png")
        values = save_slice(flow, what, destination)
        console.print(f"{what.field}: {range_text(values, flow_scale(flow, what))}")
        console.print(f"wrote {destination}")
        return
    with Snapshot(path, may_be_slice=True) as data:
        picture = picture.of(data.header)
        name = f"{path.stem}_{file_word(picture.field)}_{picture.kind}_{picture.axis}.png"
        destination = output or output_path(target, name)
        image = save_plot(data, picture, picture_field(data, picture), destination)
        span = range_text(image.values, reference_scale(data, picture))
    console.print(f"{picture.field}: {span}\nwrote {destination}")


@_with_picture_options
def movie(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    picture: "Picture",
    rate: Annotated[int, typer.Option(min=1, max=1000, help="Frames per second.")] = 10,
    series: Annotated[
        str, typer.Option(help="File series: snap, coarse or a slice such as slice_z0.5.")
    ] = SNAPSHOTS,
    output: Output = None,
) -> None:
    """Make a movie of all snapshots or slices of a run, with one colour scale."""
    from rich.progress import Progress

    from octools.flow import FlowSnapshot, is_flow
    from octools.flow_figures import FlowSlice
    from octools.movie import default_name, save_flow_movie, save_movie
    from octools.snapshot import Snapshot

    paths = list(snapshots(run, series).values())
    what: FlowSlice | Picture
    if is_flow(paths[0]):
        what = _slice_of(picture).in_plane(FlowSnapshot.read(paths[0], may_be_slice=True).plane)
    else:
        with Snapshot(paths[0], may_be_slice=True) as first:
            what = picture.of(first.header)
    destination = output or output_path(run, default_name(what))
    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("frames", total=len(paths))

        def progress(frame: int) -> None:
            bar.update(task, completed=frame)

        if isinstance(what, FlowSlice):
            save_flow_movie(paths, what, destination, rate, progress)
        else:
            save_movie(paths, what, destination, rate, progress)
    console.print(f"{len(paths)} frames\nwrote {destination}")


def phase(
    target: Target,
    x: Annotated[str, typer.Option(help="Field or formula. (default: density)")] = "",
    y: Annotated[
        str,
        typer.Option(help="Vertical axis. (default: temperature, else internal energy)"),
    ] = "",
    weight: Annotated[Weight, typer.Option(help="Field that weights the histogram.")] = Weight.mass,
    snapshot: Number = None,
    output: Output = None,
) -> None:
    """Plot the distribution of gas mass in density and temperature, or other fields."""
    from octools.fields import as_shown, find_field
    from octools.phase import phase_diagram, save_phase
    from octools.snapshot import Snapshot

    path = resolve(target, snapshot)
    with Snapshot(path) as data:
        header = data.header
        x = x or ("overdensity" if header.expands else "density")
        y = y or ("temperature" if header.has_units else "internal_energy")
        fields = [as_shown(find_field(data, name), header) for name in (x, y)]
        found = phase_diagram(data, *fields, weight.value)
    words = "_".join(file_word(field) for field in (x, y))
    destination = output or output_path(target, f"{path.stem}_phase_{words}.png")
    save_phase(found, f"{header.name(path)}   {header.when}", destination)
    for field, mean in zip((x, y), found.means, strict=True):
        console.print(f"mean {field} by {weight.value}: {mean:.6g}")
    console.print(f"wrote {destination}")
