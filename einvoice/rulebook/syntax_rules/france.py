"""Checks of the French rule set that concern single elements; ``france_groups`` has the others."""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import normalize_space
from einvoice.rulebook.syntax_rules.checks import (
    Found,
    content,
    number_form,
    per_context,
    per_context_always,
    per_element,
)
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts

_SIREN: Final = "0002"
_SIRET: Final = "0009"
SEVERAL_SELLERS: Final = ("S8", "B8", "M8")
"""Invoicing frameworks (BT-23) of invoices of several sellers."""
TWO_WAY: Final = ("S9", "B9", "M9")
"""Invoicing frameworks (BT-23) of invoices with amounts of both parties."""
_PROCESS: Final = {
    "UBL": "cbc:ProfileID",
    "CII": "rsm:ExchangedDocumentContext/ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID",
}


def mode(element: Any, syntax: str) -> str:
    """Return the invoicing framework (BT-23) of the document."""
    return normalize_space(next(iter(texts(element.getroottree().getroot(), _PROCESS[syntax])), ""))


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
    sirens = [text(it) for it in below(context, rule.argument) if it.get("schemeID") == _SIREN]
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
