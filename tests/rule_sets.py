"""Stacks and tables of rule sets, and rule data with few rule sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from einvoice.resources import RuleData, shipped
from einvoice.rulebook.releases import releases

#: The tables of syntax rules; ``{}`` is the syntax in lower case.
ELEMENTS, CODE_LISTS, NATIONAL = TABLES = ("en16931/{}", "en16931/{}-codes", "xrechnung/{}")

SPECIFICATIONS = """
["{name}"]
identifiers = ["{identifier}"]
profile = "{name}"
version = "1"
kind = "cius"
family = "{name}-1"
rulesets = ["en16931", "{name}"]
"""


def table(name: str, syntax: str) -> str:
    """Return the name of a table in a syntax."""
    return name.format(syntax.lower())


def newest_stack(*rulesets: str) -> tuple[tuple[str, str], ...]:
    """Return rule sets, each with its newest release; without arguments EN 16931 and XRechnung."""
    known = releases()
    return known.stack(rulesets or ("en16931", "xrechnung"), known.newest("xrechnung"))


def stack_of(xrechnung: str, *rulesets: str) -> tuple[tuple[str, str], ...]:
    """Return rule sets, each with the release that goes with a release of the XRechnung rules, such as "1.5.0"."""
    known = releases()
    release = next(it for it in known.of("xrechnung") if it.version == xrechnung)
    return known.stack(rulesets or ("en16931", "xrechnung"), release)
