"""What the rule language knows of a name, a path or an expression before anything is calculated: its kind."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from einvoice.model.group import Group
from einvoice.model.values import Code, Date, Identifier, Number, Text, Value


@dataclass(frozen=True, slots=True)
class Kind:
    """What something is: a class of the model or a plain type, and whether there may be many of it.

    ``cls`` is a subclass of ``Group`` or ``Value``, or ``Decimal`` (a number), ``int`` (a count), ``float`` (a binary
    number), ``str`` (a text), ``bool`` (a truth) or ``datetime.date``. ``group`` is the business group that a shared
    class stands for here (``BG-20`` for an ``AllowanceCharge`` that is an allowance); '' where it may be any of its
    groups. ``terms`` are the business terms that reading the whole thing counts.
    """

    cls: type[object]
    many: bool = False
    group: str = ""
    terms: tuple[str, ...] = ()

    @property
    def one(self) -> Kind:
        """The kind of one member of a sequence."""
        return replace(self, many=False)

    @property
    def is_group(self) -> bool:
        """Whether this is a business group."""
        return issubclass(self.cls, Group)

    @property
    def is_value(self) -> bool:
        """Whether this is the value of a business term, as the document has it."""
        return issubclass(self.cls, Value)

    @property
    def sort(self) -> str:
        """How it is compared and calculated with: number, binary, text, date, truth; '' for what cannot be."""
        if self.many:
            return ""
        for sort, classes in _SORTS.items():
            if issubclass(self.cls, classes):
                return sort
        return ""

    def __str__(self) -> str:
        if self.many:
            return "a sequence"
        if self.is_group:
            return "a group"
        return _SPOKEN.get(self.sort, f"a value of {self.cls.__name__}")


_SORTS: Final[dict[str, tuple[type[object], ...]]] = {
    "truth": (bool,),  # first, because a Python bool is an int
    "number": (Number, Decimal, int),
    "binary": (float,),
    "text": (Text, Code, Identifier, str),
    "date": (Date, datetime.date),
}
_SPOKEN: Final = {
    "truth": "true or false",
    "number": "a number",
    "binary": "a binary number",
    "text": "text",
    "date": "a date",
}

NUMBER: Final = Kind(Decimal)
COUNT: Final = Kind(int)
BINARY: Final = Kind(float)
TEXT: Final = Kind(str)
TRUTH: Final = Kind(bool)
DATE: Final = Kind(datetime.date)
