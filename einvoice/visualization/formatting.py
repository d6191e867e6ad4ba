"""Formats numbers, dates and account numbers by language, with the locale data of Babel (CLDR)."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal, localcontext
from typing import Final

from einvoice.errors import MissingDependency
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import FORMAT

try:
    from babel import dates, numbers
except ImportError as error:
    raise MissingDependency("babel", extra="pdf") from error

_MAX_DIGITS: Final = 1000
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}")
_NO_BREAK: Final = "\u00a0"
_KILO: Final = 1000
_LABELS: Final = Messages("einvoice.visualization", "invoice")


def format_date(date: datetime.date, lang: Language) -> str:
    """Format a date, with no-break spaces.

    >>> format_date(datetime.date(2026, 3, 1), "de"), format_date(datetime.date(2026, 3, 1), "en")
    ('01.03.2026', '1\\xa0Mar\\xa02026')
    >>> format_date(datetime.date(2026, 12, 1), "fr")
    '1er\\xa0déc.\\xa02026'
    """
    day, blank, others = (
        dates.format_date(date, locale=FORMAT[lang]["locale"]).replace(" ", _NO_BREAK).partition(_NO_BREAK)
    )
    return (_LABELS[lang]["first_day"] if day == "1" else day) + blank + others


def format_number(value: Decimal, lang: Language, *, decimals: int = 0) -> str:
    """Format a number without rounding, grouped by thousands, with at least `decimals` decimals.

    >>> format_number(Decimal("-1234.5"), "de", decimals=2), format_number(Decimal("1234567.1250"), "en")
    ('−1.234,50', '1,234,567.125')
    """
    pattern = "#,##0." + "0" * decimals if decimals else "#,##0"
    with localcontext(prec=_MAX_DIGITS):  # Babel raises InvalidOperation for more digits than the context has
        exact = (value + 0).normalize()  # adding 0 removes the sign of -0
        text = numbers.format_decimal(exact, pattern, locale=FORMAT[lang]["locale"], decimal_quantization=False)
    return text.replace("-", "−")


def file_size(size: int, lang: Language) -> str:
    """Format the size of a file.

    >>> [file_size(size, "de").replace("\\xa0", " ") for size in (9, 48_230, 2_500_000)]
    ['9 Byte', '48 KB', '2,5 MB']
    """
    if size < _KILO:
        return f"{size}{_NO_BREAK}{_LABELS[lang]['bytes']}"
    if size < _KILO**2:
        return f"{format_number(round(Decimal(size) / _KILO, 0), lang)}{_NO_BREAK}{_LABELS[lang]['kilobytes']}"
    megabytes = round(Decimal(size) / _KILO**2, 1)
    return f"{format_number(megabytes, lang)}{_NO_BREAK}{_LABELS[lang]['megabytes']}"


def is_iban(text: str) -> bool:
    """Whether an account number has the form of an IBAN (ISO 13616), ignoring spaces."""
    return bool(_IBAN.fullmatch("".join(text.split())))


def account(text: str) -> str:
    """Format an account number; an IBAN is written in groups of four.

    >>> account("DE89370400440532013000").replace("\\xa0", " "), account("4711")
    ('DE89 3704 0044 0532 0130 00', '4711')
    """
    if not is_iban(text):
        return text
    compact = "".join(text.split())
    return _NO_BREAK.join(compact[start : start + 4] for start in range(0, len(compact), 4))
