"""Host or device: time and speed-up of offloaded kernels (cuRAMSES paper, eq. 13 and 14)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Offload:
    """Component whose kernels can run on a device.

    Attributes
    ----------
    total, fixed
        Work of all threads in seconds times threads: as a whole, and the part that remains on the
        host, where one thread is reserved for the device.
    kernel
        Seconds of the kernels on the device, with launches.
    volume
        Bytes copied between host and device.
    """

    total: float
    fixed: float
    kernel: float
    volume: float

    def host_seconds(self, threads: int) -> float:
        """Return the seconds without a device."""
        return self.total / threads

    def device_seconds(self, threads: int, bandwidth: float) -> float:
        """Return the seconds with a device, eq. 13; one of two or more threads serves it."""
        return self.fixed / (threads - 1) + self.kernel + self.volume / bandwidth

    def overlapped_seconds(self, threads: int, bandwidth: float) -> float:
        """Return the seconds if kernels overlap with the host part."""
        return max(self.fixed / (threads - 1), self.kernel) + self.volume / bandwidth

    def speed_up(self, threads: int, bandwidth: float) -> float:
        """Return S(r, B), eq. 14."""
        return self.host_seconds(threads) / self.device_seconds(threads, bandwidth)
