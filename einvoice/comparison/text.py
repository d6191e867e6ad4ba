"""Comparisons as text."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.comparison.compared import ComparedTerm, plain
from einvoice.comparison.content import Content, Entry
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_date, format_number
from einvoice.model import terms as business_terms
from einvoice.quotation import quote

LABELS: Final = Messages("einvoice.comparison", "diff")

#: Characters of a value up to which it is shown.
_LONGEST: Final = 200
_FILE: Final = "BT-125"
_SHOWN_OF_HASH: Final = 12
#: Terms of money, which have two decimals or more.
_MONEY: Final = ("Amount", "Unit price amount")


def label(term: ComparedTerm, lang: Language) -> str:
    """Return the name of the business term, of an element without a term its XPath, and the invoice line."""
    what = business_terms.name(term.term, lang) if term.term in business_terms.terms() else _without_term(term)
    return LABELS[lang]["of_line"].format(name=what, line=quote(term.invoice_line)) if term.invoice_line else what


def _without_term(term: ComparedTerm) -> str:
    entry = term.entry_a or term.entry_b
    return "" if entry is None else entry.xpath or entry.name


def heading(term: ComparedTerm, lang: Language) -> str:
    """Return "BT-153 Item name (line 3)"."""
    return " ".join(filter(None, (term.term, label(term, lang))))


def shown(entry: Entry, lang: Language) -> str:
    """Return the value of an entry for readers, with the scheme of an identifier behind it."""
    if entry.term == _FILE:
        return LABELS[lang]["file"].format(hash=str(entry.content)[:_SHOWN_OF_HASH])
    text = quote(_formatted(entry.content, entry.term, lang), limit=_LONGEST)
    return f"{text} ({quote(entry.scheme)})" if entry.scheme else text


def _formatted(content: Content, term: str, lang: Language) -> str:
    if isinstance(content, Decimal):
        known = business_terms.terms().get(term)
        return format_number(content, lang, decimals=2 if known and known.datatype in _MONEY else 0)
    return format_date(content, lang) if isinstance(content, datetime.date) else content


def text(terms: Sequence[ComparedTerm], lang: Language) -> str:
    """Return the differences, one in a line, below their numbers."""
    return "\n".join(_lines(terms, lang))


def _lines(terms: Sequence[ComparedTerm], lang: Language) -> Iterator[str]:
    labels = LABELS[lang]
    counts = Counter(it.status for it in terms)
    if counts["equal"] == len(terms):
        yield same(terms, lang)
        return
    numbers = {"changed": counts["changed"], "a": counts["only_in_a"], "b": counts["only_in_b"]}
    yield labels["counts"].format(**numbers, equal=counts["equal"])
    for it in terms:
        if it.status != "equal":
            yield labels["white_space" if it.only_white_space else it.status].format(
                term=heading(it, lang), a=_value(it.entry_a, lang), b=_value(it.entry_b, lang)
            )


def same(terms: Sequence[ComparedTerm], lang: Language) -> str:
    """Return that two invoices have the same content, with the number of values."""
    return LABELS[lang]["same"].format(count=len(terms))


def term_dict(term: ComparedTerm, lang: Language) -> dict[str, Any]:
    """Return a value as plain data, ready for JSON: numbers as decimal text, dates as in ISO 8601."""
    sides = {"a": _side(term.entry_a), "b": _side(term.entry_b)}
    place = {"group": term.group, "invoice_line": term.invoice_line}
    white_space = {"only_white_space": term.only_white_space}
    return {"status": term.status, "term": term.term, "name": label(term, lang), **place, **white_space, **sides}


def _side(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {"value": plain(entry.content), "scheme": entry.scheme, "line": entry.line, "xpath": entry.xpath}


def _value(entry: Entry | None, lang: Language) -> str:
    if entry is None:
        return ""
    if entry.line is None:
        return shown(entry, lang)
    return LABELS[lang]["value"].format(value=shown(entry, lang), line=entry.line)
