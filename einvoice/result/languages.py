"""Languages of the texts, and the explanation of a file that cannot be read."""

from __future__ import annotations

from typing import Final

from einvoice.errors import UnreadableDocument
from einvoice.presentation import Language
from einvoice.rulebook.catalog import entry

__all__ = ["LANGUAGES", "Language", "check_language", "explain_error"]

LANGUAGES: Final[tuple[Language, ...]] = ("de", "en")


def check_language(lang: str) -> None:
    """Raise `ValueError` if `lang` is not a supported language."""
    if lang not in LANGUAGES:
        raise ValueError(f"argument 'lang' must be {' or '.join(map(repr, LANGUAGES))}, not {lang!r}")


def explain_error(error: UnreadableDocument, lang: Language = "de") -> tuple[str, str]:
    """Return a title for the error, and a text with its cause and remedy."""
    known = entry(error.code)
    detail = f"{known.explanation(lang, error.values)} {known.fix(lang, error.values)}"
    return known.title(lang, error.values), detail
