"""Checks and conditions of the French rule set that concern single elements; ``france_groups`` has the others."""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import BLANKS, normalize_space
from einvoice.rulebook.syntax_rules.checks import (
    Found,
    content,
    number_form,
    per_context,
    per_context_always,
    per_element,
)
from einvoice.rulebook.syntax_rules.rule import Condition, SyntaxRule, condition
from einvoice.rulebook.syntax_rules.xpath import below, text, texts

_SIREN: Final = ("0002", "0231")
_SIRET: Final = "0009"
SEVERAL_SELLERS: Final = ("S8", "B8", "M8")
"""Invoicing frameworks (BT-23) of invoices of several sellers."""
TWO_WAY: Final = ("S9", "B9", "M9")
"""Invoicing frameworks (BT-23) of invoices with amounts of both parties."""
_PROCESS: Final = {
    "UBL": "cbc:ProfileID",
    "CII": "rsm:ExchangedDocumentContext/ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID",
}


_SELF_BILLED: Final = ("389", "501", "500", "471", "473", "261", "502")
_PREPAYMENTS: Final = ("386", "500", "503")
_PAID: Final = ("B2", "S2", "M2")
_TYPE: Final = {
    "UBL": ("cbc:InvoiceTypeCode", "cbc:CreditNoteTypeCode"),
    "CII": ("rsm:ExchangedDocument/ram:TypeCode",),
}


def _root(element: Any) -> Any:
    return element.getroottree().getroot()


def _syntax(element: Any) -> str:
    return "CII" if _root(element).tag.endswith("}CrossIndustryInvoice") else "UBL"


def _types(element: Any) -> set[str]:
    """Return the type of the invoice (BT-3)."""
    return {code for path in _TYPE[_syntax(element)] for code in texts(_root(element), path)}


def in_both(function: Condition) -> Condition:
    """Register a condition for both syntaxes."""
    return condition("UBL")(condition("CII")(function))


@in_both
def siren_or_group(identifier: Any) -> bool:
    """A SIREN, or the SIREN of a VAT group."""
    return identifier.get("schemeID") in _SIREN


@condition("CII")
def filled(element: Any) -> bool:
    """An element with other characters than white space."""
    return bool(text(element).strip(BLANKS))


# -------------------------------------------------------------------------------- what stops the sheets


@in_both
def in_paid_invoice(element: Any) -> bool:
    """Part of an invoice that is already paid (BT-23 is B2, S2 or M2)."""
    return mode(element, _syntax(element)) in _PAID


@in_both
def in_groups(element: Any) -> bool:
    """Part of an invoice of several sellers, or in two directions."""
    return mode(element, _syntax(element)) in (*SEVERAL_SELLERS, *TWO_WAY)


@condition("UBL")
def in_rebate(element: Any) -> bool:
    """Part of a credit note for a global rebate (262)."""
    return "262" in texts(_root(element), "cbc:CreditNoteTypeCode")


@condition("UBL")
def siren_beside_siret(identifier: Any) -> bool:
    """A SIREN of a party that also has a SIRET."""
    party = identifier.getparent().getparent()
    numbers = below(party, "cac:PartyIdentification/cbc:ID")
    return identifier.get("schemeID") == _SIREN[0] and any(it.get("schemeID") == _SIRET for it in numbers)


@condition("UBL")
def siren_of_b2b(identifier: Any) -> bool:
    """A SIREN in an invoice to a business in France, as a note says."""
    return identifier.get("schemeID") == _SIREN[0] and _treatment(identifier) == "B2B"


@condition("UBL")
def siren_of_self_billed(identifier: Any) -> bool:
    """A SIREN in a self-billed invoice whose treatment a note states."""
    is_read = _treatment(identifier) != "" and not _types(identifier).isdisjoint(_SELF_BILLED)
    return identifier.get("schemeID") == _SIREN[0] and is_read


def _treatment(element: Any) -> str:
    notes = "".join(texts(_root(element), "cbc:Note"))
    return notes.partition("#BAR#")[2].partition("#")[0]


@condition("UBL")
def euros_beside_another_currency(amount: Any) -> bool:
    """A VAT amount in euros, in an invoice in another currency."""
    root = _root(amount)
    is_read = texts(root, "cbc:DocumentCurrencyCode") != ["EUR"] and "EUR" in texts(root, "cbc:TaxCurrencyCode")
    return amount.get("currencyID") == "EUR" and is_read


@condition("UBL")
def of_vat_group(registration: Any) -> bool:
    """A registration in an invoice of a member of a VAT group."""
    path = "cac:AccountingSupplierParty/cac:Party/cac:PartyIdentification/cbc:ID"
    return any(it.get("schemeID") == _SIREN[1] for it in below(_root(registration), path))


@condition("UBL")
def own_status_in_groups(status: Any) -> bool:
    """The kind of a line in an invoice with groups: of a reference to the invoice itself."""
    numbers = texts(status.getparent(), "cbc:ID")
    return in_groups(status) and not set(texts(_root(status), "cbc:ID")).isdisjoint(numbers)


@condition("UBL")
def partial_invoice_in_groups(identifier: Any) -> bool:
    """The number of a partial invoice (AFL) in an invoice with groups."""
    is_object = "130" in texts(identifier.getparent(), "cbc:DocumentTypeCode")
    return identifier.get("schemeID") == "AFL" and is_object and in_groups(identifier)


@condition("UBL")
def framework_in_groups(identifier: Any) -> bool:
    """The framework of a partial invoice (AVV) in an invoice with groups."""
    is_object = "130" in texts(identifier.getparent(), "cbc:DocumentTypeCode")
    return identifier.get("schemeID") == "AVV" and is_object and in_groups(identifier)


@condition("CII")
def siret_without_siren(identifier: Any) -> bool:
    """A SIRET of a party without a SIREN, which is then taken from the SIRET."""
    sirens = below(identifier.getparent(), "ram:SpecifiedLegalOrganization/ram:ID")
    has_siren = any(it.get("schemeID") == _SIREN[0] and text(it) for it in sirens)
    return identifier.get("schemeID") == _SIRET and not has_siren


@condition("CII")
def vat_in_groups(amount: Any) -> bool:
    """The VAT of a line in the invoice currency, in an invoice with groups."""
    path = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement/ram:InvoiceCurrencyCode"
    return in_groups(amount) and amount.get("currencyID") in texts(_root(amount), path)


@condition("CII")
def compared_due_date(day: Any) -> bool:
    """A due date that is compared with the date of the invoice."""
    return not in_paid_invoice(day) and _types(day).isdisjoint(_PREPAYMENTS)


def mode(element: Any, syntax: str) -> str:
    """Return the invoicing framework (BT-23) of the document."""
    return normalize_space(next(iter(texts(_root(element), _PROCESS[syntax])), ""))


@per_context
def siret_of_siren(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The first SIRET (scheme 0009) must have 14 digits and begin with the SIREN (0002) at the path ``argument``."""
    return _is_wrong_siret(rule, context, found, required=True)


@per_context
def siret_of_any_siren(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Same as ``siret_of_siren``; without a SIREN, 14 digits are enough."""
    return _is_wrong_siret(rule, context, found, required=False)


def _is_wrong_siret(rule: SyntaxRule, context: Any, found: Found, *, required: bool) -> bool:
    siret = next((text(it) for it in found if it.get("schemeID") == _SIRET), None)
    if siret is None:
        return False
    sirens = [text(it) for it in below(context, rule.argument) if it.get("schemeID") == _SIREN[0]]
    beginnings = sirens if required or any(sirens) else [siret[:9]]
    return not re.fullmatch(r"\d{14}", siret) or siret[:9] not in beginnings


@per_element
def price_form(rule: SyntaxRule, found: Found) -> Found:
    """Same as ``number_form``; between two directions (S9, B9, M9), prices may have a minus sign."""
    violating = number_form(rule, found)
    return [it for it in violating if not (mode(it, rule.syntax) in TWO_WAY and _is_negative_price(rule, it))]


def _is_negative_price(rule: SyntaxRule, price: Any) -> bool:
    written = normalize_space(content(rule, price))
    size, _, decimals = rule.argument.partition(".")
    is_number = re.fullmatch(rf"-\d+([.]\d{{1,{decimals}}})?", written)
    return bool(is_number) and len(written.replace(".", "")) <= int(size)


@per_context
def value_or_quantity(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The context must have one of two elements: a value, or a quantity with a unit; ``argument`` names them."""
    value, measure = (below(context, name) for name in rule.argument.split())
    return bool(measure) if value else not any(it.get("unitCode") for it in measure)


@per_context_always
def french_vat_category(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The VAT category must be in the code list ``argument``; a line that is a group or an information needs none."""
    if found:
        return rule.codes(rule.argument, rule.syntax).isdisjoint(map(text, found))
    kinds = texts(context.getparent().getparent(), "ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode")
    return {"GROUP", "INFORMATION"}.isdisjoint(kinds)
