"""The validated document, from which copies of a result read the invoice again."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from einvoice.model.invoice import Invoice
from einvoice.result.languages import Language
from einvoice.syntax import reader, xml


class SourceDocument:
    """The validated XML document and its invoice.

    An invoice references parsed XML, which cannot be pickled. Copies, also those in other processes, therefore hold
    the bytes only, and parse them on first access to `invoice`.
    """

    def __init__(self, data: bytes, lang: Language, invoice: Invoice | None = None) -> None:
        self.data = data
        self._lang = lang
        if invoice is not None:
            self.invoice = invoice.in_language(lang)

    @cached_property
    def invoice(self) -> Invoice:
        """The invoice as read from the document."""
        return reader.read(xml.parse(self.data).getroot()).in_language(self._lang)

    def __reduce__(self) -> tuple[Any, ...]:
        return SourceDocument, (self.data, self._lang)
