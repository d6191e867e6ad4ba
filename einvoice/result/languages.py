"""Languages of the texts, and the explanation of a file that cannot be read."""

from __future__ import annotations

from einvoice.errors import UnreadableDocument
from einvoice.localization import Language, is_available, languages
from einvoice.rulebook.catalog import entry

__all__ = ["Language", "check_language", "explain_error"]


def check_language(lang: str) -> None:
    """Raise `ValueError` if there are no texts in a language."""
    if not is_available(lang):
        *others, last = map(repr, languages())
        raise ValueError(f"argument 'lang' must be {', '.join(others)} or {last}, not {lang!r}")


def explain_error(error: UnreadableDocument, lang: Language = "de") -> tuple[str, str]:
    """Return a title for the error, and a text with its cause and remedy."""
    known = entry(error.code)
    detail = f"{known.explanation(lang, error.values)} {known.fix(lang, error.values)}"
    return known.title(lang, error.values), detail
