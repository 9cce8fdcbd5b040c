"""Ways to spoil a file: by single bits, and by hand."""

from collections.abc import Callable
from pathlib import Path

import h5py


def flip_bit(path: Path, bit: int) -> None:
    """Flip one bit of a file; a second time mends it."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def spread_bits(path: Path, count: int) -> list[int]:
    """Choose bits of a file at even distances, and at all places within their bytes."""
    bits = 8 * path.stat().st_size
    return [bits * n // count + 37 * n % 8 for n in range(count)]


def edit_by_hand(path: Path, edit: Callable[[h5py.File], None]) -> None:
    """Change a file with a program that knows nothing of checksums, and leave it without them."""
    with h5py.File(path, "r+") as file:
        edit(file)
        del file.attrs["checksums"]
