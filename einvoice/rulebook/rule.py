"""A rule of one syntax as the engine runs it, and what it found in an invoice."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from einvoice.model.location import is_inside
from einvoice.model.values import Date, Number, Value, absent

SYNTAXES: Final = ("UBL", "CII")
SEVERITIES: Final = ("fatal", "warning", "information")


class Rule(NamedTuple):
    """What is known of a rule before it runs. Plain data, so that it can be stored beside the generated code.

    ``code``, ``severity`` and ``terms`` are those of one syntax. ``names`` are the names that a broken rule reports
    on: ``invoice``, the loop variables, the constants of its family, its ``let`` names; ``item`` is the place among
    them of what the rule was looking at. ``path`` leads from one of them to the value of the first term
    (``totals.line_net``; '' where that is no single value), ``quotes`` are the paths that the texts quote. ``notes``
    are the numbers, among those of the catalog's entry, of the notes that a finding may tell. ``whole`` says that a
    finding points at the item as a whole, whichever of its values is wrong.
    """

    code: str
    severity: str
    layer: str
    section: str
    terms: tuple[str, ...]
    file: str
    names: tuple[str, ...]
    item: int
    path: str
    quotes: tuple[str, ...]
    notes: tuple[int, ...] = ()
    whole: bool = False


class Fired:
    """A rule that an invoice breaks, at one place of it."""

    __slots__ = ("_noted", "found", "rule")

    def __init__(self, rule: Rule, found: tuple[Any, ...], noted: tuple[bool, ...] = ()) -> None:
        self.rule = rule
        self.found = found
        self._noted = noted

    @property
    def notes(self) -> tuple[int, ...]:
        """The numbers of the notes that are true here."""
        return tuple(number for number, holds in zip(self.rule.notes, self._noted, strict=True) if holds)

    @property
    def item(self) -> Any:
        """What the rule was looking at: a group, a value or the invoice."""
        return self.found[self.rule.item]

    @property
    def place(self) -> Any:
        """The group or value that the finding points at: the value of the first term, or what is there of its path.

        In a document it is part of what the rule was looking at, and has an element (such as a view has none).
        """
        item = self.item
        passed = [] if self.rule.whole else self._along(self.rule.path)
        there = (thing for thing in reversed(passed) if thing is not absent)
        return next((thing for thing in there if item.node is None or is_inside(thing.node, item.node)), item)

    @property
    def values(self) -> dict[str, Any]:
        """What the texts may quote, plain: the ``let`` names, the paths of the texts, ``actual``, and ``difference``
        (actual less expected) where both are numbers. What the document does not have is left out.
        """
        values: dict[str, Any] = {}
        for name, content in zip(self.rule.names, self.found, strict=True):
            _put(values, name, content)
        for path in self.rule.quotes:
            _put(values, path, self._end_of(path))
        if self.rule.path:
            _put(values, "actual", self._end_of(self.rule.path))
        expected, actual = values.get("expected"), values.get("actual")
        if isinstance(expected, Decimal) and isinstance(actual, Decimal):
            values["difference"] = actual - expected
        return values

    def _along(self, path: str) -> list[Any]:
        """Everything that ``path`` passes, from its first name to its end."""
        if not path:
            return []
        first, *steps = path.split(".")
        passed = [self.found[self.rule.names.index(first)]]
        for step in steps:
            passed.append(getattr(passed[-1], step))
        return passed

    def _end_of(self, path: str) -> Any:
        return self._along(path)[-1]

    def __repr__(self) -> str:
        return f"Fired({self.rule.code}, {self.place!r})"


def _put(values: dict[str, Any], name: str, content: Any) -> None:
    plain = _plain(content)
    if plain is not absent:
        values[name] = plain


def _plain(content: Any) -> Any:
    """A number, text, date or truth for ``content``; ``absent`` for a group, a sequence and what is not there."""
    if isinstance(content, Number | Date):
        return content.raw if content.value is absent else content.value
    if isinstance(content, Value):
        return content.text
    if isinstance(content, Decimal | str | bool | datetime.date):
        return content
    if isinstance(content, int | float):
        return Decimal(repr(content))
    return absent
