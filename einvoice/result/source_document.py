"""The validated document, from which copies of a result read the invoice again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from einvoice.model.invoice import Invoice
from einvoice.result.languages import Language
from einvoice.syntax import reader, xml


@dataclass(eq=False, repr=False)
class SourceDocument:
    """The validated XML document and its invoice.

    An invoice references parsed XML, which cannot be pickled. Copies, including those in other processes, therefore
    hold only the bytes and parse them on first access to `invoice`.
    """

    data: bytes
    lang: Language
    parsed: Invoice | None = None

    @cached_property
    def invoice(self) -> Invoice:
        """The invoice parsed during validation. A copied or unpickled document parses it again."""
        invoice = self.parsed or reader.read(xml.parse(self.data).getroot())
        return invoice.in_language(self.lang)

    def __reduce__(self) -> tuple[Any, ...]:
        return SourceDocument, (self.data, self.lang)
