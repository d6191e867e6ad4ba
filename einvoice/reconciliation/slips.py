"""Slips of a keyboard."""

from __future__ import annotations


def is_slip(one: str, other: str) -> bool:
    """Return whether two texts are equal but for one character changed, left out, added, or swapped with the next one.

    >>> [is_slip(it, "1234") for it in ("1234", "1334", "134", "12340", "2134", "4321")]
    [True, True, True, True, True, False]
    """
    shared = min(len(one), len(other))
    start = next((at for at in range(shared) if one[at] != other[at]), shared)
    left, right = one[start:], other[start:]
    is_swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or is_swapped
