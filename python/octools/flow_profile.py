"""Profiles of a flow: in wall units, averaged over planes, or on the centre lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py

from octools.errors import reading
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

ENOUGH_TURNOVERS = 10.0  # times h / u_tau over which means and fluctuations of a channel converge


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
            "velocities on the lines through the centre",
            *(f"maximum difference in {name}: {error:.4g}" for name, error in errors.items()),
        ]
    profile = read_table(statistics, *PLANE_MEANS, *STRESSES)
    averaged = Averaging.read(path.parent / "statistics.h5")
    if snapshot.is_channel and wall_shear(profile, snapshot.viscosity) > 0:
        return _profile_channel(profile, snapshot.viscosity, references, destination, averaged)
    save_plane_means(profile, flow_title(snapshot), destination)
    return [
        *([] if averaged is None else [str(averaged)]),
        "means over planes of constant z, in code units; wall units require a flow along x "
        "between walls at rest",
    ]


@dataclass(frozen=True)
class Averaging:
    """Samples over which statistics are averaged: their number, and the first and last times."""

    samples: int
    first: float
    last: float

    @classmethod
    def read(cls, path: Path) -> Averaging | None:
        """Read the header of statistics.h5; None where there is no such file."""
        if not path.is_file():
            return None
        with reading(path, "file of statistics"), h5py.File(path) as file:
            header = file["header"].attrs
            if "samples" not in header:
                return None
            times = (float(header[f"{which}_time"]) for which in ("first", "last"))
            return cls(int(header["samples"]), *times)

    def __str__(self) -> str:
        """Return the samples as one line of text."""
        return f"means over {self.samples} samples, t = {self.first:.4g} to {self.last:.4g}"

    def in_turnovers(self, wall: dict[str, Array], profile: dict[str, Array]) -> float:
        """Return the time averaged over in turnover times h / u_tau of a channel."""
        height = profile["z"][0] + profile["z"][-1]
        return float((self.last - self.first) * wall["friction"][0] / (0.5 * height))


def _sampling(averaged: Averaging, turnovers: float) -> list[str]:
    """Describe the averaging time of a channel, and warn if it is too short."""
    lines = [f"{averaged}, {turnovers:.3g} h/u_tau"]
    if turnovers < ENOUGH_TURNOVERS:
        lines.append(
            f"too few samples: channel statistics converge over about {ENOUGH_TURNOVERS:g} "
            "h/u_tau; continue the run with a later time.end and --restart latest"
        )
    return lines


def _profile_channel(
    profile: dict[str, Array],
    viscosity: float,
    references: Sequence[Path],
    destination: Path,
    averaged: Averaging | None,
) -> list[str]:
    wall = in_wall_units(profile, viscosity)
    turnovers = None if averaged is None else averaged.in_turnovers(wall, profile)
    reference = read_reference(references[0], *CHANNEL_REFERENCE) if references else None
    source = CHANNELS.get(references[0].name, references[0].stem) if references else ""
    save_channel(wall, reference, destination, source, turnovers)
    velocity, reynolds = wall["friction"]
    errors = channel_errors(wall, reference) if reference else {}
    return [
        f"friction velocity {velocity:.6g}, Re_tau {reynolds:.6g}",
        *([] if averaged is None or turnovers is None else _sampling(averaged, turnovers)),
        *(f"maximum difference in {name}: {100 * off:.3g} %" for name, off in errors.items()),
    ]
