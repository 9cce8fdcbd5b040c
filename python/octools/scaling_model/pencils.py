"""Communication of incompressible flow in closed form: transposes, tridiagonal systems and halos.

A grid is divided among p_y x p_z ranks into pencils along x; rank y + p_y z has part y, z. Bytes
are those that a rank sends in one of the three stages of a step; they agree with the counts of
`octant bench dns`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from octools.scaling_model.machine import Machine

BYTES = 8
VELOCITIES = 3
HALO_FIELDS = 4  # velocity and pressure


@dataclass(frozen=True)
class Flow:
    """Incompressible flow on a process grid.

    Attributes
    ----------
    cells
        Cells along x, y and z.
    process_grid
        Ranks along y and z.
    method
        ``ptdma``: tridiagonal systems along z are solved in place, two planes are exchanged.
        ``ftm``: full transposes. ``ftm_z``: full transposes from pencils along z.
    implicit
        Implicit diffusion along z of three velocity components.
    """

    cells: tuple[int, int, int]
    process_grid: tuple[int, int]
    method: str
    implicit: bool = True

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return math.prod(self.process_grid)

    @property
    def cells_per_rank(self) -> float:
        """Cells of a rank."""
        return math.prod(self.cells) / self.ranks

    def bytes_in_y(self) -> float:
        """Return the bytes that a rank sends to ranks with the same part of z: x-y transposes."""
        return 2 * BYTES * self.cells_per_rank * _others(self.process_grid[0])

    def bytes_in_z(self) -> float:
        """Return the bytes that a rank sends to ranks with the same part of y."""
        along_y, along_z = self.process_grid
        solves = 1 + VELOCITIES * self.implicit
        if self.method == "ptdma":
            planes = 4 * BYTES * self.cells[0] * self.cells[1] / along_y
            return planes * solves * _others(along_z)
        transposes = {"ftm": 2 * solves, "ftm_z": 2 + 2 * self.implicit}[self.method]
        return transposes * BYTES * self.cells_per_rank * _others(along_z)

    def messages(self) -> float:
        """Return the messages of transposes and tridiagonal systems of a rank."""
        along_y, along_z = self.process_grid
        in_z = 4 if self.method == "ptdma" else 8 if self.method == "ftm" else 4
        if not self.implicit:
            in_z = 2
        return 2 * (along_y - 1) + in_z * (along_z - 1)

    def halo_bytes(self) -> float:
        """Return the bytes of a layer of ghost cells at the faces of a pencil."""
        nx, ny, nz = self.cells
        along_y, along_z = self.process_grid
        faces = (along_y > 1) * nx * nz / along_z + (along_z > 1) * nx * ny / along_y
        return 2 * BYTES * HALO_FIELDS * faces

    def seconds(self, machine: Machine, cell_seconds: float) -> dict[str, float]:
        """Return the seconds of a stage by part; `cell_seconds` are those of computing a cell."""
        along_y, along_z = self.process_grid
        return {
            "computation": cell_seconds * self.cells_per_rank,
            "x-y transposes": self._all_to_all(machine, self.bytes_in_y(), along_y, 1),
            "z exchanges": self._all_to_all(machine, self.bytes_in_z(), along_z, along_y),
            "halos": self.halo_bytes() * machine.ranks_per_node / machine.node_bytes_per_second,
            "messages": self.messages() * machine.message_seconds + 8 * machine.latency_seconds,
        }

    def _all_to_all(self, machine: Machine, size: float, group: int, stride: int) -> float:
        """Return the seconds of exchanges in groups of ranks whose numbers differ by a stride."""
        if group == 1:
            return 0.0
        local = max(1, min(group, machine.ranks_per_node // stride))
        leaving = size * (group - local) / (group - 1)
        rate = machine.all_to_all_bytes_per_second(self.ranks) / machine.ranks_per_node
        return leaving / rate + 2 * (size - leaving) / machine.memory_bytes_per_second


def _others(ranks: int) -> float:
    """Return the fraction of data that belongs to other ranks after a transpose."""
    return 1 - 1 / ranks
