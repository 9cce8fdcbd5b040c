"""Movies: one frame per file of a series, with a common colour scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.figure import Figure

from octools.constant import constant_value
from octools.errors import OctoolsError
from octools.figure import (
    STYLE,
    Picture,
    draw,
    new_figure,
    picture_field,
    reference_scale,
    render,
)
from octools.files import whole_file
from octools.flow import FlowSnapshot
from octools.flow_figures import (
    FlowSlice,
    draw_slice,
    flow_scale,
    slice_figure,
    slice_limits,
    slice_values,
)
from octools.run import file_word
from octools.snapshot import Snapshot

FRAME_DPI = 110


def default_name(picture: Picture | FlowSlice) -> str:
    """Name the movie: MP4 where ffmpeg is installed, else GIF."""
    kind = picture.kind if isinstance(picture, Picture) else "slice"
    return f"movie_{file_word(picture.field)}_{kind}_{picture.axis}.{movie_suffix()}"


def movie_suffix() -> str:
    """Return the format of movies: mp4 where ffmpeg is installed, else gif."""
    return "mp4" if FFMpegWriter.isAvailable() else "gif"


def colour_limits(paths: Sequence[Path], picture: Picture) -> tuple[float | None, float | None]:
    """Find the least and greatest value (positive ones for logarithmic colours) in all frames.

    None for both if the field has the same value in all of them.
    """
    low, high, scale = np.inf, -np.inf, 0.0
    signed = False
    for path in paths:
        with Snapshot(path, may_be_slice=True) as snapshot:
            field = picture_field(snapshot, picture)
            values = render(snapshot, picture, field).values
            signed = field.signed
            scale = max(scale, reference_scale(snapshot, picture))
        values = values[np.isfinite(values) & ((values > 0) | (not picture.log))]
        low = min(low, float(values.min(initial=np.inf)))
        high = max(high, float(values.max(initial=-np.inf)))
    if low > high:
        raise OctoolsError(f"{picture.field} has no values in the range of the colour scale")
    if picture.limits == (None, None) and constant_value(np.array([low, high]), scale) is not None:
        return picture.limits  # so that each frame says so
    if signed and not picture.log:
        high = max(-low, high)
        low = -high
    return (
        low if picture.limits[0] is None else picture.limits[0],
        high if picture.limits[1] is None else picture.limits[1],
    )


def save_movie(
    paths: Sequence[Path],
    picture: Picture,
    output: Path,
    rate: int,
    progress: Callable[[int], None] = lambda frame: None,
) -> None:
    """Write a movie.

    Parameters
    ----------
    paths
        The snapshots, in order.
    picture
        What each frame shows.
    output
        ``.gif``, or ``.mp4`` where ffmpeg is installed.
    rate
        Frames per second.
    progress
        Called with the number of frames that are done.
    """
    writer = _writer(output, rate)
    same = replace(picture, limits=colour_limits(paths, picture))
    figure: Figure | None = None
    with whole_file(output, output.suffix) as beside:
        for number, path in enumerate(paths):
            with Snapshot(path, may_be_slice=True) as snapshot:
                field = picture_field(snapshot, picture)
                if figure is None:
                    figure = new_figure(snapshot, same)
                    _begin(writer, figure, beside)
                draw(figure, snapshot, same, field, render(snapshot, same, field))
                writer.grab_frame()
            progress(number + 1)
        writer.finish()


def save_flow_movie(
    paths: Sequence[Path],
    what: FlowSlice,
    output: Path,
    rate: int,
    progress: Callable[[int], None] = lambda frame: None,
) -> None:
    """Write a movie of slices of an incompressible flow; arguments as those of save_movie."""
    writer = _writer(output, rate)
    low, high, scale = np.inf, -np.inf, 0.0
    for path in paths:
        snapshot = FlowSnapshot.read(path, may_be_slice=True)
        values, _ = slice_values(snapshot, what)
        scale = max(scale, flow_scale(snapshot, what))
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    least, most = slice_limits(what, low, high)
    same = replace(what, limits=(low if least is None else least, high if most is None else most))
    if what.limits == (None, None) and constant_value(np.array([low, high]), scale) is not None:
        same = what  # each frame says so
    figure: Figure | None = None
    with mpl.rc_context(STYLE), whole_file(output, output.suffix) as beside:
        for number, path in enumerate(paths):
            snapshot = FlowSnapshot.read(path, may_be_slice=True)
            if figure is None:
                figure = slice_figure(snapshot, same)
                _begin(writer, figure, beside)
            figure.clear()
            draw_slice(figure, snapshot, same)
            writer.grab_frame()
            progress(number + 1)
        writer.finish()


def save_frames(
    figure: Figure,
    count: int,
    draw_frame: Callable[[Figure, int], None],
    output: Path,
    rate: int,
) -> None:
    """Write a movie whose frames are drawn by a function.

    Parameters
    ----------
    figure
        Figure of the size of a frame, which is cleared before each frame.
    count
        Number of frames.
    draw_frame
        Draws a frame, given the figure and the number of the frame.
    output, rate
        As those of save_movie.
    """
    writer = _writer(output, rate)
    with whole_file(output, output.suffix) as beside:
        _begin(writer, figure, beside)
        for number in range(count):
            figure.clear()
            draw_frame(figure, number)
            writer.grab_frame()
        writer.finish()


def _writer(output: Path, rate: int) -> PillowWriter | FFMpegWriter:
    suffix = output.suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise OctoolsError(
            f"cannot write a movie as '{output.name}'; the name must end in .gif or .mp4"
        )
    if suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise OctoolsError(
            f"{output.name} requires ffmpeg, which is not installed; write a .gif instead"
        )
    return PillowWriter(fps=rate) if suffix == ".gif" else FFMpegWriter(fps=rate)


def _begin(writer: PillowWriter | FFMpegWriter, figure: Figure, output: Path) -> None:
    try:
        writer.setup(figure, str(output), dpi=FRAME_DPI)
    except OSError as cause:
        raise OctoolsError(f"cannot write {output}: {cause}") from cause
