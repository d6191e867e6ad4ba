"""Checks of the CII rules.

They reproduce the official tests exactly: some compare the exact text, some ignore white space around it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import BLANKS
from einvoice.rulebook.syntax_rules import france  # noqa: F401 (registers its checks)
from einvoice.rulebook.syntax_rules.checks import Found, Occurrences, per_context, per_document, per_element
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import qualified

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


@per_element()
def date(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be a date, written as YYYYMMDD."""
    return [element for element in dates if _DATE.fullmatch(text(element)) is None]


@per_element()
def eight_digits(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be eight digits, or contain them if `argument` is `within`; they need not be a date."""
    if rule.argument == "within":
        return [element for element in dates if _EIGHT.search(text(element)) is None]
    return [element for element in dates if _EIGHT.fullmatch(text(element).strip(BLANKS)) is None]


@per_context()
def with_scheme(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If the element occurs, one occurrence must have a scheme."""
    return all(identifier.get("schemeID") is None for identifier in found)


@per_context()
def one_child(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If the element occurs, its occurrences must have exactly one child `argument` in total."""
    return sum(1 for node in found for _ in below(node, rule.argument)) != 1


@per_context()
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
