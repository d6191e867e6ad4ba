"""Code lists: which codes a list has, in a release of the rules and in a syntax.

A list is a file of ``rules/codelists``: a table with the columns ``code``, ``since``, ``until`` and, where UBL and
CII have different lists, ``syntax`` (``ubl`` or ``cii``). A code holds from the release ``since`` on and no longer in
``until``; an empty cell is no bound.
"""

from __future__ import annotations

import csv
import functools
import re
from typing import TypeAlias

from einvoice.resources import rules_folder

_COLUMNS = ["code", "since", "until"]
_PART = re.compile("([0-9]+)([a-z]*)")

Release: TypeAlias = tuple[tuple[int, str], ...]


@functools.cache
def codes(name: str, version: str | None = None, syntax: str | None = None) -> frozenset[str]:
    """The codes of a list, such as ``currencies``.

    ``version`` is a release of the rules (``1.3.16``), None the newest; ``syntax`` is ``ubl`` or ``cii``, None both.
    Raises ``LookupError`` for a list that there is not.
    """
    return frozenset(ordered(name, version, syntax))


@functools.cache
def ordered(name: str, version: str | None = None, syntax: str | None = None) -> tuple[str, ...]:
    """The codes of a list as ``codes`` has them, in the order of the official list."""
    syntax = syntax.lower() if syntax else None
    return tuple(
        row["code"]
        for row in _rows(name)
        if holds(row["since"], row["until"], version) and (not syntax or row.get("syntax") in (None, "", syntax))
    )


@functools.cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    path = rules_folder() / "codelists" / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = csv.DictReader(file, strict=True)
            rows = tuple(table)
    except FileNotFoundError:
        raise LookupError(f"there is no code list '{name}'") from None
    if (table.fieldnames or [])[:3] != _COLUMNS:
        raise LookupError(f"the code list '{name}' needs the columns {', '.join(_COLUMNS)}")
    return rows


def holds(since: str, until: str, version: str | None) -> bool:
    """Whether what holds from one release on and no longer in another holds in ``version``; None is the newest.

    >>> holds("1.3.7", "1.3.10", "1.3.9"), holds("", "1.3.10", "1.3.10"), holds("", "1.3.10", None)
    (True, False, False)
    """
    if version is None:
        return not until
    release = _release(version)
    return (not since or _release(since) <= release) and (not until or release < _release(until))


@functools.cache
def _release(version: str) -> Release:
    """A release as something to order by: 1.3.6a comes after 1.3.6 and before 1.3.7."""
    return tuple((int(number), letters) for number, letters in _PART.findall(version))
