"""Exact sums: decimal numbers, as many digits as they need, halves of a cent up (away from zero)."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

#: Digits enough for the product and the quotient of any numbers that a draft may hold, and for long sums.
_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_UP)
_CENT: Final = Decimal("0.01")


def cents(amount: Decimal) -> Decimal:
    """An amount on two decimals; half a cent goes up, below zero down, so that a credit note mirrors its invoice.

    >>> cents(Decimal("0.125")), cents(Decimal("-0.125"))
    (Decimal('0.13'), Decimal('-0.13'))
    """
    return amount.quantize(_CENT, context=_EXACT)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum."""
    result = Decimal(0)
    for amount in amounts:
        result = _EXACT.add(result, amount)
    return result


def percent_of(amount: Decimal, rate: Decimal) -> Decimal:
    """So many percent of an amount, exactly.

    >>> percent_of(Decimal("200.00"), Decimal("19"))
    Decimal('38.0000')
    """
    return _EXACT.multiply(amount, _EXACT.scaleb(rate, -2))


def priced(quantity: Decimal, price: Decimal, base_quantity: Decimal) -> Decimal:
    """What a quantity costs where the price is that of `base_quantity` units, which is not zero."""
    return _EXACT.divide(_EXACT.multiply(quantity, price), base_quantity)


def minus(amount: Decimal, other: Decimal) -> Decimal:
    """The exact difference."""
    return _EXACT.subtract(amount, other)
