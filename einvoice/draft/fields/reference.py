"""What the draft refers to: earlier invoices, objects, attached files; and what it notes."""

from __future__ import annotations

from collections.abc import Iterator

from einvoice.draft.fields.part import Part, term
from einvoice.draft.fields.types import Day, File, Text, as_code, as_date, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.model import invoice as model
from einvoice.model.lines import Document, Period
from einvoice.model.values import Binary, Code, absent


class Note(Part):
    """A note on the whole invoice."""

    german = "Eine Bemerkung zur ganzen Rechnung."
    text: Text = term("BT-22", example="Es gelten unsere Geschäftsbedingungen.", required=True)
    subject_code: Text | None = term("BT-21", about=("From UNTDID 4451.", "Aus UNTDID 4451."), example="AAI")

    def build(self) -> model.Note:
        """The note of the invoice."""
        return model.Note(text=as_text(self.text), subject_code=as_code(self.subject_code))


class PrecedingInvoice(Part):
    """An earlier invoice that this one corrects or follows."""

    german = "Eine frühere Rechnung, die diese berichtigt oder fortsetzt."
    number: Text = term("BT-25", example="R-2026-0000", required=True)
    issue_date: Day | None = term("BT-26", example="2026-10-20")

    def build(self) -> model.PrecedingInvoice:
        """The preceding invoice of the invoice."""
        return model.PrecedingInvoice(number=as_identifier(self.number), issue_date=as_date(self.issue_date))


class InvoicedObject(Part):
    """An object that the whole invoice is about, such as a meter or a contract."""

    german = "Ein Objekt, um das es in der ganzen Rechnung geht, etwa ein Zähler oder ein Vertrag."
    id: Text = term("BT-18", example="Z-4711", required=True)
    scheme: Text | None = term("BT-18-1", about=("From UNTDID 1153.", "Aus UNTDID 1153."), example="AVE")

    def build(self) -> Document:
        """The document by which an invoice names the object."""
        return Document(identifier=as_identifier(self.id, schemeID=self.scheme), type_code=Code("130"))


class InvoicingPeriod(Part):
    """From when to when the invoice is about."""

    german = "Von wann bis wann die Rechnung reicht."
    start: Day | None = term("BT-73", example="2026-10-01")
    end: Day | None = term("BT-74", example="2026-10-31")

    def build(self) -> Period:
        """The period of the invoice."""
        return Period(start=as_date(self.start), end=as_date(self.end))


class Attachment(Part):
    """A document that supports the invoice: a file, or where to find it."""

    german = "Eine Unterlage zur Rechnung: eine Datei oder die Stelle, an der sie zu finden ist."
    id: Text = term("BT-122", example="Anlage 1", required=True)
    description: Text | None = term("BT-123", example="Stundennachweis")
    url: Text | None = term("BT-124", example="https://handwerk.example/nachweis/1")
    content: File | None = term("BT-125", about=("In base64.", "In base64."), example="SGFsbG8=")
    mime_type: Text | None = term("BT-125-1", example="application/pdf")
    filename: Text | None = term("BT-125-2", example="nachweis.pdf")

    def problems(self) -> Iterator[DraftProblem]:
        """A name or a type of no file."""
        for field in ("mime_type", "filename"):
            if self.content is None and getattr(self, field) is not None:
                yield DraftProblem(
                    "/content",
                    en=f"{field} is given, but no file; give its content, or leave {field} out.",
                    de=f"{field} ist angegeben, aber keine Datei; den Inhalt angeben oder {field} weglassen.",
                )

    def build(self) -> Document:
        """The supporting document of the invoice."""
        beside = {"mimeCode": self.mime_type, "filename": self.filename}
        given = {name: text for name, text in beside.items() if text is not None}
        return Document(
            identifier=as_identifier(self.id),
            description=as_text(self.description),
            location=as_text(self.url),
            attachment=absent if self.content is None else Binary(self.content, given),
        )
