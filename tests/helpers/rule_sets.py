"""Stacks and tables of rule sets, and a small CIUS to add."""

from __future__ import annotations

import functools
from pathlib import Path

from einvoice.resources import shipped
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.releases import releases

#: The tables of syntax rules; ``{}`` is the syntax in lower case.
ELEMENTS, CODE_LISTS, NATIONAL = TABLES = ("en16931/{}", "en16931/{}-codes", "xrechnung/{}")

IDENTIFIER = "urn:cen.eu:en16931:2017#compliant#urn:example:{}"
SPECIFICATIONS = """
["{name}-1"]
identifiers = ["{identifier}"]
profile = "{name}"
version = "1"
kind = "cius"
family = "{name}-1"
rulesets = ["en16931", "{name}"]
"""
_RULESET = """
kind = "cius"
base = "{base}"
name = "The {name}"
{keys}

[title]
de = "{name}, Regeln"
en = "{name}, rules"
"""
_RULE = """
code     = "{code}"
severity = "fatal"
terms    = ["BT-13"]
{keys}

assert = "matches(invoice.purchase_order, '^4500[0-9]+$')"

[de]
title       = "Bestellnummer der {name}"
explanation = "Angegeben: {{actual}}."
fix         = "Die Bestellnummer angeben (BT-13)."

[en]
title       = "Order number of the {name}"
explanation = "Found: {{actual}}."
fix         = "Enter the order number (BT-13)."

[valid]
"an order number" = {{ purchase_order = "4500123456" }}

[invalid]
"another number" = {{ purchase_order = "4711" }}
"""


def write_rule_set(
    folder: Path, name: str, keys: str = "", specifications: str = "", *, base: str = "en16931", rule: str = ""
) -> Path:
    """Write a CIUS with one rule, such as SHOP-01, which requires an order number 4500….

    Args:
        folder: folder of rule sets.
        name: name of the rule set.
        keys: further keys of its ``ruleset.toml``.
        specifications: content of its ``specifications.toml``; "" for no such file.
        base: rule set that it builds on.
        rule: further keys of the rule.

    Returns:
        The folder of the rule set.
    """
    home = folder / name
    home.mkdir(parents=True)
    (home / "ruleset.toml").write_text(_RULESET.format(name=name, base=base, keys=keys), "utf-8")
    code = f"{name.upper()}-01"
    content = _RULE.format(code=code, name=name, keys=rule)
    (home / f"{code}.toml").write_text(content, "utf-8")
    if specifications:
        content = specifications.format(name=name, identifier=IDENTIFIER.format(name))
        (home / "specifications.toml").write_text(content, "utf-8")
    return home


def table(name: str, syntax: str) -> str:
    """Return the name of a table in a syntax."""
    return name.format(syntax.lower())


@functools.cache
def shipped_rule_sets() -> RuleSets:
    """Return all rule sets with their contexts and definitions: read once, as this takes seconds."""
    return RuleSets(shipped())


def newest_stack(*rulesets: str) -> tuple[tuple[str, str], ...]:
    """Return rule sets, each with its newest release; without arguments EN 16931 and XRechnung."""
    known = releases()
    return known.stack(rulesets or ("en16931", "xrechnung"), known.newest("xrechnung"))


def stack_of(xrechnung: str, *rulesets: str) -> tuple[tuple[str, str], ...]:
    """Return rule sets, each with the release that goes with a release of the XRechnung rules, such as "1.5.0"."""
    known = releases()
    release = next(it for it in known.of("xrechnung") if it.version == xrechnung)
    return known.stack(rulesets or ("en16931", "xrechnung"), release)
