"""What the numbers of an invoice say about the findings on its arithmetic: which of them is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from einvoice.localization import Language
    from einvoice.model.invoice import Invoice
    from einvoice.repair.corrections import Corrections


class Advice:
    """The corrections of one invoice, searched when a text asks for the first of them.

    Args:
        invoice: the invoice.
    """

    def __init__(self, invoice: Invoice) -> None:
        self._invoice = invoice

    @cached_property
    def _corrections(self) -> Corrections:
        from einvoice.repair.corrections import Corrections

        return Corrections(self._invoice)

    def text(self, code: str, node: Any, lang: Language) -> str:
        """Return which number to change; "" if the invoice does not prove it.

        Args:
            code: of the finding.
            node: its element.
            lang: language of the text.
        """
        return self._corrections.text(code, node, lang)


class StoredAdvice(Advice):
    """The correction that a stored finding states, by language."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def text(self, code: str, node: Any, lang: Language) -> str:
        """Return the stored text; "" if there is none in this language."""
        return self._texts.get(lang, "")
