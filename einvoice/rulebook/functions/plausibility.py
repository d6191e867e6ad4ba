"""Functions about values that no official rule checks: check digits, calendar dates, countries of VAT identifiers.

A wrong alarm is worse than a missed one: what is not certainly wrong counts as right, and so do evident examples.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from einvoice.rulebook.functions.identifiers import (
    digits_of,
    has_luhn_digit,
    is_belgian_number,
    is_greek_number,
    is_italian_vat_number,
    weighted,
)
from einvoice.rulebook.functions.registry import function
from einvoice.rulebook.functions.strings import is_valid_iban

F = TypeVar("F", bound=Callable[..., bool])
_LENGTH: Final = 40
"""Maximum length of the values; longer ones are not kept, as a document can have any number of them."""


def _kept(check: F) -> F:
    """Keep the results of a check: the invoices of a business share numbers and dates."""
    kept = functools.lru_cache(maxsize=1024)(check)

    @functools.wraps(check)
    def checked(x: str) -> bool:
        return len(x) > _LENGTH or kept(x)

    return checked  # type: ignore[return-value]


_EXAMPLE: Final = r"12345|54321|98765|([1-9])\1{5}"
"""Numbers that count up or down, or repeat a digit, are examples, which nobody mistakes for real ones."""
_WITH_LETTERS: Final = {"AT", "ES", "FR", "NL"}
"""Countries whose VAT numbers have letters after the prefix; in others, a letter makes even an example wrong."""
_SEPARATORS: Final = str.maketrans("", "", " .-\u00a0")
_OTHER_CODES: Final = {"EL": "GR", "XI": "GB"}
"""Prefixes of VAT identifiers that are not the ISO 3166-1 code of the country: Greece, Northern Ireland."""
_IN_EU: Final = {
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT", "LU", "LV",
    "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
}  # fmt: skip


def _is_german(number: str) -> bool:
    """Return whether the last of nine digits is the check digit (ISO 7064, MOD 11-10)."""
    product = 10
    digits = digits_of(number, 9)
    for digit in digits[:-1]:
        product = 2 * ((product + digit) % 10 or 10) % 11
    return bool(digits) and (product + digits[-1]) % 10 == 1


def _is_french(number: str) -> bool:
    """Return whether the first two of eleven digits are the remainder for the others (SIREN)."""
    return bool(digits_of(number, 11)) and int(number[2:] + "12") % 97 == int(number[:2])


def _is_dutch(number: str) -> bool:
    """Return whether the ninth digit is for modulo 11 (companies), or the last two for modulo 97 (persons)."""
    digits = digits_of(number[:9], 9)
    return bool(digits) and (weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 or _modulo_97("NL" + number) == 1)


def _is_polish(number: str) -> bool:
    """Return whether the last of ten digits is for modulo 11."""
    digits = digits_of(number, 10)
    return bool(digits) and weighted(digits, (6, 5, 7, 2, 3, 4, 5, 6, 7, -1)) % 11 == 0


def _is_unknown(number: str) -> bool:
    """Return False: only `stdnum` knows these numbers."""
    return False


_VAT_NUMBERS: Final[Mapping[str, Callable[[str], bool]]] = {
    "AT": _is_unknown,
    "BE": is_belgian_number,
    "DE": _is_german,
    "EL": is_greek_number,
    "ES": _is_unknown,
    "FI": _is_unknown,
    "FR": _is_french,
    "HR": _is_unknown,
    "HU": _is_unknown,
    "IT": is_italian_vat_number,
    "LU": _is_unknown,
    "NL": _is_dutch,
    "PL": _is_polish,
    "PT": _is_unknown,
    "SI": _is_unknown,
}
"""The countries whose check digits are documented and apply to all numbers, each with a quick test."""


def _modulo_97(text: str) -> int:
    """Return the remainder for ISO 7064, MOD 97-10, where A counts as 10 and Z as 35."""
    return int("".join([str(int(character, 36)) for character in text])) % 97


@function()
@_kept
def is_plausible_vat_number(x: str) -> bool:
    """Return False for a VAT identifier whose form or check digits are wrong; True where that cannot be told.

    `stdnum` only confirms that a number is wrong: importing it takes longer than validating an invoice.

    >>> is_plausible_vat_number("DE136695976"), is_plausible_vat_number("DE136695967")
    (True, False)
    >>> is_plausible_vat_number("DE123456789"), is_plausible_vat_number("CHE-123"), is_plausible_vat_number("")
    (True, True, True)
    >>> is_plausible_vat_number("DE12345ABC"), is_plausible_vat_number("ATU12345678")
    (False, True)
    """
    number = x.translate(_SEPARATORS)
    is_right = _VAT_NUMBERS.get(number[:2])
    if is_right is None or is_right(number[2:]) or not re.fullmatch("[A-Z0-9]+", number):
        return True
    if re.search(_EXAMPLE, number) and (number[2:].isdecimal() or number[:2] in _WITH_LETTERS):
        return True
    from stdnum.util import get_cc_module

    known = get_cc_module(_OTHER_CODES.get(number[:2], number[:2]).lower(), "vat")
    return known is None or bool(known.is_valid(number))


@function()
def is_plausible_vat_country(x: str, country: str) -> bool:
    """Return False if both the prefix of a VAT identifier and a country are in the EU, and they differ.

    A number that is wrong in itself, or an evident example, tells no country: its prefix may be the mistake.

    >>> is_plausible_vat_country("ATU13585627", "DE"), is_plausible_vat_country("EL094259216", "GR")
    (False, True)
    >>> is_plausible_vat_country("DE136695976", "CH"), is_plausible_vat_country("136695976", "DE")
    (True, True)
    >>> is_plausible_vat_country("ATU136695976", "DE"), is_plausible_vat_country("ATU123456789", "DE")
    (True, True)
    """
    prefix = x[:2]
    of_prefix = _OTHER_CODES.get(prefix, prefix)
    is_same = of_prefix == country or of_prefix not in _IN_EU or country not in _IN_EU
    return is_same or not is_plausible_vat_number(x) or bool(re.search(_EXAMPLE, x))


_IBAN: Final = "[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}"
_IBAN_LENGTHS: Final = {
    "AD": 24, "AL": 28, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20,
    "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GI": 23, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IS": 26, "IT": 27,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MT": 31, "NL": 18, "NO": 15,
    "PL": 28, "PT": 25, "RO": 24, "RS": 22, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "VA": 22,
}  # fmt: skip
"""Characters of an IBAN by country of the SEPA area, as in the IBAN registry (ISO 13616)."""


@function()
@_kept
def is_plausible_iban(x: str) -> bool:
    """Return False for an account number that has the form of an IBAN of the SEPA area, but wrong check digits.

    >>> is_plausible_iban("DE02 1203 0000 0000 2020 51"), is_plausible_iban("DE03120300000000202051")
    (True, False)
    >>> is_plausible_iban("4711"), is_plausible_iban("DE12345678901234567890")
    (True, True)
    """
    if is_valid_iban(x):
        return True
    account = x.translate(_SEPARATORS)
    return account[:2] not in _IBAN_LENGTHS or not re.fullmatch(_IBAN, account) or bool(re.search(_EXAMPLE, account))


@function()
def iban_length(x: str) -> int:
    """Return how many characters an IBAN of this country has; 0 outside of the SEPA area.

    >>> iban_length("DE02 1203 0000"), iban_length("BE"), iban_length("4711")
    (22, 16, 0)
    """
    return _IBAN_LENGTHS.get(x[:2], 0)


@function()
def without_separators(x: str) -> str:
    """Return a number without blanks, points and hyphens.

    >>> without_separators("DE02 1203 0000"), without_separators("ATU-135.85627")
    ('DE0212030000', 'ATU13585627')
    """
    return x.translate(_SEPARATORS)


_LA_POSTE: Final = "356000000"
"""Its establishments have numbers whose digits add up to a multiple of five."""


@function()
@_kept
def is_plausible_siren(x: str) -> bool:
    """Return False for nine digits that are no SIREN: the last one is not the check digit (Luhn).

    >>> is_plausible_siren("732829320"), is_plausible_siren("732829321"), is_plausible_siren("73282932")
    (True, False, True)
    """
    digits = digits_of(x, 9)
    return not digits or has_luhn_digit(digits) or bool(re.search(_EXAMPLE, x))


@function()
@_kept
def is_plausible_siret(x: str) -> bool:
    """Return False for 14 digits that are no SIRET: the last one is not the check digit (Luhn).

    >>> is_plausible_siret("73282932000074"), is_plausible_siret("73282932000075"), is_plausible_siret("35600000009075")
    (True, False, True)
    """
    digits = digits_of(x, 14)
    if x.startswith(_LA_POSTE) and digits and sum(digits) % 5 == 0:
        return True
    return not digits or has_luhn_digit(digits) or bool(re.search(_EXAMPLE, x[:9]))


_STATE: Final = "(?:0[1-9]|1[0-6])"
_DAY_AND_MONTH: Final = "(?:0[1-9]|1[0-6])(?:0[1-9]|1[0-2])20"
_LEITWEG_ID: Final = (
    rf"(?!{_DAY_AND_MONTH})(?:{_STATE}[0-9](?:[0-9]{{5}}|[0-9]{{6}}|[0-9]{{9}})|99[1-9])-[A-Z0-9]{{1,30}}-[0-9]{{2}}"
)
"""Number of a municipality (8, 9 or 12 digits, the state first) or of the federation, a part of the recipient's own,
and two check digits. Shorter numbers of states and districts are left out: order numbers look like them."""


def has_form_of_leitweg_id(x: str) -> bool:
    """Return whether a reference has the form of a Leitweg-ID, with any check digits.

    >>> has_form_of_leitweg_id("05711000-06001-64"), has_form_of_leitweg_id("2026-4711-12")
    (True, False)
    """
    return re.fullmatch(_LEITWEG_ID, x) is not None


@function()
@_kept
def is_plausible_leitweg_id(x: str) -> bool:
    """Return False for a reference that has the form of a Leitweg-ID, but wrong check digits (ISO 7064, MOD 97-10).

    >>> is_plausible_leitweg_id("05711000-06001-46"), is_plausible_leitweg_id("05711000-06001-64")
    (True, False)
    >>> is_plausible_leitweg_id("04011000-12345-34"), is_plausible_leitweg_id("2026-4711-12")
    (True, True)
    """
    if not has_form_of_leitweg_id(x) or re.search(_EXAMPLE, x):
        return True
    return _modulo_97(x.replace("-", "")) == 1


_CCYYMMDD: Final = "([0-9]{4})([0-9]{2})([0-9]{2})"


@function()
@_kept
def is_calendar_date(x: str) -> bool:
    """Return False for eight digits CCYYMMDD that are no day of the calendar; True for any other text.

    >>> is_calendar_date("20240229"), is_calendar_date("20260230"), is_calendar_date("202602")
    (True, False, True)
    """
    match = re.fullmatch(_CCYYMMDD, x)
    if not match:
        return True
    try:
        datetime.date(*map(int, match.groups()))
    except ValueError:
        return False
    return True


_USUAL_YEAR: Final = "(?:19|20)[0-9]{2}|2100"
_YEAR: Final = "(-?[0-9]{4,})-[0-9]{2}-[0-9]{2}|([0-9]{4})[0-9]{4}"


@function()
def is_usual_year(x: str) -> bool:
    """Return False for a date, as YYYY-MM-DD or CCYYMMDD, of a year before 1900 or after 2100.

    >>> is_usual_year("2026-01-15"), is_usual_year("22026-01-15"), is_usual_year("02260115"), is_usual_year("soon")
    (True, False, False, True)
    """
    if x[:2] in ("19", "20") and (len(x) == 8 or x[4:5] == "-"):
        return True
    match = re.match(_YEAR, x)
    return not match or re.fullmatch(_USUAL_YEAR, match[1] or match[2]) is not None
