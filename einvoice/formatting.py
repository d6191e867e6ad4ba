"""Formats numbers in German and English.

Babel is not used: it rejects numbers of more than 28 digits, which documents may contain, and writes a hyphen for the
minus sign.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_GERMAN: Final = str.maketrans(",.", ".,")


def format_number(value: Decimal, language: str, *, decimals: int = 0) -> str:
    """Format a number without rounding, grouped by thousands, with at least `decimals` decimals.

    >>> format_number(Decimal("-1234.5"), "de", decimals=2), format_number(Decimal("1234567.1250"), "en")
    ('−1.234,50', '1,234,567.125')
    """
    whole, _, fraction = format(value.copy_abs(), ",f").partition(".")
    fraction = fraction.rstrip("0").ljust(decimals, "0")
    text = ("−" if value < 0 else "") + (f"{whole}.{fraction}" if fraction else whole)
    return text if language == "en" else text.translate(_GERMAN)
