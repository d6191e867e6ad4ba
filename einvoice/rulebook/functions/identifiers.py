"""Functions on identifiers with a check digit, and on texts that consist of parts.

Each follows a function of the Peppol Schematron. `python-stdnum` 2.2 is not used, because it decides otherwise in all
of them: it ignores blanks and hyphens, accepts 000000000 in Norway, and rejects numbers by their first digit (Belgium,
Australia) or their tax office (Italy).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from einvoice.rulebook.functions.registry import function

_DIGITS = r"[0-9]+\Z"
_ZERO: Final = ord("0")


def digits_of(x: str, length: int = 0) -> list[int]:
    """Return the digits of a text, none if it has other characters or, with `length`, another length."""
    return [ord(digit) - _ZERO for digit in x] if re.match(_DIGITS, x) and length in (0, len(x)) else []


def weighted(digits: Iterable[int], weights: Iterable[int]) -> int:
    """Return the sum of the digits, each multiplied by its weight."""
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def has_luhn_digit(digits: list[int]) -> bool:
    """Return whether the last digit is the check digit of the others (Luhn, ISO/IEC 7812-1)."""
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


@function()
def has_gs1_digit(x: str) -> bool:
    """`matches(x, '^[0-9]+$') and u:gln(x)`: the last digit is the check digit of GS1, such as that of a GLN.

    As in the official rule, the length does not matter. Weights are 3 and 1 in turn, from the right.

    >>> has_gs1_digit("7300010000001"), has_gs1_digit("7300010000002"), has_gs1_digit("0"), has_gs1_digit("")
    (True, False, True, False)
    """
    digits = digits_of(x)
    return bool(digits) and (sum(digits[-1::-2]) + 3 * sum(digits[-2::-2])) % 10 == 0


_NORWEGIAN: Final = (3, 2, 7, 6, 5, 4, 3, 2, 1)


@function()
def is_norwegian_number(x: str) -> bool:
    """`matches(x, '^[0-9]{9}$') and u:mod11(x)`: a Norwegian organisation number; its last digit is for modulo 11.

    >>> is_norwegian_number("974760673"), is_norwegian_number("974760674"), is_norwegian_number("000000000")
    (True, False, False)
    """
    digits = digits_of(x, 9)
    return any(digits) and weighted(digits, _NORWEGIAN) % 11 == 0


@function()
def is_belgian_number(x: str) -> bool:
    """`matches(x, '^[0-9]{10}$') and u:mod97-0208(x)`: a Belgian enterprise number, with two digits for modulo 97.

    >>> is_belgian_number("0202239951"), is_belgian_number("0202239952")
    (True, False)
    """
    return bool(digits_of(x, 10)) and 97 - int(x[:8]) % 97 == int(x[8:])


@function()
def is_italian_vat_number(x: str) -> bool:
    """`string-length(x) = 11 and u:checkPIVA(x) = 0`: a Partita IVA without its country; the last digit is Luhn's.

    >>> is_italian_vat_number("00743110157"), is_italian_vat_number("00743110158")
    (True, False)
    """
    digits = digits_of(x, 11)
    return bool(digits) and has_luhn_digit(digits)


@function()
def is_swedish_number(x: str) -> bool:
    """`u:checkSEOrgnr(x)`: a Swedish organisation number of ten digits, the last one Luhn's.

    As in the official rule, further digits are ignored.

    >>> is_swedish_number("5560360793"), is_swedish_number("5560360794"), is_swedish_number("55603607931")
    (True, False, True)
    """
    digits = digits_of(x[:10], 10)
    return x.isdecimal() and bool(digits) and has_luhn_digit(digits)


_AUSTRALIAN: Final = (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)


@function()
def is_australian_number(x: str) -> bool:
    """`matches(x, '^[0-9]{11}$') and u:abn(x)`: an Australian business number, checked modulo 89.

    One is subtracted from the first digit.

    >>> is_australian_number("51824753556"), is_australian_number("51824753557")
    (True, False)
    """
    digits = digits_of(x, 11)
    return bool(digits) and (weighted(digits, _AUSTRALIAN) - 10) % 89 == 0


_GREEK: Final = (256, 128, 64, 32, 16, 8, 4, 2)


@function()
def is_greek_number(x: str) -> bool:
    """`u:TinVerification(x)`: a Greek tax number (AFM) of nine digits, the last one for modulo 11.

    As in the official rule, characters after the ninth are ignored.

    >>> is_greek_number("094259216"), is_greek_number("094259217"), is_greek_number("094259216X")
    (True, False, True)
    """
    digits = digits_of(x[:9], 9)
    return bool(digits) and weighted(digits, _GREEK) % 11 % 10 == digits[8]


_NUMBER = r"[ \t\n\r]*[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|INF)[ \t\n\r]*\Z"


@function()
def is_number(x: str) -> bool:
    """`string(number(x)) != 'NaN'`: XPath reads it as a number, possibly with sign, point or exponent.

    >>> is_number(" 556036 "), is_number("1e3"), is_number("556036-0793"), is_number("")
    (True, True, False, False)
    """
    return re.match(_NUMBER, x) is not None


@function()
def part(x: str, mark: str, position: int) -> str:
    """`tokenize(x, mark)[position]`: one of the parts between marks, counted from 1; '' if there are fewer.

    >>> part("a|b||d", "|", 2), part("a|b||d", "|", 3), part("a|b", "|", 3)
    ('b', '', '')
    """
    parts = x.split(mark, position)
    return parts[position - 1] if position <= len(parts) else ""
