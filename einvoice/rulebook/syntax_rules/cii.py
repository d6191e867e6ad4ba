"""The words that only the table of CII needs: conditions of elements, and kinds of rules.

They follow the official tests to the last blank: some compare a code as it stands, some without the blanks around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from einvoice.model.values import BLANKS
from einvoice.rulebook.syntax_rules.checks import Found, Occurrences, at_once, kind, together
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import collapse, qualified

_EIGHT: Final = re.compile(r"[0-9]{8}")
_DATE: Final = re.compile(rf"[{BLANKS}]*\d{{4}}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[{BLANKS}]*")
_INDICATOR: Final = qualified("ram:ChargeIndicator")
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


def no_tax_total(amount: Any) -> bool:
    """Any amount but the total of the tax (BT-110, BT-111), which alone has a currency."""
    return bool(amount.tag != qualified("ram:TaxTotalAmount"))


def format_102(date: Any) -> bool:
    """A date that says that it is written as YYYYMMDD."""
    return bool(date.get("format") == "102")


def additional(document: Any) -> bool:
    """One of the documents of BG-24 and of its neighbours BT-17 and BT-18."""
    return bool(document.tag == qualified("ram:AdditionalReferencedDocument"))


def tender(document: Any) -> bool:
    """A tender or lot (BT-17)."""
    return additional(document) and "50" in texts(document, "ram:TypeCode")


def invoiced_object(document: Any) -> bool:
    """An invoiced object (BT-18, BT-128)."""
    return additional(document) and "130" in texts(document, "ram:TypeCode")


def supporting(document: Any) -> bool:
    """A supporting document (BG-24)."""
    return additional(document) and "916" in texts(document, "ram:TypeCode")


def any_known(document: Any) -> bool:
    """A document of one of the three types that the norm knows."""
    return additional(document) and not {"50", "130", "916"}.isdisjoint(texts(document, "ram:TypeCode"))


def preceding_invoice(document: Any) -> bool:
    """A preceding invoice (BG-3)."""
    return bool(document.tag == qualified("ram:InvoiceReferencedDocument"))


def invoiced_object_trimmed(document: Any) -> bool:
    """An invoiced object, whatever the blanks around its type."""
    return "130" in _collapsed(document)


def supporting_trimmed(document: Any) -> bool:
    """A supporting document, whatever the blanks around its type."""
    return "916" in _collapsed(document)


def applicable_tax(tax: Any) -> bool:
    """The tax of a line or a breakdown, not of an allowance or a charge."""
    return bool(tax.tag == qualified("ram:ApplicableTradeTax"))


def without_account(means: Any) -> bool:
    """A credit transfer that names no account."""
    account = "ram:PayeePartyCreditorFinancialAccount"
    if not {"30", "58"}.intersection(_collapsed(means)):
        return False
    return not any(texts(means, f"{account}/{name}") for name in ("ram:IBANID", "ram:ProprietaryID"))


def _collapsed(element: Any) -> list[str]:
    return [collapse(code) for code in texts(element, "ram:TypeCode")]


def allowance(element: Any) -> bool:
    """An allowance, not a charge."""
    return not {"false", "0"}.isdisjoint(_indicators(element))


def charge(element: Any) -> bool:
    """A charge; with two indicators it counts as an allowance only, since that rule comes first."""
    return not {"true", "1"}.isdisjoint(_indicators(element)) and not allowance(element)


def _indicators(element: Any) -> list[str]:
    return [word.strip(BLANKS) for word in texts(element, "ram:ChargeIndicator/udt:Indicator")]


def of_party(identifier: Any) -> bool:
    """Not of an item or of the place of delivery, whose identifiers have rules of their own."""
    return not _inside(identifier, "ram:SpecifiedTradeProduct") and not _inside(identifier, "ram:ShipToTradeParty")


def of_no_product(identifier: Any) -> bool:
    """Not of an item, whose identifier has a rule of its own."""
    return not _inside(identifier, "ram:SpecifiedTradeProduct")


def of_no_registration(identifier: Any) -> bool:
    """Not the number of a tax registration."""
    return not _inside(identifier, "ram:SpecifiedTaxRegistration")


def without_scheme(identifier: Any) -> bool:
    """An identifier whose scheme no rule looks at, so that its text is free to be looked at."""
    return identifier.get("schemeID") is None or not of_no_registration(identifier)


def _inside(element: Any, name: str) -> bool:
    return next(element.iterancestors(qualified(name)), None) is not None


@at_once
def date(rule: SyntaxRule, dates: Found) -> Found:
    """The text is a date, written as YYYYMMDD."""
    return [element for element in dates if _DATE.fullmatch(text(element)) is None]


@at_once
def eight_digits(rule: SyntaxRule, dates: Found) -> Found:
    """The text is eight digits, or has them somewhere if ``argument`` is ``within``; they may be no date."""
    if rule.argument == "within":
        return [element for element in dates if _EIGHT.search(text(element)) is None]
    return [element for element in dates if _EIGHT.fullmatch(text(element).strip(BLANKS)) is None]


@kind
def with_scheme(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If there are any, one of them has a scheme."""
    return all(identifier.get("schemeID") is None for identifier in found)


@kind
def one_inside(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If there are any, they hold one ``argument`` between them."""
    return sum(1 for node in found for _ in below(node, rule.argument)) != 1


@kind
def discount(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """An amount and an indicator that says allowance, or neither of the two."""
    indicators = [node for node in found if node.tag == _INDICATOR]
    words = [word.strip(BLANKS) for node in indicators for word in texts(node, "udt:Indicator")]
    return len(indicators) == len(found) or not ("false" in words or "0" in words)


@together()
def unless_billed(rule: SyntaxRule, occurrences: Occurrences) -> Iterator[Any]:
    """It must not be there, unless one of the invoiced quantities (BT-129) has it."""
    if not any(map(_is_billed, occurrences)):
        yield from occurrences


def _is_billed(quantity: Any) -> bool:
    path = (quantity.tag, *(element.tag for element in quantity.iterancestors()))
    return path == _BILLED
