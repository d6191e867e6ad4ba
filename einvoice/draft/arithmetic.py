"""Exact decimal arithmetic; halves are rounded away from zero."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

#: Enough digits for products and quotients of any numbers in a draft, and for long sums.
_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_UP)
_CENT: Final = Decimal("0.01")


def round2(amount: Decimal) -> Decimal:
    """Round an amount to two decimals, half away from zero, so that a credit note mirrors its invoice.

    >>> round2(Decimal("0.125")), round2(Decimal("-0.125"))
    (Decimal('0.13'), Decimal('-0.13'))
    """
    return amount.quantize(_CENT, context=_EXACT)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """Return the exact sum."""
    result = Decimal(0)
    for amount in amounts:
        result = _EXACT.add(result, amount)
    return result


def percent_of(amount: Decimal, rate: Decimal) -> Decimal:
    """Return the exact percentage of an amount.

    >>> percent_of(Decimal("200.00"), Decimal("19"))
    Decimal('38.0000')
    """
    return _EXACT.multiply(amount, _EXACT.scaleb(rate, -2))


def line_amount(quantity: Decimal, price: Decimal, base_quantity: Decimal) -> Decimal:
    """Return the price of a quantity; `price` applies to `base_quantity` units, which must not be zero."""
    return _EXACT.divide(_EXACT.multiply(quantity, price), base_quantity)


def subtract(amount: Decimal, other: Decimal) -> Decimal:
    """Return the exact difference."""
    return _EXACT.subtract(amount, other)
