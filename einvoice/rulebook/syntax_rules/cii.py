"""Conditions and checks of the CII rules.

They reproduce the official tests exactly: some compare the exact text, some ignore white space around it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import BLANKS, normalize_space
from einvoice.rulebook.syntax_rules import france_groups  # noqa: F401 (registers its checks)
from einvoice.rulebook.syntax_rules.checks import Found, Occurrences, per_context, per_document, per_element
from einvoice.rulebook.syntax_rules.rule import SyntaxRule, condition
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import qualified

_EIGHT: Final = re.compile(r"[0-9]{8}")
_DATE: Final = re.compile(rf"[{BLANKS}]*\d{{4}}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[{BLANKS}]*")
_INDICATOR: Final = qualified("ram:ChargeIndicator")
_ACCOUNT_NUMBERS: Final = (qualified("ram:IBANID"), qualified("ram:ProprietaryID"))
_BILLED: Final = tuple(
    qualified(step)
    for step in (
        "ram:BilledQuantity",
        "ram:SpecifiedLineTradeDelivery",
        "ram:IncludedSupplyChainTradeLineItem",
        "rsm:SupplyChainTradeTransaction",
        "rsm:CrossIndustryInvoice",
    )
)


@condition("CII")
def no_tax_total(amount: Any) -> bool:
    """An amount other than the VAT total (BT-110, BT-111), which alone has a currency."""
    return bool(amount.tag != qualified("ram:TaxTotalAmount"))


@condition("CII")
def format_102(date: Any) -> bool:
    """A date with the declared format YYYYMMDD (102)."""
    return bool(date.get("format") == "102")


@condition("CII")
def additional(document: Any) -> bool:
    """A referenced document: BG-24, BT-17 or BT-18."""
    return bool(document.tag == qualified("ram:AdditionalReferencedDocument"))


@condition("CII")
def tender(document: Any) -> bool:
    """A tender or lot (BT-17)."""
    return additional(document) and "50" in texts(document, "ram:TypeCode")


@condition("CII")
def invoiced_object(document: Any) -> bool:
    """An invoiced object (BT-18, BT-128)."""
    return additional(document) and "130" in texts(document, "ram:TypeCode")


@condition("CII")
def supporting(document: Any) -> bool:
    """A supporting document (BG-24)."""
    return additional(document) and "916" in texts(document, "ram:TypeCode")


@condition("CII")
def any_known(document: Any) -> bool:
    """A document of one of the three types in EN 16931."""
    return additional(document) and not {"50", "130", "916"}.isdisjoint(texts(document, "ram:TypeCode"))


@condition("CII")
def preceding_invoice(document: Any) -> bool:
    """A preceding invoice (BG-3)."""
    return bool(document.tag == qualified("ram:InvoiceReferencedDocument"))


@condition("CII")
def invoiced_object_trimmed(document: Any) -> bool:
    """An invoiced object, ignoring white space around its type."""
    return "130" in _normalized(document)


@condition("CII")
def supporting_trimmed(document: Any) -> bool:
    """A supporting document, ignoring white space around its type."""
    return "916" in _normalized(document)


@condition("CII")
def applicable_tax(tax: Any) -> bool:
    """The tax of a line or a VAT breakdown, not of an allowance or a charge."""
    return bool(tax.tag == qualified("ram:ApplicableTradeTax"))


@condition("CII", decided_by="ram:PayeePartyCreditorFinancialAccount/ram:IBANID")
def without_account(means: Any) -> bool:
    """A credit transfer without an account."""
    accounts = below(means, "ram:PayeePartyCreditorFinancialAccount")
    if any(child.tag in _ACCOUNT_NUMBERS for account in accounts for child in account):  # as in most documents
        return False
    return not {"30", "58"}.isdisjoint(_normalized(means))


def _normalized(element: Any) -> list[str]:
    return [normalize_space(code) for code in texts(element, "ram:TypeCode")]


@condition("CII")
def allowance(element: Any) -> bool:
    """An allowance, not a charge."""
    return not {"false", "0"}.isdisjoint(_indicators(element))


@condition("CII")
def charge(element: Any) -> bool:
    """A charge; with two indicators, it counts only as an allowance, since that rule comes first."""
    return not {"true", "1"}.isdisjoint(_indicators(element)) and not allowance(element)


def _indicators(element: Any) -> list[str]:
    return [word.strip(BLANKS) for word in texts(element, "ram:ChargeIndicator/udt:Indicator")]


@condition("CII")
def of_party(identifier: Any) -> bool:
    """An identifier outside items and ship-to parties, which have separate rules."""
    return not _inside(identifier, "ram:SpecifiedTradeProduct") and not _inside(identifier, "ram:ShipToTradeParty")


@condition("CII")
def of_no_product(identifier: Any) -> bool:
    """An identifier outside items, which have a separate rule."""
    return not _inside(identifier, "ram:SpecifiedTradeProduct")


@condition("CII")
def of_no_registration(identifier: Any) -> bool:
    """An identifier outside tax registrations."""
    return not _inside(identifier, "ram:SpecifiedTaxRegistration")


@condition("CII")
def without_scheme(identifier: Any) -> bool:
    """An identifier without a scheme that a rule checks, so that its text is checked."""
    return identifier.get("schemeID") is None or not of_no_registration(identifier)


def _inside(element: Any, name: str) -> bool:
    tag, ancestor = qualified(name), element.getparent()
    while ancestor is not None and ancestor.tag != tag:  # faster than an iterator of lxml
        ancestor = ancestor.getparent()
    return ancestor is not None


@per_element
def date(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be a date, written as YYYYMMDD."""
    return [element for element in dates if _DATE.fullmatch(text(element)) is None]


@per_element
def eight_digits(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be eight digits, or contain them if ``argument`` is ``within``; they need not be a date."""
    if rule.argument == "within":
        return [element for element in dates if _EIGHT.search(text(element)) is None]
    return [element for element in dates if _EIGHT.fullmatch(text(element).strip(BLANKS)) is None]


@per_context
def with_scheme(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If the element occurs, one occurrence must have a scheme."""
    return all(identifier.get("schemeID") is None for identifier in found)


@per_context
def one_child(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If the element occurs, its occurrences must have exactly one child ``argument`` in total."""
    return sum(1 for node in found for _ in below(node, rule.argument)) != 1


@per_context
def discount(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """An amount and an indicator of an allowance must occur together."""
    indicators = [node for node in found if node.tag == _INDICATOR]
    words = [word.strip(BLANKS) for node in indicators for word in texts(node, "udt:Indicator")]
    return len(indicators) == len(found) or not ("false" in words or "0" in words)


@per_document()
def only_with_billed_quantity(rule: SyntaxRule, occurrences: Occurrences) -> list[Any]:
    """The attribute must not occur, unless an invoiced quantity (BT-129) has it."""
    return [] if any(map(_is_billed, occurrences)) else list(occurrences)


def _is_billed(quantity: Any) -> bool:
    path = (quantity.tag, *(element.tag for element in quantity.iterancestors()))
    return path == _BILLED
