"""Data of the causes of a result, as its widget displays them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from einvoice.causes import Cause, Change
from einvoice.causes.collection import evidence, place
from einvoice.causes.display import LABELS, codes, counted, heading, incomplete
from einvoice.editing.diff import unified
from einvoice.editing.edits import apply
from einvoice.editing.serialization import EditError
from einvoice.errors import UnreadableDocument
from einvoice.quotation import quote
from einvoice.render.text import position
from einvoice.result import Language, ValidationResult

_MAX_CAUSES: Final = 100
_MAX_FINDINGS: Final = 50
_MAX_TEXT: Final = 20_000
"""Maximum number of characters of a text to copy."""


def cause_list(result: ValidationResult, causes: Sequence[Cause] | None, lang: Language) -> dict[str, Any]:
    """Return the title and the sentence of each cause; without causes, those that are not searched yet."""
    count, known = len(result.findings), causes or ()
    omitted = len(known) - _MAX_CAUSES
    return {
        "hidden": not count,
        "title": counted("findings", count, lang) if causes is None else heading(len(known), count, lang),
        "items": [
            {
                "text": quote(cause.text(lang), limit=_MAX_TEXT),
                "severity": cause.findings[0].severity,
                "explains": counted("explains", len(cause.findings), lang),
                "codes": codes(cause, lang),
            }
            for cause in known[:_MAX_CAUSES]
        ],
        "more": f"… + {omitted}" if omitted > 0 else "",
        "remark": incomplete(known, lang),
    }


def cause_details(result: ValidationResult, cause: Cause, lang: Language) -> dict[str, Any]:
    """Return the place, the changes and the findings of a cause."""
    numbers = {id(finding): number for number, finding in enumerate(result.findings)}
    omitted = len(cause.findings) - _MAX_FINDINGS
    return {
        "place": place(cause, lang),
        "note": "" if cause.changes else LABELS[lang]["no_change"],
        "label": LABELS[lang]["alternatives"] if cause.is_question else "",
        "changes": [_change(result, change, lang) for change in cause.changes],
        "findings": [
            {
                "number": numbers[id(finding)],
                "severity": finding.severity,
                "code": finding.code,
                "position": position(finding, lang),
                "title": finding.title(lang),
            }
            for finding in cause.findings[:_MAX_FINDINGS]
        ],
        "more": f"… + {omitted}" if omitted > 0 else "",
    }


def _change(result: ValidationResult, change: Change, lang: Language) -> dict[str, str]:
    return {
        "text": change.text(lang),
        "proof": evidence(change, lang),
        "copy": _short(change.copy_text(lang)),
        "diff": _short(_diff(result, change)),
    }


def _diff(result: ValidationResult, change: Change) -> str:
    """Return the change as a unified diff; "" if it does not fit the document."""
    data, name = result.document.data, quote(result.filename) or "invoice.xml"
    try:
        return unified(data, apply(data, change.edits), name, name)
    except (EditError, UnreadableDocument):
        return ""


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"
