"""Labels of bulk results, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.result.languages import Language

VERDICT_LABELS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {"valid": "gültig", "invalid": "nicht gültig", "unreadable": "nicht lesbar"},
    "en": {"valid": "valid", "invalid": "not valid", "unreadable": "unreadable"},
}

LABELS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {
        "files": "Dateien",
        "file": "Datei",
        "findings": "Befunde",
        "code": "Regel",
        "title": "Befund",
        "example": "zum Beispiel",
        "worst": "Dateien mit den meisten Fehlern",
        "errors": "Fehler",
        "interrupted": "Der Lauf wurde unterbrochen; es fehlen Dateien.",
        "further": "weitere Regeln",
        "new": "neue Befunde",
        "fixed": "behobene Befunde",
        "unchanged": "unveränderte Befunde",
        "changed_verdicts": "anderes Ergebnis",
        "missing": "fehlende Dateien",
        "added": "neue Dateien",
        "settings": "anderes Regelwerk",
    },
    "en": {
        "files": "files",
        "file": "file",
        "findings": "findings",
        "code": "Rule",
        "title": "Finding",
        "example": "for example",
        "worst": "Files with the most errors",
        "errors": "Errors",
        "interrupted": "The run was interrupted; files are missing.",
        "further": "more rules",
        "new": "new findings",
        "fixed": "fixed findings",
        "unchanged": "unchanged findings",
        "changed_verdicts": "changed result",
        "missing": "missing files",
        "added": "new files",
        "settings": "different rule set",
    },
}


def whole(number: int, lang: Language) -> str:
    """Return a count with thousands separators: 12.345 in German, 12,345 in English."""
    return f"{number:,}".replace(",", "." if lang == "de" else ",")
