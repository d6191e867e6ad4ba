"""Names of elements and attributes for the texts of syntax rules.

``elements.csv`` has a noun for each element, ``places.csv`` a phrase for each parent element. A row applies to paths
that end with its path; if several rows do, the longest path wins. Paths have no prefixes; one that begins with ``/`` or
``//`` must match as a whole.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from einvoice.errors import RuleError

_ARTICLES: Final = {"m": ("ein", "der"), "f": ("eine", "die"), "n": ("ein", "das")}
_PREFIX: Final = re.compile(r"[a-z]+:")
_CONDITION: Final = re.compile(r"\[\w+\]")


class Noun(NamedTuple):
    """A row of ``elements.csv``: the name of an element; ``de`` has the inflection used after "ein", but no article."""

    element: str
    gender: str
    de: str
    en: str
    instead: str
    term: str

    def words(self, language: str) -> dict[str, str]:
        """Return the values of the placeholders for this noun.

        >>> Noun("Postbox", "n", "Postfach", "PO box", "", "").words("de")
        {'noun': 'Postfach', 'a': 'ein Postfach', 'no': 'kein Postfach', 'the': 'das Postfach'}
        """
        if language == "en":
            return {"noun": self.en}
        a, the = _ARTICLES[self.gender]
        definite = self.de if the == "die" else _weak(self.de)
        return {"noun": self.de, "a": f"{a} {self.de}", "no": f"k{a} {self.de}", "the": f"{the} {definite}"}


def _weak(noun: str) -> str:
    """Return the noun with its leading adjective, if any, in the form after "der" and "das".

    >>> _weak("abweichender Name"), _weak("eigenes Feld"), _weak("Name des Feldes")
    ('abweichende Name', 'eigene Feld', 'Name des Feldes')
    """
    first, blank, rest = noun.partition(" ")
    return f"{first[:-1]} {rest}" if blank and first.islower() and first.endswith(("er", "es")) else noun


class Place(NamedTuple):
    """A row of ``places.csv``: the name of a parent element; ``de`` with its preposition, ``en`` without."""

    place: str
    de: str
    en: str
    term: str
    section: str
    instead: str


Row = TypeVar("Row", bound=tuple[Any, ...])


class Names(Generic[Row]):
    """The rows of a file of names, by path."""

    def __init__(self, file: Path, row: type[Row]) -> None:
        self.file = file
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [row(**entry) for entry in csv.DictReader(lines)]
        self._rows: Mapping[str, Row] = {entry[0]: entry for entry in rows}

    def __getitem__(self, path: str) -> Row:
        """Return the row for a path. Raise ``RuleError`` if it has no name."""
        plain: str = _PREFIX.sub("", path)
        for candidate in (*_endings(plain), *_endings(_CONDITION.sub("", plain))):
            if candidate in self._rows:
                return self._rows[candidate]
        raise RuleError(f"has no name for '{path}'", file=f"{self.file.parent.name}/{self.file.name}")


def _endings(path: str) -> Iterator[str]:
    """Yield the path, then the path without its first step, without its first two steps, and so on.

    >>> list(_endings("/a/b/@c"))
    ['/a/b/@c', 'a/b/@c', 'b/@c', '@c']
    """
    steps = path.split("/")
    return ("/".join(steps[start:]) for start in range(len(steps)))
