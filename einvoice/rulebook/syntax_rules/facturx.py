"""Checks of the Factur-X profiles.

They reproduce the official tests exactly; texts are compared without normalization.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from einvoice.model.values import BLANKS
from einvoice.rulebook.syntax_rules.checks import Found, per_context, per_element
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text
from einvoice.syntax.mapping.binding import qualified


@per_context(always=True)
def one_account(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """An account must have either an IBAN or another number, but not both."""
    return len({node.tag for node in found}) != 1


@per_element()
def vat_number(rule: SyntaxRule, numbers: Found) -> Found:
    """The scheme must be that of a VAT number."""
    return [number for number in numbers if number.get("schemeID") != "VA"]


@per_context(always=True)
def value_or_measure(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Either a value or a value with a unit must occur, but not both."""
    measures = [node for node in found if node.tag == qualified("ram:ValueMeasure")]
    if len(measures) == len(found):
        return not any(measure.get("unitCode") for measure in measures)
    return bool(measures)


@per_element()
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


@per_element()
def date_time(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be a date and time, written as YYYYMMDDHHMM."""
    return [element for element in dates if _DATE_TIME.fullmatch(text(element)) is None]
