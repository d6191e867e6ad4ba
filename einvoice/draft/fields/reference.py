"""References and notes of the draft: preceding invoices, invoiced object, period, attachments."""

from __future__ import annotations

from collections.abc import Iterator

from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.identifier import SchemedIdentifier
from einvoice.draft.fields.types import Day, File, Text, as_code, as_date, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.model import invoice as model
from einvoice.model.lines import Document, Period
from einvoice.model.values import Binary, Code, absent


class Note(DraftModel):
    """A note on the whole invoice."""

    text: Text = draft_field("BT-22", example="Es gelten unsere Geschäftsbedingungen.", required=True)
    subject_code: Text | None = draft_field("BT-21", hint="Note.subject_code", example="AAI")

    def build(self) -> model.Note:
        """Return the note of the invoice."""
        return model.Note(text=as_text(self.text), subject_code=as_code(self.subject_code))


class PrecedingInvoice(DraftModel):
    """A preceding invoice that this one corrects or continues."""

    number: Text = draft_field("BT-25", example="R-2026-0000", required=True)
    issue_date: Day | None = draft_field("BT-26", example="2026-10-20")

    def build(self) -> model.PrecedingInvoice:
        """Return the preceding invoice of the invoice."""
        return model.PrecedingInvoice(number=as_identifier(self.number), issue_date=as_date(self.issue_date))


class InvoicedObject(SchemedIdentifier, term="BT-18", example="Z-4711", scheme="AVE", hint="InvoicedObject.scheme"):
    """The invoiced object, such as a meter or a contract."""

    def build(self) -> Document:
        """Return the document that references the object."""
        return Document(identifier=super().build(), type_code=Code("130"))


class InvoicingPeriod(DraftModel):
    """The period that the invoice covers."""

    start: Day | None = draft_field("BT-73", example="2026-10-01")
    end: Day | None = draft_field("BT-74", example="2026-10-31")

    def build(self) -> Period:
        """Return the period of the invoice."""
        return Period(start=as_date(self.start), end=as_date(self.end))


class Attachment(DraftModel):
    """A supporting document: a file, or its URL."""

    id: Text = draft_field("BT-122", example="Anlage 1", required=True)
    description: Text | None = draft_field("BT-123", example="Stundennachweis")
    url: Text | None = draft_field("BT-124", example="https://handwerk.example/nachweis/1")
    content: File | None = draft_field("BT-125", hint="Attachment.content", example="SGFsbG8=")
    mime_type: Text | None = draft_field("BT-125-1", example="application/pdf")
    filename: Text | None = draft_field("BT-125-2", example="nachweis.pdf")

    def problems(self) -> Iterator[DraftProblem]:
        """Yield an error if mime_type or filename is given without content."""
        for field in ("mime_type", "filename"):
            if self.content is None and getattr(self, field) is not None:
                yield DraftProblem("/content", "content_missing", {"field": field})

    def build(self) -> Document:
        """Return the supporting document of the invoice."""
        attributes = {"mimeCode": self.mime_type, "filename": self.filename}
        given = {name: text for name, text in attributes.items() if text is not None}
        return Document(
            identifier=as_identifier(self.id),
            description=as_text(self.description),
            location=as_text(self.url),
            attachment=absent if self.content is None else Binary(self.content, given),
        )
