"""The error of a configuration or stylesheet that cannot be added."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from einvoice.errors import EinvoiceError
from einvoice.localization import Language, Messages
from einvoice.localization.options import language

SENTENCES: Final = Messages("einvoice.reference", "bundles")
"""Messages by cause, with placeholders for the values of a `BundleRejected`."""


class BundleRejected(EinvoiceError):  # noqa: N818 (names the state)
    """A configuration or stylesheet cannot be added, or cannot be removed because it does not exist.

    Attributes:
        cause: key of `SENTENCES`; stable, snake_case.
        values: placeholder values of the message.
    """

    def __init__(self, cause: str, **values: str) -> None:
        self.cause = cause
        self.values = values
        super().__init__(self.message("en"))

    def message(self, lang: Language | None = None) -> str:
        """Return the message in a language, by default that of `einvoice.options`."""
        return SENTENCES[language(lang)][self.cause].format(**self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.cause, **self.values), ()
