"""Ways to spoil a file: by single bits, and by hand."""

import random
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


def edit_by_hand(path: Path, edit: Callable[[h5py.File], None]) -> None:
    """Change a file with a program that has no checksums, and leave it without them."""
    with h5py.File(path, "r+") as file:
        edit(file)
        del file.attrs["checksums"]


def dataset_extents(path: Path) -> list[tuple[int, int]]:
    """Place and size of all datasets of a file, in bytes."""
    extents = []

    def visit(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.size:
            extents.append((item.id.get_offset(), item.nbytes))

    with h5py.File(path) as file:
        file.visititems(visit)
    return extents


def chosen_bits(path: Path, count: int, chance: random.Random) -> list[int]:
    """Choose bits, half of them in datasets: each dataset is as likely as any other."""
    extents = dataset_extents(path)
    bits = []
    for n in range(count):
        place, size = chance.choice(extents) if n % 2 else (0, path.stat().st_size)
        bits.append(8 * place + chance.randrange(8 * size))
    return bits
