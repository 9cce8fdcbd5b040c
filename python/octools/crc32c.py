"""Checksums CRC-32C (Castagnoli), which the program stores of the data files of a run."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
BITS = np.arange(32, dtype=np.uint32)


@cache
def _table() -> Words:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(0x82F63B78), values >> 1)
    return values


def _advance(states: Words, columns: NDArray[np.uint8]) -> Words:
    """Return the states after the bytes of each row; zero bytes if there is one row of them."""
    table = _table()
    for column in columns.T:
        states = table[(states ^ column) & 0xFF] ^ (states >> 8)
    return states


def crc32c(data: bytes) -> int:
    """Return the checksum of bytes."""
    width = max(1, int(len(data) ** 0.5))
    whole = np.frombuffer(data, np.uint8, len(data) // width * width).reshape(-1, width)
    rest = np.frombuffer(data, np.uint8)[whole.size :]
    # Rows are processed together, and combined by the effect of `width` zero bytes on each bit.
    rows = _advance(np.zeros(len(whole), np.uint32), whole)
    shifted = _advance(np.uint32(1) << BITS, np.zeros((1, width), np.uint8))
    state = np.uint32(0xFFFFFFFF)
    for row in rows:
        state = np.bitwise_xor.reduce(shifted[(state >> BITS) & 1 == 1]) ^ row
    return int(_advance(np.array([state]), rest[None, :])[0]) ^ 0xFFFFFFFF
