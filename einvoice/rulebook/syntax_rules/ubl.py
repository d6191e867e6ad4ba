"""Checks of the UBL rules.

They reproduce the official tests exactly: some compare the exact text, some ignore case or white space.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from einvoice.model.values import Date, absent, normalize_space
from einvoice.rulebook.syntax_rules import france  # noqa: F401 (registers its checks)
from einvoice.rulebook.syntax_rules.checks import (
    Found,
    Occurrences,
    choice,
    in_code_list,
    per_context,
    per_document,
    per_element,
)
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import text, texts
from einvoice.syntax.mapping.binding import qualified

_CREDITORS: Final = (qualified("cac:AccountingSupplierParty"), qualified("cac:PayeeParty"))
_CREDIT_NOTE: Final = qualified("cn:CreditNote")


@per_element()
def decimals(rule: SyntaxRule, amounts: Found) -> Found:
    """At most `argument` characters after the decimal point, white space included."""
    allowed = int(rule.argument)
    violating = []
    for amount in amounts:
        number = text(amount) if len(amount) else amount.text or ""
        if len(number.partition(".")[2]) > allowed:
            violating.append(amount)
    return violating


@per_context()
def document_type(rule: SyntaxRule, document: Any, found: Found) -> bool:
    """The type of a document must be that of an invoiced object or, in a credit note, of a project, or be missing.

    Without a type there must be no scheme, since only the identifier of an invoiced object has one.
    """
    types = [text(node) for node in found if node.tag == qualified("cbc:DocumentTypeCode")]
    if "130" in types or ("50" in types and document.getroottree().getroot().tag == _CREDIT_NOTE):
        return False
    return bool(types) or any(node.get("schemeID") is not None for node in found)


@per_document(always=True)
def payee_not_seller(rule: SyntaxRule, occurrences: Occurrences) -> list[Any]:
    """The payee's name must occur at most once and differ from the seller's name.

    A payee or a seller without a name violates the rule too, since there are no two names to compare.
    """
    violating = []
    sellers: dict[Any, set[str]] = {}
    for payee, found in occurrences.items():
        parent = payee.getparent()
        if parent not in sellers:
            path = "cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName"
            sellers[parent] = set(texts(parent, path))
        payees = set(texts(payee, "cac:PartyName/cbc:Name"))
        differ = payees and sellers[parent] and len(payees | sellers[parent]) > 1
        if len(found) > 1 or not differ:
            violating.append(payee)
    return violating


@per_element()
def in_currency(rule: SyntaxRule, amounts: Found) -> Found:
    """The currency of an amount must be a code of the list `argument`; a missing currency violates the rule."""
    known = rule.codes(rule.argument)
    violating = []
    for amount in amounts:
        currency = amount.get("currencyID", "")
        if currency not in known and normalize_space(currency) not in known:
            violating.append(amount)
    return violating


@per_element()
def in_currency_exactly(rule: SyntaxRule, amounts: Found) -> Found:
    """Same as `in_currency`, with a choice as `argument` and without normalizing white space."""
    known = choice(rule)
    return [amount for amount in amounts if amount.get("currencyID") not in known]


@per_element()
def in_invoice_currency(rule: SyntaxRule, amounts: Found) -> Found:
    """The currency of an amount must be the invoice currency (BT-5); a missing currency violates the rule."""
    root = amounts[0].getroottree().getroot()
    known = frozenset(texts(root, "cbc:DocumentCurrencyCode"))
    return [amount for amount in amounts if amount.get("currencyID") not in known]


@per_element()
def calendar_date(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be a date in the form YYYY-MM-DD, without a time zone and blanks."""
    return [node for node in dates if len(text(node)) != 10 or Date(text(node)).date is absent]


@per_element()
def in_code_list_or_creditor(rule: SyntaxRule, identifiers: Found) -> Found:
    """Same as `in_code_list`; seller and payee may also have a creditor identifier (BT-90) with the scheme SEPA."""
    return [node for node in in_code_list(rule, identifiers) if not _is_creditor(node)]


def _is_creditor(identifier: Any) -> bool:
    if normalize_space(identifier.get("schemeID", "")) != "SEPA":
        return False
    return any(next(identifier.iterancestors(tag), None) is not None for tag in _CREDITORS)


@per_element()
def subject_in_code_list(rule: SyntaxRule, notes: Found) -> Found:
    """Three characters between the first two number signs of a note must be a code of the list `argument`.

    The official rule searches the list as one text, so the end of one code and the beginning of the next match too.
    """
    known = _as_text(rule)
    violating = []
    for note in notes:
        subject = _subject(text(note) if len(note) else note.text or "")
        if len(subject) == 3 and subject not in known:
            violating.append(note)
    return violating


@per_element()
def subject_in_code_list_text(rule: SyntaxRule, notes: Found) -> Found:
    """The text between the first two number signs of a note must be a part of the list `argument`, of any length.

    If there is only one number sign, this text is empty, and every list contains it.
    """
    known = _as_text(rule)
    return [note for note in notes if _subject(text(note)) not in known]


@functools.cache
def _as_text(rule: SyntaxRule) -> str:
    return f" {' '.join(rule.ordered_codes(rule.argument, rule.syntax))} "


def _subject(note: str) -> str:
    subject, sign, _ = note.partition("#")[2].partition("#")
    return subject if sign else ""
