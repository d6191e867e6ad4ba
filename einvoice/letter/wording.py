"""Replaces the numbers of business terms, and the name of an element, in a text by words."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from einvoice import cache
from einvoice.causes.change import capitalized
from einvoice.localization import Language, Messages, choose
from einvoice.model.terms import name, terms

if TYPE_CHECKING:
    from einvoice.result import Finding

_TEXTS: Final = Messages("einvoice.letter", "letter")
_PARTIES: Final = "parties.toml"
_NUMBER: Final = r"B[TG]-(?:DEX-|X-)?\d+(?:-\d+)?"
_ELEMENT: Final = re.compile(r"\b[a-z]{2,4}:[A-Z]\w+")
_ATTRIBUTE: Final = r"[a-z]+(?:ID|Code)"
_IN_BRACKETS: Final = re.compile(
    rf" ?\({_NUMBER}(?:(?:, | [a-zà-ü]+ |/){_NUMBER})*\)| (?:\(|in |dans )({_ELEMENT.pattern}|{_ATTRIBUTE}\b)\)?"
)
_ALONE: Final = re.compile(_NUMBER)
_QUOTATION: Final = re.compile(r"(„[^“]*“|“[^”]*”|«[^»]*»)")
_QUOTED_NUMBER: Final = re.compile(r"([„“«]\s?[−\d][\d.,\u202f]*)(\s?[“”»])")
_LABEL: Final = re.compile(rf"(.\s?)(.*) \(({_NUMBER})\)(\s?.)")


def without_codes(text: str, lang: Language, finding: Finding | None = None) -> str:
    """Return a text without numbers of business terms: in brackets they are removed, elsewhere replaced by the name.

    Quotations from the document stay as they are.

    Args:
        text: of a finding or cause.
        lang: language of the text.
        finding: the finding; the name of its term replaces the name of its element.
    """
    if finding:
        for element in _elements(finding):
            text = text.replace(element, finding.terms[0])
    parts = _QUOTATION.split(text)  # every second one is a quotation
    parts[::2] = (_ALONE.sub(lambda match: _quoted(match[0], lang), _IN_BRACKETS.sub("", it)) for it in parts[::2])
    parts[1::2] = (_without_number(it, lang) for it in parts[1::2])
    return "".join(parts)


def addressed(text: str, lang: Language) -> str:
    """Return a text in which the recipient of the invoice is "we" and its issuer "you", outside of quotations."""
    parts = _QUOTATION.split(text)
    for at in range(0, len(parts), 2):
        for pattern, words in choose(_parties(), lang).items():
            parts[at] = re.sub(pattern, words, parts[at])
    return capitalized("".join(parts))


@functools.cache
def _parties() -> Mapping[Language, Mapping[str, str]]:
    return cache.toml(Path(__file__).with_name(_PARTIES))


def with_currency(text: str, currency: str) -> str:
    """Return a text in which numbers that are a quotation have a currency.

    >>> with_currency("Change “7” to “1,190.00” in “line 1”.", "EUR")
    'Change “7 EUR” to “1,190.00 EUR” in “line 1”.'
    """
    return _QUOTED_NUMBER.sub(rf"\1 {currency}\2", text) if currency else text


def clauses(text: str) -> list[str]:
    """Return the parts of a text that semicolons separate outside of quotations, each as a sentence.

    >>> clauses("Change “a; b” to “c”; add “d”.")
    ['Change “a; b” to “c”.', 'Add “d”.']
    """
    parts = _QUOTATION.split(text)
    parts[::2] = (it.replace("; ", "\n") for it in parts[::2])
    return [f"{capitalized(it.rstrip('.'))}." for it in "".join(parts).split("\n")]


def names_element(text: str) -> bool:
    """Return whether a text names an element of the XML outside of quotations."""
    return _ELEMENT.search("".join(_QUOTATION.split(text)[::2])) is not None


def _without_number(quotation: str, lang: Language) -> str:
    """Return a quotation; if it is the name of a term with its number, without that."""
    match = _LABEL.fullmatch(quotation)
    is_label = match and match[3] in terms() and name(match[3], lang).lower().startswith(match[2].lower())
    return f"{match[1]}{match[2]}{match[4]}" if match and is_label else quotation


def _elements(finding: Finding) -> list[str]:
    """Return the names of the element that a finding with a term is about."""
    found = (finding.values.get(key) for key in ("element", "place"))
    return [it for it in found if isinstance(it, str) and it and finding.terms]


def _quoted(number: str, lang: Language) -> str:
    return _TEXTS[lang]["quoted"].format(name=name(number, lang)) if number in terms() else number
