"""The words that only the rows of the Factur-X levels need: conditions of elements, and kinds of rules.

They follow the official tests to the last blank, and compare texts as they stand.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from einvoice.model.values import BLANKS
from einvoice.rulebook.syntax_rules.checks import Found, always, at_once
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import qualified

_SETTLEMENT: Final = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement"


def indicated_true(element: Any) -> bool:
    """A charge, by an indicator that says ``true``."""
    return "true" in _indicators(element)


def indicated_false(element: Any) -> bool:
    """An allowance, by an indicator that says ``false``."""
    return "false" in _indicators(element)


def neither_indicated(element: Any) -> bool:
    """Neither a charge nor an allowance."""
    return not (indicated_true(element) or indicated_false(element))


def _indicators(element: Any) -> list[str]:
    return texts(element, "ram:ChargeIndicator/udt:Indicator")


def of_type_50(document: Any) -> bool:
    """A tender or lot (BT-17)."""
    return "50" in texts(document, "ram:TypeCode")


def of_type_130(document: Any) -> bool:
    """An invoiced object (BT-18, BT-128)."""
    return "130" in texts(document, "ram:TypeCode")


def of_type_916(document: Any) -> bool:
    """A supporting document (BG-24)."""
    return "916" in texts(document, "ram:TypeCode")


def of_other_type(document: Any) -> bool:
    """A document of none of these types."""
    return {"50", "130", "916"}.isdisjoint(texts(document, "ram:TypeCode"))


def with_vat_number(registration: Any) -> bool:
    """A registration with a VAT number."""
    return "VA" in _schemes(registration)


def with_tax_number(registration: Any) -> bool:
    """A registration with a national tax number."""
    return "FC" in _schemes(registration)


def with_other_number(registration: Any) -> bool:
    """A registration with neither of the two."""
    return {"VA", "FC"}.isdisjoint(_schemes(registration))


def _schemes(registration: Any) -> set[Any]:
    return {number.get("schemeID") for number in registration.iterchildren(qualified("ram:ID"))}


def unlisted(code: Any) -> bool:
    """A code that names no list."""
    return code.get("listID") is None


def of_list_5153(code: Any) -> bool:
    """A code of the taxes (UNTDID 5153)."""
    return bool(code.get("listID") == "5153")


def of_other_list(code: Any) -> bool:
    """A code of some other list."""
    return not (unlisted(code) or of_list_5153(code))


def in_invoice_currency(amount: Any) -> bool:
    """An amount in the currency of the invoice (BT-5)."""
    return amount.get("currencyID") in _currencies(amount, "ram:InvoiceCurrencyCode")


def in_tax_currency(amount: Any) -> bool:
    """An amount in the currency of the tax (BT-6)."""
    return amount.get("currencyID") in _currencies(amount, "ram:TaxCurrencyCode")


def in_other_currency(amount: Any) -> bool:
    """An amount in neither of the two."""
    return not (in_invoice_currency(amount) or in_tax_currency(amount))


def _currencies(amount: Any, name: str) -> list[str]:
    return texts(amount.getroottree().getroot(), f"{_SETTLEMENT}/{name}")


def with_subject(note: Any) -> bool:
    """A note that names its subject."""
    return bool(texts(note, "ram:SubjectCode"))


def of_other_party(number: Any) -> bool:
    """The number of a registration of anybody but the seller."""
    return next(number.iterancestors(qualified("ram:SellerTradeParty")), None) is None


def format_205(date: Any) -> bool:
    """A date and time that says that it is written as YYYYMMDDHHMM."""
    return bool(date.get("format") == "205")


@at_once
def vat_number(rule: SyntaxRule, numbers: Found) -> Found:
    """It is a VAT number, by its scheme."""
    return [number for number in numbers if number.get("schemeID") != "VA"]


@always
def value_or_measure(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """A value, or a value with a unit, but not both."""
    measures = [node for node in found if node.tag == qualified("ram:ValueMeasure")]
    if len(measures) == len(found):
        return not any(measure.get("unitCode") for measure in measures)
    return bool(measures)


@at_once
def with_due_date(rule: SyntaxRule, amounts: Found) -> Found:
    """Nothing is to pay, or the document says when; EN 16931 had the rule until 1.3.16."""
    return [amount for amount in amounts if _is_positive(text(amount)) and not _is_due(amount)]


def _is_positive(said: str) -> bool:
    try:
        return Decimal(said.strip(BLANKS)) > 0
    except InvalidOperation:
        return False


def _is_due(amount: Any) -> bool:
    terms = amount.getroottree().getroot().iter(qualified("ram:SpecifiedTradePaymentTerms"))
    return any(below(it, "ram:DueDateDateTime") or below(it, "ram:Description") for it in terms)


_MOMENT: Final = re.compile(rf"[{BLANKS}]*\d{{4}}(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])([01]\d|2[0-3])[0-5]\d[{BLANKS}]*")


@at_once
def moment(rule: SyntaxRule, dates: Found) -> Found:
    """The text is a date and a time, written as YYYYMMDDHHMM."""
    return [element for element in dates if _MOMENT.fullmatch(text(element)) is None]
