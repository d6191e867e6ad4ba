"""The words that only the table of UBL needs: conditions of elements, and kinds of rules.

They follow the official tests to the last blank: some compare a code as it stands, some ignore case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from einvoice.codelists import codes, ordered
from einvoice.model.values import BLANKS
from einvoice.rulebook.syntax_rules.checks import Found, Occurrences, at_once, kind, listed, together
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import collapse, qualified

_ALLOWANCE: Final = qualified("cac:AllowanceCharge")
_PRICE: Final = qualified("cac:Price")
_CREDITORS: Final = (qualified("cac:AccountingSupplierParty"), qualified("cac:PayeeParty"))
_TRUE = ("true", "1")
_FALSE = ("false", "0")


def credit_note(root: Any) -> bool:
    """The document is a credit note."""
    return bool(root.tag == qualified("cn:CreditNote"))


def of_invoice(element: Any) -> bool:
    """Part of an invoice, not of a credit note."""
    return not credit_note(element.getroottree().getroot())


def allowance(element: Any) -> bool:
    """An allowance, not a charge."""
    return _indicated(element, _FALSE)


def charge(element: Any) -> bool:
    """A charge; with two indicators it counts as an allowance only, since that rule comes first."""
    return _indicated(element, _TRUE) and not allowance(element)


def _indicated(element: Any, wanted: tuple[str, ...]) -> bool:
    for indicator in texts(element, "cbc:ChargeIndicator"):
        if (word := indicator.strip(BLANKS)) in wanted:
            return True
        if word not in (*_TRUE, *_FALSE):  # the artefact stops comparing here
            return False
    return False


def invoiced_object(document: Any) -> bool:
    """A reference to the invoiced object (BT-18)."""
    return "130" in texts(document, "cbc:DocumentTypeCode")


def other_document(document: Any) -> bool:
    """A reference with no type, or with one that is not the invoiced object's."""
    types = texts(document, "cbc:DocumentTypeCode")
    return not types or any(code != "130" for code in types)


def no_payment_code(element: Any) -> bool:
    """Anything but the code of the payment means, whose name is BT-82."""
    return bool(element.tag != qualified("cbc:PaymentMeansCode"))


def vat(registration: Any) -> bool:
    """A tax registration for VAT, in capitals or not."""
    return "VAT" in _schemes(registration)


def no_vat(registration: Any) -> bool:
    """A tax registration for something other than VAT, or for nothing that is named."""
    return any(scheme != "VAT" for scheme in _schemes(registration))


def _schemes(registration: Any) -> Iterator[str]:
    for scheme in below(registration, "cac:TaxScheme"):
        yield from [name.upper() for name in texts(scheme, "cbc:ID")] or [""]


def sepa(identifier: Any) -> bool:
    """A creditor identifier (BT-90)."""
    return bool(identifier.get("schemeID", "").upper() == "SEPA")


def no_sepa(identifier: Any) -> bool:
    """An identifier that is no creditor identifier."""
    return not sepa(identifier)


def no_price(amount: Any) -> bool:
    """An amount that is not part of a price: prices may have more decimals."""
    if amount.tag.endswith("PriceAmount"):
        return False
    around = (allowance.getparent() for allowance in amount.iterancestors(_ALLOWANCE))
    return all(element is None or element.tag != _PRICE for element in around)


@at_once
def decimals(rule: SyntaxRule, amounts: Found) -> Found:
    """No more than ``argument`` characters after the point; a blank is a character too."""
    allowed = int(rule.argument)
    return [amount for amount in amounts if len(text(amount).partition(".")[2]) > allowed]


@kind
def typed(rule: SyntaxRule, document: Any, found: Found) -> bool:
    """Of the types of a document only those of invoiced objects and, in credit notes, of projects; or else no type.

    With no type there is no scheme either, since only an invoiced object's identifier has one.
    """
    types = [text(node) for node in found if node.tag == qualified("cbc:DocumentTypeCode")]
    if "130" in types or ("50" in types and credit_note(document.getroottree().getroot())):
        return False
    return bool(types) or any(node.get("schemeID") is not None for node in found)


@together(always=True)
def another_payee(rule: SyntaxRule, occurrences: Occurrences) -> Iterator[Any]:
    """It is there once at most, and the payee is not called as the seller of the same document.

    A payee or a seller without a name breaks the rule too: then there are no two names that could differ.
    """
    sellers: dict[Any, set[str]] = {}
    for payee, found in occurrences.items():
        around = payee.getparent()
        if around not in sellers:
            path = "cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName"
            sellers[around] = set(texts(around, path))
        payees = set(texts(payee, "cac:PartyName/cbc:Name"))
        differ = payees and sellers[around] and len(payees | sellers[around]) > 1
        if len(found) > 1 or not differ:
            yield payee


@at_once
def in_currency(rule: SyntaxRule, amounts: Found) -> Found:
    """The currency of the amount is one of the list ``argument``; an amount without one has none of them."""
    known = codes(rule.argument, rule.release)
    return [amount for amount in amounts if collapse(amount.get("currencyID", "")) not in known]


@at_once
def listed_or_creditor(rule: SyntaxRule, identifiers: Found) -> Found:
    """As ``listed``; the seller and the payee may have a creditor identifier (BT-90), whose scheme is SEPA."""
    return [node for node in listed(rule, identifiers) if not _is_creditor(node)]


def _is_creditor(identifier: Any) -> bool:
    if collapse(identifier.get("schemeID", "")) != "SEPA":
        return False
    return any(next(identifier.iterancestors(tag), None) is not None for tag in _CREDITORS)


@at_once
def listed_subject(rule: SyntaxRule, notes: Found) -> Found:
    """Three characters between the first two number signs of a note are a code of the list ``argument``.

    The artefact looks for them in the list written as one text, so that the end of one code and the beginning of the
    next would do too.
    """
    known = f" {' '.join(ordered(rule.argument, rule.release, rule.syntax))} "
    return [note for note in notes if len(subject := _subject(text(note))) == 3 and subject not in known]


@at_once
def listed_part(rule: SyntaxRule, notes: Found) -> Found:
    """What stands between the first two number signs of a note is a part of the list ``argument``, of any length.

    With a single number sign that is nothing, which is a part of every list.
    """
    known = f" {' '.join(ordered(rule.argument, rule.release, rule.syntax))} "
    return [note for note in notes if _subject(text(note)) not in known]


def _subject(note: str) -> str:
    subject, sign, _ = note.partition("#")[2].partition("#")
    return subject if sign else ""
