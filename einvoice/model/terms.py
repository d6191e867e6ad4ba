"""Business terms of EN 16931-1 and the XRechnung extension: names, cardinalities, types and fields of the model.

`terms.csv` has one row for each group (`BG-…`), each term (`BT-…`) and each numbered attribute of a term
(`BT-29-1`), in the order of the standard. It is loaded on first use. The names are in the message files.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from einvoice import cache
from einvoice.localization import Language, Messages

_NAMES: Final = Messages("einvoice.model", "terms")
#: Accounting names of the sections of an invoice, by the group that begins the section; "" is the invoice itself.
_SECTIONS: Final = Messages("einvoice.model", "sections")


_GRAMMAR: Final = Messages("einvoice.model", "grammar")
_BT_FIELD: Final = r"BT-\d+"


class Term(NamedTuple):
    """A business term or group of the standard.

    Attributes:
        number: such as "BT-31", "BG-4" or "BT-29-1".
        parent: the group it belongs to, "" for the invoice itself.
        cardinality: 0..1, 1..1, 0..n or 1..n.
        datatype: semantic data type of the standard, or "Group".
        path: fields of the model from the invoice to the term, joined by dots.
    """

    number: str
    parent: str
    cardinality: str
    datatype: str
    path: str


@functools.cache
def terms() -> Mapping[str, Term]:
    """Return all terms by number, in the order of the standard."""
    header, *rows = cache.table(Path(__file__).with_name("terms.csv"))
    return MappingProxyType({row[0]: _term(dict(zip(header, row, strict=True))) for row in rows})


def _term(row: dict[str, str]) -> Term:
    return Term(row["number"], row["parent"], row["cardinality"], row["datatype"], row["field"])


def term(number: str) -> Term:
    """Return the term with this number, such as `BT-31`, `BG-4` or `BT-29-1`.

    Raises:
        LookupError: the number is not defined by EN 16931 or the XRechnung extension.

    >>> term("BT-37").parent, term("BT-37").cardinality, term("BT-37").datatype
    ('BG-5', '0..1', 'Text')
    """
    try:
        return terms()[number]
    except KeyError:
        raise LookupError(f"{number!r} is not a business term of EN 16931 or of the XRechnung extension") from None


def name(number: str, language: Language) -> str:
    """Return the name of a term.

    Raises:
        LookupError: unknown number.

    >>> name("BT-37", "en"), name("BT-37", "de")
    ('Seller city', 'Ort des Verkäufers')
    """
    return _NAMES[language][term(number).number]


def is_plural(number: str, language: Language) -> bool:
    """Return whether the name of a term is a plural; its verb depends on it.

    >>> is_plural("BG-22", "de"), is_plural("BG-23", "de")
    (True, False)
    """
    return number in _GRAMMAR[language].get("plural", "").split()


def similar(text: str) -> str:
    """Return the number of the term that a text probably means: its number, field or name; "" if there is none.

    >>> similar("bt-1"), similar("issue_date"), similar("Fälligkeitsdatum der Zahlung"), similar("?")
    ('BT-1', 'BT-2', 'BT-9', '')
    """
    from difflib import get_close_matches  # on use: only for messages

    known = reversed(list(terms().values()))  # of several terms with the same path, the first
    candidates = {spelling.lower(): it.number for it in known for spelling in (it.path, it.number)}
    for language in _NAMES.languages():
        candidates |= {text.lower(): number for number, text in _NAMES[language].items()}
    return next((candidates[it] for it in get_close_matches(text.lower(), candidates, 1)), "")


def section(number: str, language: Language) -> str:
    """Return the accounting name of the section that a term belongs to; "" is the invoice itself.

    Raises:
        LookupError: unknown number.

    >>> section("BT-37", "de"), section("BT-131", "en"), section("", "de")
    ('Verkäufer', 'Lines', 'Kopfdaten')
    """
    names = _SECTIONS[language]
    while number not in names:
        number = term(number).parent
    return names[number]


def leading(numbers: Sequence[str]) -> str:
    """Return the first of the terms; for a group its first term; "" if there are no terms.

    >>> leading(["BT-106", "BT-131"]), leading(["BG-5"]), leading([])
    ('BT-106', 'BT-35', '')
    """
    if not numbers or numbers[0].startswith("BT-"):
        return numbers[0] if numbers else ""
    return _first_term(numbers[0])


@functools.lru_cache(maxsize=256)
def _first_term(group: str) -> str:
    return next((it for it in terms() if it.startswith("BT-") and group in _ancestors(it)), "")


def bt_field(numbers: Sequence[str]) -> str:
    """Return the leading term in the form `BT-<number>`; "" if there is none, as for terms of an extension.

    An attribute is represented by its term.

    >>> bt_field(["BT-106", "BT-131"]), bt_field(["BG-5"]), bt_field(["BT-18-1"]), bt_field(["BT-DEX-001", "BT-24"])
    ('BT-106', 'BT-35', 'BT-18', '')
    """
    match = re.match(_BT_FIELD, leading(numbers))
    return match[0] if match else ""


def _ancestors(number: str) -> Iterator[str]:
    while number := terms()[number].parent:
        yield number


def path_of(number: str) -> str:
    """Return the fields from the invoice to a term, joined by dots; lists are not indexed.

    If UBL and CII have a term in different groups, this is the path that most rules read.

    Raises:
        LookupError: unknown number.

    >>> path_of("BT-37"), path_of("BT-130")
    ('seller.address.city', 'lines.quantity.unit')
    """
    return term(number).path
