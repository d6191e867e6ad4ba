"""`einvoice explain CODE|TERM`: print the catalog entry of a code, or what is known of a business term."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from einvoice.cli.common import add_lang, add_rules
from einvoice.cli.wrapping import wrap
from einvoice.code_catalog import CatalogEntry
from einvoice.localization import Messages
from einvoice.render.text import LABELS
from einvoice.result import Language

UNKNOWN = 2
_TEXTS: Final = Messages("einvoice.cli", "explain")
_TERM: Final = re.compile(r"B[TG]-[\w-]+", re.IGNORECASE)


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "explain",
        help="explain a rule code or a business term",
        description="Explain a rule code; of a business term, its names, elements, and rules.",
    )
    parser.add_argument("code", metavar="CODE", help="code or business term, such as BR-CO-10 or BT-131")
    add_lang(parser)
    add_rules(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the entry, or the term, and return the exit status."""
    from einvoice.assessment.law import laws
    from einvoice.authoring.added import rule_data
    from einvoice.code_catalog import catalog
    from einvoice.rulebook.releases import ruleset_label

    data = rule_data(options.rules)
    labels, entries = LABELS[options.lang], catalog(None, data)
    code = options.code
    if code not in entries:
        code = next((known for known in entries if known.upper() == code.upper()), code)
    if code not in entries:
        if _TERM.fullmatch(code):
            return _explain_term(code.upper(), entries, options.lang)
        near = ", ".join(get_close_matches(code, entries, 3))
        hint = labels["did_you_mean"].format(near=near) if near else ""
        print(labels["unknown_code"].format(code=options.code), hint, file=sys.stderr)
        return UNKNOWN
    entry = entries[code]
    print(f"{entry.code}: {entry.title(options.lang)}")
    print(f"{labels[entry.severity]}, {ruleset_label(entry.layer, data, options.lang)}")
    for number in entry.terms:
        print(f"  {_named(number, options.lang)}")
    for law in laws().values():
        described = law.describe(law.classify_entry(entry), options.lang)
        print(*wrap(f"{law.text('error_class', options.lang)}: {described}", 100), sep="\n")
    for text in (entry.explanation(options.lang), f"→ {entry.fix(options.lang)}"):
        print(*("", *wrap(text, 100, break_on_hyphens=False)), sep="\n")
    for index, note in enumerate(entry.notes):
        if not note["until"]:  # notes on older releases appear in their findings only
            print(*("", *wrap(_note(entry, index, options.lang), 100, break_on_hyphens=False)), sep="\n")
    return 0


def _note(entry: CatalogEntry, number: int, lang: Language) -> str:
    note = entry.notes[number]
    about = f" ({note['syntax']})" if note["syntax"] else ""
    source = f" ({LABELS[lang]['see']} {note['source']})" if note["source"] else ""
    return f"{LABELS[lang]['note']}{about}: {entry.note(number, lang)}{source}"


def _named(number: str, lang: Language) -> str:
    from einvoice.model.terms import name

    return f"{number} {name(number, lang)}"


def _explain_term(number: str, entries: Mapping[str, CatalogEntry], lang: Language) -> int:
    """Print what is known of a business term or group, and return the exit status."""
    from einvoice.model.terms import similar, terms

    if number not in terms():
        near = similar(number)
        hint = LABELS[lang]["did_you_mean"].format(near=_named(near, lang)) if near else ""
        print(_TEXTS[lang]["unknown_term"].format(term=number), hint, file=sys.stderr)
        return UNKNOWN
    print(*_term_lines(number, lang), sep="\n")
    rules = [it for it in entries.values() if it.current and number in _terms_of(it)]
    if rules:
        print("", _TEXTS[lang]["rules"].format(count=len(rules)), sep="\n")
        print(*(f"  {it.code}: {it.title(lang)}" for it in rules), sep="\n")
    return 0


def _terms_of(entry: CatalogEntry) -> set[str]:
    """Return the terms that a rule is about, in any syntax or situation."""
    return {*entry.terms, *entry.points_at.values()}.union(*(it.get("terms", ()) for it in entry.situations))


def _term_lines(number: str, lang: Language) -> Iterator[str]:
    """Yield the names of a term, its place in the standard and in the model, and its elements."""
    from einvoice.localization import languages
    from einvoice.model.terms import name, term
    from einvoice.rulebook.rule import SYNTAXES

    labels, known = _TEXTS[lang], term(number)
    yield f"{number}: {name(number, lang)}"
    others = dict.fromkeys(name(number, it) for it in languages() if it != lang)
    others.pop(name(number, lang), None)
    yield from (f"  {it}" for it in others)
    if known.parent:
        yield labels["group"].format(group=_named(known.parent, lang))
    facts = {
        labels["cardinality"]: known.cardinality,
        labels["datatype"]: known.datatype,
        labels["model"]: f"invoice.{known.path}",
        **{syntax: _element(number, syntax) or labels["no_element"] for syntax in SYNTAXES},
    }
    width = max(map(len, facts)) + 2
    yield from (f"  {label:{width}}{fact}" for label, fact in facts.items())


def _element(number: str, syntax: str) -> str:
    """Return the XPath of a term; "" if it has none of its own, only that of its group."""
    from einvoice.model.terms import term
    from einvoice.syntax.paths import path_of

    path = path_of(number, syntax)
    return "" if number.startswith("BT-") and path == path_of(term(number).parent, syntax) else path
