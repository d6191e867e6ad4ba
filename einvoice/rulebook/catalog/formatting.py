"""Values as the texts print them, in the language asked for."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

_GERMAN: Final = str.maketrans(",.", ".,")
_EMPTY: Final[Mapping[str, str]] = {"de": "leer", "en": "empty"}
_MISSING: Final[Mapping[str, str]] = {"de": "nicht angegeben", "en": "not given"}
_NOTHING: Final[Mapping[str, str]] = {"de": "nichts", "en": "nothing"}
_INCALCULABLE: Final[Mapping[str, str]] = {"de": "nicht bestimmbar", "en": "cannot be determined"}


def show(value: Any, beside: Mapping[str, Any], language: str) -> str:
    """A value as the texts print it: −1.234,50 and 31.12.2026 in German, −1,234.50 and 2026-12-31 in English.

    A number has as many decimals as the document gives the ``actual`` one among the values ``beside``, and all of its
    own where there is none. A text is shown as it stands.
    """
    if isinstance(value, datetime.date):
        return value.isoformat() if language == "en" else f"{value.day:02}.{value.month:02}.{value.year:04}"
    if not isinstance(value, Decimal) or not value.is_finite():
        return str(value)
    actual = beside.get("actual", value)
    places = max(0, -int(actual.as_tuple().exponent)) if isinstance(actual, Decimal) and actual.is_finite() else 0
    whole, _, decimals = format(abs(value), ",f").partition(".")
    decimals = decimals.rstrip("0").ljust(places, "0")
    shown = ("−" if value < 0 else "") + (f"{whole}.{decimals}" if decimals else whole)
    return shown if language == "en" else shown.translate(_GERMAN)


def lacking(name: str, values: Mapping[str, Any], language: str, before: str) -> str:
    """What stands for a value of which there is nothing to show, by the text ``before`` it: "Given: nothing" and, in
    a sentence, "line (not given)". An empty text is told apart, and so is what cannot be worked out.
    """
    listed = before.endswith(": ")
    if name in values:
        words = _EMPTY[language]
    elif name != "actual" and "." not in name:
        words = _INCALCULABLE[language]
    else:
        words = _NOTHING[language] if listed else _MISSING[language]
    return words if listed or before.endswith("(") else f"({words})"
