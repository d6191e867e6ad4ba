"""Code lists, by release of the rules and by syntax.

A list is a file in the folder `codelists` of a rule set: a table with the columns `code`, `since`, `until` and,
if the lists of UBL and CII differ, `syntax` (`ubl` or `cii`). A code is part of the list from release `since`
to before `until`; an empty cell means no bound. All rule sets can use the list. A file of the same name in its folder
`names` has the columns `code` and `name`: what people write instead of the code, such as "Deutschland". A name
of several codes has a row for each, the most probable code first.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TypeAlias

from einvoice import cache
from einvoice.resources import RuleData, shipped

FOLDER = "codelists"
NAMES = "names"
COLUMNS = ["code", "since", "until"]
_PART = re.compile("([0-9]+)([a-z]*)")

Release: TypeAlias = tuple[tuple[int, str], ...]


@functools.cache
def codes(
    name: str, version: str | None = None, syntax: str | None = None, data: RuleData | None = None
) -> frozenset[str]:
    """Return the codes of a list, such as `currencies`.

    Args:
        name: of the list.
        version: release of its rule set (`1.3.16`); None is the newest.
        syntax: `ubl` or `cii`; None means both.
        data: rule data with the list; None is the shipped one.

    Raises:
        LookupError: unknown list.
    """
    return frozenset(ordered(name, version, syntax, data))


@functools.cache
def ordered(
    name: str, version: str | None = None, syntax: str | None = None, data: RuleData | None = None
) -> tuple[str, ...]:
    """Return the codes of a list as `codes` does, but in the order of the official list."""
    path = _file(name, data or shipped())
    header, *rows = cache.table(path) or [[]]
    if header[:3] != COLUMNS:
        raise LookupError(f"the code list '{path.stem}' must have the columns {', '.join(COLUMNS)}")
    in_force = [row for row in rows if holds(row[1], row[2], version)]
    if syntax and "syntax" in header:
        column = header.index("syntax")
        in_force = [row for row in in_force if row[column : column + 1] in ([], [""], [syntax.lower()])]
    return tuple([row[0] for row in in_force])


@functools.cache
def by_name(
    name: str, version: str | None = None, syntax: str | None = None, data: RuleData | None = None
) -> dict[str, str]:
    """Return the code of a list that a text most probably means, by the text as `folded`; see `meanings`."""
    return {text: meant[0] for text, meant in meanings(name, version, syntax, data).items()}


@functools.cache
def meanings(
    name: str, version: str | None = None, syntax: str | None = None, data: RuleData | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the codes of a list that a text can mean, the most probable one first, by the text as `folded`.

    The text is a name of the codes, or a code itself in any spelling. A name wins over another spelling of a code:
    "Stk" is a piece (H87 or C62), not the code STK.
    """
    known = codes(name, version, syntax, data)
    path = _file(name, data or shipped())
    file = path.parent / NAMES / path.name
    _, *rows = (line.split(",", 1) for line in file.read_text("utf-8").splitlines()) if file.exists() else [[]]
    named: dict[str, dict[str, None]] = {}
    for code, it in rows:
        if code in known:
            named.setdefault(folded(it), {})[code] = None
    return {folded(code): (code,) for code in known} | {text: tuple(meant) for text, meant in named.items()}


def folded(text: str) -> str:
    """Return a text without blanks, in lower case.

    >>> folded(" Eur\u00a0")
    'eur'
    """
    return "".join(text.split()).casefold()


@functools.cache
def ruleset_of(name: str, data: RuleData | None = None) -> str:
    """Return the name of the rule set that has the list; raise `LookupError` for an unknown list."""
    return _file(name, data or shipped()).parent.parent.name


def names(data: RuleData | None = None) -> frozenset[str]:
    """Return the names of all lists."""
    return frozenset(path.stem for path in (data or shipped()).files(f"{FOLDER}/*.csv"))


def _file(name: str, data: RuleData) -> Path:
    for folder in data.sets.values():
        path = folder / FOLDER / f"{name}.csv"
        if path.is_file():
            return path
    raise LookupError(f"unknown code list '{name}'")


def holds(since: str, until: str, version: str | None) -> bool:
    """Return whether `version` is in the range from `since` to before `until`; None is the newest.

    >>> holds("1.3.7", "1.3.10", "1.3.9"), holds("", "1.3.10", "1.3.10"), holds("", "1.3.10", None)
    (True, False, False)
    """
    if not since and not until:
        return True
    if version is None:
        return not until
    release = _release(version)
    return (not since or _release(since) <= release) and (not until or release < _release(until))


@functools.cache
def _release(version: str) -> Release:
    """Return a sort key for a release: 1.3.6a comes after 1.3.6 and before 1.3.7."""
    return tuple((int(number), letters) for number, letters in _PART.findall(version))
