"""The profile of a flow: in wall units, over planes, or on the centre lines."""

from collections.abc import Sequence
from pathlib import Path

from octools.flow import FlowSnapshot
from octools.flow_figures import (
    CHANNEL_REFERENCE,
    CHANNELS,
    PLANE_MEANS,
    STRESSES,
    centre_line_references,
    channel_errors,
    flow_title,
    in_wall_units,
    read_reference,
    read_table,
    save_centre_lines,
    save_channel,
    save_plane_means,
    wall_shear,
)
from octools.snapshot import Array


def profile_flow(path: Path, references: Sequence[Path], destination: Path) -> list[str]:
    """Draw the profile of a flow, and tell its numbers in lines of text.

    Parameters
    ----------
    path
        A snapshot; statistics lie beside it, if there are some.
    references
        Tables of reference data: one for a channel, up to two for centre lines.
    destination
        The picture.
    """
    snapshot = FlowSnapshot.read(path)
    statistics = path.parent / "profiles.csv"
    if not statistics.is_file():
        errors = save_centre_lines(snapshot, centre_line_references(references), destination)
        return [
            "velocities on the lines through the middle",
            *(f"largest difference in {name}: {error:.4g}" for name, error in errors.items()),
        ]
    profile = read_table(statistics, *PLANE_MEANS, *STRESSES)
    if snapshot.is_channel and wall_shear(profile, snapshot.viscosity) > 0:
        return _profile_channel(profile, snapshot.viscosity, references, destination)
    save_plane_means(profile, flow_title(snapshot), destination)
    return [
        "means over planes of constant z, in the run's units: there are wall units only between "
        "walls at rest with a flow along x"
    ]


def _profile_channel(
    profile: dict[str, Array], viscosity: float, references: Sequence[Path], destination: Path
) -> list[str]:
    wall = in_wall_units(profile, viscosity)
    reference = read_reference(references[0], *CHANNEL_REFERENCE) if references else None
    source = CHANNELS.get(references[0].name, references[0].stem) if references else ""
    save_channel(wall, reference, destination, source)
    velocity, reynolds = wall["friction"]
    errors = channel_errors(wall, reference) if reference else {}
    return [
        f"friction velocity {velocity:.6g}, Re_tau {reynolds:.6g}",
        *(f"largest difference in {name}: {100 * off:.3g} %" for name, off in errors.items()),
    ]
