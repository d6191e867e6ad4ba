"""Create the file of a new rule: a complete rule with examples, to be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from einvoice.authoring import json_schema
from einvoice.authoring.added import open_rules
from einvoice.code_catalog.build import text_files
from einvoice.code_catalog.syntax_rules import codes_of_text
from einvoice.errors import RuleError
from einvoice.quotation import quote
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.load import adopted_files, read_file, rule_files
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.rule import SYNTAXES
from einvoice.rulebook.syntax_rules.table import rows

_CODE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SCHEMA: Final = f"../{json_schema.FOLDER}/rule.json"
_TEMPLATE: Final = """\
#:schema {schema}
code     = "{code}"
severity = "fatal" # or "warning", "information"
source   = "the paragraph of the standard or contract that demands it"
terms    = ["BT-1"] # every business term that the condition reads; the finding points at the first

assert = "non_blank(invoice.number)" # must hold; with `for = "line"`, for each line

[de]
title       = "Die Rechnungsnummer fehlt"
explanation = "Jede Rechnung hat eine Nummer (BT-1), die sie von allen anderen unterscheidet. Angegeben: {{actual}}."
fix         = "Die Rechnungsnummer (BT-1) angeben."

[en]
title       = "The invoice number is missing"
explanation = "Each invoice has a number (BT-1) that no other invoice has. Found: {{actual}}."
fix         = "Enter the invoice number (BT-1)."

[valid] # the base invoice with changes that keep the rule
"a number" = {{ number = "2026-1" }}

[invalid] # the base invoice with changes that violate the rule
"no number"          = {{ drop = ["number"] }}
"a number of blanks" = {{ number = " " }}
"""


def new_rule(code: str, ruleset: str, rules: Path | None = None) -> Path:
    """Create the file of a new rule from a template, with a `#:schema` line for editors. Return its path.

    Args:
        code: of the rule; also the name of the file.
        ruleset: name of the rule set.
        rules: folder of added rule sets; the JSON Schema is written beside them. Default: the rules of einvoice.

    Raises:
        LookupError: no such rule set.
        FileExistsError: a rule set has the code.
        ValueError: invalid code, or a folder whose rules must not be changed.
        RuleError: invalid file of a rule set.
        OSError: the file cannot be written.
    """
    data = open_rules(rules.resolve()) if rules else shipped()
    folder = _folder(data, ruleset)
    if not _CODE.fullmatch(code):
        raise ValueError(f"{quote(code)} is not a valid code: use letters, digits, '.', '_' and '-'.")
    if rules and (not rules.is_dir() or folder.parent not in (rules.resolve(), rules.resolve().parent)):
        raise ValueError(f"{rules} is an archive; unpack it first.")
    if rules is None and not (data.root.parent / "pyproject.toml").exists():
        raise ValueError("The rules of an installed einvoice are not changed: name a folder of your own with --rules.")
    for known, file in _codes(data):
        if known.lower() == code.lower():
            raise FileExistsError(f"{known} already exists in {file}.")
    path = folder / f"{code}.toml"
    with path.open("x", encoding="utf-8") as file_of_rule:
        file_of_rule.write(_TEMPLATE.format(code=code, schema=_SCHEMA))
    if rules:
        schema = (folder / _SCHEMA).resolve()
        schema.parent.mkdir(exist_ok=True)
        schema.write_text(json_schema.text("rule"), "utf-8")
    return path


def _folder(data: RuleData, ruleset: str) -> Path:
    """Return the folder of a rule set: one of those that were added, if there are any."""
    known = data.added or data.sets
    if ruleset not in known:
        near = get_close_matches(ruleset, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"rule sets are {', '.join(known)}"
        raise LookupError(f"unknown rule set '{ruleset}' ({hint})")
    return known[ruleset]


def _codes(data: RuleData) -> Iterator[tuple[str, str]]:
    """Yield all codes with their files: of rules, aliases, rows of syntax rules, and texts.

    An invalid file, which `einvoice rules check` reports, has the code of its name.
    """
    for name, ruleset in read_rulesets(data.sets).items():
        home = data.sets[name]
        adopted: list[Path] = []
        with suppress(RuleError):
            adopted = adopted_files(data.sets, ruleset)
        for path in (*rule_files(home), *adopted):
            yield path.stem, f"{path.parent.name}/{path.name}"
            with suppress(RuleError):
                for definition in read_file(path, ruleset, home):
                    yield from ((code, definition.file) for code in (definition.code, *definition.aliases))
        for syntax in SYNTAXES:
            yield from ((row[2], f"{row[1].replace('/', '/syntax/')}.csv") for row in rows(home, syntax))
    for path, layer in text_files(data):
        yield from ((code, f"{layer}/{path.name}") for code in codes_of_text(path))
