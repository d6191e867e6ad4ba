"""The static types of the rule language."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from einvoice.model.group import Group
from einvoice.model.values import Code, Date, Identifier, Number, Text, Value


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an expression: a class of the model or a plain type, single or a sequence.

    Attributes:
        cls: a subclass of `Group` or `Value`, or `Decimal` (a number), `int` (a count), `float` (a double),
            `str`, `bool` or `datetime.date`.
        many: whether it is a sequence.
        group: the business group that a shared class represents (`BG-20` for an `AllowanceCharge` that is an
            allowance); '' if it can be any of its groups.
        terms: the business terms that reading the value counts.
    """

    cls: type[object]
    many: bool = False
    group: str = ""
    terms: tuple[str, ...] = ()

    @property
    def one(self) -> Type:
        """The type of a member of the sequence."""
        return replace(self, many=False)

    @property
    def is_group(self) -> bool:
        """Whether it is a business group."""
        return issubclass(self.cls, Group)

    @property
    def is_value(self) -> bool:
        """Whether it is the value of a business term, as in the document."""
        return issubclass(self.cls, Value)

    @property
    def sort(self) -> str:
        """The type for comparisons and calculations: number, double, text, date or boolean; '' if there is none."""
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
        return _NAMES.get(self.sort, f"a value of {self.cls.__name__}")


_SORTS: Final[dict[str, tuple[type[object], ...]]] = {
    "boolean": (bool,),  # first, because a Python bool is an int
    "number": (Number, Decimal, int),
    "double": (float,),
    "text": (Text, Code, Identifier, str),
    "date": (Date, datetime.date),
}
_NAMES: Final = {
    "boolean": "true or false",
    "number": "a number",
    "double": "a double",
    "text": "text",
    "date": "a date",
}

NUMBER: Final = Type(Decimal)
COUNT: Final = Type(int)
DOUBLE: Final = Type(float)
TEXT: Final = Type(str)
BOOLEAN: Final = Type(bool)
DATE: Final = Type(datetime.date)
