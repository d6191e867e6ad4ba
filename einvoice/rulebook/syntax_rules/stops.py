"""What stops the official Schematron.

An expression of XPath can raise an error: a function that takes one item, such as `normalize-space`, if its path
leads to several (XPath 2.0, err:XPTY0004), and a comparison with a number if the text is none (err:FORG0001). The
Schematron then stops: its layer has no result, whatever else it would have reported. The files `stops/ubl.csv` and
`stops/cii.csv` of a rule set list such expressions, with the rule that has them. What ends the path says how it is
read: as one element, `/text()` as one text node, `/number()` as a number.
"""

from __future__ import annotations

from typing import Any, Final

from einvoice.model.values import Text, absent
from einvoice.rulebook.functions.arithmetic import double
from einvoice.rulebook.syntax_rules.checks import Found, per_context, per_element
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import text

CODE: Final = "LAYER-STOPPED"
FOLDER: Final = "stops"
COLUMNS: Final = ["rule", "context", "path", "since", "until"]
SINGLE: Final = "single"
SINGLE_TEXT: Final = "single_text"
NUMERIC: Final = "numeric"
CHECKS: Final = (SINGLE, SINGLE_TEXT, NUMERIC)
READ_AS: Final = {"/text()": SINGLE_TEXT, "/number()": NUMERIC}
"""Endings of paths, with their checks; without one, `SINGLE`."""


@per_context()
def single(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The rule `argument` of the Schematron reads the elements as one item."""
    return len(found) > 1


@per_context()
def single_text(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The rule `argument` reads the text nodes as one item; the collector lists an element for each.

    An empty element has none.
    """
    return len(found) > 1 and sum(text(it) != "" for it in found) > 1


@per_element()
def numeric(rule: SyntaxRule, found: Found) -> Found:
    """The rule `argument` of the Schematron compares the text with a number."""
    return [element for element in found if double(Text(text(element))) is absent]
