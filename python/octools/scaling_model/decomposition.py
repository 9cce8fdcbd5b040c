"""Counts that follow from the division of a cubic box among ranks by the k-section.

The factors are those of `src/comm/rank_tree.hpp`; the longest side of a box is divided first
(cuRAMSES paper, eq. 1-2).
"""

from __future__ import annotations

import math

# Larger prime factors are replaced by halvings, as in the tree of ranks.
LARGEST_FACTOR = 7


def factors(ranks: int) -> list[int]:
    """Return the factors of the tree of ranks, in descending order."""
    found, rest, factor = [], ranks, 2
    while rest > 1:
        while rest % factor == 0:
            found.append(factor)
            rest //= factor
        factor += 1
    if found and max(found) > LARGEST_FACTOR:
        return [2] * math.ceil(math.log2(ranks))
    return sorted(found, reverse=True)


def tree_messages(ranks: int) -> int:
    """Return the messages of a rank in an exchange through the tree of ranks: sum of k - 1."""
    return sum(factor - 1 for factor in factors(ranks))


def parts(ranks: int) -> tuple[int, int, int]:
    """Return the number of parts along each axis of a cube that is divided among ranks."""
    count = [1, 1, 1]
    for factor in factors(ranks):
        count[count.index(min(count))] *= factor
    return count[0], count[1], count[2]


def surface(ranks: int) -> float:
    """Return the area that a rank shares with other ranks, over its volume to the power 2/3.

    The box is periodic. The value is 6 for cubes with six neighbours, and 0 for one rank.
    """
    lengths = [1 / count for count in parts(ranks)]
    area = sum(
        2 * math.prod(lengths) / length
        for length, count in zip(lengths, parts(ranks), strict=True)
        if count > 1
    )
    return area / math.prod(lengths) ** (2 / 3)


def neighbours(ranks: int) -> int:
    """Return the ranks that touch a rank by faces, edges or corners, in a periodic box."""
    return math.prod(min(count, 3) for count in parts(ranks)) - 1
