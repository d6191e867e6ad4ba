"""Values in a text as people write them in German, English and French: amounts, dates, accounts, VAT numbers."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

_BLANK: Final = " \u00a0\u202f\u2009"
_APOSTROPHES: Final = "'’"
_NUMBER: Final = re.compile(
    rf"(?<!\d)\d{{1,3}}(?:[{_BLANK}{_APOSTROPHES}]\d{{3}}(?!\d))+(?:[.,]\d+)?(?![.,]?\d)"  # thousands: 2 824,67
    r"|\d+(?:[.,]\d+)*"
)
_MAX_DIGITS: Final = 15
_MAX_IDENTIFIER: Final = 100
"""Longer ones are no words of a page."""
_NOT_AN_AMOUNT: Final = re.compile(r"\s*%|[.,]?\d")
_BEFORE: Final = re.compile(r"(?:\A|[\s(:=€$£+\-\u2212–]|\b(?:EUR|USD|GBP|CHF))\Z")
_AFTER: Final = re.compile(r"\Z|[\s)€$£*;,.\-–]|(?:EUR|USD|GBP|CHF)\b")

_DIGITS_OF_DATE: Final = 4
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "januar jänner january janvier jan janv",
            "februar february février fevrier feb févr fév",
            "märz maerz march mars mar mär mrz",
            "april avril apr avr",
            "mai may",
            "juni june juin jun",
            "juli july juillet jul juil",
            "august août aout aug",
            "september septembre sep sept",
            "oktober october octobre okt oct",
            "november novembre nov",
            "dezember december décembre decembre dez dec déc",
        ),
        1,
    )
    for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"(?<!\d)(?:(?P<y>\d{{4}})[-./](?P<m>\d\d?)[-./](?P<d>\d\d?)"
    rf"|(?P<a>\d\d?)\s?[-./]\s?(?P<b>\d\d?)\s?[-./]\s?(?P<c>\d{{4}}|\d\d)"
    rf"|(?P<d2>\d\d?)(?:\.|er|st|nd|rd|th)?\s?-?(?P<m2>{_MONTH})\.?,?\s?-?(?P<y2>\d{{4}}|\d\d)"
    rf"|(?P<y3>20\d\d)(?P<m3>\d\d)(?P<d3>\d\d))(?!\d)"
    rf"|(?P<m4>{_MONTH})\.?\s(?P<d4>\d\d?)(?:st|nd|rd|th)?,?\s(?P<y4>\d{{4}})(?!\d)",
    re.IGNORECASE,
)

_IBAN: Final = re.compile(
    rf"(?<![A-Z0-9])[A-Z]{{2}}\d\d(?:[{_BLANK}]?[A-Z0-9]{{4}}){{2,7}}(?:[{_BLANK}]?[A-Z0-9]{{1,3}})?"
)
_VAT_NUMBER: Final = re.compile(r"(?<![A-Z0-9])(?:[A-Z]{2}|CHE)[ -]?[A-Z0-9](?:[ .]?[A-Z0-9]){6,12}(?![A-Z0-9])")


_UNACCENTED: Final = {code: unicodedata.normalize("NFD", chr(code))[0] for code in range(0xC0, 0x250)}


Reading: TypeAlias = Decimal | datetime.date


class Found(NamedTuple):
    """A value in a text.

    Attributes:
        start, end: where it stands.
        text: how it is written.
        readings: what it may mean: "1.234" is 1234 in German and 1.234 in English.
        is_money: whether it is an amount for certain: with two decimals, and nothing beside it that says otherwise.
    """

    start: int
    end: int
    text: str
    readings: frozenset[Reading]
    is_money: bool = False


def amount_forms(amount: Decimal) -> Sequence[str]:
    """Return the usual forms of an amount with two decimals; none if it has more.

    >>> amount_forms(Decimal("1234.5"))
    ('1.234,50', '1234,50', '1,234.50', '1234.50', '1 234,50')
    """
    if amount != round(amount, 2):
        return ()
    english = f"{amount:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    return german, german.replace(".", ""), english, english.replace(",", ""), german.replace(".", " ")


def date_forms(day: datetime.date) -> Sequence[str]:
    """Return the usual forms of a date in digits that have one reading only.

    >>> date_forms(datetime.date(2026, 3, 1))
    ('01.03.2026', '1.3.2026', '2026-03-01')
    """
    return f"{day:%d.%m.%Y}", f"{day.day}.{day.month}.{day.year}", day.isoformat()


def numbers(text: str) -> Iterator[Found]:
    """Yield the numbers of a text, without sign.

    >>> [sorted(it.readings) for it in numbers("1.234,56 or 1'234.56")]
    [[Decimal('1234.56')], [Decimal('1234.56')]]
    """
    for match in _NUMBER.finditer(text):
        written = match[0]
        if sum(map(str.isdigit, written)) > _MAX_DIGITS:
            continue
        first, *parts = re.split(f"[{_BLANK}]", written)
        readings = {reading for i in range(len(parts) + 1) for reading in _readings("".join([first, *parts][i:]))}
        yield Found(match.start(), match.end(), written, frozenset(readings), _is_money(text, match, readings))


def _readings(written: str) -> set[Decimal]:
    """Return what a number without blanks may mean.

    >>> sorted(_readings("1.234")), sorted(_readings("1,234.5")), _readings("1.2.3")
    ([Decimal('1.234'), Decimal('1234')], [Decimal('1234.5')], set())
    """
    written = re.sub(f"[{_APOSTROPHES}]", "", written)
    marks = [it for it in written if it in ".,"]
    if not marks:
        return {Decimal(written)}
    whole, _, fraction = written.rpartition(marks[-1])
    decimal = {Decimal(f"{re.sub('[.,]', '', whole)}.{fraction}")}
    grouped = {Decimal(re.sub("[.,]", "", written))}
    if marks.count(marks[-1]) > 1:  # separates thousands, if it is the only mark and each group has three digits
        return grouped if len(set(marks)) == 1 and _is_grouped(written) else set()
    if len(marks) > 1:
        return decimal if _is_grouped(whole) else set()
    return decimal | grouped if _is_grouped(written) else decimal


def _is_grouped(written: str) -> bool:
    return bool(re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", written))


def _is_money(text: str, match: re.Match[str], readings: set[Decimal]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    exact = len(readings) >= 1 and all(it.as_tuple().exponent == -2 for it in readings)
    return bool(exact and not _NOT_AN_AMOUNT.match(after) and _AFTER.match(after) and _BEFORE.search(before[-4:]))


def dates(text: str) -> Iterator[Found]:
    """Yield the dates of a text; one such as 03/04/2026 has two readings.

    >>> [sorted(map(str, it.readings)) for it in dates("1. März 2026, 03/04/26")]
    [['2026-03-01'], ['2026-03-04', '2026-04-03']]
    """
    if sum(map(str.isdigit, text)) < _DIGITS_OF_DATE:
        return
    for match in _DATE.finditer(text):
        it = match.groupdict()
        if it["a"]:
            orders = [(it["c"], it["b"], it["a"])]
            orders += [(it["c"], it["a"], it["b"])] if "." not in match[0] else []
        else:
            keys = next(
                keys for keys in ("ymd", ["y2", "m2", "d2"], ["y3", "m3", "d3"], ["y4", "m4", "d4"]) if it[keys[0]]
            )
            orders = [(it[keys[0]], it[keys[1]], it[keys[2]])]
        readings = frozenset(day for order in orders if (day := _day(*order)))
        if readings:
            yield Found(match.start(), match.end(), match[0], readings)


def _day(year: str, month: str, day: str) -> datetime.date | None:
    try:
        return datetime.date(
            int(year) if len(year) == 4 else 2000 + int(year),
            int(month) if month.isdigit() else _MONTHS[month.lower()],
            int(day),
        )
    except ValueError:
        return None


def ibans(text: str) -> Iterator[str]:
    """Yield the account numbers with correct check digits (ISO 13616), as written.

    >>> list(ibans("IBAN: DE02 1203 0000 0000 2020 51 BIC: BYLADEM1001"))
    ['DE02 1203 0000 0000 2020 51']
    """
    for match in _IBAN.finditer(text):
        written = match[0]
        while len(compact(written)) >= 15 and not _has_check_digits(compact(written)):
            written = written[:-1].rstrip()  # what follows may have been taken for a part of it
        if len(compact(written)) >= 15:
            yield written


def account_numbers(text: str) -> Iterator[Found]:
    """Yield what has the form of an account number (ISO 13616), whatever its check digits are."""
    for match in _IBAN.finditer(text):
        yield Found(match.start(), match.end(), match[0], frozenset())


def vat_numbers(text: str) -> Iterator[Found]:
    """Yield what may be VAT numbers: a country and 7 to 13 letters and digits, most of them digits."""
    for match in _VAT_NUMBER.finditer(text):
        if sum(map(str.isdigit, match[0])) >= 7:
            yield Found(match.start(), match.end(), match[0], frozenset())


def _has_check_digits(iban: str) -> bool:
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(it, 36)) for it in moved)) % 97 == 1


def unaccented(text: str) -> str:
    """Return a text of the same length whose letters have no accents.

    >>> unaccented("Échéance, fällig, Straße")
    'Echeance, fallig, Straße'
    """
    return text if text.isascii() else text.translate(_UNACCENTED)


def contains(text: str, identifier: str) -> bool:
    """Return whether a text has an identifier as a whole, whatever blanks and marks divide it.

    What goes on with a digit, a capital letter, or the mark that divides the identifier is another one. Small letters
    may belong to a word from which the blank was lost.

    >>> [contains(it, "DE1234567") for it in ("DE 123-45.67, fällig", "DE12345678", "DE 123 456 78")]
    [True, False, False]
    """
    characters = re.sub(r"[\W_]", "", identifier)
    if not 0 < len(characters) <= _MAX_IDENTIFIER:
        return False
    written = r"[\W_]*".join(characters)
    expression = rf"(?<![0-9A-Z])(?<![0-9A-Z][-/])(?i:{written})(?![0-9A-Z])"
    return any(not _goes_on(match) for match in re.finditer(expression, text))


def _goes_on(match: re.Match[str]) -> bool:
    """Return whether more digits follow after a mark that divides what was found, such as a blank in an account."""
    following = re.match(rf"([{_BLANK}./_-])\d", match.string[match.end() : match.end() + 2])
    if not following:
        return False
    mark = following[1]
    return bool(re.search(rf"\d{mark}\d", match[0])) if mark in _BLANK else mark in match[0]


def compact(text: str) -> str:
    """Return a text in upper case and without anything but letters and digits.

    >>> compact("DE 123.456-789")
    'DE123456789'
    """
    return re.sub(r"[\W_]", "", text).upper()
