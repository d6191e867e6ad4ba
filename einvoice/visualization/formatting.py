"""Numbers, dates and account numbers as people write them in German and in English."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Final

from einvoice.result.languages import Language

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_GERMAN: Final = str.maketrans(",.", ".,")
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}")
_NO_BREAK: Final = "\u00a0"


def number(value: Decimal, lang: Language, *, places: int = 0) -> str:
    """A number, exact, with at least so many places, grouped in thousands.

    >>> number(Decimal("-1234.5"), "de", places=2), number(Decimal("1234567.125"), "en", places=2)
    ('−1.234,50', '1,234,567.125')
    """
    own = -int(value.normalize().as_tuple().exponent) if value else 0
    text = f"{abs(value):,.{max(places, own)}f}"
    sign = "−" if value < 0 else ""
    return sign + (text.translate(_GERMAN) if lang == "de" else text)


def day(date: datetime.date, lang: Language) -> str:
    """A day of the calendar.

    >>> day(datetime.date(2026, 3, 1), "de"), day(datetime.date(2026, 3, 1), "en")
    ('01.03.2026', '1\\xa0Mar\\xa02026')
    """
    if lang == "de":
        return f"{date:%d.%m.}{date.year:04}"
    return _NO_BREAK.join((str(date.day), _MONTHS[date.month - 1], f"{date.year:04}"))


def is_iban(text: str) -> bool:
    """Whether an account number has the form of an IBAN (ISO 13616), blanks aside."""
    return bool(_IBAN.fullmatch("".join(text.split())))


def account(text: str) -> str:
    """An account number; an IBAN in groups of four.

    >>> account("DE89370400440532013000").replace("\\xa0", " "), account("4711")
    ('DE89 3704 0044 0532 0130 00', '4711')
    """
    if not is_iban(text):
        return text
    compact = "".join(text.split())
    return _NO_BREAK.join(compact[at : at + 4] for at in range(0, len(compact), 4))
