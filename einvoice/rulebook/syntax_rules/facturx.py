"""Conditions and checks of the Factur-X profiles.

They reproduce the official tests exactly; texts are compared without normalization.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from einvoice.model.values import BLANKS, normalize_space
from einvoice.rulebook.syntax_rules.checks import Found, per_context_always, per_element
from einvoice.rulebook.syntax_rules.rule import SyntaxRule, condition
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import qualified

_FACTURX: Final = "facturx"
_SETTLEMENT: Final = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement"


@condition(_FACTURX)
def indicated_true(element: Any) -> bool:
    """A charge: the indicator is ``true``."""
    return "true" in _indicators(element)


@condition(_FACTURX)
def indicated_false(element: Any) -> bool:
    """An allowance: the indicator is ``false``."""
    return "false" in _indicators(element)


@condition(_FACTURX, decided_by="ram:ChargeIndicator/udt:Indicator")
def neither_indicated(element: Any) -> bool:
    """Neither a charge nor an allowance."""
    return not (indicated_true(element) or indicated_false(element))


def _indicators(element: Any) -> list[str]:
    return texts(element, "ram:ChargeIndicator/udt:Indicator")


@condition(_FACTURX)
def of_type_50(document: Any) -> bool:
    """A tender or lot (BT-17)."""
    return "50" in texts(document, "ram:TypeCode")


@condition(_FACTURX)
def of_type_130(document: Any) -> bool:
    """An invoiced object (BT-18, BT-128)."""
    return "130" in texts(document, "ram:TypeCode")


@condition(_FACTURX)
def of_type_916(document: Any) -> bool:
    """A supporting document (BG-24)."""
    return "916" in texts(document, "ram:TypeCode")


@condition(_FACTURX, decided_by="ram:TypeCode")
def of_other_type(document: Any) -> bool:
    """A document of another type."""
    return {"50", "130", "916"}.isdisjoint(texts(document, "ram:TypeCode"))


@condition(_FACTURX)
def with_vat_number(registration: Any) -> bool:
    """A registration with a VAT number."""
    return "VA" in _schemes(registration)


@condition(_FACTURX)
def with_tax_number(registration: Any) -> bool:
    """A registration with a national tax number."""
    return "FC" in _schemes(registration)


@condition(_FACTURX, decided_by="ram:ID/@schemeID")
def with_other_number(registration: Any) -> bool:
    """A registration with another number."""
    return {"VA", "FC"}.isdisjoint(_schemes(registration))


def _schemes(registration: Any) -> set[Any]:
    return {number.get("schemeID") for number in registration.iterchildren(qualified("ram:ID"))}


@condition(_FACTURX)
def unlisted(code: Any) -> bool:
    """A code without a list."""
    return code.get("listID") is None


@condition(_FACTURX)
def of_list_5153(code: Any) -> bool:
    """A code of a tax type (UNTDID 5153)."""
    return bool(code.get("listID") == "5153")


@condition(_FACTURX, decided_by="@listID")
def of_other_list(code: Any) -> bool:
    """A code of another list."""
    return not (unlisted(code) or of_list_5153(code))


@condition(_FACTURX)
def in_invoice_currency(amount: Any) -> bool:
    """An amount in the currency of the invoice (BT-5)."""
    return amount.get("currencyID") in _currencies(amount, "ram:InvoiceCurrencyCode")


@condition(_FACTURX)
def in_tax_currency(amount: Any) -> bool:
    """An amount in the currency of the tax (BT-6)."""
    return amount.get("currencyID") in _currencies(amount, "ram:TaxCurrencyCode")


@condition(_FACTURX, decided_by="@currencyID")
def in_other_currency(amount: Any) -> bool:
    """An amount in another currency."""
    return not (in_invoice_currency(amount) or in_tax_currency(amount))


def _currencies(amount: Any, name: str) -> list[str]:
    """Return the currencies of the settlement around an amount; for an amount of a line, those of the invoice."""
    settlement = next(amount.iterancestors(qualified("ram:ApplicableHeaderTradeSettlement")), None)
    if settlement is not None:
        return texts(settlement, name)
    return texts(amount.getroottree().getroot(), f"{_SETTLEMENT}/{name}")


@condition(_FACTURX)
def with_subject(note: Any) -> bool:
    """A note with a subject code."""
    return bool(texts(note, "ram:SubjectCode"))


@condition(_FACTURX)
def of_other_party(number: Any) -> bool:
    """The number of a tax registration outside the seller."""
    return next(number.iterancestors(qualified("ram:SellerTradeParty")), None) is None


@condition(_FACTURX)
def format_205(date: Any) -> bool:
    """A date and time with the declared format YYYYMMDDHHMM (205)."""
    return bool(date.get("format") == "205")


@condition(_FACTURX)
def credit_transfer(means: Any) -> bool:
    """A credit transfer."""
    return not {"30", "58"}.isdisjoint(map(normalize_space, texts(means, "ram:TypeCode")))


@per_context_always
def one_account(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """An account must have either an IBAN or another number, but not both."""
    return len({node.tag for node in found}) != 1


@per_element
def vat_number(rule: SyntaxRule, numbers: Found) -> Found:
    """The scheme must be that of a VAT number."""
    return [number for number in numbers if number.get("schemeID") != "VA"]


@per_context_always
def value_or_measure(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Either a value or a value with a unit must occur, but not both."""
    measures = [node for node in found if node.tag == qualified("ram:ValueMeasure")]
    if len(measures) == len(found):
        return not any(measure.get("unitCode") for measure in measures)
    return bool(measures)


@per_element
def due_date_if_payable(rule: SyntaxRule, amounts: Found) -> Found:
    """A positive amount due requires a due date or payment terms; EN 16931 had the rule until 1.3.16."""
    return [amount for amount in amounts if _is_positive(text(amount)) and not _is_due(amount)]


def _is_positive(amount: str) -> bool:
    try:
        return Decimal(amount.strip(BLANKS)) > 0
    except InvalidOperation:
        return False


def _is_due(amount: Any) -> bool:
    terms = amount.getroottree().getroot().iter(qualified("ram:SpecifiedTradePaymentTerms"))
    return any(below(it, "ram:DueDateDateTime") or below(it, "ram:Description") for it in terms)


_DATE_TIME: Final = re.compile(
    rf"[{BLANKS}]*\d{{4}}(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])([01]\d|2[0-3])[0-5]\d[{BLANKS}]*"
)


@per_element
def date_time(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be a date and time, written as YYYYMMDDHHMM."""
    return [element for element in dates if _DATE_TIME.fullmatch(text(element)) is None]
