"""Pairs the groups and values of two invoices that mean the same thing."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from einvoice.comparison.content import Entry, Part

T = TypeVar("T")

Pair: TypeAlias = tuple[T | None, T | None]

#: Number of pairs up to which the most similar groups are searched; of more, the groups are paired in their order.
_SEARCHED: Final = 2_500


def pairs_of_parts(first: Sequence[Part], second: Sequence[Part]) -> Iterator[Pair[Part]]:
    """Yield each group of two invoices once, beside the one that it corresponds to; None if there is none.

    Groups with the same content come first, then lines that differ only in their number, as after an inserted one,
    then those with the same number; of other groups, those that share the most values.
    """
    for group in dict.fromkeys(part.group for part in (*first, *second)):
        rest = [[part for part in parts if part.group == group] for parts in (first, second)]
        yield from _equal(rest, Part.key)
        if group == "BG-25":
            yield from _equal(rest, lambda part: part.key("BT-126"))
            yield from _equal(rest, lambda part: part.first("BT-126"))
        else:
            yield from _similar(*rest)
        yield from ((part, None) for part in rest[0])
        yield from ((None, part) for part in rest[1])


def _equal(rest: list[list[Part]], key: Callable[[Part], Any]) -> Iterator[Pair[Part]]:
    """Yield the pairs with the same key, in order, and remove them from `rest`."""
    waiting: defaultdict[Hashable, deque[Part]] = defaultdict(deque)
    for part in rest[1]:
        waiting[key(part)].append(part)
    unpaired = []
    for part in rest[0]:
        found = waiting.get(key(part))
        if found:
            yield part, found.popleft()
        else:
            unpaired.append(part)
    left = {id(part) for parts in waiting.values() for part in parts}
    rest[:] = unpaired, [part for part in rest[1] if id(part) in left]


def _similar(first: list[Part], second: list[Part]) -> Iterator[Pair[Part]]:
    """Yield the pairs that share the most values, then those that share none, in order; remove them from the lists."""
    while first and second:
        here, there = first[0], second[0]
        if len(first) * len(second) <= _SEARCHED:
            here, there = max(((a, b) for a in first for b in second), key=lambda pair: _shared(*pair))
        first.remove(here)
        second.remove(there)
        yield here, there


def _shared(first: Part, second: Part) -> int:
    return len({it.key for it in first.entries} & {it.key for it in second.entries})


def pairs_of_entries(first: Iterable[Entry], second: Iterable[Entry]) -> Iterator[Pair[Entry]]:
    """Yield each value once, beside the one of the same name: the same content first, then in order."""
    second = list(second)
    waiting: defaultdict[Hashable, deque[Entry]] = defaultdict(deque)
    for entry in second:
        waiting[entry.key].append(entry)
    changed: defaultdict[str, deque[Entry]] = defaultdict(deque)
    for entry in first:
        if found := waiting.get(entry.key):
            yield entry, found.popleft()
        else:
            changed[entry.name].append(entry)
    added = {id(entry) for entries in waiting.values() for entry in entries}
    for entry in second:
        if id(entry) in added:
            yield (changed[entry.name].popleft() if changed[entry.name] else None), entry
    yield from ((entry, None) for entries in changed.values() for entry in entries)
