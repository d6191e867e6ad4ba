"""Reads numbers and dates that are not written as XML has them: by people, by spreadsheets, by programs."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from einvoice.model.values import BLANKS, Date, Value

_BLANKS: Final = f"{BLANKS}\u00a0\u202f"
_UNIT: Final = r"[^\W\d_]{1,4}\.?|[€$£%]"
"""What people write beside a number: a currency, a unit, a sign."""
_IDENTIFIER: Final = "[A-Za-z]+([0-9]{8}|0[0-9])"
"""An identifier: nobody writes an amount of eight digits, or one with leading zeros, directly behind letters."""
_NUMBER: Final = re.compile(
    rf"(?!{_IDENTIFIER})(?:{_UNIT})?\s*(?P<number>[+-]?[0-9][0-9.,' ]*|[+-]?[.,][0-9]+)"
    rf"(?P<power>[eE][+-]?[0-9]{{1,2}})?(?P<end>[.,]?--?)?\s*(?:{_UNIT})?"
)
_GROUPED: Final = re.compile(
    r"[0-9]*([.,][0-9]*)?|[0-9]{1,3}(?P<mark>[.,' ])[0-9]{3}((?P=mark)[0-9]{3})*((?!(?P=mark))[.,][0-9]*)?"
)
"""A number whose thousands, if they are separated, are groups of three digits."""
_AMBIGUOUS: Final = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
"""A number whose only mark may separate thousands or decimals."""
_SEPARATED: Final = re.compile(r"(?P<one>\d{1,2})(?P<mark>[./-])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4})")
_YEAR_FIRST: Final = re.compile(r"(?P<year>\d{4})[./-]?(?P<two>\d{2})[./-]?(?P<one>\d{2})(T[\d:.]+)?(Z|[+-][\d:]+)?")
_DAY_FIRST: Final = "."
"""The mark between day and month where no country puts the month first."""


def readings(value: Value) -> tuple[Decimal, ...]:
    """Return the numbers that a text may mean, the likeliest first; none if it is something else.

    >>> readings(Value("1.234,50 EUR")), readings(Value("12,345"))
    ((Decimal('1234.50'),), (Decimal('12.345'), Decimal('12345')))
    >>> readings(Value("ATU13585627")), readings(Value("R007"))
    ((), ())
    """
    found = _NUMBER.fullmatch(value.raw.strip(_BLANKS).replace("\u00a0", " ").replace("\u202f", " "))
    if not found:
        return ()
    digits = found["number"].rstrip("' ")
    is_whole = bool(found["end"]) and (digits[-1] in ".," or found["end"] != "-")  # "12,-" is 12, "12-" is -12
    digits = digits.rstrip(".,")
    sign = "-" if digits.startswith("-") or (found["end"] and not is_whole) else ""
    digits = digits.lstrip("+-")
    if not _GROUPED.fullmatch(digits):
        return ()
    plain = digits.replace(" ", "").replace("'", "")
    mark = max(".,", key=plain.rfind)
    whole, _, fraction = plain.partition(mark) if plain.count(mark) == 1 else (plain, "", "")
    whole = whole.replace(".", "").replace(",", "")
    texts = [f"{whole or 0}.{fraction or 0}" if fraction else whole]
    if _AMBIGUOUS.fullmatch(plain):
        texts.append(whole + fraction)
    return tuple(Decimal(f"{sign}{text}{found['power'] or ''}") for text in texts)


def dates(value: Date) -> Iterator[datetime.date]:
    """Yield the dates that a text may mean: two if the month may stand first, as it does in the United States.

    >>> [str(it) for it in dates(Date("31.12.2026"))], [str(it) for it in dates(Date("11/02/2026"))]
    (['2026-12-31'], ['2026-02-11', '2026-11-02'])
    """
    text = value.raw.strip(_BLANKS)
    if found := _YEAR_FIRST.fullmatch(text):
        pairs = [(found["one"], found["two"])]
    elif found := _SEPARATED.fullmatch(text):
        pairs = [(found["one"], found["two"])]
        if found["mark"] != _DAY_FIRST and found["one"] != found["two"]:
            pairs.append((found["two"], found["one"]))
    else:
        return
    for day, month in pairs:
        try:
            yield datetime.date(int(found["year"]), int(month), int(day))
        except ValueError:
            continue
