"""Films: one frame per snapshot of a run, all with the same colours."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.figure import Figure

from octools.errors import OctoolsError
from octools.fields import find_field
from octools.figure import Picture, draw, new_figure, render
from octools.snapshot import Snapshot

FRAME_DPI = 110


def default_name(picture: Picture) -> str:
    """Name the film: MP4 where ffmpeg is installed, else GIF."""
    suffix = "mp4" if FFMpegWriter.isAvailable() else "gif"
    return f"movie_{picture.field}_{picture.kind}_{picture.axis}.{suffix}"


def colour_limits(paths: Sequence[Path], picture: Picture) -> tuple[float, float]:
    """Find the least and greatest value (positive ones for logarithmic colours) in all frames."""
    low, high = np.inf, -np.inf
    signed = False
    for path in paths:
        with Snapshot(path) as snapshot:
            field = find_field(snapshot, picture.field)
            values = render(snapshot, picture, field).values
            signed = field.signed
        values = values[np.isfinite(values) & ((values > 0) | (not picture.log))]
        low = min(low, float(values.min(initial=np.inf)))
        high = max(high, float(values.max(initial=-np.inf)))
    if low > high:
        raise OctoolsError(f"{picture.field} has no values that these colours can show")
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
    """Write a film.

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
    suffix = output.suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise OctoolsError(
            f"cannot write a film as '{output.name}'; the name must end .gif or .mp4"
        )
    if suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise OctoolsError(f"{output.name} needs ffmpeg, which is not installed; write a .gif")
    writer = PillowWriter(fps=rate) if suffix == ".gif" else FFMpegWriter(fps=rate)
    same = replace(picture, limits=colour_limits(paths, picture))
    figure: Figure | None = None
    for number, path in enumerate(paths):
        with Snapshot(path) as snapshot:
            field = find_field(snapshot, picture.field)
            if figure is None:
                figure = new_figure(snapshot, same)
                _begin(writer, figure, output)
            draw(figure, snapshot, same, field, render(snapshot, same, field))
            writer.grab_frame()
        progress(number + 1)
    writer.finish()


def _begin(writer: PillowWriter | FFMpegWriter, figure: Figure, output: Path) -> None:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        writer.setup(figure, str(output), dpi=FRAME_DPI)
    except OSError as cause:
        raise OctoolsError(f"cannot write {output}: {cause}") from cause
