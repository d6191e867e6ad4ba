"""The words around many files, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.result.texts import Language

VERDICT_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {"valid": "gültig", "invalid": "nicht gültig", "unreadable": "nicht lesbar"},
    "en": {"valid": "valid", "invalid": "not valid", "unreadable": "not readable"},
}

WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {
        "files": "Dateien",
        "file": "Datei",
        "findings": "Befunde",
        "none": "keine Befunde",
        "code": "Regel",
        "title": "Befund",
        "where": "in Dateien",
        "example": "zum Beispiel",
        "worst": "Dateien mit den meisten Fehlern",
        "errors": "Fehler",
        "warnings": "Warnungen",
        "interrupted": "Der Lauf wurde unterbrochen; es fehlen Dateien.",
        "further": "weitere Regeln",
        "same_all": "keine Unterschiede",
        "new": "neue Befunde",
        "fixed": "behobene Befunde",
        "same": "gleiche Befunde",
        "turned": "anderes Urteil",
        "missing": "fehlende Dateien",
        "added": "neue Dateien",
    },
    "en": {
        "files": "files",
        "file": "file",
        "findings": "findings",
        "none": "no findings",
        "code": "Rule",
        "title": "Finding",
        "where": "in files",
        "example": "for example",
        "worst": "Files with the most errors",
        "errors": "Errors",
        "warnings": "Warnings",
        "interrupted": "The run was interrupted; files are missing.",
        "further": "further rules",
        "same_all": "no differences",
        "new": "new findings",
        "fixed": "fixed findings",
        "same": "same findings",
        "turned": "another verdict",
        "missing": "missing files",
        "added": "new files",
    },
}


def whole(number: int, lang: Language) -> str:
    """A count with its thousands marked: 12.345, and 12,345 in English."""
    return f"{number:,}".replace(",", "." if lang == "de" else ",")
