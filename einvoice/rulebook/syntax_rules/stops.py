"""What stops the official Schematron, and the conditions in its tables.

An expression of XPath can raise an error: a function that takes one item, such as ``normalize-space``, if its path
leads to several (XPath 2.0, err:XPTY0004), and a comparison with a number if the text is none (err:FORG0001). The
Schematron then stops: its layer has no result, whatever else it would have reported. The files ``stops/ubl.csv`` and
``stops/cii.csv`` of a rule set list such expressions, with the rule that has them. What ends the path says how it is
read: as one element, ``/text()`` as one text node, ``/number()`` as a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from einvoice.model.values import Text, absent, normalize_space, parse_number
from einvoice.rulebook.functions.arithmetic import double
from einvoice.rulebook.syntax_rules.checks import Found, per_context, per_element
from einvoice.rulebook.syntax_rules.rule import Condition, SyntaxRule, condition
from einvoice.rulebook.syntax_rules.xpath import below, text, texts

CODE: Final = "LAYER-STOPPED"
FOLDER: Final = "stops"
COLUMNS: Final = ["rule", "context", "path", "since", "until"]
SINGLE: Final = "single"
SINGLE_TEXT: Final = "single_text"
NUMERIC: Final = "numeric"
CHECKS: Final = (SINGLE, SINGLE_TEXT, NUMERIC)
READ_AS: Final = {"/text()": SINGLE_TEXT, "/number()": NUMERIC}
"""Endings of paths, with their checks; without one, `SINGLE`."""

_CVD: Final = "#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_"
_ENDING_IN_SKONTO: Final = re.compile(
    r"#SKONTO#TAGE=[0-9]+#PROZENT=[0-9]+\.[0-9]{2}(#BASISBETRAG=-?[0-9]+\.[0-9]{2})?#\Z"
)
_SKONTO: Final = re.compile("^" + _ENDING_IN_SKONTO.pattern)
_SKONTO_OR_INTEREST: Final = re.compile(_ENDING_IN_SKONTO.pattern.replace("SKONTO", "(SKONTO|VERZUG)"))


@per_context
def single(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The rule ``argument`` of the Schematron reads the elements as one item."""
    return len(found) > 1


@per_context
def single_text(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The rule ``argument`` reads the text nodes as one item; the collector lists an element for each.

    An empty element has none.
    """
    return len(found) > 1 and sum(text(it) != "" for it in found) > 1


@per_element
def numeric(rule: SyntaxRule, found: Found) -> Found:
    """The rule ``argument`` of the Schematron compares the text with a number."""
    return [element for element in found if double(Text(text(element))) is absent]


# ------------------------------------------------------------------------------------------------------------------ CII


@condition("CII")
def outside_scope_rules(tax: Any) -> bool:
    """A VAT breakdown that no earlier rule matches, as those for the categories L, M and O do."""
    is_vat = "VAT" in (it.upper() for it in texts(tax, "ram:TypeCode"))
    return not is_vat or {"L", "M", "O"}.isdisjoint(texts(tax, "ram:CategoryCode"))


def _added_to(category: str, *, by_rate: bool) -> Condition:
    """Return the condition that BR-*-08 adds an amount to the VAT breakdown of a category, for some by its rate."""

    def is_added(element: Any) -> bool:
        taxes = below(element, "ram:ApplicableTradeTax") or below(element, "ram:CategoryTradeTax")
        own = [it for it in taxes if category in texts(it, "ram:CategoryCode")]
        breakdown = [it for it in _breakdowns(element) if category in texts(it, "ram:CategoryCode")]
        return bool(own and breakdown) and not (by_rate and _rates(taxes).isdisjoint(_rates(breakdown)))

    is_added.__name__ = f"added_to_{category}"
    return condition("CII")(is_added)


added_to = [
    *(_added_to(category, by_rate=True) for category in ("S", "L", "M")),
    *(_added_to(category, by_rate=False) for category in ("AE", "E", "G", "K", "O", "Z")),
]
"""An amount of a line or allowance that the rule about the breakdown of a category adds up."""


def _breakdowns(element: Any) -> list[Any]:
    root = element.getroottree().getroot()
    return below(root, "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement/ram:ApplicableTradeTax")


def _rates(taxes: Iterable[Any]) -> set[Any]:
    return {parse_number(it) for tax in taxes for it in texts(tax, "ram:RateApplicablePercent")} - {absent}


def _in_breakdown(settlement: Any, *, by_code: bool) -> bool:
    """Return whether EXTENDED adds a line to a breakdown, which it selects by category, rate and exemption code."""
    taxes = below(settlement, "ram:ApplicableTradeTax")
    categories = {code for it in taxes for code in texts(it, "ram:CategoryCode")}
    breakdowns = [it for it in _breakdowns(settlement) if not categories.isdisjoint(texts(it, "ram:CategoryCode"))]
    fitting = [it for it in breakdowns if not _rates(taxes).isdisjoint(_rates([it]))]
    codes = _exemption_codes(taxes)
    return any(not by_code or codes == _exemption_codes([it]) for it in fitting)


def _exemption_codes(taxes: Iterable[Any]) -> list[str]:
    return [normalize_space(code) for it in taxes for code in texts(it, "ram:ExemptionReasonCode")]


@condition("facturx")
def in_breakdown(settlement: Any) -> bool:
    """A line of a VAT breakdown: its exemption reason codes are read."""
    return _in_breakdown(settlement, by_code=False)


@condition("facturx")
def in_breakdown_by_code(settlement: Any) -> bool:
    """A line of a VAT breakdown with the same exemption reason code: its exemption reasons are read."""
    return _in_breakdown(settlement, by_code=True)


@condition("CII")
def written_false(allowance: Any) -> bool:
    """An allowance whose indicator is the text ``false``."""
    return "false" in texts(allowance, "ram:ChargeIndicator/udt:Indicator")


@condition("CII")
def written_true(charge: Any) -> bool:
    """A charge whose indicator is the text ``true``."""
    return "true" in texts(charge, "ram:ChargeIndicator/udt:Indicator")


@condition("CII")
def in_invoice_currency(amount: Any) -> bool:
    """An amount in the invoice currency (BT-5)."""
    settlement = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement/ram:InvoiceCurrencyCode"
    return amount.get("currencyID") in texts(amount.getroottree().getroot(), settlement)


@condition("CII")
def vat_number(identifier: Any) -> bool:
    """A VAT identifier among the tax registrations."""
    return bool(identifier.get("schemeID") == "VA")


@condition("CII")
def with_tax_currency(settlement: Any) -> bool:
    """A settlement with a VAT accounting currency (BT-6)."""
    return bool(below(settlement, "ram:TaxCurrencyCode"))


@condition("CII")
def calculated(allowance: Any) -> bool:
    """An allowance or charge with a percentage and a base amount."""
    return bool(below(allowance, "ram:CalculationPercent") and below(allowance, "ram:BasisAmount"))


@condition("CII")
def percentage_with_base(allowance: Any) -> bool:
    """An allowance or charge that no earlier rule matches, as those for a percentage or a base amount alone do."""
    return bool(below(allowance, "ram:CalculationPercent")) == bool(below(allowance, "ram:BasisAmount"))


@condition("CII")
def with_amount(price: Any) -> bool:
    """A gross price with an amount (BT-148)."""
    return bool(below(price, "ram:ChargeAmount"))


@condition("CII")
def with_actual_amount(discount: Any) -> bool:
    """A price discount with an amount (BT-147)."""
    return bool(below(discount, "ram:ActualAmount"))


@condition("CII")
def with_gross_price(agreement: Any) -> bool:
    """The prices of a line with a gross price (BT-148)."""
    return bool(below(agreement, "ram:GrossPriceProductTradePrice/ram:ChargeAmount"))


@condition("CII")
def vehicle_category(attribute: Any) -> bool:
    """The item attribute (BG-32) with the vehicle category of an invoice under the Clean Vehicles Directive."""
    context = "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID"
    declared = texts(attribute.getroottree().getroot(), context)
    return "cva" in texts(attribute, "ram:Description") and any(_CVD in it for it in declared)


@condition("CII")
def with_description(terms: Any) -> bool:
    """Payment terms with a text (BT-20)."""
    return bool(below(terms, "ram:Description"))


@condition("CII")
def with_skonto(settlement: Any) -> bool:
    """Payment terms whose first line for machines is a cash discount, so that the text behind it is read."""
    return _is_first(_SKONTO, _descriptions(settlement))


@condition("CII")
def ending_in_skonto(settlement: Any) -> bool:
    """As ``with_skonto``, in releases in which a line only had to end like that."""
    return _is_first(_ENDING_IN_SKONTO, _descriptions(settlement))


@condition("CII")
def with_skonto_or_interest(settlement: Any) -> bool:
    """As ``ending_in_skonto``, in releases that also had late payment interest."""
    return _is_first(_SKONTO_OR_INTEREST, _descriptions(settlement))


def _descriptions(settlement: Any) -> list[str]:
    return _first_texts(below(settlement, "ram:SpecifiedTradePaymentTerms"), "ram:Description")


@condition("CII")
def without_preceding_invoice(code: Any) -> bool:
    """The type (BT-3) of an invoice without a preceding invoice (BG-3): with one, its number is not read."""
    preceding = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement/ram:InvoiceReferencedDocument"
    return not below(code.getroottree().getroot(), preceding)


# ------------------------------------------------------------------------------------------------------------------ UBL


@condition("UBL")
def without_billing_reference(code: Any) -> bool:
    """The type (BT-3) of an invoice without a preceding invoice (BG-3): with one, its number is not read."""
    return not below(code.getparent(), "cac:BillingReference/cac:InvoiceDocumentReference")


@condition("UBL")
def in_document_currency(amount: Any) -> bool:
    """An amount in the invoice currency (BT-5)."""
    return amount.get("currencyID") in texts(amount.getroottree().getroot(), "cbc:DocumentCurrencyCode")


@condition("UBL")
def of_intra_community_supply(delivery: Any) -> bool:
    """The delivery of an invoice with an intra-community supply (K) in its VAT breakdown."""
    categories = below(delivery.getparent(), "cac:TaxTotal/cac:TaxSubtotal/cac:TaxCategory")
    vat = [it for it in categories if "VAT" in (normalize_space(x.upper()) for x in texts(it, "cac:TaxScheme/cbc:ID"))]
    return any(normalize_space(code) == "K" for it in vat for code in texts(it, "cbc:ID"))


@condition("UBL")
def dated_intra_community_supply(delivery: Any) -> bool:
    """As ``of_intra_community_supply``, without an invoicing period (BG-14), which is read first."""
    periods = below(delivery.getparent(), "cac:InvoicePeriod")
    return of_intra_community_supply(delivery) and not any(len(it) for it in periods)


@condition("UBL")
def beside_tax_currency(currency: Any) -> bool:
    """The invoice currency (BT-5) of an invoice with a VAT accounting currency (BT-6)."""
    return bool(below(currency.getparent(), "cbc:TaxCurrencyCode"))


@condition("UBL")
def percentage_with_base_amount(allowance: Any) -> bool:
    """An allowance or charge that no earlier rule matches, as those for a percentage or a base amount alone do."""
    return bool(below(allowance, "cbc:MultiplierFactorNumeric")) == bool(below(allowance, "cbc:BaseAmount"))


@condition("UBL")
def beside_line_start(period: Any) -> bool:
    """The invoicing period of an invoice in which a line has a start date (BT-134)."""
    return _has_line_date(period, "cbc:StartDate")


@condition("UBL")
def beside_line_end(period: Any) -> bool:
    """The invoicing period of an invoice in which a line has an end date (BT-135)."""
    return _has_line_date(period, "cbc:EndDate")


def _has_line_date(period: Any, name: str) -> bool:
    lines = ("cac:InvoiceLine", "cac:CreditNoteLine")
    return any(below(period.getparent(), f"{line}/cac:InvoicePeriod/{name}") for line in lines)


@condition("UBL")
def beside_start(date: Any) -> bool:
    """A date of a line in an invoice with a start date (BT-73)."""
    return bool(below(date.getroottree().getroot(), "cac:InvoicePeriod/cbc:StartDate"))


@condition("UBL")
def beside_end(date: Any) -> bool:
    """A date of a line in an invoice with an end date (BT-74)."""
    return bool(below(date.getroottree().getroot(), "cac:InvoicePeriod/cbc:EndDate"))


@condition("UBL")
def beside_skonto(terms: Any) -> bool:
    """Payment terms with a text, where the first line for machines of the invoice is a cash discount."""
    return bool(below(terms, "cbc:Note")) and _is_first(_SKONTO, _notes_beside(terms))


@condition("UBL")
def beside_end_in_skonto(terms: Any) -> bool:
    """As ``beside_skonto``, in releases in which a line only had to end like that."""
    return bool(below(terms, "cbc:Note")) and _is_first(_ENDING_IN_SKONTO, _notes_beside(terms))


@condition("UBL")
def beside_skonto_or_interest(terms: Any) -> bool:
    """As ``beside_end_in_skonto``, in releases that also had late payment interest."""
    return bool(below(terms, "cbc:Note")) and _is_first(_SKONTO_OR_INTEREST, _notes_beside(terms))


@condition("UBL")
def first_note(note: Any) -> bool:
    """The first text of its payment terms."""
    return next(note.itersiblings(note.tag, preceding=True), None) is None


def _notes_beside(terms: Any) -> list[str]:
    return _first_texts(below(terms.getparent(), "cac:PaymentTerms"), "cbc:Note")


def _first_texts(groups: Iterable[Any], name: str) -> list[str]:
    return [found[0] for group in groups if (found := texts(group, name))]


def _is_first(pattern: re.Pattern[str], notes: Iterable[str]) -> bool:
    """Return whether the first line that begins with ``#`` matches: only then the rule reads on."""
    lines = (normalize_space(line) for note in notes for line in re.split(r"\r?\n", note))
    return next((pattern.search(line) is not None for line in lines if line.startswith("#")), False)
