"""Subsets of a result set: by mask, by names, by facts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from einvoice.bulk.patterns import check
from einvoice.bulk.record import FACTS, FileResult


def positions(key: Iterable[Any], names: Mapping[str, int], size: int) -> list[int]:
    """Return the positions that a mask, filenames or positions select.

    A pandas mask is applied in the order of its index, as that of a table that has been sorted since; a missing value
    selects nothing.

    Raises:
        IndexError: the mask has another length.
        KeyError: there is no file with a name.
    """
    selected = list(key)
    if all(isinstance(it, str) for it in selected):
        return [names[name] for name in selected]
    if all(_is_position(it) for it in selected):
        return [operator.index(it) for it in selected]
    if hasattr(key, "sort_index"):
        selected = list(key.sort_index())
    if len(selected) != size:
        raise IndexError(f"the mask has {len(selected)} values for {size} files")
    return [position for position, it in enumerate(selected) if _is_true(it)]


def _is_position(value: Any) -> bool:
    return hasattr(value, "__index__") and not type(value).__name__.startswith("bool")  # also of numpy


def _is_true(value: Any) -> bool:
    try:
        return bool(value)
    except TypeError:  # a missing value of pandas
        return False


def predicate(function: Callable[[FileResult], Any] | None, facts: Mapping[str, Any]) -> Callable[[FileResult], bool]:
    """Return whether a file matches; see `ResultSet.filter`.

    Raises:
        ValueError: there is no such fact.
    """
    for name in facts:
        check("fact", name, sorted(FACTS))

    def is_match(file: FileResult) -> bool:
        if function is not None and not function(file):
            return False
        return all(_equals(getattr(file, name), wanted) for name, wanted in facts.items())

    return is_match


def _equals(fact: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and isinstance(fact, str):
        return fnmatchcase(fact, wanted)
    if isinstance(wanted, list | tuple | set | frozenset):
        return any(_equals(fact, it) for it in wanted)
    return bool(fact == wanted)
