"""What a conversion did, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from einvoice.comparison.compared import plain
from einvoice.comparison.text import shown
from einvoice.conversion.changes import TermChange
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import with_colon
from einvoice.model import terms
from einvoice.quotation import quote
from einvoice.render.text import verdict
from einvoice.result import ValidationResult

LABELS: Final = Messages("einvoice.conversion", "converted")

_MAX_LISTED: Final = 10


def text(
    syntax: str,
    before: ValidationResult,
    after: ValidationResult | None,
    changes: Iterable[TermChange],
    lang: Language,
) -> str:
    """Return the verdicts on source and target, then each changed term."""
    labels = LABELS[lang]
    sides = {"before": verdict(before, lang), "after": verdict(after, lang) if after else labels["too_large"]}
    return "\n".join((labels["verdicts"].format(syntax=syntax, **sides), *_errors(before, after, lang),
                      *_changes(changes, lang)))  # fmt: skip


def _errors(before: ValidationResult, after: ValidationResult | None, lang: Language) -> Iterator[str]:
    """Yield the errors of the target if the source is valid: the conversion caused them."""
    if before.is_valid and after:
        yield from (f"  {with_colon(it.code, lang, it.title(lang))}" for it in after.errors[:_MAX_LISTED])


def _changes(changes: Iterable[TermChange], lang: Language) -> Iterator[str]:
    labels, changes = LABELS[lang], list(changes)
    if not any(it.is_loss for it in changes):
        yield labels["none"]
    by_term: dict[tuple[str, ...], list[TermChange]] = {}
    for change in changes:
        by_term.setdefault((change.kind, _what(change, lang), change.new_term), []).append(change)
    for (kind, what, _), same in by_term.items():
        values = [_value(change, lang) for change in same]
        heading = f"  {labels[kind].format(term=what)}"
        listed = (f"    {it}" for it in values)
        one = len(values) == 1
        yield from (with_colon(heading, lang, values[0]),) if one else (with_colon(heading, lang), *listed)


def name(term: str, lang: Language) -> str:
    """Return the name of a business term or of a group of Factur-X EXTENDED; "" without a term."""
    return LABELS[lang].get(term) or (terms.name(term, lang) if term in terms.terms() else "")


def _what(change: TermChange, lang: Language) -> str:
    """Return "BT-41 Seller contact point", or a name of content without a business term."""
    labels = LABELS[lang]
    return _name_of(change.term, lang) or labels.get(change.name, labels["no_term"])


def _value(change: TermChange, lang: Language) -> str:
    """Return "Accounts (line 35, /ubl:Invoice/…)", with the new value or term of a change."""
    labels = LABELS[lang]
    entries = change.entries or ([change.new_entry] if change.new_entry else [])
    value = labels["and"].join(shown(it, lang) for it in entries)
    if change.new_term:
        value += f" → {_name_of(change.new_term, lang)}"
    elif change.new_entry and change.entries:
        value += f" → {shown(change.new_entry, lang)}"
    place = [labels["of_line"].format(line=quote(change.invoice_line))] if change.invoice_line else []
    place += [labels["line"].format(line=change.line)] if change.line else []
    return f"{value} ({', '.join((*place, change.xpath))})"


def _name_of(term: str, lang: Language) -> str:
    return " ".join(filter(None, (term, name(term, lang))))


def change_dict(change: TermChange, lang: Language) -> dict[str, Any]:
    """Return a change as plain data, ready for JSON."""
    values = [{"value": plain(it.content), "scheme": it.scheme, "line": it.line, "xpath": it.xpath}
              for it in change.entries]  # fmt: skip
    return {
        "kind": change.kind,
        "term": change.term,
        "name": name(change.term, lang),
        "new_term": change.new_term,
        "invoice_line": change.invoice_line,
        "values": values,
        "new_value": None if change.new_entry is None else change.new_text,
    }
