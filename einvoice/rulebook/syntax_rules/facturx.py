"""Checks of the Factur-X profiles.

They reproduce the official tests exactly; texts are compared without normalization.
"""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import BLANKS
from einvoice.rulebook.syntax_rules.checks import Found, per_context, per_element
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import text
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


_DATE_TIME: Final = re.compile(
    rf"[{BLANKS}]*\d{{4}}(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])([01]\d|2[0-3])[0-5]\d[{BLANKS}]*"
)


@per_element()
def date_time(rule: SyntaxRule, dates: Found) -> Found:
    """The text must be a date and time, written as YYYYMMDDHHMM."""
    return [element for element in dates if _DATE_TIME.fullmatch(text(element)) is None]
