"""The word that finds what is taxed alike: lines, or allowances and charges, by VAT category and rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einvoice.model.values import absent
from einvoice.rulebook.functions.registry import Numeric, occurrences, word

_Index = dict[Any, list[Any]]


class WithVat:
    """The word ``with_vat`` for one run: a sequence is sorted by category and rate once, not for each breakdown.

    A sequence is known by its identity, so while the run lasts it must not change.
    """

    __slots__ = ("_by_category", "_by_rate")

    def __init__(self) -> None:
        self._by_category: dict[int, tuple[Sequence[Any], _Index]] = {}  # the sequence is kept, and with it its id
        self._by_rate: dict[tuple[int, str], _Index] = {}

    def __call__(self, items: Sequence[Any], category: str, rate: Numeric = None) -> Sequence[Any]:
        """The items with a tax of the category and, if asked for, with a tax of the rate, in their order."""
        if id(items) not in self._by_category:
            self._by_category[id(items)] = items, _index(items, "category", "text")
        alike = self._by_category[id(items)][1].get(category, ())
        if rate is None:
            return alike
        if (id(items), category) not in self._by_rate:
            self._by_rate[id(items), category] = _index(alike, "rate", "number")
        return self._by_rate[id(items), category].get(rate, ())


@word()
def with_vat(items: Sequence[Any], category: str, rate: Numeric = None) -> Sequence[Any]:
    """``items[tax/category = $category][tax/rate = $rate]``, the rate only if it is asked for.

    Lines, or allowances and charges. As in the official rules the category may be that of one tax and the rate that
    of another, and nobody asks whether it is VAT.

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
    """Every item once below each key that a field of its taxes has; the keys are a ``view`` of the values."""
    index: _Index = {}
    for item in items:
        for tax in item.taxes:
            for value in occurrences(getattr(tax, field)):
                alike = index.setdefault(getattr(value, view), [])
                if not alike or alike[-1] is not item:
                    alike.append(item)
    index.pop(absent, None)  # absent is equal to nothing, but as a key it would be found
    return index
