"""Format values for texts."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from einvoice.localization import Messages
from einvoice.localization.formatting import format_date, format_number

VALUES: Final = Messages("einvoice.code_catalog", "values")
_LINE_NUMBER: Final = "line.identifier"
_CURRENCY: Final = "invoice.currency"
_OF_AMOUNTS: Final = 2


def show(value: Any, values: Mapping[str, Any], language: str) -> str:
    """Return a formatted value: −1.234,50 and 31.12.2026 in German, −1,234.50 and 2026-12-31 in English.

    A number has at least as many decimals as `actual` in `values`, but no zeros after the second one; if there is
    no such number, it keeps its own. Text is unchanged. Of a list, each entry is formatted, and its parts
    have a blank between them: "BT-2 2026-12-31, BT-112 1,234.50".
    """
    if isinstance(value, tuple):
        return ", ".join(" ".join(show(part, values, language) for part in it) for it in value)
    if isinstance(value, datetime.date):
        return format_date(value, language)
    if not isinstance(value, Decimal) or not value.is_finite():
        return str(value)
    actual = values.get("actual")
    places = _decimals(value)
    if actual is not value and isinstance(actual, Decimal) and actual.is_finite():
        places = min(_decimals(actual), max(places, _OF_AMOUNTS))
    return format_number(value, language, decimals=places)


def _decimals(number: Decimal) -> int:
    return max(0, -int(number.as_tuple().exponent))


def missing(name: str, values: Mapping[str, Any], language: str, before: str) -> str:
    """Return the words for a missing value, depending on the text `before` it.

    After a colon, the text is "nothing" ("Given: nothing"); elsewhere it is in parentheses ("line (not given)").
    Empty texts and values that cannot be calculated are worded differently, and so are lines without a number ("line
    (without a number)"). A missing currency behind an amount is named.
    """
    listed = before.endswith(": ")
    if name in values:
        key = "empty"
    elif name.endswith(_LINE_NUMBER) and not listed:
        key = "unnumbered"
    elif name == _CURRENCY and before.rstrip()[-1:].isdecimal():
        key = "missing_currency"
    elif name != "actual" and "." not in name:
        key = "incalculable"
    else:
        key = "nothing" if listed else "missing"
    words = VALUES[language][key]
    return words if listed or before.endswith("(") else f"({words})"


def missing_subject(before: str, language: str) -> str:
    """Return the words for an empty value in quotation marks that begins a sentence or clause; "" elsewhere.

    >>> missing_subject("It must be a code; ", "en"), missing_subject("", "en"), missing_subject("The country ", "en")
    ('an empty value', 'An empty value', '')
    """
    words = VALUES[language]["empty_subject"]
    if before.endswith("; "):
        return words
    return words[:1].upper() + words[1:] if not before or before.endswith((". ", ".\n")) else ""
