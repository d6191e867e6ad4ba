"""Functions that look up groups in the whole invoice: by class, and by VAT category and rate.

Rules ask for the same groups many times, so both keep an index while one invoice is validated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from einvoice.model.group import Group, types_of
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.rulebook.functions.registry import Numeric, function

Lookup = Callable[[str, Sequence[Any]], Sequence[Any]]
_Index = dict[Any, list[Any]]


def descendants_of(invoice: Invoice) -> Lookup:
    """Return a lookup of an invoice's groups by class name; its second argument is the result for unused classes.

    The lookup returns groups in the order of the model, then those at places that the standard does not define.
    """
    by_class: dict[str, list[Group]] = {}
    pending: list[Group] = [group for groups in invoice.misplaced.values() for group in groups]
    pending.reverse()
    pending.append(invoice)
    while pending:
        group = pending.pop()
        cls: Any = type(group)  # Any, because mypy treats a class as unhashable if its instances are
        names, holders = _shape(cls)
        for name in names:
            if name in by_class:
                by_class[name].append(group)
            else:
                by_class[name] = [group]
        content = group.__dict__
        for field in holders:  # from the last to the first, as ``pending`` is a stack
            if field in content:
                below = content[field]
                if type(below) is list:
                    pending += below[::-1]
                elif below is not absent:
                    pending.append(below)
    return by_class.get


@functools.cache
def _shape(cls: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a group class and its bases, and its fields that hold groups, in reverse order."""
    names = (base.__name__ for base in cls.__mro__ if issubclass(base, Group) and base is not Group)
    types = types_of(cls)
    holders = ("more", *(name for name in cls.fields if name != "more" and issubclass(types[name][0], Group)))
    return tuple(names), holders[::-1]


@function()
def descendants(invoice: Invoice, cls: str) -> Sequence[Any]:
    """``//cls``: every group of a class of the model, also at undefined places; written ``descendants(LineTax)``."""
    return descendants_of(invoice)(cls, ())


class WithVat:
    """The function ``with_vat`` for one invoice: it indexes a sequence by category and rate once.

    A sequence is identified by its id and must not change.
    """

    __slots__ = ("_by_category", "_by_rate")

    def __init__(self) -> None:
        self._by_category: dict[int, tuple[Sequence[Any], _Index]] = {}  # with the sequence, which keeps its id in use
        self._by_rate: dict[tuple[int, str], _Index] = {}

    def __call__(self, items: Sequence[Any], category: str, rate: Numeric = None) -> Sequence[Any]:
        """Return the items that have a tax of the category and, if given, a tax with the rate, in their order."""
        key = id(items)
        if key not in self._by_category:
            self._by_category[key] = items, _index(items, "category", "text")
        of_category = self._by_category[key][1].get(category, ())
        if rate is None:
            return of_category
        if (key, category) not in self._by_rate:
            self._by_rate[key, category] = _index(of_category, "rate", "number")
        return self._by_rate[key, category].get(rate, ())


@function()
def with_vat(items: Sequence[Any], category: str, rate: Numeric = None) -> Sequence[Any]:
    """``items[tax/category = $category][tax/rate = $rate]``, the rate only if it is given.

    Items are lines, or allowances and charges. As in the official rules, the category and the rate may come from
    different taxes, and the tax need not be VAT.

    >>> from decimal import Decimal
    >>> from einvoice.model.lines import Line
    >>> from einvoice.model.money import LineTax
    >>> from einvoice.model.values import Code, Percentage
    >>> line = Line(taxes=[LineTax(category=Code("S"), rate=Percentage("19.0"))])
    >>> with_vat([line], "S", Decimal(19)) == [line], with_vat([line], "S", Decimal(7)), with_vat([line], "E")
    (True, (), ())
    """
    return WithVat()(items, category, rate)


def _index(items: Sequence[Any], field: str, view: str) -> _Index:
    """Index items by a field of their taxes, each item once per key; the keys are a ``view`` of the values."""
    index: _Index = {}
    for item in items:
        for tax in item.taxes:
            value = getattr(tax, field)
            for occurrence in () if value is absent else (value, *value.more):
                members = index.setdefault(getattr(occurrence, view), [])
                if not members or members[-1] is not item:
                    members.append(item)
    index.pop(absent, None)  # absent equals nothing, but a dictionary would find it
    return index
