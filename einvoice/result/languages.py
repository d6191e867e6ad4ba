"""The languages that results speak, and what is said of a file that is no result at all."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from einvoice.errors import UnreadableDocument
from einvoice.rulebook.catalog import entry

Language: TypeAlias = Literal["de", "en"]
LANGUAGES: Final[tuple[Language, ...]] = ("de", "en")


def check_language(lang: str) -> None:
    """Raise ``ValueError`` for a language that results do not speak."""
    if lang not in LANGUAGES:
        raise ValueError(f"lang is {' or '.join(map(repr, LANGUAGES))}, not {lang!r}")


def explain_error(error: UnreadableDocument, lang: Language = "de") -> tuple[str, str]:
    """Say what is wrong with a file that nobody can read: a title, and why together with what to do about it."""
    known = entry(error.code)
    detail = f"{known.explanation(lang, error.values)} {known.fix(lang, error.values)}"
    return known.title(lang, error.values), detail
