"""Languages of the texts, and the explanation of a file that cannot be read."""

from __future__ import annotations

from einvoice.code_catalog import entry
from einvoice.errors import UnreadableDocument
from einvoice.localization import Language, check_language
from einvoice.localization.options import language

__all__ = ["Language", "check_language", "explain_error"]


def explain_error(error: UnreadableDocument, lang: Language | None = None) -> tuple[str, str]:
    """Return a title for the error, and a text with its cause and remedy."""
    known, lang = entry(error.code), language(lang)
    detail = f"{known.explanation(lang, error.values)} {known.fix(lang, error.values)}"
    return known.title(lang, error.values), detail
