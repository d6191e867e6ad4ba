"""Labels of the widgets, and the trait for their language."""

from __future__ import annotations

from typing import Any, Final

import traitlets

from einvoice.localization import Messages, languages
from einvoice.result.languages import check_language

LABELS: Final = Messages("einvoice.notebook", "labels")
_NAMES: Final = Messages("einvoice.localization", "language")


def named_languages() -> list[list[str]]:
    """Return tag and name of each language, for the switch of the widgets."""
    return [[lang, _NAMES[lang]["name"]] for lang in languages()]


class LanguageTrait(traitlets.Unicode[str, str]):
    """A language that has texts, also by a parent tag, such as "fr-BE"."""

    def validate(self, obj: Any, value: Any) -> str:
        """Return the language; raise `TraitError` if it has no texts."""
        lang = super().validate(obj, value)
        try:
            check_language(lang)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return lang
