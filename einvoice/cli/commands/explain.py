"""`einvoice explain CODE`: print the catalog entry of a code."""

from __future__ import annotations

import argparse
import sys
import textwrap
from difflib import get_close_matches
from typing import Any

from einvoice.cli.common import add_lang, add_rules
from einvoice.render.text import LABELS
from einvoice.result import Language
from einvoice.rulebook.catalog import CatalogEntry

UNKNOWN = 2


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser("explain", help="explain a rule code", description="Explain a rule code.")
    parser.add_argument("code", metavar="CODE", help="such as BR-CO-10")
    add_lang(parser)
    add_rules(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the entry and return the exit status."""
    from einvoice.model.terms import name
    from einvoice.rulebook.added import rule_data
    from einvoice.rulebook.catalog import catalog
    from einvoice.rulebook.releases import ruleset_label

    data = rule_data(options.rules)
    labels, entries = LABELS[options.lang], catalog(None, data)
    code = options.code
    if code not in entries:
        code = next((known for known in entries if known.upper() == code.upper()), code)
    if code not in entries:
        near = ", ".join(get_close_matches(code, entries, 3))
        hint = labels["did_you_mean"].format(near=near) if near else ""
        print(labels["unknown_code"].format(code=options.code), hint, file=sys.stderr)
        return UNKNOWN
    entry = entries[code]
    print(f"{entry.code}: {entry.title(options.lang)}")
    print(f"{labels[entry.severity]}, {ruleset_label(entry.layer, data)}")
    for term in entry.terms:
        print(f"  {term} {name(term, options.lang)}")
    for text in (entry.explanation(options.lang), f"→ {entry.fix(options.lang)}"):
        print(*("", *textwrap.wrap(text, 100, break_on_hyphens=False)), sep="\n")
    for number, note in enumerate(entry.notes):
        if not note["until"]:  # notes on older releases appear in their findings only
            print(*("", *textwrap.wrap(_note(entry, number, options.lang), 100, break_on_hyphens=False)), sep="\n")
    return 0


def _note(entry: CatalogEntry, number: int, lang: Language) -> str:
    note = entry.notes[number]
    about = f" ({note['syntax']})" if note["syntax"] else ""
    source = f" ({LABELS[lang]['see']} {note['source']})" if note["source"] else ""
    return f"{LABELS[lang]['note']}{about}: {entry.note(number, lang)}{source}"
