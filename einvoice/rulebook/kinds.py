"""What the rule language knows of a name, a path or an expression before anything is calculated: its kind."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.values import Date, Number, Text, Value


@dataclass(frozen=True, slots=True)
class Kind:
    """What something is: a class of the model or a plain type, and whether there may be many of it.

    ``cls`` is a subclass of ``Group`` or ``Value``, or ``Decimal`` (a number), ``str`` (a text), ``bool`` (a truth),
    ``datetime.date`` or ``float`` (a binary number). ``group`` is the business group that a shared class stands for
    here (``BG-20`` for an ``AllowanceCharge`` that is an allowance); '' where it may be any of its groups.
    """

    cls: type[Any]
    many: bool = False
    group: str = ""

    @property
    def one(self) -> Kind:
        """The kind of one member of a sequence."""
        return replace(self, many=False)


NUMBER: Final = Kind(Decimal)
TEXT: Final = Kind(str)
TRUTH: Final = Kind(bool)
DATE: Final = Kind(datetime.date)
BINARY: Final = Kind(float)
