"""The sections of an invoice, to group findings by their first business term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from einvoice.errors import RuleError
from einvoice.model.terms import section as name_of_section
from einvoice.model.terms import terms as business_terms

#: By the business group of the section; all other terms belong to the document.
_OF_GROUP: Final = {
    "BG-4": "seller",
    "BG-7": "buyer",
    "BG-10": "payee",
    "BG-11": "tax_representative",
    "BG-13": "delivery",
    "BG-16": "payment",
    "BG-20": "allowances_charges",
    "BG-21": "allowances_charges",
    "BG-22": "totals",
    "BG-23": "vat",
    "BG-24": "attachments",
    "BG-25": "lines",
    "BG-DEX-09": "payment",
}
SECTIONS: Final = ("document", *dict.fromkeys(_OF_GROUP.values()))


def section(name: str | None, terms: Sequence[str], file: str) -> str:
    """Return the section that a rule names, or else that of its first term. Raise `RuleError` if it is unknown."""
    if name is not None and name not in SECTIONS:
        raise RuleError("must be one of " + ", ".join(SECTIONS), file=file, key="section")
    return name or (_of_term(terms[0], file) if terms else "document")


def title(section: str, language: str) -> str:
    """Return the title of a section. Raise `LookupError` for an unknown one.

    >>> title("vat", "de"), title("document", "en")
    ('Umsatzsteuer', 'Header')
    """
    groups = {name: group for group, name in reversed(_OF_GROUP.items())} | {"document": ""}
    return name_of_section(groups[section], language)


def _of_term(number: str, file: str) -> str:
    known = business_terms()
    while number not in _OF_GROUP:
        if number not in known:
            raise RuleError(f"unknown business term '{number}'", file=file, key="terms")
        number = known[number].parent
        if not number:
            return "document"
    return _OF_GROUP[number]
