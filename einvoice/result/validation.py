"""The verdict on one document: what was found, what the document is, what judged it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from einvoice.errors import FindingsError
from einvoice.model.invoice import Invoice
from einvoice.result.agreement import Agreement
from einvoice.result.container import Container
from einvoice.result.differences import Difference
from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.result.source_document import Original
from einvoice.result.stack import Stack
from einvoice.result.widget_hook import Explorable
from einvoice.syntax.detect import Identity

if TYPE_CHECKING:
    import os

    import pandas as pd


@dataclass(frozen=True, slots=True)
class Summary:
    """The invoice in a few facts, as the document has them; "" for what it does not have.

    Attributes:
        invoice_number: BT-1.
        invoice_date: BT-2, ISO 8601 where it is a date.
        format: "UBL" or "CII".
        seller, buyer: their names, BT-27 and BT-44.
        currency: BT-5.
        amount_due: BT-115, decimal text.
    """

    invoice_number: str
    invoice_date: str
    format: str
    seller: str
    buyer: str
    currency: str
    amount_due: str


@dataclass(frozen=True, eq=False, repr=False)
class ValidationResult(Explorable):
    """The verdict on one document.

    Attributes:
        findings: everything found, by layer, place in the document and code.
        identity: what the document is and declares.
        stack: the layers that judged it.
        original: the document, from which copies of the result read the invoice again.
        lang: the language of the texts where none is asked for.
        filename: of the file without its folder; "" where it has no name.
        processing_time_ms: how long the validation took.
        container: the PDF that the invoice came in, with a verdict of its own; None if it came as XML.
        differences: in compatibility mode, the findings that only one has: the rules that judged the invoice, or
            those of today.
        agreement: how the official artefacts judge it, where they were asked beside the rules of this program.
    """

    findings: tuple[Finding, ...]
    identity: Identity
    stack: Stack
    original: Original
    lang: Language = "de"
    filename: str = ""
    processing_time_ms: int = 0
    container: Container | None = None
    differences: tuple[Difference, ...] = ()
    agreement: Agreement | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are fatal after the published overrides."""
        return tuple(finding for finding in self.findings if finding.severity == "fatal")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that turn no verdict: warnings and information."""
        return tuple(finding for finding in self.findings if finding.severity != "fatal")

    @property
    def is_valid(self) -> bool:
        """True only if every layer of the stack ran to its end and none found an error."""
        return self.stack.complete and not self.errors

    @property
    def invoice(self) -> Invoice:
        """The invoice that was read; it belongs to the result, so do not change it."""
        return self.original.invoice

    @cached_property
    def summary(self) -> Summary:
        """The invoice in a few facts."""
        invoice = self.invoice
        date, due = invoice.issue_date, invoice.totals.due
        return Summary(
            invoice_number=str(invoice.number),
            invoice_date=str(date.date or date),
            format=self.identity.syntax,
            seller=str(invoice.seller.name),
            buyer=str(invoice.buyer.name),
            currency=str(invoice.currency),
            amount_due=due.raw.strip() if due else "",
        )

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets, or a copy: the same, but it reads the invoice only when that is asked for."""
        return {**self.__dict__, "summary": self.summary}

    def raise_for_findings(self) -> ValidationResult:
        """Return the result itself if the invoice is valid.

        Raises:
            FindingsError: it is not; the error holds this result.
        """
        if not self.is_valid:
            raise FindingsError(self)
        return self

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The result as the HTTP interface answers it, ready for JSON. Artifact links are the appliance's to fill."""
        from einvoice.render.json import answer

        return answer(self, lang or self.lang)

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, lang: Language | None = None) -> str:
        """The findings as CSV with a header, one row each; also written to `path` (UTF-8) where one is given."""
        from einvoice.render.tables import to_csv

        return to_csv(self.findings, path, lang or self.lang)

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """The findings as a table, one row each; what was compared (expected, actual, difference) as `Decimal`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        from einvoice.render.tables import to_frame

        return to_frame(self.findings, lang or self.lang)

    def __str__(self) -> str:
        from einvoice.render.text import in_words

        return in_words(self, self.lang)

    def __repr__(self) -> str:
        verdict = "valid" if self.is_valid else "not valid"
        counts = f"{len(self.errors)} errors, {len(self.warnings)} warnings"
        return f"<ValidationResult {self.identity.profile} ({self.identity.syntax}): {verdict}, {counts}>"

    def _repr_html_(self) -> str:
        from einvoice.render.html import html

        return html(self, self.lang)
