"""The document behind a result; it goes wherever the result goes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from einvoice.model.invoice import Invoice
from einvoice.result.languages import Language
from einvoice.syntax import reader, xml


class Original:
    """The document that was judged, and the invoice that it holds.

    An invoice points into a parsed document, which cannot leave its process. So a copy, and what another process
    gets, is the bytes alone: they are smaller, and nobody reads them again who does not ask for the invoice.
    """

    def __init__(self, data: bytes, lang: Language, invoice: Invoice | None = None) -> None:
        self.data = data
        self._lang = lang
        if invoice is not None:
            self.invoice = invoice.in_language(lang)

    @cached_property
    def invoice(self) -> Invoice:
        """The invoice, unjudged."""
        return reader.read(xml.parse(self.data).getroot()).in_language(self._lang)

    def __reduce__(self) -> tuple[Any, ...]:
        return Original, (self.data, self._lang)
