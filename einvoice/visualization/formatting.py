"""Formats dates and account numbers in German and in English."""

from __future__ import annotations

import datetime
import re
from typing import Final

from einvoice.result.languages import Language

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}")
_NO_BREAK: Final = "\u00a0"


def day(date: datetime.date, lang: Language) -> str:
    """Format a date.

    >>> day(datetime.date(2026, 3, 1), "de"), day(datetime.date(2026, 3, 1), "en")
    ('01.03.2026', '1\\xa0Mar\\xa02026')
    """
    if lang == "de":
        return f"{date:%d.%m.}{date.year:04}"
    return _NO_BREAK.join((str(date.day), _MONTHS[date.month - 1], f"{date.year:04}"))


def is_iban(text: str) -> bool:
    """Whether an account number has the form of an IBAN (ISO 13616), ignoring spaces."""
    return bool(_IBAN.fullmatch("".join(text.split())))


def account(text: str) -> str:
    """Format an account number; an IBAN in groups of four.

    >>> account("DE89370400440532013000").replace("\\xa0", " "), account("4711")
    ('DE89 3704 0044 0532 0130 00', '4711')
    """
    if not is_iban(text):
        return text
    compact = "".join(text.split())
    return _NO_BREAK.join(compact[start : start + 4] for start in range(0, len(compact), 4))
