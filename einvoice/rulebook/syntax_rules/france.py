"""Checks of the French rule set."""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.rulebook.syntax_rules.checks import Found, per_context
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts

_SIREN: Final = "0002"
_SIRET: Final = "0009"


@per_context()
def siret_of_siren(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The first SIRET (scheme 0009) must have 14 digits and begin with the SIREN (0002) at the path `argument`."""
    return _is_wrong_siret(rule, context, found, required=True)


@per_context()
def siret_of_any_siren(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Same as `siret_of_siren`; without a SIREN, 14 digits are enough."""
    return _is_wrong_siret(rule, context, found, required=False)


def _is_wrong_siret(rule: SyntaxRule, context: Any, found: Found, *, required: bool) -> bool:
    siret = next((text(it) for it in found if it.get("schemeID") == _SIRET), None)
    if siret is None:
        return False
    sirens = [text(it) for it in below(context, rule.argument) if it.get("schemeID") == _SIREN]
    beginnings = sirens if required or any(sirens) else [siret[:9]]
    return not re.fullmatch(r"\d{14}", siret) or siret[:9] not in beginnings


@per_context()
def value_or_quantity(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The context must have one of two elements: a value, or a quantity with a unit; `argument` names them."""
    value, measure = (below(context, name) for name in rule.argument.split())
    return bool(measure) if value else not any(it.get("unitCode") for it in measure)


@per_context(always=True)
def french_vat_category(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The VAT category must be in the code list `argument`; a line that is a group or an information needs none."""
    if found:
        return rule.codes(rule.argument, rule.syntax).isdisjoint(map(text, found))
    kinds = texts(context.getparent().getparent(), "ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode")
    return {"GROUP", "INFORMATION"}.isdisjoint(kinds)
